"""3-vectors, matrices and rigid transforms over any algebra of scalars.

Sums begin with the first product, never with zero, so that no algebra has to fold ``0 + x``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from operator import add, sub
from typing import Generic

from symgen.algebra.interface import Algebra, S


class Vector(Generic[S]):
    """A 3-vector (x, y, z)."""

    __slots__ = ("x", "y", "z")

    def __init__(self, x: S, y: S, z: S) -> None:
        self.x, self.y, self.z = x, y, z

    def __iter__(self) -> Iterator[S]:
        return iter((self.x, self.y, self.z))

    def __add__(self, other: Vector[S]) -> Vector[S]:
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Vector[S]) -> Vector[S]:
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def __neg__(self) -> Vector[S]:
        return Vector(-self.x, -self.y, -self.z)

    def __mul__(self, factor: S) -> Vector[S]:
        return Vector(self.x * factor, self.y * factor, self.z * factor)

    def cross(self, other: Vector[S]) -> Vector[S]:
        """self x other"""
        return Vector(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )

    def dot(self, other: Vector[S]) -> S:
        """self . other"""
        return self.x * other.x + self.y * other.y + self.z * other.z


class Matrix(Generic[S]):
    """A matrix, stored by rows."""

    __slots__ = ("rows",)

    def __init__(self, rows: Sequence[Sequence[S]]) -> None:
        self.rows = tuple(tuple(row) for row in rows)

    @property
    def shape(self) -> tuple[int, int]:
        """(number of rows, number of columns)"""
        return len(self.rows), len(self.rows[0])

    @property
    def entries(self) -> tuple[S, ...]:
        """All entries, row by row."""
        return tuple(entry for row in self.rows for entry in row)

    @property
    def transposed(self) -> Matrix[S]:
        """The transpose."""
        return Matrix(tuple(zip(*self.rows, strict=True)))

    def __getitem__(self, position: tuple[int, int]) -> S:
        return self.rows[position[0]][position[1]]

    def __add__(self, other: Matrix[S]) -> Matrix[S]:
        return self._combine(other, add)

    def __sub__(self, other: Matrix[S]) -> Matrix[S]:
        return self._combine(other, sub)

    def __mul__(self, factor: S) -> Matrix[S]:
        return Matrix([[entry * factor for entry in row] for row in self.rows])

    def __matmul__(self, other: Matrix[S]) -> Matrix[S]:
        columns = tuple(zip(*other.rows, strict=True))
        return Matrix([[inner(row, column) for column in columns] for row in self.rows])

    def apply(self, vector: Vector[S]) -> Vector[S]:
        """self @ vector, for a 3x3 matrix."""
        parts = tuple(vector)
        return Vector(*(inner(row, parts) for row in self.rows))

    def apply_transposed(self, vector: Vector[S]) -> Vector[S]:
        """self^T @ vector, for a 3x3 matrix."""
        return self.transposed.apply(vector)

    def _combine(self, other: Matrix[S], operation: Callable[[S, S], S]) -> Matrix[S]:
        return Matrix(
            [
                [operation(x, y) for x, y in zip(row, other_row, strict=True)]
                for row, other_row in zip(self.rows, other.rows, strict=True)
            ]
        )


class Transform(Generic[S]):
    """A rigid transform: child axes in parent axes, and the child's origin in the parent."""

    __slots__ = ("rotation", "translation")

    def __init__(self, rotation: Matrix[S], translation: Vector[S]) -> None:
        self.rotation = rotation
        self.translation = translation

    def __matmul__(self, other: Transform[S]) -> Transform[S]:
        return Transform(
            self.rotation @ other.rotation,
            self.translation + self.rotation.apply(other.translation),
        )

    def apply(self, point: Vector[S]) -> Vector[S]:
        """Return a point of the child frame in the parent frame."""
        return self.translation + self.rotation.apply(point)

    def settled(self, algebra: Algebra[S]) -> Transform[S]:
        """Return the transform with long constants as numbers: see `Algebra.settled`."""
        rows = [[algebra.settled(x) for x in row] for row in self.rotation.rows]
        return Transform(Matrix(rows), Vector(*map(algebra.settled, self.translation)))

    def homogeneous(self, algebra: Algebra[S]) -> Matrix[S]:
        """Return the 4x4 matrix."""
        zero, unit = algebra.zero, algebra.one
        rows = [
            (*row, part) for row, part in zip(self.rotation.rows, self.translation, strict=True)
        ]
        return Matrix([*rows, (zero, zero, zero, unit)])


def inner(x: Sequence[S], y: Sequence[S]) -> S:
    """Sum of x_i y_i."""
    return reduce(add, (a * b for a, b in zip(x, y, strict=True)))


def total(terms: Sequence[S], algebra: Algebra[S]) -> S:
    """Sum of the terms; 0 for none."""
    return reduce(add, terms) if terms else algebra.zero


def matrix_sum(terms: Sequence[Matrix[S]]) -> Matrix[S]:
    """Sum of at least one matrix."""
    return reduce(add, terms)


def trace_of_product(x: Matrix[S], y: Matrix[S]) -> S:
    """tr(x y)"""
    return inner(x.entries, y.transposed.entries)


def all_zero(entries: Iterable[S], algebra: Algebra[S]) -> bool:
    """Whether every entry is a structural 0."""
    return all(algebra.is_zero(entry) for entry in entries)


def zero_vector(algebra: Algebra[S]) -> Vector[S]:
    """(0, 0, 0)"""
    return Vector(algebra.zero, algebra.zero, algebra.zero)


def identity(algebra: Algebra[S]) -> Matrix[S]:
    """Return the 3x3 identity."""
    return diagonal(Vector(algebra.one, algebra.one, algebra.one), algebra)


def diagonal(values: Vector[S], algebra: Algebra[S]) -> Matrix[S]:
    """Return the 3x3 matrix with `values` on its diagonal."""
    zero = algebra.zero
    return Matrix([(values.x, zero, zero), (zero, values.y, zero), (zero, zero, values.z)])


def skew(v: Vector[S], algebra: Algebra[S]) -> Matrix[S]:
    """Return the matrix of v x (.)"""
    zero = algebra.zero
    return Matrix([(zero, -v.z, v.y), (v.z, zero, -v.x), (-v.y, v.x, zero)])


def skew_vector(x: Matrix[S]) -> Vector[S]:
    """w of a matrix whose upper left part is w x (.)"""
    return Vector(x[2, 1], x[0, 2], x[1, 0])


def outer(x: Vector[S], y: Vector[S]) -> Matrix[S]:
    """x y^T"""
    return Matrix([[a * b for b in y] for a in x])
