"""Derivatives of the recursion, line beside line with `recursion.py`, by direct differentiation.

A pair (j, k) is a joint j and the joint k by whose coordinate, velocity or acceleration one
differentiates; k lies on the path from the base to j, or j on the path to k.  For all other pairs
the derivatives are 0, and nothing is computed or written.

Notation beyond that of `recursion.py`

==================  ==================  ==========================================================
paper               code                meaning
==================  ==================  ==========================================================
dA_j/dq_k           d_A_j_dq_k          for k on the path to j; B, C, A_in, B_in, ... alike
dB_j/dqd_k          --                  equals dA_j/dq_k, compare (21) and (23) of Xiang 2009
dC_j/dqd_k          --                  equals 2 dB_j/dq_k, compare (22) and (25)
dC_j/dqdd_k         --                  equals dA_j/dq_k, compare (21) and (26)
dD_j/dq_k           d_D_j_dq_k          also _dqd_k, _dqdd_k; dTD_j alike
dE_j/dq_k, dF_j     d_E_j_dq_k, ...     for j above k only; dTE_j, dTF_load_j also for j = k
==================  ==================  ==========================================================

A derivative of X T_j, where X does not depend on q_j, is dX T_j, and X Z_j T_j for k = j; that of
T_j X is T_j dX, and Z_j T_j X besides for k = j.  All the cases of the papers are these two.

A joint on the base turns (or slides) all that it carries as one piece, which changes no torque of
inertia: for such a k the terms of dRL-9 with D cancel, though no rule of algebra tells.  They are
left out; what is computed for them alone is dropped with all that no result needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, all_zero, matrix_sum, total, trace_of_product
from symgen.formulations.recursive_lagrange.homogeneous import dot, zeros
from symgen.formulations.recursive_lagrange.recursion import (
    Acceleration,
    JointFrame,
    Position,
    Recursion,
    Velocity,
)
from symgen.formulations.shared import let_derivative
from symgen.formulations.state import State
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "dRL-2": "dA_j/dq_k = dA_p/dq_k U_j T_j, for k = j P T_j -- Xiang 2009 (21)",
    "dRL-3": "dB_j/dq_k = (dB_in_j + dA_in_j Z_j qd_j) T_j, for k = j B_at_j Z_j T_j "
    "-- Xiang 2009 (22)",
    "dRL-4": "dC_j/dq_k = (dC_in_j + (dB_in_j + dB_at_j) Z_j qd_j + dA_in_j Z_j qdd_j) T_j, "
    "for k = j C_at_j Z_j T_j -- Xiang 2009 (24)",
    "dRL-5": "dD_j = I_j dC_j^T + sum_c U_c dTD_c, dTD_j = T_j dD_j and, by q_j, + Z_j TD_j "
    "-- Xiang 2009 (27)-(29), open-tree paper (13), (14)",
    "dRL-6": "dE_j = sum_c U_c dTE_c, dTE_j = T_j dE_j and, by q_j, Z_j TE_j -- Xiang 2009 (30)",
    "dRL-7": "dF_j = sum_c U_c dTF_c, dTF_j = T_j dF_j and, by q_j, Z_j TF_j -- Xiang 2009 (31)",
    "dRL-9": "dtau_j = tr(dP TD_j + P dTD_j) - g . (dP TE_j + P dTE_j) "
    "- sum_loads f . (dP TF_j + P dTF_j) - G_j . dA_in_j z_j; by q_k of a joint on the base the "
    "first trace is 0 -- Xiang 2009 (33)-(35)",
}

Pair = tuple[int, int]
"""A joint, and the joint by whose coordinate, velocity or acceleration one differentiates."""


@dataclass(frozen=True)
class DPosition(Generic[S]):
    """dRL-2"""

    A_in: Matrix[S]
    A: Matrix[S]


@dataclass(frozen=True)
class DVelocity(Generic[S]):
    """dRL-3"""

    B_in: Matrix[S]
    B_at: Matrix[S]
    B: Matrix[S]


@dataclass(frozen=True)
class DRecursion(Generic[S]):
    """All that dRL-2 to dRL-7 compute, by pair; what vanishes is left out."""

    positions: Mapping[Pair, DPosition[S]]
    TD_dq: Mapping[Pair, Matrix[S]]
    TD_dqd: Mapping[Pair, Matrix[S]]
    TD_dqdd: Mapping[Pair, Matrix[S]]
    TE: Mapping[Pair, Matrix[S]]
    TF: Sequence[Mapping[Pair, Matrix[S]]]


# -- steps, one pair each ----------------------------------------------------------------------


def d_position_step(
    at: JointFrame[S], k: int, here: Position[S], d_parent: DPosition[S], b: ProgramBuilder[S]
) -> DPosition[S]:
    """dRL-2"""
    j, by = at.joint.number, f"q_{k}"
    with b.step("derivatives of positions", at.joint.name):
        d_A_in = let_derivative(b, f"A_in_{j}", d_parent.A @ at.U, by, "dRL-2")
        d_A = _through(at, k, here.A_in, d_A_in)
        d_A = let_derivative(b, f"A_{j}", d_A, by, "dRL-2")
    return DPosition(d_A_in, d_A)


def d_velocity_step(
    at: JointFrame[S],
    k: int,
    moving: Velocity[S],
    d_here: DPosition[S],
    d_parent: DVelocity[S],
    qd: S,
    b: ProgramBuilder[S],
) -> DVelocity[S]:
    """dRL-3"""
    j, by, d_A_in = at.joint.number, f"q_{k}", d_here.A_in
    with b.step("derivatives of velocities", at.joint.name):
        d_B_in = let_derivative(b, f"B_in_{j}", d_parent.B @ at.U, by, "dRL-3")
        d_B_at = let_derivative(b, f"B_at_{j}", d_B_in + d_A_in @ at.Z * qd, by, "dRL-3")
        d_B = _through(at, k, moving.B_at, d_B_at)
        d_B = let_derivative(b, f"B_{j}", d_B, by, "dRL-3")
    return DVelocity(d_B_in, d_B_at, d_B)


def d_acceleration_step(
    at: JointFrame[S],
    k: int,
    accelerating: Acceleration[S],
    d_here: DPosition[S],
    d_moving: DVelocity[S],
    d_parent_C: Matrix[S],
    rates: tuple[S, S],
    b: ProgramBuilder[S],
) -> Matrix[S]:
    """dRL-4, dC_j/dq_k; `rates` are qd and qdd."""
    j, by, d_A_in, (qd, qdd) = at.joint.number, f"q_{k}", d_here.A_in, rates
    d_B_in, d_B_at = d_moving.B_in, d_moving.B_at
    with b.step("derivatives of accelerations", at.joint.name):
        d_C_in = let_derivative(b, f"C_in_{j}", d_parent_C @ at.U, by, "dRL-4")
        d_C_at = d_C_in + (d_B_in + d_B_at) @ at.Z * qd + d_A_in @ at.Z * qdd
        d_C_at = let_derivative(b, f"C_at_{j}", d_C_at, by, "dRL-4")
        d_C = _through(at, k, accelerating.C_at, d_C_at)
        return let_derivative(b, f"C_{j}", d_C, by, "dRL-4")


def _through(at: JointFrame[S], k: int, X: Matrix[S], dX: Matrix[S]) -> Matrix[S]:
    """d(X T_j)/dq_k; X does not depend on q_j."""
    return (X @ at.Z if k == at.joint.number else dX) @ at.T


def d_carried_step(
    name: str,
    at: JointFrame[S],
    by: str,
    terms: Sequence[Matrix[S]],
    turned: Matrix[S] | None,
    b: ProgramBuilder[S],
    note: str,
) -> Matrix[S]:
    """dRL-5, dRL-6, dRL-7: dX_j is the sum of `terms`; returns d(T_j X_j).

    `turned` is Z_j T_j X_j where one differentiates by q_j.
    """
    j = at.joint.number
    passed = [] if turned is None else [turned]
    with b.step("derivatives of backward", at.joint.name):
        if terms:
            dX = let_derivative(b, f"{name}_{j}", matrix_sum(terms), by, note)
            passed.insert(0, at.T @ dX)
        return let_derivative(b, f"T{name}_{j}", matrix_sum(passed), by, note)


def d_torque_step(
    at: JointFrame[S], k: int, known: Recursion[S], d: DRecursion[S], b: ProgramBuilder[S]
) -> S:
    """dRL-9 by q_k"""
    j = at.joint.number
    P = known.positions[j].A_in @ at.Z
    terms: list[S] = []
    inertia_changes = known.frames[k - 1].joint.parent != BASE
    if (j, k) in d.TD_dq and inertia_changes:
        terms.append(trace_of_product(P, d.TD_dq[j, k]))
    if (j, k) in d.TE:
        terms.append(-dot(known.g, P @ d.TE[j, k]))
    for pull, d_TF in zip(known.pulls, d.TF, strict=True):
        if (j, k) in d_TF:
            terms.append(-dot(pull.force, P @ d_TF[j, k]))
    if (j, k) in d.positions and k != j:
        terms += _torque_terms_above(at, d.positions[j, k].A_in, known, inertia_changes)
    with b.step("derivatives of torque", at.joint.name):
        return let_derivative(b, f"tau_{j}", total(terms, b.algebra), f"q_{k}", "dRL-9")


def _torque_terms_above(
    at: JointFrame[S], d_A_in: Matrix[S], known: Recursion[S], inertia_changes: bool
) -> list[S]:
    """The terms of dRL-9 that come from A_in_j, which moves for k above j."""
    j = at.joint.number
    d_P = d_A_in @ at.Z
    terms: list[S] = []
    if j in known.TD and inertia_changes:
        terms.append(trace_of_product(d_P, known.TD[j]))
    if j in known.TE:
        terms.append(-dot(known.g, d_P @ known.TE[j]))
    terms += [-dot(pull.force, d_P @ pull.TF[j]) for pull in known.pulls if j in pull.TF]
    if j in known.G:
        terms.append(-dot(known.G[j], d_A_in @ at.z))
    return terms


def d_torque_by_rate_step(
    at: JointFrame[S], by: str, P: Matrix[S], d_TD: Matrix[S], b: ProgramBuilder[S]
) -> S:
    """dRL-9 by a velocity or an acceleration, on which D_j alone depends"""
    with b.step("derivatives of torque", at.joint.name):
        return let_derivative(b, f"tau_{at.joint.number}", trace_of_product(P, d_TD), by, "dRL-9")


# -- sweeps over the tree ----------------------------------------------------------------------


def d_position_sweep(
    tree: KinematicTree[S],
    frames: Sequence[JointFrame[S]],
    positions: Mapping[int, Position[S]],
    b: ProgramBuilder[S],
) -> dict[Pair, DPosition[S]]:
    """dRL-2"""
    fixed = DPosition(zeros(b.algebra), zeros(b.algebra))
    d_positions: dict[Pair, DPosition[S]] = {}
    for at in frames:
        j = at.joint.number
        for k in tree.path(j):
            d_parent = d_positions.get((at.joint.parent, k), fixed)
            d_positions[j, k] = d_position_step(at, k, positions[j], d_parent, b)
    return d_positions


def d_velocity_sweep(
    tree: KinematicTree[S],
    frames: Sequence[JointFrame[S]],
    velocities: Mapping[int, Velocity[S]],
    d_positions: Mapping[Pair, DPosition[S]],
    b: ProgramBuilder[S],
    qd: Sequence[S],
) -> dict[Pair, DVelocity[S]]:
    """dRL-3"""
    fixed = DVelocity(zeros(b.algebra), zeros(b.algebra), zeros(b.algebra))
    d_velocities: dict[Pair, DVelocity[S]] = {}
    for at in frames:
        j = at.joint.number
        for k in tree.path(j):
            d_parent = d_velocities.get((at.joint.parent, k), fixed)
            d_velocities[j, k] = d_velocity_step(
                at, k, velocities[j], d_positions[j, k], d_parent, qd[j - 1], b
            )
    return d_velocities


def d_acceleration_sweep(
    tree: KinematicTree[S],
    frames: Sequence[JointFrame[S]],
    accelerations: Mapping[int, Acceleration[S]],
    d_positions: Mapping[Pair, DPosition[S]],
    d_velocities: Mapping[Pair, DVelocity[S]],
    b: ProgramBuilder[S],
    state: State[S],
) -> dict[Pair, Matrix[S]]:
    """dRL-4: dC_j/dq_k"""
    fixed = zeros(b.algebra)
    d_C: dict[Pair, Matrix[S]] = {}
    for at in frames:
        j, rates = at.joint.number, (state.qd[at.joint.number - 1], state.qdd[at.joint.number - 1])
        for k in tree.path(j):
            here, moving, d_parent = d_positions[j, k], d_velocities[j, k], (at.joint.parent, k)
            d_C[j, k] = d_acceleration_step(
                at, k, accelerations[j], here, moving, d_C.get(d_parent, fixed), rates, b
            )
    return d_C


def d_carried_sweep(
    name: str,
    tree: KinematicTree[S],
    frames: Sequence[JointFrame[S]],
    by: str,
    own: Mapping[Pair, Matrix[S]],
    turning: Mapping[int, Matrix[S]],
    b: ProgramBuilder[S],
    note: str,
    upwards: bool = True,
) -> dict[Pair, Matrix[S]]:
    """d(T_j X_j) where X_j = own_j + sum_c U_c T_c X_c, by `by` (q, qd or qdd) of joint k.

    `turning` has T_j X_j by joint where one differentiates by q, and is empty else.  Pairs with j
    above k are left out if not `upwards`.
    """
    passed: dict[Pair, Matrix[S]] = {}
    terms = {
        pair: [matrix] for pair, matrix in own.items() if not all_zero(matrix.entries, b.algebra)
    }
    for at in reversed(frames):
        j, parent = at.joint.number, at.joint.parent
        beyond = sorted(k for i, k in terms if i == j and k not in tree.path(j))
        for k in (*tree.path(j), *beyond):
            mine = terms.get((j, k), [])
            turned = at.Z @ turning[j] if k == j and j in turning else None
            if not mine and turned is None:
                continue
            d_TX = d_carried_step(name, at, f"{by}_{k}", mine, turned, b, note)
            passed[j, k] = d_TX
            if k in tree.path(parent) or (upwards and parent != BASE):
                terms.setdefault((parent, k), []).append(at.U @ d_TX)
    return passed


def d_inertia_by_qd(
    tree: KinematicTree[S],
    frames: Sequence[JointFrame[S]],
    inertias: Mapping[int, Matrix[S]],
    d_velocities: Mapping[Pair, DVelocity[S]],
    b: ProgramBuilder[S],
) -> dict[Pair, Matrix[S]]:
    """dRL-5: dTD_j/dqd_k, with dC_j/dqd_k = 2 dB_j/dq_k"""
    twice = {j: inertia + inertia for j, inertia in inertias.items()}
    own = {(j, k): twice[j] @ d.B.transposed for (j, k), d in d_velocities.items()}
    return d_carried_sweep("D", tree, frames, "qd", own, {}, b, "dRL-5")


def d_inertia_by_qdd(
    tree: KinematicTree[S],
    frames: Sequence[JointFrame[S]],
    inertias: Mapping[int, Matrix[S]],
    d_positions: Mapping[Pair, DPosition[S]],
    b: ProgramBuilder[S],
) -> dict[Pair, Matrix[S]]:
    """dRL-5: dTD_j/dqdd_k, with dC_j/dqdd_k = dA_j/dq_k

    For k on the path to j only: dtau_j/dqdd_k is M_jk, and the mass matrix is symmetric.
    """
    own = {(j, k): inertias[j] @ d.A.transposed for (j, k), d in d_positions.items()}
    return d_carried_sweep("D", tree, frames, "qdd", own, {}, b, "dRL-5", upwards=False)


def d_recursion(
    tree: KinematicTree[S], known: Recursion[S], b: ProgramBuilder[S], state: State[S]
) -> DRecursion[S]:
    """dRL-2 to dRL-7"""
    frames, inertias = known.frames, known.inertias
    d_positions = d_position_sweep(tree, frames, known.positions, b)
    d_velocities = d_velocity_sweep(tree, frames, known.velocities, d_positions, b, state.qd)
    d_C = d_acceleration_sweep(
        tree, frames, known.accelerations, d_positions, d_velocities, b, state
    )
    forces = {(j, k): inertias[j] @ d.transposed for (j, k), d in d_C.items()}
    return DRecursion(
        d_positions,
        d_carried_sweep("D", tree, frames, "q", forces, known.TD, b, "dRL-5"),
        d_inertia_by_qd(tree, frames, inertias, d_velocities, b),
        d_inertia_by_qdd(tree, frames, inertias, d_positions, b),
        d_carried_sweep("E", tree, frames, "q", {}, known.TE, b, "dRL-6"),
        [
            d_carried_sweep(f"F_{pull.name}", tree, frames, "q", {}, pull.TF, b, "dRL-7")
            for pull in known.pulls
        ],
    )
