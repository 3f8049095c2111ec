"""The functions of the closed form, from the terms of `equations.py`."""

from __future__ import annotations

from typing import Any

from symgen.algebra.interface import S
from symgen.algebra.linear import inner, total
from symgen.formulations.closed_form_lagrange.equations import (
    bias_torques,
    christoffel_symbols,
    gravity_torques,
    load_torques,
    mass_matrix_entries,
    torques,
    velocity_terms,
)
from symgen.formulations.closed_form_lagrange.kinematics import (
    Kinematics,
    moved,
    rotation_axis,
    weight,
)
from symgen.formulations.interface import reason
from symgen.formulations.joint_terms import (
    rotor_energy,
    spring_energy,
    with_joint_terms,
    with_rotors,
)
from symgen.formulations.shared import blocks_of_joints, flat, square, symbolic_loads, wrenches
from symgen.formulations.state import State
from symgen.formulations.torques import RigidParts, write_parts
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder, Results
from symgen.program.differentiation import jacobian

LARGEST_CLOSED_FORM = 200_000
"""Largest estimated number of operations of a closed form that is still derived."""


def inverse_dynamics(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Write tau, (n,): LG-11."""
    kinematics = Kinematics(tree, b, state.q)
    M = mass_matrix_entries(kinematics)
    bias = bias_torques(christoffel_symbols(kinematics), kinematics, state)
    tau = torques(M, bias, state.qdd, kinematics)
    return {"tau": with_joint_terms(tree, b, state, tau)}


def bias_forces(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """LG-11 at qdd = 0"""
    kinematics = Kinematics(tree, b, state.q)
    values = bias_torques(christoffel_symbols(kinematics), kinematics, state)
    bias: list[S] = []
    for joint, value in zip(tree.joints, values, strict=True):
        with b.step("torque", joint.name):
            bias.append(b.let(f"bias_{joint.number}", value, "LG-11"))
    return {"bias_forces": with_joint_terms(tree, b, state, bias)}


def torque_parts(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Return the terms of LG-11; those of LG-8 by whether they have a square or a product."""
    kinematics = Kinematics(tree, b, state.q)
    M = mass_matrix_entries(kinematics)
    velocity = velocity_terms(christoffel_symbols(kinematics), state.qd, kinematics)
    halves = [total(products, b.algebra) for _, products in velocity]
    rigid = RigidParts(
        inertial=[inner(row, state.qdd) for row in M],
        centrifugal=[total(squares, b.algebra) for squares, _ in velocity],
        coriolis=[half + half for half in halves],
        gravity=gravity_torques(kinematics),
        loads=load_torques(kinematics, state.loads),
    )
    return write_parts(tree, b, state, rigid)


def gravity_forces(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Write the torques of gravity, (n,): LG-9."""
    return {"gravity_forces": gravity_torques(Kinematics(tree, b, state.q))}


def mass_matrix(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Write M, (n, n): LG-6."""
    rows = mass_matrix_entries(Kinematics(tree, b, state.q))
    return {"mass_matrix": flat(with_rotors(tree, rows))}


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


def inverse_dynamics_load_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """LG-10 is linear in the loads: its Jacobian with respect to them."""
    loads = symbolic_loads(tree, b)
    torques = load_torques(Kinematics(tree, b, state.q), wrenches(loads.symbols))
    return {"dtau_dloads": jacobian(b, torques, loads)}


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
    if function.endswith("_parameter_derivatives"):
        operations += operations * len(tree.runtime_parameters) // 4
    return operations


def why_not(tree: KinematicTree[Any]) -> str | None:
    """Return the size of the result, and coordinates that move a link together."""
    if tree.euler_parameters:
        return reason("euler_parameters")
    operations = estimate(tree)
    if operations <= LARGEST_CLOSED_FORM:
        return None
    return reason("size", operations=operations, limit=LARGEST_CLOSED_FORM)
