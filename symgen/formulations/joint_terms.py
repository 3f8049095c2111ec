"""What drives, bearings and springs add to the rigid-body equations of every formulation.

It is no dynamics of the tree: every term belongs to one coordinate alone, and the model format
states it, so that all formulations take it from here.

==================  =====================================================================
JT-1                G^2 I_r qdd + d qd + k (q - q_rest) + f tanh(qd / v_f)
JT-2                its derivatives: k; d + f (1 - tanh^2(qd / v_f)) / v_f; G^2 I_r
==================  =====================================================================

I_r is the rotor's inertia before the gear of ratio G, d the damping, k the stiffness, f the
friction and v_f the velocity at which it has reached tanh(1) of its size.  A term that the file
leaves out is a structural zero and writes no statement.
"""

from __future__ import annotations

from collections.abc import Sequence

from symgen.algebra.interface import S
from symgen.algebra.linear import total
from symgen.formulations.interface import State
from symgen.kinematics.tree import Joint, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "JT-1": "drive_j = G^2 I_r qdd + d qd + k (q - q_rest) + f tanh(qd / v_f): terms of the joint",
    "JT-2": "derivatives of drive_j: k, d + f (1 - tanh^2(qd / v_f)) / v_f, G^2 I_r",
    "JT-3": "energy of a joint: rotor G^2 I_r qd^2 / 2, spring k (q - q_rest)^2 / 2",
}


def reflected_inertia(joint: Joint[S]) -> S:
    """Inertia of the rotor as the joint feels it, G^2 I_r (kg m^2, or kg for a prismatic joint)."""
    return joint.terms.gear_ratio * joint.terms.gear_ratio * joint.terms.rotor_inertia


def with_joint_terms(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], rigid: Sequence[S]
) -> list[S]:
    """JT-1 added to the torques of the rigid bodies, one per joint."""
    return [
        torque + _drive(joint, state, b) for joint, torque in zip(tree.joints, rigid, strict=True)
    ]


def _drive(joint: Joint[S], state: State[S], b: ProgramBuilder[S]) -> S:
    i, terms = joint.number - 1, joint.terms
    q, qd, qdd = state.q[i], state.qd[i], state.qdd[i]
    slip = b.algebra.function("tanh", qd / terms.friction_velocity)
    with b.step("joint terms", joint.name):
        drive = (
            reflected_inertia(joint) * qdd
            + terms.damping * qd
            + terms.stiffness * (q - terms.rest)
            + terms.friction * slip
        )
        return b.let(f"drive_{joint.number}", drive, "JT-1")


def drive_derivatives(joint: Joint[S], state: State[S], b: ProgramBuilder[S]) -> tuple[S, S, S]:
    """JT-2: derivatives of the joint's own terms with respect to its q, qd and qdd."""
    terms, qd, one = joint.terms, state.qd[joint.number - 1], b.algebra.one
    slip = b.algebra.function("tanh", qd / terms.friction_velocity)
    sticking = (one - slip * slip) / terms.friction_velocity
    with b.step("joint terms", joint.name):
        damping = terms.damping + terms.friction * sticking
        by_qd = b.let(f"d_drive_{joint.number}_dqd_{joint.number}", damping, "JT-2")
    return terms.stiffness, by_qd, reflected_inertia(joint)


def rotor_energy(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> S:
    """JT-3: kinetic energy of all rotors (J)."""
    half = b.algebra.constant(0.5)
    energies = [
        half * reflected_inertia(joint) * qd * qd
        for joint, qd in zip(tree.joints, state.qd, strict=True)
    ]
    return total(energies, b.algebra)


def spring_energy(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> S:
    """JT-3: potential energy of all joint springs (J)."""
    half = b.algebra.constant(0.5)
    stretches = [state.q[joint.number - 1] - joint.terms.rest for joint in tree.joints]
    return total(
        [
            half * joint.terms.stiffness * stretch * stretch
            for joint, stretch in zip(tree.joints, stretches, strict=True)
        ],
        b.algebra,
    )
