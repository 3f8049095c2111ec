"""The cylindrical joint: a translation along an axis, then a rotation about it.

The two motions commute: the pose is that of a screw whose travel and turn are independent.
"""

from __future__ import annotations

from symgen.algebra.interface import S
from symgen.joints.closing import GAP, PARALLEL, Row
from symgen.joints.interface import Chain, Directions
from symgen.joints.prismatic import Prismatic
from symgen.joints.revolute import Revolute


class Cylindrical:
    """See the module."""

    name = "cylindrical"
    coordinates = 2
    moved_entry = ""
    keys: tuple[str, ...] = ("axis",)
    sequences: tuple[str, ...] = ()
    forbids: tuple[Row, ...] = (*PARALLEL, ("u", GAP), ("v", GAP))

    def chain(self, directions: Directions[S]) -> Chain[S]:
        """The translation, then the rotation."""
        return ((Prismatic(), directions.axis), (Revolute(), directions.axis))
