"""Solvers of nonlinear programs: IPOPT of CasADi's wheels, and trust-constr of SciPy.

    solve      program, start, choices  ->  outcome, by the solver of the choices
    ready      the solver to use: the one that a user names, else IPOPT, else trust-constr

Ctrl-C stops a solver.  The best iterate is kept: the one of the smallest objective among those
that keep all limits, else that of the smallest violation.

IPOPT gets objective, constraints and their derivatives as callbacks over arrays, without copies;
CasADi differentiates nothing.  Its linear solver orders matrices by minimum degree rather than by
METIS, which draws random numbers: the same problem takes the same steps in every run.

trust-constr, an interior point method with trust regions, is used where IPOPT is missing.  It gets
the same objective, constraints, sparse Jacobians and exact Hessians.  Unknowns whose bounds
coincide are taken out first; the others keep their bounds in every iterate.  SciPy tests whether
the gradient of the Lagrangian vanishes, which it does at the optimum of any barrier problem; so
that is left out (gtol = 0), and a search ends once it vanishes for a barrier that does so, too.
"""

from __future__ import annotations

import importlib.util
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symgen.errors import RequestError
from symgen.planning.problem import Pattern, Problem
from symgen.support.arrays import Array

TOLERANCE = 1e-9
"""Tolerance of limits and of optimality, both scaled."""
MOST_ITERATIONS = 1000
IPOPT, TRUST_CONSTR = "ipopt", "trust-constr"
SOLVERS = (IPOPT, TRUST_CONSTR)
SOLVED, STOPPED, INFEASIBLE, UNFINISHED = "solved", "stopped", "infeasible", "unfinished"
HOLDS = 1e-6
"""Largest violation (scaled) of limits that are kept."""
FLAT = 1e-5
"""Gradient of the Lagrangian up to which a stalled search of trust-constr is optimal."""


@dataclass(frozen=True)
class Step:
    """An iterate, as the solver reports it; `stage` names its program, such as "20 segments"."""

    number: int
    objective: float
    violation: float
    stage: str = ""


Report = Callable[[Step], None]


@dataclass
class History:
    """Iterates so far, and the best of them; `violation` is scaled as the solver's constraints."""

    report: Report | None
    ends_feasible: bool = False
    steps: list[Step] = field(default_factory=list)
    best: tuple[tuple[float, float], Array] | None = None

    @property
    def has_arrived(self) -> bool:
        """Whether the search ends with the last iterate, which keeps all limits."""
        return self.ends_feasible and bool(self.steps) and self.steps[-1].violation <= HOLDS

    def add(self, x: Array, objective: float, violation: float) -> None:
        """Note an iterate x (unknowns,)."""
        step = Step(len(self.steps), objective, violation)
        self.steps.append(step)
        rank = (0.0, objective) if violation <= HOLDS else (violation, objective)
        if self.best is None or rank < self.best[0]:
            self.best = rank, np.array(x)
        if self.report is not None:
            self.report(step)


@dataclass(frozen=True)
class Outcome:
    """The last or best x, the end of the solver, its iterates."""

    x: Array
    ended: str
    steps: tuple[Step, ...]
    seconds: float


@dataclass(frozen=True)
class Choices:
    """A user's choices about a solver.

    Without `exact` the Hessian is a limited-memory approximation (L-BFGS).  `mu` is the barrier
    parameter to begin with; a small one where the start is near an optimum.  A search that
    `ends_feasible` ends at the first iterate that keeps all limits; one that `is_cautious` chooses
    the steps of multipliers by the dual infeasibility.
    """

    tolerance: float = TOLERANCE
    most_iterations: int = MOST_ITERATIONS
    exact: bool = True
    mu: float | None = None
    solver: str = IPOPT
    ends_feasible: bool = False
    is_cautious: bool = False


class Interrupted:
    """Whether Ctrl-C was pressed; a second one ends the program as usual."""

    def __init__(self) -> None:
        self.pressed = False

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Record Ctrl-C instead of ending; other threads than the main one change nothing."""
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
    program: Problem, start: Array, choices: Choices, interrupted: Interrupted,
    report: Report | None = None,
) -> Outcome:  # fmt: skip
    """Minimise from `start` (unknowns,), by a solver that `ready` returned."""
    free, equations = unknowns_and_equations(program)
    if equations > free:
        raise RequestError(
            f"plan: {equations} equations for {free} unknowns: ask for less, or give the profile "
            "more segments; where a joint has no drive, 'method: collocation'"
        )
    history = History(report, choices.ends_feasible)
    begun = time.perf_counter()
    inside = np.clip(start, program.lower, program.upper)
    minimise = _by_ipopt if choices.solver == IPOPT else _by_trust_constr
    x, ended = minimise(program, inside, choices, interrupted, history)
    if ended != SOLVED and history.best is not None:
        x = history.best[1]
    if history.has_arrived:
        ended = SOLVED
    return Outcome(x, ended, tuple(history.steps), time.perf_counter() - begun)


def unknowns_and_equations(program: Problem) -> tuple[int, int]:
    """Return numbers of free unknowns, and of constraints that are equations for them."""
    free = int(np.count_nonzero(program.lower < program.upper))
    return free, int(np.count_nonzero(program.lower_rows == program.upper_rows))


def ready(solver: str | None = None, *, exact_hessian: bool = True) -> str:
    """Return the solver to use; `RequestError` where it, or SciPy, is not installed."""
    if solver is None and not exact_hessian:
        solver = IPOPT
    if solver is not None and solver not in SOLVERS:
        raise RequestError(f"plan: solver: expected {' or '.join(SOLVERS)}, found {solver!r}")
    if importlib.util.find_spec("scipy") is None:
        raise RequestError(
            "planning needs SciPy, and CasADi with IPOPT to be fast: pip install 'symgen[plan]'"
        )
    if solver == TRUST_CONSTR:
        if not exact_hessian:
            raise RequestError(f"plan: limited memory is a choice of {IPOPT}, not of {solver}")
        return solver
    try:
        import casadi

        has_ipopt = bool(casadi.has_nlpsol("ipopt"))
    except ImportError:
        has_ipopt = False
    if has_ipopt:
        return IPOPT
    if solver == IPOPT:
        raise RequestError(
            "plan: solver: ipopt needs CasADi's wheel: pip install 'symgen[plan]'; without it, "
            f"{TRUST_CONSTR} of SciPy solves the same programs more slowly"
        )
    return TRUST_CONSTR


def violation(program: Problem, x: Array, g: Array) -> float:
    """Return the largest excess of limits, in units of the constraints g (rows,)."""
    over = (program.lower_rows - g, g - program.upper_rows, program.lower - x, x - program.upper)
    return float(max(0.0, *(np.max(part, initial=0.0) for part in over)))


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
    "acceptable_iter": 0,
}
_OF_CASADI = {
    "print_time": False,
    "error_on_fail": False,
    "show_eval_warnings": False,
    "no_nlp_grad": True,
    **dict.fromkeys(("calc_lam_p", "calc_lam_x", "calc_f", "calc_g"), False),
}
_ENDED = {
    "Solve_Succeeded": SOLVED,
    "Solved_To_Acceptable_Level": SOLVED,
    "Infeasible_Problem_Detected": INFEASIBLE,
    "User_Requested_Stop": STOPPED,
}
_NONE = (0, 0)
"""Shape of the parameters, which no program has; that of no constraints is (0, 1)."""


def ipopt_options(choices: Choices) -> dict[str, Any]:
    """Return the options of IPOPT."""
    options = {**_IPOPT, "tol": choices.tolerance, "max_iter": choices.most_iterations}
    if choices.mu is not None:
        options |= {"mu_init": choices.mu, "warm_start_init_point": "yes"}
    if choices.is_cautious:
        options["alpha_for_y"] = "min-dual-infeas"
    if not choices.exact:
        options["hessian_approximation"] = "limited-memory"
    return options


def _by_ipopt(
    program: Problem, start: Array, choices: Choices, interrupted: Interrupted, history: History
) -> tuple[Array, str]:
    """Return the last x, and the end of the solver."""
    import casadi

    oracles = _oracles(casadi, program)
    watch = _watch(casadi, program, interrupted, history)
    names = ("grad_f", "jac_g", *(("hess_lag",) if choices.exact else ()))
    options = {
        "ipopt": ipopt_options(choices),
        "iteration_callback": watch,
        **{name: oracles[name] for name in names},
        **_OF_CASADI,
    }
    solver = casadi.nlpsol("plan", "ipopt", oracles["nlp"], options)
    with interrupted.heard():
        result = solver(
            x0=start, lbx=program.lower, ubx=program.upper,
            lbg=program.lower_rows, ubg=program.upper_rows,
        )  # fmt: skip
    for callback in (*oracles.values(), watch):
        if callback.error is not None:
            raise callback.error
    ended = _ENDED.get(solver.stats()["return_status"], UNFINISHED)
    return np.ravel(np.asarray(result["x"])), ended


def _oracles(casadi: Any, program: Problem) -> dict[str, Any]:
    """Return the functions of the program as CasADi calls them; buffers are filled in place."""

    def sparsity(pattern: Pattern) -> Any:
        return casadi.Sparsity.triplet(
            *pattern.shape, pattern.rows.tolist(), pattern.columns.tolist()
        )

    x, rows, number = (
        casadi.Sparsity.dense(size, 1) for size in (program.unknowns, program.rows, 1)
    )
    point = [x, casadi.Sparsity(*_NONE)]
    objective, gradient, constraints = program.objective, program.gradient, program.constraints
    return {
        "nlp": _callback(
            casadi, "nlp", point, [number, rows],
            lambda x: (np.array([objective(x)]), constraints(x)),
        ),
        "grad_f": _callback(
            casadi, "nlp_grad_f", point, [number, x], lambda x: (objective(x), gradient(x))
        ),
        "jac_g": _callback(
            casadi, "nlp_jac_g", point, [rows, sparsity(program.jacobian_pattern)],
            lambda x: (constraints(x), program.jacobian(x)),
        ),
        "hess_lag": _callback(
            casadi, "nlp_hess_l", [*point, number, rows], [sparsity(program.hessian_pattern)],
            lambda x, weight, multipliers: (program.hessian(x, float(weight[0]), multipliers),),
        ),
    }  # fmt: skip


def _callback(
    casadi: Any, name: str, inputs: list[Any], outputs: list[Any], call: Callable[..., Any]
) -> Any:
    """Make a function of CasADi; `call` takes inputs without parameters, and returns outputs."""

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
                values = [
                    np.frombuffer(argument) if argument else np.zeros(sparsity.nnz())
                    for argument, sparsity in zip(arguments, inputs, strict=True)
                    if sparsity.shape != _NONE
                ]
                for result, value in zip(results, call(*values), strict=True):
                    if result:
                        np.frombuffer(result)[:] = value
            except BaseException as error:  # CasADi would lose it
                self.error = error
                return 1
            return 0

    return Callback()


def _watch(casadi: Any, program: Problem, interrupted: Interrupted, history: History) -> Any:
    """Return the callback of each iteration: notes it, and stops after Ctrl-C."""
    sizes = [program.unknowns, 1, program.rows, program.unknowns, program.rows, 0]
    inputs = [casadi.Sparsity.dense(size, 1) for size in sizes]

    def note(x: Array, objective: Array, g: Array, *_: Array) -> tuple[Array]:
        history.add(x, float(objective[0]), violation(program, x, g))
        return (np.array([float(interrupted.pressed or history.has_arrived)]),)

    return _callback(casadi, "watch", inputs, [casadi.Sparsity.dense(1, 1)], note)


# --------------------------------------------------------------------------------- trust-constr

_BY_CALLBACK, _BY_ITERATIONS = 3, 0
"""Statuses of SciPy."""


def _by_trust_constr(
    program: Problem, start: Array, choices: Choices, interrupted: Interrupted, history: History
) -> tuple[Array, str]:
    """Return the last x, and the end of the solver."""
    from scipy.optimize import Bounds, NonlinearConstraint, minimize
    from scipy.sparse import csr_matrix, triu

    free = np.flatnonzero(program.lower < program.upper)
    optimal = False

    def every(y: Array) -> Array:
        """Return all unknowns, (unknowns,), from the free ones y (k,)."""
        x = start.copy()
        x[free] = y
        return x

    def matrix(pattern: Pattern, entries: Array) -> Any:
        positions = (pattern.rows, pattern.columns)
        return csr_matrix((entries, positions), shape=pattern.shape)[:, free]

    def hessian(y: Array, weight: float, multipliers: Array) -> Any:
        entries = program.hessian(every(y), weight, multipliers)
        upper = matrix(program.hessian_pattern, entries)[free]
        return upper + triu(upper, 1).T

    def watch(y: Array, state: Any) -> bool:
        nonlocal optimal
        x = every(y)
        over = violation(program, x, state.constr[0] if program.rows else np.zeros(0))
        history.add(x, float(state.fun), over)
        barrier = getattr(state, "barrier_parameter", 0.0)
        optimal = max(barrier, over, float(state.optimality)) <= choices.tolerance
        return optimal or interrupted.pressed or history.has_arrived

    constraints = NonlinearConstraint(
        lambda y: program.constraints(every(y)), program.lower_rows, program.upper_rows,
        jac=lambda y: matrix(program.jacobian_pattern, program.jacobian(every(y))),
        hess=lambda y, multipliers: hessian(y, 0.0, multipliers),
    )  # fmt: skip
    options: dict[str, Any] = {
        "gtol": 0.0, "xtol": choices.tolerance, "barrier_tol": choices.tolerance,
        "maxiter": choices.most_iterations, "sparse_jacobian": True,
    }  # fmt: skip
    if choices.mu is not None:
        options |= dict.fromkeys(
            ("initial_barrier_parameter", "initial_barrier_tolerance"), choices.mu
        )
    lower, upper, inside = (values[free] for values in (program.lower, program.upper, start))
    with interrupted.heard(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = minimize(
            lambda y: program.objective(every(y)), inside, method="trust-constr",
            jac=lambda y: program.gradient(every(y))[free],
            hess=lambda y: hessian(y, 1.0, np.zeros(program.rows)),
            bounds=Bounds(lower, upper, keep_feasible=(lower < inside) & (inside < upper)),
            constraints=constraints if program.rows else (), callback=watch, options=options,
        )  # fmt: skip
    if optimal:
        ended = SOLVED
    elif interrupted.pressed:
        ended = STOPPED
    elif result.status in (_BY_CALLBACK, _BY_ITERATIONS):
        ended = UNFINISHED
    elif history.steps and history.steps[-1].violation > HOLDS:
        ended = INFEASIBLE
    else:
        ended = SOLVED if result.optimality <= FLAT else UNFINISHED
    return every(result.x), ended
