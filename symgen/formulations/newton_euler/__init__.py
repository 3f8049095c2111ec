"""Recursive Newton-Euler dynamics with 3x3 rotations (Barman 2020).

`recursion` holds the notation and the steps of the inverse dynamics, the other modules what is made
of them.
"""

from collections.abc import Mapping
from functools import partial

from symgen.formulations.constraints import NOTES as CONSTRAINT_NOTES
from symgen.formulations.direct import with_derivatives
from symgen.formulations.interface import Derivation, Formulation
from symgen.formulations.model_outputs import NOTES as OUTPUT_NOTES
from symgen.formulations.newton_euler import (
    centroidal,
    constraints,
    costs,
    derivatives,
    dynamics,
    forward,
    forward_derivatives,
    forward_parameter_derivatives,
    kinematics,
    mass_center,
    motion,
    motion_derivatives,
    outputs,
    partial_velocities,
    passages,
    recursion,
    regressor,
    velocity_fields,
    wrenches,
)
from symgen.formulations.second_derivatives import by_differentiation

FUNCTIONS: Mapping[str, Derivation] = {
    "inverse_dynamics": partial(dynamics.torque_function, "tau"),
    "inverse_dynamics_derivatives": derivatives.inverse_dynamics_derivatives,
    "inverse_dynamics_hessian": partial(
        by_differentiation, derivatives.inverse_dynamics_derivatives
    ),
    "inverse_dynamics_load_derivatives": dynamics.load_derivatives,
    "mass_matrix": dynamics.mass_matrix,
    "coriolis_matrix": dynamics.coriolis_matrix,
    "bias_forces": partial(dynamics.torque_function, "bias_forces"),
    "gravity_forces": dynamics.gravity_forces,
    "torque_parts": dynamics.torque_parts,
    "kinetic_energy": kinematics.kinetic_energy,
    "potential_energy": kinematics.potential_energy,
    "forward_kinematics": kinematics.forward_kinematics,
    "jacobians": kinematics.jacobians,
    "joint_wrenches": wrenches.joint_wrenches,
    "joint_wrench_derivatives": wrenches.joint_wrench_derivatives,
    "point_motion": motion.point_motion,
    "point_motion_derivatives": motion_derivatives.point_motion_derivatives,
    "link_motion": motion.link_motion,
    "center_of_mass": mass_center.center_of_mass,
    "center_of_mass_jacobian": mass_center.center_of_mass_jacobian,
    "centroidal_momentum": mass_center.centroidal_momentum,
    "centroidal_momentum_matrix": centroidal.centroidal_momentum_matrix,
    "centroidal_momentum_rate": centroidal.centroidal_momentum_rate,
    "regressor": regressor.regressor,
    "forward_dynamics": forward.forward_dynamics,
    "forward_dynamics_derivatives": forward_derivatives.forward_dynamics_derivatives,
    "forward_dynamics_parameter_derivatives": (
        forward_parameter_derivatives.forward_dynamics_parameter_derivatives
    ),
    "forward_dynamics_sensitivities": (
        forward_parameter_derivatives.forward_dynamics_sensitivities
    ),
    "hybrid_dynamics": forward.hybrid_dynamics,
    "hybrid_dynamics_derivatives": forward_derivatives.hybrid_dynamics_derivatives,
    "hybrid_dynamics_parameter_derivatives": (
        forward_parameter_derivatives.hybrid_dynamics_parameter_derivatives
    ),
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
        **motion.NOTES,
        **motion_derivatives.NOTES,
        **mass_center.NOTES,
        **centroidal.NOTES,
        **partial_velocities.NOTES,
        **regressor.NOTES,
        **passages.NOTES,
        **velocity_fields.NOTES,
        **derivatives.NOTES,
        **wrenches.NOTES,
        **forward.NOTES,
        **forward_derivatives.NOTES,
        **OUTPUT_NOTES,
        **constraints.NOTES,
        **CONSTRAINT_NOTES,
    },
    functions=with_derivatives(FUNCTIONS),
    estimate=costs.estimate,
)
