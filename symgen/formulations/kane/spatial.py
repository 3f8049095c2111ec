"""Pairs of vectors and symmetric inertias, and how they are carried over a joint.

The paper stacks an angular 3-vector on a linear one (velocities, accelerations, partial velocities)
or a moment on a force, and works with 6x6 matrices of four 3x3 blocks.  Here a stack is a `Pair`
and a symmetric 6x6 matrix an `Inertia` of three blocks, so that what is 0 in a block costs nothing
and what is symmetric is computed once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Vector, all_zero, skew
from symgen.program.builder import ProgramBuilder

UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
PLANES = ((0, 1, 2), (1, 2, 0), (2, 0, 1))
"""Two axes that a plane rotation mixes, and the one that it leaves alone."""


@dataclass(frozen=True)
class Pair(Generic[S]):
    """An angular vector on a linear one, or a moment on a force."""

    angular: Vector[S]
    linear: Vector[S]

    def __add__(self, other: Pair[S]) -> Pair[S]:
        return Pair(self.angular + other.angular, self.linear + other.linear)

    def __sub__(self, other: Pair[S]) -> Pair[S]:
        return Pair(self.angular - other.angular, self.linear - other.linear)

    def __mul__(self, factor: S) -> Pair[S]:
        return Pair(self.angular * factor, self.linear * factor)

    def dot(self, other: Pair[S]) -> S:
        """Product of the transpose of this with `other`."""
        return self.angular.dot(other.angular) + self.linear.dot(other.linear)

    @property
    def entries(self) -> tuple[S, ...]:
        """All six, the angular ones first."""
        return (*self.angular, *self.linear)


@dataclass(frozen=True)
class Inertia(Generic[S]):
    """A symmetric 6x6 matrix [[A, B], [B^T, D]]: accelerations on moment and force."""

    A: Matrix[S]
    B: Matrix[S]
    D: Matrix[S]

    def __add__(self, other: Inertia[S]) -> Inertia[S]:
        return Inertia(self.A + other.A, self.B + other.B, self.D + other.D)

    def apply(self, x: Pair[S]) -> Pair[S]:
        """Product with a stack."""
        return Pair(
            self.A.apply(x.angular) + self.B.apply(x.linear),
            self.B.apply_transposed(x.angular) + self.D.apply(x.linear),
        )


class Summand(Protocol):
    """What can be added to its like."""

    def __add__(self, other: Self, /) -> Self: ...


T = TypeVar("T", bound=Summand)


def sum_of(terms: Iterable[T | None]) -> T | None:
    """The sum of those that are there; None for none."""
    found: T | None = None
    for term in terms:
        if term is not None:
            found = term if found is None else found + term
    return found


def applied(inertia: Inertia[S] | None, x: Pair[S] | None) -> Pair[S] | None:
    """Their product; None where one is None."""
    return None if inertia is None or x is None else inertia.apply(x)


def scaled(x: Pair[S] | None, factor: S | None) -> Pair[S] | None:
    """Their product; None where one is None."""
    return None if x is None or factor is None else x * factor


def dotted(x: Pair[S] | None, y: Pair[S] | None) -> S | None:
    """The product of the transpose of x with y; None where one is None."""
    return None if x is None or y is None else x.dot(y)


def mirrored(entries: dict[tuple[int, int], S]) -> Matrix[S]:
    """The symmetric 3x3 matrix with these entries on and above its diagonal."""
    return Matrix([[entries[min(i, k), max(i, k)] for k in range(3)] for i in range(3)])


# -- rotations ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Turn(Generic[S]):
    """A rotation matrix, and the plane that it turns in where it leaves a coordinate axis alone.

    `plane` is (i, k, left) where rows and columns i and k are those of a plane rotation; None for
    a rotation about a skew axis.
    """

    matrix: Matrix[S]
    plane: tuple[int, int, int] | None
    trivial: bool

    def apply(self, vector: Vector[S]) -> Vector[S]:
        """Components ahead of the rotation, from those behind it."""
        return vector if self.trivial else self.matrix.apply(vector)

    def undo(self, vector: Vector[S]) -> Vector[S]:
        """The other way."""
        return vector if self.trivial else self.matrix.apply_transposed(vector)

    def symmetric(self, x: Matrix[S]) -> Matrix[S]:
        """R x R^T of a symmetric matrix."""
        if self.trivial:
            return x
        if self.plane is None:
            half = self.matrix @ x
            row = self.matrix.rows
            return mirrored({(i, k): _inner(half.rows[i], row[k]) for i, k in UPPER})
        i, k, left = self.plane
        c, s = self.matrix[i, i], self.matrix[k, i]
        # R x R^T with w = s (x_ii - x_kk) + 2 c x_ik: four products in place of eight
        w = s * (x[i, i] - x[k, k]) + c * x[i, k] + c * x[i, k]
        sw = s * w
        found = {
            (i, i): x[i, i] - sw,
            (k, k): x[k, k] + sw,
            (i, k): c * w - x[i, k],
            (i, left): c * x[i, left] - s * x[k, left],
            (k, left): s * x[i, left] + c * x[k, left],
            (left, left): x[left, left],
        }
        return mirrored({(min(at), max(at)): entry for at, entry in found.items()})

    def general(self, x: Matrix[S]) -> Matrix[S]:
        """R x R^T of any matrix."""
        if self.trivial:
            return x
        if self.plane is None:
            return self.matrix @ x @ self.matrix.transposed
        i, k, left = self.plane
        c, s = self.matrix[i, i], self.matrix[k, i]
        w = s * (x[i, i] - x[k, k]) + c * (x[i, k] + x[k, i])
        sw, cw = s * w, c * w
        found = {
            (i, i): x[i, i] - sw,
            (k, k): x[k, k] + sw,
            (i, k): cw - x[k, i],
            (k, i): cw - x[i, k],
            (i, left): c * x[i, left] - s * x[k, left],
            (k, left): s * x[i, left] + c * x[k, left],
            (left, i): c * x[left, i] - s * x[left, k],
            (left, k): s * x[left, i] + c * x[left, k],
            (left, left): x[left, left],
        }
        return Matrix([[found[row, column] for column in range(3)] for row in range(3)])


def _inner(x: tuple[S, ...], y: tuple[S, ...]) -> S:
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


def turn_of(matrix: Matrix[S], algebra: Algebra[S]) -> Turn[S]:
    """The rotation `matrix`, classified by its structure."""

    def zero(x: S) -> bool:
        return algebra.is_zero(x)

    one = algebra.one
    trivial = all(
        zero(matrix[i, k] - one) if i == k else zero(matrix[i, k])
        for i in range(3)
        for k in range(3)
    )
    for i, k, left in PLANES:
        beside = (matrix[i, left], matrix[k, left], matrix[left, i], matrix[left, k])
        plane = zero(matrix[left, left] - one) and all(map(zero, beside))
        alike = zero(matrix[i, i] - matrix[k, k]) and zero(matrix[i, k] + matrix[k, i])
        if plane and alike:
            return Turn(matrix, (i, k, left), trivial)
    return Turn(matrix, None, trivial)


# -- levers ------------------------------------------------------------------------------------


def moved(inertia: Inertia[S], r: Vector[S], algebra: Algebra[S]) -> Inertia[S]:
    """S I S^T of the shift matrix S with the lever r: referred to the point that r starts from."""
    if all_zero(r, algebra):
        return inertia
    A, B, D = inertia.A, inertia.B, inertia.D
    B_moved = B + skew(r, algebra) @ D
    rows = [Vector(*row) for row in B.rows]
    moved_rows = [Vector(*row) for row in B_moved.rows]
    before = [tuple(r.cross(row)) for row in rows]
    after = [tuple(r.cross(row)) for row in moved_rows]
    both = [tuple(r.cross(x + y)) for x, y in zip(rows, moved_rows, strict=True)]
    entries = {
        (i, k): A[i, k] + (both[i][i] if i == k else before[k][i] + after[i][k]) for i, k in UPPER
    }
    return Inertia(mirrored(entries), B_moved, D)


# -- names -------------------------------------------------------------------------------------


def let_pair(b: ProgramBuilder[S], names: tuple[str, str], value: Pair[S], note: str) -> Pair[S]:
    """Name both vectors."""
    angular, linear = names
    return Pair(b.let(angular, value.angular, note), b.let(linear, value.linear, note))


def let_symmetric(b: ProgramBuilder[S], name: str, value: Matrix[S], note: str) -> Matrix[S]:
    """Name the entries on and above the diagonal."""
    return mirrored({(i, k): b.let(f"{name}_{i + 1}{k + 1}", value[i, k], note) for i, k in UPPER})


def let_inertia(b: ProgramBuilder[S], name: str, value: Inertia[S], note: str) -> Inertia[S]:
    """Name the three blocks: ``<name>_nn``, ``<name>_nf``, ``<name>_ff``."""
    return Inertia(
        let_symmetric(b, f"{name}_nn", value.A, note),
        b.let(f"{name}_nf", value.B, note),
        let_symmetric(b, f"{name}_ff", value.D, note),
    )
