"""An independent numeric model of a robot, straight from its description.

`NumericRobot` shares no code with the derivation that it checks: homogeneous matrices are composed
literally as the model format says, links on fixed joints are carried along and never merged, and
the equations of motion are Lagrange's, with the derivatives of the mass matrix by complex step.

| symbol | array | shape, frame |
| --- | --- | --- |
| q, qd, qdd | coordinates, velocities, accelerations | (..., n) |
| T | link frames | (..., n_links, 4, 4), base frame |
| z, o | axes of the coordinates and points on them | (..., n, 3), base frame |
| Jv, Jw | linear and angular Jacobians of points on links | (..., m, 3, n), base axes |
| w | loads [fx fy fz nx ny nz] | (..., n_loads, 6), base axes |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgen.description.expressions import EvaluationError
from symgen.robot.configuration import FREE
from symgen.validation import limits
from symgen.validation.calls import LOADED
from symgen.validation.evaluation import Comparison, Evaluation
from symgen.validation.limits import STEP
from symgen.validation.oracle_parts import Array, Motion, as_array, carried, same_batch, transferred
from symgen.validation.oracle_products import ProductFunctions


class NumericRobot(ProductFunctions):
    """A robot as numbers: every function of a generated module, for real arrays.

    The kinematics, `mass_matrix`, `gravity_forces`, `bias_forces`, the energies and
    `inverse_dynamics` also take complex numbers, so that complex step works on them, and so do the
    forward and hybrid dynamics.  Parameters may be complex as well.
    """

    _slopes_of_mass: tuple[Array, Array] | None = None

    def _bodies(self, motion: Motion) -> _Bodies:
        rotation = motion.frames[..., :3, :3]
        com = self._centres(motion)
        inertia = rotation @ self._inertia @ np.swapaxes(rotation, -1, -2)
        linear, angular = self._point_jacobians(motion, com, range(self.n_links))
        return _Bodies(com, inertia, linear, angular)

    # ------------------------------------------------------------------- energies and forces

    def mass_matrix(self, q: Array) -> Array:
        """M = sum of m Jv' Jv + Jw' I Jw over the links, and the rotors, (..., n, n)."""
        body = self._bodies(self._levers(q))
        momentum = self._mass[:, np.newaxis, np.newaxis] * body.linear
        spin = body.inertia @ body.angular
        bodies = _project(body.linear, momentum) + _project(body.angular, spin)
        return np.asarray(bodies + self._added + self._rotors)

    @property
    def _added(self) -> Array:
        """What added masses add to the mass matrix, (n, n)."""
        return np.diag(self._of_coordinates(self._terms.added_mass))

    @property
    def _rotors(self) -> Array:
        """What the rotors add to the mass matrix, (n, n)."""
        S, inertia = self._coupling, self._terms.reflected_inertia
        return (
            np.asarray(S.T @ (inertia[:, np.newaxis] * S)) if self._is_coupled else np.diag(inertia)
        )

    def kinetic_energy(self, q: Array, qd: Array) -> Array:
        """Sum of m v'v / 2 + omega' I omega / 2 over the links, and the rotors, (...)."""
        q, qd = same_batch(q, qd)
        body = self._bodies(self._levers(q))
        v, omega = _times(body.linear, qd), _times(body.angular, qd)
        momentum = (body.inertia @ omega[..., np.newaxis])[..., 0]
        bodies = np.sum(self._mass[:, np.newaxis] * v * v + omega * momentum, axis=(-1, -2))
        rates = self._of_joints(qd)
        moved = self._terms.reflected_inertia + self._terms.added_mass
        return np.asarray(0.5 * (bodies + np.sum(moved * rates * rates, axis=-1)))

    def potential_energy(self, q: Array) -> Array:
        """Minus the sum of m g'c over the links that move, and the springs, (...).

        Zero level: the base origin.  A link that is fixed to the base is a part of it.
        """
        com = self._centres(self._kinematics(q))
        mass = self._mass * self._moves[:-1].any(axis=1)
        weight = np.sum((com @ self._gravity) * mass, axis=-1)
        springs = self._terms.spring_energy(self._stretches_of_joints(q)) + self.spring_energy(q)
        return np.asarray(springs - weight)

    def gravity_forces(self, q: Array) -> Array:
        """Minus the sum of Jv' m g over the links, (..., n); springs are no part of it."""
        body = self._bodies(self._levers(q))
        weight = np.broadcast_to(self._mass[:, np.newaxis] * self._gravity, body.com.shape)
        return np.asarray(-_transposed_times(body.linear, weight))

    def inverse_dynamics_load_derivatives(self, q: Array) -> Array:
        """-J' of each load's point, (..., n, n_loads, 6)."""
        motion = self._levers(q)
        points = carried(motion, self._load_points, self._load_links)
        linear, angular = self._point_jacobians(motion, points, self._load_links)
        return np.asarray(-np.moveaxis(np.concatenate([linear, angular], axis=-2), -1, -3))

    def _load_forces(self, q: Array, loads: Array | None) -> Array:
        if loads is None:
            return np.zeros((*q.shape[:-1], self.n))
        lever = self.inverse_dynamics_load_derivatives(q)
        return np.asarray(np.sum(lever * loads[..., np.newaxis, :, :], axis=(-1, -2)))

    # ------------------------------------------------------------------- equations of motion

    def mass_matrix_derivatives(self, q: Array) -> Array:
        """[i, j, k] = dM_ij / dq_k by complex step, (..., n, n, n); real q only.

        The last ones are kept: several functions are made of them, and nothing takes longer.
        """
        q = as_array(q)
        known = self._slopes_of_mass
        if known is None or self._random is not None or not np.array_equal(known[0], q):
            known = q.copy(), self._derivatives(self.mass_matrix, q)
            self._slopes_of_mass = known
        return known[1]

    def coriolis_matrix(self, q: Array, qd: Array) -> Array:
        """Christoffel: C_ij = sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) qd_k / 2.

        On manifolds M is that of a chart, less what the chart itself turns: see `_in_a_chart`.
        """
        q, qd = same_batch(q, qd)
        return np.asarray(np.einsum("...ijk,...k->...ij", self._christoffel_symbols(q), qd))

    def _christoffel_symbols(self, q: Array) -> Array:
        """[i, j, k] = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2, (..., n, n, n)."""
        slope, turned = self._in_a_chart(q)
        other = np.swapaxes(slope, -1, -2)
        return np.asarray(0.5 * (slope + other - np.moveaxis(slope, -1, -3)) - turned)

    def _in_a_chart(self, q: Array) -> tuple[Array, Array]:
        """[i, j, k]: slopes of W' M W in a chart with dW/dq_k = D_k, and M D_k; rotors apart."""
        slope = self.mass_matrix_derivatives(q)
        if not self._on_manifolds:
            return slope, np.zeros(())
        rigid = self.mass_matrix(q) - self._rotors
        turned = np.einsum("...ia,kaj->...ijk", rigid, self.space.turning)
        return slope + turned + np.swapaxes(turned, -2, -3), turned

    def inverse_dynamics(
        self, q: Array, qd: Array, qdd: Array, *, loads: Array | None = None
    ) -> Array:
        """Lagrange: tau = M qdd + Mdot qd - d(qd' M qd / 2)/dq + dV/dq + losses - J' w, (..., n).

        V has the springs; dampers and applied forces of the model act as loads w.
        Complex steps cannot be nested; complex arguments go through `virtual_power`.
        """
        q, qd, qdd = same_batch(q, qd, qdd)
        given = (q, qd, qdd, loads)
        if self.is_complex or any(np.iscomplexobj(x) for x in given if x is not None):
            return self.virtual_power(q, qd, qdd, loads=loads)
        slope = self.mass_matrix_derivatives(q)
        inertial = _times(self.mass_matrix(q), qdd)
        convective = np.einsum("...ijk,...j,...k->...i", slope, qd, qd)
        centrifugal = 0.5 * np.einsum("...jki,...j,...k->...i", slope, qd, qd)
        weight = self._derivatives(self.potential_energy, q)
        rigid = inertial + convective - centrifugal + weight + self._transport(q, qd)
        losses = self._of_coordinates(self._terms.losses(self._of_joints(qd)))
        others = self.model_forces(q, qd, elastic=False)
        return np.asarray(rigid + losses + self._load_forces(q, loads) - others)

    def _transport(self, q: Array, qd: Array) -> Array:
        """Euler and Poincare: momenta p = M w of joints on manifolds turn with the link, (..., n).

        w x p for rotations, and v x p_v for a free joint, whose forces are turned, too.
        """
        found = np.zeros((*q.shape[:-1], self.n))
        if not self._on_manifolds:
            return found
        momentum = _times(self.mass_matrix(q) - self._rotors, qd)
        for kind, _, start in self.space.joints:
            w = slice(start + 3 * (kind == FREE), start + 3 + 3 * (kind == FREE))
            found[..., w] = np.cross(qd[..., w], momentum[..., w])
            if kind == FREE:
                v = slice(start, start + 3)
                found[..., v] = np.cross(qd[..., w], momentum[..., v])
                found[..., w] += np.cross(qd[..., v], momentum[..., v])
        return found

    def virtual_power(
        self, q: Array, qd: Array, qdd: Array, *, loads: Array | None = None
    ) -> Array:
        """The same by virtual power: sum of Jv' m (a - g) + Jw' (I alpha + w x I w), and terms."""
        q, qd, qdd = same_batch(q, qd, qdd)
        motion = self._levers(q)
        body = self._bodies(motion)
        omega, alpha, acceleration = self._accelerations(motion, qd, qdd)
        arms = body.com - motion.frames[..., :3, 3]
        force = acceleration + transferred(omega, alpha, arms) - self._gravity
        spin = (body.inertia @ omega[..., np.newaxis])[..., 0]
        moment = (body.inertia @ alpha[..., np.newaxis])[..., 0] + np.cross(omega, spin)
        return np.asarray(
            _transposed_times(body.linear, self._mass[:, np.newaxis] * force)
            + _transposed_times(body.angular, moment)
            + self._of_coordinates(self._drives(q, qd, qdd))
            + self._load_forces(q, loads)
            - self.model_forces(q, qd)
        )

    def _drives(self, q: Array, qd: Array, qdd: Array) -> Array:
        """What drives, bearings and springs of all joints take, (..., N)."""
        places, rates, terms = self._stretches_of_joints(q), self._of_joints(qd), self._terms
        rotors = terms.reflected_inertia * self._of_joints(qdd)
        added = terms.added_mass * self._of_joints(qdd + self._turning_of_travel(qd))
        return np.asarray(rotors + added + terms.losses(rates) + terms.springs(places))

    def _turning_of_travel(self, qd: Array) -> Array:
        """w x v of free joints: what their origins' accelerations have beside v', (..., n)."""
        found = np.zeros_like(qd)
        for kind, _, start in self.space.joints:
            if kind == FREE:
                v, w = qd[..., start : start + 3], qd[..., start + 3 : start + 6]
                found[..., start : start + 3] = np.cross(w, v)
        return found

    def torque_parts(
        self, q: Array, qd: Array, qdd: Array, *, loads: Array | None = None
    ) -> tuple[Array, ...]:
        """The terms of Lagrange's equations by what they are made of, 6 x (..., n); real q only."""
        q, qd, qdd = same_batch(q, qd, qdd)
        squares = np.einsum("...ikk,...k->...i", self._christoffel_symbols(q), qd * qd)
        velocity = _times(self.coriolis_matrix(q, qd), qd)
        terms = self._terms
        losses = terms.losses(self._of_joints(qd)) + terms.springs(self._stretches_of_joints(q))
        return (
            _times(self.mass_matrix(q), qdd),
            squares,
            velocity - squares,
            self.gravity_forces(q),
            self._load_forces(q, loads) - self.model_forces(q, qd),
            self._of_coordinates(losses),
        )

    def bias_forces(self, q: Array, qd: Array, *, loads: Array | None = None) -> Array:
        """Inverse dynamics at zero acceleration, (..., n)."""
        q, qd = same_batch(q, qd)
        return self.inverse_dynamics(q, qd, np.zeros(qd.shape), loads=loads)

    def inverse_dynamics_derivatives(
        self, q: Array, qd: Array, qdd: Array, *, loads: Array | None = None
    ) -> tuple[Array, Array, Array, Array]:
        """tau, dtau/dq by complex step of virtual power, dtau/dqd = 2 C + losses, dtau/dqdd = M.

        2 C is what the symbols of C give, which are symmetric but on manifolds.
        """
        q, qd, qdd = same_batch(q, qd, qdd)
        tau = self.inverse_dynamics(q, qd, qdd, loads=loads)
        wrenches = None if loads is None else loads[..., np.newaxis, :, :]

        def torques(directions: Array) -> Array:
            rates, accelerations = qd[..., np.newaxis, :], qdd[..., np.newaxis, :]
            return self.virtual_power(directions, rates, accelerations, loads=wrenches)

        slope = self._derivatives(torques, q)
        slopes = self._terms.loss_slopes(self._of_joints(qd))[..., np.newaxis]
        losses = np.swapaxes(self._coupling, -1, -2) @ (slopes * self._coupling)
        symbols = self._christoffel_symbols(q)
        both = symbols + np.swapaxes(symbols, -1, -2)
        by_qd = np.einsum("...ijk,...k->...ij", both, qd)
        forces = self.model_force_slopes(q, qd)
        return tau, slope, by_qd + losses - forces, self.mass_matrix(q)

    def _derivatives(self, function: Callable[[Array], Array], q: Array) -> Array:
        """d function / dq by complex step, in the tangent space: an axis of n behind the result's.

        `function` maps (..., n, nq), one direction per row, to (..., n, results).
        """
        moved = self.space.integrate(q[..., np.newaxis, :], 1j * STEP * np.eye(self.n))
        values = function(moved).imag / STEP
        return np.asarray(np.moveaxis(values, q.ndim - 1, -1))


class ParametrisedRobot:
    """A `NumericRobot` whose functions take `parameters` (S, p), the same in every sample.

    ValueError where some value of the model has no meaning at these parameters.
    """

    def __init__(self, robot: NumericRobot) -> None:
        self._robot = robot
        self._random: np.random.Generator | None = None
        self._others: dict[tuple[float, ...], NumericRobot] = {}

    def disturbed_by(self, random: np.random.Generator) -> ParametrisedRobot:
        """The functions of the robot with every frame disturbed."""
        found = ParametrisedRobot(self._robot.disturbed_by(random))
        found._random = random
        return found

    def __getattr__(self, name: str) -> Callable[..., Any]:
        getattr(self._robot, name)  # AttributeError where there is no such function

        def function(*arguments: Array, parameters: Array | None = None, **options: Any) -> Any:
            robot = self._robot if parameters is None else self._at(parameters)
            if "t" in options and name in LOADED:
                robot = robot.at_time(options.pop("t"))
            return getattr(robot, name)(*arguments, **options)

        return function

    def _at(self, parameters: Array) -> NumericRobot:
        values = tuple(np.reshape(parameters, (-1, np.shape(parameters)[-1]))[0].tolist())
        if values not in self._others:
            try:
                robot = self._robot.with_parameters(np.array(values))
                self._others[values] = (
                    robot if self._random is None else robot.disturbed_by(self._random)
                )
            except EvaluationError as error:
                raise ValueError(str(error)) from error
        return self._others[values]


def lagrange_and_power(s: Evaluation) -> Iterator[Comparison]:
    """The law that the torques of the numeric model are the same in two ways."""
    functions, at = s.subject.functions, s.states
    lagrange, power = (
        torques(at.q, at.qd, at.qdd, loads=at.loads)
        for torques in (functions.inverse_dynamics, functions.virtual_power)
    )
    yield "Lagrange's equations = virtual power", limits.agreement, lagrange, power


# ------------------------------------------------------------------------- intermediate arrays


@dataclass(frozen=True)
class _Bodies:
    """Per link, in base axes: centre of mass, inertia about it, its Jacobians (..., 3, n)."""

    com: Array
    inertia: Array
    linear: Array
    angular: Array


# ------------------------------------------------------------------------------- small algebra


def _times(matrix: Array, vector: Array) -> Array:
    """Matrix (..., r, n) or (..., m, r, n) times vector (..., n)."""
    extra = (np.newaxis,) * (matrix.ndim - vector.ndim - 1)
    return np.asarray((matrix @ vector[(..., *extra, slice(None), np.newaxis)])[..., 0])


def _project(left: Array, right: Array) -> Array:
    """Sum over m of left' right for stacks (..., m, 3, n).

    In blocks of eight links: larger products make the BLAS start threads, which on a busy machine
    wait for each other far longer than the product takes.
    """
    n = left.shape[-1]
    total = np.zeros((*left.shape[:-3], n, n), dtype=np.result_type(left, right))
    for start in range(0, left.shape[-3], 8):
        block = left[..., start : start + 8, :, :]
        stack = block.reshape(*block.shape[:-3], block.shape[-3] * 3, n)
        other = right[..., start : start + 8, :, :].reshape(stack.shape)
        total += np.swapaxes(stack, -1, -2) @ other
    return total


def _transposed_times(jacobian: Array, vectors: Array) -> Array:
    """Sum over m of J' x for stacks J (..., m, 3, n) and x (..., m, 3)."""
    m, axes, n = jacobian.shape[-3:]
    stack = jacobian.reshape(*jacobian.shape[:-3], m * axes, n)
    row = vectors.reshape(*vectors.shape[:-2], 1, m * axes)
    return np.asarray((row @ stack)[..., 0, :])
