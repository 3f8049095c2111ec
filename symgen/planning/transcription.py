"""Task -> nonlinear program: control points and T as unknowns, limits at instants.

ends        q, and qd = 0 with it, are bounds of the first and last control points; other rates
            are rows A c / T^r, poses a quantity at s = 0 or 1
limits      of q: bounds of control points; of rates: rows of their control points; of torques,
            wrenches, outputs and distances: at `per_segment` instants of every segment
objective   integrals of squared torques by Simpson's rule, of accelerations and jerks exactly
cuts        closed at all instants, by coordinates that have a knot at each (`symgen.planning.cuts`)
contacts    points that stand at instants, their forces (`symgen.planning.standing`)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from symgen.planning.angles import cosines_of
from symgen.planning.charts import joint_names
from symgen.planning.contacts import EVEN, SAME, UNIT, weight_of
from symgen.planning.cuts import closed
from symgen.planning.loads import LoadsAt, loads_at
from symgen.planning.obstacles import Distances
from symgen.planning.poses import Pose, position_of
from symgen.planning.problem import Linear, Problem, Quadratic, Sizes, Term, Time
from symgen.planning.quantities import (
    MotionSamples,
    Outputs,
    Quantity,
    Torques,
    Velocities,
    Wrenches,
)
from symgen.planning.reactions import in_cuts, ranges_in_cuts
from symgen.planning.samples import Sampled
from symgen.planning.splines import Profile
from symgen.planning.standing import Ground
from symgen.planning.support import Bearing
from symgen.planning.task import State, Task
from symgen.planning.values import COMPONENTS, Range
from symgen.support.arrays import Array, Flags, Index

Margins = Mapping[str, Array]
"""Margins of limits by the name of their quantity, (instants, entries)."""

TORQUE, WRENCH, OUTPUT, DISTANCES = "torque", "joint wrench", "output", "distance"
ANGLES, FORCE = "angle", "force"
BOUNDS = "bounds"
"""Key of the margins of q and qd at the nodes of collocation, (nodes, 2 n)."""
RATES = ("position", "velocity", "acceleration", "jerk")
TIGHTEST = 0.4
"""Largest margin as a share of a range."""
DISTANCE = 0.1
"""Scale of distances (m)."""


@dataclass(frozen=True)
class Limited:
    """A quantity with limits (m, 2) and weights of its integrals, (m,)."""

    name: str
    quantity: Quantity
    limits: Array
    squares: Array
    linear: Array
    scales: Array | None = None

    @cached_property
    def scale(self) -> Array:
        """`scales`, or the larger finite limit of each entry; 1 if there is none, or it is 0."""
        return reach(self.limits) if self.scales is None else self.scales

    @property
    def chosen(self) -> Index:
        """The entries that are limited."""
        return np.flatnonzero(np.isfinite(self.limits).any(axis=1))

    @property
    def is_integrated(self) -> bool:
        """Whether it is part of the objective."""
        return bool(np.any(self.squares) or np.any(self.linear))


def reach(limits: Array, *, alike: bool = False) -> Array:
    """Return the larger finite limit of each entry of (m, 2); 1 if there is none, or it is 0.

    Of entries that are `alike`, such as torques, those with limits of 0 have the largest of all.
    """
    sizes = np.where(np.isfinite(limits), np.abs(limits), 0.0).max(axis=1)
    largest = sizes.max(initial=0.0) if alike else 0.0
    return np.where(sizes > 0, sizes, largest or 1.0)


def tightened(lower: Array, upper: Array, margin: Array) -> tuple[Array, Array]:
    """Return limits (n,) with a margin (n,), at most `TIGHTEST` of a range."""
    most = np.where(np.isfinite(upper - lower), TIGHTEST * (upper - lower), np.inf)
    margin = np.minimum(margin, most)
    return lower + margin, upper - margin


def _limited(
    name: str, quantity: Quantity, limits: Array, squares: Array | float = 0.0,
    linear: Array | float = 0.0, scales: Array | None = None,
) -> Limited:  # fmt: skip
    """Return a quantity with limits; weights are one number, or (m,)."""
    zero = np.zeros(quantity.size)
    return Limited(name, quantity, limits, zero + squares, zero + linear, scales)


def limited(task: Task, module: Any) -> list[Limited]:
    """Return the quantities that are limited or integrated at instants."""
    parameters, objective, limits = task.parameters, task.objective, task.limits
    unlimited = (-np.inf, np.inf)
    torques = Torques(module, parameters)
    scales = reach(limits.torque, alike=True)
    quantities = [_limited(TORQUE, torques, limits.torque, objective.torque, scales=scales)]
    turned = np.flatnonzero(~task.chart.plain)  # their velocities are not rates of coordinates
    if len(turned):
        weights = np.zeros(len(turned)), objective.acceleration[turned]
        for order, name, squares in zip((1, 2), RATES[1:3], weights, strict=True):
            rates = Velocities(module, order, turned.tolist())
            quantities.append(_limited(name, rates, getattr(limits, name)[turned], squares))
    keys = sorted({*limits.wrenches, *objective.wrenches})
    if keys:
        names = joint_names(module)
        labels = [f"{names[i]} {COMPONENTS[c]}" for i, c in keys]
        wrenches = Wrenches(module, parameters, keys, labels)
        ranges = np.array([limits.wrenches.get(key, unlimited) for key in keys])
        squares = np.array([objective.wrenches.get(key, 0.0) for key in keys])
        quantities.append(_limited(WRENCH, wrenches, ranges, squares))
    numbers = sorted({*limits.outputs, *objective.outputs})
    if numbers:
        outputs = Outputs(module, parameters, numbers)
        ranges = np.array([limits.outputs.get(k, unlimited) for k in numbers])
        linear = np.array([objective.outputs.get(k, 0.0) for k in numbers])
        quantities.append(_limited(OUTPUT, outputs, ranges, linear=linear))
    keep = task.keep_out
    if keep.acts:
        distances = Distances(module, parameters, keep)
        ranges = np.tile([keep.margin, np.inf], (distances.size, 1))
        scales = np.full(distances.size, DISTANCE)
        quantities.append(_limited(DISTANCES, distances, ranges, scales=scales))
    if limits.angles:
        cosines = cosines_of(module, parameters, limits.angles)
        ranges = np.array([angle.cosines for angle in limits.angles])
        scales = np.array([angle.scale for angle in limits.angles])
        quantities.append(_limited(ANGLES, cosines, ranges, scales=scales))
    return [
        replace(entry, quantity=task.chart.along(entry.quantity))
        for entry in quantities
        if len(entry.chosen) or entry.is_integrated
    ]


def instants(task: Task, module: Any, per_segment: int) -> int:
    """Count instants in each segment, with limits at `per_segment`: two for integrals."""
    weighed = any(force.weight for force in forces(task, module))
    weighed = weighed or any(entry.is_integrated for entry in limited(task, module))
    return max(per_segment, 2) if weighed else per_segment


def transcribe(
    task: Task, module: Any, profile: Profile, per_segment: int, margins: Margins | None = None,
    near: Array | None = None,
) -> Problem:  # fmt: skip
    """Write the program with limits at `per_segment` instants per segment, and the last one.

    Margins from the edges of support polygons are those of footprints at x `near` (unknowns,).
    """
    return _Transcription(task, module, profile, per_segment, margins or {}).problem(near)


class _Transcription:
    def __init__(
        self, task: Task, module: Any, profile: Profile, per_segment: int, margins: Margins
    ) -> None:
        self.task, self.module, self.profile = task, module, profile
        self.per_segment, self.margins = per_segment, margins
        self.n = module.n
        self.limited = limited(task, module)
        self.forces = forces(task, module)
        self.every = instants(task, module, per_segment)
        self.count = self.every * profile.segments + 1
        self.sizes = Sizes(profile.controls, self.n, len(self.forces) * self.count)
        self.labels = tuple(module.coordinate_names)
        self.loads: LoadsAt | None = loads_at(task.loads, module.n_loads, task.parameters)
        self.ground = Ground.of(task, module, self.count, profile)
        self.lower, self.upper = self.bounds()

    def problem(self, near: Array | None) -> Problem:
        terms: list[Term] = [
            *self.objective(),
            *self.rates(),
            *self.state("start", self.task.start, 0.0),
            *self.state("goal", self.task.goal, 1.0),
            *self.cycle(),
        ]
        for k, via in enumerate(self.task.via):
            terms += self.state(f"via {k + 1}", via.state, via.at)
        terms += [self.sampled(entry) for entry in self.limited]
        terms += closed(self.task, self.module, self.profile, self.sizes)
        terms += smooth(self.profile, self.sizes, self.moving, self.labels)
        if self.ground is not None:
            linear = [term for term in terms if isinstance(term, Linear)]
            bounds = self.lower, self.upper
            terms += self.ground.terms(self.task, self.profile, self.sizes, linear, bounds)
            first = len(self.forces) - 3 * len(self.ground.contacts.names)
            terms.append(self.ground.friction(self.sizes, first, len(self.forces)))
            unknown = np.array([force.loads for force in self.forces])
            bearing = Bearing(
                self.task, self.module, self.ground.contacts, self.ground.schedule, self.profile,
                self.sizes, unknown,
            )  # fmt: skip
            terms += bearing.shared() if self.ground.contacts.shared else []
            if near is not None and self.ground.contacts.margin:
                terms += bearing.margins(near)
            if self.closes:
                terms += self.ground.joined(self.sizes, first, len(self.forces))
        return Problem(self.sizes, terms, self.lower, self.upper)

    @property
    def moving(self) -> Flags:
        """Coordinates with a control point that is free, (n,)."""
        controls = (self.lower < self.upper)[: self.sizes.time]
        return np.asarray(controls.reshape(-1, self.n).any(axis=0))

    def bounds(self) -> tuple[Array, Array]:
        """Return bounds of control points, of T, and of unknown loads."""
        position = self.task.limits.position
        shape = self.profile.controls, self.n
        lower, upper = (np.array(np.broadcast_to(side, shape)) for side in position.T)
        for state, ends in ((self.task.start, (0, 1)), (self.task.goal, (-1, -2))):
            fixed = ~np.isnan(state.q)
            at_rest = fixed & (state.qd == 0)
            for end, which in zip(ends, (fixed, at_rest), strict=True):
                lower[end, which] = upper[end, which] = state.q[which]
            lower[ends[0]] = np.maximum(lower[ends[0]], state.ranges[:, 0])
            upper[ends[0]] = np.minimum(upper[ends[0]], state.ranges[:, 1])
        least, most = self.task.time
        ranges = np.array([force.limits for force in self.forces]).reshape(-1, 2)
        ranges = np.tile(ranges, (self.count, 1, 1))
        if FORCE in self.margins:
            margin = self.margins[FORCE]
            cuts = ranges[:, : margin.shape[1]]
            sides = tightened(cuts[..., 0], cuts[..., 1], margin * reach(cuts[0]))
            cuts[..., 0], cuts[..., 1] = sides
        if self.ground is not None:
            off = ~self.ground.schedule.bearing.repeat(3, axis=1)
            ranges[:, -off.shape[1] :][off] = 0.0
        weakest, strongest = ranges.reshape(-1, 2).T
        return (
            np.concatenate([lower.ravel(), [least], weakest]),
            np.concatenate([upper.ravel(), [most], strongest]),
        )

    def objective(self) -> list[Term]:
        from scipy.sparse import csr_matrix, diags, kron

        weights, size = self.task.objective, self.sizes.unknowns
        terms: list[Term] = [Time(self.sizes, "time", weight=weights.time)]
        loads = np.array([force.weight for force in self.forces])
        if np.any(loads):
            diagonal = np.zeros(size)
            diagonal[self.sizes.time + 1 :] = np.outer(self.quadrature(self.count), loads).ravel()
            terms.append(
                Quadratic(self.sizes, "loads", matrix=csr_matrix(diags(diagonal)), power=1)
            )
        for order, name, squares in (
            (2, "accelerations", np.where(self.task.chart.plain, weights.acceleration, 0.0)),
            (3, "jerks", weights.jerk),
        ):
            if np.any(squares):
                matrix = csr_matrix(kron(self.profile.gram(order), diags(squares)))
                matrix.eliminate_zeros()
                matrix.resize(size, size)
                terms.append(Quadratic(self.sizes, name, matrix=matrix, power=1 - 2 * order))
        return terms

    def rates(self) -> list[Term]:
        """Return limits of velocities, accelerations and jerks: of their control points."""
        terms: list[Term] = []
        for order, name in enumerate(RATES[1:], 1):
            limits = self.task.chart.rates(getattr(self.task.limits, name))
            joints = np.flatnonzero(np.isfinite(limits).any(axis=1))
            if not len(joints):
                continue
            matrix = self.profile.differences(order)
            moves = (self.lower < self.upper)[: self.sizes.time].reshape(-1, self.n)
            free = moves[:, joints].any(axis=1)
            matrix = matrix[(matrix[:, free] != 0).any(axis=1)]
            scale = reach(limits[joints])
            lower, upper = (np.tile(side, len(matrix)) for side in (limits[joints].T / scale))
            labels = tuple(self.labels[j] for j in joints)
            terms.append(
                Linear.of_control_points(
                    self.sizes, name, (lower, upper), labels, matrix, joints, scale, order
                )
            )
        return terms

    def state(self, name: str, state: State, s: float) -> list[Term]:
        """Return demands at an instant that are not bounds already."""
        terms: list[Term] = []
        between = np.flatnonzero(np.isfinite(state.ranges).any(axis=1))
        if len(between) and 0.0 < s < 1.0:
            terms.append(self.at(f"q at {name}", 0, s, between, *state.ranges[between].T))
        for order, values in enumerate((state.q, state.qd, state.qdd)):
            fixed = ~np.isnan(values)
            if s in (0.0, 1.0):
                if order == 0:
                    continue
                if order == 1:
                    fixed &= np.isnan(state.q) | (values != 0)
            for is_zero in (True, False):
                joints = np.flatnonzero(fixed & ((values == 0) == is_zero))
                if len(joints):
                    label, target = f"{('q', 'qd', 'qdd')[order]} at {name}", values[joints]
                    terms.append(self.at(label, order, s, joints, target, target))
        if state.pose is not None:
            terms.append(self.pose(name, state.pose, s))
        return terms

    def at(
        self, name: str, order: int, s: float, joints: Index, lower: Array, upper: Array
    ) -> Term:
        """Return limits of a rate of `joints` at an instant; T does not matter to those of 0."""
        row, size = self.basis_row(order, s)
        return Linear.of_control_points(
            self.sizes, name, (lower / size, upper / size), tuple(self.labels[j] for j in joints),
            row[None], joints, order=order if np.any(lower) or np.any(upper) else 0,
        )  # fmt: skip

    def pose(self, name: str, pose: Pose, s: float) -> Term:
        quantity = self.task.chart.along(position_of(self.module, self.task.parameters, pose))
        turn = () if pose.rotation is None else (0.0, 0.0, 0.0, 0.0)
        sides = np.tile([*pose.position, *turn], (2, 1))
        if pose.rotation is not None:
            sides[1, -1] = np.inf  # the cosine of the angle left
        at = np.array([s])
        local = self.profile.at(at)
        return Sampled.limits(
            self.sizes, f"{pose.name} at {name}", quantity, at, local, sides, axes=True
        )

    @cached_property
    def closes(self) -> bool:
        """Whether torques at the end of a cycle are images of those at the start.

        They are where ground and robot are symmetric, accelerations and forces at the end are
        images, too, and nothing else acts.  Equations of coordinates without a drive then hold at
        the end if they hold at the start.
        """
        ground, unknown = self.ground, len(self.forces)
        if ground is None or ground.turn is None or self.loads is not None:
            return False
        if self.task.mirrored.orders < 3 or unknown > 3 * len(ground.contacts.names):
            return False
        torque = self.task.chart.along(Torques(self.module, self.task.parameters))
        start = np.random.default_rng(0).normal(scale=0.3, size=(3, 1, self.n))
        states = start, self.task.image(start)
        before, after = (torque.value(MotionSamples.of(*state)) for state in states)
        return bool(np.abs(after - self.task.image(before)).max() < SAME * np.abs(before).max())

    def cycle(self) -> list[Term]:
        """Return periodic and mirrored ends: q, qd, qdd at the end by those at the start."""
        task, mirrored = self.task, self.task.images
        if not mirrored:
            return []
        rows, columns, coefficients = [], [], []
        moving = self.moving
        for order in range(task.mirrored.orders):
            (start, _), (end, _) = (self.basis_row(order, s) for s in (0.0, 1.0))
            for i, j, sign in mirrored:
                if (not order and i in task.mirrored.advancing) or not moving[[i, j]].any():
                    continue
                for factors, joint in ((end, i), (-sign * start, j)):
                    for k in np.flatnonzero(factors):
                        rows.append(order * self.n + i)
                        columns.append(k * self.n + joint)
                        coefficients.append(factors[k])
        ends = np.zeros(3 * self.n)
        for i, (length, speed) in task.mirrored.travel.items():
            ends[i] = length
            rows.append(i)
            columns.append(self.sizes.time)
            coefficients.append(-speed)
        present, numbers = np.unique(rows, return_inverse=True)
        return [
            Linear(
                self.sizes, "cycle", ends[present], ends[present],
                tuple(self.labels[row % self.n] for row in present), rows=numbers,
                columns=np.array(columns, dtype=np.intp), coefficients=np.array(coefficients),
            )
        ]  # fmt: skip

    def basis_row(self, order: int, s: float) -> tuple[Array, float]:
        """Return the derivative of the basis at an instant (M,), divided by its largest entry."""
        basis = self.profile.at(np.array([s]))
        row = np.zeros(self.profile.controls)
        row[basis.columns[0]] = basis.values[order, 0]
        size = np.abs(row).max()
        return row / size, size

    def quadrature(self, count: int) -> Array:
        """Weigh integrals over s: by Simpson's rule unless accelerations have kinks in segments.

        Across kinks of cubic splines optima exploit its error by motions that alternate from one
        instant to the next.
        """
        fine = self.profile.within > 1 and self.profile.degree == 3
        has_kinks = fine or self.ground is not None
        return simpson(count) if count % 2 and not has_kinks else trapezoids(count)

    def sampled(self, entry: Limited) -> Term:
        """Return a quantity at instants."""
        s = np.linspace(0.0, 1.0, self.count)
        every = np.arange(0, self.count, self.every // self.per_segment)
        chosen, scale = entry.chosen, entry.scale
        lower, upper = (
            np.tile(side / scale[chosen], (len(every), 1)) for side in entry.limits[chosen].T
        )
        if entry.name == TORQUE and self.closes:
            undriven = lower[-1] == upper[-1]
            lower[-1, undriven], upper[-1, undriven] = -np.inf, np.inf
        margin = self.margins.get(entry.name)
        if margin is not None:
            lower, upper = tightened(lower, upper, margin)
        return Sampled(
            self.sizes, entry.name, lower.ravel(), upper.ravel(),
            tuple(entry.quantity.labels[k] for k in chosen), s=s, local=self.profile.at(s),
            quantity=entry.quantity, loads=self.loads if entry.quantity.bears_loads else None,
            limited=every, chosen=chosen, scale=scale, quadrature=self.quadrature(self.count),
            squares=entry.squares, linear=entry.linear,
            unknown=directions(self.forces) if entry.quantity.bears_loads else None,
        )  # fmt: skip


@dataclass(frozen=True)
class Force:
    """An unknown of every instant: a multiple of `loads` (n_loads, 6), between `limits`."""

    loads: Array
    limits: Range
    weight: float = 0.0


def forces(task: Task, module: Any) -> tuple[Force, ...]:
    """List unknown forces: in every cut, free components of loads, at every contact point."""
    each = zip(in_cuts(task, module), ranges_in_cuts(task).tolist(), strict=True)
    unknown = [Force(loads, (least, most)) for loads, (least, most) in each]
    for free in task.free_loads:
        unit = np.zeros((module.n_loads, 6))
        unit[free.load, free.component] = 1.0
        weight = task.objective.loads.get((free.load, free.component), 0.0)
        unknown.append(Force(unit, free.limits, weight))
    if task.contacts is not None:
        size = UNIT * weight_of(module, task.parameters)
        for load in task.contacts.loads:
            for axis, least in zip(task.contacts.axes, (-np.inf, -np.inf, 0.0), strict=True):
                unit = np.zeros((module.n_loads, 6))
                unit[load, :3] = size * axis
                unknown.append(Force(unit, (least, np.inf), EVEN * UNIT**2))
    return tuple(unknown)


def smooth(profile: Profile, sizes: Sizes, moving: Flags, names: Sequence[str]) -> list[Term]:
    """Return rows that make independent coordinates one polynomial over every segment.

    Coordinates, of these `names`, that are not `moving` (n,) are constant.
    """
    jumps = profile.jumps()
    independent = np.setdiff1d(np.flatnonzero(moving), profile.dependent)
    if not len(jumps) or not len(independent):
        return []
    jumps = jumps / np.abs(jumps).max(axis=1, keepdims=True)
    zero = np.zeros(len(jumps) * len(independent))
    labels = tuple(names[k] for k in independent)
    sides = zero, zero
    return [Linear.of_control_points(sizes, "smoothness", sides, labels, jumps, independent)]


def directions(forces: Sequence[Force]) -> Array | None:
    """Return the loads by forces of size 1, (a, n_loads, 6); None if there are none."""
    return np.array([force.loads for force in forces]) if forces else None


def simpson(count: int) -> Array:
    """Return the weights of Simpson's rule over [0, 1], for an odd number of instants."""
    weights = 2 * trapezoids(count)
    weights[0::2] *= 2 / 3 / 2
    weights[1::2] *= 4 / 3 / 2
    return weights


def trapezoids(count: int) -> Array:
    """Return the weights of the trapezoidal rule over [0, 1]."""
    weights = np.full(count, 1.0 / (count - 1))
    weights[[0, -1]] /= 2
    return weights
