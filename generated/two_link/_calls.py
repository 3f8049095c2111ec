"""What checks give to functions, by name, and what they call the results: tables."""

from __future__ import annotations

ARGUMENTS: dict[str, tuple[str, ...]] = {
    "inverse_dynamics": ("q", "qd", "qdd"),
    "inverse_dynamics_derivatives": ("q", "qd", "qdd"),
    "inverse_dynamics_hessian": ("q", "qd", "qdd", "multipliers"),
    "inverse_dynamics_jvp": ("q", "qd", "qdd", "along_q", "along_qd", "along_qdd"),
    "inverse_dynamics_vjp": ("q", "qd", "qdd", "multipliers"),
    "inverse_dynamics_hvp": ("q", "qd", "qdd", "multipliers", "along_q", "along_qd", "along_qdd"),
    "inverse_dynamics_load_derivatives": ("q",),
    "mass_matrix": ("q",),
    "coriolis_matrix": ("q", "qd"),
    "bias_forces": ("q", "qd"),
    "gravity_forces": ("q",),
    "torque_parts": ("q", "qd", "qdd"),
    "kinetic_energy": ("q", "qd"),
    "potential_energy": ("q",),
    "forward_kinematics": ("q",),
    "jacobians": ("q",),
    "joint_wrenches": ("q", "qd", "qdd"),
    "joint_wrench_derivatives": ("q", "qd", "qdd"),
    "point_motion": ("q", "qd", "qdd"),
    "point_motion_derivatives": ("q", "qd", "qdd"),
    "link_motion": ("q", "qd", "qdd"),
    "center_of_mass": ("q",),
    "center_of_mass_jacobian": ("q",),
    "centroidal_momentum": ("q", "qd"),
    "centroidal_momentum_matrix": ("q",),
    "centroidal_momentum_rate": ("q", "qd", "qdd"),
    "regressor": ("q", "qd", "qdd"),
    "inverse_dynamics_parameter_derivatives": ("q", "qd", "qdd"),
    "point_motion_parameter_derivatives": ("q", "qd", "qdd"),
    "kinetic_energy_parameter_derivatives": ("q", "qd"),
    "potential_energy_parameter_derivatives": ("q",),
    "forward_dynamics": ("q", "qd", "tau"),
    "forward_dynamics_derivatives": ("q", "qd", "tau"),
    "forward_dynamics_jvp": ("q", "qd", "tau", "along_q", "along_qd", "along_tau"),
    "forward_dynamics_vjp": ("q", "qd", "tau", "multipliers"),
    "forward_dynamics_hvp": ("q", "qd", "tau", "multipliers", "along_q", "along_qd", "along_tau"),
    "forward_dynamics_parameter_derivatives": ("q", "qd", "tau"),
    "forward_dynamics_sensitivities": ("q", "qd", "tau", "dq", "dqd", "dtau"),
    "hybrid_dynamics": ("q", "qd", "x"),
    "hybrid_dynamics_derivatives": ("q", "qd", "x"),
    "hybrid_dynamics_parameter_derivatives": ("q", "qd", "x"),
    "outputs": ("t", "q", "qd", "qdd", "tau"),
    "outputs_derivatives": ("t", "q", "qd", "qdd", "tau"),
    "outputs_multiplier_derivatives": ("t", "q", "qd", "qdd", "tau"),
    "constraints": ("q",),
    "constraint_jacobian": ("q",),
    "constraints_parameter_derivatives": ("q",),
    "loop_wrenches": ("q", "constraint_multipliers"),
    "constraint_rates": ("q", "qd"),
    "constraint_rates_parameter_derivatives": ("q", "qd"),
    "constraint_bias": ("q", "qd"),
    "constraint_acceleration_derivatives": ("q", "qd", "qdd"),
    "constraint_acceleration_parameter_derivatives": ("q", "qd", "qdd"),
    "constraint_torque_parameter_derivatives": ("q", "constraint_multipliers"),
    "constraint_torque_derivatives": ("q", "constraint_multipliers"),
}
TIMED = tuple(name for name in ARGUMENTS if name.startswith("constraint"))
"""Functions that take the time by keyword; where forces of the model mention it, so do `LOADED`
but those of `TOLD`, which have it as an argument."""

LOADED = (
    "inverse_dynamics", "inverse_dynamics_derivatives", "inverse_dynamics_hessian",
    "inverse_dynamics_jvp", "inverse_dynamics_vjp", "inverse_dynamics_hvp",
    "forward_dynamics_jvp", "forward_dynamics_vjp", "forward_dynamics_hvp",
    "bias_forces", "torque_parts",
    "joint_wrenches", "joint_wrench_derivatives", "inverse_dynamics_parameter_derivatives",
    "forward_dynamics", "forward_dynamics_derivatives", "forward_dynamics_parameter_derivatives",
    "forward_dynamics_sensitivities", "hybrid_dynamics", "hybrid_dynamics_derivatives",
    "hybrid_dynamics_parameter_derivatives", "outputs", "outputs_derivatives",
    "outputs_multiplier_derivatives",
)  # fmt: skip
TOLD = ("outputs", "outputs_derivatives", "outputs_multiplier_derivatives")
"""Functions that take the multipliers of constraints and projections where outputs mention them."""
DIRECTED = (
    "inverse_dynamics_jvp", "inverse_dynamics_hvp", "forward_dynamics_jvp", "forward_dynamics_hvp",
)  # fmt: skip
DIRECTIONS = {"dloads": "along_loads", "dparameters": "along_parameters"}
"""What `DIRECTED` functions take besides, and which arrays of the states that is."""
SEVERAL_RESULTS = {
    "torque_parts": (
        "inertial_torques", "centrifugal_torques", "coriolis_torques", "gravity_torques",
        "load_torques", "joint_term_torques",
    ),
    "inverse_dynamics_derivatives": ("tau", "dtau_dq", "dtau_dqd", "dtau_dqdd"),
    "inverse_dynamics_hessian": (
        "hessian_q_q", "hessian_q_qd", "hessian_q_qdd", "hessian_qd_qd",
    ),
    "inverse_dynamics_jvp": ("tau", "tau_along"),
    "inverse_dynamics_vjp": (
        "gradient_q", "gradient_qd", "gradient_qdd", "gradient_loads", "gradient_parameters",
    ),
    "inverse_dynamics_hvp": (
        "gradient_q_along", "gradient_qd_along", "gradient_qdd_along", "gradient_loads_along",
        "gradient_parameters_along",
    ),
    "joint_wrench_derivatives": ("joint_wrenches", "dw_dq", "dw_dqd", "dw_dqdd"),
    "point_motion": ("position", "velocity", "acceleration"),
    "link_motion": ("link_velocities", "link_accelerations"),
    "point_motion_derivatives": ("dx_dq", "dv_dq", "dv_dqd", "da_dq", "da_dqd", "da_dqdd"),
    "point_motion_parameter_derivatives": ("dx_dparameters", "dv_dparameters", "da_dparameters"),
    "forward_dynamics_derivatives": ("qdd", "dqdd_dq", "dqdd_dqd", "dqdd_dtau"),
    "forward_dynamics_jvp": ("qdd", "qdd_along"),
    "forward_dynamics_vjp": (
        "gradient_q", "gradient_qd", "gradient_tau", "gradient_loads", "gradient_parameters",
    ),
    "forward_dynamics_hvp": (
        "gradient_q_along", "gradient_qd_along", "gradient_tau_along", "gradient_loads_along",
        "gradient_parameters_along",
    ),
    "forward_dynamics_sensitivities": ("qdd", "dqdd"),
    "hybrid_dynamics_derivatives": ("y", "dy_dq", "dy_dqd", "dy_dx"),
    "constraint_acceleration_derivatives": ("constraint_accelerations", "dcdd_dq", "dcdd_dqd"),
    "constraint_torque_derivatives": ("constraint_torques", "dp_dq"),
    "outputs_derivatives": (
        "outputs", "do_dt", "do_dq", "do_dqd", "do_dqdd", "do_dtau", "do_dloads", "do_dparameters",
    ),
}  # fmt: skip
