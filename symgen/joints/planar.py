"""The planar joint: the link's origin moves in a plane, and the link turns about its normal.

The normal is `axis`; the two directions in the plane are where the shortest rotation that takes z
to the axis takes x and y (half a turn about x, where the axis is -z).  For the default axis, z,
they are x and y of the joint frame.
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
    """Two unit vectors that are normal to the axis and to each other."""
    (x, y, z), (a, b, c) = directions.units, directions.axis
    below = z.z + c  # twice the square of the cosine of half the angle
    if below == z.x:
        return x, -y
    return (
        Vector(x.x - a * a / below, -(a * b) / below, -a),
        Vector(-(a * b) / below, y.y - b * b / below, -b),
    )
