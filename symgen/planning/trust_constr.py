"""SciPy's trust-constr, an interior point method with trust regions, for where IPOPT is missing.

It gets the same objective, constraints, sparse Jacobians and exact Hessians.  Unknowns whose bounds
coincide are taken out first; the others keep their bounds in every iterate.

SciPy tests whether the gradient of the Lagrangian vanishes, which it does at the optimum of any
barrier problem; so that is left out (gtol = 0), and a search ends here once it vanishes for a
barrier that does so, too.
"""

from __future__ import annotations

import warnings
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

FLAT = 1e-5
"""Gradient of the Lagrangian up to which a search that no longer moves has found an optimum."""
HOLDS = 1e-6
"""Violation (scaled) that is none."""
_BY_CALLBACK, _BY_ITERATIONS = 3, 0
"""Of SciPy's statuses."""


def minimise(
    program: Program, start: Array, choices: Choices, interrupted: Interrupted, history: History
) -> tuple[Array, str]:
    """The last x, and how the solver ended."""
    from scipy.optimize import Bounds, NonlinearConstraint
    from scipy.optimize import minimize as scipy_minimize

    reduced = _Reduced(program, start)
    optimal = False

    def watch(y: Array, state: Any) -> bool:
        nonlocal optimal
        g = state.constr[0] if program.rows else np.zeros(0)
        x = reduced.whole(y)
        over = violation(program, x, g)
        history.add(x, float(state.fun), over)
        barrier = getattr(state, "barrier_parameter", 0.0)
        optimal = max(barrier, over, float(state.optimality)) <= choices.tolerance
        return optimal or interrupted.pressed

    constraints = NonlinearConstraint(
        reduced.constraints, program.lower_rows, program.upper_rows, jac=reduced.jacobian,
        hess=reduced.hessian_of_constraints,
    )  # fmt: skip
    options: dict[str, Any] = {
        "gtol": 0.0, "xtol": choices.tolerance, "barrier_tol": choices.tolerance,
        "maxiter": choices.most_iterations, "sparse_jacobian": True,
    }  # fmt: skip
    if choices.mu is not None:
        options |= dict.fromkeys(
            ("initial_barrier_parameter", "initial_barrier_tolerance"), choices.mu
        )
    lower, upper, inside = (
        values[reduced.free] for values in (program.lower, program.upper, start)
    )
    with interrupted.heard(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = scipy_minimize(
            reduced.objective, inside, jac=reduced.gradient,
            hess=reduced.hessian_of_objective, method="trust-constr",
            bounds=Bounds(lower, upper, keep_feasible=(lower < inside) & (inside < upper)),
            constraints=constraints if program.rows else (), callback=watch, options=options,
        )  # fmt: skip
    return reduced.whole(found.x), _ended(found, optimal, history, interrupted)


def _ended(found: Any, optimal: bool, history: History, interrupted: Interrupted) -> str:
    last = history.steps[-1].violation if history.steps else 0.0
    if optimal:
        return SOLVED
    if interrupted.pressed:
        return STOPPED
    if found.status in (_BY_CALLBACK, _BY_ITERATIONS):
        return UNFINISHED
    if last > HOLDS:
        return INFEASIBLE
    return SOLVED if found.optimality <= FLAT else UNFINISHED


class _Reduced:
    """A program of the unknowns that are free, the others as they stand in `start`."""

    def __init__(self, program: Program, start: Array) -> None:
        self.program, self.start = program, start
        self.free = np.flatnonzero(program.lower < program.upper)

    def whole(self, y: Array) -> Array:
        """All unknowns."""
        x = self.start.copy()
        x[self.free] = y
        return x

    def objective(self, y: Array) -> float:
        """What is minimised."""
        return self.program.objective(self.whole(y))

    def gradient(self, y: Array) -> Array:
        """Its derivatives."""
        return self.program.gradient(self.whole(y))[self.free]

    def constraints(self, y: Array) -> Array:
        """Of the program."""
        return self.program.constraints(self.whole(y))

    def jacobian(self, y: Array) -> Any:
        """Their derivatives, sparse."""
        entries = self.program.jacobian(self.whole(y))
        return _matrix(self.program.jacobian_pattern, entries)[:, self.free]

    def hessian_of_objective(self, y: Array) -> Any:
        """Sparse and symmetric."""
        return self._hessian(y, 1.0, np.zeros(self.program.rows))

    def hessian_of_constraints(self, y: Array, multipliers: Array) -> Any:
        """Of multipliers . constraints."""
        return self._hessian(y, 0.0, multipliers)

    def _hessian(self, y: Array, weight: float, multipliers: Array) -> Any:
        from scipy.sparse import triu

        entries = self.program.hessian(self.whole(y), weight, multipliers)
        upper = _matrix(self.program.hessian_pattern, entries)[:, self.free][self.free]
        return upper + triu(upper, 1).T


def _matrix(pattern: Pattern, entries: Array) -> Any:
    from scipy.sparse import csr_matrix

    return csr_matrix((entries, (pattern.rows, pattern.columns)), shape=pattern.shape)
