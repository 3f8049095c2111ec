"""What a type of joint supplies.  Recursions use this and never ask for the type."""

from __future__ import annotations

from typing import Protocol

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Transform, Vector


class JointType(Protocol):
    """One coordinate along or about a unit `axis`, or none.

    Frames: `motion` carries the frame behind the joint into the frame ahead of it; the joint's
    axis has the same components in both.
    """

    name: str
    coordinates: int
    moved_entry: str
    """The DH entry that the coordinate is added to; empty for none."""

    def motion(self, axis: Vector[S], x: S, algebra: Algebra[S]) -> Transform[S]:
        """Pose of the frame behind the joint for the displacement x (rad or m)."""

    def motion_derivative(
        self, axis: Vector[S], x: S, order: int, algebra: Algebra[S]
    ) -> Transform[S]:
        """Derivative of that pose of order 1 or 2: of rotation matrix and translation."""

    def angular_axis(self, axis: Vector[S], algebra: Algebra[S]) -> Vector[S]:
        """Angular velocity per unit of joint velocity."""

    def linear_axis(self, axis: Vector[S], algebra: Algebra[S]) -> Vector[S]:
        """Velocity of the origin behind the joint per unit of joint velocity."""
