"""What closes the loops of a model as numbers, by `NumericRobot`: literally as the format says.

A frame of a loop is a homogeneous matrix whose third column is the axis; the first two are where
the shortest rotation of z to the axis takes x and y.  Derivatives are complex steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from symgen.description.model import LoopDescription, LoopEnd
from symgen.validation.oracle_expressions import value_of
from symgen.validation.oracle_outputs import OutputFunctions, Quantities
from symgen.validation.oracle_parameters import reader
from symgen.validation.oracle_parts import Array, as_array, axes_around, pose_matrix

Rows = Callable[[Array, Array, Array], list[Array]]
"""Rows of two rotations (..., 3, 3), and the way from the first origin to the second (..., 3)."""


def _along(R: Array, column: int, vector: Array) -> Array:
    return np.asarray(np.sum(R[..., column] * vector, axis=-1))


def _together(_first: Array, _second: Array, way: Array) -> list[Array]:
    return [way[..., k] for k in range(3)]


def _axis_in_axis(first: Array, second: Array, _way: Array) -> list[Array]:
    return [_along(first, k, second[..., 2]) for k in range(2)]


def _no_spin(first: Array, second: Array, _way: Array) -> list[Array]:
    return [_along(first, 0, second[..., 1])]


def _across(first: Array, _second: Array, way: Array) -> list[Array]:
    return [_along(first, k, way) for k in range(2)]


def _one_after_the_other(*parts: Rows) -> Rows:
    return lambda *given: [row for part in parts for row in part(*given)]


_ROWS: Mapping[str, Rows] = {
    "revolute": _one_after_the_other(_together, _axis_in_axis),
    "prismatic": _one_after_the_other(_axis_in_axis, _no_spin, _across),
    "fixed": _one_after_the_other(_together, _axis_in_axis, _no_spin),
    "universal": _one_after_the_other(
        _together, lambda first, second, _: [_along(first, 2, second[..., 2])]
    ),
    "cylindrical": _one_after_the_other(_axis_in_axis, _across),
    "planar": _one_after_the_other(_axis_in_axis, lambda first, _, way: [_along(first, 2, way)]),
    "spherical": _together,
}


class ConstraintFunctions(OutputFunctions):
    """Functions of `NumericRobot` about closed loops."""

    def constraints(self, q: Array, *, t: Array | float = 0.0) -> Array:
        """The rows of all loops, the relations, norms of Euler parameters, (..., m); complex ones,
        too."""
        q, t = as_array(q), np.asarray(t)
        batch = np.broadcast_shapes(q.shape[:-1], t.shape)
        q, t = np.broadcast_to(q, (*batch, q.shape[-1])), np.broadcast_to(t, batch)
        frames = self._kinematics(q).frames
        rows: list[Array] = []
        for loop in self.description.loops:
            rows += self._rows_of(loop, frames)
        still = np.zeros((*batch, self.n))
        quantities = Quantities(self, {"t": t, "q": q, "qd": still, "qdd": still})
        for relation in self.description.relations:
            rows.append(np.broadcast_to(value_of(relation.expression.root, quantities), batch))
        for j in sorted(self._first_of_four):
            four = self._places_of_joints(q)[..., j : j + 4]
            rows.append(np.sum(four * four, axis=-1) - 1.0)
        return np.stack(rows, axis=-1) if rows else np.zeros((*batch, 0))

    def constraint_jacobian(self, q: Array, *, t: Array | float = 0.0) -> Array:
        """Their derivatives by q, (..., m, n); real q only."""
        held = np.asarray(t)[..., np.newaxis]
        (slopes,) = self._slopes(lambda moved: (self.constraints(moved, t=held),), [q], 0)
        return slopes

    def _rows_of(self, loop: LoopDescription, frames: Array) -> list[Array]:
        first, second = (self._frame_of(end, frames) for end in (loop.first, loop.second))
        way = second[..., :3, 3] - first[..., :3, 3]
        if loop.type == "distance":
            length = reader(self.values)(loop.length)
            return [np.sum(way * way, axis=-1) - length * length]
        return _ROWS[loop.type](first[..., :3, :3], second[..., :3, :3], way)

    def _frame_of(self, end: LoopEnd, frames: Array) -> Array:
        number = reader(self.values)
        axis = np.array([number(x) for x in end.axis])
        turned = np.eye(4, dtype=axis.dtype)
        turned[:3, :3] = axes_around(axis / np.sqrt(axis @ axis))
        carrier = np.eye(4)
        if end.link in self.link_names:  # else the base
            carrier = frames[..., self.link_names.index(end.link), :, :]
        return np.asarray(carrier @ pose_matrix(end.origin, number) @ turned)
