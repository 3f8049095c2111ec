"""Joint torques and what follows from them, by the recursion and its derivatives.

The mass matrix is the derivative of the torques with respect to the accelerations, and the
Coriolis matrix half of that with respect to the velocities.
"""

from __future__ import annotations

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector, trace_of_product
from symgen.formulations.joint_terms import (
    with_drive_derivatives,
    with_joint_terms,
    with_rotors,
)
from symgen.formulations.recursive_lagrange.derivatives import (
    Pair,
    d_inertia_by_qd,
    d_inertia_by_qdd,
    d_position_sweep,
    d_recursion,
    d_torque_by_rate_step,
    d_torque_step,
    d_velocity_sweep,
)
from symgen.formulations.recursive_lagrange.homogeneous import first_three
from symgen.formulations.recursive_lagrange.recursion import (
    frames_sweep,
    inertia_sweep,
    point_sweep,
    position_sweep,
    recursion,
    torques,
    velocity_sweep,
)
from symgen.formulations.shared import square, write_matrix
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "RL-10": "M_jk = tr(P dTD_j/dqdd_k) for k on the path to j, P = A_in_j Z_j -- Xiang 2009 (35)",
    "RL-11": "C_jk = tr(P dTD_j/dqd_k) / 2, for the velocity torques are quadratic in qd "
    "-- Xiang 2009 (34)",
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


def inverse_dynamics_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """tau, dtau_dq, dtau_dqd, dtau_dqdd: (n,) and 3 x (n, n)."""
    known = recursion(tree, b, state)
    rigid = torques(known, b)
    d = d_recursion(tree, known, b, state)
    by_q, by_qd, by_qdd = dict[Pair, S](), dict[Pair, S](), dict[Pair, S]()
    for at in known.frames:
        j = at.joint.number
        P = known.positions[j].A_in @ at.Z
        for k in range(1, tree.n + 1):
            if not tree.on_one_path(j, k):
                continue
            by_q[j, k] = d_torque_step(at, k, known, d, b)
            if (j, k) in d.TD_dqd:
                by_qd[j, k] = d_torque_by_rate_step(at, f"qd_{k}", P, d.TD_dqd[j, k], b)
            if (j, k) in d.TD_dqdd:
                entry = d_torque_by_rate_step(at, f"qdd_{k}", P, d.TD_dqdd[j, k], b)
                by_qdd[j, k] = by_qdd[k, j] = entry
    slopes = (square(tree, by_q), square(tree, by_qd), square(tree, by_qdd))
    slopes = with_drive_derivatives(tree, b, state, slopes)
    b.output("tau", (tree.n,), with_joint_terms(tree, b, state, rigid))
    for by, rows in zip(("q", "qd", "qdd"), slopes, strict=True):
        write_matrix(b, f"dtau_d{by}", rows, tree.n)


def mass_matrix(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """RL-10, (n, n)"""
    frames = frames_sweep(tree, b, state.q)
    positions = position_sweep(frames, b)
    d_positions = d_position_sweep(tree, frames, positions, b)
    dTD = d_inertia_by_qdd(tree, frames, inertia_sweep(frames, b), d_positions, b)
    entries: dict[Pair, S] = {}
    for at in frames:
        j = at.joint.number
        P = positions[j].A_in @ at.Z
        with b.step("mass matrix", at.joint.name):
            for k in tree.path(j):
                if (j, k) in dTD:
                    entry = b.let(f"M_{j}_{k}", trace_of_product(P, dTD[j, k]), "RL-10")
                    entries[j, k] = entries[k, j] = entry
    write_matrix(b, "mass_matrix", with_rotors(tree, square(tree, entries)), tree.n)


def coriolis_matrix(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """RL-11, (n, n)"""
    frames = frames_sweep(tree, b, state.q)
    positions = position_sweep(frames, b)
    d_positions = d_position_sweep(tree, frames, positions, b)
    velocities = velocity_sweep(frames, positions, b, state.qd)
    d_velocities = d_velocity_sweep(tree, frames, velocities, d_positions, b, state.qd)
    dTD = d_inertia_by_qd(tree, frames, inertia_sweep(frames, b), d_velocities, b)
    entries: dict[Pair, S] = {}
    half = b.algebra.constant(0.5)
    for at in frames:
        j = at.joint.number
        P = positions[j].A_in @ at.Z
        with b.step("coriolis", at.joint.name):
            for k in range(1, tree.n + 1):
                if (j, k) in dTD:
                    entry = b.let(f"C_{j}_{k}", trace_of_product(P, dTD[j, k]) * half, "RL-11")
                    entries[j, k] = entry
    write_matrix(b, "coriolis_matrix", square(tree, entries), tree.n)


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
