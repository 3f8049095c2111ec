"""Rotation matrices (float64) and poses from the orientations in other formats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
_SMALLEST = 1e-100
"""Minimum magnitude of the largest entry of a direction."""


def product(*factors: Matrix) -> Matrix:
    """The product of matrices, or of matrices and a vector (last), rounded equally on any machine.

    The operator ``@`` calls a library whose rounding depends on the processor.
    """
    result = factors[-1]
    for factor in reversed(factors[:-1]):
        columns = result if result.ndim == 2 else result[:, None]
        terms = factor[:, :, None] * columns[None, :, :]
        total = terms[:, 0].copy()
        for k in range(1, terms.shape[1]):
            total += terms[:, k]
        result = total if result.ndim == 2 else total[:, 0]
    return result


def about(axis: str, angle: float) -> Matrix:
    """Return the rotation by `angle` (rad) about the coordinate axis ``x``, ``y`` or ``z``."""
    c, s = math.cos(angle), math.sin(angle)
    return {
        "x": np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]]),
        "y": np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]),
        "z": np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]),
    }[axis]


def from_rpy(rpy: Sequence[float]) -> Matrix:
    """Rotations about the fixed axes x, y, z, one after the other: Rz(yaw) Ry(pitch) Rx(roll)."""
    roll, pitch, yaw = rpy
    return product(about("z", yaw), about("y", pitch), about("x", roll))


def to_rpy(rotation: Matrix) -> tuple[float, float, float]:
    """Return the angles of `from_rpy`; if pitch is a right angle, rounding determines roll.

    Yaw is computed from roll rather than from the matrix, which compensates the error of roll near
    right angles.
    """
    roll = math.atan2(rotation[2, 1], rotation[2, 2])
    pitch = math.atan2(-rotation[2, 0], math.hypot(rotation[2, 1], rotation[2, 2]))
    c, s = math.cos(roll), math.sin(roll)
    sine = s * rotation[0, 2] - c * rotation[0, 1]
    cosine = c * rotation[1, 1] - s * rotation[1, 2]
    return roll, pitch, math.atan2(sine, cosine)


def unit(direction: Sequence[float]) -> Matrix:
    """Return the direction with length 1; ValueError if it has none in float64."""
    vector = np.asarray(direction, dtype=float)
    size = float(np.abs(vector).max(initial=0.0))
    if not _SMALLEST < size < 1.0 / _SMALLEST:
        raise ValueError("no direction")
    vector = vector / size
    result: Matrix = vector / math.sqrt(sum(float(x) * float(x) for x in vector))
    return result


def from_quaternion(quaternion: Sequence[float]) -> Matrix:
    """Return the rotation of a quaternion w, x, y, z of any length; ValueError for 0."""
    w, x, y, z = unit(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def from_axis_angle(axis: Sequence[float], angle: float) -> Matrix:
    """Return the rotation by `angle` (rad) about an axis of any length; ValueError for 0."""
    direction = unit(axis)
    return from_quaternion([math.cos(angle / 2), *(math.sin(angle / 2) * direction)])


def symmetric(entries: Sequence[float]) -> Matrix:
    """Return the tensor of xx, yy, zz, xy, xz, yz."""
    xx, yy, zz, xy, xz, yz = entries
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def entries_of(tensor: Matrix) -> tuple[float, ...]:
    """xx, yy, zz, xy, xz, yz of a symmetric tensor."""
    mean = (tensor + tensor.T) / 2
    pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    return tuple(float(mean[i, k]) for i, k in pairs)


def turned(rotation: Matrix, entries: Sequence[float]) -> tuple[float, ...]:
    """Entries of the tensor R I R^T."""
    return entries_of(product(rotation, symmetric(entries), rotation.T))


@dataclass(frozen=True)
class Pose:
    """A position (3,) and an orientation (3, 3)."""

    at: Matrix
    turn: Matrix

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(self.at + product(self.turn, other.at), product(self.turn, other.turn))

    def inverse(self) -> Pose:
        """Return the inverse pose."""
        return Pose(product(-self.turn.T, self.at), self.turn.T)


HERE = Pose(np.zeros(3), np.eye(3))


def homogeneous(turn: Matrix, at: Matrix) -> Matrix:
    """Return the 4x4 matrix of a rotation (3, 3) and a position (3,)."""
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = turn, at
    return result


def turned_about(axis: str, angle: float) -> Matrix:
    """Return a rotation about a coordinate axis (rad) as a pose, (4, 4)."""
    return homogeneous(about(axis, angle), np.zeros(3))


def shifted(x: float = 0.0, z: float = 0.0) -> Matrix:
    """Return a translation along x and z as a pose, (4, 4)."""
    return homogeneous(np.eye(3), np.array([x, 0.0, z]))


def inverse(pose: Matrix) -> Matrix:
    """Return the inverse of a pose, (4, 4)."""
    turn = pose[:3, :3].T
    return homogeneous(turn, product(-turn, pose[:3, 3]))
