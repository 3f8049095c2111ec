"""Rotation matrices (float64, rows) of the ways in which other formats write orientations."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def about(axis: str, angle: float) -> Matrix:
    """The rotation by `angle` (rad) about the coordinate axis ``x``, ``y`` or ``z``."""
    c, s = math.cos(angle), math.sin(angle)
    return {
        "x": np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]]),
        "y": np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]),
        "z": np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]),
    }[axis]


def from_rpy(rpy: Sequence[float]) -> Matrix:
    """Rotations about the fixed axes x, y, z, one after the other: Rz(yaw) Ry(pitch) Rx(roll)."""
    roll, pitch, yaw = rpy
    return about("z", yaw) @ about("y", pitch) @ about("x", roll)


def to_rpy(rotation: Matrix) -> tuple[float, float, float]:
    """The angles of `from_rpy`; where pitch is a right angle, roll is 0."""
    pitch = math.atan2(-rotation[2, 0], math.hypot(rotation[0, 0], rotation[1, 0]))
    if math.hypot(rotation[0, 0], rotation[1, 0]) < 1e-12:
        return 0.0, pitch, math.atan2(-rotation[0, 1], rotation[1, 1])
    roll = math.atan2(rotation[2, 1], rotation[2, 2])
    return roll, pitch, math.atan2(rotation[1, 0], rotation[0, 0])


def from_quaternion(quaternion: Sequence[float]) -> Matrix:
    """The rotation of a quaternion w, x, y, z of any length but 0."""
    w, x, y, z = np.asarray(quaternion, dtype=float) / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def from_axis_angle(axis: Sequence[float], angle: float) -> Matrix:
    """The rotation by `angle` (rad) about an axis of any length but 0."""
    direction = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    return from_quaternion([math.cos(angle / 2), *(math.sin(angle / 2) * direction)])


def symmetric(entries: Sequence[float]) -> Matrix:
    """The tensor of xx, yy, zz, xy, xz, yz."""
    xx, yy, zz, xy, xz, yz = entries
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def entries_of(tensor: Matrix) -> tuple[float, ...]:
    """xx, yy, zz, xy, xz, yz of a symmetric tensor."""
    mean = (tensor + tensor.T) / 2
    pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    return tuple(float(mean[i, k]) for i, k in pairs)


def turned(rotation: Matrix, entries: Sequence[float]) -> tuple[float, ...]:
    """The tensor R I R^T: its entries in the axes that R leads to."""
    return entries_of(rotation @ symmetric(entries) @ rotation.T)
