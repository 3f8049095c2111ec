"""Kinematics of one link frame: velocities by reference frame, inertia, inverse kinematics.

What is iterative is written by hand and calls the generated functions.  Nothing here depends on the
robot; `module` is the package.
"""

import typing

import numpy as np

from ._runtime import position

LOCAL, WORLD, ALIGNED = "local", "world", "local_world_aligned"

ROWS = ("x", "y", "z", "rx", "ry", "rz")
"""Names of the rows of twists, Jacobians and operational-space inertias."""


class FrameMotion(typing.NamedTuple):
    """Pose (..., 4, 4), velocity and acceleration (..., 6), [linear; angular], of a link frame."""

    pose: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


class InverseKinematics(typing.NamedTuple):
    """Coordinates `q` (..., n), the distance `error` (...) that is left between the frame and its
    target (m and rad), whether it is `solved` (...), and the number of `iterations` (...)."""

    q: np.ndarray
    error: np.ndarray
    solved: np.ndarray
    iterations: np.ndarray


# -- reference frames -----------------------------------------------------------------------------


def expressed(jacobian, pose, reference):
    """Velocities (..., 6, m) of the origin of the frame at `pose` in base axes, as others see them.

    ``local``: of the same point, in the axes of the frame; ``world``: of the point of the link that
    passes through the base origin, base axes (a spatial velocity).
    """
    if reference == ALIGNED:
        return jacobian
    linear, angular = jacobian[..., :3, :], jacobian[..., 3:, :]
    if reference == LOCAL:
        back = np.swapaxes(pose[..., :3, :3], -1, -2)
        return np.concatenate([back @ linear, back @ angular], axis=-2)
    if reference == WORLD:
        linear = linear + np.cross(pose[..., :3, 3, np.newaxis], angular, axis=-2)
        return np.concatenate([linear, angular], axis=-2)
    names = ", ".join(map(repr, (ALIGNED, LOCAL, WORLD)))
    raise ValueError(f"reference: expected one of {names}, got {reference!r}")


def frame_motion(module, name, q, qd, qdd, reference, parameters):
    """Pose, velocity and acceleration of the frame `name`; see the package."""
    place = position("link", name, module.link_names)
    pose = module.frame_pose(name, q, parameters=parameters)
    velocity, acceleration = (
        rows[..., place, :] for rows in module.link_motion(q, qd, qdd, parameters=parameters)
    )
    seen = [expressed(x[..., np.newaxis], pose, reference)[..., 0] for x in (velocity, acceleration)]
    if reference == WORLD:  # another point of the link passes through the base origin every moment
        seen[1][..., :3] += np.cross(velocity[..., :3], velocity[..., 3:])
    return FrameMotion(pose, *seen)


# -- operational space ----------------------------------------------------------------------------


def operational_space_inertia(module, name, q, rows=None, parameters=None):
    """(J M^-1 J')^-1 with the chosen rows of the Jacobian of the frame `name`; see the package."""
    chosen = _rows(rows)
    q = np.asarray(q, dtype=np.float64)
    jacobian = module.frame_jacobian(name, q, parameters=parameters)[..., chosen, :]
    mass = module.mass_matrix(q, parameters=parameters)
    mobility = jacobian @ np.linalg.solve(mass, np.swapaxes(jacobian, -1, -2))
    # Without a unit: lengths and angles are compared with their own diagonal entries.
    scale = np.sqrt(np.einsum("...ii->...i", mobility))
    scale = np.where(scale > 0.0, scale, 1.0)
    normal = mobility / (scale[..., :, np.newaxis] * scale[..., np.newaxis, :])
    least = np.linalg.eigvalsh(normal)[..., 0]
    if np.any(least < 1e-13):
        raise np.linalg.LinAlgError(
            f"{name} cannot move in all of {', '.join(ROWS[row] for row in chosen)} here: no force "
            "is finite that accelerates it so; choose fewer with rows=, or another state"
        )
    inverse = np.linalg.inv(normal)
    return inverse / (scale[..., :, np.newaxis] * scale[..., np.newaxis, :])


def _rows(rows):
    if rows is None:
        return list(range(6))
    given = [rows] if isinstance(rows, str) else list(rows)
    unknown = [row for row in given if row not in ROWS]
    if unknown or not given or len(set(given)) < len(given):
        raise ValueError(f"rows: expected different ones of {', '.join(ROWS)}, got {rows!r}")
    return [ROWS.index(row) for row in given]


# -- inverse kinematics ---------------------------------------------------------------------------


def inverse_kinematics(
    module, name, target, q0, *, parameters, limits, starts, seed, tolerance, iterations
):
    """Coordinates at which the frame `name` is at `target`; see the package.

    Least squares by the method of Levenberg and Marquardt, all samples at once: the damping is a
    multiple of what is left of the error (Sugihara 2011), so that the steps are those of Newton and
    Gauss in the end.  A coordinate at its limit stays there while the error pulls it outwards.
    """
    target = np.asarray(target, dtype=np.float64)
    whole = target.shape[-2:] == (4, 4)
    if not whole and target.shape[-1:] != (3,):
        raise ValueError(f"target: expected shape (..., 4, 4) or (..., 3), got {target.shape}")
    if not np.all(np.isfinite(target)):
        raise ValueError("target: not all of its entries are finite")
    if whole:
        _check_rotation(target[..., :3, :3])
    lower, upper = _bounds(module, limits)
    given = _middle(lower, upper) if q0 is None else np.asarray(q0, dtype=np.float64)
    if given.shape[-1:] != (module.n,):
        raise ValueError(f"q0: expected shape (..., {module.n}), got {given.shape}")
    batch = np.broadcast_shapes(target.shape[: -2 if whole else -1], given.shape[:-1])
    target = np.broadcast_to(target, batch + target.shape[-2 if whole else -1 :])
    target = target.reshape(-1, *target.shape[len(batch) :])
    first = np.broadcast_to(given, (*batch, module.n)).reshape(-1, module.n)
    problem = _Problem(module, name, parameters, lower, upper, tolerance, iterations)
    best = problem.solve(np.clip(first, lower, upper), target)
    rng = np.random.default_rng(seed)
    for _ in range(starts - 1):
        left = np.flatnonzero(~best.solved)
        if not left.size:
            break
        again = problem.solve(_random(rng, lower, upper, left.size), target[left])
        nearer = again.error < best.error[left]
        for old, new in zip(best, again, strict=True):
            old[left[nearer]] = new[nearer]
    return InverseKinematics(*(part.reshape(batch + part.shape[1:]) for part in best))


class _Problem:
    def __init__(self, module, name, parameters, lower, upper, tolerance, iterations):
        self.module, self.name, self.given = module, name, {"parameters": parameters}
        self.lower, self.upper = lower, upper
        self.tolerance, self.iterations = tolerance, iterations

    def solve(self, q, target):
        """From every row of `q`, (m, n), towards the target of the same row."""
        q, pending = q.copy(), np.arange(len(q))
        factor, steps = np.ones(len(q)), np.zeros(len(q), dtype=np.int64)
        error = self._error(q, target)
        for _ in range(self.iterations):
            pending = pending[~self._done(error, target)[pending] & (factor[pending] < 1e12)]
            if not pending.size:
                break
            trial = self._step(q[pending], error[pending], factor[pending])
            found = self._error(trial, target[pending])
            better = _squares(found) < _squares(error[pending])
            kept, dropped = pending[better], pending[~better]
            q[kept], error[kept] = trial[better], found[better]
            factor[kept] = np.maximum(0.25 * factor[kept], 1e-3)
            factor[dropped] *= 8.0
            steps[pending] += 1
        return InverseKinematics(
            q, np.sqrt(_squares(error)), self._done(error, target), steps
        )

    def _done(self, error, target):
        place = target[..., :3, 3] if target.ndim == 3 else target
        scale = 1.0 + np.linalg.norm(place, axis=-1)
        return np.sqrt(_squares(error)) <= self.tolerance * scale

    def _error(self, q, target):
        """From the frame to its target, base axes: translation, and rotation vector of a pose."""
        pose = self.module.frame_pose(self.name, q, **self.given)
        if target.ndim == 2:
            return target - pose[..., :3, 3]
        turn = target[..., :3, :3] @ np.swapaxes(pose[..., :3, :3], -1, -2)
        return np.concatenate([target[..., :3, 3] - pose[..., :3, 3], rotation_vector(turn)], -1)

    def _step(self, q, error, factor):
        jacobian = self.module.frame_jacobian(self.name, q, **self.given)
        jacobian = jacobian[..., : error.shape[-1], :]
        gradient = np.einsum("mcn,mc->mn", jacobian, error)
        stuck = (q <= self.lower) & (gradient < 0) | (q >= self.upper) & (gradient > 0)
        jacobian = np.where(stuck[:, np.newaxis, :], 0.0, jacobian)
        gradient = np.where(stuck, 0.0, gradient)
        matrix = np.swapaxes(jacobian, -1, -2) @ jacobian
        damping = factor * 0.5 * _squares(error) + 1e-12
        matrix = matrix + damping[:, np.newaxis, np.newaxis] * np.eye(q.shape[-1])
        step = np.linalg.solve(matrix, gradient[..., np.newaxis])[..., 0]
        return np.clip(q + step, self.lower, self.upper)


def rotation_vector(rotation):
    """Axis times angle, (..., 3), of rotations (..., 3, 3), by the quaternion's largest entry."""
    xx, yy, zz = (rotation[..., i, i] for i in range(3))
    x, y, z = (
        rotation[..., k, j] - rotation[..., j, k] for j, k in ((1, 2), (2, 0), (0, 1))
    )
    xy, yz, zx = (rotation[..., j, k] + rotation[..., k, j] for j, k in ((0, 1), (1, 2), (2, 0)))
    columns = np.stack(  # multiples of the quaternion (x, y, z, w)
        [
            np.stack([1 + xx - yy - zz, xy, zx, x], axis=-1),
            np.stack([xy, 1 - xx + yy - zz, yz, y], axis=-1),
            np.stack([zx, yz, 1 - xx - yy + zz, z], axis=-1),
            np.stack([x, y, z, 1 + xx + yy + zz], axis=-1),
        ],
        axis=-1,
    )
    largest = np.argmax(np.einsum("...ii->...i", columns), axis=-1)
    quaternion = np.take_along_axis(columns, largest[..., np.newaxis, np.newaxis], -1)[..., 0]
    quaternion = quaternion * np.where(quaternion[..., 3:] < 0.0, -1.0, 1.0)
    axis, length = quaternion[..., :3], np.linalg.norm(quaternion[..., :3], axis=-1)
    angle = 2.0 * np.arctan2(length, quaternion[..., 3])
    return axis * (angle / np.where(length > 0.0, length, 1.0))[..., np.newaxis]


def _check_rotation(rotation):
    square = rotation @ np.swapaxes(rotation, -1, -2)
    if np.abs(square - np.eye(3)).max(initial=0.0) > 1e-6 or np.any(np.linalg.det(rotation) < 0):
        raise ValueError("target: the upper left 3x3 part of a pose is a rotation matrix")


def _bounds(module, limits):
    if not limits:
        unlimited = np.full(module.n, np.inf)
        return -unlimited, unlimited
    return np.asarray(module.limits["lower"]), np.asarray(module.limits["upper"])


def _middle(lower, upper):
    """Halfway between the limits, where there are both; else 0, or the limit next to it."""
    both = np.isfinite(lower) & np.isfinite(upper)
    middle = 0.5 * (np.where(both, lower, 0.0) + np.where(both, upper, 0.0))
    return np.clip(middle, lower, upper)


def _random(rng, lower, upper, count):
    """Within the limits; within pi (rad or m) of what limits there are."""
    low = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper, 0.0) - np.pi)
    high = np.where(np.isfinite(upper), upper, np.where(np.isfinite(lower), lower, 0.0) + np.pi)
    return rng.uniform(low, high, (count, len(lower)))


def _squares(rows):
    return np.einsum("...i,...i->...", rows, rows)
