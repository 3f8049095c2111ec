"""The functions of the closed form, from the terms of `equations.py`."""

from __future__ import annotations

from typing import Any

from symgen.algebra.interface import S
from symgen.algebra.linear import inner, total
from symgen.formulations.closed_form_lagrange.equations import (
    christoffel_symbols,
    mass_matrix_entries,
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
)
from symgen.formulations.shared import blocks_of_joints, flat, square
from symgen.formulations.state import State
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder, Results

LARGEST_CLOSED_FORM = 200_000
"""Largest estimated number of operations of a closed form that is still derived."""


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
