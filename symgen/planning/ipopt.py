"""IPOPT, which comes with CasADi's wheels.

Objective, constraints and their derivatives are given to it as callbacks over arrays, without
copies; CasADi differentiates nothing.  Its linear solver orders matrices by minimum degree rather
than by METIS, which draws random numbers: the same problem takes the same steps in every run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.planning.program import (
    INFEASIBLE,
    SOLVED,
    STOPPED,
    UNFINISHED,
    Choices,
    History,
    Interrupted,
    Program,
    violation,
)
from symgen.planning.structure import Pattern

Array = NDArray[np.float64]

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


def minimise(
    program: Program, start: Array, choices: Choices, interrupted: Interrupted, history: History
) -> tuple[Array, str]:
    """The last x, and how the solver ended."""
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


def _reraise(functions: dict[str, Any], watch: Any) -> None:
    for callback in (*functions.values(), watch):
        if callback.error is not None:
            raise callback.error
