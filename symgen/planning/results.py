"""`Solution`: an optimal motion with its samples, status and remarks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.planning.solver import Step
from symgen.planning.task import Task
from symgen.planning.trajectories import Trajectory

Array = NDArray[np.float64]

EXCEEDED = "exceeded"
"""The status of a plan that keeps its limits at its instants, and not between them."""


@dataclass(frozen=True)
class Start:
    """The result of a start: objective, T (s), iterations, largest violation (scaled)."""

    number: int
    ended: str
    objective: float
    T: float
    iterations: int
    violation: float

    @property
    def rank(self) -> tuple[int, float]:
        """Order of results, the best first."""
        return (0, self.objective) if not self.violation else (1, self.violation)


@dataclass(frozen=True)
class Solution:
    """A motion that was found.  Times in s, coordinates in rad or m, torques in N m or N.

    ``status`` is "solved" (an optimum that keeps its limits), "feasible" (keeps them, not proven
    optimal), "exceeded" (keeps them at its instants, and exceeds one between them by more than
    0.1 %; with `check: refine` on splines by more than 1e-6), "infeasible" (`broken` and
    `remarks` say what is not met), "stopped" (by Ctrl-C).
    ``violation`` is the largest on the fine grid, relative to its limit; ``worst`` has all of them,
    `broken` those that make a plan infeasible, and equations that are not met.
    ``final_error`` is how far from the plan's end its torques, applied open loop, take the robot.
    ``gaps`` is how far cuts open between the instants (m).  ``iterations`` are those of the start
    that was kept, ``evaluations`` of all.  ``seconds`` include verification, ``solver_seconds``
    only the solver.  ``others`` are the starts that were not the best.
    """

    module: Any
    task: Task
    path: Trajectory
    status: str
    objective: float
    iterations: int
    evaluations: int
    seconds: float
    solver_seconds: float
    violation: float
    worst: Mapping[str, float]
    gaps: Mapping[str, float]
    final_error: float
    steps: tuple[Step, ...]
    others: tuple[Start, ...]
    broken: tuple[tuple[str, float], ...]
    remarks: tuple[str, ...]
    per_segment: int

    @property
    def T(self) -> float:
        """The time of the motion (s)."""
        return self.path.T

    @property
    def control_points(self) -> Array:
        """(M, n), of the uniform clamped B-spline over [0, T]; by collocation, at the nodes.

        Those of q, and of attitudes three numbers each, on the chart `path.chart`.
        """
        return self.path.control

    @cached_property
    def shares(self) -> Array:
        """The instants with limits, as shares of T, (K,)."""
        return np.linspace(0.0, 1.0, self.path.profile.segments * self.per_segment + 1)

    @property
    def t(self) -> Array:
        """Sampled times, (K,) (s)."""
        return self.shares * self.T

    @property
    def q(self) -> Array:
        """Sampled configurations, (K, nq)."""
        return self.path.motion(self.shares).q

    @property
    def qd(self) -> Array:
        """Sampled velocities, (K, n)."""
        return self.path.motion(self.shares).qd

    @property
    def qdd(self) -> Array:
        """Sampled accelerations, (K, n)."""
        return self.path.motion(self.shares).qdd

    @property
    def tau(self) -> Array:
        """Sampled torques, (K, n)."""
        return self.torques(self.shares)

    @property
    def loads(self) -> Array | None:
        """Given and unknown loads and forces in cuts, (K, n_loads, 6); None without any."""
        return self.path.at(self.shares).loads

    def torques(self, s: Array) -> Array:
        """Return the joint torques at shares of T, (K, n)."""
        return self.path.torques(self.module, self.task.parameters, s)

    def scalars(self) -> dict[str, Any]:
        """Return the numbers of ``--json``."""
        return {
            "status": self.status, "T": self.T, "objective": self.objective,
            "iterations": self.iterations, "evaluations": self.evaluations,
            "seconds": self.seconds, "solver_seconds": self.solver_seconds,
            "violation": self.violation, "final_error": self.final_error,
        }  # fmt: skip

    def __repr__(self) -> str:
        reasons = "" if self.status == "solved" else "".join(f"; {x}" for x in self.remarks)
        return (
            f"<{type(self).__name__} {self.status}: T = {self.T:.6g} s, "
            f"objective {self.objective:.6g}, violation {self.violation:.1e}, "
            f"final error {self.final_error:.1e}{reasons}>"
        )
