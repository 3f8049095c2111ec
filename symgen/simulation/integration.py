"""The integrator: `Solver` has its checked options; `integrate` runs it and checks the result.

Several integrators of SciPy run forever with unusable options (no tolerance, say), so that options
are checked first.  Some return results that are not finite without an error, others stop there with
an error of their own; `RobotState.lost` has the place.

The method "auto" is DOP853 until the motion becomes stiff, and Radau from that state on.  An
explicit method by name stays, with a warning.  Friction near rest is the usual cause: its slope
friction / friction_velocity, divided by the inertia, is the rate of a decay that explicit methods
have to follow long after it has ended.  The test is that of Hairer and Wanner (Solving Ordinary
Differential Equations II, IV.2): between the last two states of a step, which lie close together,
slopes differ by about lambda times the states, and h lambda is at the border of the domain of
stability in step after step.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgen.errors import RequestError
from symgen.simulation.arguments import checked_number, meant
from symgen.simulation.motion import RobotState
from symgen.support.arrays import Array

AUTO, EXPLICIT, IMPLICIT = "auto", "DOP853", "Radau"
METHODS = (AUTO, "DOP853", "RK45", "RK23", "Radau", "BDF", "LSODA")
BORDERS = {"DOP853": 6.1, "RK45": 3.25, "RK23": 2.5}
"""Limits of stability of explicit methods: h lambda on the negative axis."""
OFTEN, RARELY = 15, 6
"""Steps at the border that make a motion stiff, and successive steps inside that end the count."""
LEAST_STEPS = 100
"""Fewest remaining steps for a change of method."""


@dataclass(frozen=True)
class Solver:
    """The options of `scipy.integrate.solve_ivp`, under its names, and "auto" as a method."""

    method: str
    rtol: float
    atol: float
    first_step: float | None
    max_step: float


def checked_solver(
    method: Any, rtol: Any, atol: Any, first_step: Any, max_step: Any, t: Array
) -> Solver:
    """Check the options for an integration over the times `t` (T,); RequestError for nonsense."""
    if not isinstance(method, str) or method not in METHODS:
        raise RequestError(f"simulate: no method is called {method!r}{meant(method, METHODS)}")
    duration, step = float(t[-1] - t[0]), None
    if first_step is not None:
        words = f"positive, at most {duration:g} s from the first to the last"
        step = checked_number("first_step", first_step, lambda h: 0 < h <= duration, words)
    return Solver(
        method,
        checked_number("rtol", rtol, lambda x: 0 < x < np.inf, "positive and finite"),
        checked_number("atol", atol, lambda x: 0 <= x < np.inf, "at least 0 and finite"),
        step,
        checked_number("max_step", max_step, lambda h: h > 0, "positive"),
    )


def integrate(
    library: Any, motion: RobotState, t: Array, start: Array, solver: Solver
) -> Integration:
    """Integrate from the vector `start` (k,) at the first of the times t (T,).

    `library` is `scipy.integrate`.
    """
    first = EXPLICIT if solver.method == AUTO else solver.method
    run = Integration(library, motion, t, start, solver)
    if not start.size:
        run.methods.append(first)
        return run
    if not (solver.atol + solver.rtol * np.abs(start) > 0).all():
        raise RequestError(
            "simulate: atol: 0 leaves no tolerance to what is 0 at the start; give a positive one"
        )
    try:
        reason = run.by(first)
    except ValueError as error:
        if motion.lost is None:
            raise  # from a function of the user
        reason = str(error)
    else:
        if not reason and np.isfinite(run.vectors).all():
            return run
        reason = reason or "the result is not finite."
    where = f"{reason} {motion.state()}"
    if motion.lost is not None:
        where = f"the motion is not finite at {motion.lost} ({reason.rstrip('.')})"
    raise RequestError(f"simulate: {run.methods[-1]}: {where}")


class Integration:
    """One integration, step by step, by one method after the other.

    `vectors` (T, k) are those at all times, `evaluations` those of the slope; `stiff_from` is the
    time from which the motion is stiff (None: not detected).
    """

    def __init__(
        self, library: Any, motion: RobotState, t: Array, start: Array, asked: Solver
    ) -> None:
        self.library, self.motion, self.t, self.asked = library, motion, t, asked
        self.vectors = np.empty((len(t), start.size))
        self.vectors[0] = start
        self.row, self.at, self.state = 1, float(t[0]), start
        self.evaluations, self.methods = 0, list[str]()
        self.stiff_from: float | None = None

    def by(self, method: str, first_step: float | None = None) -> str:
        """Integrate to the end by a method; return the reason of a failure, or ""."""
        asked, end = self.asked, float(self.t[-1])
        self.methods.append(method)
        solver = getattr(self.library, method)(
            self.motion.slope, self.at, self.state, end, max_step=asked.max_step, rtol=asked.rtol,
            atol=asked.atol, first_step=first_step or asked.first_step,
        )  # fmt: skip
        stiffness = Stiffness(method, asked.rtol, asked.atol)
        while solver.status == "running":
            message = solver.step()
            if solver.status == "failed":
                return str(message)
            last = int(np.searchsorted(self.t, solver.t, side="right"))
            if last > self.row:
                self.vectors[self.row : last] = solver.dense_output()(self.t[self.row : last]).T
                self.row = last
            if self.stiff_from is None and stiffness.limits(solver):
                self.stiff_from = self.at = float(solver.t)
                if asked.method == AUTO:
                    self.state = np.array(solver.y)
                    self.evaluations += solver.nfev
                    return self.by(IMPLICIT, min(solver.step_size, end - self.at))
                self._warn(method, stiffness.remaining(solver))
        self.evaluations += solver.nfev
        return ""

    def _warn(self, method: str, steps: float) -> None:
        """Warn that the motion is stiff for the explicit method of the user."""
        warnings.warn(
            f"simulate: the motion is stiff from t = {self.at:.6g} s on: stability, not accuracy, "
            f"limits the steps of {method}, and some {steps:.2g} of them lie ahead; friction near "
            "rest does that.  method='auto' goes on by Radau there, method='Radau' begins with it",
            RuntimeWarning,
            stacklevel=5,
        )


class Stiffness:
    """Counts the steps of an explicit method of SciPy that are at the border of stability."""

    def __init__(self, method: str, rtol: float, atol: float) -> None:
        self.border = BORDERS.get(method, np.inf)
        self.rtol, self.atol = rtol, atol
        self.at_border = self.inside = 0

    def limits(self, solver: Any) -> bool:
        """Return whether stability limits the steps of a SciPy `OdeSolver`, with many left."""
        h = solver.step_size
        if not np.isfinite(self.border) or not h:
            return False
        if self._lambda(solver, h) * h > self.border:
            self.at_border, self.inside = self.at_border + 1, 0
        else:
            self.inside += 1
            if self.inside == RARELY:
                self.at_border = 0
        many = max(LEAST_STEPS, 2 * solver.n)  # an implicit method differentiates by n numbers
        return self.at_border >= OFTEN and self.remaining(solver) > many

    @staticmethod
    def remaining(solver: Any) -> float:
        """Estimate the number of remaining steps of the last size."""
        return float((solver.t_bound - solver.t) / solver.step_size)

    def _lambda(self, solver: Any, h: float) -> float:
        """Return the rate of change of slopes between the last stage of a step and its end."""
        slopes, weights = solver.K[: solver.n_stages + 1], solver.A[-1]
        stage, end = solver.y_old + h * (weights @ slopes[: len(weights)]), solver.y
        scale = self.atol + self.rtol * np.abs(end)
        apart = float(np.linalg.norm((end - stage) / scale))
        change = float(np.linalg.norm((slopes[-1] - slopes[-2]) / scale))
        return change / apart if apart > 0 else 0.0
