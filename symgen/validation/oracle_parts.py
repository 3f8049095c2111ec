"""Numbers of joints and links for `NumericRobot`: literal 4x4 matrices as the model format says.

Nothing here is shared with `symgen.kinematics` and `symgen.joints`; two independent readings of the
format agree.  `READABLE_TYPES` is therefore a list of its own: a model with another type of joint
is not compared with the numeric model until the type is read here a second time.

Parameters may be complex numbers, so that complex step with respect to them works everywhere.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgen.description.expressions import Expression
from symgen.description.model import (
    DenavitHartenberg,
    JointDescription,
    LinkDescription,
    Pose,
    RobotDescription,
)
from symgen.robot.configuration import BALL, FREE, Configuration
from symgen.validation.disturbance import disturbed_product
from symgen.validation.limits import STEP
from symgen.validation.oracle_parameters import Value

Array = np.ndarray[Any, Any]

UNITS = {
    "x": np.array([1.0, 0.0, 0.0]),
    "y": np.array([0.0, 1.0, 0.0]),
    "z": np.array([0.0, 0.0, 1.0]),
}

EULER = "euler"
"""The type of a motion that is one of four Euler parameters."""

READABLE_TYPES = (
    "revolute", "prismatic", "fixed", "universal", "cylindrical", "helical", "planar",
    "spherical", "floating",
)  # fmt: skip
"""The types of joints that are read here: chains of rotations about and travels along axes."""


def unread_types(description: RobotDescription) -> tuple[str, ...]:
    """The types of joints of a model that the numeric model cannot read, each once."""
    types = dict.fromkeys(joint.type for joint in description.joints)
    return tuple(name for name in types if name not in READABLE_TYPES)


def configuration(description: RobotDescription) -> Configuration | None:
    """The space that q lives in; None without joints on manifolds."""
    joints: list[tuple[str, int, int]] = []
    q = v = 0
    for joint in description.joints:
        if joint.manifold is not None:
            joints.append((FREE if joint.type == "floating" else BALL, q, v))
        if joint.mimic is None:
            q, v = q + len(joint.position_names), v + joint.coordinates
    return Configuration(v, joints) if joints else None


class JointMotion:
    """One coordinate of a joint, or a fixed joint.

    `type` is revolute, prismatic, helical, fixed or `EULER`; `pitch` (m per radian) is 0 but for a
    helical one; `seat`: constant 4x4 to a frame on the axis, before the motion; `axis`: unit vector
    in that frame; `behind(q)`: pose in it of the frame behind, which for the last coordinate of a
    joint is the link.  The seat is in the frame behind the coordinate before, which for the
    first one of a joint is the parent link.
    """

    def __init__(self, type_: str, seat: Array, axis: Array, pitch: Value = 0.0) -> None:
        self.type = type_
        self.seat = seat
        self.axis = axis
        self.pitch = pitch
        self.behind: Callable[[Array], Array] = self._about_axis

    def _about_axis(self, q: Array) -> Array:
        if self.type == "revolute":
            return _rotation(self.axis, q)
        if self.type == "helical":
            travel = _translation(self.axis, self.pitch * q)
            return np.asarray(_rotation(self.axis, q) @ travel)
        if self.type == "prismatic":
            return _translation(self.axis, q)
        return np.eye(4)


def joint_motions(
    joint: JointDescription, number: Callable[[Expression], Value]
) -> list[JointMotion]:
    """The coordinates of a joint, each as a motion of its own; one motion for a fixed joint."""
    if joint.dh is not None:
        return [_dh_motion(joint, joint.dh, number)]
    assert joint.origin is not None  # the description holds exactly one of the two
    axis = UNITS["z"]
    if joint.axis is not None:
        axis = np.array([number(x) for x in joint.axis])
        axis = axis / np.sqrt(axis @ axis)  # analytic, as complex step wants it
    slides, turns = [("prismatic", axis)], [("revolute", axis)]
    rotations = [("revolute", UNITS[letter]) for letter in joint.sequence]
    travel = [("prismatic", UNITS[letter]) for letter in "xyz"]
    parts = {
        "revolute": turns,
        "prismatic": slides,
        "fixed": [("fixed", axis)],
        "universal": rotations,
        "cylindrical": slides + turns,
        "helical": [("helical", axis)],
        "planar": [("prismatic", z) for z in _in_plane(axis)] + turns,
        "spherical": rotations,
        "floating": travel + rotations,
    }[joint.type]
    if joint.manifold is not None:  # along and about the axes of the link, which `pose_of` places
        turns = [("revolute", UNITS[letter]) for letter in "xyz"]
        parts = travel + turns if joint.type == "floating" else turns
    if joint.is_redundant:  # all four turn the link together: `symgen.validation.oracle_euler`
        turns = [(EULER, UNITS["z"])] * 4
        parts = travel + turns if joint.type == "floating" else turns
    seats = [pose_matrix(joint.origin, number)] + [np.eye(4)] * (len(parts) - 1)
    pitch = 0.0 if joint.pitch is None else number(joint.pitch)
    return [JointMotion(kind, seat, z, pitch) for (kind, z), seat in zip(parts, seats, strict=True)]


def pose_of(joint: JointDescription, q: Array) -> Array:
    """The pose that the entries of q of a joint on a manifold give, (..., 4, 4).

    Rodrigues' parameters: 1 + 2 w K + 2 K K with K the cross product of the vector part.
    """
    x, y, z, w = np.moveaxis(q[..., -4:], -1, 0)
    K = np.zeros((*q.shape[:-1], 3, 3), dtype=q.dtype)
    K[..., 0, 1], K[..., 0, 2], K[..., 1, 2] = -z, y, -x
    K = K - np.swapaxes(K, -1, -2)
    matrix = np.zeros((*q.shape[:-1], 4, 4), dtype=q.dtype)
    matrix[..., :3, :3] = np.eye(3) + 2.0 * w[..., np.newaxis, np.newaxis] * K + 2.0 * K @ K
    matrix[..., 3, 3] = 1.0
    if joint.type == "floating":
        matrix[..., :3, 3] = q[..., :3]
    return matrix


def axes_around(normal: Array) -> Array:
    """Columns: x, y and z turned by the shortest rotation of z to `normal`."""
    return np.stack([*_in_plane(normal), normal], axis=-1)


def _in_plane(normal: Array) -> list[Array]:
    """x and y, turned as z is by the shortest rotation to `normal`, half a turn about x for -z.

    What is -z to rounding has the directions of -z, tilted.
    """
    lever, cosine = np.cross(UNITS["z"], normal), normal[2]
    if cosine == -1.0:
        return [
            s * (UNITS[u] + n * UNITS["z"])
            for u, n, s in zip("xy", normal[:2], (1, -1), strict=True)
        ]
    gap = ((1.0 + cosine) ** 2 + lever @ lever) / 2.0  # 1 + cosine without cancellation
    return [
        unit * cosine + np.cross(lever, unit) + lever * (lever @ unit) / gap
        for unit in (UNITS["x"], UNITS["y"])
    ]


def numbered_motions(
    joints: Sequence[JointDescription], number: Callable[[Expression], Value]
) -> list[list[tuple[JointMotion, int]]]:
    """Every motion of every joint with the number of its coordinate; -1 for a fixed joint."""
    numbers = itertools.count()
    return [
        [
            (motion, -1 if motion.type == "fixed" else next(numbers))
            for motion in joint_motions(joint, number)
        ]
        for joint in joints
    ]


def _dh_motion(
    joint: JointDescription, dh: DenavitHartenberg, number: Callable[[Expression], Value]
) -> JointMotion:
    before = np.eye(4) if joint.before is None else pose_matrix(joint.before, number)
    theta, d, a, alpha = (number(x) for x in (dh.theta, dh.d, dh.a, dh.alpha))
    turn = 1.0 if joint.type == "revolute" else 0.0
    slide = 1.0 if joint.type == "prismatic" else 0.0
    if dh.convention == "standard":
        motion = JointMotion(joint.type, before, UNITS["z"])
        motion.behind = lambda q: _rz(theta + turn * q) @ _tz(d + slide * q) @ _tx(a) @ _rx(alpha)
    else:
        motion = JointMotion(joint.type, before @ _rx(alpha) @ _tx(a), UNITS["z"])
        motion.behind = lambda q: _rz(theta + turn * q) @ _tz(d + slide * q)
    return motion


def independent_names(joints: Sequence[JointDescription]) -> tuple[str, ...]:
    """The names of the coordinates that are the robot's."""
    return tuple(x for joint in joints if joint.mimic is None for x in joint.coordinate_names)


def coupling(
    joints: Sequence[JointDescription], number: Callable[[Expression], Value]
) -> tuple[Array, Array]:
    """S (N, n) and o (N,): the positions of all joints are S q + o.

    With those that follow others still among the columns, each row of D says what its joint is by
    itself: q_all = D q_all + E q + o.  As no circle is closed, D to the power of N is 0.
    """
    names = [name for joint in joints for name in joint.coordinate_names]
    own = independent_names(joints)
    kind = (
        complex
        if any(
            isinstance(number(x), complex)
            for joint in joints
            if joint.mimic is not None
            for x in (joint.mimic.multiplier, joint.mimic.offset)
        )
        else float
    )
    S, o = np.zeros((len(names), len(own)), dtype=kind), np.zeros(len(names), dtype=kind)
    D = np.zeros((len(names), len(names)), dtype=kind)
    for k, name in enumerate(own):
        S[names.index(name), k] = 1.0
    for joint in joints:
        if joint.mimic is not None:
            i = names.index(joint.name)
            D[i, names.index(joint.mimic.coordinate)] = number(joint.mimic.multiplier)
            o[i] = number(joint.mimic.offset)
    E, first = S, o
    for _ in range(sum(joint.mimic is not None for joint in joints)):
        S, o = D @ S + E, D @ o + first
    return S, o


class JointForces:
    """What drives, bearings and springs add to the equations; one entry per joint, (N,).

    tau += reflected_inertia qdd + damping qd + stiffness (q - rest)
    + friction tanh(qd / friction_velocity), with reflected_inertia = gear_ratio^2 rotor_inertia.
    Of free joints with added mass, `added_mass` has it for v; what else adds nothing has 0.
    """

    def __init__(
        self, joints: Sequence[JointDescription], number: Callable[[Expression], Value]
    ) -> None:
        terms = [terms for joint in joints for terms in joint.terms]

        def column(key: str) -> Array:
            return as_array([number(getattr(term, key)) for term in terms])

        with np.errstate(over="ignore"):  # what overflows is refused when the program is derived
            self.reflected_inertia = column("gear_ratio") ** 2 * column("rotor_inertia")
        self.damping, self.friction = column("damping"), column("friction")
        self.friction_velocity = column("friction_velocity")
        self.stiffness, self.rest = column("stiffness"), column("rest")
        masses = [_masses_of_columns(joint, number(joint.added_mass)) for joint in joints]
        self.added_mass = as_array([x for columns in masses for x in columns])
        if any(joint.rest for joint in joints):
            own = [joint for joint in joints if joint.mimic is None]
            rest = [number(x) for joint in own for x in joint.rest_entries]
            self.rest_configuration = as_array(rest)

    def none(self) -> JointForces:
        """No such terms at the same joints."""
        found = copy(self)
        for name in ("reflected_inertia", "added_mass", "damping", "friction", "stiffness"):
            setattr(found, name, np.zeros_like(getattr(self, name)))
        return found

    @property
    def numbers(self) -> dict[str, Array]:
        """All arrays by name."""
        return dict(vars(self))

    def losses(self, qd: Array) -> Array:
        """Damping and friction, (..., n)."""
        slip = np.tanh(qd / self.friction_velocity)
        return np.asarray(self.damping * qd + self.friction * slip)

    def springs(self, stretches: Array) -> Array:
        """Torques of the springs, (..., n)."""
        return np.asarray(self.stiffness * (stretches - self.rest))

    def spring_energy(self, stretches: Array) -> Array:
        """(...)"""
        return np.asarray(np.sum(0.5 * self.stiffness * (stretches - self.rest) ** 2, axis=-1))

    def loss_slopes(self, qd: Array) -> Array:
        """d losses / d qd by complex step; each coordinate's depends on its own rate, (..., n)."""
        return np.asarray(self.losses(qd + 1j * STEP).imag / STEP)


def _masses_of_columns(joint: JointDescription, mass: Value) -> list[Value]:
    """The added mass for each coordinate: for the first three, which slide, or for none."""
    if joint.manifold is None or joint.type != "floating":
        return [0.0] * joint.coordinates
    return [mass] * 3 + [0.0] * 3


class Body:
    """Mass (kg), centre of mass (m) and inertia about it (kg m^2), in the link frame."""

    def __init__(self, link: LinkDescription, number: Callable[[Expression], Value]) -> None:
        xx, yy, zz, xy, xz, yz = (number(x) for x in link.inertia)
        self.mass = number(link.mass)
        self.com = [number(x) for x in link.com]
        self.inertia = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


# ----------------------------------------------------------------------------- 4x4 matrices


def pose_matrix(pose: Pose, number: Callable[[Expression], Value]) -> Array:
    """Translation, then rotation about the fixed axes x, y, z: T Rz(yaw) Ry(pitch) Rx(roll)."""
    roll, pitch, yaw = (number(x) for x in pose.rpy)
    turn = _rz(yaw) @ _rotation(UNITS["y"], np.asarray(pitch)) @ _rx(roll)
    matrix = np.eye(4, dtype=np.result_type(turn, *(number(x) for x in pose.xyz)))
    matrix[:3, :3] = turn[:3, :3]
    matrix[:3, 3] = [number(x) for x in pose.xyz]
    return matrix


def _rotation(axis: Array, angle: Array) -> Array:
    """Rodrigues: 1 + sin K + (1 - cos) K K about a unit vector, (..., 4, 4)."""
    x, y, z = axis
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angle = np.asarray(angle)[..., np.newaxis, np.newaxis]
    matrix = np.zeros((*angle.shape[:-2], 4, 4), dtype=np.result_type(angle, axis, float))
    versine = 2.0 * np.sin(0.5 * angle) ** 2
    matrix[..., :3, :3] = np.eye(3) + np.sin(angle) * skew + versine * (skew @ skew)
    matrix[..., 3, 3] = 1.0
    return matrix


def _translation(axis: Array, distance: Array) -> Array:
    distance = np.asarray(distance)
    matrix = np.zeros((*distance.shape, 4, 4), dtype=np.result_type(distance, axis, float))
    matrix[...] = np.eye(4)
    matrix[..., :3, 3] = distance[..., np.newaxis] * axis
    return matrix


def _rx(angle: Value) -> Array:
    return _rotation(UNITS["x"], np.asarray(angle))


def _rz(angle: Any) -> Array:
    return _rotation(UNITS["z"], np.asarray(angle))


def _tx(distance: Value) -> Array:
    return _translation(UNITS["x"], np.asarray(distance))


def _tz(distance: Any) -> Array:
    return _translation(UNITS["z"], np.asarray(distance))


# ------------------------------------------------------- what the functions of a robot share


@dataclass(frozen=True)
class Motion:
    """Link frames (..., n_links, 4, 4), joint axes and points on them (..., n, 3).

    `with_base` has the frame of the base behind those of the links, so that -1 stands for it;
    `places` are the positions of all joints (..., n).  With `random`, points are disturbed.
    """

    frames: Array
    axes: Array
    origins: Array
    with_base: Array
    places: Array
    random: np.random.Generator | None = None


def as_array(x: Any) -> Array:
    """Floating-point numbers, complex where they are."""
    return np.asarray(x, dtype=complex if np.iscomplexobj(x) else float)


def same_batch(*arrays: Any) -> tuple[Array, ...]:
    """Arrays with batch axes broadcast to one shape; a configuration is longer than a velocity."""
    given = [as_array(x) for x in arrays]
    batch = np.broadcast_shapes(*(x.shape[:-1] for x in given))
    return tuple(np.broadcast_to(x, (*batch, x.shape[-1])) for x in given)


def transferred(omega: Array, alpha: Array, arm: Array) -> Array:
    """Acceleration of a point relative to another one of the same rigid body."""
    return np.asarray(np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm)))


def turned(matrix: Array, vectors: Array) -> Array:
    """Matrices (..., 3, 3) times vectors (..., 3)."""
    return np.asarray((matrix @ vectors[..., np.newaxis])[..., 0])


def carried(motion: Motion, points: Array, links: Sequence[int] | range) -> Array:
    """Points (m, 3) of links (-1: the base) in the base frame, (..., m, 3)."""
    seats = motion.with_base[..., list(links), :, :]
    places = np.concatenate([points, np.ones((len(points), 1))], axis=-1)[..., np.newaxis]
    return disturbed_product(seats, places, motion.random)[..., :3, 0]


def beside(left: Array, right: Array) -> Array:
    """Both along axis -2, batch axes broadcast."""
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    parts = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (left, right))
    return np.concatenate(list(parts), axis=-2)
