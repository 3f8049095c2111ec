"""Derivatives of the joint torques, by direct differentiation of the recursion (Barman 2020).

The backward half goes line by line with `recursion.py`: the same joints in the same order,
functions with ``d_`` in front, one derivative for every line.  The forward half is a rearrangement:
moments and velocities refer to the centre of mass G_j, and derivatives of accelerations are made of
three fields of velocities (`velocity_fields.py`) instead of one line each.  ``dNE-14`` is always
the derivative of ``NE-14``; the bridge from the lines of the recursion is

=================  =============================  =============================================
line               its derivative                 how it is found
=================  =============================  =============================================
NE-2, NE-3         dNE-3    d omega_j             line by line
NE-4, NE-5         ddNE-3   dd omega_j/dq_i dt    d alpha_j is put together from it, no line
NE-6, NE-7, NE-8   dNE-31   d v_G_j               d a_G_j is put together from both, no line
--                 ddNE-31  dd v_G_j/dq_i dt
NE-11              dNE-11   d F_G_j               line by line
NE-10, NE-12       dNE-12   d n_G_j               line by line, through the map N_j
NE-9, NE-13        dNE-13   d f_e, d n_e          line by line, through the map N_e_j
NE-14              dNE-14   d f_j                 line by line
NE-15              dNE-32   d n_at_G_j            the moment of NE-15 about G_j: NE-32
NE-16              dNE-16   d tau_j               for a joint beyond j by the change NE-34
=================  =============================  =============================================

`motion_derivatives.py` has the sensitivities of NE-3 to NE-7 one by one, as the thesis lists them.
Only joints on one path have anything to do with each other: i runs over the joints from the base to
link j, itself included.

Notation beyond that of `recursion.py` and `passages.py`

=======================  =====================  ==================================================
paper                    code                   meaning
=======================  =====================  ==================================================
(.)_{j,i}                d_(.)_dq_i             derivative with respect to q_i of the entries in
                                                link axes
(.)_{j,i'}, (.)_{j,i''}  d_(.)_dqd_i, .._dqdd_i with respect to qd_i, qdd_i
--                       V_i, V_i', V_i''       fields of velocities, see `velocity_fields.py`
--                       n_at_G_j               moment of f_j, n_j about G_j
--                       N_j, N_e_j             3x3, what turning does, see `link_maps.py`
--                       D_f_j, D_n_at_G_j      derivatives with respect to q_j, axes held
=======================  =====================  ==================================================

Force and moment of inertia of a link are linear in these fields, with coefficients that belong to
the link alone (`link_maps.py`).  No derivative of a rotation matrix is ever written.

Joint j feels what a joint k beyond it does only through the change of the wrench in joint k: its
torque changes by the power of that change on V_j at link k.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.formulations.joint_terms import with_drive_derivatives, with_joint_terms
from symgen.formulations.newton_euler.link_maps import LinkMaps, link_maps
from symgen.formulations.newton_euler.passages import (
    Effort,
    Passage,
    center_velocity_sweep,
    passage_sweep,
    power,
)
from symgen.formulations.newton_euler.recursion import (
    Children,
    JointFrame,
    LoadForces,
    Motion,
    Reaction,
    Twist,
    frames_sweep,
    leaves_first,
    load_sweep,
    motion_sweep,
    reaction_sweep,
    torque_step,
)
from symgen.formulations.newton_euler.velocity_fields import (
    Fields,
    MotionDerivative,
    d_motion_sweep,
)
from symgen.formulations.shared import let_derivative, square, write_matrix
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

# dNE-3 stands in `partial_velocities.py`, the other forward derivatives in `velocity_fields.py`
NOTES = {
    "NE-32": "n_at_G_j = n_j - rho x f_j",
    "dNE-11": "d F_G_j = m_j d a_G_j: by q_i m_j (dd v_G_j/dq_i dt + 2 d omega_j/dq_i x v_G_j), "
    "by qd_i 2 m_j (d v_G_j/dq_i + d omega_j/dqd_i x v_G_j), by qdd_i m_j d v_G_j/dqd_i "
    "-- Barman 2020 (3.57), (3.58), (3.60), (3.61), (3.68)",
    "dNE-12": "d n_G_j = I_j dd omega_j/dq_i dt + N_j d omega_j/dq_i by q_i, "
    "2 I_j d omega_j/dq_i + N_j d omega_j/dqd_i by qd_i, I_j d omega_j/dqd_i by qdd_i; "
    "N_j x = omega_j x I_j x + x x H_j - I_j (omega_j x x) = 2 omega_j x (I_j - tr(I_j)/2) x "
    "-- Barman 2020 (3.65), (3.66), (3.70), (3.71)",
    "dNE-13": "the loads turn against link j: d f_e/dq_i = f_e x d omega_j/dqd_i, d n_e alike; "
    "N_e_j x = sum n_e x x + r x (f_e x x), r the point of the load in G_j "
    "-- Barman 2020 (3.77), (3.85), (3.89)",
    "dNE-14": "d f_j = d F_G_j - sum d f_e + sum_c R_c d f_c -- Barman 2020 (3.73), (3.75), (3.79)",
    "dNE-32": "d n_at_G_j = d n_G_j - N_e_j d omega_j/dqd_i + sum_c (d n_at_G_c carried to G_j) "
    "-- Barman 2020 (3.81), (3.83), (3.85), (3.87), (3.89), (3.91)",
    "dNE-16": "d tau_j = power of d f_j, d n_at_G_j on the motion per unit of qd_j; for a joint k "
    "beyond j that of D f_k, D n_at_G_k (by q_k) or d f_k/dqd_k, d n_at_G_k/dqd_k on "
    "d(omega_k, v_G_k)/dqd_j -- Barman 2020 (3.93), (3.95)",
    "NE-34": "D f_k = d f_k/dq_k + s x f_k, D n_at_G_k = d n_at_G_k/dq_k + s x n_at_G_k "
    "+ (s x rho + t) x f_k: the parent of k sees its axes turn "
    "-- Barman 2020 (3.73), (3.81) for i = j + 1",
}


Below = Sequence[tuple[Passage[S], Effort[S]]]
"""The joints on a link, with the derivative of what each exerts."""

Slopes = dict[tuple[int, int], S]
"""(j, i) -> derivative of tau_j with respect to joint i; what is left out is 0"""


@dataclass(frozen=True)
class ReactionDerivative(Generic[S]):
    """Derivatives of what the parent exerts on a link, moments about its centre, link axes."""

    by_q: Effort[S]
    by_qd: Effort[S]
    by_qdd: Effort[S]


@dataclass(frozen=True)
class LinkDerivatives(Generic[S]):
    """All about link j: derivatives by the number of the joint i, and the change of NE-34."""

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
    by_q, by_qd, by_qdd = (square(tree, slopes) for slopes in d_torque_sweep(links, b))
    matrices = with_drive_derivatives(tree, b, state, (by_q, by_qd, by_qdd))
    for by, matrix in zip(("q", "qd", "qdd"), matrices, strict=True):
        write_matrix(b, f"dtau_d{by}", matrix, tree.n)


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
    velocities = center_velocity_sweep(passages, motions, b, state.qd)
    d_motions = d_motion_sweep(passages, motions, velocities, b)
    d_reactions = d_reaction_sweep(passages, motions, d_motions, loads, b)
    links: dict[int, LinkDerivatives[S]] = {}
    for passage in passages:
        j = passage.at.joint.number
        change = change_step(passage, reactions[j], d_reactions[j][j].by_q, b)
        links[j] = LinkDerivatives(passage, reactions[j], d_motions[j], d_reactions[j], change)
    return links


def d_reaction_sweep(
    passages: Sequence[Passage[S]],
    motions: Mapping[int, Motion[S]],
    d_motions: Mapping[int, Mapping[int, MotionDerivative[S]]],
    loads: Mapping[int, LoadForces[S]],
    b: ProgramBuilder[S],
) -> dict[int, dict[int, ReactionDerivative[S]]]:
    """How every reaction changes with the joints that carry its link, leaves first."""
    over = {passage.at.joint.number: passage for passage in passages}

    def step(
        at: JointFrame[S], children: Children[S, dict[int, ReactionDerivative[S]]]
    ) -> dict[int, ReactionDerivative[S]]:
        j = at.joint.number
        maps = link_maps(over[j], motions[j].omega, loads.get(j), b)
        mine = [(over[child.joint.number], d) for child, d in children]
        return {
            i: d_reaction_step(over[j], i, slope, maps, [(c, d[i]) for c, d in mine], b)
            for i, slope in d_motions[j].items()
        }

    d_reactions, _ = leaves_first([passage.at for passage in passages], step)
    return d_reactions


def d_torque_sweep(
    links: Mapping[int, LinkDerivatives[S]], b: ProgramBuilder[S]
) -> tuple[Slopes[S], Slopes[S], Slopes[S]]:
    """dNE-16: the rigid bodies' part of dtau_dq, dtau_dqd and dtau_dqdd."""
    by_q: Slopes[S] = {}
    by_qd: Slopes[S] = {}
    by_qdd: Slopes[S] = {}
    for j, link in links.items():
        for i in link.d_motion:
            by_q[j, i], by_qd[j, i], by_qdd[j, i] = d_torque_step(link, i, b)
            if i != j:
                by_q[i, j], by_qd[i, j] = d_torque_beyond_step(link, i, b)
                by_qdd[i, j] = by_qdd[j, i]  # the mass matrix is symmetric
    return by_q, by_qd, by_qdd


# -- steps, one link each ----------------------------------------------------------------------


def change_step(
    passage: Passage[S], reaction: Reaction[S], by_q: Effort[S], b: ProgramBuilder[S]
) -> Effort[S]:
    """NE-32 and NE-34: how the wrench in joint j changes with q_j, as the parent feels it."""
    j, V = passage.at.joint.number, passage.own
    with b.step("backward derivatives", passage.at.joint.name):
        n = b.let(f"n_at_G_{j}", reaction.n - passage.rho.cross(reaction.f), "NE-32")
        f_turned = by_q.f + V.omega.cross(reaction.f)
        n_turned = by_q.n + V.omega.cross(n) + V.v.cross(reaction.f)
        f_turned = b.let(f"D_f_{j}", f_turned, "NE-34")
        return Effort(f_turned, b.let(f"D_n_at_G_{j}", n_turned, "NE-34"))


# -- steps, one pair of joints each: i carries link j ------------------------------------------


def d_reaction_step(
    passage: Passage[S],
    i: int,
    slope: MotionDerivative[S],
    maps: LinkMaps[S],
    children: Sequence[tuple[Passage[S], ReactionDerivative[S]]],
    b: ProgramBuilder[S],
) -> ReactionDerivative[S]:
    """dNE-11 to dNE-14 and dNE-32"""
    below_q = [(child, d.by_q) for child, d in children]
    below_qd = [(child, d.by_qd) for child, d in children]
    below_qdd = [(child, d.by_qdd) for child, d in children]
    return ReactionDerivative(
        effort_by_q(passage, i, slope, maps, below_q, b),
        effort_by_qd(passage, i, slope, maps, below_qd, b),
        effort_by_qdd(passage, i, slope, maps, below_qdd, b),
    )


def effort_by_q(
    passage: Passage[S], i: int, slope: MotionDerivative[S], maps: LinkMaps[S],
    below: Below[S], b: ProgramBuilder[S],
) -> Effort[S]:  # fmt: skip
    """dNE-11 to dNE-14 and dNE-32 with respect to q_i."""
    inertia = maps.inertia_effort(slope.a_q, slope.rate.omega, slope.by_q.omega)
    with b.step("backward derivatives", passage.at.joint.name):
        d_load = maps.load_effort(slope.by_qd.omega)
        return _summed(passage, inertia, d_load, below, f"q_{i}", b)


def effort_by_qd(
    passage: Passage[S], i: int, slope: Fields[S], maps: LinkMaps[S],
    below: Below[S], b: ProgramBuilder[S],
) -> Effort[S]:  # fmt: skip
    """The same with respect to qd_i."""
    twice = slope.by_q.omega * b.algebra.constant(2.0)
    inertia = maps.inertia_effort(slope.a_qd, twice, slope.by_qd.omega)
    with b.step("backward derivatives", passage.at.joint.name):
        return _summed(passage, inertia, None, below, f"qd_{i}", b)


def effort_by_qdd(
    passage: Passage[S], i: int, slope: Fields[S], maps: LinkMaps[S],
    below: Below[S], b: ProgramBuilder[S],
) -> Effort[S]:  # fmt: skip
    """The same with respect to qdd_i."""
    inertia = maps.inertia_effort(slope.by_qd.v, slope.by_qd.omega, None)
    with b.step("backward derivatives", passage.at.joint.name):
        return _summed(passage, inertia, None, below, f"qdd_{i}", b)


def _summed(
    passage: Passage[S],
    inertia: Effort[S],
    d_load: Effort[S] | None,
    children: Below[S],
    by: str,
    b: ProgramBuilder[S],
) -> Effort[S]:
    """dNE-14, dNE-32: with respect to one symbol."""
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
    return Effort(f, let_derivative(b, f"n_at_G_{j}", n, by, "dNE-32"))


def d_torque_step(link: LinkDerivatives[S], i: int, b: ProgramBuilder[S]) -> tuple[S, S, S]:
    """dNE-16 for joint j by q_i, qd_i and qdd_i."""
    passage, slope = link.passage, link.d_reaction[i]
    return (
        d_torque(passage, slope.by_q, f"q_{i}", b),
        d_torque(passage, slope.by_qd, f"qd_{i}", b),
        d_torque(passage, slope.by_qdd, f"qdd_{i}", b),
    )


def d_torque(passage: Passage[S], effort: Effort[S], by: str, b: ProgramBuilder[S]) -> S:
    """dNE-16 for joint j, from the derivative of what its parent exerts."""
    j, V = passage.at.joint.number, passage.own_in_joint_axes
    with b.step("torque derivatives", passage.at.joint.name):
        value = power(V, passage.in_joint_axes(effort))
        return let_derivative(b, f"tau_{j}", value, by, "dNE-16")


def d_torque_beyond(
    passage: Passage[S], i: int, V: Twist[S], effort: Effort[S], by: str, b: ProgramBuilder[S]
) -> S:
    """dNE-16 for joint i, from the derivative that a joint beyond it feels; V is V_i there."""
    with b.step("torque derivatives", passage.at.joint.name):
        return let_derivative(b, f"tau_{i}", power(V, effort), by, "dNE-16")


def d_torque_beyond_step(link: LinkDerivatives[S], i: int, b: ProgramBuilder[S]) -> tuple[S, S]:
    """dNE-16 for joint i by q_j and qd_j of a joint j that it carries."""
    j, V = link.passage.at.joint.number, link.d_motion[i].by_qd
    by_qd = link.d_reaction[j].by_qd
    return (
        d_torque_beyond(link.passage, i, V, link.change, f"q_{j}", b),
        d_torque_beyond(link.passage, i, V, by_qd, f"qd_{j}", b),
    )
