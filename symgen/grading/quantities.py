"""What can be asked of a student, by the names that lectures use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from symgen.program.functions import FUNCTIONS
from symgen.program.program import Output, Program


@dataclass(frozen=True)
class Quantity:
    """An array: the sum of `results` of a function, mostly of one."""

    function: str
    results: tuple[str, ...]

    def output(self, program: Program[Any]) -> Output[Any]:
        """The array, from a program of its function."""
        parts = [part for part in program.outputs if part.name in self.results]
        rows = zip(*(part.entries for part in parts), strict=True)
        entries = tuple(reduce(add, row) for row in rows)
        return Output(self.results[0], parts[0].shape, entries)


def _one(function: str, result: str = "") -> Quantity:
    return Quantity(function, (result or function,))


USUAL: Mapping[str, Quantity] = {
    "M": _one("mass_matrix"),
    "C": _one("coriolis_matrix"),
    "tau": _one("inverse_dynamics", "tau"),
    "b": _one("bias_forces"),
    "h": Quantity("torque_parts", ("centrifugal_torques", "coriolis_torques")),
    "G": _one("gravity_forces"),
    "g": _one("gravity_forces"),
    "inertial": _one("torque_parts", "inertial_torques"),
    "centrifugal": _one("torque_parts", "centrifugal_torques"),
    "coriolis": _one("torque_parts", "coriolis_torques"),
    "T": _one("kinetic_energy"),
    "V": _one("potential_energy"),
    "com": _one("center_of_mass"),
    "qdd": _one("forward_dynamics", "qdd"),
}
"""Short names; h is C qd, the velocity-product terms alone, and b = h + G + loads + joint terms."""

OWN_WITHOUT_INDEX = ("C", "g", "h", "inertial", "centrifugal", "coriolis")
"""Names of entries that without an index may be names of the student's own."""

COUPLED = "C"
"""The matrix of which there are many: what counts is C qd, row by row."""

PRODUCTS = "h"
"""What it gives with qd."""

_GRADED = (
    "mass_matrix", "inverse_dynamics", "inverse_dynamics_derivatives", "coriolis_matrix",
    "bias_forces", "gravity_forces", "torque_parts", "kinetic_energy", "potential_energy",
    "forward_kinematics", "jacobians", "joint_wrenches", "point_motion",
    "point_motion_derivatives", "center_of_mass", "center_of_mass_jacobian",
    "centroidal_momentum", "link_motion", "centroidal_momentum_matrix",
    "centroidal_momentum_rate", "forward_dynamics",
)  # fmt: skip

QUANTITIES: Mapping[str, Quantity] = {
    **{
        result.name: _one(function.name, result.name)
        for function in reversed(FUNCTIONS)
        if function.name in _GRADED
        for result in function.results
    },
    **USUAL,
}
"""Every name that may stand on the left: the results of functions by their own names, too."""
