"""Rough numbers of operations, body by body; d is the number of joints from the base to the body.

The coefficients are fitted to the folded programs of general chains of revolute joints with 2 to 10
coordinates and 1 to 6 runtime parameters, about the origins of the link frames.  About the centres
of mass it is up to 0.4 less, and derivatives by parameters take twice as much about the origin of
the base.  A body at depth d stands in d entries of M, each with a derivative by the coordinates
between its two joints.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symgen.kinematics.tree import KinematicTree

Coefficients = tuple[float, float, float]
"""Of d^2 and d, and of d for every runtime parameter."""

_COSTS: Mapping[str, Coefficients] = {
    "inverse_dynamics": (0, 130, 0),
    "inverse_dynamics_derivatives": (102, 290, 0),
    "inverse_dynamics_parameter_derivatives": (0, 28, 29),
    "mass_matrix": (0, 80, 0),
    "bias_forces": (0, 92, 0),
    "gravity_forces": (0, 17, 0),
    "dynamics": (0, 138, 0),
    "dynamics_derivatives": (117, 277, 0),
    "dynamics_parameter_derivatives": (0, 124, 27),
    "dynamics_sensitivities": (95, 298, 46),
}


def estimate(tree: KinematicTree[Any], function: str) -> int:
    """The size of a function; forward and hybrid dynamics cost the same."""
    name = function.removeprefix("forward_").removeprefix("hybrid_")
    square, linear, by_parameter = _COSTS.get(name, (0.0, 0.0, 0.0))
    p = len(tree.runtime_parameters)
    depths = [len(tree.path(joint.number)) for joint in tree.joints]
    return round(sum(square * d**2 + (linear + p * by_parameter) * d for d in depths))
