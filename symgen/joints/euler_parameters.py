"""Spherical and floating joints whose attitude is given by Euler parameters, all four coordinates.

They are redundant: that their norm is 1 is a constraint of the model, and their velocities are
their derivatives by time.  They are those of a quaternion, x y z w, and turn the link together.
"""

from __future__ import annotations

from typing import Any

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Transform, Vector, identity, zero_vector
from symgen.joints.interface import Chain, Directions, Redundant
from symgen.joints.prismatic import Prismatic


class EulerParameter:
    """One of the four: it moves nothing alone, `symgen.kinematics.euler_parameters` says how all
    of them do."""

    def motion(self, axis: Vector[S], x: S, algebra: Algebra[S]) -> Transform[S]:
        """No motion."""
        return Transform(identity(algebra), zero_vector(algebra))

    def motion_derivative(
        self, axis: Vector[S], x: S, order: int, algebra: Algebra[S]
    ) -> Transform[S]:
        """Nothing."""
        nothing = zero_vector(algebra)
        return Transform(Matrix([tuple(nothing)] * 3), nothing)

    def angular_axis(self, axis: Vector[S], algebra: Algebra[S]) -> Vector[S]:
        """None that would be constant."""
        return zero_vector(algebra)

    def linear_axis(self, axis: Vector[S], algebra: Algebra[S]) -> Vector[S]:
        """None."""
        return zero_vector(algebra)


def _four(directions: Directions[S]) -> Chain[Any]:
    return ((EulerParameter(), directions.axis),) * 4


class EulerBall(Redundant):
    """A spherical joint."""

    name = "spherical"
    representation = "euler_parameters"
    coordinates = 4
    euler_parameters = 0

    def chain(self, directions: Directions[S]) -> Chain[S]:
        """The four."""
        return _four(directions)


class EulerFree(Redundant):
    """A floating joint: the position of the link's origin, then its attitude."""

    name = "floating"
    representation = "euler_parameters"
    coordinates = 7
    euler_parameters = 3

    def chain(self, directions: Directions[S]) -> Chain[S]:
        """Travels along x, y and z of the joint frame, then the four."""
        return (*((Prismatic(), unit) for unit in directions.units), *_four(directions))
