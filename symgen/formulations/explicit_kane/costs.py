"""Rough numbers of operations, body by body; d is the number of joints from the base to the body.

The coefficients are fitted to the folded programs of general chains of revolute joints with 2 to 32
coordinates, those of sensitivities and of derivatives carried inward with 3 to 10, and with 1 to 6
runtime parameters.  A body at depth d stands in d^2/2 entries of M and in d^3/2 terms of their
derivatives by the coordinates, by which the explicit sums become n^4; carried inward they are of
order d^2.  Sensitivities to few parameters are found along directions, without these derivatives.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symgen.formulations.implicit import has_few_parameters
from symgen.kinematics.tree import KinematicTree

Coefficients = tuple[float, float, float, float, float]
"""Of d^3, d^2 and d, and for every runtime parameter of d^2 and d."""

_EXPLICIT: Mapping[str, Coefficients] = {
    "mass_matrix": (0, 14, 7, 0, 0),
    "bias_forces": (0, 0.5, 73, 0, 0),
    "dynamics": (0, 12, 73, 0, 0),
    "dynamics_derivatives": (6, 145, 0, 0, 0),
    "dynamics_parameter_derivatives": (0, 8, 67, 3, 32),
    "dynamics_sensitivities": (6, 140, 0, 10, 7),
    "dynamics_sensitivities, few parameters": (0, 13, 62, 10, 139),
}
_PARTIALLY_RECURSIVE: Mapping[str, Coefficients] = {
    "mass_matrix": (0, 10, 27, 0, 0),
    "bias_forces": (0, 0, 42, 0, 0),
    "dynamics": (0, 5, 110, 0, 0),
    "dynamics_derivatives": (0, 140, 180, 0, 0),
    "dynamics_parameter_derivatives": (0, 1, 102, 0, 58),
    "dynamics_sensitivities": (0, 153, 129, 0, 34),
    "dynamics_sensitivities, few parameters": (0, 5, 102, 0, 198),
}


def explicit(tree: KinematicTree[Any], function: str) -> int:
    """The size of a function by the explicit sums."""
    return _size(_EXPLICIT, tree, function)


def partially_recursive(tree: KinematicTree[Any], function: str) -> int:
    """The size of a function by the sums carried inward."""
    return _size(_PARTIALLY_RECURSIVE, tree, function)


def _size(table: Mapping[str, Coefficients], tree: KinematicTree[Any], function: str) -> int:
    """Forward and hybrid dynamics cost the same, but for what prescribed joints save."""
    name = function.removeprefix("forward_").removeprefix("hybrid_")
    if name == "dynamics_sensitivities" and has_few_parameters(tree):
        name += ", few parameters"
    cubic, square, linear, p_square, p_linear = table[name]
    p = len(tree.runtime_parameters)
    depths = [len(tree.path(joint.number)) for joint in tree.joints]
    return round(
        sum(
            cubic * d**3 + (square + p * p_square) * d**2 + (linear + p * p_linear) * d
            for d in depths
        )
    )
