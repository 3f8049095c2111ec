"""The revolute joint: a rotation by x about a unit axis.

R(x) = I + sin(x) K + (1 - cos(x)) K^2 with K = skew(axis) (Rodrigues), so
R'(x) = cos(x) K + sin(x) K^2, R''(x) = -sin(x) K + cos(x) K^2 and R'''(x) = -R'(x).  With
K^2 = a a^T - I the entries are written without cancellation:
R = cos(x) I + (1 - cos(x)) a a^T + sin(x) K.
"""

from __future__ import annotations

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Transform, Vector, identity, outer, skew, zero_vector
from symgen.joints.closing import PARALLEL, TOGETHER, Row
from symgen.joints.interface import Chain, Directions, JointType


class Revolute(JointType):
    """A rotation about an axis."""

    name = "revolute"
    coordinates = 1
    moved_entry = "theta"
    keys: tuple[str, ...] = ("dh", "axis")
    forbids: tuple[Row, ...] = (*TOGETHER, *PARALLEL)

    def chain(self, directions: Directions[S]) -> Chain[S]:
        """Return the motion itself, on its axis."""
        return ((self, directions.axis),)

    def motion(self, axis: Vector[S], x: S, algebra: Algebra[S]) -> Transform[S]:
        """R(x), no translation."""
        s, c = algebra.function("sin", x), algebra.function("cos", x)
        squares = outer(axis, axis)
        rotation = identity(algebra) * c + squares * (algebra.one - c) + skew(axis, algebra) * s
        return Transform(rotation, zero_vector(algebra))

    def motion_derivative(
        self, axis: Vector[S], x: S, order: int, algebra: Algebra[S]
    ) -> Transform[S]:
        """R'(x), R''(x) or R'''(x)."""
        s, c = algebra.function("sin", x), algebra.function("cos", x)
        k_squared = outer(axis, axis) - identity(algebra)
        k = skew(axis, algebra)
        rotation = k_squared * c - k * s if order == 2 else k * c + k_squared * s
        if order == 3:
            rotation = rotation * -algebra.one
        return Transform(rotation, zero_vector(algebra))

    def angular_axis(self, axis: Vector[S], algebra: Algebra[S]) -> Vector[S]:
        """Return the axis."""
        return axis

    def linear_axis(self, axis: Vector[S], algebra: Algebra[S]) -> Vector[S]:
        """Zero: the origin lies on the axis."""
        return zero_vector(algebra)
