"""Centre of mass of all moving bodies, its Jacobian, the momentum about it, its matrix and rate.

They are what the recursion of `recursion.py` carries to the base: E_0 / M is the centre of mass,
D_0 holds the rates of the momenta, and with velocities instead of accelerations the momenta.

=======  ===========================================================================================
code     meaning
=======  ===========================================================================================
M        mass of all moving bodies
e_j      E_j / M
K_j      4x4, sum of r v^T dm over all that link j carries, and itself: r in link axes, v the
         velocity in base axes; TK_j = T_j K_j
K_0      the same of all bodies: its last row is the linear momentum, and the part of its upper left
         3x3 matrix that is not symmetric the angular momentum about the base origin
Y_k      4x4, sum of r r^T dm over all that joint k carries, about the joint frame, in its axes
=======  ===========================================================================================

A robot without mass has no centre of mass; the base origin stands for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector, total, zero_vector
from symgen.formulations.recursive_lagrange.recursion import (
    JointFrame,
    acceleration_sweep,
    carried_sweep,
    column,
    first_three,
    frames_sweep,
    inertia_sweep,
    momentum_rate_sweep,
    position_sweep,
    velocity_sweep,
)
from symgen.formulations.shared import flat
from symgen.formulations.state import State
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder, Results

NOTES = {
    "RL-17": "e_j = m_j / M r_j + sum_c U_c T_c e_c: RL-6 per M; for the base it is the centre of "
    "mass",
    "RL-18": "d e_0 / d q_k = dA_k/dq_k e_k = P T_k e_k",
    "RL-19": "K_j = I_j B_j^T + sum_c U_c T_c K_c: RL-5 with velocities",
    "RL-20": "momenta: linear K_0[4, :], angular about the base origin K_0[2, 3] - K_0[3, 2] and "
    "so on, about the centre of mass minus that of the linear one there",
    "RL-22": "Y_k = T_k (I_k + sum_c U_c Y_c U_c^T) T_k^T; K_0 per unit of qd_k is "
    "A_in_k Y_k (A_in_k Z_k)^T, of which RL-20 makes a column",
    "RL-23": "rates of the momenta: RL-20 of D_0, RL-5",
}


def center_of_mass(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Write the centre of mass, (3,): RL-17."""
    Te = mass_sweep(tree, frames_sweep(tree, b, state.q), b)
    return {"center_of_mass": tuple(_center(Te, b))}


def center_of_mass_jacobian(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """Write the Jacobian of the centre of mass, (3, n): RL-18."""
    frames = frames_sweep(tree, b, state.q)
    positions = position_sweep(frames, b)
    Te = mass_sweep(tree, frames, b)
    columns = [zero_vector(b.algebra)] * tree.n
    for at in frames:
        k = at.joint.number
        if k in Te:
            slope = first_three(positions[k].A_in @ at.Z @ Te[k])
            with b.step("columns", at.joint.name):
                columns[k - 1] = b.let(f"J_C_{k}", slope, "RL-18")
    rows = [[getattr(column, axis) for column in columns] for axis in "xyz"]
    return {"center_of_mass_jacobian": flat(rows)}


def centroidal_momentum(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """Write the centroidal momentum, (6,): RL-19, RL-20."""
    frames = frames_sweep(tree, b, state.q)
    velocities = velocity_sweep(frames, position_sweep(frames, b), b, state.qd)
    inertias = inertia_sweep(frames, b)
    momenta = {j: inertia @ velocities[j].B.transposed for j, inertia in inertias.items()}
    TK = carried_sweep("K", frames, momenta, b, "RL-19")
    center = _center(mass_sweep(tree, frames, b), b)
    momentum = [b.algebra.zero] * 6
    if BASE in TK:
        with b.step("momentum"):
            momentum = momentum_step("K_0", "L_C", TK[BASE], center, b, "RL-20")
    return {"centroidal_momentum": momentum}


def centroidal_momentum_rate(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """Write the rate of the centroidal momentum, (6,): RL-23."""
    frames = frames_sweep(tree, b, state.q)
    positions = position_sweep(frames, b)
    velocities = velocity_sweep(frames, positions, b, state.qd)
    accelerations = acceleration_sweep(frames, positions, velocities, b, state)
    TD = momentum_rate_sweep(frames, accelerations, b)
    center = _center(mass_sweep(tree, frames, b), b)
    rate = [b.algebra.zero] * 6
    if BASE in TD:
        with b.step("momentum"):
            rate = momentum_step("D_0", "dL_C", TD[BASE], center, b, "RL-23")
    return {"centroidal_momentum_rate": rate}


def centroidal_momentum_matrix(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """Write the centroidal momentum matrix, (6, n): RL-22."""
    frames = frames_sweep(tree, b, state.q)
    positions = position_sweep(frames, b)
    center = _center(mass_sweep(tree, frames, b), b)
    columns = [[b.algebra.zero] * 6] * tree.n
    sums = inertia_sweep(frames, b)
    for at in reversed(frames):
        k, p = at.joint.number, at.joint.parent
        with b.step("backward", at.joint.name):
            sums[k] = b.let(f"Y_{k}", at.T @ sums[k] @ at.T.transposed, "RL-22")
        if p != BASE:
            sums[p] = sums[p] + at.U @ sums[k] @ at.U.transposed
    for at in reversed(frames):
        k, A_in, Y = at.joint.number, positions[at.joint.number].A_in, sums[at.joint.number]
        with b.step("columns", at.joint.name):
            K = A_in @ Y @ (A_in @ at.Z).transposed
            columns[k - 1] = momentum_step(f"K_0_{k}", f"L_C_{k}", K, center, b, "RL-22")
    rows = [[column[row] for column in columns] for row in range(6)]
    return {"centroidal_momentum_matrix": flat(rows)}


def momentum_step(
    name: str, angular: str, K: Matrix[S], center: Vector[S], b: ProgramBuilder[S], note: str
) -> list[S]:
    """RL-20, the names of the statements first; to be called in a step."""
    K = b.let(name, K, note)
    linear = Vector(K[3, 0], K[3, 1], K[3, 2])
    about_origin = Vector(K[1, 2] - K[2, 1], K[2, 0] - K[0, 2], K[0, 1] - K[1, 0])
    return [*linear, *b.let(angular, about_origin - center.cross(linear), note)]


def mass_sweep(
    tree: KinematicTree[S], frames: Sequence[JointFrame[S]], b: ProgramBuilder[S]
) -> dict[int, Matrix[S]]:
    """RL-17: T_j e_j; nothing for a robot without mass."""
    if tree.massless:
        return {}
    with b.step("masses"):
        M = b.let("M", total([joint.body.mass for joint in tree.joints], b.algebra), "RL-17")
        shares = {j.number: b.let(f"w_{j.number}", j.body.mass / M, "RL-17") for j in tree.joints}
    columns = {
        at.joint.number: column(
            at.joint.body.com * shares[at.joint.number], shares[at.joint.number]
        )
        for at in frames
    }
    return carried_sweep("e", frames, columns, b, "RL-17")


def _center(Te: dict[int, Matrix[S]], b: ProgramBuilder[S]) -> Vector[S]:
    if BASE not in Te:
        return zero_vector(b.algebra)
    with b.step("centre of mass"):
        return b.let("x0_C", first_three(Te[BASE]), "RL-17")
