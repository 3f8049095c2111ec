"""Accelerations from torques: M of composite bodies, the bias of the recursion, M factorised.

All joints are free in forward dynamics, in hybrid dynamics those whose motion is not prescribed.
The elimination grows with the square of the depth of the tree and articulated bodies do not; for
arms and other trees of few joints on one path this takes fewer operations all the same, for M
without its own factorisation is that cheap.

Notation: see `recursion`, `mass_matrix`, `accelerations` and `elimination`.
"""

from __future__ import annotations

from collections.abc import Sequence

from symgen.algebra.interface import S
from symgen.formulations.accelerations import Solution, solution_of, write_solution
from symgen.formulations.composite.mass_matrix import mass_entries
from symgen.formulations.composite.passages import passage_sweep
from symgen.formulations.composite.recursion import torques
from symgen.formulations.joint_terms import with_joint_terms
from symgen.formulations.shared import all_joints, free_joints
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "CO-35": "bias_j: torque of joint j where the free joints have qdd = 0 -- Walker, Orin 1982",
}


def forward_dynamics(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """qdd, (n,), all joints being free."""
    write_solution(tree, b, solved(tree, b, state, all_joints(tree)), "qdd")


def hybrid_dynamics(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """y, (n,): torques of the prescribed joints, accelerations of the free ones."""
    write_solution(tree, b, solved(tree, b, state, free_joints(tree)), "y")


def solved(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], free: Sequence[int]
) -> Solution[S]:
    """Accelerations of the free joints, torques of the others."""
    passages = passage_sweep(tree, b, state.q)
    with b.variant("", "bias"):
        bias = with_joint_terms(tree, b, state, torques(tree, passages, b, state))
    with b.step("bias"):
        bias = b.rename({f"bias_{j}": x for j, x in enumerate(bias, start=1)}, "CO-35")
    mass = mass_entries(tree, passages, b, state)
    return solution_of(tree, b, state, bias, mass, free)
