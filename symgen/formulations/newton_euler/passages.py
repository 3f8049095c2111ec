"""From the centre of a parent to the centre of its link: how velocities go out and forces back.

The derivatives of the recursion carry many vectors over every joint: velocities and their rates
from the parent to the link, forces and moments from the link to the parent.  Here they refer to
the centre G_j of each link, where force and moment of inertia are simplest (m a and I alpha + ...),
so that a pair of vectors needs one lever per joint.  A `Twist` is that of the centre here.

Notation beyond that of `recursion.py`

===================  ==============  ============================================================
paper                code            meaning
===================  ==============  ============================================================
--                   G_j, c_j        centre of mass of link j, of a massless link its origin
Delta x_Gj           rho             joint origin -> G_j, dx_j + c_j, link axes
--                   joint axes      those behind the motion and ahead of the fixed tilt (the
                                     alpha of a standard row); the axis of the joint is simplest
--                   reach_j         rho in joint axes
--                   r_j             G_p -> G_j, joint axes
--                   ahead, across   G_p -> joint origin, parent axes, and reach_j; or 0 and r_j
xdot_Gj              v_G_j           velocity of G_j
j xdot_{j-1}         v_origin_j      that of the joint's origin, joint axes
===================  ==============  ============================================================

Both levers, constant for a revolute joint, or their sum r_j: whichever has fewer entries.
Likewise the rotations are applied one after the other, or their product, whichever has fewer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Vector, zero_vector
from symgen.formulations.newton_euler.recursion import JointFrame, Motion, Turning, Twist
from symgen.kinematics.joint import Joint
from symgen.kinematics.tree import BASE
from symgen.program.builder import ProgramBuilder

NOTES = {
    "NE-30": "reach_j: joint origin -> G_j, r_j: G_p -> G_j, both in joint axes "
    "-- Barman 2020 (3.2)",
    "NE-31": "v_origin_j = v_G_p + omega_p x (origin - G_p) in joint axes, v_G_j = v_origin_j "
    "+ omega_j x rho + t qd_j -- Barman 2020 (3.32), (3.41), (3.44)",
}


@dataclass(frozen=True)
class Effort(Generic[S]):
    """Force on a link and moment about its centre, or derivatives of them, link axes."""

    f: Vector[S]
    n: Vector[S]


@dataclass(frozen=True)
class Passage(Generic[S]):
    """What a joint does to the vectors that are carried over it.  See the module.

    `s` and `t` are the axes of the joint in joint axes; `own` is the link's motion per unit of the
    joint's velocity, at G_j, and `own_in_joint_axes` is the same in joint axes.
    """

    at: JointFrame[S]
    center: Vector[S]
    rho: Vector[S]
    s: Vector[S]
    t: Vector[S]
    ahead: Vector[S]
    turns: tuple[Matrix[S], ...]
    across: Vector[S]
    reach: Vector[S]
    tilt: Matrix[S]
    own: Twist[S]
    own_in_joint_axes: Twist[S]

    def to_joint_axes(self, vector: Vector[S]) -> Vector[S]:
        """From parent axes."""
        for turn in self.turns:
            vector = turn.apply_transposed(vector)
        return vector

    def out(self, parent: Twist[S]) -> Twist[S]:
        """The field of velocities that is `parent` at G_p, at G_j."""
        omega, v = self._turned(parent)
        v = v + omega.cross(self.across)
        return Twist(self.tilt.apply_transposed(omega), self.tilt.apply_transposed(v))

    def to_origin(self, parent: Twist[S]) -> Twist[S]:
        """The same at the joint's origin, in joint axes."""
        omega, v = self._turned(parent)
        return Twist(omega, v + omega.cross(self.across - self.reach))

    def from_origin(self, here: Twist[S]) -> Twist[S]:
        """A field of velocities at the joint's origin, in joint axes, at G_j."""
        v = here.v + here.omega.cross(self.reach)
        return Twist(self.tilt.apply_transposed(here.omega), self.tilt.apply_transposed(v))

    def in_joint_axes(self, effort: Effort[S]) -> Effort[S]:
        """From link axes."""
        return Effort(self.tilt.apply(effort.f), self.tilt.apply(effort.n))

    def force_back(self, effort: Effort[S]) -> Vector[S]:
        """The force in parent axes."""
        return self._turned_back(self.tilt.apply(effort.f))

    def moment_back(self, effort: Effort[S], f_p: Vector[S]) -> Vector[S]:
        """The moment about G_p in parent axes; `f_p` is the force there."""
        here = self.in_joint_axes(effort)
        return self._turned_back(here.n + self.across.cross(here.f)) + self.ahead.cross(f_p)

    def _turned(self, parent: Twist[S]) -> tuple[Vector[S], Vector[S]]:
        v = parent.v + parent.omega.cross(self.ahead)
        return self.to_joint_axes(parent.omega), self.to_joint_axes(v)

    def _turned_back(self, vector: Vector[S]) -> Vector[S]:
        for turn in reversed(self.turns):
            vector = turn.apply(vector)
        return vector


@dataclass(frozen=True)
class Velocity(Generic[S]):
    """NE-31: the parent's motion at the joint's origin, joint axes; the link's at its centre."""

    at_origin: Twist[S]
    link: Twist[S]


def power(twist: Twist[S], effort: Effort[S]) -> S:
    """Power of an effort on a twist."""
    return twist.omega.dot(effort.n) + twist.v.dot(effort.f)


def center(joint: Joint[S], algebra: Algebra[S]) -> Vector[S]:
    """G_j in the link frame."""
    return zero_vector(algebra) if algebra.is_zero(joint.body.mass) else joint.body.com


def passage_sweep(
    frames: Sequence[JointFrame[S]], b: ProgramBuilder[S], q: Sequence[S]
) -> list[Passage[S]]:
    """NE-30 for every joint."""
    centers = {BASE: zero_vector(b.algebra)}
    passages: list[Passage[S]] = []
    for at in frames:
        j, p = at.joint.number, at.joint.parent
        centers[j] = center(at.joint, b.algebra)
        passages.append(passage_step(at, centers[p], centers[j], q[j - 1], b))
    return passages


def passage_step(
    at: JointFrame[S], c_p: Vector[S], c: Vector[S], q: S, b: ProgramBuilder[S]
) -> Passage[S]:
    """NE-30"""
    joint, algebra = at.joint, b.algebra
    tree, motion, tilt = joint.turns(q, algebra)
    turns: tuple[Matrix[S], ...] = (tree, motion)
    both = tree @ motion
    if operations(both, algebra) <= operations(tree, algebra) + operations(motion, algebra):
        turns = (both,)
    s, t = joint.axes(algebra)
    with b.step("passages", joint.name):
        ahead = at.u - c_p
        reach = b.let(f"reach_{joint.number}", joint.arm(q, algebra) + tilt.apply(c), "NE-30")
        r = motion.apply_transposed(tree.apply_transposed(ahead)) + reach
        across = reach
        if entries(r, algebra) < entries(ahead, algebra) + entries(reach, algebra):
            ahead = zero_vector(algebra)
            across = b.let(f"r_{joint.number}", r, "NE-30")
    rho = at.dx + c
    own = Twist(at.s, at.s.cross(rho) + at.t)
    same = Twist(s, s.cross(reach) + t)
    return Passage(at, c, rho, s, t, ahead, turns, across, reach, tilt, own, same)


def center_velocity_sweep(
    passages: Sequence[Passage[S]],
    links: Mapping[int, Motion[S] | Turning[S]],
    b: ProgramBuilder[S],
    qd: Sequence[S],
) -> dict[int, Velocity[S]]:
    """NE-31 for every link, from the angular velocities of `links`."""
    none = zero_vector(b.algebra)
    twists = {BASE: Twist(none, none)}
    velocities: dict[int, Velocity[S]] = {}
    for passage in passages:
        at, rate = passage.at, qd[passage.at.joint.number - 1]
        j, parent = at.joint.number, twists[at.joint.parent]
        with b.step("velocities", at.joint.name):
            here = passage.to_origin(parent)
            here = Twist(here.omega, b.let(f"v_origin_{j}", here.v, "NE-31"))
            moved = Twist(here.omega + passage.s * rate, here.v + passage.t * rate)
            v_G = b.let(f"v_G_{j}", passage.from_origin(moved).v, "NE-31")
        twists[j] = Twist(links[j].omega, v_G)
        velocities[j] = Velocity(here, twists[j])
    return velocities


def entries(vector: Vector[S], algebra: Algebra[S]) -> int:
    """Number of entries that are not 0 by structure."""
    return sum(not algebra.is_zero(part) for part in vector)


def operations(matrix: Matrix[S], algebra: Algebra[S]) -> int:
    """Multiplications and additions of a product with a vector."""
    one = algebra.one
    parts = [[x for x in row if not algebra.is_zero(x)] for row in matrix.rows]
    factors = [x for row in parts for x in row]
    trivial = [x for x in factors if algebra.is_zero(x - one) or algebra.is_zero(x + one)]
    return len(factors) - len(trivial) + sum(len(row) - 1 for row in parts)
