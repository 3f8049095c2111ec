"""The floating joint: a free body, moved along x, y and z of the joint frame, then turned.

The translation is that of the link's origin in the joint frame; the rotations are those of a
spherical joint, with its singular attitudes.
"""

from __future__ import annotations

from symgen.algebra.interface import S
from symgen.joints.interface import Chain, Directions
from symgen.joints.prismatic import Prismatic
from symgen.joints.revolute import Revolute
from symgen.joints.spherical import SEQUENCES


class Floating:
    """See the module."""

    name = "floating"
    coordinates = 6
    moved_entry = ""
    keys: tuple[str, ...] = ("sequence",)
    sequences: tuple[str, ...] = SEQUENCES

    def chain(self, directions: Directions[S]) -> Chain[S]:
        """Three translations, then three rotations."""
        along = tuple((Prismatic(), unit) for unit in directions.units)
        return (*along, *directions.rotations(Revolute()))
