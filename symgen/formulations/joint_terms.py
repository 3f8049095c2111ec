"""Torques of drives, bearings and springs, for all formulations.

It is no dynamics of the tree: every term belongs to one coordinate alone, and the model format
states it, so that all formulations take it from here.

==================  =====================================================================
JT-1                G^2 I_r qdd + d qd + k (q - q_rest) + g s
JT-2                its derivatives: k; d + d' qd + g' s + g s'; G^2 I_r
JT-3                energies: rotor G^2 I_r qd^2 / 2, spring k (q - q_rest)^2 / 2
JT-4                second derivative by qd: 2 d' + d'' qd + g'' s + 2 g' s' + g s''
==================  =====================================================================

I_r is the rotor's inertia before the gear of ratio G, d the damping, k the stiffness, g the
friction, s = tanh(qd / v_f) its direction, and v_f the velocity at which that has reached tanh(1).
d' is the derivative by qd.  Coefficients that differ by direction pass smoothly from x_b at
negative to x_f at positive velocity, and friction falls from its static value f_s to f:

    x = x_f + (x_b - x_f) a,  a = (1 - s)/2;    g = f + (f_s - f) exp(-(qd/v_s)^2),

linear in all but v_f and v_s.  Stribeck's curve is Gaussian, as in B. Armstrong-Helouvry, P. Dupont
and C. Canudas de Wit 1994 (equation 3 with exponent 2).  A term that the file leaves out is a
structural zero and writes no statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import total
from symgen.errors import BeyondRangeError
from symgen.formulations.state import State
from symgen.kinematics.joint import LOSSES, Joint, Terms
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "JT-1": "drive_j = G^2 I_r qdd + d qd + k (q - q_rest) + g s, s = tanh(qd / v_f): terms of the "
    "joint",
    "JT-2": "derivatives of drive_j: k, d + d' qd + g' s + g s', G^2 I_r",
    "JT-3": "energy of a joint: rotor G^2 I_r qd^2 / 2, spring k (q - q_rest)^2 / 2",
    "JT-4": "second derivative of drive_j by qd: 2 d' + d'' qd + g'' s + 2 g' s' + g s''",
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
        terms, (viscous, dry) = joint.terms, losses(joint.terms, qd, b.algebra)
        with b.step("joint terms", joint.name):
            drive = (
                reflected_inertia(joint) * qdd
                + viscous[0]
                + terms.stiffness * (q - terms.rest)
                + dry[0]
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
        j, (viscous, dry) = joint.number, losses(joint.terms, qd, b.algebra, order=1)
        with b.step("joint terms", joint.name):
            by_qd.append(b.let(f"d_drive_{j}_dqd_{j}", viscous[1] + dry[1], "JT-2"))
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
        with b.step("joint terms", joint.name):
            try:
                viscous, dry = losses(joint.terms, qd, b.algebra, order=2)
                curvature = (viscous[2] + dry[2]) * multiplier
            except BeyondRangeError:  # v_f below 1e-150: it is 0 at rest, and at any other speed
                curvature = b.algebra.zero
            curvatures.append(b.let(f"d2_drive_{joint.number}_dqd", curvature, "JT-4"))
    return curvatures


def losses(
    terms: Terms[S], qd: S, algebra: Algebra[S], order: int = 0
) -> tuple[Sequence[S], Sequence[S]]:
    """Return d qd and g s, each with its derivatives by qd up to `order` (0 to 2)."""
    unit, two, half = algebra.one, algebra.constant(2.0), algebra.constant(0.5)
    s = [algebra.function("tanh", qd / terms.friction_velocity)]
    if order > 0:
        s.append((unit - s[0] * s[0]) / terms.friction_velocity)
    if order > 1:
        s.append(-(two * s[0] * s[1]) / terms.friction_velocity)
    share = [half * (unit - s[0]), *(-(half * x) for x in s[1:])]

    def directed(forward: S, backward: S) -> list[S]:
        gap = backward - forward
        return [forward + gap * share[0], *(gap * x for x in share[1:])]

    damping = directed(terms.damping, terms.damping_backward)
    friction = directed(terms.friction, terms.friction_backward)
    static = directed(terms.static_friction, terms.static_friction_backward)
    more = [x - y for x, y in zip(static, friction, strict=True)]
    if not algebra.is_zero(more[0]):
        ratio, pace = qd / terms.stribeck_velocity, two / terms.stribeck_velocity
        decay = [algebra.function("exp", -(ratio * ratio))]
        if order > 0:
            decay.append(-(pace * ratio * decay[0]))
        if order > 1:
            decay.append(-(pace * (ratio * decay[1] + decay[0] / terms.stribeck_velocity)))
        added = _product(more, decay, algebra)
        friction = [x + y for x, y in zip(friction, added, strict=True)]
    return _product(damping, [qd, unit, algebra.zero][: order + 1], algebra), _product(
        friction, s, algebra
    )


def _product(x: Sequence[S], y: Sequence[S], algebra: Algebra[S]) -> list[S]:
    """Return the product of two functions of qd with its derivatives, as many as theirs."""
    values = [x[0] * y[0]]
    if len(x) > 1:
        values.append(x[1] * y[0] + x[0] * y[1])
    if len(x) > 2:
        values.append(x[2] * y[0] + algebra.constant(2.0) * x[1] * y[1] + x[0] * y[2])
    return values


def without_joint_terms(tree: KinematicTree[S]) -> KinematicTree[S]:
    """Return the tree with joints that add nothing to the rigid-body equations."""
    zero = tree.algebra.zero
    nothing = dict.fromkeys(("rotor_inertia", "stiffness", *LOSSES), zero)
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
