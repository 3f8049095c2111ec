"""What a joint and its body contribute to the recursion, and how they carry stacks to and fro.

The basis of body k is fixed in it at its joint: the axes are those behind the joint's motion and
ahead of the fixed tilt of a DH row, where the partial velocity P_k^k = [s; t] is a constant with
one entry.  Its reference point is the joint point k+ of the body, from which the paper's r^k leads
to the mass centre; with it in place of the mass centre the shift gamma^k is the fixed s^k of a
revolute joint, with the few entries of a DH row, and what the paper says of S^k, P, I_1, F_1 holds
as it stands, but that I_1 couples forces and angular accelerations through the first moment m r.

C^k and S^k act one after the other: the motion of joint k first, which turns in a coordinate plane
or slides along an axis, then the fixed transform from the joint's seat to the basis of the parent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector, all_zero, outer
from symgen.algebra.spatial import Spatial
from symgen.algebra.turns import Turn, turn_of
from symgen.formulations.joint_terms import reflected_inertia, with_joint_terms
from symgen.formulations.kane.spatial import Inertia, let_inertia, moved
from symgen.formulations.shared import let_symmetric
from symgen.formulations.state import State
from symgen.kinematics.bodies import second_moments
from symgen.kinematics.frames import identity_transform
from symgen.kinematics.joint import Joint
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "KANE-1": "C^k = E_k Q_k: basis k in the axes of its parent; gamma^k = u_k + C^k l_k "
    "-- Anderson, Hsu 2002, before (32), (38), (42)",
    "KANE-2": "mass m_k, first moment h_k = m_k r^k and second moments J_k of body k about k+",
    "KANE-3": "resistance_k = damping + friction + spring + rotor at the given qdd - tau_k: what "
    "the joint itself takes of the effort on it",
    "d KANE-2": "d m_k, d h_k, d J_k -- Anderson, Hsu 2002 (76)",
}


@dataclass(frozen=True)
class BodyMoments(Generic[S]):
    """KANE-2: mass, first moments and second moments int r r^T dm about k+, basis of the body."""

    m: S
    h: Vector[S]
    J: Matrix[S]


@dataclass(frozen=True)
class Contribution(Generic[S]):
    """All that enters the recursion at joint k.

    `E` is the fixed turn from the joint's seat to the parent, `Q` that of the motion; `u` leads
    from the parent's reference point to the seat (parent axes), `l` on to that of the body (body
    axes).  `P` is the partial velocity [s; t].  `points`
    are those of the loads, from k+.
    """

    joint: Joint[S]
    E: Turn[S]
    Q: Turn[S]
    u: Vector[S]
    l: Vector[S]  # noqa: E741
    P: Spatial[S]
    body: BodyMoments[S]
    qd: S
    qdd: S
    rotor: S
    resistance: S
    points: Mapping[int, Vector[S]]
    free: bool

    def turned_out(self, vector: Vector[S]) -> Vector[S]:
        """(C^k)^T times a vector of the parent."""
        return self.Q.undo(self.E.undo(vector))

    def out(self, parent: Spatial[S]) -> Spatial[S]:
        """(S^k)^T times an acceleration of the parent."""
        angular = self.turned_out(parent.angular)
        linear = self.turned_out(parent.linear + parent.angular.cross(self.u))
        return Spatial(angular, linear + angular.cross(self.l))

    def back(self, effort: Spatial[S]) -> Spatial[S]:
        """S^k times a moment and a force on the body."""
        moment, force = effort.angular + self.l.cross(effort.linear), effort.linear
        moment, force = (self.E.apply(self.Q.apply(part)) for part in (moment, force))
        return Spatial(moment + self.u.cross(force), force)

    def back_inertia(
        self, inertia: Inertia[S], name: str, note: str, b: ProgramBuilder[S]
    ) -> Inertia[S]:
        """S^k I (S^k)^T; on the way it is ``<name>_seat`` and, ahead of E, ``<name>_ahead``."""
        k = self.joint.number
        at_seat = _turned(self.Q, moved(inertia, self.l, b.algebra))
        at_seat = let_inertia(b, f"{name}_seat_{k}", at_seat, note)
        ahead = _turned(self.E, at_seat)
        if all_zero(self.u, b.algebra):
            return ahead
        ahead = let_inertia(b, f"{name}_ahead_{k}", ahead, note)
        return moved(ahead, self.u, b.algebra)


def _turned(turn: Turn[S], x: Inertia[S]) -> Inertia[S]:
    return Inertia(turn.symmetric(x.A), turn.general(x.B), turn.symmetric(x.D))


def contributions(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], prescribed: Sequence[int]
) -> list[Contribution[S]]:
    """KANE-1 to KANE-3 of every joint; the motion of the joints in `prescribed` is given."""
    resistances = with_joint_terms(tree, b, state, [-tau for tau in state.tau])
    loads = _loads_by_body(tree)
    return [
        contribution(
            tree, joint, b, state, resistances, loads[joint.number], joint.number in prescribed
        )
        for joint in tree.joints
    ]


def contribution(
    tree: KinematicTree[S],
    joint: Joint[S],
    b: ProgramBuilder[S],
    state: State[S],
    resistances: Sequence[S],
    loads: Sequence[int],
    given: bool,
) -> Contribution[S]:
    """KANE-1 to KANE-3 of one joint."""
    k, algebra, at = joint.number, b.algebra, joint.placement
    parent = identity_transform(algebra)
    if joint.parent != BASE:
        parent = tree.joint(joint.parent).placement.link
    seat = parent @ at.tree
    q = state.q[k - 1]
    turn = joint.turns(q, algebra)[1]
    s, t = joint.axes(algebra)
    with b.step("contributions", joint.name):
        E = b.let(f"E_{k}", seat.rotation, "KANE-1")
        Q = b.let(f"Q_{k}", turn, "KANE-1")
        u = b.let(f"u_{k}", seat.translation, "KANE-1")
        return Contribution(
            joint=joint,
            E=_named_turn(seat.rotation, E, b),
            Q=_named_turn(turn, Q, b),
            u=u,
            l=b.let(f"l_{k}", joint.slide(q, algebra), "KANE-1"),
            P=Spatial(s, t),
            body=body_moments(joint, b),
            qd=state.qd[k - 1],
            qdd=state.qdd[k - 1],
            rotor=reflected_inertia(joint),
            resistance=b.let(f"resistance_{k}", resistances[k - 1], "KANE-3"),
            points={i: at.link.apply(tree.loads[i].point) for i in loads},
            free=not given,
        )


def body_moments(joint: Joint[S], b: ProgramBuilder[S]) -> BodyMoments[S]:
    """KANE-2, from the link frame to the basis of the body."""
    k, link, body = joint.number, joint.placement.link, joint.body
    c = link.apply(body.com)
    h = b.let(f"h_{k}", c * body.mass, "KANE-2")
    J = turn_of(link.rotation, b.algebra).symmetric(second_moments(body.inertia, b.algebra))
    return BodyMoments(body.mass, h, let_symmetric(b, f"J_{k}", J + outer(h, c), "KANE-2"))


def _named_turn(structure: Matrix[S], named: Matrix[S], b: ProgramBuilder[S]) -> Turn[S]:
    """The turn with its named entries: what its structure is shows in what the names stand for."""
    found = turn_of(structure, b.algebra)
    return Turn(named, found.plane, found.trivial)


def _loads_by_body(tree: KinematicTree[S]) -> dict[int, list[int]]:
    """Positions of the loads on every body."""
    found: dict[int, list[int]] = {number: [] for number in range(tree.n + 1)}
    for i, load in enumerate(tree.loads):
        found[load.body].append(i)
    return found
