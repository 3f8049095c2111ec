"""Joint torques and what follows from them, by the recursion and derivatives of its lines.

The mass matrix is the derivative of the torques by the accelerations, and the Coriolis matrix half
of that by the velocities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector
from symgen.formulations.joint_terms import with_joint_terms, with_rotors
from symgen.formulations.recursive_lagrange.recursion import (
    first_three,
    frames_sweep,
    point_sweep,
    position_sweep,
    recursion,
    torques,
)
from symgen.formulations.shared import square, write_matrix
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder
from symgen.program.differentiation import differentiate
from symgen.program.program import Input

NOTES = {
    "RL-10": "M_jk = d tau_j/d qdd_k for k on the path to j, no joint terms -- Xiang 2009 (35)",
    "RL-11": "C_jk = (d tau_j/d qd_k) / 2, no joint terms, for the velocity torques are quadratic "
    "in qd -- Xiang 2009 (34)",
    "RL-12": "d tau_j / d f = -P TF_load_j, d tau_j / d h = -A_in_j z_j -- Xiang 2009 (16)",
}


def torque_function(
    result: str, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """The torques of `state`, (n,); at qdd = 0 they are the bias forces."""
    rigid = torques(recursion(tree, b, state), b)
    b.output(result, (tree.n,), with_joint_terms(tree, b, state, rigid))


def gravity_forces(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """The torques of gravity alone, (n,): those of the rigid bodies at rest."""
    b.output("gravity_forces", (tree.n,), torques(recursion(tree, b, state), b))


def mass_matrix(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """RL-10, (n, n): what stands below the diagonal is found, and mirrored."""
    names = [f"qdd_{j}" for j in range(1, tree.n + 1)]
    qdd = b.auxiliary("qdd", (tree.n,), names)
    rows = _torque_slopes(tree, b, replace(state, qdd=qdd.symbols), [qdd])
    entries: dict[tuple[int, int], S] = {}
    for joint in tree.joints:
        j = joint.number
        with b.step("mass matrix", joint.name):
            for k in tree.path(j):
                entry = b.let(f"M_{j}_{k}", rows[j - 1].get(k - 1, b.algebra.zero), "RL-10")
                entries[j, k] = entries[k, j] = entry
    write_matrix(b, "mass_matrix", with_rotors(tree, square(tree, entries)), tree.n)


def coriolis_matrix(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """RL-11, (n, n)"""
    motion = [b.declared("q"), b.declared("qd")]
    rows, half = _torque_slopes(tree, b, state, motion), b.algebra.constant(0.5)
    entries: dict[tuple[int, int], S] = {}
    for joint, row in zip(tree.joints, rows, strict=True):
        j = joint.number
        with b.step("coriolis", joint.name):
            for k in (k for k in range(1, tree.n + 1) if tree.n + k - 1 in row):
                slope = row[tree.n + k - 1]
                entries[j, k] = b.let(f"C_{j}_{k}", slope * half, "RL-11")
    write_matrix(b, "coriolis_matrix", square(tree, entries), tree.n)


def _torque_slopes(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], by: Sequence[Input[S]]
) -> list[dict[int, S]]:
    """The derivatives of the torques of the rigid bodies, line by line; one row per joint."""
    with b.variant("_by_" + by[-1].name, "torques"):  # the state of the function is another one
        rigid = torques(recursion(tree, b, state), b)
    slopes = differentiate(b, by)
    return [slopes.of(torque) for torque in rigid]


def load_derivatives(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """RL-12, (n, n_loads, 6)"""
    frames = frames_sweep(tree, b, state.q, {place.body for place in tree.loads})
    positions = position_sweep(frames, b)
    axes: dict[int, Vector[S]] = {}
    for at in frames:
        j = at.joint.number
        with b.step("axes", at.joint.name):
            axes[j] = b.let(f"z0_{j}", first_three(positions[j].A_in @ at.z), "RL-12")
    slopes: dict[tuple[int, int], tuple[S, ...]] = {}
    for number, place in enumerate(tree.loads):
        TF = point_sweep(place, frames, b)
        for at in frames:
            j = at.joint.number
            if j in TF:
                moved = first_three(positions[j].A_in @ at.Z @ TF[j])
                with b.step("loads", at.joint.name):
                    moved = b.let(f"J_{place.name}_{j}", moved, "RL-12")
                slopes[j, number] = (*-moved, *-axes[j])
    nothing = (b.algebra.zero,) * 6
    pairs = [(j, number) for j in range(1, tree.n + 1) for number in range(len(tree.loads))]
    entries = [entry for pair in pairs for entry in slopes.get(pair, nothing)]
    b.output("dtau_dloads", (tree.n, len(tree.loads), 6), entries)
