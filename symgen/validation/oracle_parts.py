"""Numbers of joints and links for `NumericRobot`: literal 4x4 matrices as the model format says.

Nothing here is shared with `symgen.kinematics`; two independent readings of the format agree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from symgen.description.expressions import Expression, evaluate
from symgen.description.model import JointDescription, LinkDescription, Pose, RobotDescription

Array = np.ndarray[Any, Any]


class JointMotion:
    """`seat`: constant 4x4 from the parent link to a frame on the axis, before the motion;
    `axis`: unit vector in that frame; `transform(q)`: pose of the link in its parent link."""

    def __init__(self, joint: JointDescription, number: Callable[[Expression], float]) -> None:
        self.type = joint.type
        self.axis = np.array([0.0, 0.0, 1.0])
        before = np.eye(4) if joint.before is None else _pose(joint.before, number)
        dh = joint.dh
        if dh is None:
            assert joint.origin is not None  # the description holds exactly one of the two
            self.seat = _pose(joint.origin, number)
            if joint.axis is not None:
                axis = np.array([number(x) for x in joint.axis])
                self.axis = axis / np.linalg.norm(axis)
            self.transform = self._about_axis
            return
        theta, d, a, alpha = (number(x) for x in (dh.theta, dh.d, dh.a, dh.alpha))
        turn = 1.0 if joint.type == "revolute" else 0.0
        slide = 1.0 if joint.type == "prismatic" else 0.0
        if dh.convention == "standard":
            self.seat = before
            self.transform = lambda q: (
                before @ _rz(theta + turn * q) @ _tz(d + slide * q) @ _tx(a) @ _rx(alpha)
            )
        else:
            self.seat = before @ _rx(alpha) @ _tx(a)
            self.transform = lambda q: (
                before @ _rx(alpha) @ _tx(a) @ _rz(theta + turn * q) @ _tz(d + slide * q)
            )

    def _about_axis(self, q: Array) -> Array:
        if self.type == "revolute":
            return np.asarray(self.seat @ _rotation(self.axis, q))
        if self.type == "prismatic":
            return np.asarray(self.seat @ _translation(self.axis, q))
        return self.seat


class Body:
    """Mass (kg), centre of mass (m) and inertia about it (kg m^2), in the link frame."""

    def __init__(self, link: LinkDescription, number: Callable[[Expression], float]) -> None:
        xx, yy, zz, xy, xz, yz = (number(x) for x in link.inertia)
        self.mass = number(link.mass)
        self.com = [number(x) for x in link.com]
        self.inertia = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


def coordinate_numbers(joints: Sequence[JointDescription]) -> list[int]:
    """Number of each joint's coordinate; -1 for a fixed joint."""
    numbers, count = [], 0
    for joint in joints:
        numbers.append(-1 if joint.type == "fixed" else count)
        count += joint.type != "fixed"
    return numbers


def parameter_values(
    description: RobotDescription, changed: Mapping[str, float]
) -> dict[str, float]:
    """Values of all parameters, in which some are replaced and derived ones follow."""
    values: dict[str, float] = dict(changed)
    waiting = [p for p in description.parameters if p.name not in values]
    while waiting:
        ready = [p for p in waiting if all(name in values for name in p.expression.names)]
        for parameter in ready:
            values[parameter.name] = evaluate(parameter.expression, values)
        waiting = [p for p in waiting if p.name not in values]
    return values


def reader(values: Mapping[str, float]) -> Callable[[Expression], float]:
    """The value of an expression, given those of the parameters."""
    return lambda expression: evaluate(expression, values)


# ----------------------------------------------------------------------------- 4x4 matrices


def _pose(pose: Pose, number: Callable[[Expression], float]) -> Array:
    """Translation, then rotation about the fixed axes x, y, z: T Rz(yaw) Ry(pitch) Rx(roll)."""
    roll, pitch, yaw = (number(x) for x in pose.rpy)
    matrix = _rz(yaw) @ _rotation(np.array([0.0, 1.0, 0.0]), np.asarray(pitch)) @ _rx(roll)
    matrix[:3, 3] = [number(x) for x in pose.xyz]
    return matrix


def _rotation(axis: Array, angle: Array) -> Array:
    """Rodrigues: 1 + sin K + (1 - cos) K K about a unit vector, (..., 4, 4)."""
    x, y, z = axis
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angle = np.asarray(angle)[..., np.newaxis, np.newaxis]
    matrix = np.zeros((*angle.shape[:-2], 4, 4), dtype=np.result_type(angle, float))
    versine = 2.0 * np.sin(0.5 * angle) ** 2
    matrix[..., :3, :3] = np.eye(3) + np.sin(angle) * skew + versine * (skew @ skew)
    matrix[..., 3, 3] = 1.0
    return matrix


def _translation(axis: Array, distance: Array) -> Array:
    distance = np.asarray(distance)
    matrix = np.zeros((*distance.shape, 4, 4), dtype=np.result_type(distance, float))
    matrix[...] = np.eye(4)
    matrix[..., :3, 3] = distance[..., np.newaxis] * axis
    return matrix


def _rx(angle: float) -> Array:
    return _rotation(np.array([1.0, 0.0, 0.0]), np.asarray(angle))


def _rz(angle: Any) -> Array:
    return _rotation(np.array([0.0, 0.0, 1.0]), np.asarray(angle))


def _tx(distance: float) -> Array:
    return _translation(np.array([1.0, 0.0, 0.0]), np.asarray(distance))


def _tz(distance: Any) -> Array:
    return _translation(np.array([0.0, 0.0, 1.0]), np.asarray(distance))
