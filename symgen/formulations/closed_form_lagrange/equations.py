"""The closed form of Lagrange's equations with 4x4 transforms (Xiang 2009, section 3).

tau = M(q) qdd + V(q, qd) + gravity + loads, every term written out over the descendants of each
joint.  It is the form of the textbooks, and grows as n^4; the recursions are for large robots.

Notation (j runs over the links that all joints named carry)

===============  ==============  =======  ======================================================
paper            code            shape    meaning
===============  ==============  =======  ======================================================
T_j              T_j             4x4      pose of link frame j in its parent's link frame
0T_j             A_j             4x4      pose of link frame j in the base frame
d 0T_j / dq_k    dA_j_k          4x4      its derivative, for k on the path to j
d2 0T_j          ddA_j_k_m       4x4      its second derivative, k <= m on the path to j
I_j              pseudo_inertia  4x4      augmented inertia about the link frame's origin
--               dA_I_j_k        4x4      dA_j/dq_k I_j
M_ik             M_i_k           scalar   mass matrix
--               D_i_k_m         scalar   Christoffel symbol: the factor of qd_k qd_m in V_i
V_i              V_i             scalar   velocity torque
r_j, r_s         com, point      3        centre of mass, point of a load (link frame)
f_s, h           force, moment   3        load, exerted by the environment on the link (base axes)
===============  ==============  =======  ======================================================

`NOTES` maps the labels of the statements to the equations.  Gravity and loads carry minus signs
because g is the acceleration of gravity and f, h act on the link, as in (16) and (51) of the paper;
(6) is printed with plus signs.  The moment of a load, which (6) leaves out, is that of (16).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgen.algebra.interface import S
from symgen.algebra.linear import all_zero, inner, total, trace_of_product
from symgen.formulations.closed_form_lagrange.kinematics import (
    Kinematics,
    moved,
    rotation_axis,
    weight,
)
from symgen.formulations.interface import reason
from symgen.formulations.joint_terms import rotor_energy, spring_energy
from symgen.formulations.shared import blocks_of_joints, flat, square
from symgen.formulations.state import State, Wrench
from symgen.formulations.torques import Run
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder, Results
from symgen.program.derivatives import DERIVATIVES

LARGEST_CLOSED_FORM = 200_000
"""Largest estimated number of operations of a closed form that is still derived."""

NOTES = {
    "LG-1": "T_j of the joint -- Xiang 2009 (1)",
    "LG-2": "A_j = A_p T_j -- Xiang 2009 (5)",
    "LG-3": "dA_j/dq_k = dA_p/dq_k T_j for k above j, A_p dT_j/dq_j for k = j -- Xiang 2009 (21)",
    "LG-4": "d2A_j/dq_k dq_m: LG-3 differentiated once more -- Xiang 2009 (8), (21)",
    "LG-5": "dA_j/dq_k I_j -- Xiang 2009 (7)",
    "LG-6": "M_ik = sum_j tr(dA_j/dq_k I_j (dA_j/dq_i)^T) -- Xiang 2009 (7)",
    "LG-7": "D_ikm = sum_j tr(d2A_j/dq_k dq_m I_j (dA_j/dq_i)^T) -- Xiang 2009 (8)",
    "LG-8": "V_i = sum_k sum_m D_ikm qd_k qd_m -- Xiang 2009 (8)",
    "LG-9": "gravity_i = -sum_j m_j g . dA_j/dq_i r_j -- Xiang 2009 (6), (9)",
    "LG-10": "load_i = -f . dA_s/dq_i r_s - h . axis_i -- Xiang 2009 (6), (10), (16)",
    "LG-11": "tau_i = sum_k M_ik qdd_k + V_i + gravity_i + load_i -- Xiang 2009 (6)",
    "LG-12": "C_ik = sum_m D_ikm qd_m -- Christoffel symbols of Xiang 2009 (8)",
    "LG-13": "potential energy of a link -m_j g . A_j r_j",
    "LG-14": "angular velocity per qd_k: axis of (dR/dq_k) R^T",
    "d LG-6": "dM_ik/dq_s -- Xiang 2009 (7), (11)",
    "d LG-7": "dD_ikm/dq_s -- Xiang 2009 (8), (11)",
    "d LG-8": "dV_i/dq_s, dV_i/dqd_s -- Xiang 2009 (8), (11)",
    "d LG-9": "dgravity_i/dq_s -- Xiang 2009 (9), (11)",
    "d LG-10": "dload_i/dq_s -- Xiang 2009 (10), (11)",
    "d LG-11": "dtau_i/dq_s -- Xiang 2009 (11)",
}


def mass_matrix_entries(kinematics: Kinematics[S]) -> list[list[S]]:
    """Write M: LG-6."""
    tree, b = kinematics.tree, kinematics.b
    entries = [[b.algebra.zero] * tree.n for _ in range(tree.n)]
    for k in range(1, tree.n + 1):
        for i in tree.path(k):
            terms = [
                trace_of_product(kinematics.dA_I(j, k), kinematics.dA(j, i).transposed)
                for j in tree.carried_by(i, k)
            ]
            with b.step("mass matrix", tree.joint(i).name):
                value = b.let(f"M_{i}_{k}", total(terms, b.algebra), "LG-6")
            entries[i - 1][k - 1] = entries[k - 1][i - 1] = value
    return entries


def christoffel_symbols(kinematics: Kinematics[S]) -> dict[tuple[int, int, int], S]:
    """LG-7: D_ikm with k <= m, all three on one path."""
    tree, b = kinematics.tree, kinematics.b
    symbols: dict[tuple[int, int, int], S] = {}
    for i, k, m in triples_on_one_path(tree):
        terms = [
            trace_of_product(kinematics.dA_I(j, i), kinematics.ddA(j, k, m).transposed)
            for j in tree.carried_by(i, k, m)
        ]
        with b.step("Christoffel symbols", tree.joint(i).name):
            value = b.let(f"D_{i}_{k}_{m}", total(terms, b.algebra), "LG-7")
        if not b.algebra.is_zero(value):
            symbols[i, k, m] = value
    return symbols


def triples_on_one_path(tree: KinematicTree[S]) -> list[tuple[int, int, int]]:
    """(i, k, m) with k <= m, in order, such that some link is carried by all three."""
    triples: set[tuple[int, int, int]] = set()
    for joint in tree.joints:
        last, path = joint.number, tree.path(joint.number)
        # `last` is the deepest of the three; the paths of other links give the other triples
        triples |= {(last, k, m) for k in path for m in path if k <= m}
        triples |= {(i, k, last) for i in path for k in path}
    return sorted(triples)


def velocity_torques(kinematics: Kinematics[S], qd: Sequence[S]) -> list[S]:
    """Write the velocity torques: LG-8."""
    tree, b = kinematics.tree, kinematics.b
    squares: list[list[S]] = [[] for _ in tree.joints]
    products: list[list[S]] = [[] for _ in tree.joints]
    for (i, k, m), value in christoffel_symbols(kinematics).items():
        terms = squares if k == m else products
        terms[i - 1].append(value * (qd[k - 1] * qd[m - 1]))
    torques: list[S] = []
    for joint, square_terms, mixed in zip(tree.joints, squares, products, strict=True):
        half = total(mixed, b.algebra)  # D_ikm stands for D_imk, too
        with b.step("velocity torques", joint.name):
            value = total(square_terms, b.algebra) + (half + half)
            torques.append(b.let(f"V_{joint.number}", value, "LG-8"))
    return torques


def gravity_torques(kinematics: Kinematics[S]) -> list[S]:
    """Write the torques of gravity: LG-9."""
    tree, b = kinematics.tree, kinematics.b
    torques: list[S] = []
    for joint in tree.joints:
        i = joint.number
        terms: list[S] = []
        for j in tree.carried_by(i):
            terms.append(-weight(tree.gravity, kinematics.dA(j, i), tree.joint(j).body))
        with b.step("gravity", joint.name):
            torques.append(b.let(f"G_{i}", total(terms, b.algebra), "LG-9"))
    return torques


def load_torques(kinematics: Kinematics[S], loads: Sequence[Wrench[S]]) -> list[S]:
    """Write the torques of loads: LG-10."""
    tree, b = kinematics.tree, kinematics.b
    torques: list[S] = []
    for joint in tree.joints:
        i = joint.number
        terms: list[S] = []
        for place, wrench in zip(tree.loads, loads, strict=True):
            if i in tree.path(place.body):
                dA = kinematics.dA(place.body, i)
                axis = rotation_axis(dA, kinematics.A(place.body))
                terms.append(-wrench.force.dot(moved(dA, place.point)) - wrench.moment.dot(axis))
        with b.step("loads", joint.name):
            torques.append(b.let(f"load_{i}", total(terms, b.algebra), "LG-10"))
    return torques


def rigid(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Run:
    """Write LG-11 without parts that are 0: see `symgen.formulations.torques.Rigid`."""
    kinematics = Kinematics(tree, b, state.q)

    def run(at: State[S], gravity: bool) -> list[S]:
        M = [] if all_zero(at.qdd, b.algebra) else mass_matrix_entries(kinematics)
        moving = not all_zero(at.qd, b.algebra)
        parts = [velocity_torques(kinematics, at.qd)] if moving else []
        parts += [gravity_torques(kinematics)] if gravity else []
        parts.append(load_torques(kinematics, at.loads))
        torques: list[S] = []
        for joint, terms in zip(tree.joints, zip(*parts, strict=True), strict=True):
            torque = total(terms, b.algebra)
            if M:
                torque = inner(M[joint.number - 1], at.qdd) + torque
            with b.step("torque", joint.name):
                torques.append(b.let(f"tau_{joint.number}", torque, "LG-11"))
        return torques

    return run


def coriolis_matrix(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Write C, (n, n): LG-12."""
    symbols = christoffel_symbols(Kinematics(tree, b, state.q))
    by_entry: dict[tuple[int, int], list[S]] = {}
    for (i, k, m), value in symbols.items():
        by_entry.setdefault((i, k), []).append(value * state.qd[m - 1])
        if k != m:
            by_entry.setdefault((i, m), []).append(value * state.qd[k - 1])
    with b.step("coriolis"):
        entries = {
            (i, k): b.let(f"C_{i}_{k}", total(terms, b.algebra), "LG-12")
            for (i, k), terms in sorted(by_entry.items())
        }
    return {"coriolis_matrix": flat(square(tree, entries))}


def kinetic_energy(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """qd^T M qd / 2"""
    rows = mass_matrix_entries(Kinematics(tree, b, state.q))
    terms = [inner(row, state.qd) * qd for row, qd in zip(rows, state.qd, strict=True)]
    bodies = total(terms, b.algebra) * b.algebra.constant(0.5)
    return {"kinetic_energy": [bodies + rotor_energy(tree, b, state)]}


def potential_energy(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Write U: LG-13."""
    kinematics = Kinematics(tree, b, state.q)
    energies: list[S] = []
    for joint in tree.joints:
        with b.step("energy", joint.name):
            energy = -weight(tree.gravity, kinematics.A(joint.number), joint.body)
            energies.append(b.let(f"U_{joint.number}", energy, "LG-13"))
    springs = spring_energy(tree, b, state)
    return {"potential_energy": [total(energies, b.algebra) + springs]}


def forward_kinematics(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Write LG-2 for every link frame of the file."""
    kinematics = Kinematics(tree, b, state.q)
    poses = [(frame.body, frame.pose.homogeneous(b.algebra)) for frame in tree.frames]
    moved = [pose if body == BASE else kinematics.A(body) @ pose for body, pose in poses]
    return {"forward_kinematics": flat(pose.entries for pose in moved)}


def jacobians(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Write LG-3 of the frame's origin, LG-14"""
    kinematics = Kinematics(tree, b, state.q)
    blocks: list[dict[int, tuple[S, ...]]] = []
    for frame in tree.frames:
        columns: dict[int, tuple[S, ...]] = {}
        for k in tree.path(frame.body):
            dA = kinematics.dA(frame.body, k)
            axis = rotation_axis(dA, kinematics.A(frame.body))
            with b.step("columns", frame.name):
                linear = b.let(f"J_{frame.name}_{k}", moved(dA, frame.pose.translation), "LG-3")
                angular = b.let(f"axis_{frame.name}_{k}", axis, "LG-14")
            columns[k] = (*linear, *angular)
        blocks.append(columns)
    return {"jacobians": blocks_of_joints(tree, blocks, 6)}


def estimate(tree: KinematicTree[Any], function: str = "inverse_dynamics") -> int:
    """Estimate the operations: 12 multiply-adds per trace, 36 per derivative of a pose.

    A link on d joints has d^3/2 traces.  Derivatives of the torques, line by line, take 12 d^4
    more; counted for chains of 4 and 6 joints: 13,895 and 68,163.  A parameter touches about a
    quarter of all terms.
    """
    depths = [len(tree.path(joint.number)) for joint in tree.joints]
    if function == "inverse_dynamics_derivatives":
        return sum(12 * depth**4 + 70 * depth**3 + 90 * depth**2 for depth in depths)
    operations = sum(12 * depth**3 + 36 * depth**2 for depth in depths)
    if function in DERIVATIVES and DERIVATIVES[function].by == ("parameters",):
        operations += operations * len(tree.runtime_parameters) // 4
    return operations


def why_not(tree: KinematicTree[Any]) -> str | None:
    """Return the size of the result, and coordinates that move a link together."""
    if tree.euler_parameters:
        return reason("euler_parameters")
    if tree.is_natural:
        return reason("natural")
    operations = estimate(tree)
    if operations <= LARGEST_CLOSED_FORM:
        return None
    return reason("size", operations=operations, limit=LARGEST_CLOSED_FORM)
