"""Accelerations from torques: the recursion gives M and the bias, and M is factorised.

M comes column by column from unit accelerations (Walker, Orin 1982, method 1), the bias from the
recursion at the accelerations that are given.

Notation: see `recursion.py`, `accelerations` and `elimination`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from symgen.algebra.interface import S
from symgen.formulations import implicit
from symgen.formulations.accelerations import Solution, solution_of
from symgen.formulations.joint_terms import with_joint_terms
from symgen.formulations.newton_euler.dynamics import mass_entries, rigid_mass_entries
from symgen.formulations.newton_euler.recursion import frames_sweep, torques
from symgen.formulations.shared import all_joints

NOTES = {
    "NE-38": "bias_j: torque of joint j where the free joints have qdd = 0 -- Walker, Orin 1982, "
    "method 1",
}


class Equations(implicit.Equations[S]):
    """Accelerations by unit accelerations and the bias; torques by the recursion."""

    def solution(self, for_derivatives: bool = False) -> Solution[S]:
        """See `implicit.Equations`."""
        tree, b, state = self.tree, self.b, self.state
        frames = frames_sweep(tree, b, state.q)
        with b.variant("_bias", "bias"):
            rigid = torques(tree, frames, b, state, -tree.gravity)
            bias = with_joint_terms(tree, b, state, rigid)
        with b.step("bias"):
            b.rename({f"bias_{j}": x for j, x in enumerate(bias, start=1)}, "NE-38")
        columns = all_joints(tree) if for_derivatives else self.free
        mass = mass_entries(tree, b, rigid_mass_entries(tree, frames, b, columns))
        return solution_of(tree, b, state, bias, mass, self.free)

    def torques(self, qdd: Sequence[S]) -> Sequence[S]:
        """See `implicit.Equations`."""
        state = replace(self.state, qdd=tuple(qdd))
        frames = frames_sweep(self.tree, self.b, state.q)
        rigid = torques(self.tree, frames, self.b, state, -self.tree.gravity)
        return with_joint_terms(self.tree, self.b, state, rigid)


FUNCTIONS = implicit.functions(Equations)
