"""Euler parameters: axes that are not fixed in a body (Lopez Varela 2023, tables 5, 6 and 11).

The columns of b_i are those of joints of one coordinate, b_l = [w_l x (r_i - r_J); w_l], with

    w_l = A_i wbar_l(p),   w_l' = omega x w_l + s_l,   (w_l)_z = a x w_l + A_i (wbar_l)_z

in place of what turns with the body; `symgen.kinematics.euler_parameters` has wbar_l and s_l.

======================  ================  ======================================================
paper                   code              meaning
======================  ================  ======================================================
A_i^p                   R_<name>_ij       attitude of p / |p|
--                      wbar_l            2 G(p) e_l / |p|^2, link axes: columns of 2 E
--                      s_l               A_i times the rate of the components of wbar_l
======================  ================  ======================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Transform, Vector, identity, zero_vector
from symgen.formulations.state import State
from symgen.kinematics.euler_parameters import EulerParameters, Turning
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "SR-41": "A_i^p of p / |p|; wbar_l = 2 G(p) e_l / |p|^2, as table 5 and 2 E of table 11 have "
    "them where |p| = 1 -- Lopez Varela 2023, tables 5 and 11",
    "SR-42": "s_l = A_i wbar_l', and its rate: b_l' = omega x b_l + [s_l x (r_i - r_J); s_l]",
}


@dataclass(frozen=True)
class Axes(Generic[S]):
    """One joint's: its attitude, wbar_l by number of joint, and the turn `before` the attitude."""

    joint: EulerParameters[S]
    turning: Turning[S]
    rotation: Matrix[S]
    wbar: Mapping[int, Vector[S]]
    before: Matrix[S]
    b: ProgramBuilder[S]

    @property
    def members(self) -> tuple[int, ...]:
        """The numbers of the four joints."""
        return self.joint.members

    def axis(self, number: int) -> Vector[S]:
        """wbar_l"""
        return self.wbar[number]

    def seat(self, number: int, algebra: Algebra[S]) -> Matrix[S]:
        """What turns the joint frame on the parent: the first of the four has all of it."""
        return self.before if number == self.members[0] else identity(algebra)

    def spin(self, number: int, A: Matrix[S]) -> Vector[S]:
        """SR-42"""
        value = A.apply(self.turning.spins[self.joint.place(number)])
        return self.b.let(f"s_{number}", value, "SR-42")

    def spin_rate(self, number: int, A: Matrix[S], state: State[S]) -> Vector[S]:
        """A_i times the rate of the components of s_l."""
        rates = self.turning.spin_rates(self.joint.of(state.qdd))
        return A.apply(rates[self.joint.place(number)])

    def by_place(self, number: int, k: int) -> Vector[S]:
        """(wbar_l)_z by z = q_k"""
        return self.turning.by_place(self.joint.place(number), self.joint.place(k))

    def spin_by_place(self, number: int, k: int) -> Vector[S]:
        """The same of the rate of wbar_l."""
        return self.turning.spins_by_place(self.joint.place(number), self.joint.place(k))


def axes_of(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], moving: bool
) -> dict[int, Axes[S]]:
    """SR-41, by number of joint."""
    found: dict[int, Axes[S]] = {}
    for joint in tree.euler_parameters:
        still = (b.algebra.zero,) * len(joint.members)
        rate = joint.of(state.qd) if moving else still
        turning = Turning(joint.of(state.q), rate, b.algebra)
        with b.step("geometry", joint.name):
            rotation = b.let(f"R_{joint.name}", turning.rotation, "SR-41")
            wbar = {
                number: b.let(f"wbar_{number}", axis, "SR-41")
                for number, axis in zip(joint.members, turning.axes, strict=True)
            }
        before = tree.joint(joint.members[0]).placement.tree.rotation
        axes = Axes(joint, turning, rotation, wbar, before, b)
        found |= dict.fromkeys(joint.members, axes)
    return found


def posed(tree: KinematicTree[S], turning: Mapping[int, Axes[S]]) -> KinematicTree[S]:
    """The tree with the attitudes, and one centre of mass for the four bodies of each joint."""
    if not turning:
        return tree
    joints = list(tree.joints)
    for axes in turning.values():
        first, last = axes.members[0] - 1, axes.members[-1] - 1
        at = joints[first].placement
        turn = Transform(axes.rotation, zero_vector(tree.algebra))
        seat = tree.joints[first].placement.tree @ turn
        joints[first] = replace(joints[first], placement=replace(at, tree=seat))
        for k in range(first, last):
            body = replace(joints[k].body, com=joints[last].body.com)
            joints[k] = replace(joints[k], body=body)
    return replace(tree, joints=tuple(joints))
