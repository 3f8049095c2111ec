"""The helical joint: a rotation by x about a unit axis, with a translation by pitch x along it.

The pitch is in m per radian; with 0 it is a revolute joint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Transform, Vector
from symgen.joints.interface import Chain, Directions, JointType
from symgen.joints.prismatic import Prismatic
from symgen.joints.revolute import Revolute

_TURN, _SLIDE = Revolute(), Prismatic()


class Helical(JointType):
    """A rotation about an axis with a translation along it."""

    name = "helical"
    coordinates = 1
    keys: tuple[str, ...] = ("axis", "pitch")

    def chain(self, directions: Directions[S]) -> Chain[S]:
        """Return a screw about the axis."""
        screw: Any = Screw(directions.pitch)  # an ElementaryMotion over these scalars only
        return ((screw, directions.axis),)


@dataclass(frozen=True)
class Screw(Generic[S]):
    """The motion of a helical joint: a rotation and a translation, independent of each other."""

    pitch: S

    def motion(self, axis: Vector[S], x: S, algebra: Algebra[S]) -> Transform[S]:
        """R(x), and the translation."""
        return Transform(_TURN.motion(axis, x, algebra).rotation, axis * (self.pitch * x))

    def motion_derivative(
        self, axis: Vector[S], x: S, order: int, algebra: Algebra[S]
    ) -> Transform[S]:
        """Derivatives of rotation and translation."""
        turn = _TURN.motion_derivative(axis, x, order, algebra)
        slide = _SLIDE.motion_derivative(axis, x, order, algebra)
        return Transform(turn.rotation, slide.translation * self.pitch)

    def angular_axis(self, axis: Vector[S], algebra: Algebra[S]) -> Vector[S]:
        """Return the axis."""
        return axis

    def linear_axis(self, axis: Vector[S], algebra: Algebra[S]) -> Vector[S]:
        """Return the translation along the axis per radian."""
        return axis * self.pitch
