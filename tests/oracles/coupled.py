"""Joints that follow others, by hand: random ones, and Pinocchio with the reduction applied to it.

Pinocchio's model has a coordinate for every joint; the positions of all joints are S q + o.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgen.description import RobotDescription
from symgen.description.expressions import evaluate
from tests.oracles.descriptions import described
from tests.oracles.pinocchio_model import PinocchioRobot
from tests.oracles.second import hessian

Array = np.ndarray[Any, Any]


def with_followers(text: str, rng: np.random.Generator) -> str:
    """The same model, in which some joints of one coordinate follow others, some of them twice."""
    joints = described(text).joints
    names = [name for joint in joints for name in joint.coordinate_names]
    order = [str(name) for name in rng.permutation(names)]
    single = {joint.name for joint in joints if joint.coordinates == 1}
    followers = {}
    for place, name in enumerate(order[:-1]):  # a joint follows one behind it in this order
        if name in single and (not followers or rng.random() < 0.4):
            leader = order[rng.integers(place + 1, len(order))]
            multiplier = ["-1", "1", "k", f"{rng.uniform(-2, 2):.3f}"][rng.integers(4)]
            offset = ["0", "half", f"{rng.uniform(-1, 1):.3f}"][rng.integers(3)]
            followers[name] = (
                f"    mimic: {{coordinate: {leader}, multiplier: {multiplier}, offset: {offset}}}"
            )
    lines, follows = [], False
    for line in text.splitlines():
        if line.startswith("  - name: "):
            follows = line.removeprefix("  - name: ") in followers
            lines += [line, followers[line.removeprefix("  - name: ")]] if follows else [line]
        elif not (follows and line.strip().startswith("prescribed")):
            lines.append(line)
    return "\n".join(lines) + "\n"


def coupling(description: RobotDescription) -> tuple[Array, Array]:
    """S (N, n) and o (N,), joint by joint along what it follows."""
    values = description.parameter_values
    mimics = {joint.name: joint.mimic for joint in description.joints if joint.mimic is not None}
    names = [name for joint in description.joints for name in joint.coordinate_names]
    own = [name for name in names if name not in mimics]

    def row(name: str) -> tuple[Array, float]:
        if name not in mimics:
            return np.array([float(name == other) for other in own]), 0.0
        mimic = mimics[name]
        factor, shift = evaluate(mimic.multiplier, values), evaluate(mimic.offset, values)
        of_leader, at = row(mimic.coordinate)
        return factor * of_leader, factor * at + shift

    rows = [row(name) for name in names]
    return np.array([s for s, _ in rows]).reshape(len(names), len(own)), np.array(
        [at for _, at in rows]
    )


class CoupledPinocchio:
    """Functions of the coordinates by Pinocchio, for ONE sample at a time."""

    def __init__(self, description: RobotDescription) -> None:
        self.robot = PinocchioRobot(description)
        self.S, self.o = coupling(description)
        self.n = self.S.shape[1]

    def _joints(self, q: Array, *rates: Array) -> list[Array]:
        return [self.S @ q + self.o, *(self.S @ rate for rate in rates)]

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array, *, loads: Array) -> Array:
        """tau, (n,)."""
        return self.S.T @ self.robot.inverse_dynamics(*self._joints(q, qd, qdd), loads=loads)

    def inverse_dynamics_derivatives(
        self, q: Array, qd: Array, qdd: Array, *, loads: Array
    ) -> tuple[Array, ...]:
        """tau, dtau/dq, dtau/dqd, dtau/dqdd."""
        tau, *slopes = self.robot.inverse_dynamics_derivatives(
            *self._joints(q, qd, qdd), loads=loads
        )
        return self.S.T @ tau, *(self.S.T @ slope @ self.S for slope in slopes)

    def inverse_dynamics_hessian(
        self, q: Array, qd: Array, qdd: Array, multipliers: Array, *, loads: Array
    ) -> tuple[Array, ...]:
        """Blocks q_q, q_qd, q_qdd, qd_qd."""
        found = hessian(self.robot, *self._joints(q, qd, qdd, multipliers), loads=loads)
        return tuple(self.S.T @ block @ self.S for block in found)

    def mass_matrix(self, q: Array) -> Array:
        """M, (n, n)."""
        return self.S.T @ self.robot.mass_matrix(*self._joints(q)) @ self.S

    def bias_forces(self, q: Array, qd: Array, *, loads: Array) -> Array:
        """(n,)"""
        return self.inverse_dynamics(q, qd, np.zeros(self.n), loads=loads)

    def gravity_forces(self, q: Array) -> Array:
        """(n,)"""
        return self.S.T @ self.robot.gravity_forces(*self._joints(q))

    def kinetic_energy(self, q: Array, qd: Array) -> float:
        """J"""
        return self.robot.kinetic_energy(*self._joints(q, qd))

    def potential_energy(self, q: Array) -> float:
        """J"""
        return self.robot.potential_energy(*self._joints(q))

    def forward_kinematics(self, q: Array) -> Array:
        """(n_links, 4, 4)"""
        return self.robot.forward_kinematics(*self._joints(q))

    def jacobians(self, q: Array) -> Array:
        """(n_links, 6, n)"""
        return self.robot.jacobians(*self._joints(q)) @ self.S

    def forward_dynamics(self, q: Array, qd: Array, tau: Array, *, loads: Array) -> Array:
        """qdd, (n,)."""
        return np.linalg.solve(self.mass_matrix(q), tau - self.bias_forces(q, qd, loads=loads))

    def forward_dynamics_derivatives(
        self, q: Array, qd: Array, tau: Array, *, loads: Array
    ) -> tuple[Array, ...]:
        """qdd, dqdd/dq, dqdd/dqd, dqdd/dtau."""
        qdd = self.forward_dynamics(q, qd, tau, loads=loads)
        _, by_q, by_qd, mass = self.inverse_dynamics_derivatives(q, qd, qdd, loads=loads)
        return qdd, *(np.linalg.solve(mass, x) for x in (-by_q, -by_qd, np.eye(self.n)))
