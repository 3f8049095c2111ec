"""Torques by Euler-Lagrange from T - V, in SymPy: independent of formulations and recursions."""

from __future__ import annotations

from typing import Any

import sympy

from symgen.algebra.linear import Vector
from symgen.algebra.sympy_algebra import SymPyAlgebra
from symgen.description.model import RobotDescription
from symgen.formulations import declare_inputs, state_of_joints
from symgen.formulations.joint_terms import losses
from symgen.formulations.state import State
from symgen.kinematics.tree import BASE, KinematicTree, build_tree
from symgen.program.builder import ProgramBuilder

Expr = Any


def euler_lagrange(description: RobotDescription) -> sympy.Matrix:
    """Derive tau by Euler-Lagrange from T - V, for comparison; meant for up to three coordinates.

    tau_i = d/dt dT/dqd_i - dT/dq_i + dV/dq_i - Q_i.  Velocities are time derivatives of positions
    and rotation matrices, taken by SymPy, without a formulation or recursion.  T and V include the
    rotors and springs of the joints, Q includes damping and friction.  Joints that follow others
    are expressed by the independent coordinates; joints on manifolds have none.
    """
    tree = build_tree(description, SymPyAlgebra())
    builder = ProgramBuilder(tree.algebra, taken=tree.parameter_names)
    state = declare_inputs(tree, builder, "inverse_dynamics")
    q, qd, qdd = list(state.q), list(state.qd), list(state.qdd)
    joints, n = state_of_joints(tree, state), len(state.q)
    poses = _poses(tree, list(joints.q))
    kinetic, potential = _energies(tree, poses, state, joints)
    work = _load_power(tree, poses, state)
    rows = []
    for i in range(n):
        momentum = kinetic.diff(qd[i])
        parts = (momentum.diff(q[k]) * qd[k] + momentum.diff(qd[k]) * qdd[k] for k in range(n))
        rate = sum(parts, sympy.S.Zero)
        torque = rate - kinetic.diff(q[i]) + potential.diff(q[i]) - work.diff(qd[i])
        for joint, velocity in zip(tree.joints, joints.qd, strict=True):
            (viscous, *_), (dry, *_) = losses(joint.terms, velocity, tree.algebra)
            torque += (viscous + dry) * velocity.diff(qd[i])
        rows.append(torque)
    return sympy.Matrix(n, 1, rows)


def _poses(tree: KinematicTree[Expr], q: list[Expr]) -> dict[int, tuple[Any, Any]]:
    """(rotation, origin) of every link in the base frame, as SymPy matrices."""
    poses = {BASE: (sympy.eye(3), sympy.zeros(3, 1))}
    for joint in tree.joints:
        pose = joint.transform(q[joint.number - 1], tree.algebra)
        R, p = sympy.Matrix(pose.rotation.rows), _column(pose.translation)
        R_p, p_p = poses[joint.parent]
        poses[joint.number] = (R_p * R, p_p + R_p * p)
    return poses


def _column(v: Vector[Expr]) -> Any:
    return sympy.Matrix(3, 1, list(v))


def _rate(expression: Any, q: list[Expr], qd: list[Expr]) -> Any:
    """Time derivative of a matrix that depends on q alone."""
    rate = sympy.zeros(*expression.shape)
    for coordinate, velocity in zip(q, qd, strict=True):
        rate += expression.diff(coordinate) * velocity
    return rate


def _angular_velocity(R: Any, q: list[Expr], qd: list[Expr]) -> Any:
    """Angular velocity in base axes, from (dR/dt) R^T."""
    spin = _rate(R, q, qd) * R.T
    return sympy.Matrix([spin[2, 1], spin[0, 2], spin[1, 0]])


def _energies(
    tree: KinematicTree[Expr],
    poses: dict[int, tuple[Any, Any]],
    state: State[Expr],
    joints: State[Expr],
) -> tuple[Expr, Expr]:
    """Kinetic and potential energy; `joints` is the state of all joints."""
    q, qd = list(state.q), list(state.qd)
    kinetic = potential = sympy.S.Zero
    for joint in tree.joints:
        R, p = poses[joint.number]
        center = p + R * _column(joint.body.com)
        velocity = _rate(center, q, qd)
        omega = R.T * _angular_velocity(R, q, qd)
        inertia = sympy.Matrix(joint.body.inertia.rows)
        kinetic += (joint.body.mass * velocity.dot(velocity) + omega.dot(inertia * omega)) / 2
        potential -= joint.body.mass * _column(tree.gravity).dot(center)
        at, terms = joint.number - 1, joint.terms
        kinetic += terms.gear_ratio**2 * terms.rotor_inertia * joints.qd[at] ** 2 / 2
        potential += terms.stiffness * (joints.q[at] - terms.rest) ** 2 / 2
    return kinetic, potential


def _load_power(
    tree: KinematicTree[Expr], poses: dict[int, tuple[Any, Any]], state: State[Expr]
) -> Expr:
    power = sympy.S.Zero
    q, qd = list(state.q), list(state.qd)
    for load, wrench in zip(tree.loads, state.loads, strict=True):
        R, p = poses[load.body]
        velocity = _rate(p + R * _column(load.point), q, qd)
        power += _column(wrench.force).dot(velocity)
        power += _column(wrench.moment).dot(_angular_velocity(R, q, qd))
    return power
