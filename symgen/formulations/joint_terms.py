"""Torques of drives, bearings and springs, for all formulations.

It is no dynamics of the tree: every term belongs to one coordinate alone, and the model format
states it, so that all formulations take it from here.

==================  =====================================================================
JT-1                G^2 I_r qdd + d qd + k (q - q_rest) + f tanh(qd / v_f)
JT-2                its derivatives: k; d + f (1 - tanh^2(qd / v_f)) / v_f; G^2 I_r
JT-3                energies: rotor G^2 I_r qd^2 / 2, spring k (q - q_rest)^2 / 2
JT-4                second derivative by qd: -2 f tanh(qd / v_f) (1 - tanh^2(qd / v_f)) / v_f^2
==================  =====================================================================

I_r is the rotor's inertia before the gear of ratio G, d the damping, k the stiffness, f the
friction and v_f the velocity at which it has reached tanh(1) of its size.  A term that the file
leaves out is a structural zero and writes no statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from symgen.algebra.interface import S
from symgen.algebra.linear import total
from symgen.errors import BeyondRangeError
from symgen.formulations.state import State
from symgen.kinematics.joint import Joint
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "JT-1": "drive_j = G^2 I_r qdd + d qd + k (q - q_rest) + f tanh(qd / v_f): terms of the joint",
    "JT-2": "derivatives of drive_j: k, d + f (1 - tanh^2(qd / v_f)) / v_f, G^2 I_r",
    "JT-3": "energy of a joint: rotor G^2 I_r qd^2 / 2, spring k (q - q_rest)^2 / 2",
    "JT-4": "second derivative of drive_j by qd: -2 f tanh(x) (1 - tanh^2(x)) / v_f^2, "
    "x = qd / v_f",
}

Rows = list[list[S]]
"""The rows of a matrix."""


def reflected_inertia(joint: Joint[S]) -> S:
    """Reflected inertia of the rotor, G^2 I_r (kg m^2, or kg for a prismatic joint)."""
    return joint.terms.gear_ratio * joint.terms.gear_ratio * joint.terms.rotor_inertia


def with_joint_terms(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], rigid: Sequence[S]
) -> list[S]:
    """JT-1 added to the torques of the rigid bodies, one per joint."""
    terms = drives(tree, b, state)
    return [torque + term for torque, term in zip(rigid, terms, strict=True)]


def drives(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> list[S]:
    """JT-1, one entry per joint."""
    torques: list[S] = []
    for joint, q, qd, qdd in zip(tree.joints, state.q, state.qd, state.qdd, strict=True):
        terms = joint.terms
        slip = b.algebra.function("tanh", qd / terms.friction_velocity)
        with b.step("joint terms", joint.name):
            drive = (
                reflected_inertia(joint) * qdd
                + terms.damping * qd
                + terms.stiffness * (q - terms.rest)
                + terms.friction * slip
            )
            torques.append(b.let(f"drive_{joint.number}", drive, "JT-1"))
    return torques


def with_drive_derivatives(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
    slopes: tuple[Rows[S], Rows[S], Rows[S]],
) -> tuple[Rows[S], Rows[S], Rows[S]]:
    """JT-2 added to dtau_dq, dtau_dqd and dtau_dqdd of the rigid bodies, (n, n) each."""
    terms = drive_derivatives(tree, b, state)
    by_q, by_qd, by_qdd = (
        with_diagonal(rows, terms[by]) for by, rows in zip(terms, slopes, strict=True)
    )
    return by_q, by_qd, by_qdd


def drive_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> dict[str, list[S]]:
    """JT-2 by "q", "qd" and "qdd", one entry per joint."""
    by_qd: list[S] = []
    for joint, qd in zip(tree.joints, state.qd, strict=True):
        j, terms, (_, sticking) = joint.number, joint.terms, _friction(joint, qd, b)
        with b.step("joint terms", joint.name):
            damping = terms.damping + terms.friction * sticking
            by_qd.append(b.let(f"d_drive_{j}_dqd_{j}", damping, "JT-2"))
    stiffness = [joint.terms.stiffness for joint in tree.joints]
    return {"q": stiffness, "qd": by_qd, "qdd": [*map(reflected_inertia, tree.joints)]}


def with_rotors(tree: KinematicTree[S], mass_matrix: Rows[S]) -> Rows[S]:
    """Return the rotors' inertia added to the mass matrix of the rigid bodies, (n, n)."""
    return with_diagonal(mass_matrix, [reflected_inertia(joint) for joint in tree.joints])


def with_diagonal(rows: Rows[S], terms: Sequence[S]) -> Rows[S]:
    """`terms` added to the diagonal of a square matrix."""
    return [
        [entry + terms[i] if i == k else entry for k, entry in enumerate(row)]
        for i, row in enumerate(rows)
    ]


def friction_curvatures(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> list[S]:
    """JT-4 times the multiplier of the joint, one entry per joint."""
    curvatures: list[S] = []
    for joint, qd, multiplier in zip(tree.joints, state.qd, state.multipliers, strict=True):
        terms, (slip, sticking) = joint.terms, _friction(joint, qd, b)
        with b.step("joint terms", joint.name):
            try:
                force = -(terms.friction * b.algebra.constant(2.0) * slip * sticking)
                curvature = force / terms.friction_velocity * multiplier
            except BeyondRangeError:  # v_f below 1e-150: it is 0 at rest, and at any other speed
                curvature = b.algebra.zero
            curvatures.append(b.let(f"d2_drive_{joint.number}_dqd", curvature, "JT-4"))
    return curvatures


def _friction(joint: Joint[S], qd: S, b: ProgramBuilder[S]) -> tuple[S, S]:
    """Return tanh(x) and (1 - tanh^2(x)) / v_f, x = qd / v_f."""
    slip = b.algebra.function("tanh", qd / joint.terms.friction_velocity)
    return slip, (b.algebra.one - slip * slip) / joint.terms.friction_velocity


def without_joint_terms(tree: KinematicTree[S]) -> KinematicTree[S]:
    """Return the tree with joints that add nothing to the rigid-body equations."""
    zero = tree.algebra.zero
    nothing = dict.fromkeys(("rotor_inertia", "damping", "stiffness", "friction"), zero)
    joints = [replace(joint, terms=replace(joint.terms, **nothing)) for joint in tree.joints]
    return replace(tree, joints=tuple(joints))


def rotor_energy(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> S:
    """JT-3: kinetic energy of all rotors (J)."""
    energies: list[S] = []
    for joint, qd in zip(tree.joints, state.qd, strict=True):
        with b.step("joint terms", joint.name):
            energy = b.algebra.constant(0.5) * reflected_inertia(joint) * qd * qd
            energies.append(b.let(f"T_rotor_{joint.number}", energy, "JT-3"))
    return total(energies, b.algebra)


def spring_energy(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> S:
    """JT-3: potential energy of all joint springs (J)."""
    energies: list[S] = []
    for joint, q in zip(tree.joints, state.q, strict=True):
        stretch = q - joint.terms.rest
        with b.step("joint terms", joint.name):
            energy = b.algebra.constant(0.5) * joint.terms.stiffness * stretch * stretch
            energies.append(b.let(f"U_spring_{joint.number}", energy, "JT-3"))
    return total(energies, b.algebra)
