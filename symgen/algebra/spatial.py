"""Spatial vectors: pairs of an angular and a linear 3-vector, about one point and in the same axes.

A motion is an angular velocity and the velocity of the body at the reference point; a force is a
moment about that point and a force (Featherstone 2008, chapter 2).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Vector, inner, zero_vector
from symgen.algebra.turns import UPPER, Turn, mirrored


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


@dataclass(frozen=True)
class RigidInertia(Generic[S]):
    """The inertia [[J, h x], [-h x, m 1]] of a rigid body about a point (Featherstone 2008, 2.13).

    `m` is its mass, `h` its first moment and `J` its inertia about the point.
    """

    m: S
    h: Vector[S]
    J: Matrix[S]

    def __add__(self, other: RigidInertia[S]) -> RigidInertia[S]:
        return RigidInertia(self.m + other.m, self.h + other.h, self.J + other.J)

    def apply(self, x: Spatial[S]) -> Spatial[S]:
        """Return the product with a motion: a momentum."""
        moment = self.J.apply(x.angular) + self.h.cross(x.linear)
        return Spatial(moment, x.linear * self.m + x.angular.cross(self.h))

    def moved(self, r: Vector[S]) -> RigidInertia[S]:
        """Return the inertia about another point; r is the vector from there to the present one.

        J + tr(X) 1 - X with X = r h'^T + h r^T and h' = h + m r, of which half is computed.  The
        entry of X that cancels from a moment of inertia is left out of the trace: for a long r, its
        square would cancel all digits of the moment about r.
        """
        h = self.h + r * self.m
        arm, before, after = tuple(r), tuple(self.h), tuple(h)
        squares = [arm[i] * (before[i] + after[i]) for i in range(3)]

        def entry(i: int, k: int) -> S:
            if i == k:
                return self.J[i, i] + (squares[i - 2] + squares[i - 1])
            return self.J[i, k] - (arm[i] * after[k] + before[i] * arm[k])

        return RigidInertia(self.m, h, mirrored({(i, k): entry(i, k) for i, k in UPPER}))

    def turned(self, R: Matrix[S]) -> RigidInertia[S]:
        """Return the inertia in other axes; R maps present components to new ones."""
        half = R @ self.J
        J = mirrored({(i, k): inner(half.rows[i], R.rows[k]) for i, k in UPPER})
        return RigidInertia(self.m, R.apply(self.h), J)


@dataclass(frozen=True)
class Moments(Generic[S]):
    """Mass, first moments int r dm and second moments int r r^T dm of a body about a point."""

    m: S
    h: Vector[S]
    E: Matrix[S]

    def __add__(self, other: Moments[S]) -> Moments[S]:
        return Moments(self.m + other.m, self.h + other.h, self.E + other.E)

    def moved(self, r: Vector[S]) -> Moments[S]:
        """Return the moments about another point; r is the vector from there to the present one."""
        h = self.h + r * self.m
        before, after, lever = tuple(self.h), tuple(h), tuple(r)
        E = {(i, k): self.E[i, k] + before[i] * lever[k] + lever[i] * after[k] for i, k in UPPER}
        return Moments(self.m, h, mirrored(E))

    def turned(self, turn: Turn[S]) -> Moments[S]:
        """Return the moments in outer axes, from those in the rotated axes."""
        return Moments(self.m, turn.apply(self.h), turn.symmetric(self.E))

    def force(self, a: Vector[S], W: Matrix[S]) -> Spatial[S]:
        """Return the force of inertia int a dm, int r x a dm of accelerations a + W r."""
        spin = twice_skew_part(W @ self.E)
        return Spatial(spin + self.h.cross(a), a * self.m + W.apply(self.h))


def trace_less(x: Matrix[S]) -> Matrix[S]:
    """tr(x) 1 - x of a 3x3 matrix: of second moments the inertia tensor."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = x.rows
    return Matrix([(yy + zz, -xy, -xz), (-yx, xx + zz, -yz), (-zx, -zy, xx + yy)])


def twice_skew_part(x: Matrix[S]) -> Vector[S]:
    """int r x a dm of x = int a r^T dm."""
    return Vector(x[2, 1] - x[1, 2], x[0, 2] - x[2, 0], x[1, 0] - x[0, 1])
