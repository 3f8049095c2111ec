"""Values of the quantities in expressions of outputs, relations and forces, by `NumericRobot`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from symgen.description.expressions import CONSTANT_VALUES
from symgen.validation.oracle_model import Array

_AXES = ("x", "y", "z")
_WRENCH = ("fx", "fy", "fz", "nx", "ny", "nz")
_MULTIPLIERS = ("multipliers", "velocity_multipliers", "acceleration_multipliers")


class Quantities:
    """Values of names at one state of `robot`, a `NumericRobot`, computed at the first access.

    `arguments` are t (...), q (..., nq), qd, qdd (..., n) and, for outputs, tau, loads
    (..., n_loads, 6) and motion_multipliers (..., 3, m), with batch axes of one shape; `local` are
    the names that a force defines.
    """

    def __init__(self, robot: Any, arguments: Mapping[str, Array]) -> None:
        self.robot, self.arguments = robot, arguments
        self.local: dict[str, Array] = {}
        self._tyres: dict[str, dict[str, Array]] = {}

    def __call__(self, name: str) -> Array:
        """Return a parameter, constant or quantity by its name, (...)."""
        for values in (self.local, self.robot.values, CONSTANT_VALUES):
            if name in values:
                return np.asarray(values[name])
        model, (family, *rest) = self.robot.model, name.split(".")
        if family == "t":
            return self.arguments["t"]
        if family in ("q", "qd", "qdd", "tau"):
            values = self.arguments[family]
            values = model.space.coordinates(values) if family == "q" else values
            return np.asarray(values[..., model.coordinate_names.index(rest[0])])
        if family == "points":
            return self._point(*rest)
        if family == "wrenches":
            row = np.searchsorted(model.wrench_rows, model.joint_names.index(rest[0]))
            return np.asarray(self._wrenches[..., row, _WRENCH.index(rest[1])])
        if family == "loads":
            number = [load.name for load in model.description.loads].index(rest[0])
            return np.asarray(self.arguments["loads"][..., number, _WRENCH.index(rest[1])])
        if family == "tyres":
            return self._tyre(rest[0])[name]
        if family in _MULTIPLIERS:
            rows = self.arguments["motion_multipliers"][..., _MULTIPLIERS.index(family), :]
            return np.asarray(rows[..., model.description.constraint_names.index(rest[0])])
        if family == "kinetic_energy":
            return np.asarray(self.robot.kinetic_energy(self.arguments["q"], self.arguments["qd"]))
        if family == "potential_energy":
            return np.asarray(self.robot.potential_energy(self.arguments["q"]))
        return np.asarray(self.robot.center_of_mass(self.arguments["q"])[..., _AXES.index(rest[0])])

    def _point(self, point: str, part: str) -> Array:
        """x, vx or ax of a point, and the other axes, (...)."""
        order = 0 if len(part) == 1 else "va".index(part[0]) + 1
        number = [x.name for x in self.robot.description.points].index(point)
        return np.asarray(self._points[order][..., number, _AXES.index(part[-1])])

    def _tyre(self, name: str) -> dict[str, Array]:
        """Values of the law of a tyre."""
        if name not in self._tyres:
            arguments = (self.arguments[x] for x in ("q", "qd", "t"))
            self._tyres[name] = self.robot.tyre_values(name, *arguments)
        return self._tyres[name]

    @property
    def _state(self) -> list[Array]:
        return [self.arguments[name] for name in ("q", "qd", "qdd")]

    @cached_property
    def _points(self) -> tuple[Array, ...]:
        points: tuple[Array, ...] = self.robot.point_motion(*self._state)
        return points

    @cached_property
    def _wrenches(self) -> Array:
        wrenches: Array = self.robot.joint_wrenches(*self._state, loads=self.arguments["loads"])
        return wrenches
