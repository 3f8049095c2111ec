"""The force and moment that every joint transmits, and their derivatives (Barman 2020).

They are the reactions of `recursion.py`, exerted by the parent on the link, with the moment about
the point o_j that the model format calls the joint's origin; in the axes of link frame j.  The
drive's own terms (rotor, damping, friction, spring) act within the joint and are no part of them.

Notation beyond that of `recursion.py` and `derivatives.py`

===========  ======================  ============================================================
paper        code                    meaning
===========  ======================  ============================================================
--           o_j                     joint origin -> point of the moment, link axes; 0 for a
                                     standard row, dx_j otherwise
tau_jp       n_o_j                   moment that the joint transmits, about that point
--           arm                     that point -> G_j, rho - o_j
===========  ======================  ============================================================

The wrench in joint j depends on all joints on one path with it: on those that carry its link by
the derivatives of the recursion, on a joint k beyond it by the change of the wrench in joint k,
carried back from link to link.
"""

from __future__ import annotations

from collections.abc import Sequence

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector
from symgen.formulations.newton_euler.derivatives import LinkDerivatives, recursion_derivatives
from symgen.formulations.newton_euler.passages import Effort, Passage
from symgen.formulations.newton_euler.recursion import (
    JointFrame,
    Reaction,
    frames_sweep,
    load_sweep,
    motion_sweep,
    reaction_sweep,
)
from symgen.formulations.shared import let_derivative, write_columns, write_matrix
from symgen.formulations.state import State
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "NE-33": "n_o_j = n_j - o_j x f_j",
    "dNE-33": "d n_o_j = d n_at_G_j + arm x d f_j, by q_j also + d arm/dq_j x f_j",
}

Efforts = dict[int, tuple[Effort[S], Effort[S], Effort[S]]]
"""joint on one path with a link -> derivatives by its q, qd and qdd of what the link's joint
transmits, moment about the link's centre, link axes"""


def joint_wrenches(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """[f n_o] of every joint, (n, 6)."""
    frames = frames_sweep(tree, b, state.q)
    motions = motion_sweep(frames, b, state.qd, state.qdd, -tree.gravity)
    loads = load_sweep(tree, frames, b, state.loads)
    reactions = reaction_sweep(frames, motions, loads, b)
    rows = [wrench_step(at, state.q, reactions[at.joint.number], b) for at in frames]
    write_matrix(b, "joint_wrenches", rows, 6)


def joint_wrench_derivatives(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """[f n_o] of every joint, (n, 6), and its derivatives by q, qd and qdd, (n, 6, n) each."""
    links = recursion_derivatives(tree, b, state)
    rows = [wrench_step(link.passage.at, state.q, link.reaction, b) for link in links.values()]
    write_matrix(b, "joint_wrenches", rows, 6)
    efforts = d_effort_sweep(links, b)
    columns = [
        {k: d_wrench_step(link, k, by, state.q, b) for k, by in efforts[j].items()}
        for j, link in links.items()
    ]
    for place, by in enumerate(("q", "qd", "qdd")):
        blocks = [{k: d_wrench[place] for k, d_wrench in block.items()} for block in columns]
        write_columns(tree, b, f"dw_d{by}", blocks, 6)


# -- one joint, or one pair of joints ----------------------------------------------------------


def wrench_step(
    at: JointFrame[S], q: Sequence[S], reaction: Reaction[S], b: ProgramBuilder[S]
) -> tuple[S, ...]:
    """NE-33"""
    joint = at.joint
    o = joint.wrench_origin(q[joint.number - 1], b.algebra)
    with b.step("wrenches", joint.name):
        n_o = b.let(f"n_o_{joint.number}", reaction.n - o.cross(reaction.f), "NE-33")
    return (*reaction.f, *n_o)


def d_wrench_step(
    link: LinkDerivatives[S],
    k: int,
    efforts: tuple[Effort[S], Effort[S], Effort[S]],
    q: Sequence[S],
    b: ProgramBuilder[S],
) -> tuple[tuple[S, ...], ...]:
    """dNE-33: the columns of q_k, qd_k and qdd_k."""
    passage, joint, algebra = link.passage, link.passage.at.joint, b.algebra
    j = joint.number
    arm = passage.rho - joint.wrench_origin(q[j - 1], algebra)
    columns: list[tuple[S, ...]] = []
    with b.step("wrench derivatives", joint.name):
        for by, effort in zip(("q", "qd", "qdd"), efforts, strict=True):
            n_o = effort.n + arm.cross(effort.f)
            if k == j and by == "q":
                n_o = n_o + _arm_velocity(passage, b).cross(link.reaction.f)
            n_o = let_derivative(b, f"n_o_{j}", n_o, f"{by}_{k}", "dNE-33")
            columns.append((*effort.f, *n_o))
    return tuple(columns)


def _arm_velocity(passage: Passage[S], b: ProgramBuilder[S]) -> Vector[S]:
    """Derivative of `arm` with respect to the joint's own coordinate, link axes."""
    return passage.at.t - passage.at.joint.wrench_origin_velocity(b.algebra)


def d_effort_sweep(
    links: dict[int, LinkDerivatives[S]], b: ProgramBuilder[S]
) -> dict[int, Efforts[S]]:
    """Derivatives of what every joint transmits, by all joints on one path with it."""
    efforts: dict[int, Efforts[S]] = {
        j: {i: (d.by_q, d.by_qd, d.by_qdd) for i, d in link.d_reaction.items()}
        for j, link in links.items()
    }
    for j in reversed(links):
        passage, own = links[j].passage, links[j].d_reaction[j]
        p = passage.at.joint.parent
        if p == BASE:
            continue
        felt = {j: (links[j].change, own.by_qd, own.by_qdd)}
        beyond = {k: by for k, by in efforts[j].items() if k not in links[j].d_reaction}
        for k, by in {**felt, **beyond}.items():
            efforts[p][k] = d_effort_back_step(passage, k, by, b)
    return efforts


def d_effort_back_step(
    passage: Passage[S],
    k: int,
    efforts: tuple[Effort[S], Effort[S], Effort[S]],
    b: ProgramBuilder[S],
) -> tuple[Effort[S], Effort[S], Effort[S]]:
    """dNE-14, dNE-32 for the parent p of joint j, with respect to a joint k beyond p."""
    joint = passage.at.joint
    with b.step("backward derivatives", joint.name):

        def back(effort: Effort[S], by: str) -> Effort[S]:
            f = let_derivative(b, f"f_{joint.parent}", passage.force_back(effort), by, "dNE-14")
            n = passage.moment_back(effort, f)
            return Effort(f, let_derivative(b, f"n_at_G_{joint.parent}", n, by, "dNE-32"))

        by_q, by_qd, by_qdd = efforts
        return back(by_q, f"q_{k}"), back(by_qd, f"qd_{k}"), back(by_qdd, f"qdd_{k}")
