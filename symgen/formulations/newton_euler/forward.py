"""Accelerations from torques: the recursion gives M and the bias, and M is factorised.

M comes column by column from unit accelerations (Walker, Orin 1982, method 1), the bias from the
recursion at the accelerations that are given; `elimination` solves for the others.  All joints are
free in forward dynamics, in hybrid dynamics those whose motion is not prescribed.

Notation beyond that of `recursion.py` and of `elimination`; f is a free joint, p a prescribed one

=========  ==============  ========================================================================
paper      code            meaning
=========  ==============  ========================================================================
H          M_i_j           entries of the mass matrix, with the rotors; i not less than j
b          bias_j          torques with all joints at their given accelerations, the free ones at 0
--         qdd_f, tau_f    acceleration sought, torque given
--         qdd_p, tau_p    acceleration given, torque sought: y_p
=========  ==============  ========================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.formulations.elimination import Elimination, eliminate
from symgen.formulations.interface import State
from symgen.formulations.joint_terms import with_joint_terms
from symgen.formulations.newton_euler.dynamics import mass_entries, rigid_mass_entries
from symgen.formulations.newton_euler.recursion import JointFrame, frames_sweep, torques
from symgen.formulations.shared import all_joints, free_joints, write_pivots
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "NE-36": "tau_p = bias_p + sum_f M_pf qdd_f: torque of a prescribed joint; the accelerations "
    "of the free ones solve sum_f M_gf qdd_f = tau_g - bias_g -- Walker, Orin 1982, method 1",
    "NE-38": "bias_j: torque of joint j where the free joints have qdd = 0 -- Walker, Orin 1982, "
    "method 1",
}

Entries = Mapping[tuple[int, int], S]
"""Entries of a matrix by pair of joints; what is left out is 0."""


@dataclass(frozen=True)
class Solution(Generic[S]):
    """Accelerations of all joints, and what they came from.

    `mass` has the rotors in it; of its two triangles both are there.  `y` holds for every joint
    what was not given: its acceleration, or its torque where it is prescribed.
    """

    factors: Elimination[S]
    mass: Entries[S]
    qdd: tuple[S, ...]
    y: tuple[S, ...]

    @property
    def free(self) -> tuple[int, ...]:
        """Numbers of the free joints."""
        return self.factors.numbers


def forward_dynamics(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """qdd, (n,), all joints being free."""
    _write(tree, b, state, "qdd", all_joints(tree))


def hybrid_dynamics(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """y, (n,): torques of the prescribed joints, accelerations of the free ones."""
    _write(tree, b, state, "y", free_joints(tree))


def _write(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
    result: str,
    free: Sequence[int],
) -> None:
    solution = solved(tree, frames_sweep(tree, b, state.q), b, state, free)
    b.output(result, (tree.n,), solution.y)
    write_pivots_of(solution, b)


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


def solution_of(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
    bias: Sequence[S],
    mass: Entries[S],
    free: Sequence[int],
) -> Solution[S]:
    """NE-36: the free joints' accelerations, then the prescribed joints' torques."""
    factors = eliminate(tree, b, mass, free)
    found = factors.solve(b, {f: state.tau[f - 1] - bias[f - 1] for f in free}, "qdd")
    qdd, y = list(state.qdd), list(bias)
    for joint in tree.joints:
        j = joint.number
        if j in free:
            qdd[j - 1] = y[j - 1] = found.get(j, b.algebra.zero)
    for joint in tree.joints:
        j = joint.number
        if j not in free:
            with b.step("torque", joint.name):
                y[j - 1] = b.let(f"y_{j}", bias[j - 1] + carried_over(mass, j, found, b), "NE-36")
    return Solution(factors, mass, tuple(qdd), tuple(y))


def carried_over(mass: Entries[S], j: int, x: Mapping[int, S], b: ProgramBuilder[S]) -> S:
    """sum_f M_jf x_f"""
    value = b.algebra.zero
    for f, entry in x.items():
        if (j, f) in mass:
            value = value + mass[j, f] * entry
    return value


def write_pivots_of(solution: Solution[S], b: ProgramBuilder[S]) -> None:
    """The hidden outputs, one entry per free joint."""
    pivots, mass = solution.factors.pivots, solution.mass
    write_pivots(b, [pivots[f] for f in solution.free], [mass[f, f] for f in solution.free])
