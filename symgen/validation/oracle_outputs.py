"""The outputs of a model as numbers, by `NumericRobot`.

An expression is evaluated as it stands in the file, over arrays with batch axes in front; its
quantities are those of the numeric model.  Complex numbers go through every operation, so that
complex step differentiates an output: what is not analytic (abs, atan2, powers) is continued from
the real axis.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from symgen.description.expressions import CONSTANT_VALUES
from symgen.description.model import RobotDescription
from symgen.joints import closing_type
from symgen.joints.closing import row_names
from symgen.validation.limits import STEP
from symgen.validation.oracle_expressions import value_of
from symgen.validation.oracle_forward import ForwardFunctions
from symgen.validation.oracle_parts import Array, as_array

_AXES = ("x", "y", "z")
_WRENCH = ("fx", "fy", "fz", "nx", "ny", "nz")
_CORES: Mapping[str, int] = {
    "t": 0, "q": 1, "qd": 1, "qdd": 1, "tau": 1, "loads": 2, "motion_multipliers": 2,
}  # fmt: skip
"""Number of axes of an argument without its batch axes."""
_SLOPES = tuple(_CORES)[:-1]
"""Those that `outputs_derivatives` has derivatives by."""
_MULTIPLIERS = ("multipliers", "velocity_multipliers", "acceleration_multipliers")


class OutputFunctions(ForwardFunctions):
    """Functions of `NumericRobot` that a model file asks for."""

    def outputs(
        self, t: Array, q: Array, qd: Array, qdd: Array, tau: Array, *, loads: Array | None = None,
        motion_multipliers: Array | None = None,
    ) -> Array:  # fmt: skip
        """The model's outputs, (..., n_outputs); `t` has the shape (...).  Complex ones, too."""
        given = self._output_arguments(t, q, qd, qdd, tau, loads, motion_multipliers)
        return values_of_outputs(self, given)

    def outputs_multiplier_derivatives(
        self, t: Array, q: Array, qd: Array, qdd: Array, tau: Array, *, loads: Array | None = None,
        motion_multipliers: Array | None = None,
    ) -> Array:  # fmt: skip
        """Derivatives by the multipliers, (..., n_outputs, 3, n_constraints); real only."""
        given = self._output_arguments(t, q, qd, qdd, tau, loads, motion_multipliers)
        return self._slope_of_outputs(given, "motion_multipliers")

    def outputs_derivatives(
        self, t: Array, q: Array, qd: Array, qdd: Array, tau: Array, *, loads: Array | None = None,
        motion_multipliers: Array | None = None,
    ) -> tuple[Array, ...]:  # fmt: skip
        """The outputs and their derivatives by t, q, qd, qdd, tau, loads, parameters; real only.

        The shape of an argument stands behind that of the outputs: (..., n_outputs),
        4 x (..., n_outputs, n), (..., n_outputs, n_loads, 6), (..., n_outputs, n_parameters).
        """
        arguments = self._output_arguments(t, q, qd, qdd, tau, loads, motion_multipliers)
        slopes = [self._slope_of_outputs(arguments, name) for name in _SLOPES]
        by_parameters = self.by_parameters(lambda robot: values_of_outputs(robot, arguments))
        return values_of_outputs(self, arguments), *slopes, by_parameters

    def _output_arguments(self, *given: Array | None) -> dict[str, Array]:
        """The arguments by name, with batch axes of one shape."""
        rows = len(constraint_names(self.description))
        none = {"loads": (self.n_loads, 6), "motion_multipliers": (3, rows)}
        arguments = {
            name: np.zeros(none[name]) if x is None else as_array(x)
            for name, x in zip(_CORES, given, strict=True)
        }
        batches = {name: x.shape[: x.ndim - _CORES[name]] for name, x in arguments.items()}
        batch = np.broadcast_shapes(*batches.values())
        return {
            name: np.broadcast_to(x, (*batch, *x.shape[len(batches[name]) :]))
            for name, x in arguments.items()
        }

    def _slope_of_outputs(self, arguments: Mapping[str, Array], name: str) -> Array:
        """d outputs / d the argument `name` by complex step."""
        value, batch = arguments[name], arguments["t"].ndim
        core = (self.n,) if name == "q" else value.shape[batch:]
        size = int(np.prod(core))
        steps = 1j * STEP * np.eye(size).reshape(size, *(1,) * batch, *core)
        moved = {key: np.broadcast_to(x, (size, *x.shape)) for key, x in arguments.items()}
        moved[name] = self.space.integrate(value, steps) if name == "q" else value + steps
        slope = np.moveaxis(values_of_outputs(self, moved).imag / STEP, 0, -1)
        return np.asarray(slope.reshape(*slope.shape[:-1], *core))


def values_of_outputs(robot: ForwardFunctions, arguments: Mapping[str, Array]) -> Array:
    """The outputs of a robot at arguments with batch axes of one shape, (..., n_outputs)."""
    quantities, batch = Quantities(robot, arguments), arguments["t"].shape
    roots = [output.expression.root for output in robot.description.outputs]
    values = [np.broadcast_to(value_of(root, quantities), batch) for root in roots]
    return np.stack(values, axis=-1) if values else np.zeros((*batch, 0))


class Quantities:
    """What expressions are made of, at one state; each is computed where it is asked for.

    `t` has the shape (...), `q` (..., nq), `qd`, `qdd` and `tau` have (..., n), `loads`
    (..., n_loads, 6).
    """

    def __init__(self, robot: ForwardFunctions, arguments: Mapping[str, Array]) -> None:
        self.robot = robot.at_time(arguments["t"])
        self.arguments = arguments

    def __call__(self, name: str) -> Array:
        """A parameter, constant or quantity by its name, (...)."""
        if name in self.robot.values:
            return np.asarray(self.robot.values[name])
        if name in CONSTANT_VALUES:
            return np.asarray(CONSTANT_VALUES[name])
        family, *rest = name.split(".")
        if family == "t":
            return self.arguments["t"]
        if family in ("q", "qd", "qdd", "tau"):
            return np.asarray(self.by_coordinate(family)[..., self.coordinate(rest[0])])
        if family == "points":
            return self.point_component(rest[0], rest[1])
        if family == "wrenches":
            wrench = self.wrenches[..., self.row_of_wrench(rest[0]), :]
            return np.asarray(wrench[..., _WRENCH.index(rest[1])])
        if family == "loads":
            load = self.arguments["loads"][..., self.robot.load_names.index(rest[0]), :]
            return np.asarray(load[..., _WRENCH.index(rest[1])])
        if family in _MULTIPLIERS:
            rows = self.arguments["motion_multipliers"][..., _MULTIPLIERS.index(family), :]
            return np.asarray(rows[..., constraint_names(self.robot.description).index(rest[0])])
        return self.of_the_whole(family, rest)

    def of_the_whole(self, family: str, rest: list[str]) -> Array:
        """An energy, or a coordinate of the centre of mass, (...)."""
        robot, q, qd = self.robot, self.arguments["q"], self.arguments["qd"]
        if family == "kinetic_energy":
            return robot.kinetic_energy(q, qd)
        if family == "potential_energy":
            return robot.potential_energy(q)
        return np.asarray(robot.center_of_mass(q)[..., _AXES.index(rest[0])])

    def by_coordinate(self, family: str) -> Array:
        """An argument with one entry for every coordinate, (..., n)."""
        given = self.arguments[family]
        return self.robot.space.coordinates(given) if family == "q" else given

    def coordinate(self, name: str) -> int:
        """The number of a coordinate, from 0."""
        return self.robot.coordinate_names.index(name)

    def row_of_wrench(self, name: str) -> int:
        """Where the wrench of a joint stands; those on manifolds have one each."""
        number = self.robot.joint_names.index(name)
        return int(np.searchsorted(self.robot._rows, number))

    def point_component(self, point: str, part: str) -> Array:
        """x, vx or ax of a point, and the other axes, (...)."""
        order = 0 if len(part) == 1 else "va".index(part[0]) + 1
        vectors = self.point_motion[order][..., self.robot.point_names.index(point), :]
        return np.asarray(vectors[..., _AXES.index(part[-1])])

    @cached_property
    def point_motion(self) -> tuple[Array, Array, Array]:
        """As in the numeric model."""
        return self.robot.point_motion(*(self.arguments[name] for name in ("q", "qd", "qdd")))

    @cached_property
    def wrenches(self) -> Array:
        """As `joint_wrenches` of the numeric model."""
        q, qd, qdd = (self.arguments[name] for name in ("q", "qd", "qdd"))
        return self.robot.joint_wrenches(q, qd, qdd, loads=self.arguments["loads"])


def constraint_names(description: RobotDescription) -> list[str]:
    """Of the rows of all loops, then the relations, then the norms of Euler parameters."""
    found = [
        name for x in description.loops for name in row_names(x.name, closing_type(x.type).forbids)
    ]
    found += [relation.name for relation in description.relations]
    return [*found, *(f"{x.name}_norm" for x in description.joints if x.is_redundant)]
