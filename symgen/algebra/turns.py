"""Rotations of vectors and 3x3 matrices that exploit structure: planes, quarter turns.

A rotation about a coordinate axis mixes two coordinates: it needs half of the products, and for a
symmetric matrix nine instead of the 45 of a general rotation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Vector, all_zero, identity, inner

UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
PLANES = ((0, 1, 2), (1, 2, 0), (2, 0, 1))
"""The two axes that a plane rotation mixes, and its axis."""


def mirrored(entries: dict[tuple[int, int], S]) -> Matrix[S]:
    """Make the symmetric 3x3 matrix with these entries on and above its diagonal."""
    return Matrix([[entries[min(i, k), max(i, k)] for k in range(3)] for i in range(3)])


@dataclass(frozen=True)
class Turn(Generic[S]):
    """A rotation matrix, and its plane where the axis is a coordinate axis.

    `plane` is (i, k, axis) where rows and columns i and k are those of a plane rotation; None for
    a rotation about a skew axis.
    """

    matrix: Matrix[S]
    plane: tuple[int, int, int] | None
    trivial: bool

    def apply(self, vector: Vector[S]) -> Vector[S]:
        """R v: components in the outer axes, from those in the rotated axes."""
        return vector if self.trivial else self.matrix.apply(vector)

    def undo(self, vector: Vector[S]) -> Vector[S]:
        """R^T v: the inverse of `apply`."""
        return vector if self.trivial else self.matrix.apply_transposed(vector)

    def symmetric(self, x: Matrix[S]) -> Matrix[S]:
        """R x R^T of a symmetric matrix."""
        if self.trivial:
            return x
        if self.plane is None:
            half = self.matrix @ x
            row = self.matrix.rows
            return mirrored({(i, k): inner(half.rows[i], row[k]) for i, k in UPPER})
        i, k, left = self.plane
        c, s = self.matrix[i, i], self.matrix[k, i]
        # R x R^T with w = s (x_ii - x_kk) + 2 c x_ik: four products instead of eight
        w = s * (x[i, i] - x[k, k]) + c * x[i, k] + c * x[i, k]
        sw = s * w
        entries = {
            (i, i): x[i, i] - sw,
            (k, k): x[k, k] + sw,
            (i, k): c * w - x[i, k],
            (i, left): c * x[i, left] - s * x[k, left],
            (k, left): s * x[i, left] + c * x[k, left],
            (left, left): x[left, left],
        }
        return mirrored({(min(at), max(at)): entry for at, entry in entries.items()})

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
        entries = {
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
        return Matrix([[entries[row, column] for column in range(3)] for row in range(3)])


def turn_of(matrix: Matrix[S], algebra: Algebra[S]) -> Turn[S]:
    """Classify the rotation `matrix` by its structure."""
    zero, difference = algebra.is_zero, matrix - identity(algebra)
    trivial = all_zero(difference.entries, algebra)
    for i, k, axis in PLANES:
        fixed = [difference[position] for m in range(3) for position in ((m, axis), (axis, m))]
        alike = zero(matrix[i, i] - matrix[k, k]) and zero(matrix[i, k] + matrix[k, i])
        if all_zero(fixed, algebra) and alike:
            return Turn(matrix, (i, k, axis), trivial)
    return Turn(matrix, None, trivial)


def acceleration_matrix(omega: Vector[S], alpha: Vector[S]) -> Matrix[S]:
    """Return the matrix of alpha x + omega x omega x."""
    xx, yy, zz = omega.x * omega.x, omega.y * omega.y, omega.z * omega.z
    xy, xz, yz = omega.x * omega.y, omega.x * omega.z, omega.y * omega.z
    return Matrix(
        [
            (-(yy + zz), xy - alpha.z, xz + alpha.y),
            (xy + alpha.z, -(xx + zz), yz - alpha.x),
            (xz - alpha.y, yz + alpha.x, -(xx + yy)),
        ]
    )
