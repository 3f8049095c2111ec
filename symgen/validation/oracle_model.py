"""Numbers of a model file for `NumericRobot`: joints, bodies, points, springs, literally as in the
specification of the format.

This second implementation of the format shares nothing with `symgen.kinematics` and
`symgen.joints`.  Models with joints of other types than `READABLE_TYPES` are not compared with the
numeric model.  Parameters may be complex, for complex steps with respect to them.

| symbol | array | shape |
| --- | --- | --- |
| S, o | positions S q + o of N joints | (N, n), (N,) |
| [v, w] | twist of the frame behind a motion per unit rate, in its own axes | (2, 3) |
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgen.description.expressions import Expression
from symgen.description.model import (
    DenavitHartenberg,
    JointDescription,
    LinkPoint,
    Pose,
    RobotDescription,
)
from symgen.runtime.configuration import BALL, FREE, Configuration
from symgen.runtime.joint_terms import LOSS_DEFAULTS, JointTerms
from symgen.validation.oracle_expressions import Value, parameter_values, reader

Array = np.ndarray[Any, Any]
Numbers = Callable[[Expression], Value]

X, Y, Z = np.eye(3)
UNITS = {"x": X, "y": Y, "z": Z}
NONE = np.zeros(3)
TWISTS = np.zeros((6, 4, 4))
"""Matrices that map points to velocities at unit twists [v, w]."""
TWISTS[range(3), range(3), 3] = 1.0
TWISTS[3:, :3, :3] = np.swapaxes(np.cross(np.eye(3)[:, np.newaxis], np.eye(3)), 1, 2)

READABLE_TYPES = (
    "revolute", "prismatic", "fixed", "universal", "cylindrical", "helical", "planar",
    "spherical", "floating",
)  # fmt: skip
"""Types of joints that this module implements: chains of rotations and translations."""


def unread_types(description: RobotDescription) -> tuple[str, ...]:
    """The types of joints of a model that the numeric model does not implement, each once."""
    if description.is_natural:
        return ("natural coordinates",)
    types = dict.fromkeys(joint.type for joint in description.joints)
    return tuple(name for name in types if name not in READABLE_TYPES)


def configuration(description: RobotDescription) -> Configuration | None:
    """Return the configuration space of q; None without joints on manifolds."""
    joints: list[tuple[str, int, int]] = []
    q = v = 0
    for joint in description.joints:
        if joint.manifold is not None:
            joints.append((FREE if joint.type == "floating" else BALL, q, v))
        if joint.mimic is None:
            q, v = q + len(joint.position_names), v + joint.coordinates
    return Configuration(v, joints) if joints else None


def as_array(x: Any) -> Array:
    """Convert to an array of float64, or of complex numbers if there are any."""
    return np.asarray(x, dtype=complex if np.iscomplexobj(x) else float)


# ---------------------------------------------------------------------------- motions of joints


class JointMotion(ABC):
    """Coordinates of a joint that move one frame at once; `size` velocities."""

    def __init__(self, twists: Array) -> None:
        self.size = len(twists)
        self._twists = twists

    @abstractmethod
    def pose(self, x: Array) -> Array:
        """Pose of the child frame in the parent frame at positions x, (..., 4, 4)."""

    def twists(self, x: Array) -> Array:
        """Twists [v, w] of the child frame per unit rate, in its axes, (..., size, 2, 3)."""
        return self._twists

    def drift(self, x: Array, rates: Array) -> Array:
        """Rate of the twist at constant `rates` (..., size), (..., 2, 3)."""
        return np.zeros((2, 3))


class Screw(JointMotion):
    """One coordinate: travel along and rotation about a fixed axis; either may be zero."""

    def __init__(self, travel: Array, turn: Array) -> None:
        super().__init__(np.stack([travel, turn])[np.newaxis])
        self._skew = skew(turn)

    def pose(self, x: Array) -> Array:
        """Rodrigues' formula 1 + sin K + (1 - cos) K K, and travel; x (..., 1)."""
        angle, K = x[..., np.newaxis], self._skew
        turn = np.eye(3) + np.sin(angle) * K + 2.0 * np.sin(0.5 * angle) ** 2 * (K @ K)
        return _pose(turn, x * self._twists[0, 0])


class UnitQuaternion(JointMotion):
    """Rotation by a quaternion x y z w, after a translation along parent axes if it is free; rates
    are velocities along and about child axes."""

    def __init__(self, free: bool) -> None:
        super().__init__(np.eye(6).reshape(6, 2, 3)[0 if free else 3 :])

    def pose(self, x: Array) -> Array:
        """Rotation by the last four entries of x, and translation by the others."""
        return _pose(attitude(x[..., -4:]), x[..., :3] if self.size == 6 else NONE)


class EulerParameters(JointMotion):
    """Rotation by p = x y z w of any norm but 0, whose derivatives are the rates.

    omega = 2 G(p) p' / |p|^2 in axes of the link, with G p' the vector part of conj(p) p'
    (Nikravesh 1988, section 6.4); as G(p') p' = 0, it changes by -2 p.p' / |p|^2 omega at p'' = 0.
    """

    def __init__(self) -> None:
        super().__init__(np.zeros((4, 2, 3)))

    def pose(self, x: Array) -> Array:
        """Rotation without translation; x (..., 4)."""
        return _pose(attitude(x), NONE)

    def twists(self, x: Array) -> Array:
        """[l]: angular velocity per unit rate of p_l, (..., 4, 2, 3)."""
        v, w = x[..., np.newaxis, :3], x[..., 3, np.newaxis, np.newaxis]
        turns = np.concatenate([w * np.eye(3) + skew(x[..., :3]), -v], axis=-2)
        turns = 2.0 * turns / np.sum(x * x, axis=-1)[..., np.newaxis, np.newaxis]
        return np.stack([np.zeros_like(turns), turns], axis=-2)

    def drift(self, x: Array, rates: Array) -> Array:
        """Change of omega at constant rates (..., 4) of p, (..., 2, 3)."""
        growth = -2.0 * np.sum(x * rates, axis=-1) / np.sum(x * x, axis=-1)
        twist = np.einsum("...lab,...l->...ab", self.twists(x), rates)
        return np.asarray(growth[..., np.newaxis, np.newaxis] * twist)


def attitude(p: Array) -> Array:
    """Rotation 1 + (2 w K + 2 K K) / |p|^2, K the cross product of the vector part, (..., 3, 3)."""
    K, w, square = skew(p[..., :3]), p[..., 3, np.newaxis, np.newaxis], np.sum(p * p, axis=-1)
    return np.asarray(np.eye(3) + 2.0 * (w * K + K @ K) / square[..., np.newaxis, np.newaxis])


def skew(vector: Array) -> Array:
    """Return the matrix of the cross product with a vector (..., 3), (..., 3, 3)."""
    return (vector @ TWISTS[3:, :3, :3].reshape(3, 9)).reshape(*vector.shape, 3)


def twist_matrix(twist: Array) -> Array:
    """The matrix that maps points to velocities at a twist [v, w] (..., 2, 3), (..., 4, 4)."""
    batch = twist.shape[:-2]
    return (twist.reshape(*batch, 6) @ TWISTS.reshape(6, 16)).reshape(*batch, 4, 4)


@dataclass(frozen=True)
class Joint:
    """A joint as numbers: T = T_parent placement A(x) tool, with A(x) the product of its motions.

    `parent` is the number of the parent link, -1 for the base; `entries` are the entries of q of a
    joint on a manifold; a joint of several coordinates has no `tool`.  The moment of the joint
    wrench is about `moment_point` (3,), in the frame of the parent; None: the origin of the link.
    """

    parent: int
    entries: slice | None
    placement: Array
    motions: list[JointMotion]
    tool: Array | None = None
    moment_point: Array | None = None


def _joints(description: RobotDescription, number: Numbers) -> list[Joint]:
    links = {joint.link.name: i for i, joint in enumerate(description.joints)}
    joints, stop = [], 0
    for joint in description.joints:
        parent, start = links.get(joint.parent, -1), stop
        stop += len(joint.position_names) if joint.mimic is None else 0
        if joint.dh is not None:
            joints.append(_dh_joint(joint, joint.dh, parent, number))
            continue
        assert joint.origin is not None  # the description holds exactly one of the two
        entries = None if joint.manifold is None else slice(start, stop)
        placement, motions = pose_matrix(joint.origin, number), _motions(joint, number)
        joints.append(Joint(parent, entries, placement, motions))
    return joints


def _motions(joint: JointDescription, number: Numbers) -> list[JointMotion]:
    axis = Z
    if joint.axis is not None:
        axis = np.array([number(x) for x in joint.axis])
        axis = axis / np.sqrt(axis @ axis)  # analytic, as complex step wants it
    pitch = 0.0 if joint.pitch is None else number(joint.pitch)
    slides: list[JointMotion] = [Screw(axis, NONE)]
    turns: list[JointMotion] = [Screw(NONE, axis)]
    rotations: list[JointMotion] = [Screw(NONE, UNITS[letter]) for letter in joint.sequence]
    travel: list[JointMotion] = [Screw(unit, NONE) for unit in (X, Y, Z)]
    if joint.manifold is not None:
        return [UnitQuaternion(joint.type == "floating")]
    if joint.is_redundant:
        return [*(travel if joint.type == "floating" else []), EulerParameters()]
    parts: dict[str, list[JointMotion]] = {
        "revolute": turns,
        "prismatic": slides,
        "fixed": [],
        "universal": rotations,
        "cylindrical": slides + turns,
        "helical": [Screw(pitch * axis, axis)],
        "planar": [*(Screw(z, NONE) for z in _in_plane(axis)), *turns],
        "spherical": rotations,
        "floating": travel + rotations,
    }
    return parts[joint.type]


def _dh_joint(
    joint: JointDescription, dh: DenavitHartenberg, parent: int, number: Numbers
) -> Joint:
    before = np.eye(4) if joint.before is None else pose_matrix(joint.before, number)
    theta, d, a, alpha = (number(x) for x in (dh.theta, dh.d, dh.a, dh.alpha))
    motions: dict[str, list[JointMotion]] = {
        "revolute": [Screw(NONE, Z)], "prismatic": [Screw(Z, NONE)],
    }  # fmt: skip
    moved = motions.get(joint.type, [])
    tool = _turn(Z, theta) @ _shift(d * Z)  # the motion is about and along z, too
    if dh.convention == "standard":
        tool = tool @ _shift(a * X) @ _turn(X, alpha)
        return Joint(parent, None, before, moved, tool, before[:3, 3])
    return Joint(parent, None, before @ _turn(X, alpha) @ _shift(a * X), moved, tool)


def axes_around(normal: Array) -> Array:
    """Return x, y, z turned by the shortest rotation of z to `normal` (3,), as columns (3, 3)."""
    return np.stack([*_in_plane(normal), normal], axis=-1)


def _in_plane(normal: Array) -> list[Array]:
    """x and y, rotated by the shortest rotation of z to `normal`, half a turn about x for -z.

    For a normal that is -z up to rounding, the directions for -z are tilted.
    """
    lever, cosine = np.cross(Z, normal), normal[2]
    if cosine == -1.0:
        return [s * (unit + n * Z) for unit, n, s in zip((X, Y), normal[:2], (1, -1), strict=True)]
    gap = ((1.0 + cosine) ** 2 + lever @ lever) / 2.0  # 1 + cosine without cancellation
    return [unit * cosine + np.cross(lever, unit) + lever * (lever @ unit) / gap for unit in (X, Y)]


# ------------------------------------------------------------------------------------- matrices


def pose_matrix(pose: Pose, number: Numbers) -> Array:
    """Translation, then rotation about the fixed axes x, y, z: T Rz(yaw) Ry(pitch) Rx(roll)."""
    roll, pitch, yaw = (number(x) for x in pose.rpy)
    turn = _turn(Z, yaw) @ _turn(Y, pitch) @ _turn(X, roll)
    return np.asarray(_shift(np.array([number(x) for x in pose.xyz])) @ turn)


def _pose(turn: Array, origin: Array) -> Array:
    """Return the 4x4 matrix of a rotation (..., 3, 3) and an origin (..., 3)."""
    matrix = np.zeros((*turn.shape[:-2], 4, 4), dtype=np.result_type(turn, origin))
    matrix[..., :3, :3], matrix[..., :3, 3] = turn, origin
    matrix[..., 3, 3] = 1.0
    return matrix


def _turn(axis: Array, angle: Value) -> Array:
    return Screw(NONE, axis).pose(np.array([angle]))


def _shift(travel: Array) -> Array:
    return _pose(np.eye(3), travel)


# -------------------------------------------------------------------------------- joint terms


def coupling(joints: Sequence[JointDescription], number: Numbers) -> tuple[Array, Array]:
    """S (N, n) and o (N,): the positions of all joints are S q + o."""
    independent = [x for joint in joints if joint.mimic is None for x in joint.coordinate_names]
    rows: dict[str, Array] = {
        name: np.append(row, 0.0)
        for name, row in zip(independent, np.eye(len(independent)), strict=True)
    }
    waiting = [joint for joint in joints if joint.mimic is not None]
    while waiting:  # a follower may follow a follower, in no circle
        for joint in waiting:
            if joint.mimic is not None and joint.mimic.coordinate in rows:
                offset = np.append(np.zeros(len(independent)), number(joint.mimic.offset))
                rows[joint.name] = number(joint.mimic.multiplier) * rows[joint.mimic.coordinate]
                rows[joint.name] = rows[joint.name] + offset
        waiting = [joint for joint in waiting if joint.name not in rows]
    names = [name for joint in joints for name in joint.coordinate_names]
    matrix = as_array([rows[name] for name in names]).reshape(len(names), len(independent) + 1)
    return matrix[:, :-1], matrix[:, -1]


def joint_term_numbers(joints: Sequence[JointDescription], number: Numbers) -> dict[str, Array]:
    """Arrays of `symgen.runtime.joint_terms.JointTerms`, (N,) each."""
    terms = [terms.complete for joint in joints for terms in joint.terms]

    def column(key: str) -> Array:
        return as_array([number(getattr(term, key)) for term in terms])

    with np.errstate(over="ignore"):  # what overflows is refused when the program is derived
        numbers = {"reflected_inertia": column("gear_ratio") ** 2 * column("rotor_inertia")}
    keys = ("damping", "friction", "friction_velocity", "stiffness", "rest")
    numbers |= {key: column(key) for key in (*keys, *LOSS_DEFAULTS, "stribeck_velocity")}
    added = []
    for joint in joints:
        travels = 3 if joint.manifold is not None and joint.type == "floating" else 0
        added += [number(joint.added_mass)] * travels + [0.0] * (joint.coordinates - travels)
    numbers["added_mass"] = as_array(added)
    if any(joint.rest for joint in joints):
        rest = (x for joint in joints if joint.mimic is None for x in joint.rest_entries)
        numbers["rest_configuration"] = as_array(list(map(number, rest)))
    return numbers


# ------------------------------------------------------------------------------------ the model


@dataclass(frozen=True)
class Points:
    """Points of links, -1 for the base: `places` (m, 3) in their frames."""

    links: list[int]
    places: Array


class Model:
    """A model file as numbers, at values of its parameters.

    `changed` replaces values of parameters, also in derived ones; they may be complex.
    EvaluationError for a value that does not exist.
    """

    def __init__(self, description: RobotDescription, changed: Mapping[str, Value]) -> None:
        self.description = description
        self.values = parameter_values(description, changed)
        self.is_complex = any(isinstance(value, complex) for value in self.values.values())
        self.number = number = reader(self.values)
        joints = description.joints
        self.link_names = tuple(joint.link.name for joint in joints)
        self.joint_names = tuple(name for joint in joints for name in joint.coordinate_names)
        self.coordinate_names = description.coordinate_names
        held = [x for joint in description.independent_joints for x in joint.prescribed]
        self.prescribed = np.array(held, dtype=bool)
        self.joints = _joints(description, number)
        self.space = configuration(description) or Configuration(len(self.coordinate_names))
        self.terms = JointTerms(
            self.space.n, joint_term_numbers(joints, number), *coupling(joints, number), self.space
        )
        self._find_what_moves()
        self.gravity = np.array([number(x) for x in description.gravity])
        links = [joint.link for joint in joints]
        self.mass = np.array([number(link.mass) for link in links])
        centres = [[number(x) for x in link.com] for link in links]
        self.centres = Points([*range(len(links))], np.array(centres).reshape(-1, 3))
        moments = [[number(x) for x in link.inertia] for link in links]
        moments_of_links = np.array(moments).reshape(-1, 6)
        self.inertia = moments_of_links[:, [[0, 3, 4], [3, 1, 5], [4, 5, 2]]]
        self.loads, self.points = self.read(description.loads), self.read(description.points)

    def read(self, points: Sequence[LinkPoint]) -> Points:
        """Read points of links."""
        places = [[self.number(x) for x in point.point] for point in points]
        numbers = {name: i for i, name in enumerate(self.link_names)}
        links = [numbers.get(point.link, -1) for point in points]
        return Points(links, np.array(places).reshape(-1, 3))

    def _find_what_moves(self) -> None:
        """Find which of the N coordinates of joints move which links and frames.

        `moves` (n_links + 1, N) is for links, the base last; `carries` (N, N) for the child frames
        of coordinates, whose links are `own_link`.  Joint wrenches have a row for each coordinate
        of `wrench_rows`, the last one of a joint on a manifold.
        """
        count = len(self.joint_names)
        self.moves = np.zeros((len(self.joints) + 1, count), dtype=bool)
        self.carries = np.zeros((count, count), dtype=bool)
        self.own_link: list[int] = []
        rows: list[int] = []
        stop = 0
        for i, joint in enumerate(self.joints):
            self.moves[i] = self.moves[joint.parent]
            for motion in joint.motions:
                start, stop = stop, stop + motion.size
                self.moves[i, start:stop] = True
                self.carries[start:stop] = self.moves[i]
                self.own_link += [i] * motion.size
                rows += [stop - 1] if isinstance(motion, UnitQuaternion) else range(start, stop)
        self.wrench_rows = np.array(rows, dtype=int)
