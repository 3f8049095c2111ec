"""Inverse dynamics M qdd - Q, accelerations from M qdd = Q, and energies.

Derivatives of accelerations are those of `symgen.formulations.implicit`: M d qdd = d tau - (the
change of M qdd - Q with qdd held), which is (14a) without constraints, M qdd' + C qd' + (M_z qdd +
K) q' = Q_rho - M_rho qdd + tau'.  The same factors serve every parameter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from symgen.algebra.interface import S
from symgen.algebra.linear import total
from symgen.formulations import implicit
from symgen.formulations.accelerations import Solution, solution_of
from symgen.formulations.constraints import RATE, VALUE
from symgen.formulations.interface import Derivation
from symgen.formulations.joint_terms import (
    reflected_inertia,
    rotor_energy,
    spring_energy,
    with_joint_terms,
    with_rotors,
)
from symgen.formulations.semi_recursive.bodies import (
    bodies_sweep,
    body_step,
    forces_sweep,
    masses_sweep,
    torques,
)
from symgen.formulations.semi_recursive.kinematics import (
    ReferencePoint,
    System,
    columns_sweep,
    system_at,
)
from symgen.formulations.shared import flat, square
from symgen.formulations.state import State
from symgen.formulations.torques import Equations as ByTorques
from symgen.formulations.torques import Run, weightless
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder, Results

NOTES = {
    "SR-37": "twice_T_i = V_i . M_i V_i: kinetic energy of a body",
    "SR-38": "U_i = -m g . r_G: potential energy of a body",
}

Entries = Mapping[tuple[int, int], S]
"""Entries of a matrix by pair of joints; missing ones are 0."""


def rigid(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Run:
    """SR-19; see `symgen.formulations.torques.Rigid`."""
    return lambda at, gravity: rigid_torques(
        system_at(tree if gravity else weightless(tree), b, at, point)
    )


def mass_matrix(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """SR-18 with the rotors, (n, n)."""
    rows = square(tree, mass_entries(system_at(tree, b, state, point, VALUE)))
    return {"mass_matrix": flat(with_rotors(tree, rows))}


# -- equations ---------------------------------------------------------------------------------


def mass_entries(system: System[S]) -> Entries[S]:
    """SR-18: both triangles of M of the rigid bodies."""
    entries = masses_sweep(system, bodies_sweep(system), columns_sweep(system)).entries
    return {**entries, **{(j, i): entry for (i, j), entry in entries.items()}}


def rigid_torques(system: System[S], name: str = "tau") -> list[S]:
    """SR-19: M qdd - Q of the rigid bodies."""
    return torques(system, forces_sweep(system, bodies_sweep(system)), name)


@dataclass(frozen=True)
class Equations(ByTorques[S]):
    """M and Q about these reference points."""

    point: ReferencePoint

    def solution(self, for_derivatives: bool = False) -> Solution[S]:
        """See `implicit.Equations`."""
        tree, b, state = self.tree, self.b, self.state
        system = system_at(tree, b, state, self.point)
        mass = dict(mass_entries(system))
        for joint in tree.joints:
            i = joint.number
            mass[i, i] = mass[i, i] + reflected_inertia(joint)
        bias = with_joint_terms(tree, b, state, rigid_torques(system, "bias"))
        return solution_of(tree, b, state, bias, mass, self.free)


def solving(point: ReferencePoint) -> dict[str, Derivation]:
    """Return forward and hybrid dynamics, and their derivatives."""
    return implicit.functions(partial(Equations, rigid=partial(rigid, point), point=point))


def kinetic_energy(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """SR-37, and the rotors."""
    system = system_at(tree, b, state, point, RATE)
    energies: list[S] = []
    for i, at in system.geometry.items():
        M, V = body_step(system, at).M, system.motions[i].V
        with b.step("energy", at.joint.name):
            energies.append(b.let(f"twice_T_{i}", M.apply(V).dot(V), "SR-37"))
    bodies = total(energies, b.algebra) * b.algebra.constant(0.5)
    return {"kinetic_energy": [bodies + rotor_energy(tree, b, state)]}


def potential_energy(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """SR-38, and the springs."""
    system = system_at(tree, b, state, point, VALUE)
    energies: list[S] = []
    for i, at in system.geometry.items():
        weight = tree.gravity * at.joint.body.mass
        with b.step("energy", at.joint.name):
            energies.append(b.let(f"U_{i}", -weight.dot(at.places.centre), "SR-38"))
    return {"potential_energy": [total(energies, b.algebra) + spring_energy(tree, b, state)]}
