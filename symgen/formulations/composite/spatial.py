"""Spatial vectors: an angular 3-vector on a linear one, all about one point and in the same axes.

A motion is an angular velocity and the velocity of the body's point that is at the reference point;
a force is a moment about that point and a force (Featherstone 2008, chapter 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector
from symgen.program.builder import ProgramBuilder


@dataclass(frozen=True)
class Spatial(Generic[S]):
    """A motion or a force."""

    angular: Vector[S]
    linear: Vector[S]

    def __add__(self, other: Spatial[S]) -> Spatial[S]:
        return Spatial(self.angular + other.angular, self.linear + other.linear)

    def __sub__(self, other: Spatial[S]) -> Spatial[S]:
        return Spatial(self.angular - other.angular, self.linear - other.linear)

    def __mul__(self, factor: S) -> Spatial[S]:
        return Spatial(self.angular * factor, self.linear * factor)

    def dot(self, other: Spatial[S]) -> S:
        """The power of a force on a motion."""
        return self.angular.dot(other.angular) + self.linear.dot(other.linear)

    def cross(self, motion: Spatial[S]) -> Spatial[S]:
        """This motion x another one."""
        angular = self.angular.cross(motion.angular)
        linear = self.angular.cross(motion.linear) + self.linear.cross(motion.angular)
        return Spatial(angular, linear)

    def cross_force(self, force: Spatial[S]) -> Spatial[S]:
        """This motion x* a force."""
        angular = self.angular.cross(force.angular) + self.linear.cross(force.linear)
        return Spatial(angular, self.angular.cross(force.linear))


@dataclass(frozen=True)
class Moments(Generic[S]):
    """Mass, first moments int r dm and second moments int r r^T dm of a body."""

    m: S
    h: Vector[S]
    E: Matrix[S]

    def __add__(self, other: Moments[S]) -> Moments[S]:
        return Moments(self.m + other.m, self.h + other.h, self.E + other.E)


def let_spatial(
    b: ProgramBuilder[S], names: tuple[str, str], value: Spatial[S], note: str
) -> Spatial[S]:
    """Name both halves."""
    return Spatial(b.let(names[0], value.angular, note), b.let(names[1], value.linear, note))


def trace_less(x: Matrix[S]) -> Matrix[S]:
    """tr(x) 1 - x of a 3x3 matrix: of second moments the inertia tensor."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = x.rows
    return Matrix([(yy + zz, -xy, -xz), (-yx, xx + zz, -yz), (-zx, -zy, xx + yy)])


def twice_skew_part(x: Matrix[S]) -> Vector[S]:
    """int r x a dm of x = int a r^T dm."""
    return Vector(x[2, 1] - x[1, 2], x[0, 2] - x[2, 0], x[1, 0] - x[0, 1])
