"""Accelerations by Pinocchio's articulated-body algorithm, and their derivatives, in file order.

Springs, damping and friction, which Pinocchio does not know, are taken from the torques first.  Of
loads it holds the wrench in the joint frame, where this project holds it in base axes.

Where some joints are prescribed, Pinocchio's torques and their slopes are solved for what is not
given: M_ff qdd_f = tau_f - bias_f - M_fp qdd_p.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from tests.oracles.pinocchio_model import Array, PinocchioRobot


def accelerations(robot: PinocchioRobot, q: Array, qd: Array, tau: Array, loads: Array) -> Array:
    """qdd, (n,)."""
    pushed = robot._to_pin(tau - robot.terms.springs(robot.coordinates(q)) - robot.terms.losses(qd))
    forces = robot._external_forces(q, loads)
    states = robot._q_to_pin(q), robot._to_pin(qd)
    return pin.aba(robot.model, robot.data, *states, pushed, forces)[robot.order]


def acceleration_derivatives(
    robot: PinocchioRobot, q: Array, qd: Array, tau: Array, loads: Array
) -> tuple[Array, Array, Array]:
    """dqdd/dq, dqdd/dqd, dqdd/dtau, (n, n) each."""
    pushed = robot._to_pin(tau - robot.terms.springs(robot.coordinates(q)) - robot.terms.losses(qd))
    forces = robot._external_forces(q, loads)
    states = robot._q_to_pin(q), robot._to_pin(qd)
    pin.computeABADerivatives(robot.model, robot.data, *states, pushed, forces)
    by_q, by_qd, upper = (
        x.copy() for x in (robot.data.ddq_dq, robot.data.ddq_dv, np.triu(robot.data.Minv))
    )
    inverse = upper + np.triu(upper, 1).T
    by_q += inverse @ robot.load_turning(q, loads)
    inverse = robot._from_pin(inverse)
    by_q = robot._from_pin(by_q) - inverse * robot.terms.stiffness
    by_qd = robot._from_pin(by_qd) - inverse * robot.terms.loss_slopes(qd)
    return by_q, by_qd, inverse


def hybrid(
    robot: PinocchioRobot, prescribed: Array, q: Array, qd: Array, x: Array, loads: Array
) -> tuple[Array, Array]:
    """Torques of the prescribed and accelerations of the free joints, and all accelerations."""
    M, free = robot.mass_matrix(q), ~prescribed
    qdd = np.where(prescribed, x, 0.0)
    rest = x - robot.inverse_dynamics(q, qd, qdd, loads=loads)
    qdd[free] = np.linalg.solve(M[np.ix_(free, free)], rest[free])
    tau = robot.inverse_dynamics(q, qd, qdd, loads=loads)
    return np.where(prescribed, tau, qdd), qdd


def hybrid_derivatives(
    robot: PinocchioRobot, prescribed: Array, q: Array, qd: Array, x: Array, loads: Array
) -> tuple[Array, Array, Array]:
    """dy/dq, dy/dqd, dy/dx, (n, n) each: tau = ID(q, qd, qdd) differentiated at its solution."""
    _, qdd = hybrid(robot, prescribed, q, qd, x, loads)
    _, by_q, by_qd, M = robot.inverse_dynamics_derivatives(q, qd, qdd, loads=loads)
    by_x = np.where(prescribed, M, -np.eye(robot.n))
    slopes = []
    for slope in (by_q, by_qd, by_x):
        slope, free = slope.copy(), ~prescribed
        slope[free] = -np.linalg.solve(M[np.ix_(free, free)], slope[free])
        slope[prescribed] += M[np.ix_(prescribed, free)] @ slope[free]
        slopes.append(slope)
    return tuple(slopes)
