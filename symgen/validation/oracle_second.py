"""Second derivatives of the numeric model: central differences of its first ones.

Complex steps cannot be nested, and first derivatives by q take them.  Differences over eight points
are wrong by the ninth derivative times h^8 / 630 and by rounding errors times 1 / h; torques are
polynomials of sines and cosines of q, so that about twelve digits are right (`limits.difference`).
By qd they are exact, for torques are quadratic in qd but for friction.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from symgen.validation.oracle_constraints import ConstraintFunctions
from symgen.validation.oracle_parts import Array, same_batch

STEP = 0.01
WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
"""Of differences over 1, 2, 3, 4 steps to either side."""

LARGEST = 5
"""Coordinates up to which it is done: eight times n first derivatives take a while.  Beyond,
complex steps of derived first derivatives serve alone (`symgen.validation.hessian_laws`)."""


class SecondFunctions(ConstraintFunctions):
    """The function of `NumericRobot` that is the Hessian of multipliers . tau."""

    @abstractmethod
    def _christoffel_symbols(self, q: Array) -> Array:
        """See `NumericRobot`."""

    @property
    def inverse_dynamics_hessian(self) -> Callable[..., tuple[Array, Array, Array, Array]]:
        """Blocks q_q, q_qd, q_qdd, qd_qd, (..., n, n) each; AttributeError where n is large."""
        if self.n > LARGEST or self._on_manifolds or self._has_forces:
            raise AttributeError(f"more than {LARGEST} coordinates, joints on manifolds or forces")
        return self._hessian

    def _hessian(
        self, q: Array, qd: Array, qdd: Array, multipliers: Array, *, loads: Array | None = None
    ) -> tuple[Array, Array, Array, Array]:
        q, qd, qdd, multipliers = same_batch(q, qd, qdd, multipliers)
        options: dict[str, Any] = {} if loads is None else {"loads": loads[..., None, :, :]}
        n = q.shape[-1]
        slopes = [np.zeros((*q.shape, n, n))] * 3
        bodies = copy(self)
        bodies._terms = self._terms.none()  # linear in q and qdd, and perhaps far larger
        for steps, weight in enumerate(WEIGHTS, start=1):
            moved = [
                bodies.inverse_dynamics_derivatives(
                    q[..., None, :] + sign * steps * STEP * np.eye(n),
                    qd[..., None, :],
                    qdd[..., None, :],
                    **options,
                )[1:]
                for sign in (1, -1)
            ]
            pairs = zip(slopes, *moved, strict=True)
            slopes = [found + (x - y) * (weight / STEP) for found, x, y in pairs]
        by_q = [np.einsum("...i,...kij->...kj", multipliers, slope) for slope in slopes]
        velocities = np.einsum("...i,...ijk->...jk", multipliers, self._christoffel_symbols(q))
        return by_q[0], by_q[1], by_q[2], 2.0 * velocities + self._friction(qd, multipliers)

    def _friction(self, qd: Array, multipliers: Array) -> Array:
        """multipliers . friction, twice differentiated by qd."""
        numbers, S = self._terms.numbers, self._coupling
        slip = np.tanh(self._of_joints(qd) / numbers["friction_velocity"])
        slope = (1.0 - slip * slip) * numbers["friction"] / numbers["friction_velocity"]
        curvature = -2.0 * slip * slope / numbers["friction_velocity"]
        felt = self._of_joints(multipliers) * curvature
        return np.asarray(S.T @ (felt[..., np.newaxis] * S))
