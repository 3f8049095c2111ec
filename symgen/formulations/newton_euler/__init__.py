"""Recursive Newton-Euler dynamics with 3x3 rotations (Barman 2020).

`recursion` holds the notation and the steps of the inverse dynamics, the other modules what is made
of them.
"""

from functools import partial

from symgen.formulations import constraints as loop_rows
from symgen.formulations import model_outputs, torques
from symgen.formulations.direct import Direct, by_differentiation, with_derivatives
from symgen.formulations.interface import Derivation, Formulation, functions_in, notes_in
from symgen.formulations.newton_euler import (
    constraints,
    kinematics,
    mass_center,
    outputs,
    recursion,
    regressor,
)

_TORQUES = torques.functions(recursion.rigid)

FUNCTIONS: dict[str, Derivation] = {
    **_TORQUES,
    **functions_in(recursion, kinematics, mass_center, outputs, regressor),
    **torques.solving(recursion.rigid),
    **constraints.FUNCTIONS,
    "inverse_dynamics_hessian": partial(
        by_differentiation,
        Direct("inverse_dynamics_derivatives", _TORQUES["inverse_dynamics"], reverse=False),
    ),
}

NEWTON_EULER = Formulation(
    name="newton_euler",
    title="Recursive Newton-Euler, 3x3 rotations",
    source="Barman 2020",
    notes=notes_in(
        recursion,
        kinematics,
        mass_center,
        regressor,
        model_outputs,
        constraints,
        loop_rows,
    ),
    functions=with_derivatives(FUNCTIONS),
    weight=1.5,
    weights={"joint_wrench_derivatives": 0.5, "regressor": 0.3},
)
