"""Energies of the bodies, from the motion and the mass matrix at their reference points."""

from __future__ import annotations

from symgen.algebra.interface import S
from symgen.algebra.linear import total
from symgen.formulations.constraint_parts import RATE, VALUE
from symgen.formulations.joint_terms import rotor_energy, spring_energy
from symgen.formulations.semi_recursive.bodies import body_step
from symgen.formulations.semi_recursive.kinematics import system_at
from symgen.formulations.semi_recursive.reference_points import ReferencePoint
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "SR-37": "twice_T_i = V_i . M_i V_i: kinetic energy of a body",
    "SR-38": "U_i = -m g . r_G: potential energy of a body",
}


def kinetic_energy(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """SR-37, and the rotors."""
    system = system_at(tree, b, state, point, RATE)
    energies: list[S] = []
    for i, at in system.geometry.items():
        M, V = body_step(system, at).M, system.motions[i].V
        with b.step("energy", at.joint.name):
            energies.append(b.let(f"twice_T_{i}", M.times(V).dot(V), "SR-37"))
    bodies = total(energies, b.algebra) * b.algebra.constant(0.5)
    b.output("kinetic_energy", (), [bodies + rotor_energy(tree, b, state)])


def potential_energy(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """SR-38, and the springs."""
    system = system_at(tree, b, state, point, VALUE)
    energies: list[S] = []
    for i, at in system.geometry.items():
        weight = tree.gravity * at.joint.body.mass
        with b.step("energy", at.joint.name):
            energies.append(b.let(f"U_{i}", -weight.dot(at.places.centre), "SR-38"))
    b.output("potential_energy", (), [total(energies, b.algebra) + spring_energy(tree, b, state)])
