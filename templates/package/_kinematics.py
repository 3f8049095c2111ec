"""Kinematics of one link frame: velocities by reference frame, inertia, inverse kinematics.

Written by hand, the same for every robot: it calls the generated functions.
"""

import difflib
import functools
import inspect
import typing

import numpy as np

from ._runtime import number_of_link
from ._signatures import JOINT_LINKS, LINKS
from ._symgen.configuration import Configuration

LOCAL, WORLD, ALIGNED = "local", "world", "local_world_aligned"

ROWS = ("x", "y", "z", "rx", "ry", "rz")
"""Names of the rows of twists, Jacobians and operational-space inertias."""
SYNONYMS = {"position": "target", "pose": "target", "link": "name", "frame": "name"}


class FrameMotion(typing.NamedTuple):
    """Pose (..., 4, 4), velocity and acceleration (..., 6), [linear; angular], of a link frame."""

    pose: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


class InverseKinematics(typing.NamedTuple):
    """Coordinates `q` (..., nq), the distance `error` (...) that is left between the frame and its
    target (m and rad), whether it is `solved` (...), and the number of `iterations` (...)."""

    q: np.ndarray
    error: np.ndarray
    solved: np.ndarray
    iterations: np.ndarray


def _by_keyword(method):
    """`method` with a plain message where options are given by position."""
    kinds = {name: one.kind for name, one in inspect.signature(method).parameters.items()}
    options = [name for name, kind in kinds.items() if kind is inspect.Parameter.KEYWORD_ONLY]
    given = [name for name in kinds if name not in options]
    called = f"{method.__name__}({', '.join(given[1:])})"
    message = f"{called} takes everything else by name: {', '.join(f'{x}=...' for x in options)}"

    @functools.wraps(method)
    def plain(*args, **keywords):
        if len(args) > len(given):
            raise TypeError(message)
        unknown = next((name for name in keywords if name not in kinds), None)
        if unknown is not None:
            near = [SYNONYMS.get(unknown), *difflib.get_close_matches(unknown, kinds, 1)]
            hint = next((f"; did you mean {x}?" for x in near if x in kinds), "")
            raise TypeError(f"{called} has no argument {unknown!r}{hint}")
        if isinstance(keywords.get("reference"), str):
            keywords["reference"] = keywords["reference"].lower()
        return method(*args, **keywords)

    return plain


class Kinematics:
    """What a package offers beside its generated functions.

    `module` is the package, `frame_jacobian` that in base axes, None where it was not built.
    """

    def __init__(self, module, frame_jacobian):
        self._module, self._jacobian = module, frame_jacobian

    def _place(self, name):
        """The number of the link called `name`, from 0."""
        return int(number_of_link(name, LINKS, JOINT_LINKS))

    @_by_keyword
    def frame_motion(self, name, q, qd, qdd, *, reference=ALIGNED, parameters=None):
        """Pose, velocity and acceleration of a link frame.

        Arguments (batch axes ... broadcast mutually):
            name                 a link, one of link_names
            q (..., nq)          joint coordinates (rad or m)
            qd, qdd (..., n)     their velocities and accelerations
            reference            "local_world_aligned": of the frame's origin, base axes;
                                 "local": of the frame's origin, axes of the frame; "world": of the
                                 point of the link that passes through the base origin, base axes
            parameters (..., n_parameters)   values of the runtime parameters

        Returns a named tuple FrameMotion:
            pose (..., 4, 4)          in the base frame (m)
            velocity (..., 6)         [linear; angular] (m/s, rad/s)
            acceleration (..., 6)     its rate, without gravity; at qdd = 0 that is dJ/dt qd.  For
                                      "local" that of "local_world_aligned", turned
        """
        place = self._place(name)
        pose = self._module.frame_pose(name, q, parameters=parameters)
        motion = self._module.link_motion(q, qd, qdd, parameters=parameters)
        velocity, acceleration = (rows[..., place, :] for rows in motion)
        seen = [
            expressed(rate[..., np.newaxis], pose, reference)[..., 0]
            for rate in (velocity, acceleration)
        ]
        if reference == WORLD:  # at every instant it is another point of the link
            seen[1][..., :3] += np.cross(velocity[..., :3], velocity[..., 3:])
        return FrameMotion(pose, *seen)

    @_by_keyword
    def frame_jacobian(self, name, q, *, reference=ALIGNED, parameters=None, out=None):
        """Geometric Jacobian of a link frame, (..., 6, n): [linear; angular] per joint velocity.

        Arguments (batch axes ... broadcast mutually):
            name                 a link, one of link_names
            q (..., nq)          joint coordinates (rad or m)
            reference            "local_world_aligned": of the frame's origin, base axes;
                                 "local": of the frame's origin, axes of the frame; "world": of the
                                 point of the link that passes through the base origin, base axes
            parameters (..., n_parameters)   values of the runtime parameters
            out                  array to write the result to and to return
        """
        jacobian = self._jacobian(name, q, parameters=parameters, out=out)
        if reference == ALIGNED:
            return jacobian
        pose = self._module.frame_pose(name, q, parameters=parameters)
        jacobian[...] = expressed(jacobian, pose, reference)
        return jacobian

    @_by_keyword
    def operational_space_inertia(self, name, q, *, rows=None, parameters=None):
        """Inertia (J M^-1 J')^-1 that a link frame opposes to forces, (..., m, m).

        Arguments:
            name                 a link, one of link_names
            q (..., nq)          joint coordinates (rad or m)
            rows                 m different ones of "x", "y", "z", "rx", "ry", "rz", the rows of
                                 J = frame_jacobian(name, q); default: all
            parameters (..., n_parameters)   values of the runtime parameters

        numpy.linalg.LinAlgError where the frame cannot move in all of these directions, and where
        the mass matrix is singular.
        """
        chosen = _rows(rows)
        jacobian = self._module.frame_jacobian(name, q, parameters=parameters)[..., chosen, :]
        mass = self._module.mass_matrix(q, parameters=parameters)
        if _inverse(mass) is None:
            raise np.linalg.LinAlgError(
                "operational_space_inertia: the mass matrix is singular at this q: some motion of "
                "the joints moves no mass"
            )
        mobility = jacobian @ np.linalg.solve(mass, np.swapaxes(jacobian, -1, -2))
        inverse = _inverse(mobility)
        if inverse is None:
            raise np.linalg.LinAlgError(
                f"{name} cannot move in all of {', '.join(ROWS[row] for row in chosen)} here: no "
                "force is finite that accelerates it so; choose fewer with rows="
            )
        return inverse

    @_by_keyword
    def inverse_kinematics(
        self,
        name,
        target,
        q0=None,
        *,
        limits=True,
        starts=10,
        seed=0,
        tolerance=1e-10,
        iterations=100,
        parameters=None,
    ):
        """Coordinates at which a link frame has a pose, or its origin a position.

        Arguments (batch axes ... broadcast mutually; all samples are solved together):
            name                 a link, one of link_names
            target (..., 4, 4)   pose in the base frame, or (..., 3): position of the origin (m)
            q0 (..., nq)         where to start; default: the middle of the limits
            limits               whether the joints' limits hold
            starts               how many configurations to start from, the first being q0, the
                                 others random, until a sample is solved
            seed                 of the random ones
            tolerance            of the error, times 1 + the distance of the target from the base
            iterations           at most, from every start
            parameters (n_parameters,)   values of the runtime parameters

        Returns a named tuple InverseKinematics:
            q (..., nq)          the nearest that was found
            error (...)          what is left: norm of the translation (m) and the rotation (rad)
            solved (...)         whether that is within the tolerance
            iterations (...)     of the start that led there

        Damped least squares with exact Jacobians (Levenberg-Marquardt): the damping is a multiple
        of the error (Sugihara 2011), so that the last steps are those of Gauss and Newton.  A
        coordinate stays at its limit while the error pulls it outwards; attitudes and positions of
        joints with a quaternion have no limits, and move by `integrate`.
        """
        self._place(name)
        target = _target(target)
        shape = target.shape[-2:] if target.shape[-2:] == (4, 4) else target.shape[-1:]
        space = _space(self._module, limits)
        q0 = self._module._read("q0", q0)
        start = _middle(space) if q0 is None else np.asarray(q0, dtype=np.float64)
        if start.shape[-1:] != (space.nq,):
            raise ValueError(f"q0: expected shape (..., {space.nq}), got {start.shape}")
        batch = np.broadcast_shapes(target.shape[: -len(shape)], start.shape[:-1])
        targets = np.broadcast_to(target, batch + shape).reshape(-1, *shape)
        first = np.broadcast_to(start, (*batch, space.nq)).reshape(-1, space.nq)
        problem = _Problem(self._module, name, parameters, space, tolerance, iterations)
        best = problem.solve(_within(space, space.normalize(first)), targets)
        random = np.random.default_rng(seed)
        for _ in range(starts - 1):
            left = np.flatnonzero(~best.solved)
            if not left.size:
                break
            again = problem.solve(space.random_configuration(random, left.size), targets[left])
            nearer = again.error < best.error[left]
            for old, new in zip(best, again, strict=True):
                old[left[nearer]] = new[nearer]
        return InverseKinematics(*(part.reshape(batch + part.shape[1:])[()] for part in best))


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


# -- operational space ----------------------------------------------------------------------------


def _inverse(matrix):
    """Of symmetric matrices, None where one is singular.

    Rows of metres and of radians are compared with their own diagonal entries.
    """
    size = np.sqrt(np.abs(np.einsum("...ii->...i", matrix)))
    scale = np.where(size > 0.0, size, 1.0)
    units = scale[..., :, np.newaxis] * scale[..., np.newaxis, :]
    if np.any(np.abs(np.linalg.eigvalsh(matrix / units)) < 1e-13):
        return None
    return np.linalg.inv(matrix / units) / units


def _rows(rows):
    if rows is None:
        return list(range(6))
    given = [rows] if isinstance(rows, str) else list(rows)
    unknown = [row for row in given if row not in ROWS]
    if unknown or not given or len(set(given)) < len(given):
        raise ValueError(f"rows: expected different ones of {', '.join(ROWS)}, got {rows!r}")
    return [ROWS.index(row) for row in given]


# -- inverse kinematics ---------------------------------------------------------------------------


class _Problem:
    def __init__(self, module, name, parameters, space, tolerance, iterations):
        self.module, self.name, self.given = module, name, {"parameters": parameters}
        self.space = space
        self.tolerance, self.iterations = tolerance, iterations

    def solve(self, q, target):
        """From every row of `q`, (m, nq), towards the target of the same row."""
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
        return InverseKinematics(q, np.sqrt(_squares(error)), self._done(error, target), steps)

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
        at, lower, upper = self.space.coordinates(q), self.space.lower, self.space.upper
        stuck = (at <= lower) & (gradient < 0) | (at >= upper) & (gradient > 0)
        jacobian = np.where(stuck[:, np.newaxis, :], 0.0, jacobian)
        gradient = np.where(stuck, 0.0, gradient)
        matrix = np.swapaxes(jacobian, -1, -2) @ jacobian
        damping = factor * 0.5 * _squares(error) + 1e-12
        matrix = matrix + damping[:, np.newaxis, np.newaxis] * np.eye(self.space.n)
        step = np.linalg.solve(matrix, gradient[..., np.newaxis])[..., 0]
        return _within(self.space, self.space.integrate(q, step))


def rotation_vector(rotation):
    """Axis times angle, (..., 3), of rotations (..., 3, 3), by the quaternion's largest entry."""
    xx, yy, zz = (rotation[..., i, i] for i in range(3))
    x, y, z = (rotation[..., k, j] - rotation[..., j, k] for j, k in ((1, 2), (2, 0), (0, 1)))
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


def _target(given):
    target = np.asarray(given, dtype=np.float64)
    whole = target.shape[-2:] == (4, 4)
    if not whole and target.shape[-1:] != (3,):
        raise ValueError(f"target: expected shape (..., 4, 4) or (..., 3), got {target.shape}")
    if not np.all(np.isfinite(target)):
        raise ValueError("target: not all of its entries are finite")
    if whole:
        turn = target[..., :3, :3]
        square = turn @ np.swapaxes(turn, -1, -2)
        if np.abs(square - np.eye(3)).max(initial=0.0) > 1e-6 or np.any(np.linalg.det(turn) < 0.0):
            raise ValueError("target: the upper left 3x3 part of a pose is a rotation matrix")
    return target


def _space(module, limits):
    """The configuration space of the package, with or without limits."""
    space = module._configuration
    return space if limits else Configuration(space.n, space.joints)


def _middle(space):
    """Halfway between the limits, where there are both; else 0, or the limit next to it."""
    both = np.isfinite(space.lower) & np.isfinite(space.upper)
    middle = 0.5 * (np.where(both, space.lower, 0.0) + np.where(both, space.upper, 0.0))
    q = space.neutral()
    q[space.positions] = middle[space.velocities]
    return _within(space, q)


def _within(space, q):
    """q with the coordinates that have limits within these."""
    q = np.array(q)
    lower, upper = space.lower[space.velocities], space.upper[space.velocities]
    q[..., space.positions] = np.clip(q[..., space.positions], lower, upper)
    return q


def _squares(rows):
    return np.einsum("...i,...i->...", rows, rows)
