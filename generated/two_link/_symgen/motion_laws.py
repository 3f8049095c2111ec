"""Laws of joint wrenches, points, link frames, centre of mass, momentum, regressor, constraints.

| symbol | array | shape; S samples |
| --- | --- | --- |
| R, p | rotation and origin of the link behind each coordinate, base frame | (S, n, ...) |
| v, w | velocity of that origin, angular velocity, base axes | (S, n, 3) |
| m, mc, I | inertial parameters: mass, first moments, inertia about the origin | (n, ...) |

The link behind a coordinate is the first that it moves according to the Jacobians, as links come
after those that carry them.  Of a joint with several coordinates it is the link behind the last;
ahead of it are bodies without mass, whose frames no function returns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from . import limits
from .subjects import Array, Comparison, Evaluation, model_forces, times

_UNIT = 1e-6
"""Largest difference of the square of a unit vector from 1."""


def joint_wrenches(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Wrenches along the joints' motions are the torques."""
    if s.has("joint_wrenches", "inverse_dynamics") and _has_bodies(lens):
        bodies = _Bodies(lens)
        along, *parts = bodies.along_joints(np.asarray(s["joint_wrenches"])[:, bodies.rows])
        drives = s.joint_torques
        torques = np.asarray(s["inverse_dynamics"]) - drives
        what = "joint_wrenches along the joints = inverse_dynamics without joint terms"
        shown = bodies.shown
        yield what, limits.physics, along[:, shown], torques[:, shown], drives, *parts


def points(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Velocities are rates of positions, accelerations rates of velocities."""
    name = "point_motion"
    if not lens.has(name) or not np.size(lens[name]):
        return
    if s.has(name):
        _, velocity, acceleration = s.results(name)
        yield f"{name}, velocity = rate of position", limits.physics, velocity, lens.rate(name)
        what = f"{name}, acceleration = rate of velocity"
        yield what, limits.physics, acceleration, lens.rate(name, 1)


def links(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Velocities are those of the Jacobians, accelerations their rates."""
    name = "link_motion"
    if not s.has(name) or not np.size(s[name]):
        return
    velocities, accelerations = s.results(name)
    if lens.has("jacobians"):
        expected = np.einsum("slcn,sn->slc", np.asarray(lens["jacobians"]), s.states.qd)
        yield f"{name}, velocities = jacobians qd", limits.physics, velocities, expected
    if lens.has(name):
        what = f"{name}, accelerations = rate of velocities"
        yield what, limits.physics, accelerations, lens.rate(name)


def center_of_mass(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Gravity forces are those of one weight at the centre of mass."""
    name = "center_of_mass_jacobian"
    if s.has("gravity_forces") and lens.has(name) and not _is_weightless(s):
        lever = np.swapaxes(np.asarray(lens[name]), -1, -2)
        forces = np.asarray(s["gravity_forces"])
        weight = _constant_vector(lever, forces)
        what = "gravity_forces = center_of_mass_jacobian' times one vector in all states"
        yield what, limits.physics, forces, lever @ weight, np.abs(lever) @ np.abs(weight)


def _is_weightless(s: Evaluation) -> bool:
    """Return whether all masses are 0 and parameters, so that the centre of mass is undefined."""
    parameters = s.facts.inertial_parameters
    masses = [1.0] if parameters is None else np.asarray(parameters)[::10]
    return bool(s.states.parameters.size) and not np.any(masses)


def _constant_vector(matrices: Array, vectors: Array) -> Array:
    """Return the x of least squares with matrices x = vectors in all samples."""
    stacked = matrices.reshape(-1, matrices.shape[-1])
    if not (np.all(np.isfinite(stacked)) and np.all(np.isfinite(vectors))):
        return np.full(stacked.shape[-1], np.nan)
    return np.asarray(np.linalg.lstsq(stacked, vectors.reshape(-1), rcond=None)[0])


def momentum(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Centre of mass and momentum follow from the bodies with their inertial parameters."""
    if _is_weightless(s):
        return
    yield from _rates_of_momentum(s, lens)
    parameters = s.facts.inertial_parameters
    if parameters is None:
        return
    total = np.asarray(parameters)[::10].sum()
    if s.has("centroidal_momentum") and lens.has("center_of_mass_jacobian"):
        expected = total * times(np.asarray(lens["center_of_mass_jacobian"]), s.states.qd)
        value = np.asarray(s["centroidal_momentum"])[:, :3]
        what = "centroidal_momentum, linear = total mass center_of_mass_jacobian qd"
        yield what, limits.physics, value, expected
    if not _has_bodies(lens):
        return
    by = "that of inertial_parameters moved by forward_kinematics and jacobians"
    bodies = _Bodies(lens)
    if s.has("center_of_mass"):
        expected, *parts = bodies.center_of_mass(np.asarray(parameters))
        yield f"center_of_mass = {by}", limits.physics, s["center_of_mass"], expected, *parts
    if s.has("centroidal_momentum"):
        expected, *parts = bodies.centroidal_momentum(np.asarray(parameters))
        what = f"centroidal_momentum = {by}"
        yield what, limits.physics, s["centroidal_momentum"], expected, *parts


def _rates_of_momentum(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """The momentum is linear in the velocities, and its rate is a rate."""
    name = "centroidal_momentum"
    if s.has(f"{name}_matrix") and lens.has(name):
        matrix = np.asarray(s[f"{name}_matrix"])
        parts = np.abs(matrix) @ np.abs(s.states.qd)[..., np.newaxis]
        value = times(matrix, s.states.qd)
        yield f"{name}_matrix qd = {name}", limits.physics, value, lens[name], parts
    if s.has(f"{name}_rate") and lens.has(name):
        what = f"{name}_rate = rate of {name}"
        yield what, limits.physics, s[f"{name}_rate"], lens.rate(name)


def regressor(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """The regressor gives the torques of the rigid bodies."""
    parameters = s.facts.inertial_parameters
    if parameters is None or not s.has("regressor", "inverse_dynamics"):
        return
    free, model_torques = s.at("inverse_dynamics", loads=None), model_forces(s)
    if model_torques is None:
        return
    drives = s.joint_torques - model_torques
    value = np.asarray(s["regressor"]) @ parameters
    what = "regressor inertial_parameters = inverse_dynamics without loads and joint terms"
    parts = np.abs(s["regressor"]) @ np.abs(parameters)
    yield what, limits.physics, value, np.asarray(free) - drives, drives, parts


def constraints(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Rates are those along q' = qd, t' = 1, second rates J qdd + bias, torques J' multipliers."""
    rows = s.facts.velocity_rows
    places = np.flatnonzero(np.logical_not(rows)) if rows else slice(None)
    if lens.has("constraints") and s.has("constraint_rates"):
        what = "constraint_rates = rate of constraints"
        pair = s["constraint_rates"], lens.rate("constraints")
        yield what, limits.physics, *(np.asarray(x)[..., places] for x in pair)
    if lens.has("constraint_rates") and s.has("constraint_bias"):
        still = np.zeros_like(s.states.qdd)
        expected = lens.rate("constraint_rates", qdd=still)
        what = "constraint_bias = rate of constraint_rates at qdd = 0"
        yield what, limits.physics, s["constraint_bias"], expected
    name = "constraint_acceleration_derivatives"
    if s.has(name) and lens.has("constraint_jacobian", "constraint_bias"):
        pushed = times(lens["constraint_jacobian"], s.states.qdd)
        bias = np.asarray(lens["constraint_bias"])
        what = f"{name}, value = constraint_jacobian qdd + constraint_bias"
        yield what, limits.physics, s[name], pushed + bias, pushed, bias
    name = "constraint_torque_derivatives"
    if s.has(name) and lens.has("constraint_jacobian"):
        lever = np.swapaxes(np.asarray(lens["constraint_jacobian"]), -1, -2)
        multipliers = s.states.constraint_multipliers
        parts = times(np.abs(lever), np.abs(multipliers))
        what = f"{name}, value = constraint_jacobian' multipliers"
        yield what, limits.physics, s[name], times(lever, multipliers), parts


MOTION_LAWS: tuple[Callable[[Evaluation, Evaluation], Iterator[Comparison]], ...] = (
    joint_wrenches, points, links, center_of_mass, momentum, regressor, constraints,
)  # fmt: skip


def _has_bodies(s: Evaluation) -> bool:
    """Return whether every moving body has a coordinate whose first moved body it is, and which
    moves it along or about a unit vector, unlike Euler parameters."""
    if s.facts.coupling is not None or not s.has("forward_kinematics", "jacobians"):
        return False
    if not s.states.constraint_multipliers.shape[1]:  # Euler parameters have that of their norm
        return True
    turns = np.sum(np.abs(np.asarray(s["jacobians"])[..., 3:, :]) ** 2, axis=-2)
    return bool(np.all((turns < _UNIT) | (np.abs(turns - 1.0) < _UNIT)))


class _Bodies:
    """Links behind the coordinates, by forward kinematics and Jacobians.

    Methods return a result, then terms that set the scale of its rounding errors.
    """

    def __init__(self, s: Evaluation) -> None:
        jacobians = np.asarray(s["jacobians"])
        moved = np.abs(jacobians).max(axis=(0, 2)) > 0.5  # by a unit vector, or not at all
        links = np.argmax(moved, axis=0)
        poses, jacobians = np.asarray(s["forward_kinematics"])[:, links], jacobians[:, links]
        self.R, self.p = poses[..., :3, :3], poses[..., :3, 3]
        motion = np.einsum("sjcn,sn->sjc", jacobians, s.states.qd)
        self.v, self.w = motion[..., :3], motion[..., 3:]
        self.axes = np.einsum("sjcj->sjc", jacobians)
        space = s.facts.configuration
        self.rows = np.arange(len(links)) if space is None else space.rows
        """Number of the joint wrench of each coordinate, (n,)."""
        last = np.append(links[1:] != links[:-1], True)[: len(links)]
        self.bodies = np.append(self.rows[1:] != self.rows[:-1], True)[: len(links)]
        self.shown = last | ~self.bodies
        """Coordinates that are the last ones of their joints, or on manifolds, (n,)."""

    def along_joints(self, wrenches: Array) -> tuple[Array, ...]:
        """Return moments of `wrenches` (S, N, 6) about revolute axes, forces along prismatic ones.

        A joint with both motions is a screw, whose pitch is the travel of points along the axis.
        """
        force, moment = (times(self.R, part) for part in (wrenches[..., :3], wrenches[..., 3:]))
        travel, turn = self.axes[..., :3], self.axes[..., 3:]
        slides = np.abs(turn).max(axis=-1) < 0.5
        pitch = np.sum(travel * turn, axis=-1, keepdims=True)
        turned = np.sum((moment + pitch * force) * turn, axis=-1)
        along = np.where(slides, np.sum(force * travel, axis=-1), turned)
        return along, force, moment

    def center_of_mass(self, parameters: Array) -> tuple[Array, ...]:
        """Return the centre of mass (S, 3), zeros without mass."""
        m, mc, _ = _split(parameters)
        R, p = self.R[:, self.bodies], self.p[:, self.bodies]
        parts = m[:, np.newaxis] * p + times(R, mc)
        share = 1.0 / m.sum() if m.sum() else 0.0
        return share * parts.sum(axis=1), share * parts

    def centroidal_momentum(self, parameters: Array) -> tuple[Array, ...]:
        """Return the momentum (S, 6), [linear; angular about the centre of mass]."""
        m, mc, inertia = _split(parameters)
        R, p, v, w = (x[:, self.bodies] for x in (self.R, self.p, self.v, self.w))
        first = times(R, mc)
        turned = R @ inertia @ np.swapaxes(R, -1, -2)
        linear = m[:, np.newaxis] * v + np.cross(w, first)
        arms = p - self.center_of_mass(parameters)[0][:, np.newaxis]
        parts = times(turned, w), np.cross(first, v), np.cross(arms, linear)
        angular = parts[0] + parts[1] + parts[2]
        return np.concatenate([linear.sum(axis=1), angular.sum(axis=1)], axis=-1), linear, *parts


def are_bodies(parameters: Array | None) -> bool:
    """Return whether inertial parameters (10 N,) give no negative kinetic energy.

    Those of identified models may be unphysical on purpose; None counts as bodies.
    """
    if parameters is None or not np.all(np.isfinite(parameters)):
        return True
    m, mc, inertia = _split(np.asarray(parameters, dtype=float))
    share = np.divide(1.0, m, out=np.zeros_like(m), where=m != 0.0)[:, np.newaxis, np.newaxis]
    squares = np.sum(mc * mc, axis=-1)[:, np.newaxis, np.newaxis] * np.eye(3)
    central = inertia - share * (squares - mc[:, :, np.newaxis] * mc[:, np.newaxis, :])
    rounding = limits.physics(1) * np.abs(inertia).max(axis=(1, 2))
    return bool(np.all(np.linalg.eigvalsh(central).min(axis=-1) >= -rounding) and np.all(m >= 0.0))


def _split(parameters: Array) -> tuple[Array, Array, Array]:
    """Return m (n,), mc (n, 3), I (n, 3, 3)."""
    rows = parameters.reshape(-1, 10)
    return rows[:, 0], rows[:, 1:4], rows[:, [[4, 5, 7], [5, 6, 8], [7, 8, 9]]]
