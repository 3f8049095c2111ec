"""Poses, Jacobians and energies of the links, and the motion of points (Xiang 2009, 4.1, 4.3.1)."""

from __future__ import annotations

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector, skew_vector, total, trace_of_product
from symgen.formulations.joint_terms import rotor_energy, spring_energy
from symgen.formulations.recursive_lagrange.recursion import (
    acceleration_sweep,
    column,
    dot,
    first_three,
    frames_sweep,
    inertia_sweep,
    position_sweep,
    velocity_sweep,
    weight_sweep,
)
from symgen.formulations.shared import blocks_of_joints, flat
from symgen.formulations.state import State
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder, Results

NOTES = {
    "RL-13": "x = A_j r, v = B_j r, a = C_j r for a point r of link j -- Xiang 2009 (15), "
    "open-tree paper (6)",
    "d RL-13": "dx/dq_k = dA_j/dq_k r, dv/dq_k = dB_j/dq_k r, da/dq_k = dC_j/dq_k r "
    "-- Xiang 2009 (21)-(26)",
    "RL-14": "twice the kinetic energy of a link: tr(B_j I_j B_j^T)",
    "RL-15": "potential energy -g . E_0",
    "RL-21": "omega, alpha of link j: dA_j/dt A_j^-1 = B_j R_j^T is omega x, and C_j R_j^T is "
    "alpha x + omega x omega x, whose skew part is alpha x; v, a of its frame by RL-13",
    "RL-16": "column of a Jacobian: dA_j/dq_k = P A_in_k^-1 A_j for all j that k carries, so that "
    "a point x moves by t0 + z0 x (x - origin of A_in_k), t0 = P [0 0 0 1]^T, z0 = A_in_k z_k",
}


def forward_kinematics(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Write the poses of all link frames, (n_links, 4, 4): RL-2."""
    positions = position_sweep(frames_sweep(tree, b, state.q), b)
    poses = [(frame.body, frame.pose.homogeneous(b.algebra)) for frame in tree.frames]
    return {"forward_kinematics": flat((positions[body].A @ pose).entries for body, pose in poses)}


def jacobians(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Write the Jacobians of all link frames, (n_links, 6, n): RL-16."""
    joints = frames_sweep(tree, b, state.q)
    positions = position_sweep(joints, b)
    axes: dict[int, tuple[Vector[S], Vector[S], Vector[S]]] = {}
    for at in joints:
        j, A_in = at.joint.number, positions[at.joint.number].A_in
        with b.step("axes", at.joint.name):
            z = b.let(f"z0_{j}", first_three(A_in @ at.z), "RL-16")
            t = b.let(f"t0_{j}", _translation(A_in @ at.Z), "RL-16")
        axes[j] = (z, t, _translation(A_in))
    blocks: list[dict[int, tuple[S, ...]]] = []
    for frame in tree.frames:
        origin = first_three(
            positions[frame.body].A @ column(frame.pose.translation, b.algebra.one)
        )
        columns: dict[int, tuple[S, ...]] = {}
        with b.step("columns", frame.name):
            for k in tree.path(frame.body):
                z, t, at_joint = axes[k]
                linear = b.let(f"J_{frame.name}_{k}", t + z.cross(origin - at_joint), "RL-16")
                columns[k] = (*linear, *z)
        blocks.append(columns)
    return {"jacobians": blocks_of_joints(tree, blocks, 6)}


def _translation(pose: Matrix[S]) -> Vector[S]:
    return Vector(*(row[3] for row in pose.rows[:3]))


def kinetic_energy(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Write T: RL-14."""
    frames = frames_sweep(tree, b, state.q)
    velocities = velocity_sweep(frames, position_sweep(frames, b), b, state.qd)
    energies: list[S] = []
    for j, inertia in inertia_sweep(frames, b).items():
        B = velocities[j].B
        with b.step("energy", tree.joint(j).name):
            energies.append(
                b.let(f"twice_T_{j}", trace_of_product(B @ inertia, B.transposed), "RL-14")
            )
    bodies = total(energies, b.algebra) * b.algebra.constant(0.5)
    return {"kinetic_energy": [bodies + rotor_energy(tree, b, state)]}


def potential_energy(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Write U: RL-15."""
    carried = weight_sweep(frames_sweep(tree, b, state.q), b)
    weight = b.algebra.zero
    if BASE in carried:
        with b.step("energy"):
            g = column(tree.gravity, b.algebra.zero)
            weight = b.let("U", -dot(g, carried[BASE]), "RL-15")
    return {"potential_energy": [weight + spring_energy(tree, b, state)]}


# -- points ------------------------------------------------------------------------------------


def point_motion(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Write position, velocity and acceleration of all points, (n_points, 3) each: RL-13."""
    frames = frames_sweep(tree, b, state.q, {place.body for place in tree.points})
    positions = position_sweep(frames, b)
    velocities = velocity_sweep(frames, positions, b, state.qd)
    accelerations = acceleration_sweep(frames, positions, velocities, b, state)
    results: dict[str, list[S]] = {"position": [], "velocity": [], "acceleration": []}
    for place in tree.points:
        j, r = place.body, column(place.point, b.algebra.one)
        matrices = (positions[j].A, velocities[j].B, accelerations[j])
        with b.step("points", place.name):
            for entries, letter, matrix in zip(results.values(), "xva", matrices, strict=True):
                entries += b.let(f"{letter}_{place.name}", first_three(matrix @ r), "RL-13")
    return results


def link_motion(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Write velocities and accelerations of all link frames, (n_links, 6) each: RL-21."""
    frames = frames_sweep(tree, b, state.q, {frame.body for frame in tree.frames})
    positions = position_sweep(frames, b)
    velocities = velocity_sweep(frames, positions, b, state.qd)
    accelerations = acceleration_sweep(frames, positions, velocities, b, state)
    half = b.algebra.constant(0.5)
    results: dict[str, list[S]] = {"link_velocities": [], "link_accelerations": []}
    for frame in tree.frames:
        j, r = frame.body, column(frame.pose.translation, b.algebra.one)
        B, C = velocities[j].B, accelerations[j]
        back = _rotation(positions[j].A).transposed
        with b.step("links", frame.name):
            turning, bending = _rotation(B) @ back, _rotation(C) @ back
            skew_part = bending - bending.transposed
            rates = results["link_velocities"]
            rates += b.let(f"v_link_{frame.name}", first_three(B @ r), "RL-21")
            rates += b.let(f"omega_link_{frame.name}", skew_vector(turning), "RL-21")
            rates = results["link_accelerations"]
            rates += b.let(f"a_link_{frame.name}", first_three(C @ r), "RL-21")
            rates += b.let(f"alpha_link_{frame.name}", skew_vector(skew_part) * half, "RL-21")
    return results


def _rotation(pose: Matrix[S]) -> Matrix[S]:
    return Matrix([row[:3] for row in pose.rows[:3]])
