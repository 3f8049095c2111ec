"""The types of joints.  A new type is one class here and one entry of `JOINTS`.

The model file's schema, its checks and the kinematics all read this tuple.  `ON_MANIFOLDS` are
types of the same names that a file chooses by ``coordinates``, and so are `REDUNDANT`; `CLOSING`
are those that can close a loop: they say what they forbid.
"""

from symgen.joints.closing import Closing, Distance
from symgen.joints.composite import Cylindrical, Fixed, Floating, Planar, Spherical, Universal
from symgen.joints.euler_parameters import EulerBall, EulerFree
from symgen.joints.helical import Helical
from symgen.joints.interface import (
    Chain,
    Directions,
    JointType,
    Motion,
    OnManifold,
    Redundant,
)
from symgen.joints.manifolds import Ball, Free
from symgen.joints.prismatic import Prismatic
from symgen.joints.revolute import Revolute

JOINTS: tuple[JointType, ...] = (
    Revolute(),
    Prismatic(),
    Fixed(),
    Universal(),
    Cylindrical(),
    Helical(),
    Planar(),
    Spherical(),
    Floating(),
)

ON_MANIFOLDS: tuple[OnManifold, ...] = (Ball(), Free())

REDUNDANT: tuple[Redundant, ...] = (EulerBall(), EulerFree())

CLOSING: tuple[Closing, ...] = (
    *(kind for kind in JOINTS if isinstance(kind, Closing)),
    Distance(),
)

ANGLES = "angles"
"""The value of ``coordinates`` of joints that are on no manifold."""

__all__ = [
    "ANGLES",
    "CLOSING",
    "JOINTS",
    "ON_MANIFOLDS",
    "REDUNDANT",
    "Chain",
    "Closing",
    "Directions",
    "JointType",
    "Motion",
    "OnManifold",
    "Redundant",
    "closing_type",
    "joint_type",
]


def joint_type(name: str, representation: str = ANGLES) -> JointType:
    """The joint type called `name` with these coordinates; KeyError if there is none."""
    for candidate in JOINTS if representation == ANGLES else _represented(representation):
        if candidate.name == name:
            return candidate
    raise KeyError(name)


def closing_type(name: str) -> Closing:
    """The type called `name` of what closes a loop; KeyError if there is none."""
    for candidate in CLOSING:
        if candidate.name == name:
            return candidate
    raise KeyError(name)


def _represented(representation: str) -> tuple[OnManifold | Redundant, ...]:
    chosen: tuple[OnManifold | Redundant, ...] = (*ON_MANIFOLDS, *REDUNDANT)
    return tuple(kind for kind in chosen if kind.representation == representation)
