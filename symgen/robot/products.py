"""The functions of a generated module that are products, as editors and type checkers see them.

Written by ``python -m manual.robot_type`` from the table of functions; do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from symgen.robot.records import AccelerationGradient, TorqueGradient

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]
    Rows = ArrayLike | Mapping[str, ArrayLike]


class Products(Protocol):
    """Derivatives times a vector.  Arguments are those of `Functions`; ``_jvp`` and ``_hvp`` take:

        dq, dqd, dqdd, dtau (..., n), dloads (..., n_loads, 6), dparameters (..., n_parameters):
            the direction
    """

    def inverse_dynamics_jvp(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, dq: ArrayLike, dqd: ArrayLike, dqdd:
        ArrayLike, *, loads: Rows | None = None, dloads: Rows | None = None, dparameters: Rows |
        None = None, parameters: Rows | None = None, out: tuple[Array | None, ...] | None = None,
    ) -> tuple[Array, Array]:
        """Joint torques, and their derivative along one direction of all that they depend on.

        Returns:
            tau (..., n): joint torques or forces (N m or N)
            tau_along (..., n): derivative of tau along the direction
        """

    def inverse_dynamics_vjp(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, multipliers: ArrayLike, *, loads: Rows
        | None = None, parameters: Rows | None = None, out: tuple[Array | None, ...] | None = None,
    ) -> TorqueGradient:
        """Gradient of multipliers . tau with respect to all that the joint torques depend on.

        Returns:
            q (..., n): [j] = d (multipliers . tau) / d q_j, in the tangent space of q
            qd (..., n): [j] = d (multipliers . tau) / d qd_j
            qdd (..., n): [j] = d (multipliers . tau) / d qdd_j
            loads (..., n_loads, 6): [k, c] = d (multipliers . tau) / d loads[k, c]
            parameters (..., n_parameters): [k] = d (multipliers . tau) / d parameters[k]
        """

    def inverse_dynamics_hvp(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, multipliers: ArrayLike, dq: ArrayLike,
        dqd: ArrayLike, dqdd: ArrayLike, *, loads: Rows | None = None, dloads: Rows | None = None,
        dparameters: Rows | None = None, parameters: Rows | None = None, out: tuple[Array | None,
        ...] | None = None,
    ) -> TorqueGradient:
        """Hessian of multipliers . tau with respect to all that the joint torques depend on,
        times one direction.

        Returns:
            q (..., n): H_q times the direction, H the Hessian of multipliers . tau, in the
                tangent space of q
            qd (..., n): H_qd times the direction, H the Hessian of multipliers . tau
            qdd (..., n): H_qdd times the direction, H the Hessian of multipliers . tau
            loads (..., n_loads, 6): H_loads times the direction, H the Hessian of multipliers .
                tau
            parameters (..., n_parameters): H_parameters times the direction, H the Hessian of
                multipliers . tau
        """

    def forward_dynamics_jvp(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, dq: ArrayLike, dqd: ArrayLike, dtau:
        ArrayLike, *, loads: Rows | None = None, dloads: Rows | None = None, dparameters: Rows |
        None = None, parameters: Rows | None = None, out: tuple[Array | None, ...] | None = None,
    ) -> tuple[Array, Array]:
        """Accelerations, and their derivative along one direction of all that they depend on.

        Returns:
            qdd (..., n): their accelerations (rad/s^2 or m/s^2)
            qdd_along (..., n): derivative of qdd along the direction
        """

    def forward_dynamics_vjp(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, multipliers: ArrayLike, *, loads: Rows
        | None = None, parameters: Rows | None = None, out: tuple[Array | None, ...] | None = None,
    ) -> AccelerationGradient:
        """Gradient of multipliers . qdd with respect to all that the accelerations depend on.

        Returns:
            q (..., n): [j] = d (multipliers . qdd) / d q_j, in the tangent space of q
            qd (..., n): [j] = d (multipliers . qdd) / d qd_j
            tau (..., n): [j] = d (multipliers . qdd) / d tau_j
            loads (..., n_loads, 6): [k, c] = d (multipliers . qdd) / d loads[k, c]
            parameters (..., n_parameters): [k] = d (multipliers . qdd) / d parameters[k]
        """

    def forward_dynamics_hvp(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, multipliers: ArrayLike, dq: ArrayLike,
        dqd: ArrayLike, dtau: ArrayLike, *, loads: Rows | None = None, dloads: Rows | None = None,
        dparameters: Rows | None = None, parameters: Rows | None = None, out: tuple[Array | None,
        ...] | None = None,
    ) -> AccelerationGradient:
        """Hessian of multipliers . qdd with respect to all that the accelerations depend on,
        times one direction.

        Returns:
            q (..., n): H_q times the direction, H the Hessian of multipliers . qdd, in the
                tangent space of q
            qd (..., n): H_qd times the direction, H the Hessian of multipliers . qdd
            tau (..., n): H_tau times the direction, H the Hessian of multipliers . qdd
            loads (..., n_loads, 6): H_loads times the direction, H the Hessian of multipliers .
                qdd
            parameters (..., n_parameters): H_parameters times the direction, H the Hessian of
                multipliers . qdd
        """
