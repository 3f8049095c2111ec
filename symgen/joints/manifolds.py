"""Spherical and floating joints whose attitude is a unit quaternion; none is singular.

Velocities are the angular velocity of the link in its own axes, of a floating joint behind the
velocity of the link's origin in the same axes (Featherstone 2008, table 4.1).
"""

from __future__ import annotations

from collections.abc import Sequence

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Transform, Vector, zero_vector
from symgen.joints.interface import Chain, Directions, OnManifold
from symgen.joints.prismatic import Prismatic
from symgen.joints.revolute import Revolute


class Ball(OnManifold):
    """A spherical joint."""

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
        """The rotation of the quaternion."""
        return Transform(rotation_of(q, algebra), zero_vector(algebra))


class Free(OnManifold):
    """A floating joint: the position of the link's origin in the joint frame, then its attitude."""

    name = "floating"
    representation = "quaternion"
    coordinates = 6
    position_suffixes: tuple[str, ...] = ("x", "y", "z", *Ball.position_suffixes)
    velocity_suffixes: tuple[str, ...] = ("vx", "vy", "vz", *Ball.velocity_suffixes)
    quaternion = 3

    def chain(self, directions: Directions[S]) -> Chain[S]:
        """Travels along x, y and z of the link, then rotations about them."""
        along = tuple((Prismatic(), unit) for unit in directions.units)
        return (*along, *((Revolute(), unit) for unit in directions.units))

    def pose(self, q: Sequence[S], algebra: Algebra[S]) -> Transform[S]:
        """The position, and the rotation of the quaternion."""
        return Transform(rotation_of(q[3:], algebra), Vector(*q[:3]))


def rotation_of(quaternion: Sequence[S], algebra: Algebra[S]) -> Matrix[S]:
    """The rotation matrix of a unit quaternion x y z w; its norm is not looked at."""
    return scaled_rotation(quaternion, algebra.constant(2.0), algebra)


def scaled_rotation(quaternion: Sequence[S], two: S, algebra: Algebra[S]) -> Matrix[S]:
    """The rotation matrix of any quaternion, where `two` is 2 divided by the square of its norm."""
    x, y, z, w = quaternion
    unit = algebra.one
    return Matrix(
        [
            (unit - two * (y * y + z * z), two * (x * y - z * w), two * (x * z + y * w)),
            (two * (x * y + z * w), unit - two * (x * x + z * z), two * (y * z - x * w)),
            (two * (x * z - y * w), two * (y * z + x * w), unit - two * (x * x + y * y)),
        ]
    )
