"""Joint torques and what follows from them, by the recursion of `recursion.py`.

Joint wrenches are the reactions of `recursion.py` (Barman 2020), exerted by the parent on the link,
in the axes of link frame j, with the moment about o_j, the joint's origin of the model format.
Rotor, damping, friction and spring act within the joint and have no part in them.

Notation, added to that of `recursion.py` and `accelerations`

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
from symgen.algebra.linear import zero_vector
from symgen.formulations.newton_euler.recursion import (
    JointFrame,
    Reaction,
    frames_sweep,
    load_sweep,
    motion_sweep,
    reaction_sweep,
    torques,
)
from symgen.formulations.shared import flat
from symgen.formulations.state import State
from symgen.formulations.torques import Run
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder, Results

NOTES = {
    "NE-33": "n_o_j = n_j - o_j x f_j",
}


def rigid(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Run:
    """See `symgen.formulations.torques.Rigid`."""
    frames, still = frames_sweep(tree, b, state.q), zero_vector(b.algebra)
    return lambda at, gravity: torques(tree, frames, b, at, -tree.gravity if gravity else still)


def joint_wrenches(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """[f n_o] of every joint, (n, 6)."""
    frames = frames_sweep(tree, b, state.q)
    motions = motion_sweep(frames, b, state.qd, state.qdd, -tree.gravity)
    loads = load_sweep(tree, frames, b, state.loads)
    reactions = reaction_sweep(frames, motions, loads, b)
    rows = [wrench_step(at, state.q, reactions[at.joint.number], b) for at in frames]
    return {"joint_wrenches": flat(rows)}


def wrench_step(
    at: JointFrame[S], q: Sequence[S], reaction: Reaction[S], b: ProgramBuilder[S]
) -> tuple[S, ...]:
    """Write the wrench about the joint origin: NE-33."""
    joint = at.joint
    o = joint.wrench_origin(q[joint.number - 1], b.algebra)
    with b.step("wrenches", joint.name):
        n_o = b.let(f"n_o_{joint.number}", reaction.n - o.cross(reaction.f), "NE-33")
    return (*reaction.f, *n_o)
