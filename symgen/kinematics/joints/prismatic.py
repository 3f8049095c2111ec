"""The prismatic joint: a translation by x along a unit axis."""

from __future__ import annotations

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Transform, Vector, identity, zero_vector


class Prismatic:
    """See the module."""

    name = "prismatic"
    coordinates = 1
    moved_entry = "d"

    def motion(self, axis: Vector[S], x: S, algebra: Algebra[S]) -> Transform[S]:
        """Translation by x along the axis."""
        return Transform(identity(algebra), axis * x)

    def motion_derivative(
        self, axis: Vector[S], x: S, order: int, algebra: Algebra[S]
    ) -> Transform[S]:
        """The axis, then zero."""
        nothing = Matrix([[algebra.zero] * 3] * 3)
        return Transform(nothing, axis if order == 1 else zero_vector(algebra))

    def angular_axis(self, axis: Vector[S], algebra: Algebra[S]) -> Vector[S]:
        """Zero: nothing turns."""
        return zero_vector(algebra)

    def linear_axis(self, axis: Vector[S], algebra: Algebra[S]) -> Vector[S]:
        """The axis."""
        return axis
