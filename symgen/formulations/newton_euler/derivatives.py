"""Derivatives of the joint torques, by direct differentiation of `recursion.py` (Barman 2020).

Line beside line with it: the functions bear its names with ``d_`` in front, go through the joints
in the same order, and ``dNE-14`` is the derivative of ``NE-14``.  Only joints on one path have
anything to do with each other: i runs over the joints from the base to link j, itself included.

Notation beyond that of `recursion.py` and `passages.py`

=======================  =====================  ==================================================
paper                    code                   meaning
=======================  =====================  ==================================================
(.)_{j,i}                d_(.)_dq_i             derivative with respect to q_i of the entries in
                                                link axes
(.)_{j,i'}, (.)_{j,i''}  d_(.)_dqd_i, .._dqdd_i with respect to qd_i, qdd_i
--                       dd_(.)_dq_i_dt         rate of d_(.)_dq_i in fixed axes, at a fixed point
--                       n_at_G_j               moment of f_j, n_j about G_j
--                       N_j, L_j               3x3, what turning does, see `link_maps.py`
--                       D_f_j, D_n_at_G_j      derivatives with respect to q_j, axes held
=======================  =====================  ==================================================

What lies beyond joint i turns (or slides) with it as one piece.  So link j, written in its own
axes, knows of joint i by three fields of velocities, which are the same for all links beyond i:

- V_i = d(omega, v_G)/dqd_i, the motion per unit of qd_i,
- V_i' = d(omega, v_G)/dq_i, its rate in fixed axes: the motion of the parent crossed with V_i,
- V_i'' = dd(omega, v_G)/dq_i dt, the rate of that.

They start at link i and are carried outwards, without a term of their own at any joint they pass.
All derivatives of accelerations are made of them:

    d alpha/dqdd_i = d omega/dqd_i
    d alpha/dqd_i  = 2 d omega/dq_i - omega x d omega/dqd_i
    d alpha/dq_i   = dd omega/dq_i dt - omega x d omega/dq_i
    d a_G/dqdd_i   = d v_G/dqd_i
    d a_G/dqd_i    = 2 (d v_G/dq_i + d omega/dqd_i x v_G)
    d a_G/dq_i     = dd v_G/dq_i dt + 2 d omega/dq_i x v_G

so that force and moment of inertia of a link are linear in them, with coefficients that belong to
the link alone (`link_maps.py`).  No derivative of a rotation matrix is ever written.

Joint j feels what a joint k beyond it does only through the change of the wrench in joint k: its
torque changes by the power of that change on V_j at link k.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector
from symgen.formulations.interface import State
from symgen.formulations.joint_terms import drive_derivatives, with_joint_terms
from symgen.formulations.newton_euler.link_maps import LinkMaps, link_maps
from symgen.formulations.newton_euler.passages import (
    Effort,
    Passage,
    Twist,
    Velocity,
    passage_sweep,
    power,
    velocity_sweep,
)
from symgen.formulations.newton_euler.recursion import (
    LoadForces,
    Motion,
    Reaction,
    carried,
    frames_sweep,
    load_sweep,
    motion_sweep,
    reaction_sweep,
    torque_step,
)
from symgen.formulations.shared import let_derivative
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

# dNE-3, the derivative of omega_j, is that of `motion_derivatives.py`
NOTES = {
    "NE-32": "n_at_G_j = n_j - rho x f_j",
    "dNE-31": "d v_G_j/dq_i, d v_G_j/dqd_i: those of p carried over joint j; for i = j "
    "v_origin_j x s + omega_in_j x t + d omega_j/dq_j x rho by q_j, t + s x rho by qd_j "
    "-- Barman 2020 (3.42), (3.43), (3.45), (3.46)",
    "ddNE-3": "dd omega_j/dq_i dt = d alpha_j/dq_i + omega_j x d omega_j/dq_i: that of p carried "
    "over joint j; for i = j alpha_in_j x s + omega_in_j x (omega_in_j x s) "
    "-- Barman 2020 (3.15), (3.16), (3.18), (3.19), (3.21), (3.22)",
    "ddNE-31": "dd v_G_j/dq_i dt = d a_G_j/dq_i - 2 d omega_j/dq_i x v_G_j: that of p carried over "
    "joint j; for i = j a_in_j x s + 2 v_origin_j x d omega_j/dq_j + alpha_in_j x t "
    "+ omega_in_j x (omega_in_j x t) + dd omega_j/dq_j dt x rho "
    "-- Barman 2020 (3.48), (3.49), (3.57), (3.58), (3.60), (3.61)",
    "dNE-11": "d F_G_j = m_j d a_G_j: by q_i m_j (dd v_G_j/dq_i dt + 2 d omega_j/dq_i x v_G_j), "
    "by qd_i 2 m_j (d v_G_j/dq_i + d omega_j/dqd_i x v_G_j), by qdd_i m_j d v_G_j/dqd_i "
    "-- Barman 2020 (3.57), (3.58), (3.60), (3.61), (3.68)",
    "dNE-12": "d n_G_j = I_j dd omega_j/dq_i dt + N_j d omega_j/dq_i by q_i, "
    "2 I_j d omega_j/dq_i + N_j d omega_j/dqd_i by qd_i, I_j d omega_j/dqd_i by qdd_i; "
    "N_j x = omega_j x I_j x + x x H_j - I_j (omega_j x x) = 2 omega_j x (I_j - tr(I_j)/2) x "
    "-- Barman 2020 (3.65), (3.66), (3.70), (3.71)",
    "dNE-13": "the loads turn against link j: d f_e/dq_i = f_e x d omega_j/dqd_i, d n_e alike; "
    "L_j x = sum n_e x x + r x (f_e x x), r the point of the load in G_j "
    "-- Barman 2020 (3.77), (3.85), (3.89)",
    "dNE-14": "d f_j = d F_G_j - sum d f_e + sum_c R_c d f_c -- Barman 2020 (3.73), (3.75), (3.79)",
    "dNE-15": "d n_at_G_j = d n_G_j - L_j d omega_j/dqd_i + sum_c (d n_at_G_c carried to G_j) "
    "-- Barman 2020 (3.81), (3.83), (3.85), (3.87), (3.89), (3.91)",
    "dNE-16": "d tau_j = power of d f_j, d n_at_G_j on the motion per unit of qd_j; for a joint k "
    "beyond j that of D f_k, D n_at_G_k (by q_k) or d f_k/dqd_k, d n_at_G_k/dqd_k on "
    "d(omega_k, v_G_k)/dqd_j -- Barman 2020 (3.93), (3.95)",
    "dNE-32": "D f_k = d f_k/dq_k + s x f_k, D n_at_G_k = d n_at_G_k/dq_k + s x n_at_G_k "
    "+ (s x rho + t) x f_k: the parent of k sees its axes turn "
    "-- Barman 2020 (3.73), (3.81) for i = j + 1",
}


@dataclass(frozen=True)
class MotionDerivative(Generic[S]):
    """V_i, V_i' and V_i'' at the centre of a link, and derivatives of its acceleration."""

    by_qd: Twist[S]
    by_q: Twist[S]
    rate: Twist[S]
    a_qd: Vector[S]
    a_q: Vector[S]


@dataclass(frozen=True)
class ReactionDerivative(Generic[S]):
    """Derivatives of what the parent exerts on a link, moments about its centre, link axes."""

    by_q: Effort[S]
    by_qd: Effort[S]
    by_qdd: Effort[S]


@dataclass(frozen=True)
class LinkDerivatives(Generic[S]):
    """All about link j: derivatives by the number of the joint i, and the change of dNE-32."""

    passage: Passage[S]
    reaction: Reaction[S]
    d_motion: Mapping[int, MotionDerivative[S]]
    d_reaction: Mapping[int, ReactionDerivative[S]]
    change: Effort[S]


def inverse_dynamics_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """tau (n,) and its derivatives with respect to q, qd and qdd, (n, n) each."""
    links = recursion_derivatives(tree, b, state)
    rigid = [torque_step(link.passage.at, link.reaction, b) for link in links.values()]
    b.output("tau", (tree.n,), with_joint_terms(tree, b, state, rigid))
    rows = d_torque_sweep(tree, links, b)
    for joint in tree.joints:
        k = joint.number - 1
        for matrix, slope in zip(rows, drive_derivatives(joint, state, b), strict=True):
            matrix[k][k] = matrix[k][k] + slope
    for by, matrix in zip(("q", "qd", "qdd"), rows, strict=True):
        b.output(f"dtau_d{by}", (tree.n, tree.n), [entry for row in matrix for entry in row])


# -- sweeps over the tree ----------------------------------------------------------------------


def recursion_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> dict[int, LinkDerivatives[S]]:
    """The recursion and its derivatives: all about every link, by its number."""
    frames = frames_sweep(tree, b, state.q)
    motions = motion_sweep(frames, b, state.qd, state.qdd, -tree.gravity)
    loads = load_sweep(tree, frames, b, state.loads)
    reactions = reaction_sweep(frames, motions, loads, b)
    passages = passage_sweep(frames, b, state.q)
    velocities = velocity_sweep(passages, motions, b, state.qd)
    d_motions = d_motion_sweep(passages, motions, velocities, b)
    d_reactions = d_reaction_sweep(passages, motions, d_motions, loads, b)
    links: dict[int, LinkDerivatives[S]] = {}
    for passage in passages:
        j = passage.at.joint.number
        change = change_step(passage, reactions[j], d_reactions[j][j], b)
        links[j] = LinkDerivatives(passage, reactions[j], d_motions[j], d_reactions[j], change)
    return links


def d_motion_sweep(
    passages: Sequence[Passage[S]],
    motions: Mapping[int, Motion[S]],
    velocities: Mapping[int, Velocity[S]],
    b: ProgramBuilder[S],
) -> dict[int, dict[int, MotionDerivative[S]]]:
    """How every link moves with every joint on the way to it: link -> joint -> derivative."""
    d_motions: dict[int, dict[int, MotionDerivative[S]]] = {BASE: {}}
    for passage in passages:
        j, p = passage.at.joint.number, passage.at.joint.parent
        d_parent = d_motions[p]
        d_motions[j] = {
            i: d_motion_step(passage, i, slope, velocities[j], b) for i, slope in d_parent.items()
        }
        d_motions[j][j] = d_own_motion_step(passage, motions[p], velocities[j], b)
    return d_motions


def d_reaction_sweep(
    passages: Sequence[Passage[S]],
    motions: Mapping[int, Motion[S]],
    d_motions: Mapping[int, Mapping[int, MotionDerivative[S]]],
    loads: Mapping[int, LoadForces[S]],
    b: ProgramBuilder[S],
) -> dict[int, dict[int, ReactionDerivative[S]]]:
    """How every reaction changes with the joints that carry its link, leaves first."""
    d_reactions: dict[int, dict[int, ReactionDerivative[S]]] = {}
    children: dict[int, list[Passage[S]]] = {}
    for passage in reversed(passages):
        j = passage.at.joint.number
        maps = link_maps(passage, motions[j].omega, loads.get(j), b)
        mine = [
            (child, d_reactions[child.at.joint.number]) for child in reversed(children.get(j, []))
        ]
        d_reactions[j] = {
            i: d_reaction_step(passage, i, slope, maps, [(c, d[i]) for c, d in mine], b)
            for i, slope in d_motions[j].items()
        }
        children.setdefault(passage.at.joint.parent, []).append(passage)
    return d_reactions


def d_torque_sweep(
    tree: KinematicTree[S], links: Mapping[int, LinkDerivatives[S]], b: ProgramBuilder[S]
) -> tuple[list[list[S]], list[list[S]], list[list[S]]]:
    """dNE-16: the rigid bodies' part of dtau_dq, dtau_dqd and dtau_dqdd."""
    zero, n = b.algebra.zero, tree.n
    by_q, by_qd, by_qdd = ([[zero] * n for _ in range(n)] for _ in range(3))
    for j, link in links.items():
        for i in link.d_motion:
            row = d_torque_step(link, i, b)
            by_q[j - 1][i - 1], by_qd[j - 1][i - 1], by_qdd[j - 1][i - 1] = row
            if i != j:
                by_q[i - 1][j - 1], by_qd[i - 1][j - 1] = d_torque_beyond_step(link, i, b)
                by_qdd[i - 1][j - 1] = by_qdd[j - 1][i - 1]  # the mass matrix is symmetric
    return by_q, by_qd, by_qdd


# -- steps, one link each ----------------------------------------------------------------------


def change_step(
    passage: Passage[S], reaction: Reaction[S], own: ReactionDerivative[S], b: ProgramBuilder[S]
) -> Effort[S]:
    """NE-32 and dNE-32: how the wrench in joint j changes with q_j, as the parent feels it."""
    j, V = passage.at.joint.number, passage.own
    with b.step("backward derivatives", passage.at.joint.name):
        n = b.let(f"n_at_G_{j}", reaction.n - passage.rho.cross(reaction.f), "NE-32")
        f_turned = own.by_q.f + V.omega.cross(reaction.f)
        n_turned = own.by_q.n + V.omega.cross(n) + V.v.cross(reaction.f)
        f_turned = b.let(f"D_f_{j}", f_turned, "dNE-32")
        return Effort(f_turned, b.let(f"D_n_at_G_{j}", n_turned, "dNE-32"))


# -- steps, one pair of joints each: i carries link j ------------------------------------------


def d_motion_step(
    passage: Passage[S],
    i: int,
    parent: MotionDerivative[S],
    velocity: Velocity[S],
    b: ProgramBuilder[S],
) -> MotionDerivative[S]:
    """dNE-3, dNE-31, their rates and d a_G for a joint i that carries joint j."""
    v_G, two = velocity.link.v, b.algebra.constant(2.0)
    with b.step("forward derivatives", passage.at.joint.name):
        by_qd = _named_twist(passage, passage.out(parent.by_qd), f"qd_{i}", b)
        by_q = _named_twist(passage, passage.out(parent.by_q), f"q_{i}", b)
        rate = _named_rate(passage, passage.out(parent.rate), i, b)
    a_qd = (by_q.v + by_qd.omega.cross(v_G)) * two
    return MotionDerivative(by_qd, by_q, rate, a_qd, rate.v + by_q.omega.cross(v_G * two))


def d_own_motion_step(
    passage: Passage[S], parent: Motion[S], velocity: Velocity[S], b: ProgramBuilder[S]
) -> MotionDerivative[S]:
    """dNE-3, dNE-31, their rates and d a_G for i = j.

    At the joint's origin, in joint axes: the parent's motion there crossed with V_j = (s, t), and
    once more.
    """
    j, s, t, two = passage.at.joint.number, passage.s, passage.t, b.algebra.constant(2.0)
    omega, v = velocity.at_origin.omega, velocity.at_origin.v
    alpha = passage.to_joint_axes(parent.alpha)
    a = passage.to_joint_axes(parent.a + carried(parent, passage.at.u))
    with b.step("forward derivatives", passage.at.joint.name):
        by_qd = _named_twist(passage, passage.own, f"qd_{j}", b)
        w = omega.cross(s)
        slope = Twist(w, v.cross(s) + omega.cross(t))
        by_q = _named_twist(passage, passage.from_origin(slope), f"q_{j}", b)
        a_q = a.cross(s) + (v * two).cross(w) + alpha.cross(t) + omega.cross(omega.cross(t))
        rate = passage.from_origin(Twist(alpha.cross(s) + omega.cross(w), a_q))
        rate = _named_rate(passage, rate, j, b)
    a_qd = velocity.link.omega.cross(by_qd.v) * two
    a_q = rate.v + by_q.omega.cross(velocity.link.v * two)
    return MotionDerivative(by_qd, by_q, rate, a_qd, a_q)


def _named_twist(passage: Passage[S], twist: Twist[S], by: str, b: ProgramBuilder[S]) -> Twist[S]:
    j = passage.at.joint.number
    omega = let_derivative(b, f"omega_{j}", twist.omega, by, "dNE-3")
    return Twist(omega, let_derivative(b, f"v_G_{j}", twist.v, by, "dNE-31"))


def _named_rate(passage: Passage[S], twist: Twist[S], i: int, b: ProgramBuilder[S]) -> Twist[S]:
    j = passage.at.joint.number
    with b.variant(f"_dq_{i}_dt"):
        omega = b.let(f"dd_omega_{j}", twist.omega, "ddNE-3")
        return Twist(omega, b.let(f"dd_v_G_{j}", twist.v, "ddNE-31"))


def d_reaction_step(
    passage: Passage[S],
    i: int,
    slope: MotionDerivative[S],
    maps: LinkMaps[S],
    children: Sequence[tuple[Passage[S], ReactionDerivative[S]]],
    b: ProgramBuilder[S],
) -> ReactionDerivative[S]:
    """dNE-11 to dNE-15"""
    V, V1, two = slope.by_qd, slope.by_q, b.algebra.constant(2.0)
    by_q = maps.inertia_effort(slope.a_q, slope.rate.omega, V1.omega)
    by_qd = maps.inertia_effort(slope.a_qd, V1.omega * two, V.omega)
    by_qdd = maps.inertia_effort(V.v, V.omega, None)
    with b.step("backward derivatives", passage.at.joint.name):
        d_load = maps.load_effort(V.omega)
        below_q = [(child, d.by_q) for child, d in children]
        below_qd = [(child, d.by_qd) for child, d in children]
        below_qdd = [(child, d.by_qdd) for child, d in children]
        return ReactionDerivative(
            _summed(passage, by_q, d_load, below_q, f"q_{i}", b),
            _summed(passage, by_qd, None, below_qd, f"qd_{i}", b),
            _summed(passage, by_qdd, None, below_qdd, f"qdd_{i}", b),
        )


def _summed(
    passage: Passage[S],
    inertia: Effort[S],
    d_load: Effort[S] | None,
    children: Sequence[tuple[Passage[S], Effort[S]]],
    by: str,
    b: ProgramBuilder[S],
) -> Effort[S]:
    """dNE-14, dNE-15: with respect to one symbol."""
    j = passage.at.joint.number
    f = let_derivative(b, f"F_G_{j}", inertia.f, by, "dNE-11")
    n = let_derivative(b, f"n_G_{j}", inertia.n, by, "dNE-12")
    if d_load is not None:
        f, n = f - d_load.f, n - d_load.n
    for child, effort in children:
        name = f"f_{j}_from_{child.at.joint.number}"
        f_c = let_derivative(b, name, child.force_back(effort), by, "dNE-14")
        f, n = f + f_c, n + child.moment_back(effort, f_c)
    f = let_derivative(b, f"f_{j}", f, by, "dNE-14")
    return Effort(f, let_derivative(b, f"n_at_G_{j}", n, by, "dNE-15"))


def d_torque_step(link: LinkDerivatives[S], i: int, b: ProgramBuilder[S]) -> tuple[S, S, S]:
    """dNE-16 for joint j by q_i, qd_i and qdd_i."""
    passage, slope = link.passage, link.d_reaction[i]
    name, V = f"tau_{passage.at.joint.number}", passage.own_in_joint_axes
    with b.step("torque derivatives", passage.at.joint.name):
        q, qd, qdd = (
            let_derivative(b, name, power(V, passage.in_joint_axes(effort)), f"{by}_{i}", "dNE-16")
            for by, effort in (("q", slope.by_q), ("qd", slope.by_qd), ("qdd", slope.by_qdd))
        )
    return q, qd, qdd


def d_torque_beyond_step(link: LinkDerivatives[S], i: int, b: ProgramBuilder[S]) -> tuple[S, S]:
    """dNE-16 for joint i by q_j and qd_j of a joint j that it carries."""
    j, V = link.passage.at.joint.number, link.d_motion[i].by_qd
    by_qd = link.d_reaction[j].by_qd
    with b.step("torque derivatives", link.passage.at.joint.name):
        return (
            let_derivative(b, f"tau_{i}", power(V, link.change), f"q_{j}", "dNE-16"),
            let_derivative(b, f"tau_{i}", power(V, by_qd), f"qd_{j}", "dNE-16"),
        )
