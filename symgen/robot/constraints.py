"""Functions of a generated module about closed loops, as editors and type checkers see them.

Written by ``python -m manual.robot_type`` from the table of functions; do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]
    Rows = ArrayLike | Mapping[str, ArrayLike]


class Constraints(Protocol):
    """Functions of mechanisms with loops or relations.  Arguments are those of `Functions`."""

    def constraints(
        self, q: ArrayLike, *, t: Rows | None = None, parameters: Rows | None = None, out: Array |
        None = None,
    ) -> Array:
        """Values that are 0 where loops are closed and relations hold, in the order of
        constraint_names.

        Returns:
            constraints (..., n_constraints): m, m^2 of distances, or none
        """

    def constraint_jacobian(
        self, q: ArrayLike, *, t: Rows | None = None, parameters: Rows | None = None, out: Array |
        None = None,
    ) -> Array:
        """Jacobian J of the constraints.

        Returns:
            constraint_jacobian (..., n_constraints, n): [i, j] = d constraints_i / d q_j
        """

    def constraints_parameter_derivatives(
        self, q: ArrayLike, *, t: Rows | None = None, parameters: Rows | None = None, out: Array |
        None = None,
    ) -> Array:
        """Derivatives of the constraints with respect to the runtime parameters.

        Returns:
            dc_dparameters (..., n_constraints, n_parameters): [i, k] = d constraints[i] / d
                parameters[k]
        """

    def loop_wrenches(
        self, q: ArrayLike, constraint_multipliers: ArrayLike, *, parameters: Rows | None = None,
        out: Array | None = None,
    ) -> Array:
        """Force and moment that close every loop, exerted by the first link on the second, for
        the multipliers of the constraints.

        Returns:
            loop_wrenches (..., n_loops, 6): [fx fy fz nx ny nz], base axes, the force at the
                origin of the second frame (N, N m)
        """

    def constraint_rates(
        self, q: ArrayLike, qd: ArrayLike, *, t: Rows | None = None, parameters: Rows | None =
        None, out: Array | None = None,
    ) -> Array:
        """Rates of the constraints, J qd and what varies with time.

        Returns:
            constraint_rates (..., n_constraints): per second
        """

    def constraint_rates_parameter_derivatives(
        self, q: ArrayLike, qd: ArrayLike, *, t: Rows | None = None, parameters: Rows | None =
        None, out: Array | None = None,
    ) -> Array:
        """Derivatives of the rates of the constraints with respect to the runtime parameters.

        Returns:
            dcd_dparameters (..., n_constraints, n_parameters): [i, k] = d constraint_rates[i] / d
                parameters[k]
        """

    def constraint_bias(
        self, q: ArrayLike, qd: ArrayLike, *, t: Rows | None = None, parameters: Rows | None =
        None, out: Array | None = None,
    ) -> Array:
        """Second rates of the constraints at qdd = 0: they are J qdd + constraint_bias.

        Returns:
            constraint_bias (..., n_constraints): per second squared
        """

    def constraint_acceleration_derivatives(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, t: Rows | None = None, parameters:
        Rows | None = None, out: tuple[Array | None, ...] | None = None,
    ) -> tuple[Array, Array, Array]:
        """Second rates of the constraints and their derivatives with respect to q and qd; that
        with respect to qdd is the Jacobian.

        Returns:
            constraint_accelerations (..., n_constraints): per second squared
            dcdd_dq (..., n_constraints, n): [i, j] = d constraint_accelerations_i / d q_j
            dcdd_dqd (..., n_constraints, n): [i, j] = d constraint_accelerations_i / d qd_j
        """

    def constraint_acceleration_parameter_derivatives(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, t: Rows | None = None, parameters:
        Rows | None = None, out: Array | None = None,
    ) -> Array:
        """Derivatives of the second rates of the constraints by the runtime parameters.

        Returns:
            dcdd_dparameters (..., n_constraints, n_parameters): [i, k] = d
                constraint_accelerations[i] / d parameters[k]
        """

    def constraint_torque_parameter_derivatives(
        self, q: ArrayLike, constraint_multipliers: ArrayLike, *, t: Rows | None = None,
        parameters: Rows | None = None, out: Array | None = None,
    ) -> Array:
        """Derivatives of the torques J^T multipliers with respect to the runtime parameters.

        Returns:
            dp_dparameters (..., n, n_parameters): [i, k] = d constraint_torques[i] / d
                parameters[k]
        """

    def constraint_torque_derivatives(
        self, q: ArrayLike, constraint_multipliers: ArrayLike, *, t: Rows | None = None,
        parameters: Rows | None = None, out: tuple[Array | None, ...] | None = None,
    ) -> tuple[Array, Array]:
        """Torques J^T multipliers of the constraints, and their derivatives with respect to q.

        Returns:
            constraint_torques (..., n): N m or N
            dp_dq (..., n, n): [i, j] = d constraint_torques_i / d q_j
        """
