"""Euler parameters: axes that are not fixed in a body (Lopez Varela 2023, tables 5, 6 and 11).

The columns of b_i are those of joints of one coordinate, b_l = [w_l x (r_i - r_J); w_l], with

    w_l = A_i wbar_l(p),   bdot_i zdot_i = omega x (b_i zdot_i) - c b_i zdot_i

for the four together, c being 0 of what turns with the body alone;
`symgen.kinematics.euler_parameters` has wbar_l and c.

======================  ================  ======================================================
paper                   code              meaning
======================  ================  ======================================================
A_i^p                   R_<name>_ij       attitude of p / |p|
--                      wbar_l            2 G(p) e_l / |p|^2, link axes: columns of 2 E
--                      c_<name>          2 p . pdot / |p|^2
bdot_i zdot_i           swing_i           6x1, of the four together
======================  ================  ======================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Transform, Vector, zero_vector
from symgen.formulations.state import State
from symgen.kinematics.euler_parameters import EulerParameters, Turning
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "SR-41": "A_i^p of p / |p|; wbar_l = 2 G(p) e_l / |p|^2, as table 5 and 2 E of table 11 have "
    "them where |p| = 1 -- Lopez Varela 2023, tables 5 and 11",
    "SR-42": "bdot_i zdot_i = omega x (b_i zdot_i) - c b_i zdot_i, c = 2 p . pdot / |p|^2 "
    "-- Lopez Varela 2023 (4e)",
    "d SR-41": "(A_i^p)_z, (wbar_l)_z by z = q_k, both of one joint: (w_l)_z has A_i (wbar_l)_z in "
    "addition to w_k x w_l -- Lopez Varela 2023, tables 5, 6, 12 and 13",
    "d SR-42": "(bdot_i)_z zdot_i -- Lopez Varela 2023 (59)",
}


@dataclass(frozen=True)
class Axes(Generic[S]):
    """One joint's: its attitude, and wbar_l by number of joint."""

    joint: EulerParameters[S]
    turning: Turning[S]
    rotation: Matrix[S]
    wbar: Mapping[int, Vector[S]]
    b: ProgramBuilder[S]

    @property
    def members(self) -> tuple[int, ...]:
        """The numbers of the four joints."""
        return self.joint.members

    def axis(self, number: int) -> Vector[S]:
        """wbar_l"""
        return self.wbar[number]

    def stretch(self) -> S:
        """SR-42"""
        return self.b.let(f"c_{self.joint.name}", self.turning.c, "SR-42")


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
        axes = Axes(joint, turning, rotation, wbar, b)
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
