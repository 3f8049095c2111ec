"""The universal joint: two rotations about different axes of the joint frame.

The first axis stays with the parent, the second one turns with the first rotation, as in a Cardan
joint.
"""

from __future__ import annotations

from symgen.algebra.interface import S
from symgen.joints.closing import TOGETHER, Row
from symgen.joints.interface import Chain, Directions
from symgen.joints.revolute import Revolute


class Universal:
    """See the module."""

    name = "universal"
    coordinates = 2
    moved_entry = ""
    keys: tuple[str, ...] = ("axes",)
    sequences: tuple[str, ...] = ("xy", "xz", "yx", "yz", "zx", "zy")
    forbids: tuple[Row, ...] = (*TOGETHER, ("axis", "axis"))

    def chain(self, directions: Directions[S]) -> Chain[S]:
        """Two rotations."""
        return directions.rotations(Revolute())
