"""Moments of bodies: mass, first and second, and what products with them are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector


@dataclass(frozen=True)
class Moments(Generic[S]):
    """Mass, first moments int r dm and second moments int r r^T dm of a body."""

    m: S
    h: Vector[S]
    E: Matrix[S]

    def __add__(self, other: Moments[S]) -> Moments[S]:
        return Moments(self.m + other.m, self.h + other.h, self.E + other.E)


def trace_less(x: Matrix[S]) -> Matrix[S]:
    """tr(x) 1 - x of a 3x3 matrix: of second moments the inertia tensor."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = x.rows
    return Matrix([(yy + zz, -xy, -xz), (-yx, xx + zz, -yz), (-zx, -zy, xx + yy)])


def twice_skew_part(x: Matrix[S]) -> Vector[S]:
    """int r x a dm of x = int a r^T dm."""
    return Vector(x[2, 1] - x[1, 2], x[0, 2] - x[2, 0], x[1, 0] - x[0, 1])
