"""Rows of the constraints that close loops, for `NumericRobot`, literally as in the format.

A frame of a loop is a homogeneous matrix whose third column is the axis; the first two are x and y,
rotated by the shortest rotation of z to the axis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from symgen.description.model import LoopDescription, LoopEnd
from symgen.validation.oracle_model import Array, Model, axes_around, pose_matrix

Rows = Callable[[Array, Array, Array], list[Array]]
"""Rows of two rotations (..., 3, 3) and the vector from the first origin to the second (..., 3)."""


def _along(R: Array, column: int, vector: Array) -> Array:
    return np.asarray(np.sum(R[..., column] * vector, axis=-1))


_PARTS: Mapping[str, Rows] = {
    "together": lambda first, second, arm: [arm[..., k] for k in range(3)],
    "axis in axis": lambda first, second, arm: [_along(first, k, second[..., 2]) for k in range(2)],
    "no spin": lambda first, second, arm: [_along(first, 0, second[..., 1])],
    "across": lambda first, second, arm: [_along(first, k, arm) for k in range(2)],
    "perpendicular": lambda first, second, arm: [_along(first, 2, second[..., 2])],
    "in plane": lambda first, second, arm: [_along(first, 2, arm)],
}
_ROWS: Mapping[str, tuple[str, ...]] = {
    "revolute": ("together", "axis in axis"),
    "prismatic": ("axis in axis", "no spin", "across"),
    "fixed": ("together", "axis in axis", "no spin"),
    "universal": ("together", "perpendicular"),
    "cylindrical": ("axis in axis", "across"),
    "planar": ("axis in axis", "in plane"),
    "spherical": ("together",),
}


def rows_of(loop: LoopDescription, first: Array, second: Array, length: complex) -> list[Array]:
    """Rows of a loop, (...) each, of its two frames (..., 4, 4); `length` is that of a rod, m."""
    arm = second[..., :3, 3] - first[..., :3, 3]
    if loop.type == "distance":
        return [np.sum(arm * arm, axis=-1) - length * length]
    turns = first[..., :3, :3], second[..., :3, :3]
    return [row for part in _ROWS[loop.type] for row in _PARTS[part](*turns, arm)]


def frame_of(model: Model, end: LoopEnd, frames: Array) -> Array:
    """Return the frame of a loop, (..., 4, 4), of the frames of all links, (..., n_links, 4, 4)."""
    axis = np.array([model.number(x) for x in end.axis])
    turned = np.eye(4, dtype=axis.dtype)
    turned[:3, :3] = axes_around(axis / np.sqrt(axis @ axis))
    carrier = np.eye(4)
    if end.link in model.link_names:  # else the base
        carrier = frames[..., model.link_names.index(end.link), :, :]
    return np.asarray(carrier @ pose_matrix(end.origin, model.number) @ turned)
