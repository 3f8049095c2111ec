"""The spherical joint: three rotations, each about an axis that the former ones turned.

Its coordinates are the three angles, so it has a singular attitude: where the middle angle makes
the first and the last axis parallel (at +-pi/2 for three different axes, at 0 and pi for sequences
such as zxz), two coordinates turn about one axis and the mass matrix is singular.  A sequence whose
singular attitude lies out of reach avoids it.
"""

from __future__ import annotations

from symgen.algebra.interface import S
from symgen.joints.closing import TOGETHER, Row
from symgen.joints.interface import Chain, Directions
from symgen.joints.revolute import Revolute

SEQUENCES: tuple[str, ...] = (
    "zyx", "xyz", "xzy", "yxz", "yzx", "zxy",
    "xyx", "xzx", "yxy", "yzy", "zxz", "zyz",
)  # fmt: skip
"""All sequences of three axes in which no axis follows itself, the default first."""


class Spherical:
    """See the module."""

    name = "spherical"
    coordinates = 3
    moved_entry = ""
    keys: tuple[str, ...] = ("sequence",)
    sequences: tuple[str, ...] = SEQUENCES
    forbids: tuple[Row, ...] = TOGETHER

    def chain(self, directions: Directions[S]) -> Chain[S]:
        """Three rotations."""
        return directions.rotations(Revolute())
