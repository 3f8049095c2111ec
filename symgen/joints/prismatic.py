"""The prismatic joint: a translation by x along a unit axis."""

from __future__ import annotations

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Transform, Vector, identity, zero_vector
from symgen.joints.closing import GAP, PARALLEL, Row
from symgen.joints.interface import Chain, Directions, JointType


class Prismatic(JointType):
    """A translation along an axis."""

    name = "prismatic"
    coordinates = 1
    moved_entry = "d"
    keys: tuple[str, ...] = ("dh", "axis")
    forbids: tuple[Row, ...] = (*PARALLEL, ("u", "v"), ("u", GAP), ("v", GAP))

    def chain(self, directions: Directions[S]) -> Chain[S]:
        """Return the motion itself, on its axis."""
        return ((self, directions.axis),)

    def motion(self, axis: Vector[S], x: S, algebra: Algebra[S]) -> Transform[S]:
        """Translation by x along the axis."""
        return Transform(identity(algebra), axis * x)

    def motion_derivative(
        self, axis: Vector[S], x: S, order: int, algebra: Algebra[S]
    ) -> Transform[S]:
        """Return the axis, then zero twice."""
        nothing = Matrix([[algebra.zero] * 3] * 3)
        return Transform(nothing, axis if order == 1 else zero_vector(algebra))

    def angular_axis(self, axis: Vector[S], algebra: Algebra[S]) -> Vector[S]:
        """Zero: nothing turns."""
        return zero_vector(algebra)

    def linear_axis(self, axis: Vector[S], algebra: Algebra[S]) -> Vector[S]:
        """Return the axis."""
        return axis
