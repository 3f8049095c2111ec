"""Accelerations from torques: the recursion gives M and the bias, and M is factorised.

M comes column by column from unit accelerations (Walker, Orin 1982, method 1), the bias from the
recursion at the accelerations that are given.  All joints are free in forward dynamics, in hybrid
dynamics those whose motion is not prescribed.

Notation: see `recursion.py`, `accelerations` and `elimination`.
"""

from __future__ import annotations

from collections.abc import Sequence

from symgen.algebra.interface import S
from symgen.formulations.accelerations import Solution, solution_of, write_solution
from symgen.formulations.joint_terms import with_joint_terms
from symgen.formulations.newton_euler.dynamics import mass_entries, rigid_mass_entries
from symgen.formulations.newton_euler.recursion import JointFrame, frames_sweep, torques
from symgen.formulations.shared import all_joints, free_joints
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "NE-38": "bias_j: torque of joint j where the free joints have qdd = 0 -- Walker, Orin 1982, "
    "method 1",
}


def forward_dynamics(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """qdd, (n,), all joints being free."""
    frames = frames_sweep(tree, b, state.q)
    write_solution(tree, b, solved(tree, frames, b, state, all_joints(tree)), "qdd")


def hybrid_dynamics(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """y, (n,): torques of the prescribed joints, accelerations of the free ones."""
    frames = frames_sweep(tree, b, state.q)
    write_solution(tree, b, solved(tree, frames, b, state, free_joints(tree)), "y")


def solved(
    tree: KinematicTree[S],
    frames: Sequence[JointFrame[S]],
    b: ProgramBuilder[S],
    state: State[S],
    free: Sequence[int],
    suffix: str = "",
) -> Solution[S]:
    """Accelerations by unit accelerations and the bias; `suffix` is in the names of the latter."""
    with b.variant(suffix, "bias"):
        rigid = torques(tree, frames, b, state, -tree.gravity)
        bias = with_joint_terms(tree, b, state, rigid)
    with b.step("bias"):
        b.rename({f"bias_{j}": x for j, x in enumerate(bias, start=1)}, "NE-38")
    mass = mass_entries(tree, b, rigid_mass_entries(tree, frames, b, free))
    return solution_of(tree, b, state, bias, mass, free)
