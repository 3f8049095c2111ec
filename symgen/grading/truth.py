"""The truth about a robot at a random point: every entry of every function, every step.

A `Quantity` is a gradable array, with the name that lectures use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
import sympy

from symgen.algebra.linear import Vector
from symgen.algebra.prime_field import PrimeField, Residue
from symgen.algebra.sympy_algebra import SymPyAlgebra, constant, symbol
from symgen.deriving.symbolic import quaternions_of
from symgen.description.model import RobotDescription
from symgen.description.names import BASE
from symgen.exact.movements import unit_quaternion
from symgen.formulations import derive, formulation_named
from symgen.grading.residues import Values
from symgen.kinematics.scalars import scalar
from symgen.kinematics.tree import KinematicTree, build_tree
from symgen.program.functions import FUNCTIONS, SYMBOLS, function_named
from symgen.program.program import Output, Program


@dataclass(frozen=True)
class Quantity:
    """An array: the sum of `results` of a function, usually of one."""

    function: str
    results: tuple[str, ...]

    def output(self, program: Program[Any]) -> Output[Any]:
        """Return the array in a program of its function."""
        parts = [part for part in program.outputs if part.name in self.results]
        rows = zip(*(part.entries for part in parts), strict=True)
        entries = tuple(reduce(add, row) for row in rows)
        return Output(self.results[0], parts[0].shape, entries)


USUAL: Mapping[str, Quantity] = {
    **{x: Quantity(name, (function_named(name).results[0].name,)) for x, name in SYMBOLS.items()},
    "h": Quantity("torque_parts", ("centrifugal_torques", "coriolis_torques")),
    "inertial": Quantity("torque_parts", ("inertial_torques",)),
    "centrifugal": Quantity("torque_parts", ("centrifugal_torques",)),
    "coriolis": Quantity("torque_parts", ("coriolis_torques",)),
    "J": Quantity("constraint_jacobian", ("constraint_jacobian",)),
}
"""Short names; h is C qd, the velocity-product terms, and b = h + G + loads + joint terms."""

OWN_WITHOUT_INDEX = ("C", "g", "h", "inertial", "centrifugal", "coriolis", "Phi", "J")
"""Names of entries that may be names of definitions if they have no index."""

COUPLED = "C"
"""The Coriolis matrix, which is not unique: its rows are compared by C qd."""

PRODUCTS = "h"
"""The product of the Coriolis matrix and qd."""

LEVELLED = "potential_energy"
"""The function that is defined up to a constant."""

SIGNED = ("constraints", "constraint_jacobian", "constraint_rates", "constraint_bias")
"""Functions whose rows are defined up to one sign for each row, the same in all four."""

_GRADED = (
    "mass_matrix", "inverse_dynamics", "inverse_dynamics_derivatives", "coriolis_matrix",
    "bias_forces", "gravity_forces", "torque_parts", "kinetic_energy", "potential_energy",
    "forward_kinematics", "jacobians", "joint_wrenches", "point_motion",
    "point_motion_derivatives", "center_of_mass", "center_of_mass_jacobian",
    "centroidal_momentum", "link_motion", "centroidal_momentum_matrix",
    "centroidal_momentum_rate", "forward_dynamics", *SIGNED,
)  # fmt: skip

QUANTITIES: Mapping[str, Quantity] = {
    **{
        result.name: Quantity(function.name, (result.name,))
        for function in reversed(FUNCTIONS)
        if function.name in _GRADED
        for result in function.results
    },
    **USUAL,
}
"""Every gradable array: `USUAL`, and the results of functions by their names."""

Expr = Any
REFERENCE = "newton_euler"
"""The formulation of the truth if the answer names none: it has every function."""


@dataclass(frozen=True)
class Changed:
    """A change of the state in question.

    `zeros` names inputs (``qd``, ``qdd``, ``loads``) that are 0.  With `absolute` the coordinates
    of the answer are angles from the base, so that an angle is the difference of two of them.  With
    `numbers` the parameters have the values of the file.  `turned` has index and sign of the
    answer's entry for every entry x y z w of a quaternion; empty for no change.  With `moved` all
    symbols but parameters have other values.
    """

    zeros: tuple[str, ...] = ()
    absolute: bool = False
    numbers: bool = False
    turned: tuple[tuple[int, int], ...] = ()
    moved: bool = False


UNCHANGED = Changed()


def position_of(index: tuple[int, ...], shape: tuple[int, ...]) -> int:
    """Row-major position of the entry with a 1-based index."""
    return int(np.ravel_multi_index([i - 1 for i in index], shape)) if shape else 0


@dataclass
class Truth:
    """A robot over SymPy; programs are derived once each."""

    description: RobotDescription
    _programs: dict[tuple[str, str], Program[Expr]] = field(default_factory=dict)

    def program(self, function: str, formulation: str = REFERENCE) -> Program[Expr]:
        """Derive the steps of a function; ZeroDivisionError where it has no solution."""
        key = function, formulation
        if key not in self._programs:
            self._programs[key] = derive(self.tree, formulation_named(formulation), function)
        return self._programs[key]

    @cached_property
    def tree(self) -> KinematicTree[Expr]:
        """The kinematic tree over SymPy."""
        return build_tree(self.description, SymPyAlgebra())

    @property
    def coordinates(self) -> int:
        """Number of coordinates."""
        return len(self.description.coordinate_names)

    def quaternions(self, program: Program[Expr]) -> list[tuple[Expr, ...]]:
        """Return the entries x y z w of every quaternion among the inputs of a program."""
        return quaternions_of(self.description, program)

    def dependent(self, program: Program[Expr]) -> dict[Expr, Expr]:
        """Map derived parameters and entries of quaternions to independent expressions.

        A unit quaternion is expressed by three dummies.
        """
        definitions, algebra = self.definitions, SymPyAlgebra()
        for entries in self.quaternions(program):
            s = Vector(*(sympy.Dummy(x.name) for x in entries[:3]))
            definitions.update(zip(entries, unit_quaternion(s, algebra), strict=True))
        return definitions

    @property
    def definitions(self) -> dict[Expr, Expr]:
        """Expression of every derived parameter by independent ones."""
        algebra = SymPyAlgebra()
        definitions = {
            symbol(parameter.name): scalar(parameter.expression, algebra)
            for parameter in self.description.parameters
            if parameter.derived
        }
        for _ in definitions:  # definitions may depend on each other, in any order of the file
            definitions = {name: value.xreplace(definitions) for name, value in definitions.items()}
        return definitions

    @property
    def numbers(self) -> dict[Expr, Expr]:
        """Value of every independent parameter in the file, decimals taken exactly."""
        values = self.description.parameter_values
        return {
            symbol(parameter.name): constant(values[parameter.name])
            for parameter in self.description.parameters
            if not parameter.derived
        }

    def values(self, prime: PrimeField, program: Program[Expr], changed: Changed) -> Values:
        """Return a point of the field, with all steps of `program` evaluated."""
        values = Values(prime, self.description.parameter_values if changed.moved else None)
        self.evaluate(program, changed, values, prime.number(0))
        return values

    def evaluate(self, program: Program[Expr], changed: Changed, values: Any, zero: Any) -> None:
        """Enter parameters, the changed state and all steps of `program` into `values.cache`."""
        if changed.numbers:
            values.cache.update({x: values.of(number) for x, number in self.numbers.items()})
        for name, definition in self.dependent(program).items():
            values.cache[name] = values.of(definition)
        arrays = {array.name: array.symbols for array in program.inputs}
        for name in changed.zeros:
            values.cache.update(dict.fromkeys(arrays.get(name, ()), zero))
        if changed.absolute:
            _relative(values, arrays, self.chained_angles())
        for entries in self.quaternions(program) if changed.turned else ():
            residues = [values.of(x) for x in entries]
            for x, (place, sign) in zip(entries, changed.turned, strict=True):
                values.cache[x] = residues[place] if sign > 0 else -residues[place]
        for statement in program.statements:
            values.cache[symbol(statement.name)] = values.of(statement.value)

    def entries(
        self, prime: PrimeField, quantity: Quantity, changed: Changed = UNCHANGED
    ) -> list[Residue]:
        """All entries of a quantity, in order."""
        program = self.program(quantity.function)
        values = self.values(prime, program, changed)
        return [values.of(x) for x in quantity.output(program).entries]

    def chained_angles(self) -> list[int]:
        """Return the places in q of angles that follow an angle in a chain."""
        joints = [x for x in self.description.independent_joints for _ in range(x.coordinates)]
        turns = [x.type in ("revolute", "continuous") for x in joints]
        return [
            k for k, x in enumerate(joints) if k and turns[k - 1] and turns[k] and x.parent != BASE
        ]


def _relative(values: Values, arrays: Mapping[str, tuple[Expr, ...]], places: list[int]) -> None:
    """Replace the coordinates at `places` by their differences from the previous ones."""
    for name, symbols in arrays.items():
        if name not in ("q", "qd", "qdd"):
            continue
        residues = [values.of(x) for x in symbols]
        angles = [values.half(x) for x in symbols] if name == "q" else []
        for k in places:
            values.cache[symbols[k]] = residues[k] - residues[k - 1]
            if angles:
                (c, s), (d, t) = angles[k], angles[k - 1]
                values.turn(symbols[k], (c * d + s * t, s * d - c * t))
