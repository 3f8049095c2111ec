"""The solver of nonlinear programs: IPOPT.

IPOPT comes with CasADi's wheels.  Objective, constraints and their derivatives are given to it as
callbacks over arrays, without copies; CasADi differentiates nothing.  Its linear solver orders
matrices by minimum degree rather than by METIS, which draws random numbers: the same problem takes
the same steps in every run.

Ctrl-C stops the solver.  The best iterate is kept: the one of the smallest objective among those
that keep all limits, else that of the smallest violation.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from symgen.errors import RequestError
from symgen.planning.structure import Pattern

Array = NDArray[np.float64]

TOLERANCE = 1e-9
"""Of limits and of optimality, both scaled."""
MOST_ITERATIONS = 1000
SOLVED, STOPPED, INFEASIBLE, UNFINISHED = "solved", "stopped", "infeasible", "unfinished"


class Program(Protocol):
    """A nonlinear program: minimise the objective, with limits of unknowns and constraints."""

    rows: int
    lower: Array
    upper: Array
    lower_rows: Array
    upper_rows: Array
    jacobian_pattern: Pattern
    hessian_pattern: Pattern

    @property
    def unknowns(self) -> int:
        """Length of x."""

    def objective(self, x: Array) -> float:
        """What is minimised."""

    def gradient(self, x: Array) -> Array:
        """Its derivatives."""

    def constraints(self, x: Array) -> Array:
        """Between `lower_rows` and `upper_rows`."""

    def jacobian(self, x: Array) -> Array:
        """Entries of `jacobian_pattern`."""

    def hessian(self, x: Array, weight: float, multipliers: Array) -> Array:
        """Entries of `hessian_pattern`."""


@dataclass(frozen=True)
class Step:
    """An iterate, as the solver reports it."""

    number: int
    objective: float
    violation: float


Report = Callable[[Step], None]


@dataclass
class History:
    """Iterates so far, and the best of them; `violation` is scaled as the solver's constraints."""

    report: Report | None
    steps: list[Step] = field(default_factory=list)
    best: tuple[tuple[float, float], Array] | None = None

    def add(self, x: Array, objective: float, violation: float) -> None:
        """Note an iterate."""
        step = Step(len(self.steps), objective, violation)
        self.steps.append(step)
        kept = violation <= 1e-6
        rank = (0.0, objective) if kept else (violation, objective)
        if self.best is None or rank < self.best[0]:
            self.best = rank, np.array(x)
        if self.report is not None:
            self.report(step)


@dataclass(frozen=True)
class Outcome:
    """What a solver found: x, how it ended, the iterates on the way."""

    x: Array
    ended: str
    steps: tuple[Step, ...]
    seconds: float


@dataclass(frozen=True)
class Choices:
    """What a user may choose about a solver."""

    tolerance: float = TOLERANCE
    most_iterations: int = MOST_ITERATIONS
    exact: bool = True
    """The exact Hessian; else a limited-memory approximation (L-BFGS)."""
    mu: float | None = None
    """The barrier parameter to begin with; a small one where the start is near an optimum."""


class Interrupted:
    """Whether Ctrl-C was pressed; a second one ends the program as usual."""

    def __init__(self) -> None:
        self.pressed = False

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Hear Ctrl-C rather than be ended by it; in threads that cannot, nothing happens."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.getsignal(signal.SIGINT)
        if not callable(before):  # ignored, as under nohup
            yield
            return

        def note(_number: int, _frame: Any) -> None:
            self.pressed = True
            signal.signal(signal.SIGINT, before)

        signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


def solve(
    program: Program,
    start: Array,
    choices: Choices,
    interrupted: Interrupted,
    report: Report | None = None,
) -> Outcome:
    """Minimise from `start`; `ready` says whether that can be."""
    free, equations = unknowns_and_equations(program)
    if equations > free:
        raise RequestError(
            f"plan: {equations} equations for {free} unknowns: ask for less, or give the profile "
            "more segments; where a joint has no drive, 'method: collocation'"
        )
    history = History(report)
    begun = time.perf_counter()
    inside = np.clip(start, program.lower, program.upper)
    x, ended = _ipopt(program, inside, choices, interrupted, history)
    if ended != SOLVED and history.best is not None:
        x = history.best[1]
    return Outcome(x, ended, tuple(history.steps), time.perf_counter() - begun)


def unknowns_and_equations(program: Program) -> tuple[int, int]:
    """How many unknowns are free, and how many constraints are equations for them."""
    free = int(np.count_nonzero(program.lower < program.upper))
    return free, int(np.count_nonzero(program.lower_rows == program.upper_rows))


def ready() -> None:
    """`RequestError` where CasADi, or IPOPT with it, cannot be imported."""
    try:
        import casadi
    except ImportError:
        raise RequestError("planning needs CasADi with IPOPT: pip install '.[plan]'") from None
    if not casadi.has_nlpsol("ipopt"):
        raise RequestError("planning needs a CasADi with IPOPT, such as that of its wheels")


# ---------------------------------------------------------------------------------------- IPOPT

_IPOPT = {
    "print_level": 0,
    "sb": "yes",
    "linear_solver": "mumps",
    "mumps_pivot_order": 6,  # minimum degree with quasi-dense rows: T is in every constraint
    "mumps_permuting_scaling": 0,
    "mumps_scaling": 0,  # limits scale the rows already; MUMPS would scale at every iterate
    "min_refinement_steps": 0,  # residuals are refined where they are large
    "max_soc": 2,
    "nlp_scaling_method": "none",  # limits scale the constraints already
    "bound_relax_factor": 0.0,
    "honor_original_bounds": "yes",
}


def ipopt_options(choices: Choices) -> dict[str, Any]:
    """The options of IPOPT."""
    options: dict[str, Any] = {
        **_IPOPT,
        "tol": choices.tolerance,
        "acceptable_iter": 0,
        "max_iter": choices.most_iterations,
    }
    if choices.mu is not None:
        options |= {"mu_init": choices.mu, "warm_start_init_point": "yes"}
    if not choices.exact:
        options["hessian_approximation"] = "limited-memory"
    return options


def _ipopt(
    program: Program, start: Array, choices: Choices, interrupted: Interrupted, history: History
) -> tuple[Array, str]:
    import casadi

    functions = _oracles(casadi, program)
    watch = _watch(casadi, program, interrupted, history)
    given: dict[str, Any] = {
        "ipopt": ipopt_options(choices),
        "grad_f": functions["grad_f"],
        "jac_g": functions["jac_g"],
        "iteration_callback": watch,
        "print_time": False,
        "error_on_fail": False,
        "show_eval_warnings": False,
        "no_nlp_grad": True,
        "calc_lam_p": False,
        "calc_lam_x": False,
        "calc_f": False,
        "calc_g": False,
    }
    if choices.exact:
        given["hess_lag"] = functions["hess_lag"]
    solver = casadi.nlpsol("plan", "ipopt", functions["nlp"], given)
    with interrupted.heard():
        found = solver(
            x0=start, lbx=program.lower, ubx=program.upper,
            lbg=program.lower_rows, ubg=program.upper_rows,
        )  # fmt: skip
    _reraise(functions, watch)
    status = solver.stats()["return_status"]
    x = np.ravel(np.asarray(found["x"]))
    return x, _ENDED.get(status, UNFINISHED)


_ENDED = {
    "Solve_Succeeded": SOLVED,
    "Solved_To_Acceptable_Level": SOLVED,
    "Infeasible_Problem_Detected": INFEASIBLE,
    "User_Requested_Stop": STOPPED,
}


def _oracles(casadi: Any, program: Program) -> dict[str, Any]:
    """The functions of the program as CasADi calls them; buffers are filled in place."""

    def sparsity(pattern: Pattern) -> Any:
        return casadi.Sparsity.triplet(
            *pattern.shape, pattern.rows.tolist(), pattern.columns.tolist()
        )

    def dense(size: int) -> Any:
        return casadi.Sparsity.dense(size, 1)

    x, none, one = dense(program.unknowns), casadi.Sparsity(*_NONE), dense(1)
    rows = dense(program.rows)
    objective, gradient = program.objective, program.gradient

    def at(x: Array) -> tuple[Any, ...]:
        return np.array([objective(x)]), program.constraints(x)

    return {
        "nlp": _callback(casadi, "nlp", [x, none], [one, rows], at),
        "grad_f": _callback(
            casadi, "nlp_grad_f", [x, none], [one, x], lambda x: (objective(x), gradient(x))
        ),
        "jac_g": _callback(
            casadi,
            "nlp_jac_g",
            [x, none],
            [rows, sparsity(program.jacobian_pattern)],
            lambda x: (program.constraints(x), program.jacobian(x)),
        ),
        "hess_lag": _callback(
            casadi,
            "nlp_hess_l",
            [x, none, one, rows],
            [sparsity(program.hessian_pattern)],
            lambda x, weight, multipliers: (program.hessian(x, float(weight[0]), multipliers),),
        ),
    }


_NONE = (0, 0)
"""The shape of the parameters, which no program has; constraints may be none, too, (0, 1)."""


def _callback(
    casadi: Any, name: str, inputs: list[Any], outputs: list[Any], call: Callable[..., Any]
) -> Any:
    """A function of CasADi's; `call` takes its inputs, but for parameters, and returns outputs."""

    class Callback(casadi.Callback):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.error: BaseException | None = None
            self.construct(name, {})

        def get_n_in(self) -> int:
            return len(inputs)

        def get_n_out(self) -> int:
            return len(outputs)

        def get_name_in(self, number: int) -> str:
            return ("x", "p", *(f"i{k}" for k in range(2, len(inputs))))[number]

        def get_name_out(self, number: int) -> str:
            return ("f", "g")[number] if name == "nlp" else f"o{number}"

        def get_sparsity_in(self, number: int) -> Any:
            return inputs[number]

        def get_sparsity_out(self, number: int) -> Any:
            return outputs[number]

        def has_eval_buffer(self) -> bool:
            return True

        def eval_buffer(self, arguments: Any, results: Any) -> int:
            try:
                given = [
                    np.frombuffer(argument) if argument else np.zeros(sparsity.nnz())
                    for argument, sparsity in zip(arguments, inputs, strict=True)
                    if sparsity.shape != _NONE
                ]
                for result, value in zip(results, call(*given), strict=True):
                    if result:
                        np.frombuffer(result)[:] = value
            except BaseException as error:  # CasADi would lose it
                self.error = error
                return 1
            return 0

    return Callback()


def _watch(casadi: Any, program: Program, interrupted: Interrupted, history: History) -> Any:
    """The callback of each iteration: notes it, and stops where asked."""
    sizes = [program.unknowns, 1, program.rows, program.unknowns, program.rows, 0]
    inputs = [casadi.Sparsity.dense(size, 1) for size in sizes]

    def note(x: Array, objective: Array, g: Array, *_: Array) -> tuple[Array]:
        history.add(x, float(objective[0]), violation(program, x, g))
        return (np.array([float(interrupted.pressed)]),)

    return _callback(casadi, "watch", inputs, [casadi.Sparsity.dense(1, 1)], note)


def violation(program: Program, x: Array, g: Array) -> float:
    """How far limits are exceeded at worst, in units of the constraints."""
    over = (program.lower_rows - g, g - program.upper_rows, program.lower - x, x - program.upper)
    return float(max(0.0, *(np.max(part, initial=0.0) for part in over)))


def _reraise(functions: dict[str, Any], watch: Any) -> None:
    for callback in (*functions.values(), watch):
        if callback.error is not None:
            raise callback.error
