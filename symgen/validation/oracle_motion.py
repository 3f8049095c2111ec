"""`NumericRobot` beyond torques and energies: joint wrenches, points, momentum, regressor.

Everything is summed over links in base axes, straight from the definitions; derivatives are complex
steps.  Links on fixed joints are carried along and never merged, but for the inertial parameters,
which are those of merged bodies by definition.

| symbol | array | shape, frame |
| --- | --- | --- |
| q, qd, qdd | coordinates, velocities, accelerations | (..., n) |
| omega, alpha, a | angular velocity and acceleration, acceleration of the origin | (..., m, 3) |
| pi | [m, m cx, m cy, m cz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz] of a body | (10,), its own frame |

The frame behind one coordinate of a composite joint is that of the joint's link with the later
coordinates of the joint at 0: nothing but motions stands between the joint frame and the link.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from symgen.validation.limits import STEP
from symgen.validation.oracle_forces import ForceFunctions
from symgen.validation.oracle_parts import (
    Array,
    Motion,
    as_array,
    beside,
    carried,
    same_batch,
    transferred,
    turned,
)

INERTIA_ENTRIES = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
"""Rows and columns of Ixx, Ixy, Iyy, Ixz, Iyz, Izz."""


class MotionFunctions(ForceFunctions):
    """Functions of `NumericRobot` that belong to none of the equations of motion."""

    def path_sum(self, rates: Array) -> Array:
        """Largest sum of magnitudes over the joints that move one link, (...)."""
        moves = self._moves[: self.n_links].astype(float)
        magnitudes = np.abs(self._of_joints(rates))
        return np.asarray((magnitudes @ moves.T).max(axis=-1, initial=0.0))

    def lever(self, q: Array) -> Array:
        """Largest velocity of a link's origin or centre per unit of one joint velocity, (...)."""
        motion = self._kinematics(q)
        points = np.concatenate([motion.frames[..., :3, 3], self._centres(motion)], axis=-2)
        linear, _ = self._point_jacobians(motion, points, [*range(self.n_links)] * 2)
        return np.asarray(np.linalg.norm(linear, axis=-2).max(axis=(-1, -2), initial=0.0))

    def mass_terms(self, q: Array) -> Array:
        """Bounds of the terms that the diagonal of the mass matrix is the sum of, (..., n).

        Composite bodies may be made about one point P of their tree, the origin of its first joint
        that turns.  For a joint with its axis through o, a body of mass m about c and inertia I
        then enters with m |c - P|^2, 2 m |c - P| |o - P|, m |o - P|^2 and I, of which
        m |c - o|^2 + I may be left.  A joint that slides moves m alone.
        """
        motion = self._levers(q)
        turning = self._revolute[:, 0] > 0.0
        moved, inertia = self._moves[:-1].astype(float), np.trace(self._inertia, axis1=1, axis2=2)
        found = np.empty((*motion.places.shape[:-1], self._n_joints))
        for j in range(self._n_joints):
            first = next(k for k in range(j + 1) if (self._carries(k, j) and turning[k]) or k == j)
            point = motion.origins[..., first, :]
            centres = np.linalg.norm(self._centres(motion) - point[..., np.newaxis, :], axis=-1)
            arm = np.linalg.norm(motion.origins[..., j, :] - point, axis=-1)[..., np.newaxis]
            terms = self._mass * (centres + arm) ** 2 + inertia if turning[j] else self._mass
            found[..., j] = np.sum(moved[:, j] * terms, axis=-1)
        return np.asarray((np.sqrt(found) @ np.abs(self._coupling)) ** 2)

    def _carries(self, k: int, j: int) -> bool:
        """Whether joint k moves all that joint j moves."""
        return bool(np.all(self._moves[:, k] >= self._moves[:, j]))

    def _slopes(
        self, function: Callable[..., tuple[Array, ...]], states: Sequence[Array], k: int
    ) -> tuple[Array, ...]:
        """d results / d states[k] by complex step, of q in its tangent space: an axis of n behind
        every result."""
        batch = states[k].ndim - 1
        moved = [x[..., np.newaxis, :] for x in states]
        steps = 1j * STEP * np.eye(self.n)
        moved[k] = self.space.integrate(moved[k], steps) if k == 0 else moved[k] + steps
        results = function(*moved)
        return tuple(np.moveaxis(np.asarray(x.imag / STEP), batch, -1) for x in results)

    # --------------------------------------------------------------------------- joint wrenches

    def joint_wrenches(
        self, q: Array, qd: Array, qdd: Array, *, loads: Array | None = None
    ) -> Array:
        """[force; moment] exerted through each joint on all that it carries, (..., N, 6).

        Inertia forces minus weight minus loads of the links beyond, in axes of the frame behind the
        coordinate; moments about P for a standard DH row, else about the origin of that frame.
        """
        q, qd, qdd = same_batch(q, qd, qdd)
        motion, frames = self._kinematics(q), self._frames_behind(q)
        forces, moments, places = self._inertia_forces(motion, qd, qdd)
        links = list(range(self.n_links))
        if loads is not None:
            pulls = -as_array(loads)
            points = carried(motion, self._load_points, self._load_links)
            forces = beside(forces, pulls[..., :3])
            moments = beside(moments, pulls[..., 3:])
            places = beside(places, points)
            links += self._load_links
        if self._has_forces:
            acting = self._acting(motion, q, qd)
            forces = beside(forces, -acting.forces)
            moments = beside(moments, -acting.torques)
            places = beside(places, acting.places)
            links += acting.links
        beyond = self._moves[links].T[..., np.newaxis].astype(float)  # (N, m, 1)
        arms = places[..., np.newaxis, :, :] - self._moment_points(motion, frames)[..., None, :]
        turning = moments[..., np.newaxis, :, :] + np.cross(arms, forces[..., np.newaxis, :, :])
        axes = np.swapaxes(frames[..., :3, :3], -1, -2)
        force = turned(axes, np.sum(beyond * forces[..., np.newaxis, :, :], axis=-2))
        moment = turned(axes, np.sum(beyond * turning, axis=-2))
        return np.concatenate([force, moment], axis=-1)[..., self._rows, :]

    def joint_wrench_derivatives(
        self, q: Array, qd: Array, qdd: Array, *, loads: Array | None = None
    ) -> tuple[Array, Array, Array, Array]:
        """The wrenches and their derivatives by q, qd, qdd, 3 x (..., N, 6, n); real only."""
        states = same_batch(q, qd, qdd)
        held = None if loads is None else as_array(loads)[..., np.newaxis, :, :]

        def wrenches(*moved: Array) -> tuple[Array]:
            return (self.joint_wrenches(*moved, loads=held),)

        by_q, by_qd, by_qdd = (self._slopes(wrenches, states, k)[0] for k in range(3))
        return self.joint_wrenches(*states, loads=loads), by_q, by_qd, by_qdd

    def _inertia_forces(self, motion: Motion, qd: Array, qdd: Array) -> tuple[Array, Array, Array]:
        """Per link m (a - g), I alpha + omega x I omega, and where: the centre of mass."""
        omega, alpha, origin = self._accelerations(motion, qd, qdd)
        rotation = motion.frames[..., :3, :3]
        inertia = rotation @ self._inertia @ np.swapaxes(rotation, -1, -2)
        arms = turned(rotation, self._com)
        acceleration = origin + transferred(omega, alpha, arms)
        force = self._mass[:, np.newaxis] * (acceleration - self._gravity)
        moment = turned(inertia, alpha) + np.cross(omega, turned(inertia, omega))
        return force, moment, motion.frames[..., :3, 3] + arms

    def _moment_points(self, motion: Motion, frames: Array) -> Array:
        """Points that the moments of joint wrenches refer to, (..., N, 3), base frame."""
        parents = [self._parent[i] for i in self._own_link]
        seats = carried(motion, self._seat_shifts, parents)
        at_seat = np.array(self._at_seat, dtype=bool).reshape(-1, 1)
        return np.where(at_seat, seats, frames[..., :3, 3])

    def _frames_behind(self, q: Array) -> Array:
        """Frames behind the joints of one coordinate, (..., N, 4, 4), base frame."""
        places = self._places_of_joints(q)
        masked = self._kinematics_of_joints(
            places[..., np.newaxis, :] * self._masks, as_array(q)[..., np.newaxis, :]
        )
        return np.asarray(masked.frames[..., self._mask, self._own_link, :, :])

    # ---------------------------------------------------------------------------------- points

    def point_motion(self, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration (gravity left out), 3 x (..., n_points, 3)."""
        q, qd, qdd = same_batch(q, qd, qdd)
        motion, links = self._kinematics(q), self._point_links
        position = carried(motion, self._points, links)
        linear, _ = self._point_jacobians(motion, position, links)
        still = np.zeros((*q.shape[:-1], 1, 3))
        omega, alpha, origin = (
            np.concatenate([part, still], axis=-2)[..., links, :]
            for part in self._accelerations(motion, qd, qdd)
        )
        arms = position - motion.with_base[..., links, :, :][..., :3, 3]
        return position, _by_rates(linear, qd), origin + transferred(omega, alpha, arms)

    def point_motion_derivatives(self, q: Array, qd: Array, qdd: Array) -> tuple[Array, ...]:
        """dx_dq, dv_dq, dv_dqd, da_dq, da_dqd, da_dqdd, each (..., n_points, 3, n); real only."""
        states = same_batch(q, qd, qdd)
        (x_q, v_q, a_q), (_, v_qd, a_qd), (_, _, a_qdd) = (
            self._slopes(self.point_motion, states, k) for k in range(3)
        )
        return x_q, v_q, v_qd, a_q, a_qd, a_qdd

    # ----------------------------------------------------------------------------- link frames

    def link_motion(self, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array]:
        """Velocity and acceleration (gravity left out) of link frames, 2 x (..., n_links, 6)."""
        q, qd, qdd = same_batch(q, qd, qdd)
        omega, alpha, origin = self._accelerations(self._kinematics(q), qd, qdd)
        velocity = np.einsum("...lcn,...n->...lc", self.jacobians(q)[..., :3, :], qd)
        shape = np.broadcast_shapes(velocity.shape, origin.shape)
        rates = np.concatenate([np.broadcast_to(velocity, shape), omega], axis=-1)
        return rates, np.concatenate([origin, alpha], axis=-1)

    # -------------------------------------------------------------------------- centre of mass

    @property
    def _moving_mass(self) -> Array:
        """Masses of the links, 0 for those that are fixed to the base."""
        return np.asarray(self._mass * self._moves[: self.n_links].any(axis=1))

    def _average(self, of_links: Array) -> Array:
        """Mean over the moving links by mass, (..., links, ...) with the links first.

        Without mass it is 0; NaN where masses are runtime parameters, which are divided by.
        """
        mass = self._moving_mass
        total = mass.sum()
        nothing = np.nan if self.parameter_names else 0.0
        shares = mass / total if total else np.full(len(mass), nothing)
        return np.asarray(np.tensordot(shares, of_links, axes=(0, 0)))

    def center_of_mass(self, q: Array) -> Array:
        """Of all moving links, (..., 3), base frame."""
        motion = self._kinematics(as_array(q))
        return self._average(np.moveaxis(self._centres(motion), -2, 0))

    def center_of_mass_jacobian(self, q: Array) -> Array:
        """Velocity of the centre of mass per joint velocity, (..., 3, n), base axes."""
        motion = self._kinematics(as_array(q))
        linear, _ = self._link_jacobians(motion)
        return self._average(np.moveaxis(linear, -3, 0))

    def centroidal_momentum(self, q: Array, qd: Array) -> Array:
        """[linear; angular about the centre of mass] of all moving links, (..., 6), base axes."""
        q, qd = same_batch(q, qd)
        motion = self._kinematics(q)
        centres, rotation = self._centres(motion), motion.frames[..., :3, :3]
        linear, angular = self._link_jacobians(motion)
        momentum = self._moving_mass[:, np.newaxis] * _by_rates(linear, qd)
        inertia = rotation @ self._inertia @ np.swapaxes(rotation, -1, -2)
        spin = turned(inertia, _by_rates(angular, qd))
        arms = centres - self.center_of_mass(q)[..., np.newaxis, :]
        moment = spin + np.cross(arms, momentum)
        return np.concatenate([momentum.sum(axis=-2), moment.sum(axis=-2)], axis=-1)

    def centroidal_momentum_matrix(self, q: Array) -> Array:
        """The momentum of unit velocities of one coordinate each, (..., 6, n)."""
        q = as_array(q)
        unit = np.broadcast_to(np.eye(self.n), (*q.shape[:-1], self.n, self.n))
        columns = self.centroidal_momentum(q[..., np.newaxis, :], unit)
        return np.asarray(np.swapaxes(columns, -1, -2))

    def centroidal_momentum_rate(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Sum of the inertia forces of all moving links, and of their moments about the centre of
        mass, (..., 6), base axes."""
        q, qd, qdd = same_batch(q, qd, qdd)
        motion = self._kinematics(q)
        omega, alpha, origin = self._accelerations(motion, qd, qdd)
        rotation, centres = motion.frames[..., :3, :3], self._centres(motion)
        offsets = centres - motion.frames[..., :3, 3]
        acceleration = origin + transferred(omega, alpha, offsets)
        force = self._moving_mass[:, np.newaxis] * acceleration
        inertia = rotation @ self._inertia @ np.swapaxes(rotation, -1, -2)
        spin = turned(inertia, alpha) + np.cross(omega, turned(inertia, omega))
        moment = spin + np.cross(centres - self.center_of_mass(q)[..., np.newaxis, :], force)
        return np.concatenate([force.sum(axis=-2), moment.sum(axis=-2)], axis=-1)

    def _link_jacobians(self, motion: Motion) -> tuple[Array, Array]:
        """Of the centres of mass of the links, 2 x (..., n_links, 3, n)."""
        return self._point_jacobians(motion, self._centres(motion), range(self.n_links))

    # ------------------------------------------------------------------------------- regressor

    @property
    def inertial_parameters(self) -> Array:
        """pi of the body behind each joint, links on fixed joints included, (10 N,)."""
        frames = self._kinematics(self.space.neutral()).frames
        last = {link: j for j, link in enumerate(self._own_link)}
        result = np.zeros((self._n_joints, 10))
        for i in range(self.n_links):
            owner = i
            while owner >= 0 and owner not in last:
                owner = self._parent[owner]
            if owner >= 0:
                pose = np.linalg.inv(frames[owner]) @ frames[i]
                result[last[owner]] += self._parameters_of_link(i, pose)
        return result[self._rows].reshape(-1)

    def _parameters_of_link(self, link: int, pose: Array) -> Array:
        """pi of one link in a frame in which its own has this pose."""
        mass, turn = self._mass[link], pose[:3, :3]
        centre = pose[:3, 3] + turn @ self._com[link]
        about_origin = centre @ centre * np.eye(3) - np.outer(centre, centre)
        inertia = turn @ self._inertia[link] @ turn.T + mass * about_origin
        return np.array([mass, *(mass * centre), *(inertia[entry] for entry in INERTIA_ENTRIES)])

    def regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Torques of unit inertial parameters, one at a time, by virtual power, (..., n, 10 N)."""
        q, qd, qdd = same_batch(q, qd, qdd)
        whole = self._places_of_joints(q), self._of_joints(qd), self._of_joints(qdd)
        own = q[..., np.newaxis, :]
        q, qd, qdd = (x[..., np.newaxis, :] * self._masks for x in whole)
        motion = self._kinematics_of_joints(q, own)
        omega, alpha, origin = (
            part[..., self._mask, self._own_link, :]
            for part in self._accelerations_of_joints(motion, qd, qdd)
        )
        origins = motion.frames[..., :3, 3]
        linear, angular = (
            self._of_coordinates(
                part[..., self._mask, self._own_link, :, :] * self._masks[self._mask][:, np.newaxis]
            )
            for part in self._joint_jacobians(motion, origins, range(self.n_links))
        )
        back = np.swapaxes(motion.frames[..., self._mask, self._own_link, :3, :3], -1, -2)
        fall = turned(back, origin - self._gravity)
        force, moment = _unit_wrenches(turned(back, omega), turned(back, alpha), fall)
        columns = np.swapaxes(back @ linear, -1, -2) @ force
        columns = columns + np.swapaxes(back @ angular, -1, -2) @ moment  # (..., body, n, 10)
        columns = np.moveaxis(columns, -3, -2)
        columns = columns[..., self._rows, :]
        return np.asarray(columns.reshape(*columns.shape[:-3], self.n, 10 * len(self._rows)))


def _unit_wrenches(omega: Array, alpha: Array, fall: Array) -> tuple[Array, Array]:
    """Force and moment about the origin that a body of unit parameters needs, 2 x (..., 3, 10).

    `fall` is the acceleration of the origin minus gravity; everything in axes of the body.
    """
    units = np.eye(10)
    mass, first = units[:, 0], units[:, 1:4]
    inertia = np.zeros((10, 3, 3))
    for k, (i, j) in enumerate(INERTIA_ENTRIES, start=4):
        inertia[k, i, j] = inertia[k, j, i] = 1.0
    omega, alpha, fall = (x[..., np.newaxis, :] for x in (omega, alpha, fall))
    force = mass[:, np.newaxis] * fall + transferred(omega, alpha, first)
    spin = turned(inertia, alpha) + np.cross(omega, turned(inertia, omega))
    return np.swapaxes(force, -1, -2), np.swapaxes(spin + np.cross(first, fall), -1, -2)


# ------------------------------------------------------------------------------- small algebra


def _by_rates(jacobian: Array, rates: Array) -> Array:
    """Jacobians (..., m, 3, n) times joint velocities (..., n)."""
    return np.asarray(np.einsum("...mcn,...n->...mc", jacobian, rates))
