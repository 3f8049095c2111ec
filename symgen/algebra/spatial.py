"""Spatial vectors: an angular 3-vector beside a linear one, about one point and in the same axes.

A motion is an angular velocity and the velocity of the body's point that is at the reference point;
a force is a moment about that point and a force (Featherstone 2008, chapter 2).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Vector, zero_vector


@dataclass(frozen=True)
class Spatial(Generic[S]):
    """A motion or a force; its entries are the angular ones, then the linear ones."""

    angular: Vector[S]
    linear: Vector[S]

    def __iter__(self) -> Iterator[S]:
        yield from self.angular
        yield from self.linear

    def __add__(self, other: Spatial[S]) -> Spatial[S]:
        return Spatial(self.angular + other.angular, self.linear + other.linear)

    def __sub__(self, other: Spatial[S]) -> Spatial[S]:
        return Spatial(self.angular - other.angular, self.linear - other.linear)

    def __neg__(self) -> Spatial[S]:
        return Spatial(-self.angular, -self.linear)

    def __mul__(self, factor: S) -> Spatial[S]:
        return Spatial(self.angular * factor, self.linear * factor)

    @property
    def linear_first(self) -> tuple[S, ...]:
        """The entries in the order of the functions of a module: [linear; angular]."""
        return (*self.linear, *self.angular)

    def dot(self, other: Spatial[S]) -> S:
        """Return the power of a force on a motion."""
        return self.angular.dot(other.angular) + self.linear.dot(other.linear)

    def cross(self, motion: Spatial[S]) -> Spatial[S]:
        """Return this motion x another one."""
        angular = self.angular.cross(motion.angular)
        linear = self.angular.cross(motion.linear) + self.linear.cross(motion.angular)
        return Spatial(angular, linear)

    def cross_force(self, force: Spatial[S]) -> Spatial[S]:
        """Return this motion x* a force."""
        angular = self.angular.cross(force.angular) + self.linear.cross(force.linear)
        return Spatial(angular, self.angular.cross(force.linear))

    def turned(self, omega: Vector[S]) -> Spatial[S]:
        """Return omega x (.) of both vectors: their rate where they turn with omega."""
        return Spatial(omega.cross(self.angular), omega.cross(self.linear))


def zero_spatial(algebra: Algebra[S]) -> Spatial[S]:
    """Return no motion, or no force."""
    return Spatial(zero_vector(algebra), zero_vector(algebra))
