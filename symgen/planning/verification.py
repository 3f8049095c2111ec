"""Verification of plans: limits on a fine grid, and the forward simulation of torques.

The fine grid is ten times as dense as the instants of the program.  The forward simulation applies
the torques of the plan open loop, from its start, independently of the planned motion.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, pairwise
from typing import Any

import numpy as np

from symgen.planning.charts import rates_on
from symgen.planning.cuts import gaps_of
from symgen.planning.grounded import Grounded, grounded
from symgen.planning.problem import Fault, instant, percent
from symgen.planning.quantities import options_of
from symgen.planning.reactions import forces_in_cuts, ranges_in_cuts
from symgen.planning.task import Task
from symgen.planning.trajectories import Splines, Trajectory
from symgen.planning.transcription import (
    ANGLES,
    BOUNDS,
    DISTANCE,
    DISTANCES,
    FORCE,
    RATES,
    TORQUE,
    Limited,
    limited,
    reach,
)
from symgen.support.arrays import Array

FINER = 10
SI = "in SI units"
"""Reference of excesses of limits that are 0."""
ROUNDING = 1e-12
"""Largest excess that is none, relative to the limit."""
CONVERGED = 1.5e-8
"""Change of the simulation's end by halved steps (rad, m), far above the error that is left."""
LEAST_STEPS, MOST_STEPS = 200, 3_200
PRECISE, MOST_CALLS = 1e-10, 10_000
"""Tolerance of the implicit method, relative and absolute, and number of accelerations."""


@dataclass(frozen=True)
class Nearest:
    """The least distance of a motion: its pair, such as "hand to table"; m; share of the time."""

    pair: str
    distance: float
    at: float


@dataclass(frozen=True)
class Verified:
    """Limits on the fine grid.

    `gaps` maps cuts to their largest gap (m) between the instants at which they are closed.
    `limits` are the names of all limits, such as "torque of elbow"; `worst` maps exceeded ones to
    the excess, relative to the limit, and `where` to its share of the time; `overshoot` maps
    quantities to (fine instants, entries), in the units of their constraints, and `BOUNDS` to that
    of q and qd by collocation.  `nearest` is None where nothing keeps out.  `equations` maps limits
    with one value, which margins cannot tighten, to the reference of their excess in words.
    `ground` is None without contacts.
    """

    limits: Collection[str]
    worst: Mapping[str, float]
    where: Mapping[str, float]
    overshoot: Mapping[str, Array]
    gaps: Mapping[str, float]
    nearest: Nearest | None = None
    ground: Grounded | None = None
    equations: Mapping[str, str] = field(default_factory=dict)

    @property
    def violation(self) -> float:
        """The largest excess of a limit, relative to it."""
        return max(self.worst.values(), default=0.0)

    def fault(self, name: str) -> Fault:
        """Return the fault of a limit that is exceeded."""
        over = self.worst[name]
        by = f"exceeded by {self.excess(name)}"
        if name.startswith("distance of "):
            by = f"too small by {over * DISTANCE:.2g} m"
        return Fault(name, over, f"{by} {instant(self.where[name])}")

    def excess(self, name: str) -> str:
        """Return the excess of the limit called `name`, in words."""
        over, reference = self.worst[name], self.equations.get(name, "")
        if name.startswith(f"{ANGLES} of "):
            return f"{np.degrees(over):.2g} degrees"
        return f"{over:.2g} {SI}" if reference == SI else f"{percent(over)} {reference}".rstrip()


def demand(module: Any, name: str) -> str:
    """Return the name of a limit in words; the torque of a coordinate without a drive is 0."""
    kind, _, label = name.partition(" of ")
    names = module.coordinate_names
    undriven = kind == TORQUE and label in names and not module.actuated[names.index(label)]
    return f"the equation of motion of {label} (no drive)" if undriven else name


def verify(task: Task, module: Any, path: Trajectory, per_segment: int) -> Verified:
    """Compare a motion with its limits on the fine grid."""
    s = np.linspace(0.0, 1.0, FINER * per_segment * path.profile.segments + 1)
    exceeded: dict[str, Array] = {}
    overshoot: dict[str, Array] = {}
    names = module.coordinate_names
    orders = RATES if isinstance(path, Splines) else RATES[:2]
    bounds, nearest = [], None
    equations: dict[str, str] = {}
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
    motion = replace(path.at(s), loads=path.motion(s).loads)
    for limit in limited(task, module):
        if len(limit.chosen):
            if limit.name == TORQUE:
                values = path.torques(module, task.parameters, s)
            else:
                values = limit.quantity.value(motion)
            smooth = FINER * per_segment * path.profile.segments // path.profile.pieces
            over = _exceeded(values, limit.limits, limit.scale, smooth)
            exceeded |= _by_name(limit.name, limit.quantity.labels, over)
            overshoot[limit.name] = (over * (limit.limits[:, 0] < limit.limits[:, 1]))[
                :, limit.chosen
            ]
            equations |= _equations(limit)
            if limit.name == DISTANCES:
                k, pair = divmod(int(values.argmin()), values.shape[1])
                nearest = Nearest(limit.quantity.labels[pair], float(values[k, pair]), float(s[k]))
    if task.cuts:
        labels = [label for cut in task.cuts for label in cut.labels]
        limits = ranges_in_cuts(task)
        over = _exceeded(forces_in_cuts(task, module, motion), limits, reach(limits))
        exceeded |= _by_name(FORCE, labels, over)
        overshoot[FORCE] = over
    worst = {name: float(over.max()) for name, over in exceeded.items() if over.max() > ROUNDING}
    where = {name: float(s[exceeded[name].argmax()]) for name in worst}
    ground = None
    if task.contacts is not None:
        ground = grounded(task, module, task.chart.motion(motion), task.contacts, FINER)
    gaps = gaps_of(task, module, motion)
    return Verified(tuple(exceeded), worst, where, overshoot, gaps, nearest, ground, equations)


def _equations(limit: Limited) -> dict[str, str]:
    """Return limits with one value by name, and the reference of their excess; "" for the limit."""
    largest = (
        "of the largest torque limit"
        if limit.name == TORQUE and np.any(limit.limits[np.isfinite(limit.limits)])
        else SI
    )
    return {
        f"{limit.name} of {label}": "" if lower else largest
        for label, (lower, upper) in zip(limit.quantity.labels, limit.limits, strict=True)
        if lower == upper
    }


def _exceeded(values: Array, limits: Array, scale: Array, smooth: int = 0) -> Array:
    """Return excess of values (K, m) over their limits, relative to `scale`.

    With `smooth` values between successive knots of a spline, peaks of parabolas through three
    successive values of one piece count.
    """
    lower, upper = limits.T
    sides = lower - values, values - upper
    if smooth:
        sides = _peaks(sides[0], smooth), _peaks(sides[1], smooth)
    return np.asarray(np.maximum(np.maximum(*sides), 0.0) / scale)


def _peaks(values: Array, smooth: int) -> Array:
    """Return values with peaks of parabolas within pieces."""
    before, at, after = values[:-2], values[1:-1], values[2:]
    inside = np.arange(1, len(values) - 1)[:, None] % smooth != 0
    with np.errstate(invalid="ignore"):  # no limit: infinite
        slope, curvature = (after - before) / 2, before - 2 * at + after
        peak = inside & (curvature < 0) & (np.abs(slope) <= -curvature)
    peaks = values.copy()
    peaks[1:-1][peak] -= slope[peak] ** 2 / (2 * curvature[peak])
    return peaks


def _by_name(name: str, labels: Sequence[str], over: Array) -> dict[str, Array]:
    return {f"{name} of {label}": over[:, k] for k, label in enumerate(labels)}


def margins(
    verified: Verified, before: Mapping[str, Array], segments: int, per_segment: int
) -> dict[str, Array]:
    """Add margins to `before`, (m,) by name, that tighten limits exceeded between instants."""
    tightened = dict(before)
    for name, over in verified.overshoot.items():
        m = over.shape[1]
        inside = over[:-1].reshape(segments, -1, m).max(axis=1)  # the worst of each segment
        inside = np.maximum(inside, over[1:].reshape(segments, -1, m).max(axis=1))
        at = np.zeros((segments * per_segment + 1, m))
        for k in range(per_segment + 1):
            np.maximum.at(at, np.arange(segments) * per_segment + k, inside)
        more = np.where(at > 0, 1.1 * at + 1e-8, 0.0)
        tightened[name] = tightened.get(name, 0.0) + more
    return tightened


def simulate_forward(task: Task, module: Any, path: Trajectory) -> tuple[Array, Array]:
    """Return q (nq,) and qd (n,) at the end, under the torques of the plan.

    Runge-Kutta steps end at the knots, where accelerations have kinks; they are halved, and the
    ends extrapolated to steps of length 0 (Richardson), until the end stays where it is.  Where it
    does not, as with stiff friction, an implicit method follows (Radau IIA).
    """
    pieces, nq = path.profile.pieces, path.chart.space.nq
    per = max(1, -(-LEAST_STEPS // pieces))
    start = path.motion(np.zeros(1))
    state = np.concatenate([start.q[0], start.qd[0]])
    ends = [_integrated(task, module, path, state, per)]
    while 2 * per * pieces <= MOST_STEPS:
        per *= 2
        finer = [_integrated(task, module, path, state, per)]
        for order, coarse in enumerate(ends, 4):
            finer.append(finer[-1] + (finer[-1] - coarse) / (2.0**order - 1))
        change = np.abs(finer[-1] - ends[-1]).max()
        ends = finer
        if change < CONVERGED:
            return ends[-1][:nq], ends[-1][nq:]
    end = _by_radau(task, module, path, state)
    return end[:nq], end[nq:]


def _slope(task: Task, module: Any, path: Trajectory, s: Array) -> Callable[[Array, int], Array]:
    """Return the rate of the state (q, qd) under the torques at one of the instants s (K,)."""
    loads, tau = path.motion(s).loads, path.torques(module, task.parameters, s)
    options = options_of(task.parameters)
    nq, forward, rate = path.chart.space.nq, module.forward_dynamics, rates_on(path.chart.space)

    def slope(at: Array, k: int) -> Array:
        more = options if loads is None else {**options, "loads": loads[k]}
        q, v = at[:nq], at[nq:]
        return np.concatenate([rate(q, v), forward(q, v, tau[k], **more)])

    return slope


def _integrated(task: Task, module: Any, path: Trajectory, state: Array, per: int) -> Array:
    """Return the end of classical Runge-Kutta of fourth order, `per` steps between knots."""
    steps = per * path.profile.pieces
    slope = _slope(task, module, path, np.linspace(0.0, 1.0, 2 * steps + 1))
    h = path.T / steps
    for k in range(0, 2 * steps, 2):
        first = slope(state, k)
        second = slope(state + 0.5 * h * first, k + 1)
        third = slope(state + 0.5 * h * second, k + 1)
        fourth = slope(state + h * third, k + 2)
        state = state + h / 6 * (first + 2 * second + 2 * third + fourth)
    return state


def _by_radau(task: Task, module: Any, path: Trajectory, state: Array) -> Array:
    """Return the end of an implicit method of fifth order; LinAlgError where it diverges."""
    from scipy.integrate import solve_ivp

    calls = count()

    def rate(t: float, at: Array) -> Array:
        slope = _slope(task, module, path, np.array([min(t / path.T, 1.0)]))(at, 0)
        if next(calls) > MOST_CALLS or not np.all(np.isfinite(slope)):
            raise np.linalg.LinAlgError
        return slope

    for span in pairwise(path.T * np.linspace(0.0, 1.0, path.profile.pieces + 1)):
        result = solve_ivp(rate, span, state, method="Radau", rtol=PRECISE, atol=PRECISE)
        if not result.success:
            raise np.linalg.LinAlgError
        state = result.y[:, -1]
    return state
