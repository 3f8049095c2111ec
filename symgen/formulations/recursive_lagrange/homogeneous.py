"""Small algebra of homogeneous coordinates: 4x4 matrices, 4x1 points and directions."""

from __future__ import annotations

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Vector, inner


def identity(algebra: Algebra[S]) -> Matrix[S]:
    """The 4x4 identity."""
    zero, one = algebra.zero, algebra.one
    return Matrix([[one if i == k else zero for k in range(4)] for i in range(4)])


def zeros(algebra: Algebra[S]) -> Matrix[S]:
    """The 4x4 zero matrix."""
    return Matrix([[algebra.zero] * 4] * 4)


def column(v: Vector[S], last: S) -> Matrix[S]:
    """[v; last]: last is 1 for a point and 0 for a direction."""
    return Matrix([[part] for part in (*v, last)])


def first_three(x: Matrix[S]) -> Vector[S]:
    """The Cartesian part of a 4x1 column."""
    return Vector(*(row[0] for row in x.rows[:3]))


def dot(x: Matrix[S], y: Matrix[S]) -> S:
    """x^T y of two columns."""
    return inner(x.entries, y.entries)
