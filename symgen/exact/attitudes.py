"""Quaternions of length 1 at random points: attitudes by three independent numbers.

The entries of q that are a quaternion x y z w of the model stand for a vector s in x, y, z, the
modified Rodrigues parameters (Schaub, Junkins 1996), and for nothing in w:

    (x, y, z) = 2 s / (1 + s.s),    w = (1 - s.s) / (1 + s.s)

which has length 1 whatever s is.  At the angular velocity w of the link, in its own axes, and at
the velocity v of its origin there,

    4 ds/dt = (1 - s.s) w + 2 s x w + 2 (s.w) s,    dp/dt = R v

so that derivatives in the tangent space are slopes along these columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Vector
from symgen.algebra.nodes import Scalar
from symgen.kinematics.tree import KinematicTree, Manifold


@dataclass(frozen=True)
class ByThreeNumbers(Manifold[Scalar]):
    """A joint whose quaternion is that of s, see the module."""

    def configuration(self, q: Sequence[Scalar], algebra: Algebra[Scalar]) -> Sequence[Scalar]:
        """Its own entries of those of all joints."""
        own, at = list(q[self.entries]), self.kind.quaternion
        own[at:] = unit_quaternion(Vector(*own[at : at + 3]), algebra)
        return own

    def turning(
        self, own: Sequence[Scalar], w: Vector[Scalar], algebra: Algebra[Scalar]
    ) -> list[Scalar]:
        """How s moves at the angular velocity `w`; nothing stands in the last entry."""
        s, half, quarter = Vector(*own[:3]), algebra.constant(0.5), algebra.constant(0.25)
        grown = w * ((algebra.one - s.dot(s)) * quarter)
        return [*(grown + s.cross(w) * half + s * (s.dot(w) * half)), algebra.zero]


def by_three_numbers(tree: KinematicTree[Scalar]) -> KinematicTree[Scalar]:
    """The tree with unit quaternions, whatever is put in for q."""
    made = (
        ByThreeNumbers(**{x.name: getattr(one, x.name) for x in fields(Manifold)})
        for one in tree.manifolds
    )
    return replace(tree, manifolds=tuple(made))


def displacements(tree: KinematicTree[Scalar], q: Sequence[Scalar]) -> list[list[Scalar]]:
    """How every entry of q moves at each velocity, (nq, n)."""
    algebra, n = tree.algebra, len(tree.independent)
    rows = [[algebra.zero] * n for _ in q]
    for k, place in enumerate(tree.places):
        if place is not None:
            rows[place][k] = algebra.one
    for manifold, (_, start, first) in zip(tree.manifolds, tree.quaternions, strict=True):
        for k, column in enumerate(manifold.rates(q, algebra)):
            for i, rate in column.items():
                rows[start + i][first + k] = rate
    return rows


def unit_quaternion(s: Vector[S], algebra: Algebra[S]) -> list[S]:
    """x y z w of modified Rodrigues parameters."""
    one, square = algebra.one, s.dot(s)
    return [*(s * (algebra.constant(2.0) / (one + square))), (one - square) / (one + square)]
