"""The ball joint: a spherical joint whose attitude is a unit quaternion.

No attitude is singular.  The velocities are the angular velocity of the link in its own axes
(Featherstone 2008, table 4.1).
"""

from __future__ import annotations

from collections.abc import Sequence

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Transform, zero_vector
from symgen.joints.interface import Chain, Directions, OnManifold
from symgen.joints.revolute import Revolute


class Ball(OnManifold):
    """See the module."""

    name = "spherical"
    representation = "quaternion"
    coordinates = 3
    moved_entry = ""
    keys: tuple[str, ...] = ()
    sequences: tuple[str, ...] = ()
    position_suffixes: tuple[str, ...] = ("qx", "qy", "qz", "qw")
    velocity_suffixes: tuple[str, ...] = ("wx", "wy", "wz")
    quaternion = 0

    def chain(self, directions: Directions[S]) -> Chain[S]:
        """Rotations about x, y and z of the link."""
        return tuple((Revolute(), unit) for unit in directions.units)

    def pose(self, q: Sequence[S], algebra: Algebra[S]) -> Transform[S]:
        """The rotation of the quaternion."""
        return Transform(rotation_of(q, algebra), zero_vector(algebra))


def rotation_of(quaternion: Sequence[S], algebra: Algebra[S]) -> Matrix[S]:
    """The rotation matrix of a unit quaternion x y z w; its norm is not looked at."""
    return scaled_rotation(quaternion, algebra.constant(2.0), algebra)


def scaled_rotation(quaternion: Sequence[S], two: S, algebra: Algebra[S]) -> Matrix[S]:
    """The same of any quaternion, where `two` is 2 divided by the square of its norm."""
    x, y, z, w = quaternion
    one = algebra.one
    return Matrix(
        [
            (one - two * (y * y + z * z), two * (x * y - z * w), two * (x * z + y * w)),
            (two * (x * y + z * w), one - two * (x * x + z * z), two * (y * z - x * w)),
            (two * (x * z - y * w), two * (y * z + x * w), one - two * (x * x + y * y)),
        ]
    )
