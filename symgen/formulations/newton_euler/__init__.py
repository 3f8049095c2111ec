"""Recursive Newton-Euler dynamics with 3x3 rotations (Barman 2020).

`recursion` holds the notation and the steps of the inverse dynamics, the other modules what is made
of them.
"""

from collections.abc import Mapping
from functools import partial

from symgen.formulations import torques
from symgen.formulations.constraints import NOTES as CONSTRAINT_NOTES
from symgen.formulations.direct import Direct, by_differentiation, with_derivatives
from symgen.formulations.interface import Derivation, Formulation
from symgen.formulations.model_outputs import NOTES as OUTPUT_NOTES
from symgen.formulations.newton_euler import (
    constraints,
    dynamics,
    kinematics,
    mass_center,
    outputs,
    recursion,
    regressor,
)

_TORQUES = torques.functions(dynamics.rigid)

FUNCTIONS: Mapping[str, Derivation] = {
    **_TORQUES,
    "inverse_dynamics_hessian": partial(
        by_differentiation, Direct("inverse_dynamics_derivatives", _TORQUES["inverse_dynamics"])
    ),
    "mass_matrix": dynamics.mass_matrix,
    "kinetic_energy": kinematics.kinetic_energy,
    "potential_energy": kinematics.potential_energy,
    "forward_kinematics": kinematics.forward_kinematics,
    "jacobians": kinematics.jacobians,
    "joint_wrenches": dynamics.joint_wrenches,
    "point_motion": kinematics.point_motion,
    "link_motion": kinematics.link_motion,
    "center_of_mass": mass_center.center_of_mass,
    "center_of_mass_jacobian": mass_center.center_of_mass_jacobian,
    "centroidal_momentum": mass_center.centroidal_momentum,
    "centroidal_momentum_matrix": mass_center.centroidal_momentum_matrix,
    "centroidal_momentum_rate": mass_center.centroidal_momentum_rate,
    "regressor": regressor.regressor,
    **dynamics.SOLVING,
    "outputs": outputs.outputs,
    "outputs_derivatives": outputs.outputs_derivatives,
    "outputs_multiplier_derivatives": outputs.outputs_multiplier_derivatives,
    **constraints.FUNCTIONS,
}

NEWTON_EULER = Formulation(
    name="newton_euler",
    title="Recursive Newton-Euler, 3x3 rotations",
    source="Barman 2020",
    notes={
        **recursion.NOTES,
        **dynamics.NOTES,
        **kinematics.NOTES,
        **mass_center.NOTES,
        **regressor.NOTES,
        **OUTPUT_NOTES,
        **constraints.NOTES,
        **CONSTRAINT_NOTES,
    },
    functions=with_derivatives(FUNCTIONS),
    weight=1.5,
    weights={"joint_wrench_derivatives": 0.5, "regressor": 0.3},
)
