"""The fixed joint: no motion.  Its link is merged into its parent before anything is derived."""

from __future__ import annotations

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Transform, Vector, identity, zero_vector


class Fixed:
    """See the module."""

    name = "fixed"
    coordinates = 0
    moved_entry = ""

    def motion(self, axis: Vector[S], x: S, algebra: Algebra[S]) -> Transform[S]:
        """No motion."""
        return Transform(identity(algebra), zero_vector(algebra))

    def motion_derivative(
        self, axis: Vector[S], x: S, order: int, algebra: Algebra[S]
    ) -> Transform[S]:
        """Zero."""
        return Transform(Matrix([[algebra.zero] * 3] * 3), zero_vector(algebra))

    def angular_axis(self, axis: Vector[S], algebra: Algebra[S]) -> Vector[S]:
        """Zero."""
        return zero_vector(algebra)

    def linear_axis(self, axis: Vector[S], algebra: Algebra[S]) -> Vector[S]:
        """Zero."""
        return zero_vector(algebra)
