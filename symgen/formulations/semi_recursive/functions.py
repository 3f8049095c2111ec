"""Inverse dynamics and what belongs to it: M qdd - Q."""

from __future__ import annotations

from collections.abc import Mapping

from symgen.algebra.interface import S
from symgen.algebra.spatial import Spatial, zero_spatial
from symgen.formulations.constraint_parts import VALUE
from symgen.formulations.joint_terms import with_joint_terms, with_rotors
from symgen.formulations.semi_recursive.bodies import (
    bodies_sweep,
    forces_sweep,
    loads_on,
    masses_sweep,
    torques,
)
from symgen.formulations.semi_recursive.kinematics import System, columns_sweep, system_at
from symgen.formulations.semi_recursive.reference_points import ReferencePoint
from symgen.formulations.shared import MOTION, let_spatial, lettered, square, write_matrix
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "SR-27": "d tau_j/d f = -([I 0] b_i_j + [0 I] b_i_j x (r_l - r_i)), d tau_j/d n = -[0 I] "
    "b_i_j for a load at r_l on body i: less (r_l)_z -- Lopez Varela 2023 (26), table 3",
}

Entries = Mapping[tuple[int, int], S]
"""Entries of a matrix by pair of joints; what is left out is 0."""


def torque_function(
    result: str,
    point: ReferencePoint,
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
) -> None:
    """SR-19 with joint terms, (n,); at qdd = 0 they are the bias forces."""
    tau = rigid_torques(system_at(tree, b, state, point))
    b.output(result, (tree.n,), with_joint_terms(tree, b, state, tau))


def gravity_forces(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """The torques of gravity alone: those of the rigid bodies at rest."""
    tau = rigid_torques(system_at(tree, b, state, point))
    b.output("gravity_forces", (tree.n,), tau)


def mass_matrix(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """SR-18 with the rotors, (n, n)."""
    rows = square(tree, mass_entries(system_at(tree, b, state, point, VALUE)))
    write_matrix(b, "mass_matrix", with_rotors(tree, rows), tree.n)


def load_derivatives(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """SR-27: dtau_dloads, (n, n_loads, 6)"""
    system, none = system_at(tree, b, state, point, VALUE), zero_spatial(b.algebra)
    R = columns_sweep(system)
    columns: list[dict[int, Spatial[S]]] = [{} for _ in tree.loads]
    for i, at in system.geometry.items():
        for load in loads_on(system, at):
            for j, column in R[i].items():
                moved = Spatial(column.angular, column.linear + column.angular.cross(load.arm))
                with b.step("load derivatives", at.joint.name):
                    moved = let_spatial(
                        b, lettered(f"r_{load.number}_{j}", MOTION), -moved, "SR-27"
                    )
                columns[load.number - 1][j] = moved
    rows = [[column.get(joint.number, none) for column in columns] for joint in tree.joints]
    entries = [entry for row in rows for column in row for entry in column.linear_first]
    b.output("dtau_dloads", (tree.n, len(tree.loads), 6), entries)


# -- equations ---------------------------------------------------------------------------------


def mass_entries(system: System[S]) -> Entries[S]:
    """SR-18: both triangles of M of the rigid bodies."""
    entries = masses_sweep(system, bodies_sweep(system), columns_sweep(system)).entries
    return {**entries, **{(j, i): entry for (i, j), entry in entries.items()}}


def rigid_torques(system: System[S], name: str = "tau") -> list[S]:
    """SR-19: M qdd - Q of the rigid bodies."""
    return torques(system, forces_sweep(system, bodies_sweep(system)), name)
