"""Torques of drives, bearings and springs of the joints.

Reflected inertia (of the rotor, times the square of the gear ratio), damping d qd, friction g s,
s = tanh(qd / v), and a linear spring act at each of N joints, whose positions are S q + o; the
generalized torques are S' times these.  Coefficients that differ by direction are
x (1 + s)/2 + x_backward (1 - s)/2, and friction is g = f + (f_static - f) exp(-(qd/v_Stribeck)^2).
`added_mass` is that of the travel of a free joint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .configuration import Configuration, stretches

Array = np.ndarray[Any, Any]

VANISHED = 20.0
"""Least x at which tanh(x) is 1 in float64."""
TERMS = ("reflected_inertia", "added_mass", "damping", "friction", "stiffness")
LOSS_DEFAULTS = {
    "damping_backward": "damping", "friction_backward": "friction", "static_friction": "friction",
    "static_friction_backward": "friction_backward",
}  # fmt: skip
"""Coefficients that may be missing, and those whose numbers they have then."""


class JointTerms:
    """Joint terms of a robot with n coordinates, for real and complex arrays.

    `numbers` has an array (N,) for each of `TERMS`, ``rest`` and ``friction_velocity``, those of
    `LOSS_DEFAULTS` and ``stribeck_velocity`` where the model has any, and ``rest_configuration``
    (nq,) where springs on manifolds are slack at a configuration that is not neutral; terms are
    zero without it.  `coupling` is S (N, n), `offsets` o (N,).
    """

    def __init__(
        self, n: int, numbers: Mapping[str, Array] | None = None, coupling: Array | None = None,
        offsets: Array | None = None, space: Configuration | None = None,
    ) -> None:  # fmt: skip
        self.coupling = np.eye(n) if coupling is None else np.asarray(coupling)
        self._is_coupled = len(self.coupling) > n
        self.offsets = np.zeros(n) if offsets is None else np.asarray(offsets)
        self._space = space if space is not None and space.joints else None
        none = np.zeros(len(self.coupling))
        velocities = dict.fromkeys(("friction_velocity", "stribeck_velocity"), none + 1.0)
        every = {**dict.fromkeys((*TERMS, "rest"), none), **velocities, **(numbers or {})}
        for key, same in LOSS_DEFAULTS.items():
            every.setdefault(key, every[same])
        self.numbers: Mapping[str, Array] = every

    def none(self) -> JointTerms:
        """Return zero terms of the same joints."""
        return JointTerms(self.coupling.shape[1], None, self.coupling, self.offsets, self._space)

    def of_joints(self, rates: Array) -> Array:
        """Return velocities or accelerations of all joints, S x, (..., N)."""
        return np.asarray(rates @ self.coupling.T) if self._is_coupled else rates

    def of_coordinates(self, torques: Array) -> Array:
        """Return generalized torques of the coordinates, S' tau, (..., n)."""
        return np.asarray(torques @ self.coupling) if self._is_coupled else torques

    def positions(self, q: Array) -> Array:
        """Return positions of all joints, S q + o, (..., N); 0 for joints on manifolds."""
        coordinates = q if self._space is None else self._space.coordinates(q)
        return self.of_joints(coordinates) + self.offsets if self._is_coupled else coordinates

    def _stretches(self, q: Array) -> Array:
        """Return stretches of the springs of all joints, (..., N)."""
        lengths = self.positions(q) - self.numbers["rest"]
        if self._space is None:
            return np.asarray(lengths)
        turned = stretches(self._space, q, self.numbers.get("rest_configuration"))
        return np.asarray(lengths + self.of_joints(turned))

    @property
    def rotors(self) -> Array:
        """Mass matrix of the rotors, (n, n)."""
        inertia = self.numbers["reflected_inertia"][:, np.newaxis]
        return np.asarray(self.coupling.T @ (inertia * self.coupling))

    @property
    def added(self) -> Array:
        """Diagonal of the mass matrix of added masses, (n,)."""
        return np.asarray(self.of_coordinates(self.numbers["added_mass"]))

    def inertial(self, qd: Array, qdd: Array) -> Array:
        """Return torques of rotors, and of added masses m (v' + w x v), (..., n)."""
        inertia, rates = self.numbers["reflected_inertia"], qdd
        if self._space is not None:
            rates = qdd - np.einsum("kij,...k,...j->...i", self._space.turning, qd, qd)
        rotors = self.of_coordinates(inertia * self.of_joints(qdd))
        return np.asarray(rotors + self.added * rates)

    def losses(self, qd: Array) -> Array:
        """Return torques of damping and friction, (..., n)."""
        return self.of_coordinates(self._losses(self.of_joints(qd))[0])

    def loss_slopes(self, rates: Array) -> Array:
        """Return derivatives of the losses of joints by their velocities `rates`, (..., N)."""
        return self._losses(rates)[1]

    def _losses(self, rates: Array) -> tuple[Array, Array]:
        """Return torques of damping and friction at velocities of joints, and slopes, (..., N)."""
        terms, v = self.numbers, self.numbers["stribeck_velocity"]
        slip = np.tanh(rates / terms["friction_velocity"])
        turn = (1.0 - slip * slip) / terms["friction_velocity"]

        def directed(key: str) -> tuple[Array, Array]:
            mean, half = (0.5 * (terms[key] + s * terms[f"{key}_backward"]) for s in (1, -1))
            return mean + half * slip, half * turn

        (d, d_1), (f, f_1), (more, more_1) = map(
            directed, ("damping", "friction", "static_friction")
        )
        decay, more, more_1 = np.exp(-((rates / v) ** 2)), more - f, more_1 - f_1
        g, g_1 = f + more * decay, f_1 + (more_1 - 2.0 * rates / v**2 * more) * decay
        return d * rates + g * slip, d + d_1 * rates + g_1 * slip + g * turn

    def springs(self, q: Array) -> Array:
        """Return torques of the springs, (..., n)."""
        return self.of_coordinates(self.numbers["stiffness"] * self._stretches(q))

    def spring_energy(self, q: Array) -> Array:
        """Return the energy (...) of the springs at q (..., nq), J."""
        terms = 0.5 * self.numbers["stiffness"] * self._stretches(q) ** 2
        return np.asarray(np.sum(terms, axis=-1))

    def torques(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return torques of all terms, (..., n)."""
        return np.asarray(self.inertial(qd, qdd) + self.losses(qd) + self.springs(q))

    def friction_slope(self, qd: Array) -> Array:
        """Return the scale of the rounding errors of friction in dtau_dqd, (..., n).

        Its slope (1 - tanh^2(x)) f / v, with x = qd / v, has rounding errors of f / v as long as
        1 - tanh^2 is not 0 in float64; beyond, the true slope 4 exp(-2 x) f / v is lost.  The decay
        from static friction has those of its size over the velocity of Stribeck.
        """
        slope, _, decay = self._friction(qd)
        return np.asarray((slope + decay) @ np.abs(self.coupling) ** 2)

    def friction_curvature(self, qd: Array) -> Array:
        """Return the scale of rounding errors of second derivatives of friction by qd, (..., n)."""
        slope, _, decay = self._friction(qd)
        bend = slope / self.numbers["friction_velocity"] + decay / self.numbers["stribeck_velocity"]
        return np.asarray(bend @ np.abs(self.coupling) ** 3)

    def friction_by_velocity(self, qd: Array) -> Array:
        """Return the scale of rounding errors of derivatives by the velocities of friction,
        (..., n)."""
        slope, ratio, decay = self._friction(qd)
        return np.asarray((slope * ratio + decay) @ np.abs(self.coupling))

    def _friction(self, qd: Array) -> tuple[Array, Array, Array]:
        """Return scales of the errors of the slope, qd / v, and the decay from static friction over
        its velocity, of all joints, (..., N)."""
        terms = self.numbers
        ratio = np.abs(self.of_joints(qd)) / terms["friction_velocity"]
        beyond = np.maximum(0.0, ratio - VANISHED)
        f, f_backward, s, s_backward = (
            terms[f"{key}{end}"]
            for key in ("friction", "static_friction")
            for end in ("", "_backward")
        )
        size = np.max([f, f_backward, s, s_backward], axis=0)
        decay = np.maximum(np.abs(s - f), np.abs(s_backward - f_backward))
        slope = size / terms["friction_velocity"] * np.exp(-2.0 * beyond)
        return np.asarray(slope), ratio, decay / terms["stribeck_velocity"] + 0.0 * ratio
