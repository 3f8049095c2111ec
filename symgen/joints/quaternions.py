"""Spherical and floating joints whose attitude is a quaternion x y z w; none is singular.

`Ball` and `Free` have a unit quaternion and velocities: the angular velocity of the link in its own
axes, for a floating joint after the velocity of the link's origin in the same axes (Featherstone
2008, table 4.1).  `EulerBall` and `EulerFree` have the four Euler parameters as coordinates, whose
unit norm is a constraint of the model; their velocities are the time derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Transform, Vector, identity, zero_vector
from symgen.joints.interface import Chain, Directions, OnManifold, Redundant
from symgen.joints.prismatic import Prismatic
from symgen.joints.revolute import Revolute


class Ball(OnManifold):
    """A spherical joint with a unit quaternion."""

    name = "spherical"
    representation = "quaternion"
    coordinates = 3
    position_suffixes: tuple[str, ...] = ("qx", "qy", "qz", "qw")
    velocity_suffixes: tuple[str, ...] = ("wx", "wy", "wz")
    quaternion = 0

    def chain(self, directions: Directions[S]) -> Chain[S]:
        """Rotations about x, y and z of the link."""
        return tuple((Revolute(), unit) for unit in directions.units)

    def pose(self, q: Sequence[S], algebra: Algebra[S]) -> Transform[S]:
        """Return the rotation of the quaternion."""
        return Transform(_rotation(q, algebra), zero_vector(algebra))


class Free(OnManifold):
    """A floating joint: position of the link's origin in the joint frame, then unit quaternion."""

    name = "floating"
    representation = "quaternion"
    coordinates = 6
    position_suffixes: tuple[str, ...] = ("x", "y", "z", *Ball.position_suffixes)
    velocity_suffixes: tuple[str, ...] = ("vx", "vy", "vz", *Ball.velocity_suffixes)
    quaternion = 3

    def chain(self, directions: Directions[S]) -> Chain[S]:
        """Translations along x, y and z of the link, then rotations about them."""
        along = tuple((Prismatic(), unit) for unit in directions.units)
        return (*along, *Ball().chain(directions))

    def pose(self, q: Sequence[S], algebra: Algebra[S]) -> Transform[S]:
        """Return the position, and the rotation of the quaternion."""
        return Transform(_rotation(q[3:], algebra), Vector(*q[:3]))


class EulerParameter:
    """One of four Euler parameters: no motion alone, see `symgen.kinematics.euler_parameters`."""

    def motion(self, axis: Vector[S], x: S, algebra: Algebra[S]) -> Transform[S]:
        """Return the identity."""
        return Transform(identity(algebra), zero_vector(algebra))

    def motion_derivative(
        self, axis: Vector[S], x: S, order: int, algebra: Algebra[S]
    ) -> Transform[S]:
        """Zero."""
        zero = zero_vector(algebra)
        return Transform(Matrix([tuple(zero)] * 3), zero)

    def angular_axis(self, axis: Vector[S], algebra: Algebra[S]) -> Vector[S]:
        """Zero: no constant axis."""
        return zero_vector(algebra)

    def linear_axis(self, axis: Vector[S], algebra: Algebra[S]) -> Vector[S]:
        """Zero."""
        return zero_vector(algebra)


class EulerBall(Redundant):
    """A spherical joint with Euler parameters."""

    name = "spherical"
    representation = "euler_parameters"
    coordinates = 4
    euler_parameters = 0

    def chain(self, directions: Directions[S]) -> Chain[Any]:
        """Four Euler parameters."""
        return ((EulerParameter(), directions.axis),) * 4


class EulerFree(Redundant):
    """A floating joint: position of the link's origin, then Euler parameters."""

    name = "floating"
    representation = "euler_parameters"
    coordinates = 7
    euler_parameters = 3

    def chain(self, directions: Directions[S]) -> Chain[Any]:
        """Translations along x, y and z of the joint frame, then four Euler parameters."""
        along = tuple((Prismatic(), unit) for unit in directions.units)
        return (*along, *EulerBall().chain(directions))


def _rotation(quaternion: Sequence[S], algebra: Algebra[S]) -> Matrix[S]:
    """Return the rotation matrix of a unit quaternion x y z w; its norm is not checked."""
    return scaled_rotation(quaternion, algebra.constant(2.0), algebra)


def scaled_rotation(quaternion: Sequence[S], two: S, algebra: Algebra[S]) -> Matrix[S]:
    """The rotation matrix of a quaternion x y z w, where `two` is 2 over its squared norm."""
    x, y, z, w = quaternion
    unit = algebra.one
    return Matrix(
        [
            (unit - two * (y * y + z * z), two * (x * y - z * w), two * (x * z + y * w)),
            (two * (x * y + z * w), unit - two * (x * x + z * z), two * (y * z - x * w)),
            (two * (x * z - y * w), two * (y * z + x * w), unit - two * (x * x + y * y)),
        ]
    )
