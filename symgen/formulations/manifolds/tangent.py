"""The tangent space of one joint on a manifold: constants, and what its velocities make of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector
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

    `at` are the places of its coordinates among all, from 0; `half` is 1/2.
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
        """A matrix times a vector."""
        return [dot(row, x, self.zero) for row in matrix]

    def transposed(self, matrix: Sequence[Sequence[S]], x: Sequence[S]) -> Row[S]:
        """Its transpose times a vector."""
        return [dot(column, x, self.zero) for column in zip(*matrix, strict=True)]

    def weighted(self, x: Sequence[S], matrices: Sequence[Constants[S]]) -> list[Row[S]]:
        """sum_k x_k matrices[k]"""
        return [
            [dot([one[i][j] for one in matrices], x, self.zero) for j in self.size]
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
        found: list[Row[S]] = []
        for k in self.size:
            found.append(self._bilinear(k, self.w, self.w))
        return found

    def _bilinear(self, k: int, u: Sequence[S], v: Sequence[S]) -> Row[S]:
        """sum_i (u_i d2W/de_i de_k v - (D_k u)_i D_i v - u_i D_i D_k v)"""
        bent = self.times(self.weighted(u, [self.W(i, k) for i in self.size]), v)
        first = self.times(self.weighted(self.times(self.D[k], u), self.D), v)
        second = self.times(self.weighted(u, self.D), self.times(self.D[k], v))
        return minus(minus(bent, first), second)

    # -- of second order

    def P_second(self, k: int, i: int) -> list[Row[S]]:
        """d2(W^-1)/de_k de_i = D_k D_i + D_i D_k - d2W/de_k de_i"""
        pairs = ((self.D[k], self.D[i]), (self.D[i], self.D[k]))
        one, other = (
            [[dot(row, column, self.zero) for column in zip(*b, strict=True)] for row in a]
            for a, b in pairs
        )
        return [minus(plus(x, y), z) for x, y, z in zip(one, other, self.W(k, i), strict=True)]

    def N_by_both(self, k: int, j: int) -> Row[S]:
        """d2N/de_k dw_j"""
        one = self.half + self.half
        unit = [one if i == j else self.zero for i in self.size]
        return plus(self._bilinear(k, unit, self.w), self._bilinear(k, self.w, unit))

    def N_by_places(self, k: int, j: int) -> Row[S]:
        """d2N/de_k de_j of N = sum_i W_i u_i u, u = W^-1 w, with w held."""
        u_k, u_j = ([-x for x in self.turned[m]] for m in (k, j))
        both = self.times(self.P_second(k, j), self.w)
        terms = (
            ((k, j), self.w, self.w),
            ((k,), u_j, self.w), ((k,), self.w, u_j), ((j,), u_k, self.w), ((j,), self.w, u_k),
            ((), both, self.w), ((), self.w, both), ((), u_k, u_j), ((), u_j, u_k),
        )  # fmt: skip
        found = [self.zero] * len(self.at)
        for places, x, y in terms:
            matrices = [self.W(i, *places) for i in self.size]
            found = plus(found, self.times(self.weighted(x, matrices), y))
        return found

    def bent(self, k: int, qdd: Sequence[S]) -> Row[S]:
        """-de''/de_k = D_k e'' + N_k, at accelerations e'' of the chain."""
        return plus(self.times(self.D[k], qdd), self.N_by_place[k])


def tangent(tree: KinematicTree[S], joint: Manifold[S], qd: Sequence[S]) -> Tangent[S]:
    """A joint on a manifold at the velocities `qd` of all coordinates."""
    at = tuple(tree.coordinate_numbers[number - 1] - 1 for number in joint.columns)
    return Tangent(
        joint,
        at,
        tuple(qd[k] for k in at),
        tuple(_column(tree, number) for number in joint.columns),
        tree.algebra.zero,
        tree.algebra.constant(0.5),
    )


def _column(tree: KinematicTree[S], number: int) -> Twist[S]:
    """S_j"""
    joint = tree.joint(number)
    return Twist(joint.linear_axis(tree.algebra), joint.angular_axis(tree.algebra))


# --------------------------------------------------------------------------------- small algebra


def dot(x: Sequence[S], y: Sequence[S], zero: S) -> S:
    """Sum of products."""
    found = zero
    for one, other in zip(x, y, strict=True):
        found = found + one * other
    return found


def plus(x: Sequence[S], y: Sequence[S]) -> Row[S]:
    """Entry by entry."""
    return [one + other for one, other in zip(x, y, strict=True)]


def minus(x: Sequence[S], y: Sequence[S]) -> Row[S]:
    """Entry by entry."""
    return [one - other for one, other in zip(x, y, strict=True)]


def times(x: Sequence[S], y: Sequence[S]) -> Row[S]:
    """Entry by entry."""
    return [one * other for one, other in zip(x, y, strict=True)]


def rows_of(entries: Sequence[S], width: int) -> list[Row[S]]:
    """Rows of a matrix, or of a stack of them."""
    return [list(entries[start : start + width]) for start in range(0, len(entries), width)]
