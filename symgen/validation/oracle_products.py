"""Products of the numeric model: its matrices of derivatives, times vectors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgen.validation.oracle_parts import Array
from symgen.validation.oracle_second import SecondFunctions


class ProductFunctions(SecondFunctions):
    """Functions of `NumericRobot` that are derivatives times a vector; real only."""

    @abstractmethod
    def inverse_dynamics_load_derivatives(self, q: Array) -> Array:
        """See `NumericRobot`."""

    def inverse_dynamics_jvp(
        self, q: Array, qd: Array, qdd: Array, *directions: Array, **options: Any
    ) -> tuple[Array, Array]:
        """tau, and its derivative along directions of q, qd, qdd and, as options, loads and
        parameters."""
        tau, matrices = self._torque_slopes(q, qd, qdd, options.get("loads"))
        return tau, _along(matrices, directions, options)

    def inverse_dynamics_vjp(
        self, q: Array, qd: Array, qdd: Array, multipliers: Array, *, loads: Array | None = None
    ) -> tuple[Array, ...]:
        """Gradients of multipliers . tau by q, qd, qdd, loads and parameters."""
        return _backwards(self._torque_slopes(q, qd, qdd, loads)[1], multipliers)

    def forward_dynamics_jvp(
        self, q: Array, qd: Array, tau: Array, *directions: Array, **options: Any
    ) -> tuple[Array, Array]:
        """qdd, and its derivative along directions of q, qd, tau and, as options, of loads and
        parameters."""
        qdd, matrices = self._acceleration_slopes(q, qd, tau, options.get("loads"))
        return qdd, _along(matrices, directions, options)

    def forward_dynamics_vjp(
        self, q: Array, qd: Array, tau: Array, multipliers: Array, *, loads: Array | None = None
    ) -> tuple[Array, ...]:
        """Gradients of multipliers . qdd by q, qd, tau, loads and parameters."""
        return _backwards(self._acceleration_slopes(q, qd, tau, loads)[1], multipliers)

    def _torque_slopes(
        self, q: Array, qd: Array, qdd: Array, loads: Array | None
    ) -> tuple[Array, list[Array]]:
        """tau, and its derivatives by q, qd, qdd, loads (..., n, n_loads, 6), parameters."""
        tau, *matrices = self.inverse_dynamics_derivatives(q, qd, qdd, loads=loads)
        by_loads = np.broadcast_to(
            self.inverse_dynamics_load_derivatives(q), (*tau.shape, self.n_loads, 6)
        )
        by_parameters = self.inverse_dynamics_parameter_derivatives(q, qd, qdd, loads=loads)
        return tau, [*matrices, by_loads, by_parameters]

    def _acceleration_slopes(
        self, q: Array, qd: Array, tau: Array, loads: Array | None
    ) -> tuple[Array, list[Array]]:
        """The same of qdd; a load pushes as a torque does."""
        qdd, *matrices = self.forward_dynamics_derivatives(q, qd, tau, loads=loads)
        lever = self.inverse_dynamics_load_derivatives(q)
        by_loads = -np.einsum("...ij,...jkc->...ikc", matrices[2], lever)
        by_parameters = self.forward_dynamics_parameter_derivatives(q, qd, tau, loads=loads)
        return qdd, [*matrices, by_loads, by_parameters]


def _along(
    matrices: Sequence[Array], directions: Sequence[Array], options: dict[str, Any]
) -> Array:
    *by_state, by_loads, by_parameters = matrices
    pairs = zip(by_state, directions, strict=True)
    total = sum(np.einsum("...ij,...j->...i", matrix, x) for matrix, x in pairs)
    if options.get("dloads") is not None:
        total = total + np.einsum("...ikc,...kc->...i", by_loads, options["dloads"])
    if options.get("dparameters") is not None:
        total = total + np.einsum("...ik,...k->...i", by_parameters, options["dparameters"])
    return np.asarray(total)


def _backwards(matrices: Sequence[Array], multipliers: Array) -> tuple[Array, ...]:
    *vectors, by_loads, by_parameters = matrices
    found = [np.einsum("...i,...ij->...j", multipliers, matrix) for matrix in vectors]
    loads = np.einsum("...i,...ikc->...kc", multipliers, by_loads)
    return (*found, loads, np.einsum("...i,...ik->...k", multipliers, by_parameters))
