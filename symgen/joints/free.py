"""The free joint: a floating joint whose attitude is a unit quaternion.

Its configuration is the position of the link's origin in the joint frame, and the quaternion; its
velocities are those of that origin and the angular velocity, both in the axes of the link
(Featherstone 2008, table 4.1).
"""

from __future__ import annotations

from collections.abc import Sequence

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Transform, Vector
from symgen.joints.ball import rotation_of
from symgen.joints.interface import Chain, Directions, OnManifold
from symgen.joints.prismatic import Prismatic
from symgen.joints.revolute import Revolute


class Free(OnManifold):
    """See the module."""

    name = "floating"
    representation = "quaternion"
    coordinates = 6
    moved_entry = ""
    keys: tuple[str, ...] = ()
    sequences: tuple[str, ...] = ()
    position_suffixes: tuple[str, ...] = ("x", "y", "z", "qx", "qy", "qz", "qw")
    velocity_suffixes: tuple[str, ...] = ("vx", "vy", "vz", "wx", "wy", "wz")
    quaternion = 3

    def chain(self, directions: Directions[S]) -> Chain[S]:
        """Travels along x, y and z of the link, then rotations about them."""
        along = tuple((Prismatic(), unit) for unit in directions.units)
        return (*along, *((Revolute(), unit) for unit in directions.units))

    def pose(self, q: Sequence[S], algebra: Algebra[S]) -> Transform[S]:
        """The position, and the rotation of the quaternion."""
        return Transform(rotation_of(q[3:], algebra), Vector(*q[:3]))
