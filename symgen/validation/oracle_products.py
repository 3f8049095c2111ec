"""Products of the numeric model: its matrices of derivatives, times vectors.

Hessians times a direction are differences of gradients along it, as those of
`symgen.validation.oracle_second`.  With x all that accelerations depend on, d their derivative by
it, and y the multipliers by the inverse of the mass matrix, those of multipliers . qdd are

    -(1, d)^T H (dx, d dx),    H the Hessian of y . tau by x and qdd,

which is what inverse dynamics at the accelerations of forward dynamics gives, twice differentiated.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np

from symgen.validation.oracle_parts import Array, same_batch
from symgen.validation.oracle_second import LARGEST, STEP, WEIGHTS, SecondFunctions
from symgen.validation.oracle_springs import spring_curvatures


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

    @property
    def inverse_dynamics_hvp(self) -> Callable[..., tuple[Array, ...]]:
        """Changes of the gradients of multipliers . tau along directions; see `_differences`."""
        self._has_differences()
        return self._torque_curvatures

    @property
    def forward_dynamics_hvp(self) -> Callable[..., tuple[Array, ...]]:
        """Changes of the gradients of multipliers . qdd along directions."""
        self._has_differences()
        return self._acceleration_curvatures

    def _has_differences(self) -> None:
        """AttributeError where differences would be slow, or not be exact enough."""
        if self.n > LARGEST or self._has_forces or self.n_parameters:
            raise AttributeError(f"more than {LARGEST} coordinates, forces or runtime parameters")

    def _torque_curvatures(
        self,
        q: Array,
        qd: Array,
        qdd: Array,
        multipliers: Array,
        *directions: Array,
        **options: Any,
    ) -> tuple[Array, ...]:
        q, qd, qdd, multipliers, dq, dqd, dqdd = same_batch(q, qd, qdd, multipliers, *directions)
        bodies = copy(self)
        bodies._terms = self._terms.none()  # perhaps far larger, and linear but for two of them
        loads, dloads = options.get("loads"), options.get("dloads")

        def gradients(step: float) -> tuple[Array, ...]:
            acting = loads
            if dloads is not None:
                acting = step * dloads + (0.0 if loads is None else loads)
            place = self.space.integrate(q, step * dq)
            motion = place, qd + step * dqd, qdd + step * dqdd
            return bodies.inverse_dynamics_vjp(*motion, multipliers, loads=acting)

        found = [0.0 * x for x in gradients(0.0)]
        for steps, weight in enumerate(WEIGHTS, start=1):
            pairs = zip(gradients(steps * STEP), gradients(-steps * STEP), strict=True)
            change = [(x - y) * (weight / STEP) for x, y in pairs]
            found = [x + y for x, y in zip(found, change, strict=True)]
        found[0] = found[0] - self._half_bracket(gradients(0.0)[0], dq)
        found[0] = found[0] + self._of_springs(q, multipliers, dq)
        bends = self._friction(qd, multipliers)
        found[1] = found[1] + np.einsum("...ij,...j->...i", bends, dqd)
        return tuple(found)

    def _of_springs(self, q: Array, multipliers: Array, direction: Array) -> Array:
        """What springs on manifolds add to the change of the gradient by q, (..., n)."""
        if not self._on_manifolds:
            return np.zeros(direction.shape)
        torques = self._of_coordinates(self._terms.stiffness * self._of_joints(multipliers))
        rest = self._terms.numbers.get("rest_configuration")
        return spring_curvatures(self.space, q, rest, torques, direction)

    def _half_bracket(self, gradient: Array, direction: Array) -> Array:
        """Half of the derivative along the bracket of the direction and each column, (..., n)."""
        D = self.space.turning
        bracket = np.einsum("jik->kji", D) - np.einsum("kij->kji", D)
        return np.asarray(0.5 * np.einsum("...k,kji,...i->...j", direction, bracket, gradient))

    def _acceleration_curvatures(
        self,
        q: Array,
        qd: Array,
        tau: Array,
        multipliers: Array,
        *directions: Array,
        **options: Any,
    ) -> tuple[Array, ...]:
        qdd, matrices = self._acceleration_slopes(q, qd, tau, options.get("loads"))
        weights = np.einsum("...i,...ij->...j", multipliers, matrices[2])
        change = _along(matrices, directions, options)
        motion = q, qd, qdd, weights, *directions[:2], change
        by_q, by_qd, by_qdd, loads, parameters = self._torque_curvatures(*motion, **options)
        felt = _backwards(matrices, by_qdd)
        own = (by_q, by_qd, np.zeros_like(by_qdd), loads, parameters)
        return tuple(-(x + y) for x, y in zip(own, felt, strict=True))

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
