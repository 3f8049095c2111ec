"""Stiffness: step sizes of an explicit method that stability limits, not accuracy.

Friction near rest is the usual cause: its slope friction / friction_velocity, divided by the
inertia, is the rate of a decay that explicit methods have to follow long after it has ended.  The
test is that of Hairer and Wanner (Solving Ordinary Differential Equations II, IV.2): between the
last two states of a step, which lie close together, slopes differ by about lambda times the states,
and h lambda is at the border of the domain of stability in step after step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

BORDERS = {"DOP853": 6.1, "RK45": 3.25, "RK23": 2.5}
"""h lambda on the negative axis where stability ends, for explicit methods."""
OFTEN, RARELY = 15, 6
"""Steps at the border that make a motion stiff, and steps inside in a row that end the count."""
LEAST_STEPS = 100
"""A motion that ends within so many steps is not worth a change of method."""


class Stiffness:
    """Counts the steps of an explicit method of SciPy that are at the border of stability."""

    def __init__(self, method: str, rtol: float, atol: float) -> None:
        self.border = BORDERS.get(method, np.inf)
        self.rtol, self.atol = rtol, atol
        self.at_border = self.inside = 0

    def limits(self, solver: Any) -> bool:
        """Whether stability has limited the steps up to the last one, and many would follow.

        Args:
            solver: `scipy.integrate.OdeSolver` after a step.
        """
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
        """About how many steps of the last size lie ahead."""
        return float((solver.t_bound - solver.t) / solver.step_size)

    def _lambda(self, solver: Any, h: float) -> float:
        """The rate by which slopes vary between the last stage of a step and its end."""
        slopes, weights = solver.K[: solver.n_stages + 1], solver.A[-1]
        stage, end = solver.y_old + h * (weights @ slopes[: len(weights)]), solver.y
        scale = self.atol + self.rtol * np.abs(end)
        apart = float(np.linalg.norm((end - stage) / scale))
        change = float(np.linalg.norm((slopes[-1] - slopes[-2]) / scale))
        return change / apart if apart > 0 else 0.0
