"""Names of functions in Pinocchio, MuJoCo, Drake and the Robotics Toolbox, symbols of equations.

A module that lacks an attribute of such a name suggests its own function in the message.
"""

_ELSEWHERE = {
    "inverse_dynamics": (
        "rnea", "rne", "mj_inverse", "CalcInverseDynamics", "id", "ID", "tau",
        "torques", "eom", "equations_of_motion",
    ),
    "inverse_dynamics_derivatives": ("computeRNEADerivatives", "mjd_inverseFD"),
    "inverse_dynamics_hessian": ("ComputeRNEASecondOrderDerivatives",),
    "forward_dynamics": (
        "aba", "accel", "mj_forward", "get_generalized_acceleration_output_port", "fd", "FD",
        "qdd", "accelerations",
    ),
    "forward_dynamics_derivatives": ("computeABADerivatives", "mjd_transitionFD"),
    "mass_matrix": ("crba", "inertia", "inertia_matrix", "mj_fullM", "CalcMassMatrix", "M", "H"),
    "bias_forces": ("nonLinearEffects", "nle", "mj_rne", "qfrc_bias", "CalcBiasTerm", "h"),
    "gravity_forces": (
        "computeGeneralizedGravity", "gravload", "CalcGravityGeneralizedForces", "g", "G",
    ),
    "coriolis_matrix": ("computeCoriolisMatrix", "coriolis", "C"),
    "forward_kinematics": (
        "forwardKinematics", "framesForwardKinematics", "fkine_all", "mj_kinematics", "fk", "FK",
        "CalcRelativeTransform",
    ),
    "jacobians": ("computeJointJacobians", "J"),
    "regressor": ("computeJointTorqueRegressor",),
    "kinetic_energy": ("computeKineticEnergy", "mj_energyVel", "CalcKineticEnergy", "T"),
    "potential_energy": ("computePotentialEnergy", "mj_energyPos", "CalcPotentialEnergy", "V"),
    "center_of_mass": ("centerOfMass", "subtree_com", "CalcCenterOfMassPositionInWorld", "com"),
    "center_of_mass_jacobian": (
        "jacobianCenterOfMass", "mj_jacSubtreeCom", "CalcJacobianCenterOfMassTranslationalVelocity",
    ),
    "centroidal_momentum": (
        "computeCentroidalMomentum", "mj_subtreeVel", "CalcSpatialMomentumInWorldAboutPoint",
    ),
    "centroidal_momentum_matrix": ("computeCentroidalMap", "ccrba"),
    "centroidal_momentum_rate": ("computeCentroidalMomentumTimeVariation", "dccrba"),
    "frame_pose": ("updateFramePlacement", "fkine", "xpos", "xmat", "CalcPoseInWorld"),
    "frame_jacobian": (
        "computeFrameJacobian", "mj_jac", "mj_jacBody", "jacob0", "jacobe",
        "CalcJacobianSpatialVelocity",
    ),
    "frame_motion": (
        "getFrameVelocity", "getFrameAcceleration", "getFrameClassicalAcceleration",
        "mj_objectVelocity", "mj_objectAcceleration", "CalcSpatialVelocityInWorld",
    ),
    "operational_space_inertia": ("inertia_x",),
    "inverse_kinematics": ("ikine", "ikine_LM", "InverseKinematics", "ik", "IK"),
    "joint_wrenches": ("cfrc_int",),
    "coordinate_names": ("joint_names", "jnt_names"),
    "n": ("num_velocities",),
    "nq": ("num_positions",),
    "limits": (
        "lowerPositionLimit", "upperPositionLimit", "velocityLimit", "effortLimit", "qlim",
        "jnt_range",
    ),
}  # fmt: skip

ELSEWHERE = {name: ours for ours, names in _ELSEWHERE.items() for name in names}
"""Name in another library, or symbol -> name in generated modules."""
