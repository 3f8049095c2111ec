"""The tangent space of one joint on a manifold: constants, and what its velocities make of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    """A joint at the velocities `w`: `D[k]` is dW/de_k and `DD[k][l]` d2W/de_k de_l at e = 0.

    `at` are the places of its coordinates among all, from 0.
    """

    joint: Manifold
    at: tuple[int, ...]
    w: tuple[S, ...]
    D: tuple[Constants[S], ...]
    DD: tuple[tuple[Constants[S], ...], ...]
    zero: S

    @property
    def size(self) -> range:
        """The numbers of its columns."""
        return range(len(self.at))

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
            bent = self.times(self.weighted(self.w, [row[k] for row in self.DD]), self.w)
            first = self.times(self.weighted(self.turned[k], self.D), self.w)
            second = self.times(self.D_w, self.turned[k])
            found.append(minus(minus(bent, first), second))
        return found

    def bent(self, k: int, qdd: Sequence[S]) -> Row[S]:
        """-de''/de_k = D_k e'' + N_k, at accelerations e'' of the chain."""
        return plus(self.times(self.D[k], qdd), self.N_by_place[k])


def tangent(tree: KinematicTree[S], joint: Manifold, qd: Sequence[S]) -> Tangent[S]:
    """A joint on a manifold at the velocities `qd` of all coordinates."""
    size = range(len(joint.columns))
    columns = [_column(tree, number) for number in joint.columns]

    def first(k: int, j: int) -> Twist[S] | None:
        """dS_j/de_k = -[S_k, S_j]"""
        return columns[j].bracket(columns[k]) if k > j else None

    def second(i: int, k: int, j: int) -> Twist[S] | None:
        inner = first(min(i, k), j)
        return None if inner is None else inner.bracket(columns[max(i, k)])

    def matrix(change: Callable[[int], Twist[S] | None]) -> Constants[S]:
        twists = [change(j) for j in size]
        zero = tree.algebra.zero
        return tuple(tuple(zero if x is None else columns[i].dot(x) for x in twists) for i in size)

    def D(k: int) -> Constants[S]:
        return matrix(lambda j: first(k, j))

    def DD(i: int, k: int) -> Constants[S]:
        return matrix(lambda j: second(i, k, j))

    at = tuple(tree.coordinate_numbers[number - 1] - 1 for number in joint.columns)
    return Tangent(
        joint,
        at,
        tuple(qd[k] for k in at),
        tuple(map(D, size)),
        tuple(tuple(DD(i, k) for k in size) for i in size),
        tree.algebra.zero,
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
