"""Contacts of a task as terms of its program: standing, rest, heights, friction.

While a point stands its height is 0, and it stays where it was when it came on, or at its place.
At the instants at which it comes on and leaves it is at rest, as velocities are continuous (where
limbs have no knots at instants, only as it comes on).  Points off the ground stay above it.

Not all of these rows are independent: points of one foot are at fixed distances, ends that are
mirrored repeat each other, a start that is given has no freedom.  A solver needs independent
equations.  Rows are chosen one after another, heights before positions in the plane, each time the
one whose gradient is farthest from the span of those chosen before (Gram-Schmidt), until the others
are implied: first at every instant, in a posture with all points that stand on the ground, then
together with the linear equations of the program, at a random motion that satisfies these.
Verification looks at all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from symgen.planning.contacts import SAME, Contacts, Schedule
from symgen.planning.placements import Combination, PlacedRates
from symgen.planning.problem import Entries, Iterate, Linear, Problem, Sizes, Term, instant
from symgen.planning.quantities import MotionSamples
from symgen.planning.samples import Sampled
from symgen.planning.splines import Profile
from symgen.planning.task import Task
from symgen.support.arrays import Array, Flags, Index

LENGTH = 0.1
"""Scale of heights and positions (m), and of velocities (m/s)."""
MOVED = 0.1
"""Size of the random motion (rad, m) at which independence is judged."""
IMPLIED = 1e-3
"""Largest remainder of a row, relative to it, that the rows before imply."""
MOST_STEPS, STANDS, STRIDE = 50, 1e-9, 0.3
"""Steps to a posture with all points of an instant on the ground, the error (m) that ends them, and
their largest size (rad, m)."""
LINEAR, HEIGHT, PLACE, SPEED, CLEARANCE = range(5)
"""Kinds of rows in the order of choice."""


@dataclass(kw_only=True)
class Rows(Term):
    """Rows of another term, less other rows of it: `plus` and `minus` (rows,), -1 for none."""

    of: Sampled
    plus: Index
    minus: Index

    def name_of(self, row: int) -> str:
        """Return the label of the row."""
        return self.labels[row]

    def fault(self, row: int, over: float) -> str:
        """Return the excess in m or m/s, and its instant."""
        k = int(self.plus[row]) // len(self.of.chosen)
        unit = "m" if self.of.quantity.orders == 1 else "m/s"
        return f"missed by {over * LENGTH:.2g} {unit} {instant(float(self.of.s[k]))}"

    @property
    def _subtracted(self) -> Index:
        return np.flatnonzero(self.minus >= 0)

    def value(self, at: Iterate) -> Array:
        """Return the differences, (rows,)."""
        values = self.of.value(at)
        result = values[self.plus]
        result[self._subtracted] -= values[self.minus[self._subtracted]]
        return result

    @cached_property
    def _entries(self) -> tuple[Entries, Index, Array]:
        """Return positions, the entries of the other term there, and their signs."""
        rows, columns = self.of.jacobian_positions()
        starts = np.searchsorted(rows, np.arange(len(self.of.lower) + 1))
        both = (
            (np.arange(len(self.plus)), self.plus),
            (self._subtracted, self.minus[self._subtracted]),
        )
        here, chosen, signs = [], [], []
        for sign, (mine, theirs) in zip((1.0, -1.0), both, strict=True):
            counts = starts[theirs + 1] - starts[theirs]
            ends = np.cumsum(counts)
            within = np.arange(counts.sum()) - np.repeat(ends - counts, counts)
            here.append(np.repeat(mine, counts))
            chosen.append(np.repeat(starts[theirs], counts) + within)
            signs.append(np.full(len(within), sign))
        entries = np.concatenate(chosen)
        return (np.concatenate(here), columns[entries]), entries, np.concatenate(signs)

    def jacobian_positions(self) -> Entries:
        """Return the positions of both rows."""
        return self._entries[0]

    def jacobian(self, at: Iterate) -> Array:
        """Return the entries of both rows."""
        _, entries, signs = self._entries
        return np.asarray(self.of.jacobian(at)[entries] * signs)

    def hessian_positions(self) -> Entries:
        """Return those of the other term."""
        return self.of.hessian_positions()

    def hessian(self, at: Iterate, weight: float, multipliers: Array) -> Array:
        """Return second derivatives of the other term, with multipliers of its rows."""
        spread = np.bincount(self.plus, multipliers, len(self.of.lower)).astype(float)
        some = self._subtracted
        spread -= np.bincount(self.minus[some], multipliers[some], len(self.of.lower))
        return self.of.hessian(at, 0.0, spread)

    def of_rows(self, chosen: Index) -> Rows:
        """Return the term of some rows."""
        return Rows(
            self.sizes, self.name, self.lower[chosen], self.upper[chosen],
            tuple(self.labels[k] for k in chosen), of=self.of, plus=self.plus[chosen],
            minus=self.minus[chosen],
        )  # fmt: skip


@dataclass(frozen=True)
class Ground:
    """The contacts of a task at the instants of a program: `schedule`, positions of the points.

    In a cycle a force f (3,) of point i at the start is `turn` f of point `image[i]` at the end;
    `turn` (3, 3) is None without cycles, or where points are no images of each other.
    """

    contacts: Contacts
    schedule: Schedule
    places: Combination
    image: Index | None = None
    turn: Array | None = None

    @classmethod
    def of(cls, task: Task, module: Any, count: int, profile: Profile) -> Ground | None:
        """Return those of a task with limits at `count` instants; None without contacts."""
        if task.contacts is None:
            return None
        places = task.contacts.places_of(module, task.parameters)
        image, is_fine = cycle(task, module, places), profile.within > 1
        schedule = task.contacts.schedule(count, image, leaves_at_rest=is_fine)
        turn = None if image is None else turn_of(task, module, places, image)
        return cls(task.contacts, schedule, places, image, turn)

    def terms(
        self, task: Task, profile: Profile, sizes: Sizes, linear: Sequence[Term],
        bounds: tuple[Array, Array],
    ) -> list[Term]:  # fmt: skip
        """Return standing, rest at its ends, clearance; `linear` are equations of the program."""
        lower, upper = (side[: sizes.time].reshape(-1, sizes.n) for side in bounds)
        independent = self._independent(task, np.asarray((lower < upper).any(axis=0)))
        standing = self._standing(task, profile, sizes, independent)
        resting = self._resting(task, profile, sizes, independent)
        equations = [
            term for term in linear if len(term.lower) and np.all(term.lower == term.upper)
        ]
        start = sum(len(term.lower) for term in equations)
        kinds = np.concatenate([
            np.full(start, LINEAR), self._kinds(standing), np.full(len(resting.lower), SPEED)
        ])  # fmt: skip
        contacts = [term for term in (standing, resting) if len(term.lower)]
        kept = _independent([*equations, *contacts], kinds, bounds) | (kinds == CLEARANCE)
        ends = start + np.cumsum([len(term.lower) for term in contacts])
        return [
            term.of_rows(np.flatnonzero(kept[end - len(term.lower) : end]))
            for term, end in zip(contacts, ends, strict=True)
        ]

    @property
    def _located(self) -> Flags:
        """Positions in the plane that a place or an earlier instant gives, (K, P, 2)."""
        k = np.arange(len(self.schedule.first))[:, None]
        earlier = self.schedule.standing & (self.schedule.first < k)
        placed = self.schedule.standing[..., None] & ~np.isnan(self.contacts.places)
        return np.asarray(earlier[..., None] | placed)

    def _independent(self, task: Task, moving: Flags) -> Flags:
        """Return which coordinates of points are independent at an instant, (K, P, 3).

        They are those of points that stand, heights first, then positions that are known there, and
        heights of others.
        """
        from scipy.linalg import lstsq

        places = task.chart.along(self.places)
        result = np.zeros((*self.schedule.standing.shape, 3), dtype=bool)
        located = self._located.reshape(len(result), -1)
        both = np.column_stack([self.schedule.standing, located])
        patterns, which = np.unique(both, axis=0, return_inverse=True)
        rest = task.guess.through[0] if task.guess.through is not None else np.zeros(len(moving))
        for number, pattern in enumerate(patterns):
            stands, located = np.split(pattern, [len(self.contacts.names)])
            x = rest + MOVED * moving * np.random.default_rng(0).normal(size=len(moving))
            heights = np.flatnonzero(np.outer(stands, [False, False, True]))
            for _ in range(MOST_STEPS):
                values, rows = places.jacobian(MotionSamples.of(x[None]))
                if np.abs(values[0, heights]).max(initial=0.0) < STANDS:
                    break
                A = rows[0, 0][heights] * moving
                step = lstsq(A, -values[0, heights], cond=IMPLIED)[0]
                x += step * min(1.0, STRIDE / max(np.abs(step).max(), STRIDE))
            rows = places.jacobian(MotionSamples.of(x[None]))[1][0, 0] * moving
            sizes = np.linalg.norm(rows, axis=1)
            rows /= np.where(sizes > 0, sizes, 1.0)[:, None]
            kept = np.zeros(len(rows), dtype=bool)
            in_plane = np.flatnonzero(np.pad(located.reshape(-1, 2), ((0, 0), (0, 1))))
            touching = np.flatnonzero(np.outer(stands, [True, True, False]))
            off_ground = np.flatnonzero(np.outer(~stands, [False, False, True]))
            for some in (heights, in_plane, np.setdiff1d(touching, in_plane)):
                kept[some[independent_rows(rows, some)]] = True
            kept[off_ground] = np.linalg.norm(rows[off_ground], axis=1) >= IMPLIED
            result[which == number] = kept.reshape(-1, 3)
        return result

    def _standing(self, task: Task, profile: Profile, sizes: Sizes, independent: Flags) -> Rows:
        """Return all rows of positions: equations of points that stand, heights of others."""
        s = np.linspace(0.0, 1.0, len(self.schedule.first))
        of = _unlimited(task, self.places, profile, sizes, s)
        count, names = len(self.contacts.names), self.contacts.names
        plus, minus, lower, upper, labels, located = [], [], [], [], [], self._located
        for k, i in np.ndindex(*self.schedule.standing.shape):
            first, row = int(self.schedule.first[k, i]), 3 * (count * k + i)
            stands = self.schedule.standing[k, i]
            if independent[k, i, 2]:
                plus.append(row + 2)
                minus.append(-1)
                lower.append(0.0 if stands else self.contacts.clearance / LENGTH)
                upper.append(0.0 if stands else np.inf)
                labels.append(f"height of {names[i]}")
            for axis, place in enumerate(self.contacts.places[i]):
                if independent[k, i, axis] and located[k, i, axis]:
                    fixed = not np.isnan(place)
                    plus.append(row + axis)
                    minus.append(-1 if fixed else 3 * (count * first + i) + axis)
                    lower.append(place / LENGTH if fixed else 0.0)
                    upper.append(lower[-1])
                    labels.append(f"place of {names[i]}")
        sides = np.array(lower), np.array(upper)
        rows = np.array(plus, dtype=int), np.array(minus, dtype=int)
        return Rows(sizes, "contact", *sides, tuple(labels), of=of, plus=rows[0], minus=rows[1])

    def _resting(self, task: Task, profile: Profile, sizes: Sizes, independent: Flags) -> Rows:
        """Return the velocities of points that come on or leave, which are 0."""
        k, i = np.nonzero(self.schedule.resting)
        instants, at = np.unique(k, return_inverse=True)
        some = instants if len(instants) else np.zeros(1)  # terms have an instant
        s = some / (len(self.schedule.first) - 1)
        of = _unlimited(task, PlacedRates(self.places), profile, sizes, s)
        rows = ((len(self.contacts.names) * at + i)[:, None] * 3 + np.arange(3)).ravel()
        rows = rows[independent[k, i].ravel()]
        points = i.repeat(3)[independent[k, i].ravel()]
        labels = tuple(f"speed of {self.contacts.names[point]}" for point in points)
        zero = np.zeros(len(rows))
        none = np.full(len(rows), -1)
        return Rows(sizes, "contact", zero, zero, labels, of=of, plus=rows, minus=none)

    def _kinds(self, standing: Rows) -> Index:
        """Return the kinds of rows."""
        equations = np.where(standing.plus % 3 == 2, HEIGHT, PLACE)
        return np.where(standing.lower < standing.upper, CLEARANCE, equations)

    def joined(self, sizes: Sizes, first: int, stride: int) -> list[Linear]:
        """Return equations between forces at the ends of a cycle; unknowns as of `friction`."""
        start = np.flatnonzero(self.schedule.bearing[0])
        if self.turn is None or self.image is None or not len(start):
            return []
        last = stride * (len(self.schedule.bearing) - 1)
        zero, rows = np.zeros(3 * len(start)), np.arange(3 * len(start))
        force = sizes.time + 1 + first + 3 * np.array([self.image[start], start])[..., None]
        force = force + np.arange(3)  # (2, points, 3)
        columns = np.concatenate([last + force[0].ravel(), force[1].repeat(3, axis=0).ravel()])
        turned = np.tile(-self.turn.ravel(), len(start))
        return [Linear(
            sizes, "cycle of forces", zero, zero, rows=np.concatenate([rows, rows.repeat(3)]),
            columns=columns, coefficients=np.concatenate([np.ones(len(rows)), turned]),
        )]  # fmt: skip

    def friction(self, sizes: Sizes, first: int, stride: int) -> Linear:
        """Return |f_1|, |f_2| <= friction f_n / sqrt(2) of points that bear; the forces of an
        instant are unknowns `first`, ... of its `stride`."""
        k, i = np.nonzero(self.schedule.bearing)
        slope = self.contacts.slope
        force = sizes.time + 1 + stride * k + first + 3 * i
        count = 4 * len(k)
        tangents = (force[:, None] + [0, 0, 1, 1]).ravel()
        columns = np.concatenate([tangents, force.repeat(4) + 2])
        coefficients = np.concatenate([np.tile([1.0, -1.0], count // 2), np.full(count, -slope)])
        labels = tuple(self.contacts.names[point] for point in i.repeat(4))
        return Linear(
            sizes, "friction", np.full(count, -np.inf), np.zeros(count), labels,
            rows=np.tile(np.arange(count), 2), columns=columns, coefficients=coefficients,
        )  # fmt: skip


def cycle(task: Task, module: Any, places: Combination) -> Index | None:
    """Return the contact point whose part each point takes in the next cycle, -1 for none; None
    without cycles."""
    if not task.images or task.contacts is None:
        return None
    heights, mirror = (x[..., 2] for x in _mirrored(task, module, places))
    apart = np.abs(heights[:, :, None] - mirror[:, None, :]).max(axis=0)
    nearest: Index = apart.argmin(axis=1)  # images are as high
    same = np.take_along_axis(apart, nearest[:, None], axis=1)[:, 0] < SAME
    return np.where(same, nearest, -1)


def turn_of(task: Task, module: Any, places: Combination, image: Index) -> Array | None:
    """Return the rotation or reflection about the normal that images are turned by, (3, 3)."""
    positions, mirror = _mirrored(task, module, places)
    x, y = positions.reshape(-1, 3), mirror[:, image].reshape(-1, 3)
    turn = np.asarray(np.linalg.lstsq(x, y)[0].T, dtype=float)
    return turn if np.abs(x @ turn.T - y).max() < SAME else None


def _mirrored(task: Task, module: Any, places: Combination) -> tuple[Array, Array]:
    """Return the positions of contact points at random configurations and their images, (4, P, 3).

    Heights are above the origin of the base.
    """
    x = np.random.default_rng(1).normal(scale=0.3, size=(4, module.n))
    along = task.chart.along(places)
    values = (along.value(MotionSamples.of(z)) for z in (x, task.image(x)))
    first, second = (z.reshape(len(x), -1, 3) - [0, 0, places.constant[2]] for z in values)
    return first, second


def _unlimited(
    task: Task, quantity: Combination | PlacedRates, profile: Profile, sizes: Sizes, s: Array
) -> Sampled:
    """Return a term of all entries at instants, without limits."""
    along, free = task.chart.along(quantity), (-np.inf, np.inf)
    return Sampled.limits(sizes, "contact", along, s, profile.at(s), free, scale=LENGTH)


def _independent(terms: Sequence[Term], kinds: Index, bounds: tuple[Array, Array]) -> Flags:
    """Return which rows of some `kinds` are kept, where unknowns with equal `bounds` are fixed.

    Their gradients are those at a random motion that satisfies the linear equations.
    """
    from scipy.linalg import qr, solve_triangular

    sizes = terms[0].sizes
    lower, upper = bounds
    problem = Problem(sizes, terms, lower, upper)
    pattern, free = problem.jacobian_pattern, lower < upper
    x = np.zeros(sizes.unknowns)
    x[: sizes.time] = np.random.default_rng(0).normal(scale=MOVED, size=sizes.time)
    x[sizes.time] = 1.0
    x = np.where(free, x, lower)  # limits of joints would straighten knees

    def gradients() -> tuple[Array, Array]:
        matrix = np.zeros(pattern.shape)
        matrix[pattern.rows, pattern.columns] = problem.jacobian(x)
        norms = np.linalg.norm(matrix[:, free], axis=1)
        norms = np.where(norms > 0, norms, 1.0)
        return matrix[:, free] / norms[:, None], norms

    kept: Flags = kinds == LINEAR
    matrix, norms = gradients()
    if kept.any():
        Q, R, order = qr(matrix[kept].T, mode="economic", pivoting=True)
        rank = np.count_nonzero(np.abs(np.diag(R)) > IMPLIED)
        Q, R, order = Q[:, :rank], R[:rank, :rank], order[:rank]
        short = ((problem.lower_rows - problem.constraints(x)) / norms)[kept][order]
        x[free] += Q @ solve_triangular(R, short, trans="T")
        matrix, _ = gradients()
        matrix -= (matrix @ Q) @ Q.T
    for kind in (HEIGHT, PLACE, SPEED):
        chosen = np.flatnonzero(kinds == kind)
        kept[chosen[independent_rows(matrix, chosen)]] = True
    return kept


def independent_rows(matrix: Array, rows: Index) -> Index:
    """Return independent ones of some `rows` of a matrix (m, n); subtract them from all rows."""
    kept, waiting = [], np.arange(len(rows))
    while len(waiting):
        remainders = np.linalg.norm(matrix[rows[waiting]], axis=1)
        most = int(remainders.argmax())
        if remainders[most] < IMPLIED:
            break
        kept.append(waiting[most])
        unit = matrix[rows[waiting[most]]] / remainders[most]
        matrix -= np.outer(matrix @ unit, unit)
        waiting = waiting[(remainders >= IMPLIED) & (np.arange(len(waiting)) != most)]
    return np.array(kept, dtype=int)
