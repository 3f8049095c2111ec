"""Contributions of a joint and its body to the recursion, and the outward sweep of motions and
forces.

The basis of body k is fixed in it at its joint: the axes are those after the joint's motion and
ahead of the fixed tilt of a DH row, where the partial velocity P_k^k = [s; t] is a constant with
one entry.  Its reference point is the joint point k+ of the body, from which the paper's r^k leads
to the mass centre; with it instead of the mass centre the shift gamma^k is the fixed s^k of a
revolute joint, with the few entries of a DH row, and what the paper says of S^k, P, I_1, F_1 holds
as it stands, but that I_1 couples forces and angular accelerations through the first moment m r.

C^k and S^k act one after the other: the motion of joint k first, which turns in a coordinate plane
or slides along an axis, then the fixed transform from the joint frame ahead of its motion to the
basis of the parent.

The paper stacks an angular 3-vector on a linear one (velocities, accelerations, partial velocities)
or a moment on a force, and works with 6x6 matrices of four 3x3 blocks.  Here a stack is a `Spatial`
and a symmetric 6x6 matrix an `Inertia` of three blocks, so that what is 0 in a block costs nothing
and what is symmetric is computed once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Vector, all_zero, outer, skew, zero_vector
from symgen.algebra.spatial import Moments, Spatial
from symgen.algebra.turns import UPPER, Turn, acceleration_matrix, mirrored, turn_of
from symgen.formulations.joint_terms import reflected_inertia, with_joint_terms
from symgen.formulations.shared import let_spatial, let_symmetric
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
    "KANE-3": "resistance_k = damping + friction + spring + rotor at the given qdd - tau_k: the "
    "joint terms that are subtracted from the effort",
    "d KANE-2": "d m_k, d h_k, d J_k -- Anderson, Hsu 2002 (76)",
    "KANE-4": "omega_k = omega_in + s qd_k, omega_in = C^T omega_p -- Anderson, Hsu 2002 (33)",
    "KANE-5": "alpha_t_k = alpha_in + omega_in x s qd_k + s qdd_k (prescribed), "
    "alpha_in = C^T alpha_t_p -- Anderson, Hsu 2002 (35)",
    "KANE-6": "W_k = alpha_t_k x + omega_k x omega_k x, as a matrix",
    "KANE-7": "a_t_k = a_in + 2 omega_in x t qd_k + t qdd_k (prescribed), "
    "a_in = C^T (a_t_p + W_p gamma^k) -- Anderson, Hsu 2002 (36) with r^k = 0",
    "KANE-8": "a load's force and moment in the axes of body k: (C^k)^T times those in p",
    "KANE-9": "F_1^k: f = loads - (m a_t + W h), n = loads' moments - (h x a_t + int r x W r dm) "
    "-- Anderson, Hsu 2002 (22), (23), (24)",
    "d KANE-9": "d F_1^k -- Anderson, Hsu 2002 (62)",
}


@dataclass(frozen=True)
class Contribution(Generic[S]):
    """All that enters the recursion at joint k.

    `E` is the fixed turn from the joint frame ahead of its motion to the parent, `Q` that of the
    motion; `u` leads from the parent's reference point to the joint frame (parent axes), `l` on to
    that of the body (body axes).  `P` is the partial velocity [s; t].  `points` are those of the
    loads, from k+.
    """

    joint: Joint[S]
    E: Turn[S]
    Q: Turn[S]
    u: Vector[S]
    l: Vector[S]  # noqa: E741
    P: Spatial[S]
    body: Moments[S]
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
        """Write S^k I (S^k)^T by way of ``<name>_seat`` and ``<name>_ahead`` (see `recursion`)."""
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
) -> dict[int, Contribution[S]]:
    """Write KANE-1 to KANE-3 of every joint; the motion of the joints in `prescribed` is given."""
    algebra, body_contributions = b.algebra, dict[int, Contribution[S]]()
    resistances = with_joint_terms(tree, b, state, [-tau for tau in state.tau])
    for joint, q, qd, qdd, resistance in zip(
        tree.joints, state.q, state.qd, state.qdd, resistances, strict=True
    ):
        k, link = joint.number, joint.placement.link
        parent = identity_transform(algebra)
        if joint.parent != BASE:
            parent = tree.joint(joint.parent).placement.link
        placement = parent @ joint.placement.tree
        turn = joint.turns(q, algebra)[1]
        with b.step("contributions", joint.name):
            E = b.let(f"E_{k}", placement.rotation, "KANE-1")
            Q = b.let(f"Q_{k}", turn, "KANE-1")
            u = b.let(f"u_{k}", placement.translation, "KANE-1")
            body_contributions[k] = Contribution(
                joint=joint,
                E=_named_turn(placement.rotation, E, b),
                Q=_named_turn(turn, Q, b),
                u=u,
                l=b.let(f"l_{k}", joint.slide(q, algebra), "KANE-1"),
                P=Spatial(*joint.axes(algebra)),
                body=body_moments(joint, b),
                qd=qd,
                qdd=qdd,
                rotor=reflected_inertia(joint),
                resistance=b.let(f"resistance_{k}", resistance, "KANE-3"),
                points={i: link.apply(x.point) for i, x in enumerate(tree.loads) if x.body == k},
                free=k not in prescribed,
            )
    return body_contributions


def body_moments(joint: Joint[S], b: ProgramBuilder[S]) -> Moments[S]:
    """KANE-2, from the link frame to the basis of the body."""
    k, link, body = joint.number, joint.placement.link, joint.body
    c = link.apply(body.com)
    h = b.let(f"h_{k}", c * body.mass, "KANE-2")
    J = turn_of(link.rotation, b.algebra).symmetric(second_moments(body.inertia, b.algebra))
    return Moments(body.mass, h, let_symmetric(b, f"J_{k}", J + outer(h, c), "KANE-2"))


def _named_turn(structure: Matrix[S], named: Matrix[S], b: ProgramBuilder[S]) -> Turn[S]:
    """The turn with its named entries: what its structure is shows in what the names stand for."""
    turn = turn_of(structure, b.algebra)
    return Turn(named, turn.plane, turn.trivial)


@dataclass(frozen=True)
class Inertia(Generic[S]):
    """A symmetric 6x6 matrix [[A, B], [B^T, D]]: accelerations on moment and force."""

    A: Matrix[S]
    B: Matrix[S]
    D: Matrix[S]

    def __add__(self, other: Inertia[S]) -> Inertia[S]:
        return Inertia(self.A + other.A, self.B + other.B, self.D + other.D)

    def apply(self, x: Spatial[S]) -> Spatial[S]:
        """Product with a stack."""
        return Spatial(
            self.A.apply(x.angular) + self.B.apply(x.linear),
            self.B.apply_transposed(x.angular) + self.D.apply(x.linear),
        )


# -- levers ------------------------------------------------------------------------------------


def moved(inertia: Inertia[S], r: Vector[S], algebra: Algebra[S]) -> Inertia[S]:
    """S I S^T of the shift matrix S with the lever r: referred to the point that r starts from."""
    if all_zero(r, algebra):
        return inertia
    A, B, D = inertia.A, inertia.B, inertia.D
    B_moved = B + skew(r, algebra) @ D
    rows = [Vector(*row) for row in B.rows]
    moved_rows = [Vector(*row) for row in B_moved.rows]
    before = [tuple(r.cross(row)) for row in rows]
    after = [tuple(r.cross(row)) for row in moved_rows]
    sums = [tuple(r.cross(x + y)) for x, y in zip(rows, moved_rows, strict=True)]
    entries = {
        (i, k): A[i, k] + (sums[i][i] if i == k else before[k][i] + after[i][k]) for i, k in UPPER
    }
    return Inertia(mirrored(entries), B_moved, D)


# -- names -------------------------------------------------------------------------------------


def let_inertia(b: ProgramBuilder[S], name: str, value: Inertia[S], note: str) -> Inertia[S]:
    """Name the three blocks: ``<name>_nn``, ``<name>_nf``, ``<name>_ff``."""
    return Inertia(
        let_symmetric(b, f"{name}_nn", value.A, note),
        b.let(f"{name}_nf", value.B, note),
        let_symmetric(b, f"{name}_ff", value.D, note),
    )


@dataclass(frozen=True)
class BodyMotion(Generic[S]):
    """KANE-4 to KANE-7: known motion of a body, and of its parent in the axes of the body.

    `omega_in`, `alpha_in` and `a_in` are the motion of the parent's body at k+.
    """

    omega: Vector[S]
    alpha: Vector[S]
    a: Vector[S]
    W: Matrix[S]
    omega_in: Vector[S]
    alpha_in: Vector[S]
    a_in: Vector[S]


Loads = Mapping[int, Spatial[S]]
"""position of a load -> [moment; force] in body axes"""


# -- steps, one joint each ---------------------------------------------------------------------


def motion_step(at: Contribution[S], parent: BodyMotion[S], b: ProgramBuilder[S]) -> BodyMotion[S]:
    """Write the motion of a body: KANE-4 to KANE-7."""
    k, s, t = at.joint.number, at.P.angular, at.P.linear
    with b.step("known motion", at.joint.name):
        omega_in = b.let(f"omega_in_{k}", at.turned_out(parent.omega), "KANE-4")
        omega = b.let(f"omega_{k}", omega_in + s * at.qd, "KANE-4")
        alpha_in = b.let(f"alpha_in_{k}", at.turned_out(parent.alpha), "KANE-5")
        alpha = alpha_in + omega_in.cross(s * at.qd) + s * at.qdd
        alpha = b.let(f"alpha_t_{k}", alpha, "KANE-5")
        W = b.let(f"W_{k}", acceleration_matrix(omega, alpha), "KANE-6")
        a_in = at.turned_out(parent.a + parent.W.apply(at.u))
        if not all_zero(at.l, b.algebra):
            a_in = a_in + acceleration_matrix(omega_in, alpha_in).apply(at.l)
        a_in = b.let(f"a_in_{k}", a_in, "KANE-7")
        a = a_in + omega_in.cross(t * (at.qd + at.qd)) + t * at.qdd
        a = b.let(f"a_t_{k}", a, "KANE-7")
    return BodyMotion(omega, alpha, a, W, omega_in, alpha_in, a_in)


def load_step(
    at: Contribution[S], parent: Loads[S], beyond: Sequence[int], b: ProgramBuilder[S]
) -> dict[int, Spatial[S]]:
    """Write KANE-8 for the loads on body k and `beyond` it."""
    k = at.joint.number
    loads: dict[int, Spatial[S]] = {}
    with b.step("loads", at.joint.name):
        for i in beyond:
            turned = Spatial(at.turned_out(parent[i].angular), at.turned_out(parent[i].linear))
            loads[i] = let_spatial(b, (f"n_e_{k}_{i + 1}", f"f_e_{k}_{i + 1}"), turned, "KANE-8")
    return loads


def force_step(
    at: Contribution[S], motion: BodyMotion[S], loads: Loads[S], b: ProgramBuilder[S]
) -> Spatial[S]:
    """Write the force on a body: KANE-9."""
    k = at.joint.number
    with b.step("forces", at.joint.name):
        F_1 = -at.body.force(motion.a, motion.W)
        for i, point in at.points.items():
            load = loads[i]
            F_1 = F_1 + Spatial(load.angular + point.cross(load.linear), load.linear)
        return let_spatial(b, (f"F_1_n_{k}", f"F_1_f_{k}"), F_1, "KANE-9")


# -- sweeps over the tree ----------------------------------------------------------------------


def motion_sweep(
    at: Mapping[int, Contribution[S]], b: ProgramBuilder[S], base: Vector[S]
) -> dict[int, BodyMotion[S]]:
    """KANE-4 to KANE-7, parents first; `base` is the acceleration given to the base (-g)."""
    o, zero = zero_vector(b.algebra), b.algebra.zero
    still = Matrix([(zero,) * 3] * 3)
    motions = {BASE: BodyMotion(o, o, base, still, o, o, base)}
    for k, body in at.items():
        motions[k] = motion_step(body, motions[body.joint.parent], b)
    return motions


def load_sweep(
    tree: KinematicTree[S], at: Mapping[int, Contribution[S]], b: ProgramBuilder[S], state: State[S]
) -> dict[int, Loads[S]]:
    """Write KANE-8 for every body on the way to a load."""
    wrenches = {i: Spatial(load.moment, load.force) for i, load in enumerate(state.loads)}
    loads: dict[int, Loads[S]] = {BASE: wrenches}
    for k, body in at.items():
        beyond = [i for i, load in enumerate(tree.loads) if k in tree.path(load.body)]
        loads[k] = load_step(body, loads[body.joint.parent], beyond, b)
    return loads
