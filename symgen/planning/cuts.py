"""`cuts` of a task: joints that were cut, closed at every instant with limits.

The r rows of all cuts remove r freedoms at an instant.  Splines of n coordinates with N segments
have n (N + p) control points: closing at k > 1 instants of every segment would take k N r of them,
and restrict the motion (two arms with 20 segments, closed at the midpoints, need twice the torque).
So r coordinates are *dependent*: with a knot at every instant they have as many control points as
equations, and interpolate the closed motion.  The others stay polynomials over their segments: no
jump of the p-th derivative at knots within (`smooth`).

Between the instants, r (N k) pieces of degree p follow the closed motion to the order p + 1 where
the motion is smooth, less where torques reach and leave their limits.

The choice of dependent coordinates affects only their smoothness.  They maximise the smallest
singular value of the Jacobian of the cuts with respect to them along the start of the solver.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgen.planning.loops import Rows, independent_columns
from symgen.planning.placements import Combination
from symgen.planning.poses import carried_by, read_point
from symgen.planning.problem import Sizes, Term
from symgen.planning.quantities import MotionSamples, Quantity, options_of
from symgen.planning.samples import Sampled
from symgen.planning.splines import Profile
from symgen.planning.task import Closure, Cut, Task
from symgen.planning.values import Value
from symgen.support.arrays import Array


def read_cuts(value: Value, module: Any) -> tuple[Cut, ...]:
    """Read joints that were cut; the force between their points is unknown."""
    cuts = []
    for number, item in enumerate(value.items("cut joints"), 1):
        entries = item.table(
            ("name", "first", "second", "loads", "axes", "limit"), "first:, second: and loads:"
        )
        first, second = (read_point(entries[key], module) for key in ("first", "second"))
        loads = entries["loads"].items("the names of two loads")
        if len(loads) != 2:
            entries["loads"].fault("expected two loads, at the first point and at the second")
            continue
        pull, push = (load.name(module.load_names, "load") for load in loads)
        axes = {axis.name(tuple("xyz"), "axis") for axis in entries["axes"].items("axes x, y, z")}
        limit = entries["limit"].positive(np.inf)
        name = entries["name"].text(f"cut {number}")
        if first is not None and second is not None:
            along = tuple(sorted(axes)) or (0, 1, 2)
            cuts.append(Cut(name, first, second, pull, push, along, limit))
    return tuple(cuts)


def gap_of(task: Task, module: Any, cut: Cut | Closure) -> Quantity:
    """Return the vector from the first point of a cut to the second, along its axes, (K, m)."""
    if isinstance(cut, Closure):
        return task.chart.along(Rows(module, task.parameters, cut))
    ends = [carried_by(module, task.parameters, end) for end in (cut.first, cut.second)]
    axes, labels = np.eye(3)[list(cut.axes)], ["xyz"[axis] for axis in cut.axes]
    matrix, zero = np.stack([-axes, axes], axis=1), np.zeros(len(axes))
    gap = Combination(module, task.parameters, ends, labels, matrix, zero)
    return task.chart.along(gap)


def dependent(task: Task, module: Any, q: Array) -> tuple[int, ...]:
    """Return the coordinates that close the cuts of a task along a motion q (K, n)."""
    motion = MotionSamples.of(q)
    slopes = [gap_of(task, module, cut).jacobian(motion)[1][:, 0] for cut in task.cuts]
    jacobian = np.concatenate(slopes, axis=1)  # (K, r, n)
    return tuple(independent_columns(jacobian))


def gaps_of(task: Task, module: Any, motion: MotionSamples) -> dict[str, float]:
    """Return the largest gap of every cut, and value of every row of a mechanism."""
    gaps = dict[str, float]()
    for cut in task.cuts:
        if isinstance(cut, Closure):
            q = task.chart.configuration(motion.q)
            rows = module.constraints(q, **options_of(task.parameters))
            gaps |= zip(module.constraint_names, np.abs(rows).max(axis=0).tolist(), strict=True)
        else:
            gaps[cut.name] = float(np.abs(gap_of(task, module, cut).value(motion)).max())
    return gaps


def closed(task: Task, module: Any, profile: Profile, sizes: Sizes) -> list[Term]:
    """Return terms that close every cut."""
    if not task.cuts:
        return []
    s = _instants(task, profile)
    terms: list[Term] = []
    for cut in task.cuts:
        gap = gap_of(task, module, cut)
        zero = np.zeros((2, gap.size))
        terms.append(
            Sampled.limits(
                sizes, cut.name, gap, s, profile.at(s), zero, axes=not isinstance(cut, Closure)
            )
        )
    return terms


def _instants(task: Task, profile: Profile) -> Array:
    """Return the knots without ends closed by the task, and instants for spare control points.

    Dependent coordinates have as many control points as knots and conditions at the ends
    (positions, velocities, accelerations), or more: then the cuts are also closed in the middle of
    the first and the last piece.
    """
    s = np.linspace(0.0, 1.0, profile.pieces + 1)
    kept = np.ones(len(s), dtype=bool)
    kept[0], kept[-1] = (bool(np.any(np.isnan(end.q))) for end in (task.start, task.goal))
    if task.images:  # the end is that of the start, with its rates: three conditions
        kept[-1] = False
        return s[kept]
    rates = [rate for end in (task.start, task.goal) for rate in (end.qd, end.qdd)]
    left = profile.degree - 1 - sum(not np.any(np.isnan(rate)) for rate in rates)
    between = [0.5 * (s[0] + s[1]), 0.5 * (s[-2] + s[-1])][: max(left, 0)]
    return np.sort([*s[kept], *between])
