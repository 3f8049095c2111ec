"""Tangent space of a joint on a manifold, derivatives of its chain in it (MF-4), and its springs.

Springs are those of MuJoCo.  One of stiffness k pulls the shortest way to the pose at which the
joint is at rest.  With the joint at R and p, and its rest at R_0 and p_0, it is stretched by

    x_v = R^T (p - p_0),    x_w = log(R_0^T R) = theta v / s,    s = |v|,

where (v, w) is the quaternion of R_0^T R and theta in (-pi, pi] the angle about v; its energy is
k x^2 / 2, and its torque, in the axes of the link, k x.  Where the way is half a turn the torque
jumps to its opposite, as the shortest way does.

No special case is needed at rest.  Small numbers are divided by numbers as small,

    s = sqrt(v.v + guard),    theta = atan2(2 s w, w^2 - s^2),

so that theta / s is 2 to the last digit where v is 0 (`symgen.algebra.rounding.GUARD`).  In the
tangent space, where along the unit vector u_k

    dv_k = (w u_k + v x u_k) / 2,    dw_k = -v_k / 2,
    dx_w/de_k = theta / s (w u_k + v x u_k) / 2 + v v_k (1 - w theta / (2 s)) / s^2,

the right Jacobian of SO(3), inverted (Chirikjian 2012, section 10.8.6), and dx_v/de_k = u_k where
the joint slides, x_v x u_k where it turns.  The law takes quaternions of any length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Vector
from symgen.algebra.rounding import GUARD
from symgen.kinematics.frames import units
from symgen.kinematics.tree import KinematicTree, Manifold

Row = list[S]
Constants = tuple[tuple[S, ...], ...]
"""The rows of a square matrix of the joint's columns."""


@dataclass(frozen=True)
class Twist(Generic[S]):
    """Velocity of the link's origin and angular velocity, in the axes of the link."""

    v: Vector[S]
    w: Vector[S]

    def bracket(self, other: Twist[S]) -> Twist[S]:
        """[self, other]"""
        return Twist(self.w.cross(other.v) + self.v.cross(other.w), self.w.cross(other.w))

    def dot(self, other: Twist[S]) -> S:
        """Sum of the products of entries."""
        return self.v.dot(other.v) + self.w.dot(other.w)


@dataclass(frozen=True)
class Tangent(Generic[S]):
    """A joint at the velocities `w`, whose motion subspace has these `columns`.

    `at` are the indices of its coordinates among all, from 0; `half` is 1/2.
    """

    joint: Manifold[S]
    at: tuple[int, ...]
    w: tuple[S, ...]
    columns: tuple[Twist[S], ...]
    zero: S
    half: S

    @property
    def size(self) -> range:
        """The numbers of its columns."""
        return range(len(self.at))

    def W(self, *places: int) -> Constants[S]:
        """The derivative of W by these places at e = 0: brackets of columns, the last outermost."""
        order = sorted(places)
        twists: list[Twist[S] | None] = []
        for j, column in enumerate(self.columns):
            for k in order:  # -[S_k, .]
                column = column.bracket(self.columns[k])
            twists.append(column if order[0] > j else None)
        return tuple(
            tuple(self.zero if x is None else self.columns[i].dot(x) for x in twists)
            for i in self.size
        )

    @cached_property
    def D(self) -> tuple[Constants[S], ...]:
        """[k]: dW/de_k"""
        return tuple(map(self.W, self.size))

    def of(self, entries: Sequence[S]) -> Row[S]:
        """Its entries of those of all coordinates."""
        return [entries[k] for k in self.at]

    def times(self, matrix: Sequence[Sequence[S]], x: Sequence[S]) -> Row[S]:
        """Return a matrix times a vector."""
        return [dot(row, x, self.zero) for row in matrix]

    def transposed(self, matrix: Sequence[Sequence[S]], x: Sequence[S]) -> Row[S]:
        """Its transpose times a vector."""
        return [dot(column, x, self.zero) for column in zip(*matrix, strict=True)]

    def weighted(self, x: Sequence[S], matrices: Sequence[Constants[S]]) -> list[Row[S]]:
        """sum_k x_k matrices[k]"""
        return [
            [dot([matrix[i][j] for matrix in matrices], x, self.zero) for j in self.size]
            for i in self.size
        ]

    @cached_property
    def D_w(self) -> list[Row[S]]:
        """D(w) = sum_k w_k D_k"""
        return self.weighted(self.w, self.D)

    @cached_property
    def N(self) -> Row[S]:
        """N = D(w) w"""
        return self.times(self.D_w, self.w)

    @cached_property
    def N_by_velocity(self) -> list[Row[S]]:
        """[k]: dN/dw_k = D_k w + (column k of D(w))"""
        return [plus(self.turned[k], [row[k] for row in self.D_w]) for k in self.size]

    @cached_property
    def turned(self) -> list[Row[S]]:
        """[k]: D_k w, which is -de'/de_k"""
        return [self.times(matrix, self.w) for matrix in self.D]

    @cached_property
    def N_by_place(self) -> list[Row[S]]:
        """[k]: N_k = sum_i (w_i d2W/de_i de_k w - (D_k w)_i D_i w - w_i D_i D_k w)"""
        return [self._bilinear(k, self.w, self.w) for k in self.size]

    def _bilinear(self, k: int, u: Sequence[S], v: Sequence[S]) -> Row[S]:
        """sum_i (u_i d2W/de_i de_k v - (D_k u)_i D_i v - u_i D_i D_k v)"""
        product = self.times(self.weighted(u, [self.W(i, k) for i in self.size]), v)
        first = self.times(self.weighted(self.times(self.D[k], u), self.D), v)
        second = self.times(self.weighted(u, self.D), self.times(self.D[k], v))
        return minus(minus(product, first), second)

    # -- of second order

    def P_second(self, k: int, i: int) -> list[Row[S]]:
        """d2(W^-1)/de_k de_i = D_k D_i + D_i D_k - d2W/de_k de_i"""
        pairs = ((self.D[k], self.D[i]), (self.D[i], self.D[k]))
        first, second = (
            [[dot(row, column, self.zero) for column in zip(*b, strict=True)] for row in a]
            for a, b in pairs
        )
        return [minus(plus(x, y), z) for x, y, z in zip(first, second, self.W(k, i), strict=True)]

    def N_by_both(self, k: int, j: int) -> Row[S]:
        """d2N/de_k dw_j"""
        identity = self.half + self.half
        unit = [identity if i == j else self.zero for i in self.size]
        return plus(self._bilinear(k, unit, self.w), self._bilinear(k, self.w, unit))

    def N_by_places(self, k: int, j: int) -> Row[S]:
        """d2N/de_k de_j of N = sum_i W_i u_i u, u = W^-1 w, with w held."""
        u_k, u_j = ([-x for x in self.turned[m]] for m in (k, j))
        second = self.times(self.P_second(k, j), self.w)
        terms = (
            ((k, j), self.w, self.w),
            ((k,), u_j, self.w), ((k,), self.w, u_j), ((j,), u_k, self.w), ((j,), self.w, u_k),
            ((), second, self.w), ((), self.w, second), ((), u_k, u_j), ((), u_j, u_k),
        )  # fmt: skip
        total = [self.zero] * len(self.at)
        for places, x, y in terms:
            matrices = [self.W(i, *places) for i in self.size]
            total = plus(total, self.times(self.weighted(x, matrices), y))
        return total

    def curved(self, k: int, qdd: Sequence[S]) -> Row[S]:
        """-de''/de_k = D_k e'' + N_k, at accelerations e'' of the chain."""
        return plus(self.times(self.D[k], qdd), self.N_by_place[k])


def tangent(tree: KinematicTree[S], joint: Manifold[S], qd: Sequence[S]) -> Tangent[S]:
    """Return a joint on a manifold at the velocities `qd` of all coordinates."""
    at = tuple(tree.coordinate_numbers[number - 1] - 1 for number in joint.columns)
    return Tangent(
        joint,
        at,
        tuple(qd[k] for k in at),
        tuple(
            Twist(x.linear_axis(tree.algebra), x.angular_axis(tree.algebra))
            for x in (tree.joint(number) for number in joint.columns)
        ),
        tree.algebra.zero,
        tree.algebra.constant(0.5),
    )


# --------------------------------------------------------------------------------- small algebra


def dot(x: Sequence[S], y: Sequence[S], zero: S) -> S:
    """Sum of products."""
    value = zero
    for left, right in zip(x, y, strict=True):
        value = value + left * right
    return value


def plus(x: Sequence[S], y: Sequence[S]) -> Row[S]:
    """Entry by entry."""
    return [left + right for left, right in zip(x, y, strict=True)]


def minus(x: Sequence[S], y: Sequence[S]) -> Row[S]:
    """Entry by entry."""
    return [left - right for left, right in zip(x, y, strict=True)]


def times(x: Sequence[S], y: Sequence[S]) -> Row[S]:
    """Entry by entry."""
    return [left * right for left, right in zip(x, y, strict=True)]


def rows_of(entries: Sequence[S], width: int) -> list[Row[S]]:
    """Rows of a matrix, or of a stack of them."""
    return [list(entries[start : start + width]) for start in range(0, len(entries), width)]


def is_sprung(tree: KinematicTree[S], joint: Manifold[S]) -> bool:
    """Whether a joint on a manifold has a spring."""
    columns = (tree.joint(number).terms for number in joint.columns)
    return not all(tree.algebra.is_zero(terms.stiffness) for terms in columns)


@dataclass(frozen=True)
class Stretch(Generic[S]):
    """How far the spring of a joint is stretched, by column; see the module.

    `travel` is x_v, None where the joint does not slide; `v` and `w` are the quaternion from rest.
    """

    algebra: Algebra[S]
    travel: Vector[S] | None
    v: Vector[S]
    w: S

    @classmethod
    def of(cls, joint: Manifold[S], q: Sequence[S], algebra: Algebra[S]) -> Stretch[S]:
        """At the entries `q` of all joints."""
        pose, at, rest = joint.configuration(q, algebra), joint.kind.quaternion, joint.rest
        travel = None
        if at:
            shift = Vector(*(x - y for x, y in zip(pose[:at], rest[:at], strict=True)))
            travel = joint.kind.pose(pose, algebra).rotation.apply_transposed(shift)
        v, w, v0, w0 = Vector(*pose[at : at + 3]), pose[-1], Vector(*rest[at : at + 3]), rest[-1]
        return cls(algebra, travel, v * w0 - v0 * w - v0.cross(v), w * w0 + v.dot(v0))

    @property
    def length(self) -> S:
        """s"""
        square = self.v.dot(self.v) + self.algebra.constant(GUARD)
        return self.algebra.function("sqrt", square)

    @property
    def ratio(self) -> S:
        """theta / s"""
        s, w, two = self.length, self.w, self.algebra.constant(2.0)
        return self.algebra.function("atan2", two * s * w, w * w - s * s) / s

    @property
    def entries(self) -> list[S]:
        """x, by column."""
        turn = [*(self.v * self.ratio)]
        return turn if self.travel is None else [*self.travel, *turn]

    @property
    def slopes(self) -> list[list[S]]:
        """[k]: dx/de_k"""
        ratio, s, half = self.ratio, self.length, self.algebra.constant(0.5)
        bend = (self.algebra.one - half * self.w * ratio) / (s * s)
        zero, rows = self.algebra.zero, list[list[S]]()
        for unit, share in zip(units(self.algebra), self.v, strict=True):
            moved = (unit * self.w + self.v.cross(unit)) * (half * ratio)
            turn = [*(moved + self.v * (share * bend))]
            rows.append(turn if self.travel is None else [*self.travel.cross(unit), *turn])
        if self.travel is None:
            return rows
        return [[*unit, zero, zero, zero] for unit in units(self.algebra)] + rows


@dataclass(frozen=True)
class TorqueSlopes(Generic[S]):
    """How the torque that the chain is given of a free joint changes, (k, k) each.

    [k] is by its coordinate k, and by its velocity k.
    """

    by_place: list[Row[S]]
    by_velocity: list[Row[S]]


def in_tangent_space(
    joints: Sequence[Tangent[S]],
    by: Sequence[Row[S]],
    qdd: Sequence[S],
    torques: Mapping[int, TorqueSlopes[S]],
) -> None:
    """The derivatives `by` q, qd and what is given, of one number, changed in place.

    Matrices at the end that it does not depend on may be missing.  `qdd` are the accelerations of
    the chain.  Accelerations are given; but torques of joints in `torques`, by the index of their
    first coordinate.
    """
    for space in joints:
        missing = [[space.zero] * len(by[0])] * (3 - len(by))
        velocities, held = (space.of(row) for row in (*by[1:], *missing))
        for k, place in enumerate(space.at):
            value = by[0][place] - dot(velocities, space.turned[k], space.zero)
            if space.at[0] in torques:
                slopes = torques[space.at[0]]
                value = value + dot(held, slopes.by_place[k], space.zero)
                rate = dot(held, slopes.by_velocity[k], space.zero)
            else:
                value = value - dot(held, space.curved(k, space.of(qdd)), space.zero)
                rate = -dot(held, space.N_by_velocity[k], space.zero)
            by[0][place] = value
            if len(by) > 1:
                by[1][place] = by[1][place] + rate
