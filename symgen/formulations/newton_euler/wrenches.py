"""The force and moment that every joint transmits (Barman 2020).

They are the reactions of `recursion.py`, exerted by the parent on the link, with the moment about
the point o_j that the model format calls the joint's origin; in the axes of link frame j.  The
drive's own terms (rotor, damping, friction, spring) act within the joint and are no part of them.

Notation beyond that of `recursion.py`

===========  ======================  ============================================================
paper        code                    meaning
===========  ======================  ============================================================
--           o_j                     joint origin -> point of the moment, link axes; 0 for a
                                     standard row, dx_j otherwise
tau_jp       n_o_j                   moment that the joint transmits, about that point
===========  ======================  ============================================================
"""

from __future__ import annotations

from collections.abc import Sequence

from symgen.algebra.interface import S
from symgen.formulations.newton_euler.recursion import (
    JointFrame,
    Reaction,
    frames_sweep,
    load_sweep,
    motion_sweep,
    reaction_sweep,
)
from symgen.formulations.shared import write_matrix
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "NE-33": "n_o_j = n_j - o_j x f_j",
}


def joint_wrenches(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """[f n_o] of every joint, (n, 6)."""
    frames = frames_sweep(tree, b, state.q)
    motions = motion_sweep(frames, b, state.qd, state.qdd, -tree.gravity)
    loads = load_sweep(tree, frames, b, state.loads)
    reactions = reaction_sweep(frames, motions, loads, b)
    rows = [wrench_step(at, state.q, reactions[at.joint.number], b) for at in frames]
    write_matrix(b, "joint_wrenches", rows, 6)


def wrench_step(
    at: JointFrame[S], q: Sequence[S], reaction: Reaction[S], b: ProgramBuilder[S]
) -> tuple[S, ...]:
    """NE-33"""
    joint = at.joint
    o = joint.wrench_origin(q[joint.number - 1], b.algebra)
    with b.step("wrenches", joint.name):
        n_o = b.let(f"n_o_{joint.number}", reaction.n - o.cross(reaction.f), "NE-33")
    return (*reaction.f, *n_o)
