"""Second derivatives of weighted torques by differences of Pinocchio's first ones.

Differences over eight points, h = 0.01, err by h^8 / 630 times the ninth derivative and by rounding
errors over h; by qd they are exact but for friction, which is added.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from symgen.robot.configuration import Configuration
from symgen.validation.oracle_parts import configuration
from tests.oracles.pinocchio_model import Array, PinocchioRobot

WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)


def hessian(
    robot: PinocchioRobot, q: Array, qd: Array, qdd: Array, multipliers: Array, *, loads: Array
) -> tuple[Array, Array, Array, Array]:
    """Blocks q_q, q_qd, q_qdd, qd_qd of the Hessian of multipliers . tau, (n, n) each."""
    terms = robot.terms

    def rigid(q: Array, qd: Array) -> Array:
        _, by_q, by_qd, mass = robot.inverse_dynamics_derivatives(q, qd, qdd, loads=loads)
        return np.stack([by_q, by_qd - np.diag(terms.loss_slopes(qd)), mass])

    space = configuration(robot.description) or Configuration(len(qd))
    by_q = _slopes(lambda step: multipliers @ rigid(space.integrate(q, step), qd), len(qd))
    by_qd = _slopes(lambda step: multipliers @ rigid(q, qd + step), len(qd))
    slip = np.tanh(qd / terms.friction_velocity)
    bend = -2.0 * terms.friction * slip * (1.0 - slip**2) / terms.friction_velocity**2
    both = 0.5 * (by_q[:, 0] + by_q[:, 0].T)  # in the tangent space the order matters
    return both, by_q[:, 1], by_q[:, 2], by_qd[:, 1] + np.diag(multipliers * bend)


def _slopes(function: Callable[[Array], Array], n: int, step: float = 0.01) -> Array:
    """Derivatives by every coordinate, (n, ...)."""
    ways = [
        sum(
            weight * (function(k * step * axis) - function(-k * step * axis)) / step
            for k, weight in enumerate(WEIGHTS, start=1)
        )
        for axis in np.eye(n)
    ]
    return np.array(ways).reshape(n, 3, n)
