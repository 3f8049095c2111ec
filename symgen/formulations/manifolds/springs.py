"""Springs of joints on manifolds, as MuJoCo has them.

A spring of stiffness k pulls the shortest way to the pose at which the joint is at rest.  With the
joint at R and p, and its rest at R_0 and p_0, it is stretched by

    x_v = R^T (p - p_0),    x_w = log(R_0^T R) = theta v / s,    s = |v|,

where (v, w) is the quaternion of R_0^T R and theta in (-pi, pi] the angle about v; its energy is
k x^2 / 2, and its torque, in the axes of the link, k x.  Where the way is half a turn the torque
jumps to its opposite, as the shortest way does.

No case of its own is needed at rest.  What is small is divided by something as small,

    s = sqrt(v.v + guard),    theta = atan2(2 s w, w^2 - s^2),

so that theta / s is 2 to the last digit where v is 0 (`symgen.algebra.rounding.GUARD`).  In the
tangent space, where along the unit vector u_k

    dv_k = (w u_k + v x u_k) / 2,    dw_k = -v_k / 2,
    dx_w/de_k = theta / s (w u_k + v x u_k) / 2 + v v_k (1 - w theta / (2 s)) / s^2,

the right Jacobian of SO(3), inverted (Chirikjian 2012, section 10.8.6), and dx_v/de_k = u_k where
the joint slides, x_v x u_k where it turns.  The law takes quaternions of any length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Vector
from symgen.algebra.rounding import GUARD
from symgen.kinematics.frames import units
from symgen.kinematics.tree import KinematicTree, Manifold


def is_sprung(tree: KinematicTree[S], joint: Manifold[S]) -> bool:
    """Whether a joint on a manifold has a spring."""
    columns = (tree.joint(number).terms for number in joint.columns)
    return not all(tree.algebra.is_zero(terms.stiffness) for terms in columns)


@dataclass(frozen=True)
class Stretch(Generic[S]):
    """How far the spring of a joint is stretched, by column; see the module.

    `travel` is x_v, None where the joint does not slide; `v` and `w` are the quaternion from rest.
    """

    algebra: Algebra[S]
    travel: Vector[S] | None
    v: Vector[S]
    w: S

    @classmethod
    def of(cls, joint: Manifold[S], q: Sequence[S], algebra: Algebra[S]) -> Stretch[S]:
        """At the entries `q` of all joints."""
        own, at, rest = joint.configuration(q, algebra), joint.kind.quaternion, joint.rest
        travel = None
        if at:
            way = Vector(*(x - y for x, y in zip(own[:at], rest[:at], strict=True)))
            travel = joint.kind.pose(own, algebra).rotation.apply_transposed(way)
        v, w, v0, w0 = Vector(*own[at : at + 3]), own[-1], Vector(*rest[at : at + 3]), rest[-1]
        return cls(algebra, travel, v * w0 - v0 * w - v0.cross(v), w * w0 + v.dot(v0))

    @property
    def length(self) -> S:
        """s"""
        square = self.v.dot(self.v) + self.algebra.constant(GUARD)
        return self.algebra.function("sqrt", square)

    @property
    def ratio(self) -> S:
        """theta / s"""
        s, w, two = self.length, self.w, self.algebra.constant(2.0)
        return self.algebra.function("atan2", two * s * w, w * w - s * s) / s

    @property
    def entries(self) -> list[S]:
        """x, by column."""
        turn = [*(self.v * self.ratio)]
        return turn if self.travel is None else [*self.travel, *turn]

    @property
    def slopes(self) -> list[list[S]]:
        """[k]: dx/de_k"""
        ratio, s, half = self.ratio, self.length, self.algebra.constant(0.5)
        bend = (self.algebra.one - half * self.w * ratio) / (s * s)
        zero, found = self.algebra.zero, list[list[S]]()
        for unit, share in zip(units(self.algebra), self.v, strict=True):
            moved = (unit * self.w + self.v.cross(unit)) * (half * ratio)
            turn = [*(moved + self.v * (share * bend))]
            found.append(turn if self.travel is None else [*self.travel.cross(unit), *turn])
        if self.travel is None:
            return found
        return [[*unit, zero, zero, zero] for unit in units(self.algebra)] + found
