"""Transforms between a joint and its parent, in the axes that recursions in link axes use.

The axes of joint j are those after its motion and ahead of the fixed tilt of a DH row, with their
origin after the motion: there the axes of the joint are constants with one entry, the lever to the
next joint has the few entries of a DH row, and the inertia of the body is constant.  A passage is
the motion, which turns in a coordinate plane or slides along an axis, and then the fixed transform
from the joint frame ahead of its motion to the axes of the parent.

Notation (p is the parent of joint j)

==================  ==================  ========================================================
paper               code                meaning
==================  ==================  ========================================================
E^T of jX_p         Q_j, B_j            rotation of the motion, fixed rotation from p to j
--                  l_j                 origin of joint j to origin after its motion, axes of j
r of jX_p           d_j                 origin after the motion of p to origin of joint j, axes of
                                        p
S                   s, t                axes of rotation and of translation
I                   m, h_j, E_j         mass, first and second moments of the body
==================  ==================  ========================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector
from symgen.algebra.spatial import Moments, Spatial
from symgen.algebra.turns import UPPER, Turn, mirrored, turn_of
from symgen.formulations.shared import let_symmetric
from symgen.kinematics.bodies import second_moments
from symgen.kinematics.frames import identity_transform
from symgen.kinematics.joint import Joint
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "CO-22": "Q_j, l_j of the motion of joint j; B_j, d_j from joint p to joint j",
    "CO-23": "h_j = m c and E_j = c h^T + (second moments about the centre), in axes of joint j",
}


@dataclass(frozen=True)
class Passage(Generic[S]):
    """CO-22, CO-23: between joint p and joint j, and the body behind."""

    joint: Joint[S]
    Q: Turn[S]
    B: Turn[S]
    l: Vector[S]  # noqa: E741
    d: Vector[S]
    axis: Spatial[S]
    body: Moments[S]

    def out(self, vector: Vector[S]) -> Vector[S]:
        """Return a vector of the parent in the axes of the joint."""
        return self.Q.undo(self.B.undo(vector))

    def back(self, vector: Vector[S]) -> Vector[S]:
        """Return a vector of the joint in the axes of the parent."""
        return self.B.apply(self.Q.apply(vector))

    def force_back(self, force: Spatial[S]) -> Spatial[S]:
        """Return a force of the joint as the parent has it: its axes, its point."""
        f = self.back(force.linear)
        return Spatial(self.back(force.angular + self.l.cross(force.linear)) + self.d.cross(f), f)

    def point(self, at: Vector[S]) -> Vector[S]:
        """Return a point of the link frame in the axes of the joint."""
        return self.joint.placement.link.apply(at)


def passage_step(tree: KinematicTree[S], joint: Joint[S], q: S, b: ProgramBuilder[S]) -> Passage[S]:
    """Write the passage over a joint: CO-22, CO-23."""
    j, algebra = joint.number, b.algebra
    link = identity_transform(algebra)
    if joint.parent != BASE:
        link = tree.joint(joint.parent).placement.link
    placement = link @ joint.placement.tree
    turn = joint.turns(q, algebra)[1]
    s, t = joint.axes(algebra)
    with b.step("frames", joint.name):
        return Passage(
            joint=joint,
            Q=_named(b.let(f"Q_{j}", turn, "CO-22"), turn_of(turn, algebra)),
            B=_named(
                b.let(f"B_{j}", placement.rotation, "CO-22"), turn_of(placement.rotation, algebra)
            ),
            l=b.let(f"l_{j}", joint.slide(q, algebra), "CO-22"),
            d=b.let(f"d_{j}", placement.translation, "CO-22"),
            axis=Spatial(s, t),
            body=_moments(joint, b),
        )


def passage_sweep(
    tree: KinematicTree[S], b: ProgramBuilder[S], q: Sequence[S]
) -> dict[int, Passage[S]]:
    """Write CO-22, CO-23 of every joint, parents first."""
    return {j.number: passage_step(tree, j, x, b) for j, x in zip(tree.joints, q, strict=True)}


def _moments(joint: Joint[S], b: ProgramBuilder[S]) -> Moments[S]:
    """Write the moments of the body: CO-23."""
    j, link, body = joint.number, joint.placement.link, joint.body
    c = link.apply(body.com)
    h = b.let(f"h_{j}", c * body.mass, "CO-23")
    E = turn_of(link.rotation, b.algebra).symmetric(second_moments(body.inertia, b.algebra))
    lever, first = tuple(c), tuple(h)
    E = mirrored({(i, k): E[i, k] + lever[i] * first[k] for i, k in UPPER})
    return Moments(body.mass, h, let_symmetric(b, f"E_{j}", E, "CO-23"))


def _named(named: Matrix[S], turn: Turn[S]) -> Turn[S]:
    """Return a turn with named entries; its structure shows in what the names stand for."""
    return Turn(named, turn.plane, turn.trivial)
