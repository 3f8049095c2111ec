"""The types of joints.  A new type is one class here and one entry of `JOINTS`.

The model file's schema, its checks and the kinematics all read this tuple.  `ON_MANIFOLDS` and
`REDUNDANT` are types with the same names, selected by the key ``coordinates`` of a file; `CLOSING`
are the types that can close a loop, with the constraints they impose.
"""

from symgen.joints.closing import Closing, Distance
from symgen.joints.composite import Cylindrical, Fixed, Floating, Planar, Spherical, Universal
from symgen.joints.helical import Helical
from symgen.joints.interface import Directions, ElementaryMotion, JointType, OnManifold, Redundant
from symgen.joints.natural import NaturalCoordinates, natural_coordinates
from symgen.joints.prismatic import Prismatic
from symgen.joints.quaternions import Ball, EulerBall, EulerFree, Free
from symgen.joints.revolute import Revolute

JOINTS: tuple[JointType, ...] = (
    Revolute(), Prismatic(), Fixed(), Universal(), Cylindrical(), Helical(), Planar(), Spherical(),
    Floating(),
)  # fmt: skip
ON_MANIFOLDS: tuple[OnManifold, ...] = (Ball(), Free())
REDUNDANT: tuple[Redundant, ...] = (EulerBall(), EulerFree())
CLOSING: tuple[Closing, ...] = (*(x for x in JOINTS if isinstance(x, Closing)), Distance())

ANGLES = "angles"
"""The value of ``coordinates`` for joints without quaternions."""

_TYPES: dict[tuple[str, str], JointType] = {(kind.name, ANGLES): kind for kind in JOINTS}
_TYPES |= {(kind.name, kind.representation): kind for kind in ON_MANIFOLDS}
_TYPES |= {(kind.name, kind.representation): kind for kind in REDUNDANT}
_CLOSING = {kind.name: kind for kind in CLOSING}

__all__ = [
    "ANGLES",
    "CLOSING",
    "JOINTS",
    "ON_MANIFOLDS",
    "REDUNDANT",
    "Closing",
    "Directions",
    "ElementaryMotion",
    "JointType",
    "NaturalCoordinates",
    "OnManifold",
    "Redundant",
    "closing_type",
    "joint_type",
    "natural_coordinates",
]  # fmt: skip


def joint_type(name: str, representation: str = ANGLES) -> JointType:
    """Return the joint type called `name` with these coordinates; KeyError if there is none."""
    return _TYPES[name, representation]


def closing_type(name: str) -> Closing:
    """Return the type called `name` that can close a loop; KeyError if there is none."""
    return _CLOSING[name]
