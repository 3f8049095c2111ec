"""Task -> nonlinear program: control points and T as unknowns, limits at instants.

ends        q, and qd = 0 beside it, are bounds of the first and last control points; other
            rates are rows A c / T^r, poses a quantity at s = 0 or 1
limits      of q: bounds of control points; of rates: rows of their control points; of torques,
            wrenches, outputs and distances: at `per_segment` instants of every segment
objective   integrals of squared torques by Simpson's rule, of accelerations and jerks exactly
cuts        closed at all instants, by coordinates that have a knot at each (`symgen.planning.cuts`)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.planning.angles import Cosines
from symgen.planning.charts import joint_names
from symgen.planning.cuts import closed
from symgen.planning.load_reading import COMPONENTS
from symgen.planning.loads import loads_at
from symgen.planning.obstacles import Distances
from symgen.planning.places import position_of
from symgen.planning.problem import Problem
from symgen.planning.quantities import Outputs, Quantity, Torques, Velocities, Wrenches
from symgen.planning.samples import LoadsAt, Sampled
from symgen.planning.splines import Profile
from symgen.planning.task import Pose, Range, State, Task
from symgen.planning.terms import Effort, Index, Linear, LoadEffort, Rates, Sizes, Term, Time

Array = NDArray[np.float64]

Margins = Mapping[str, Array]
"""By the name of a quantity, how much its limits are tightened, (instants, entries)."""

TORQUE, WRENCH, OUTPUT, DISTANCES = "torque", "joint wrench", "output", "distance"
ANGLES = "angle"
BOUNDS = "bounds"
"""Of q and qd at the nodes of collocation, (nodes, 2 n): the key of their margins."""
RATES = ("position", "velocity", "acceleration", "jerk")
TIGHTEST = 0.4
"""How much of a range may be taken from each of its ends."""
DISTANCE = 0.1
"""What distances are divided by (m)."""


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
        """`scales`, or the larger finite limit of each entry; 1 without any, or where it is 0."""
        if self.scales is not None:
            return self.scales
        if self.name == DISTANCES:
            return np.full(len(self.limits), DISTANCE)
        return reach(self.limits)

    @property
    def chosen(self) -> Index:
        """The entries that are limited."""
        return np.flatnonzero(np.isfinite(self.limits).any(axis=1))

    @property
    def bears_loads(self) -> bool:
        """Whether loads change it."""
        return self.name in (TORQUE, WRENCH, OUTPUT)

    @property
    def is_integrated(self) -> bool:
        """Whether it is part of the objective."""
        return bool(np.any(self.squares) or np.any(self.linear))


def reach(limits: Array) -> Array:
    """The larger finite limit of each entry of (m, 2); 1 without any, or where it is 0."""
    sizes = np.where(np.isfinite(limits), np.abs(limits), 0.0).max(axis=1)
    return np.where(sizes > 0, sizes, 1.0)


def tightened(lower: Array, upper: Array, margin: Array) -> tuple[Array, Array]:
    """Limits with a margin, of which a range keeps a part."""
    most = np.where(np.isfinite(upper - lower), TIGHTEST * (upper - lower), np.inf)
    margin = np.minimum(margin, most)
    return lower + margin, upper - margin


def limited(task: Task, module: Any) -> list[Limited]:
    """What is limited or integrated at instants."""
    n, parameters = module.n, task.parameters
    none = np.zeros(n)
    objective, limits = task.objective, task.limits
    found = [Limited(TORQUE, Torques(module, parameters), limits.torque, objective.torque, none)]
    found += _rates(task, module)
    keys = sorted({*limits.wrenches, *objective.wrenches})
    if keys:
        names = joint_names(module)
        labels = [f"{names[i]} {COMPONENTS[c]}" for i, c in keys]
        found.append(
            Limited(
                WRENCH,
                Wrenches(module, parameters, keys, labels),
                np.array([limits.wrenches.get(key, (-np.inf, np.inf)) for key in keys]),
                np.array([objective.wrenches.get(key, 0.0) for key in keys]),
                np.zeros(len(keys)),
            )
        )
    numbers = sorted({*limits.outputs, *objective.outputs})
    if numbers:
        found.append(
            Limited(
                OUTPUT,
                Outputs(module, parameters, numbers),
                np.array([limits.outputs.get(k, (-np.inf, np.inf)) for k in numbers]),
                np.zeros(len(numbers)),
                np.array([objective.outputs.get(k, 0.0) for k in numbers]),
            )
        )
    keep = task.keep_out
    if keep.balls and (keep.obstacles or keep.pairs):
        distances = Distances(module, parameters, keep.balls, keep.obstacles, keep.pairs)
        m = distances.size
        ranges = np.tile([keep.margin, np.inf], (m, 1))
        found.append(Limited(DISTANCES, distances, ranges, np.zeros(m), np.zeros(m)))
    if limits.angles:
        cosines = Cosines(module, parameters, limits.angles)
        ranges = np.array([one.cosines for one in limits.angles])
        zero, scales = np.zeros(cosines.size), np.array([one.scale for one in limits.angles])
        found.append(Limited(ANGLES, cosines, ranges, zero, zero, scales))
    return [
        replace(one, quantity=task.chart.along(one.quantity))
        for one in found
        if len(one.chosen) or one.is_integrated
    ]


def _rates(task: Task, module: Any) -> list[Limited]:
    """Velocities and accelerations that are not rates of the splines' coordinates."""
    others = np.flatnonzero(~task.chart.plain)
    if not len(others):
        return []
    none = np.zeros(len(others))
    squares = none, task.objective.acceleration[others]
    return [
        Limited(
            name, Velocities(module, order, others.tolist()), getattr(task.limits, name)[others],
            weigh, none,
        )
        for order, name, weigh in zip((1, 2), RATES[1:3], squares, strict=True)
    ]  # fmt: skip


def instants(task: Task, module: Any, per_segment: int) -> int:
    """How many there are in each segment, with limits at `per_segment`: two for integrals."""
    weighed = any(force.weight for force in forces(task, module))
    if weighed or any(one.is_integrated for one in limited(task, module)):
        return max(per_segment, 2)
    return per_segment


def transcribe(
    task: Task, module: Any, profile: Profile, per_segment: int, margins: Margins | None = None
) -> Problem:
    """The program with limits at `per_segment` instants of every segment, and at the last one."""
    return _Transcription(task, module, profile, per_segment, margins or {}).problem()


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
        a = len(self.forces)
        self.sizes = Sizes(profile.controls, self.n, a * (self.every * profile.segments + 1))
        self.labels = tuple(module.coordinate_names)
        self.loads: LoadsAt | None = loads_at(task.loads, module.n_loads, task.parameters)
        self.lower, self.upper = self.bounds()

    def problem(self) -> Problem:
        terms: list[Term] = [
            *self.objective(),
            *self.rates(),
            *self.state("start", self.task.start, 0.0),
            *self.state("goal", self.task.goal, 1.0),
            *self.cycle(),
        ]
        for k, via in enumerate(self.task.via):
            terms += self.state(f"via {k + 1}", via.state, via.at)
        terms += [self.sampled(one) for one in self.limited]
        terms += closed(self.task, self.module, self.profile, self.sizes)
        return Problem(self.profile, self.n, terms, self.lower, self.upper)

    # -------------------------------------------------------------------------------- bounds

    def bounds(self) -> tuple[Array, Array]:
        """Of control points, and of T."""
        position = self.task.limits.position
        shape = self.profile.controls, self.n
        lower, upper = (np.array(np.broadcast_to(side, shape)) for side in position.T)
        for state, ends in ((self.task.start, (0, 1)), (self.task.goal, (-1, -2))):
            given = ~np.isnan(state.q)
            rest = given & (state.qd == 0)
            for end, which in zip(ends, (given, rest), strict=True):
                lower[end, which] = upper[end, which] = state.q[which]
        least, most = self.task.time
        ranges = np.array([force.limits for force in self.forces]).reshape(-1, 2)
        weakest, strongest = np.tile(ranges, (self.every * self.profile.segments + 1, 1)).T
        return (
            np.concatenate([lower.ravel(), [least], weakest]),
            np.concatenate([upper.ravel(), [most], strongest]),
        )

    # --------------------------------------------------------------------------------- terms

    def objective(self) -> list[Term]:
        task, none = self.task.objective, np.zeros(0)
        terms: list[Term] = [Time(self.sizes, "time", none, none, (), task.time)]
        weights = np.array([force.weight for force in self.forces])
        if np.any(weights):
            rule = self.quadrature(self.every * self.profile.segments + 1)
            terms.append(LoadEffort(self.sizes, "loads", none, none, (), rule, weights))
        for order, name, weights in (
            (2, "acceleration", np.where(self.task.chart.plain, task.acceleration, 0.0)),
            (3, "jerk", task.jerk),
        ):
            if np.any(weights):
                gram = self.profile.gram(order)
                terms.append(Effort(self.sizes, f"{name}s", none, none, (), order, weights, gram))
        return terms

    def rates(self) -> list[Term]:
        """Limits of velocities, accelerations and jerks: of their control points."""
        terms: list[Term] = []
        for order, name in enumerate(RATES[1:], 1):
            limits = self.task.chart.rates(getattr(self.task.limits, name))
            joints = np.flatnonzero(np.isfinite(limits).any(axis=1))
            if not len(joints):
                continue
            matrix = self.profile.differences(order)
            free = (
                (self.lower < self.upper)[: self.sizes.time]
                .reshape(-1, self.n)[:, joints]
                .any(axis=1)
            )
            matrix = matrix[(matrix[:, free] != 0).any(axis=1)]
            scale = reach(limits[joints])
            lower, upper = (np.tile(side, len(matrix)) for side in (limits[joints].T / scale))
            labels = tuple(self.labels[j] for j in joints)
            terms.append(
                Rates(self.sizes, name, lower, upper, labels, matrix, order, joints, scale)
            )
        return terms

    def state(self, name: str, state: State, s: float) -> list[Term]:
        """What is asked for at an instant, but for what bounds say already."""
        terms: list[Term] = []
        basis = self.profile.at(np.array([s]))
        for order, values in enumerate((state.q, state.qd, state.qdd)):
            asked = ~np.isnan(values)
            if s in (0.0, 1.0):
                if order == 0:
                    continue
                if order == 1:
                    asked &= np.isnan(state.q) | (values != 0)
            row = np.zeros((1, self.profile.controls))
            first = basis.first[0]
            row[0, first : first + basis.values.shape[2]] = basis.values[order, 0]
            size = np.abs(row).max()
            for power, which in ((0, asked & (values == 0)), (order, asked & (values != 0))):
                joints = np.flatnonzero(which)
                if not len(joints):
                    continue
                target = values[joints] / size
                labels = tuple(self.labels[j] for j in joints)
                terms.append(
                    Rates(
                        self.sizes, f"{('q', 'qd', 'qdd')[order]} at {name}", target, target,
                        labels, row / size, power, joints,
                    )
                )  # fmt: skip
        if state.pose is not None:
            terms.append(self.pose(name, state.pose, s))
        return terms

    def pose(self, name: str, pose: Pose, s: float) -> Term:
        place = position_of(self.task, self.module, pose)
        turn = () if pose.rotation is None else (0.0, 0.0, 0.0, 0.0)
        lower = np.array([*pose.position, *turn])
        upper = lower.copy()
        if pose.rotation is not None:
            upper[-1] = np.inf  # the cosine of the angle left
        m, at = place.size, np.array([s])
        return Sampled(
            self.sizes, f"{pose.name} at {name}", lower, upper, place.labels, axes=True, s=at,
            local=self.profile.at(at), quantity=place, limited=np.arange(1),
            chosen=np.arange(m), scale=np.ones(m), quadrature=np.zeros(1),
            squares=np.zeros(m), linear=np.zeros(m),
        )  # fmt: skip

    def cycle(self) -> list[Term]:
        """Periodic and mirrored ends: q, qd, qdd at the end by those at the start."""
        task = self.task
        mirrored = task.mirrored.coordinates
        if task.periodic:
            mirrored = mirrored or tuple((k, k, 1.0) for k in range(self.n))
        if not mirrored:
            return []
        rows, columns, coefficients = [], [], []
        for order in range(3):
            start, end = self.end_row(order, 0.0), self.end_row(order, 1.0)
            for i, j, sign in mirrored:
                if not order and i in task.mirrored.advancing:
                    continue
                row = order * self.n + i
                for k in np.flatnonzero(end):
                    rows.append(row)
                    columns.append(k * self.n + i)
                    coefficients.append(end[k])
                for k in np.flatnonzero(start):
                    rows.append(row)
                    columns.append(k * self.n + j)
                    coefficients.append(-sign * start[k])
        zero = np.zeros(3 * self.n)
        return [
            Linear(
                self.sizes, "cycle", zero, zero, self.labels, np.array(rows, dtype=np.intp),
                np.array(columns, dtype=np.intp), np.array(coefficients),
            )
        ]  # fmt: skip

    def end_row(self, order: int, s: float) -> Array:
        """The basis at an end, scaled."""
        basis = self.profile.at(np.array([s]))
        row = np.zeros(self.profile.controls)
        row[basis.first[0] : basis.first[0] + basis.values.shape[2]] = basis.values[order, 0]
        return np.asarray(row / np.abs(row).max())

    def quadrature(self, count: int) -> Array:
        """Of integrals over s: Simpson's rule where accelerations have no kinks within segments.

        Across kinks of cubic splines it is wrong by what optima find: motions that alternate from
        one instant to the next.
        """
        has_kinks = self.profile.within > 1 and self.profile.degree == 3
        return simpson(count) if count % 2 and not has_kinks else trapezoids(count)

    def sampled(self, one: Limited) -> Term:
        """A quantity at instants."""
        count = self.every * self.profile.segments + 1
        s = np.linspace(0.0, 1.0, count)
        every = np.arange(0, count, self.every // self.per_segment)
        chosen, scale = one.chosen, one.scale
        lower, upper = (
            np.tile(side / scale[chosen], (len(every), 1)) for side in one.limits[chosen].T
        )
        margin = self.margins.get(one.name)
        if margin is not None:
            lower, upper = tightened(lower, upper, margin)
        return Sampled(
            self.sizes, one.name, lower.ravel(), upper.ravel(),
            tuple(one.quantity.labels[k] for k in chosen), s=s, local=self.profile.at(s),
            quantity=one.quantity, loads=self.loads if one.bears_loads else None,
            limited=every, chosen=chosen, scale=scale, quadrature=self.quadrature(count),
            squares=one.squares, linear=one.linear,
            unknown=directions(self.forces) if one.bears_loads else None,
        )  # fmt: skip


@dataclass(frozen=True)
class Force:
    """An unknown of every instant: a multiple of `loads` (n_loads, 6), between `limits`."""

    loads: Array
    limits: Range
    weight: float = 0.0


def forces(task: Task, module: Any) -> tuple[Force, ...]:
    """Those in every cut, along each of its axes; then the free components of loads."""
    found = []
    for cut in task.cuts:
        for axis in cut.axes:
            one = np.zeros((module.n_loads, 6))
            one[cut.pull, axis], one[cut.push, axis] = 1.0, -1.0
            found.append(Force(one, (-cut.limit, cut.limit)))
    for free in task.free_loads:
        one = np.zeros((module.n_loads, 6))
        one[free.load, free.component] = 1.0
        weight = task.objective.loads.get((free.load, free.component), 0.0)
        found.append(Force(one, free.limits, weight))
    return tuple(found)


def directions(forces: Sequence[Force]) -> Array | None:
    """The loads by forces of size 1, (a, n_loads, 6); None without any."""
    return np.array([force.loads for force in forces]) if forces else None


def simpson(count: int) -> Array:
    """The weights of Simpson's rule over [0, 1], for an odd number of instants."""
    weights = 2 * trapezoids(count)
    weights[0::2] *= 2 / 3 / 2
    weights[1::2] *= 4 / 3 / 2
    return weights


def trapezoids(count: int) -> Array:
    """The weights of the trapezoidal rule over [0, 1]."""
    weights = np.full(count, 1.0 / (count - 1))
    weights[[0, -1]] /= 2
    return weights
