"""The planar joint: the link's origin moves in a plane, and the link turns about its normal.

The normal is `axis`; the two directions in the plane are where the shortest rotation that takes z
to the axis takes x and y.  For the default axis, z, they are x and y of the joint frame.

For -z there is no shortest rotation, and no convention is continuous at every axis (there is no
continuous frame field on a sphere).  The axis -z stands for half a turn about x.  An axis whose z
is -1 to rounding, less than about 1e-8 rad from -z, has that frame, tilted by the shortest
rotation from -z to the axis; so what is rounded in -z does not turn the directions.
"""

from __future__ import annotations

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector
from symgen.joints.closing import GAP, PARALLEL, Row
from symgen.joints.interface import Chain, Directions
from symgen.joints.prismatic import Prismatic
from symgen.joints.revolute import Revolute


class Planar:
    """See the module."""

    name = "planar"
    coordinates = 3
    moved_entry = ""
    keys: tuple[str, ...] = ("axis",)
    sequences: tuple[str, ...] = ()
    forbids: tuple[Row, ...] = (*PARALLEL, ("axis", GAP))

    def chain(self, directions: Directions[S]) -> Chain[S]:
        """Two translations, then the rotation."""
        first, second = in_plane(directions)
        return (
            (Prismatic(), first),
            (Prismatic(), second),
            (Revolute(), directions.axis),
        )


def in_plane(directions: Directions[S]) -> tuple[Vector[S], Vector[S]]:
    """Return two unit vectors that are normal to the axis and to each other.

    1 + c, by which the shortest rotation is divided, loses its digits where c is near -1; half of
    (1 + c)^2 + a^2 + b^2 is equal to it for a unit vector, and loses none.
    """
    (x, y, z), (a, b, c) = directions.units, directions.axis
    rise = z.z + c
    if rise == z.x:  # -z to rounding: a and b are below 2e-8, and their squares vanish beside 1
        return Vector(x.x, x.y, a), Vector(y.x, -y.y, -b)
    twice = rise * rise + a * a + b * b
    across, along_x, along_y = (-((u * v + u * v) / twice) for u, v in ((a, b), (a, a), (b, b)))
    return Vector(x.x + along_x, across, -a), Vector(across, y.y + along_y, -b)
