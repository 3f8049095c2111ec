"""Trajectories of plans, at any instant: splines on a chart, or nodes of collocation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgen.planning.charts import Chart
from symgen.planning.loads import LoadsAt, loads_at
from symgen.planning.loops import Opened
from symgen.planning.quantities import MotionSamples, Torques, options_of
from symgen.planning.reactions import balance
from symgen.planning.splines import Profile
from symgen.planning.task import Task
from symgen.planning.transcription import directions, forces
from symgen.support.arrays import Array, Index


@dataclass(frozen=True)
class Splines:
    """A spline on a chart, by control points (M, n), and its time T (s)."""

    profile: Profile
    control: Array
    T: float
    loads: LoadsAt | None
    chart: Chart
    balance: Callable[[MotionSamples], MotionSamples] | None = None
    """Correction between instants, of the robot's motion: onto its loops, and of reactions."""

    def motion(self, s: Array) -> MotionSamples:
        """Return the robot's motion at shares s (K,) of T, with the loops of a mechanism closed."""
        motion = self.chart.motion(self.at(s))
        return motion if self.balance is None else self.balance(motion)

    def at(self, s: Array) -> MotionSamples:
        """Return the motion of the spline at shares s (K,) of T, without that correction."""
        local = self.profile.at(s)
        q, qd, qdd = (local.of(self.control, r) / self.T**r for r in range(3))
        loads, rates = (None, None) if self.loads is None else self.loads(s, self.T)
        return MotionSamples(q, qd, qdd, s * self.T, s, loads, rates)

    def rate(self, order: int, s: Array) -> Array:
        """Return a derivative of the spline of this order, (K, n)."""
        return self.profile.at(s).of(self.control, order) / self.T**order

    def torques(self, module: Any, parameters: Mapping[str, float], s: Array) -> Array:
        """Return the joint torques at shares s (K,) of T, (K, n)."""
        return Torques(module, parameters).value(self.motion(s))

    @property
    def knots(self) -> Array:
        """Knots of the spline (s)."""
        return self.profile.knots * self.T


@dataclass(frozen=True)
class Nodes:
    """Cubics through nodes (K, n), whose rates are parabolas; torques are linear in a segment."""

    q: Array
    qd: Array
    qdd: Array
    tau: Array
    T: float
    constant_loads: Array | None
    chart: Chart

    @property
    def profile(self) -> Profile:
        """The space of the cubics, one for each segment of two nodes."""
        return Profile(3, (len(self.q) - 1) // 2)

    @property
    def control(self) -> Array:
        """q at the nodes, (K, n)."""
        return self.q

    @property
    def knots(self) -> Array:
        """The times of the nodes (s)."""
        return np.linspace(0.0, self.T, len(self.q))

    def rate(self, order: int, s: Array) -> Array:
        """Return q, qd or qdd at shares s (K,) of T, (K, n)."""
        if order == 2:
            return self._parabola(self.qdd, s)
        return self._integral((self.q, self.qd)[order], (self.qd, self.qdd)[order], s)

    def torques(self, module: Any, parameters: Mapping[str, float], s: Array) -> Array:
        """Return the torques of the plan at shares s (K,) of T, (K, n)."""
        return self._parabola(self.tau, s)

    def motion(self, s: Array) -> MotionSamples:
        """Return the robot's motion at shares s (K,) of T."""
        return self.chart.motion(self.at(s))

    def at(self, s: Array) -> MotionSamples:
        """Return the motion of the cubics at shares s (K,) of T."""
        loads = self.constant_loads
        if loads is not None:
            loads = np.broadcast_to(loads, (len(s), *loads.shape))
        q, qd, qdd = (self.rate(order, s) for order in range(3))
        return MotionSamples(q, qd, qdd, s * self.T, s, loads)

    def _place(self, s: Array) -> tuple[Index, Array]:
        """Return the first node of the segment, and the share of the segment, in [0, 1]."""
        segments = self.profile.segments
        segment = np.clip((s * segments).astype(int), 0, segments - 1)
        return 2 * segment, (s * segments - segment)[:, None]

    def _parabola(self, values: Array, s: Array) -> Array:
        k, x = self._place(s)
        a, c, b = values[k], values[k + 1], values[k + 2]
        return np.asarray(a + x * (-3 * a + 4 * c - b) + x**2 * (2 * a - 4 * c + 2 * b))

    def _integral(self, values: Array, rates: Array, s: Array) -> Array:
        k, x = self._place(s)
        h = self.T / self.profile.segments
        a, c, b = rates[k], rates[k + 1], rates[k + 2]
        parts = x * a + x**2 / 2 * (-3 * a + 4 * c - b) + x**3 / 3 * (2 * a - 4 * c + 2 * b)
        return np.asarray(values[k] + h * parts)


Trajectory = Splines | Nodes


def trajectory(task: Task, module: Any, profile: Profile, x: Array) -> Splines:
    """Return the splines of the unknowns x (unknowns,)."""
    size = profile.controls * module.n
    loads = _with_unknown(task, module, x[size + 1 :])
    control, T = x[:size].reshape(-1, module.n), float(x[size])
    balanced = balance(task, module, None if loads is None else loads(profile.knots, T)[0])
    if not isinstance(module, Opened):
        return Splines(profile, control, T, loads, task.chart, balanced)

    def closed(motion: MotionSamples) -> MotionSamples:
        on_loops = module.projected(motion, options_of(task.parameters))
        return on_loops if balanced is None else balanced(on_loops)

    return Splines(profile, control, T, loads, task.chart, closed)


def _with_unknown(task: Task, module: Any, unknown: Array) -> LoadsAt | None:
    """Return the given loads, and unknown ones, linear between the instants of the program."""
    constant = loads_at(task.loads, module.n_loads, task.parameters)
    units = directions(forces(task, module))
    if units is None:
        return constant
    sizes = unknown.reshape(-1, len(units))
    instants = np.linspace(0.0, 1.0, len(sizes))

    def at(s: Array, T: float) -> tuple[Array, Array | None]:
        between = np.column_stack([np.interp(s, instants, column) for column in sizes.T])
        loads = np.einsum("ka,alc->klc", between, units)
        return (loads if constant is None else loads + constant(s, T)[0]), None

    return at
