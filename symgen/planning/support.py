"""Centres of pressure: margins from the edges of support polygons, forces that two feet share.

Points i that bear have positions p_i and forces f_i = f_n,i n + t_i along the ground's axes, in
units of the robot's weight; n is its normal.

The zero-moment point, sum f_n,i p_i / sum f_n,i, is at least `margin` inside the edge from point a
to point b of the support polygon, counterclockwise, if

    sum_i f_n,i (e . (p_i - p_a) - margin) >= 0,    e = n x (p_b - p_a) / |p_b - p_a|.

Points on a line have two ends instead, with e along the line.  Which points have an edge between
them depends on where they stand: polygons are those of a motion nearby.

Barman 2020, chapter 5, distributes the ground's resultant over both feet by a rule that is not
printed.  Here each foot j bears a share of the force and of the free moment.  Its centre of
pressure is off its centre c_j, the mean of its points, across the line between the centres, by the
same distance for both.  With D = c_2 - c_1 and M_j = sum f_n,i (p_i - c_j), N_j the moment of the
t_i about c_j:

    t_1 f_n,2 = t_2 f_n,1,    N_1 f_n,2 = N_2 f_n,1,
    D . M_1 = D . M_2 = 0,    n x D . (M_1 f_n,2 - M_2 f_n,1) = 0.

The zero-moment point then lies between the feet.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from symgen.planning.contacts import Contacts, Schedule, feet_of, weight_of
from symgen.planning.problem import Iterate, Sizes
from symgen.planning.quantities import MotionSamples, Parameters, Quantity
from symgen.planning.samples import ORDERS, Sampled
from symgen.planning.splines import Profile
from symgen.planning.standing import MOVED, independent_rows
from symgen.planning.task import Task
from symgen.runtime.configuration import configuration_of
from symgen.support.arrays import Array, Index

TINY = 1e-30
"""Complex step of second derivatives."""
FLAT, APART = 1e-6, 1e-6
"""Width of a line of points, in units of its length; distance (m) of points that count as one."""


class Edge(NamedTuple):
    """An edge of a polygon from `start` to `end`, or an end of a line of points at `start`."""

    start: int
    end: int
    is_end: bool = False


def edges(points: Array) -> tuple[Edge, ...]:
    """Return edges of the convex hull of points (k, 2), counterclockwise; of a line its ends."""
    centred = points - points.mean(axis=0)
    _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
    if len(points) < 2 or sizes[0] <= APART:
        return ()
    along = centred @ axes[0]
    if sizes[-1] <= max(FLAT * sizes[0], APART):
        a, b = int(along.argmin()), int(along.argmax())
        return Edge(a, b, True), Edge(b, a, True)
    from scipy.spatial import ConvexHull

    corners = list[int]()
    for corner in ConvexHull(points).vertices.tolist():
        if not corners or np.linalg.norm(points[corner] - points[corners[-1]]) > APART:
            corners.append(corner)
    if np.linalg.norm(points[corners[0]] - points[corners[-1]]) <= APART:
        corners.pop()
    return tuple(Edge(a, b) for a, b in zip(corners, [*corners[1:], corners[0]], strict=True))


def widest(points: Array) -> float:
    """Return the largest distance (m) of a point from all edges of a polygon around (k, 2)."""
    from scipy.optimize import linprog

    polygon = edges(points)
    if not polygon:
        return 0.0
    lines = Lines(points, polygon)
    A = np.column_stack([-lines.inward, np.ones(len(polygon))])
    b = -(lines.inward * points[lines.starts]).sum(axis=1)
    result = linprog([0.0, 0.0, -1.0], A_ub=A, b_ub=b, bounds=[(None, None)] * 3)
    return float(-result.fun)


class Lines:
    """Lines along the edges of a polygon of points p (..., P, 2), or across the ends of a line.

    Attributes:
        inward: unit vectors e away from the lines, (..., m, 2).
        turn: derivatives of e by the angle of p_b - p_a, (..., m, 2).
        across: unit vectors across p_b - p_a, to its left, (..., m, 2).
        length: of p_b - p_a, (..., m), m.
    """

    def __init__(self, p: Array, polygon: Sequence[Edge]) -> None:
        self.starts, self.ends, is_end = (list(each) for each in zip(*polygon, strict=True))
        d = p[..., self.ends, :] - p[..., self.starts, :]
        self.length = np.sqrt((d * d).sum(axis=-1))
        d = d / self.length[..., None]
        self.across = np.stack([-d[..., 1], d[..., 0]], axis=-1)
        ends = np.array(is_end)[:, None]
        self.inward = np.where(ends, d, self.across)
        self.turn = np.where(ends, self.across, -d)

    def moments(self, p: Array, f: Array) -> Array:
        """Return sum_i f_i (p_i - p_a) for forces f (..., P), (..., m, 2)."""
        first = (f[..., None] * p).sum(axis=-2)[..., None, :]
        return np.asarray(first - f.sum(axis=-1)[..., None, None] * p[..., self.starts, :])

    def inside(self, p: Array, f: Array) -> Array:
        """Return sum_i f_i e . (p_i - p_a), (..., m)."""
        return np.asarray((self.inward * self.moments(p, f)).sum(axis=-1))


class OfContacts(Quantity):
    """A function of positions and forces of contact points `some` at an instant, (K, m)."""

    orders = nonlinear = 1
    bears_loads = True

    def __init__(
        self, contacts: Contacts, module: Any, parameters: Parameters, some: Index,
        labels: Sequence[str],
    ) -> None:  # fmt: skip
        super().__init__(module, parameters)
        self.labels = tuple(labels)
        self.places = contacts.places_of(module, parameters, some)
        self.loads, self.axes = contacts.loads[some], contacts.axes / weight_of(module, parameters)

    @abstractmethod
    def of_points(self, p: Array, f: Array) -> Array:
        """Return values (..., m) for positions and forces along the axes, (..., P, 3) each."""

    @abstractmethod
    def slopes(self, p: Array, f: Array) -> Array:
        """Return derivatives by positions and forces, (..., m, 2, P, 3), for complex ones, too."""

    def value(self, motion: MotionSamples) -> Array:
        """Return the values, (..., K, m)."""
        return self._values(self._state(motion, self.places.value(motion)))

    def jacobian(self, motion: MotionSamples) -> tuple[Array, Array]:
        """Return values, and their derivatives (..., K, 1, m, n)."""
        places, columns = self.places.jacobian(motion)
        y = self._state(motion, places)
        slopes = self._slopes(y)[..., : places.shape[-1]]
        return self._values(y), slopes[..., None, :, :] @ columns

    def hessian(self, motion: MotionSamples, multipliers: Array) -> Array:
        """Return second derivatives of multipliers (K, m) . values, (K, 1, 1, n, n)."""
        places, columns = self.places.jacobian(motion)
        y, J, size = self._state(motion, places), columns[:, 0], places.shape[-1]
        second = self._curvature(y, multipliers)[:, :size, :size]
        weights = (multipliers[:, None] @ self._slopes(y)[..., :size])[:, 0]
        along = (J.transpose(0, 2, 1) @ second @ J)[:, None, None]
        return np.asarray(along + self.places.hessian(motion, weights))

    def by_loads(self, motion: MotionSamples, unknown: Array) -> Array:
        """Return derivatives by multiples of `unknown` loads, (K, m, a)."""
        y = self._state(motion, self.places.value(motion))
        return np.asarray(self._slopes(y)[..., y.shape[-1] // 2 :] @ self._forces(unknown).T)

    def gradients_by_loads(
        self, motion: MotionSamples, unknown: Array, multipliers: Array
    ) -> Array:
        """Return derivatives of `by_loads`, with multipliers (K, m), by the state, (K, 1, n, a)."""
        places, columns = self.places.jacobian(motion)
        size = places.shape[-1]
        mixed = self._curvature(self._state(motion, places), multipliers)[:, :size, size:]
        by_loads = columns[:, 0].transpose(0, 2, 1) @ mixed @ self._forces(unknown).T
        return np.asarray(by_loads[:, None])

    def curvature_by_loads(
        self, motion: MotionSamples, unknown: Array, multipliers: Array
    ) -> tuple[Array, Array]:
        """Return second derivatives by multiples of `unknown` loads, (K, a, a), and 0 by T."""
        y, forces = self._state(motion, self.places.value(motion)), self._forces(unknown)
        size = y.shape[-1] // 2
        second = forces @ self._curvature(y, multipliers)[:, size:, size:] @ forces.T
        return second, np.zeros(second.shape[:2])

    def independent(self) -> Index:
        """Return entries with independent gradients at a random posture and random forces."""
        random = np.random.default_rng(0)
        q = configuration_of(self.module).integrate(
            self.module.neutral(), random.normal(scale=MOVED, size=self.module.n)
        )
        rest = np.zeros((1, self.module.n))
        places, columns = self.places.jacobian(MotionSamples.of(q[None], rest))
        slopes = self._slopes(np.append(places[0], random.uniform(size=places.size)))
        by_places, by_forces = np.split(slopes, 2, axis=-1)
        matrix = np.column_stack([by_places @ columns[0, 0], by_forces])
        sizes = np.linalg.norm(matrix, axis=1)
        matrix /= np.where(sizes > 0, sizes, 1.0)[:, None]
        return np.sort(independent_rows(matrix, np.arange(self.size)))

    def _state(self, motion: MotionSamples, places: Array) -> Array:
        """Return positions and forces, (..., K, 6 P)."""
        assert motion.loads is not None
        forces = self._forces(motion.loads)
        return np.concatenate([places, np.broadcast_to(forces, places.shape)], axis=-1)

    def _forces(self, loads: Array) -> Array:
        """Return forces along the axes, (..., 3 P), of loads (..., n_loads, 6)."""
        forces = loads[..., self.loads, :3] @ self.axes.T
        return np.asarray(forces.reshape(*forces.shape[:-2], -1))

    def _values(self, y: Array) -> Array:
        return self.of_points(*self._parts(y))

    def _slopes(self, y: Array) -> Array:
        """Return derivatives by y (..., 6 P), (..., m, 6 P)."""
        slopes = self.slopes(*self._parts(y))
        return slopes.reshape(*slopes.shape[:-3], -1)

    @staticmethod
    def _parts(y: Array) -> tuple[Array, Array]:
        p, f = np.moveaxis(y.reshape(*y.shape[:-1], 2, -1, 3), -3, 0)
        return p, f

    def _curvature(self, y: Array, multipliers: Array) -> Array:
        """Return second derivatives of multipliers (K, m) . values by y (K, V), by complex steps,
        (K, V, V)."""
        slopes = self._slopes(y + TINY * 1j * np.eye(y.shape[-1])[:, None])  # (V, K, m, V)
        return np.asarray(np.einsum("vkmw,km->kvw", slopes.imag / TINY, multipliers))


class SupportMargin(OfContacts):
    """Moments of normal forces about the edges of a support polygon, less the margin, (K, m)."""

    def __init__(
        self, contacts: Contacts, module: Any, parameters: Parameters, some: Index,
        polygon: Sequence[Edge],
    ) -> None:  # fmt: skip
        names = [contacts.names[k] for k in some]
        labels = [
            names[edge.start] if edge.is_end else f"{names[edge.start]} to {names[edge.end]}"
            for edge in polygon
        ]
        super().__init__(contacts, module, parameters, some, labels)
        self.polygon, self.margin = polygon, contacts.margin

    def of_points(self, p: Array, f: Array) -> Array:
        """Return sum_i f_n,i (e . (p_i - p_a) - margin), (..., m)."""
        p, normal = p[..., :2], f[..., 2]
        least = self.margin * normal.sum(axis=-1)[..., None]
        return np.asarray(Lines(p, self.polygon).inside(p, normal) - least)

    def slopes(self, p: Array, f: Array) -> Array:
        """Return derivatives by positions and forces, (..., m, 2, P, 3)."""
        p, normal = p[..., :2], f[..., 2]
        lines, edge = Lines(p, self.polygon), np.arange(self.size)
        e, total = lines.inward, normal.sum(axis=-1)[..., None, None]
        lever = (lines.moments(p, normal) * lines.turn).sum(axis=-1) / lines.length
        turned = lever[..., None] * lines.across
        slopes = np.zeros((*e.shape[:-1], 2, *f.shape[-2:]), dtype=f.dtype)
        slopes[..., 0, :, :2] = normal[..., None, :, None] * e[..., None, :]
        slopes[..., edge, 0, lines.starts, :2] -= total * e + turned
        slopes[..., edge, 0, lines.ends, :2] += turned
        arms = p[..., None, :, :] - p[..., lines.starts, None, :]
        slopes[..., 1, :, 2] = (e[..., None, :] * arms).sum(axis=-1) - self.margin
        return slopes


class SharedForces(OfContacts):
    """Equations of two `feet`, numbers of points, that share forces, (K, 6)."""

    def __init__(
        self, contacts: Contacts, module: Any, parameters: Parameters, feet: Sequence[Index]
    ) -> None:
        labels = (*["direction"] * 2, "free moment", *["centre of pressure"] * 3)
        super().__init__(contacts, module, parameters, np.concatenate(feet), labels)
        self.first = len(feet[0])

    def of_points(self, p: Array, f: Array) -> Array:
        """Return the differences of both sides of the equations, (..., 6)."""
        return self._equations(p, f)[0]

    def slopes(self, p: Array, f: Array) -> Array:
        """Return their derivatives by positions and forces, (..., 6, 2, P, 3)."""
        return self._equations(p, f)[1]

    def _equations(self, p: Array, f: Array) -> tuple[Array, Array]:
        feet = slice(self.first), slice(self.first, None)
        (first, by_first), (second, by_second) = (_sums(p, f, foot) for foot in feet)
        normals = first[..., :1], second[..., :1]
        by_normals = by_first[..., :1, :, :, :], by_second[..., :1, :, :, :]
        x, y = first[..., 1:6], second[..., 1:6]  # t, N, M of each foot
        apart = x * normals[1] - y * normals[0]
        by_apart = (
            by_first[..., 1:6, :, :, :] * _wide(normals[1]) + _wide(x) * by_normals[1]
            - by_second[..., 1:6, :, :, :] * _wide(normals[0]) - _wide(y) * by_normals[0]
        )  # fmt: skip
        D, by_D = second[..., 6:] - first[..., 6:], (by_second - by_first)[..., 6:, :, :, :]
        left = np.stack([-D[..., 1], D[..., 0]], axis=-1)
        by_left = np.stack([-by_D[..., 1, :, :, :], by_D[..., 0, :, :, :]], axis=-4)
        values, slopes = [apart[..., :3]], [by_apart[..., :3, :, :, :]]
        for a, by_a, b, by_b in (
            (D, by_D, x[..., 3:], by_first[..., 4:6, :, :, :]),
            (D, by_D, y[..., 3:], by_second[..., 4:6, :, :, :]),
            (left, by_left, apart[..., 3:], by_apart[..., 3:, :, :, :]),
        ):
            values.append((a * b).sum(axis=-1)[..., None])
            along = _wide(a) * by_b + by_a * _wide(b)
            slopes.append(along.sum(axis=-4, keepdims=True))
        return np.concatenate(values, axis=-1), np.concatenate(slopes, axis=-4)


def _wide(x: Array) -> Array:
    """Return x (..., m) with axes for derivatives, (..., m, 1, 1, 1)."""
    return x[..., None, None, None]


def _sums(p: Array, f: Array, foot: slice) -> tuple[Array, Array]:
    """Return f_n, t (2), N, M (2), c (2) of a foot, (..., 8), and slopes, (..., 8, 2, P, 3)."""
    places, forces = p[..., foot, :2], f[..., foot, :]
    share = 1.0 / places.shape[-2]
    centre = places.mean(axis=-2)
    arms, normal, t = places - centre[..., None, :], forces[..., 2], forces[..., :2]
    total = forces.sum(axis=-2)
    values = np.stack([
        total[..., 2], total[..., 0], total[..., 1],
        (arms[..., 0] * t[..., 1] - arms[..., 1] * t[..., 0]).sum(axis=-1),
        *np.moveaxis((normal[..., None] * arms).sum(axis=-2), -1, 0), *np.moveaxis(centre, -1, 0),
    ], axis=-1)  # fmt: skip
    slopes = np.zeros((*values.shape, 2, *p.shape[-2:]), dtype=f.dtype)
    by_p, by_f = slopes[..., 0, foot, :], slopes[..., 1, foot, :]
    by_f[..., [0, 1, 2], :, [2, 0, 1]] = 1.0
    by_f[..., 3, :, 0], by_f[..., 3, :, 1] = -arms[..., 1], arms[..., 0]
    lean = t - share * total[..., None, :2]
    by_p[..., 3, :, 0], by_p[..., 3, :, 1] = lean[..., 1], -lean[..., 0]
    for axis in range(2):
        by_f[..., 4 + axis, :, 2] = arms[..., axis]
        by_p[..., 4 + axis, :, axis] = normal - share * total[..., 2:]
        by_p[..., 6 + axis, :, axis] = share
    return values, slopes


@dataclass(frozen=True)
class Bearing:
    """Points that bear at the instants of a program with unknown forces `unknown` (a, n_loads, 6).

    `schedule` says which bear; coordinates are splines of a `profile`.
    """

    task: Task
    module: Any
    contacts: Contacts
    schedule: Schedule
    profile: Profile
    sizes: Sizes
    unknown: Array

    def margins(self, x: Array) -> list[Sampled]:
        """Return margins from the edges that polygons have at the motion x (unknowns,)."""
        at = Iterate(x, self.sizes.controls, self.sizes.n)
        s = np.linspace(0.0, 1.0, len(self.schedule.bearing))
        q, qd, qdd = np.moveaxis(self.profile.at(s).state(at.control, at.T, ORDERS), 1, 0)
        places = self.contacts.places_of(self.module, self.task.parameters)
        p = self.task.chart.along(places).value(MotionSamples(q, qd, qdd, s * at.T, s))
        p = p.reshape(len(s), -1, 3)[..., :2]
        polygons = dict[tuple[tuple[int, ...], tuple[Edge, ...]], list[int]]()
        for k, bears in enumerate(self.schedule.bearing):
            polygons.setdefault((tuple(np.flatnonzero(bears)), edges(p[k, bears])), []).append(k)
        parts = self.module, self.task.parameters
        return [
            self._limited("support", SupportMargin(self.contacts, *parts, np.array(some), polygon),
                          instants, np.inf)
            for (some, polygon), instants in polygons.items() if polygon
        ]  # fmt: skip

    def shared(self) -> list[Sampled]:
        """Return equations of forces that two feet share, where both bear."""
        feet = list(feet_of(self.module, self.contacts).values())
        patterns, which = np.unique(self.schedule.bearing, axis=0, return_inverse=True)
        terms = []
        for number, bears in enumerate(patterns):
            pair = [points[bears[points]] for points in feet]
            if all(len(points) for points in pair):
                quantity = SharedForces(self.contacts, self.module, self.task.parameters, pair)
                instants = np.flatnonzero(which == number)
                terms.append(self._limited("shared forces", quantity, instants, 0.0))
        return terms

    def _limited(
        self, name: str, quantity: OfContacts, instants: Sequence[int] | Index, upper: float
    ) -> Sampled:
        """Return limits 0 and `upper` of independent entries of a quantity."""
        s = np.asarray(instants) / (len(self.schedule.bearing) - 1)
        along = self.task.chart.along(quantity)
        chosen = quantity.independent() if upper == 0 else np.arange(along.size)
        return Sampled.limits(
            self.sizes, name, along, s, self.profile.at(s), (0.0, upper), chosen=chosen,
            unknown=self.unknown, instants=np.asarray(instants),
        )  # fmt: skip
