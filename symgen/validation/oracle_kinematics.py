"""Reading and kinematics of `NumericRobot`: its numbers, link frames, Jacobians, accelerations.

Every motion that `symgen.validation.oracle_parts` makes of a joint is revolute or prismatic; models
with a type of joint that is not read there never come here (`unread_types`).

| symbol | array | shape, frame |
| --- | --- | --- |
| q, qd, qdd | coordinates, velocities, accelerations | (..., n) |
| T | link frames | (..., n_links, 4, 4), base frame |
| z, o | axes of the coordinates and points on them | (..., n, 3), base frame |
| Jv, Jw | linear and angular Jacobians of points on links | (..., m, 3, n), base axes |
| S, o | what the coordinates make of the positions S q + o of N joints | (N, n), (N,) |

Where no joint follows another, S is the identity.  What is said per axis of a joint above has N
entries, Jacobians of the joints are multiplied by S, and all else is made of those.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Self

import numpy as np

from symgen.description.expressions import Expression
from symgen.description.model import JointDescription, RobotDescription
from symgen.robot.configuration import Configuration, stretches
from symgen.validation.disturbance import disturbed_product
from symgen.validation.oracle_euler import attitude, spin_of, spin_rate_of, spins
from symgen.validation.oracle_parameters import Value, parameter_values, reader
from symgen.validation.oracle_parts import (
    EULER,
    Array,
    Body,
    JointForces,
    Motion,
    as_array,
    carried,
    configuration,
    coupling,
    independent_names,
    numbered_motions,
    pose_of,
    transferred,
    turned,
)


class RobotKinematics:
    """What a description says of a robot, as numbers, and how its links move.

    `parameters` replaces values of the model's parameters, and derived ones follow; they may be
    complex.  `runtime` names those that derivatives with respect to parameters are about.
    """

    _time: Array = np.zeros(())
    _random: np.random.Generator | None = None

    def __init__(
        self,
        description: RobotDescription,
        parameters: Mapping[str, Value] | None = None,
        runtime: Sequence[str] = (),
    ) -> None:
        self.description = description
        self.parameter_names = tuple(runtime)
        self.n_parameters = len(self.parameter_names)
        self.values = parameter_values(description, parameters or {})
        number = reader(self.values)
        joints = description.joints
        index = {joint.link.name: i for i, joint in enumerate(joints)}
        self.name = description.name
        self.joint_names = tuple(name for joint in joints for name in joint.coordinate_names)
        self.coordinate_names = independent_names(joints)
        self.link_names = tuple(joint.link.name for joint in joints)
        self.load_names = tuple(load.name for load in description.loads)
        self.n = len(self.coordinate_names)
        self.n_links = len(joints)
        self.n_loads = len(self.load_names)
        self._n_joints = len(self.joint_names)
        self._read_manifolds(joints)
        self._coupling, self._offsets = coupling(joints, number)
        self._is_coupled = self._n_joints > self.n
        self._gravity = np.array([number(x) for x in description.gravity])
        self._parent = [index.get(joint.parent, -1) for joint in joints]
        self._motions = numbered_motions(joints, number)
        types = [m.type for motions in self._motions for m, j in motions if j >= 0]
        turning = [t in ("revolute", "helical", EULER) for t in types]
        self._revolute = np.array(turning, dtype=float).reshape(-1, 1)
        pitches = [m.pitch for motions in self._motions for m, j in motions if j >= 0]
        self._pitch = np.array(pitches).reshape(-1, 1)
        fours = [[j for m, j in motions if m.type == EULER] for motions in self._motions]
        self._first_of_four = {numbers[0] for numbers in fours if numbers}
        self._moves = self._moving_coordinates()
        self._terms = JointForces(joints, number)
        own = [joint for joint in joints if joint.mimic is None]
        self.prescribed = np.array([x for joint in own for x in joint.prescribed], dtype=bool)
        bodies = [Body(joint.link, number) for joint in joints]
        self._mass = np.array([body.mass for body in bodies])
        self._com = np.array([body.com for body in bodies]).reshape(-1, 3)
        self._inertia = np.array([body.inertia for body in bodies]).reshape(-1, 3, 3)
        self._load_links = [index.get(load.link, -1) for load in description.loads]
        points = [[number(x) for x in load.point] for load in description.loads]
        self._load_points = np.array(points).reshape(-1, 3)
        self._read_points(description, number)

    def _read_manifolds(self, joints: Sequence[JointDescription]) -> None:
        """Where q has the poses of joints on manifolds, by link; which rows such a joint has."""
        names = [(joint, len(joint.position_names)) for joint in joints if joint.mimic is None]
        ends = np.cumsum([count for _, count in names]).tolist()
        places = {
            joint.name: slice(end - count, end)
            for (joint, count), end in zip(names, ends, strict=True)
        }
        self._posed = {
            i: places[joint.name] for i, joint in enumerate(joints) if joint.manifold is not None
        }
        space = configuration(self.description)
        self._on_manifolds = space is not None
        self.space = space or Configuration(self.n)
        inner = [
            joint.manifold is not None and name != joint.coordinate_names[-1]
            for joint in joints
            for name in joint.coordinate_names
        ]
        self._rows = np.flatnonzero(~np.array(inner, dtype=bool))

    def _read_points(
        self, description: RobotDescription, number: Callable[[Expression], Value]
    ) -> None:
        """The points, and what says which frames and points joint wrenches refer to."""
        joints = description.joints
        index = {joint.link.name: i for i, joint in enumerate(joints)}
        self.point_names = tuple(point.name for point in description.points)
        self.n_points = len(self.point_names)
        self._point_links = [index.get(point.link, -1) for point in description.points]
        points = [[number(x) for x in point.point] for point in description.points]
        self._points = np.array(points).reshape(-1, 3)
        self._own_link = [i for i, joint in enumerate(joints) for _ in joint.coordinate_names]
        self._masks, self._mask = _masks(joints)
        rows = [joints[i].dh for i in self._own_link]
        self._at_seat = [row is not None and row.convention == "standard" for row in rows]
        seats = [joints[i].before for i in self._own_link]
        shifts = [[0.0] * 3 if seat is None else [number(x) for x in seat.xyz] for seat in seats]
        self._seat_shifts = np.array(shifts).reshape(-1, 3)

    def _moving_coordinates(self) -> Array:
        """[i, j]: whether joint j moves link i, (n_links + 1, N); the last row is the base."""
        moves = np.zeros((self.n_links + 1, self._n_joints), dtype=bool)
        for i, (parent, motions) in enumerate(zip(self._parent, self._motions, strict=True)):
            if parent >= 0:
                moves[i] = moves[parent]
            moves[i, [j for _, j in motions if j >= 0]] = True
        return moves

    # --------------------------------------------------------------------------- parameters

    @property
    def is_complex(self) -> bool:
        """Whether a parameter is, so that every result may be."""
        return any(isinstance(value, complex) for value in self.values.values())

    @property
    def parameters(self) -> Array:
        """Values of the runtime parameters, (n_parameters,)."""
        return as_array([self.values[name] for name in self.parameter_names])

    def with_parameters(self, parameters: Array) -> Self:
        """The robot with other values of the runtime parameters, (n_parameters,)."""
        values = (x.item() for x in as_array(parameters))
        changed = dict(zip(self.parameter_names, values, strict=True))
        return type(self)(self.description, changed, self.parameter_names).at_time(self._time)

    def at_time(self, t: Array) -> Self:
        """The robot at the time t (...), for forces of the model that mention it."""
        found = copy(self)
        found._time = np.asarray(t)
        return found

    def disturbed_by(self, random: np.random.Generator) -> Self:
        """The robot with every frame and point disturbed (`symgen.validation.disturbance`)."""
        found = copy(self)
        found._random = random
        return found

    # --------------------------------------------------------------------------- magnitudes

    @property
    def joint_terms(self) -> dict[str, Array]:
        """Reflected inertia, damping, stiffness, rest, friction and its velocity, (N,) each."""
        return self._terms.numbers

    @property
    def total_mass(self) -> float:
        """kg"""
        return float(self._mass.sum())

    @property
    def total_inertia(self) -> float:
        """Sum of the largest entries of all inertia tensors, kg m^2."""
        return float(np.abs(self._inertia).max(axis=(1, 2), initial=0.0).sum())

    @property
    def gravity_magnitude(self) -> float:
        """m/s^2"""
        return float(np.linalg.norm(self._gravity))

    def reach(self, q: Array) -> Array:
        """Largest distance of a link origin or centre of mass from the base origin, (...), m."""
        motion = self._kinematics(q)
        points = np.concatenate([motion.frames[..., :3, 3], self._centres(motion)], axis=-2)
        return np.asarray(np.linalg.norm(points, axis=-1).max(axis=-1, initial=0.0))

    # ------------------------------------------------------------------------- kinematics

    def frames(self, q: Array) -> Array:
        """Poses of all link frames in the base frame, (..., n_links, 4, 4)."""
        return self._kinematics(q).frames

    forward_kinematics = frames

    def jacobians(self, q: Array) -> Array:
        """Geometric Jacobians [linear; angular] of the link frames, (..., n_links, 6, n)."""
        motion = self._kinematics(q)
        origins = motion.frames[..., :3, 3]
        linear, angular = self._point_jacobians(motion, origins, range(self.n_links))
        return np.concatenate([linear, angular], axis=-2)

    def _of_joints(self, rates: Array) -> Array:
        """S x: velocities or accelerations of all joints, (..., N)."""
        return as_array(rates) @ self._coupling.T if self._is_coupled else as_array(rates)

    def _places_of_joints(self, q: Array) -> Array:
        """S q + o, (..., N)."""
        own = self.space.coordinates(q)
        return self._of_joints(own) + self._offsets if self._is_coupled else as_array(own)

    def _stretches_of_joints(self, q: Array) -> Array:
        """What springs of all joints feel: places, and ways from rest on manifolds, (..., N)."""
        places = self._places_of_joints(q)
        if not self._on_manifolds:
            return places
        rest = self._terms.numbers.get("rest_configuration")
        return places + self._of_joints(stretches(self.space, q, rest))

    def _of_coordinates(self, torques: Array) -> Array:
        """S' tau: what the coordinates feel of what all joints do, (..., n)."""
        return np.asarray(torques @ self._coupling) if self._is_coupled else torques

    def _kinematics(self, q: Array) -> Motion:
        return self._kinematics_of_joints(self._places_of_joints(q), as_array(q))

    def _levers(self, q: Array) -> Motion:
        """With every tree moved so that its first joint has its seat at the base origin.

        No lever, and so nothing but the potential energy, depends on where that seat is, while
        differences of points far from the origin lose digits: eps times the distance.
        """
        return self._kinematics_of_joints(self._places_of_joints(q), as_array(q), moved=True)

    def _kinematics_of_joints(self, q: Array, configuration: Array, moved: bool = False) -> Motion:
        """Of positions of all joints, (..., N); q itself has the poses of those on manifolds.

        `moved`: see `_levers`.
        """
        batch = q.shape[:-1]
        kind = complex if self.is_complex else q.dtype
        frames = np.empty((*batch, self.n_links + 1, 4, 4), dtype=kind)
        frames[..., -1, :, :] = np.eye(4)
        axes = np.empty((*batch, self._n_joints, 3), dtype=kind)
        origins = np.empty((*batch, self._n_joints, 3), dtype=kind)
        for i, (parent, motions) in enumerate(zip(self._parent, self._motions, strict=True)):
            frame = frames[..., parent, :, :]
            pose = np.eye(4)
            if i in self._posed:
                own = configuration[..., self._posed[i]]
                pose = pose_of(self.description.joints[i], own)
            on_base = moved and not self._moves[parent].any()
            for number, (motion, j) in enumerate(motions):
                if motion.type == EULER and j not in self._first_of_four:
                    continue
                seat = disturbed_product(frame, motion.seat, self._random)
                if on_base and j >= 0:
                    seat[..., :3, 3], on_base = 0.0, False
                if number == 0 and i in self._posed:
                    frame = seat @ pose
                    axes[..., j, :], origins[..., j, :] = (
                        frame[..., :3, :3] @ motion.axis, frame[..., :3, 3]
                    )  # fmt: skip
                    continue
                if motion.type == EULER:
                    four, p = slice(j, j + 4), q[..., j : j + 4]
                    frame = seat @ attitude(p)
                    turn = frame[..., np.newaxis, :3, :3]
                    axes[..., four, :] = turned(turn, spins(p))
                    origins[..., four, :] = frame[..., np.newaxis, :3, 3]
                    continue
                if j >= 0:
                    axes[..., j, :] = seat[..., :3, :3] @ motion.axis
                    origins[..., j, :] = seat[..., :3, 3]
                behind = motion.behind(q[..., j] if j >= 0 else np.zeros(()))
                frame = disturbed_product(seat, behind, self._random)
            frames[..., i, :, :] = frame
        return Motion(frames[..., :-1, :, :], axes, origins, frames, q, self._random)

    def _point_jacobians(
        self, motion: Motion, points: Array, links: Sequence[int] | range
    ) -> tuple[Array, Array]:
        """Jv and Jw, (..., m, 3, n), of m points (..., m, 3) in base axes, fixed to `links`."""
        linear, angular = self._joint_jacobians(motion, points, links)
        return self._of_coordinates(linear), self._of_coordinates(angular)

    def _joint_jacobians(
        self, motion: Motion, points: Array, links: Sequence[int] | range
    ) -> tuple[Array, Array]:
        """The same with a column for every joint, (..., m, 3, N)."""
        revolute = self._revolute
        moves = self._moves[list(links)][..., np.newaxis].astype(float)
        z = motion.axes[..., np.newaxis, :, :]
        arms = points[..., :, np.newaxis, :] - motion.origins[..., np.newaxis, :, :]
        travel = 1.0 - revolute + revolute * self._pitch
        linear = moves * (revolute * np.cross(z, arms) + travel * z)
        angular = moves * (revolute * z)
        return np.swapaxes(linear, -1, -2), np.swapaxes(angular, -1, -2)

    def _centres(self, motion: Motion) -> Array:
        """Centres of mass in the base frame, (..., n_links, 3)."""
        return carried(motion, self._com, range(self.n_links))

    def _accelerations(self, motion: Motion, qd: Array, qdd: Array) -> tuple[Array, Array, Array]:
        """omega, alpha and acceleration of the origin of each link frame, (..., n_links, 3)."""
        return self._accelerations_of_joints(motion, self._of_joints(qd), self._of_joints(qdd))

    def _accelerations_of_joints(
        self, motion: Motion, qd: Array, qdd: Array
    ) -> tuple[Array, Array, Array]:
        """The same of velocities and accelerations of all joints, (..., N)."""
        shape = (*motion.frames.shape[:-2], 3)
        kind = np.result_type(motion.frames, qd, qdd)
        omega, alpha, acceleration = (np.zeros(shape, dtype=kind) for _ in range(3))
        ground = np.zeros((*shape[:-2], 3))
        for i, (p, motions) in enumerate(zip(self._parent, self._motions, strict=True)):
            w, wd, a, x = ground, ground, ground, ground
            if p >= 0:
                w, wd, a = omega[..., p, :], alpha[..., p, :], acceleration[..., p, :]
                x = motion.frames[..., p, :3, 3]
            tip = motion.frames[..., i, :3, 3]
            if i in self._posed:
                own = slice(motions[0][1], motions[-1][1] + 1)
                moved = self._posed_motion(motion, i, own, (w, wd, a, x), qd, qdd)
                omega[..., i, :], alpha[..., i, :], acceleration[..., i, :] = moved
                continue
            for joint, j in motions:
                if j in self._first_of_four:
                    pivot, four = motion.origins[..., j, :], slice(j, j + 4)
                    turn, euler = motion.frames[..., i, :3, :3], motion.places[..., four]
                    relative = turned(turn, spin_of(euler, qd[..., four]))
                    growing = turned(turn, spin_rate_of(euler, qd[..., four], qdd[..., four]))
                    a, x = a + transferred(w, wd, pivot - x), pivot
                    w, wd = w + relative, wd + growing + np.cross(w, relative)
                if j < 0 or joint.type == EULER:
                    continue
                rate = motion.axes[..., j, :] * qd[..., j, np.newaxis]
                change = motion.axes[..., j, :] * qdd[..., j, np.newaxis]
                if joint.type in ("revolute", "helical"):
                    axle = motion.origins[..., j, :]
                    a = a + transferred(w, wd, axle - x)
                    x = axle
                    wd = wd + change + np.cross(w, rate)
                    w = w + rate
                    a = a + joint.pitch * (change + 2.0 * np.cross(w, rate))
                else:
                    a = a + change + 2.0 * np.cross(w, rate)
            omega[..., i, :], alpha[..., i, :] = w, wd
            acceleration[..., i, :] = a + transferred(w, wd, tip - x)
        return omega, alpha, acceleration

    def _posed_motion(
        self,
        motion: Motion,
        i: int,
        own: slice,
        carrier: tuple[Array, Array, Array, Array],
        qd: Array,
        qdd: Array,
    ) -> tuple[Array, Array, Array]:
        """omega, alpha, acceleration of link i behind a joint on a manifold; a = R (v' + w x v).

        `carrier` has omega, alpha, acceleration and place of the frame that carries it.
        """
        w, wd, a, x = carrier
        frame = motion.frames[..., i, :, :]
        turn, tip = frame[..., :3, :3], frame[..., :3, 3]
        spin, change = qd[..., own][..., -3:], qdd[..., own][..., -3:]
        relative, growing = turned(turn, spin), turned(turn, change)
        a = a + transferred(w, wd, tip - x)
        if own.stop - own.start > 3:
            travel, push = qd[..., own][..., :3], qdd[..., own][..., :3]
            a = a + turned(turn, push + np.cross(spin, travel))
            a = a + 2.0 * np.cross(w, turned(turn, travel))
        return w + relative, wd + growing + np.cross(w, relative), a


def _masks(joints: Sequence[JointDescription]) -> tuple[Array, list[int]]:
    """Rows of 0 and 1 that leave out later coordinates of a joint, and each coordinate's row."""
    n = sum(len(joint.coordinate_names) for joint in joints)
    masks: dict[tuple[float, ...], int] = {(1.0,) * n: 0}
    numbers: list[int] = []
    first = 0
    for joint in joints:
        end = first + len(joint.coordinate_names)
        whole = end - 4 if joint.is_redundant else end  # Euler parameters turn together
        for j in range(first, end):
            mask = tuple(float(j >= whole or not j < k < end) for k in range(n))
            numbers.append(masks.setdefault(mask, len(masks)))
        first = end
    return np.array(list(masks)).reshape(len(masks), n), numbers
