"""What a plan really does: its limits on a fine grid, and where its torques take the robot.

The fine grid is ten times as dense as the instants of the program.  The forward simulation starts
at the start of the plan, applies its torques open loop, and knows nothing of the plan's motion.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.planning.charts import Chart, rates_on
from symgen.planning.collocation import Nodes
from symgen.planning.loads import loads_at
from symgen.planning.places import gap_of
from symgen.planning.quantities import Motion, Torques
from symgen.planning.samples import LoadsAt
from symgen.planning.splines import Profile
from symgen.planning.task import Task
from symgen.planning.terms import Fault, instant, percent
from symgen.planning.transcription import (
    ANGLES,
    BOUNDS,
    DISTANCE,
    RATES,
    TORQUE,
    directions,
    forces,
    limited,
    reach,
)

Array = NDArray[np.float64]

FINER = 10
CONVERGED = 1.5e-8
"""Of the simulation's end when steps are halved (rad, m), far above the error that is left."""
LEAST_STEPS, MOST_STEPS = 200, 25_600


@dataclass(frozen=True)
class Splines:
    """A spline on a chart, and its time: states anywhere."""

    profile: Profile
    control: Array
    T: float
    loads: LoadsAt | None
    chart: Chart

    def motion(self, s: Array) -> Motion:
        """The robot's at shares of the time."""
        return self.chart.motion(self.at(s))

    def at(self, s: Array) -> Motion:
        """That of the spline at shares of the time."""
        local = self.profile.at(s)
        q, qd, qdd = (local.of(self.control, r) / self.T**r for r in range(3))
        loads, rates = (None, None) if self.loads is None else self.loads(s, self.T)
        return Motion(q, qd, qdd, s * self.T, s, loads, rates)

    def rate(self, order: int, s: Array) -> Array:
        """A derivative of the spline of this order, (K, n)."""
        return self.profile.at(s).of(self.control, order) / self.T**order

    def torques(self, module: Any, parameters: Mapping[str, float], s: Array) -> Array:
        """The joint torques at shares of T, (K, n)."""
        return Torques(module, parameters).value(self.motion(s))

    @property
    def segments(self) -> int:
        """Of the spline."""
        return self.profile.segments

    @property
    def pieces(self) -> int:
        """Between neighbouring knots."""
        return self.profile.pieces

    @property
    def degree(self) -> int:
        """Of the spline."""
        return self.profile.degree

    @property
    def knots(self) -> Array:
        """Of the spline (s)."""
        return self.profile.knots * self.T


def trajectory(task: Task, module: Any, profile: Profile, x: Array) -> Splines:
    """What the unknowns x stand for."""
    size = profile.controls * module.n
    loads = with_unknown(task, module, x[size + 1 :])
    return Splines(profile, x[:size].reshape(-1, module.n), float(x[size]), loads, task.chart)


def with_unknown(task: Task, module: Any, unknown: Array) -> LoadsAt | None:
    """The given loads, and the unknown ones, linear between the instants where they were sought."""
    given = loads_at(task.loads, module.n_loads, task.parameters)
    ones = directions(forces(task, module))
    if ones is None:
        return given
    sizes = unknown.reshape(-1, len(ones))
    instants = np.linspace(0.0, 1.0, len(sizes))

    def at(s: Array, T: float) -> tuple[Array, Array | None]:
        between = np.column_stack([np.interp(s, instants, column) for column in sizes.T])
        loads = np.einsum("ka,alc->klc", between, ones)
        return (loads if given is None else loads + given(s, T)[0]), None

    return at


Trajectory = Splines | Nodes
"""What was planned: states and torques anywhere."""


@dataclass(frozen=True)
class Verified:
    """Limits on the fine grid.

    `gaps` maps cuts to how far they open (m) between the instants at which they are closed.
    `limits` are the names of all limits, such as "torque of elbow"; `worst` maps those that are
    exceeded to by how much, relative to the limit, and `where` to the share of the time;
    `overshoot` maps quantities to (fine instants, entries), in the units of their constraints,
    and `BOUNDS` to that of q and qd by collocation.
    """

    limits: Collection[str]
    worst: Mapping[str, float]
    where: Mapping[str, float]
    overshoot: Mapping[str, Array]
    gaps: Mapping[str, float]

    @property
    def violation(self) -> float:
        """The largest."""
        return max(self.worst.values(), default=0.0)

    def fault(self, name: str) -> Fault:
        """Of a limit that is exceeded."""
        over = self.worst[name]
        by = f"exceeded by {excess(name, over)}"
        if name.startswith("distance of "):
            by = f"too small by {over * DISTANCE:.2g} m"
        return Fault(name, over, f"{by} {instant(self.where[name])}")


def excess(name: str, over: float) -> str:
    """By how much the limit called `name` is exceeded, in words."""
    return f"{np.degrees(over):.2g} degrees" if name.startswith(f"{ANGLES} of ") else percent(over)


def verify(task: Task, module: Any, path: Trajectory, per_segment: int) -> Verified:
    """Limits on the fine grid."""
    s = np.linspace(0.0, 1.0, FINER * per_segment * path.segments + 1)
    exceeded: dict[str, Array] = {}
    overshoot: dict[str, Array] = {}
    names = module.coordinate_names
    orders = RATES if isinstance(path, Splines) else RATES[:2]
    bounds = []
    for order, name in enumerate(orders):
        limits = getattr(task.limits, name)
        limits = task.chart.rates(limits) if order else limits
        over = np.zeros((len(s), module.n))
        if np.any(np.isfinite(limits)):
            over = _exceeded(path.rate(order, s), limits, reach(limits))
            exceeded |= _by_name(name, names, over)
        bounds.append(over)
    if not isinstance(path, Splines):
        overshoot[BOUNDS] = np.concatenate(bounds, axis=1)
    motion = path.at(s)
    for one in limited(task, module):
        if len(one.chosen):
            if one.name == TORQUE:
                values = path.torques(module, task.parameters, s)
            else:
                values = one.quantity.value(motion)
            smooth = FINER * per_segment * path.segments // path.pieces
            over = _exceeded(values, one.limits, one.scale, smooth)
            exceeded |= _by_name(one.name, one.quantity.labels, over)
            overshoot[one.name] = over[:, one.chosen]
    gaps = {
        cut.name: float(np.abs(gap_of(task, module, cut).value(motion)).max()) for cut in task.cuts
    }
    worst = {name: float(over.max()) for name, over in exceeded.items() if over.max() > 0}
    where = {name: float(s[exceeded[name].argmax()]) for name in worst}
    return Verified(tuple(exceeded), worst, where, overshoot, gaps)


def _exceeded(values: Array, limits: Array, scale: Array, smooth: int = 0) -> Array:
    """How far values (K, m) are beyond their limits, relative to `scale`.

    With `smooth` values between neighbouring knots of a spline, peaks between them count: those of
    parabolas through three neighbours of one piece.
    """
    lower, upper = limits.T
    sides = lower - values, values - upper
    if smooth:
        sides = _peaks(sides[0], smooth), _peaks(sides[1], smooth)
    return np.asarray(np.maximum(np.maximum(*sides), 0.0) / scale)


def _peaks(values: Array, smooth: int) -> Array:
    """Values, where a peak is next to one that of the parabola; none lies across a knot."""
    before, at, after = values[:-2], values[1:-1], values[2:]
    inside = np.arange(1, len(values) - 1)[:, None] % smooth != 0
    with np.errstate(invalid="ignore"):  # no limit: infinite
        slope, bend = (after - before) / 2, before - 2 * at + after
        peak = inside & (bend < 0) & (np.abs(slope) <= -bend)
    found = values.copy()
    found[1:-1][peak] -= slope[peak] ** 2 / (2 * bend[peak])
    return found


def _by_name(name: str, labels: Sequence[str], over: Array) -> dict[str, Array]:
    return {f"{name} of {label}": over[:, k] for k, label in enumerate(labels)}


def margins(
    verified: Verified, before: Mapping[str, Array], segments: int, per_segment: int
) -> dict[str, Array]:
    """Limits to be tightened where they are exceeded between instants, beside those `before`."""
    found = dict(before)
    for name, over in verified.overshoot.items():
        m = over.shape[1]
        inside = over[:-1].reshape(segments, -1, m).max(axis=1)  # the worst of each segment
        inside = np.maximum(inside, over[1:].reshape(segments, -1, m).max(axis=1))
        at = np.zeros((segments * per_segment + 1, m))
        for k in range(per_segment + 1):
            np.maximum.at(at, np.arange(segments) * per_segment + k, inside)
        more = np.where(at > 0, 1.1 * at + 1e-8, 0.0)
        found[name] = found.get(name, 0.0) + more
    return found


def simulate_forward(task: Task, module: Any, path: Trajectory) -> tuple[Array, Array]:
    """q (nq,) and qd (n,) at the end, under the torques of the plan, by Runge-Kutta steps.

    Steps end at the knots, where accelerations have kinks; they are halved, and the ends
    extrapolated to steps of length 0 (Richardson), until the end stays where it is.
    """
    pieces = path.pieces
    per = max(1, -(-LEAST_STEPS // pieces))
    ends = [_integrated(task, module, path, per)]
    while 2 * per * pieces <= MOST_STEPS:
        per *= 2
        finer = [_integrated(task, module, path, per)]
        for order, coarse in enumerate(ends, 4):
            finer.append(finer[-1] + (finer[-1] - coarse) / (2.0**order - 1))
        change = np.abs(finer[-1] - ends[-1]).max()
        ends = finer
        if not np.isfinite(change) or change < CONVERGED:
            break
    nq = path.chart.space.nq
    return ends[-1][:nq], ends[-1][nq:]


def _integrated(task: Task, module: Any, path: Trajectory, per_piece: int) -> Array:
    """Classical Runge-Kutta of fourth order, `per_piece` steps between knots."""
    count = per_piece * path.pieces
    s = np.linspace(0.0, 1.0, 2 * count + 1)
    motion = path.motion(s)
    tau = path.torques(module, task.parameters, s)
    given: dict[str, Any] = {"parameters": dict(task.parameters)} if task.parameters else {}
    space, h = path.chart.space, path.T / count
    nq = space.nq
    state = np.concatenate([motion.q[0], motion.qd[0]])
    forward = module.forward_dynamics
    rate = rates_on(space)

    def slope(at: Array, k: int) -> Array:
        more = given if motion.loads is None else {**given, "loads": motion.loads[k]}
        q, v = at[:nq], at[nq:]
        return np.concatenate([rate(q, v), forward(q, v, tau[k], **more)])

    for k in range(0, 2 * count, 2):
        first = slope(state, k)
        second = slope(state + 0.5 * h * first, k + 1)
        third = slope(state + 0.5 * h * second, k + 1)
        fourth = slope(state + h * third, k + 2)
        state = state + h / 6 * (first + 2 * second + 2 * third + fourth)
    return state
