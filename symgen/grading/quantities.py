"""What can be asked of a student, by the names that lectures use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from symgen.program.functions import FUNCTIONS


@dataclass(frozen=True)
class Quantity:
    """One array among the results of a function."""

    function: str
    result: str


USUAL: Mapping[str, Quantity] = {
    "M": Quantity("mass_matrix", "mass_matrix"),
    "tau": Quantity("inverse_dynamics", "tau"),
    "b": Quantity("bias_forces", "bias_forces"),
    "G": Quantity("gravity_forces", "gravity_forces"),
    "T": Quantity("kinetic_energy", "kinetic_energy"),
    "V": Quantity("potential_energy", "potential_energy"),
    "com": Quantity("center_of_mass", "center_of_mass"),
    "qdd": Quantity("forward_dynamics", "qdd"),
}
"""Short names."""

_GRADED = (
    "mass_matrix", "inverse_dynamics", "inverse_dynamics_derivatives", "bias_forces",
    "gravity_forces", "kinetic_energy", "potential_energy", "forward_kinematics", "jacobians",
    "joint_wrenches", "point_motion", "point_motion_derivatives", "center_of_mass",
    "center_of_mass_jacobian", "centroidal_momentum", "forward_dynamics",
)  # fmt: skip
"""Functions whose results are what they are: not the Coriolis matrix, of which there are many."""

QUANTITIES: Mapping[str, Quantity] = {
    **{
        result.name: Quantity(function.name, result.name)
        for function in reversed(FUNCTIONS)
        if function.name in _GRADED
        for result in function.results
    },
    **USUAL,
}
"""Every name that may stand on the left: the results of functions by their own names, too."""
