"""Joint torques and what follows from them, by the recursion of `recursion.py`.

Mass matrix: column k is the torque of qdd = e_k alone, at qd = 0 without gravity (Walker, Orin
1982, method 1).

Accelerations solve M qdd = tau - bias, the bias from the recursion at the given accelerations.

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

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from symgen.algebra.interface import S
from symgen.algebra.linear import zero_vector
from symgen.formulations import implicit
from symgen.formulations.accelerations import Solution, solution_of
from symgen.formulations.joint_terms import reflected_inertia, with_joint_terms
from symgen.formulations.newton_euler.recursion import (
    JointFrame,
    Reaction,
    frames_sweep,
    load_sweep,
    motion_sweep,
    reaction_sweep,
    torques,
)
from symgen.formulations.shared import all_joints, flat, square, wrenches
from symgen.formulations.state import State
from symgen.formulations.torques import Run
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder, Results

NOTES = {
    "NE-35": "M_ij = d tau_i / d qdd_j: the torque of joint i for the acceleration 1 of joint j "
    "alone; M_jj with the rotor: + G^2 I_r -- Walker, Orin 1982, method 1",
    "NE-38": "bias_j: torque of joint j where the free joints have qdd = 0 -- Walker, Orin 1982, "
    "method 1",
    "NE-33": "n_o_j = n_j - o_j x f_j",
}


def rigid(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Run:
    """See `symgen.formulations.torques.Rigid`."""
    frames, still = frames_sweep(tree, b, state.q), zero_vector(b.algebra)
    return lambda at, gravity: torques(tree, frames, b, at, -tree.gravity if gravity else still)


def mass_matrix(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Column by column; the part above the diagonal is computed, the part below copied."""
    frames = frames_sweep(tree, b, state.q)
    rigid = rigid_mass_entries(tree, frames, b, range(1, tree.n + 1))
    return {"mass_matrix": flat(square(tree, mass_entries(tree, b, rigid)))}


def rigid_mass_entries(
    tree: KinematicTree[S],
    frames: Sequence[JointFrame[S]],
    b: ProgramBuilder[S],
    columns: Collection[int],
) -> dict[tuple[int, int], S]:
    """Entries of M without rotors in these columns, and in the rows of the same numbers.

    Where both row and column are among them the part above the diagonal is computed.
    """
    zero, unity, numbers = b.algebra.zero, b.algebra.one, range(1, tree.n + 1)
    none, unloaded = (zero,) * tree.n, wrenches((zero,) * (6 * len(tree.loads)))
    entries: dict[tuple[int, int], S] = {}
    for k in columns:
        moved = [at for at in frames if tree.on_one_path(at.joint.number, k)]
        unit = State(none, none, tuple(unity if i == k else zero for i in numbers), unloaded)
        with b.variant(f"_column_{k}", f"mass matrix, column {k}"):
            tau = torques(tree, moved, b, unit, zero_vector(b.algebra))
        column = {at.joint.number: torque for at, torque in zip(moved, tau, strict=True)}
        for i in numbers:
            if i <= k or i not in columns:
                entries[i, k] = entries[k, i] = column.get(i, zero)
    return entries


def mass_entries(
    tree: KinematicTree[S], b: ProgramBuilder[S], rigid: Mapping[tuple[int, int], S]
) -> dict[tuple[int, int], S]:
    """NE-35: the entries of M under their names, both triangles, from those of the rigid bodies."""
    entries = dict(rigid)
    for joint in tree.joints:
        j = joint.number
        columns = [i for i in tree.path(j) if (j, i) in rigid]
        row = {f"M_{j}_{i}": rigid[j, i] for i in columns}
        if j in columns:
            row[f"M_{j}_{j}"] = rigid[j, j] + reflected_inertia(joint)
        with b.step("mass matrix", joint.name):
            for i, entry in zip(columns, b.rename(row, "NE-35"), strict=True):
                entries[j, i] = entries[i, j] = entry
    return entries


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


SOLVING = implicit.functions(Equations)


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
