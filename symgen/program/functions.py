"""The functions of a generated module: summaries, arguments and results.

Formulations derive these functions, emission writes their signatures and docstrings, validation
calls them, and the command line lists them.

A function that solves for accelerations divides by the pivots of the mass matrix.  Its programs
have the hidden outputs `PIVOTS` and `DIAGONAL`, from which generated code detects a singular mass
matrix: see `symgen.emit.kernels`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from symgen.algebra.interface import S
from symgen.program.arguments import (
    ALL_FREE,
    CONSTRAINT_MULTIPLIERS,
    LINK,
    LOADS,
    MOTION_MULTIPLIERS,
    MULTIPLIERS,
    QD,
    QDD,
    SOME_FREE,
    TAU,
    WRENCHES,
    Argument,
    Q,
    T,
    X,
    Y,
    along,
    by_joint,
    by_parameter,
    by_row,
    of_outputs,
    point_slope,
)
from symgen.program.function import Function
from symgen.program.products import FORWARD_PRODUCTS, INVERSE_PRODUCTS
from symgen.program.program import Output, Program
from symgen.runtime.elsewhere import ELSEWHERE
from symgen.support.suggestions import nearest

_RATES = Argument("constraint_rates", ("n_constraints",), "per second")
_ACCELERATIONS = Argument("constraint_accelerations", ("n_constraints",), "per second squared")
_TORQUES = Argument("constraint_torques", ("n",), "N m or N")

# fmt: off
CONSTRAINT_FUNCTIONS: tuple[Function, ...] = (
    Function("constraints",
        "Values that are 0 where loops are closed and relations hold, in the order of "
        "constraint_names; always 0 of relations of velocities.",
        (Q,), (Argument("constraints", ("n_constraints",), "m, m^2 of distances, or none"),), (T,),
        needs=("n_constraints",)),
    Function("constraint_jacobian",
        "Jacobian J of the constraints: derivatives of their rates with respect to qd.",
        (Q,), (by_row("constraint_jacobian",
             "[i, j] = d constraint_rates_i / d qd_j, d constraints_i / d q_j but for constraints "
             "of velocities"),), (T,),
        needs=("n_constraints",)),
    Function("constraints_parameter_derivatives",
        "Derivatives of the constraints with respect to the runtime parameters.",
        (Q,), (by_parameter("dc_dparameters", "constraints", "n_constraints"),), (T,),
        needs=("n_constraints", "n_parameters")),
    Function("loop_wrenches",
        "Force and moment that close every loop, exerted by the first link on the second, for the "
        "multipliers of the constraints.",
        (Q, CONSTRAINT_MULTIPLIERS),
        (Argument("loop_wrenches", ("n_loops", 6),
             "[fx fy fz nx ny nz], base axes, the force at the origin of the second frame (N, N "
             "m)"),), needs=("n_loops",)),
    Function("constraint_rates",
        "Rates of the constraints, J qd and what varies with time; values of relations of "
        "velocities.",
        (Q, QD), (_RATES,), (T,), needs=("n_constraints",)),
    Function("constraint_rate_derivatives",
        "Rates of the constraints and their derivatives with respect to q; those with respect to "
        "qd are the Jacobian.",
        (Q, QD), (_RATES, by_row("dcd_dq", "[i, j] = d constraint_rates_i / d q_j")), (T,),
        needs=("n_constraints",)),
    Function("constraint_rates_parameter_derivatives",
        "Derivatives of the rates of the constraints with respect to the runtime parameters.",
        (Q, QD), (by_parameter("dcd_dparameters", "constraint_rates", "n_constraints"),), (T,),
        needs=("n_constraints", "n_parameters")),
    Function("constraint_bias",
        "Second rates of the constraints at qdd = 0: they are J qdd + constraint_bias.",
        (Q, QD), (Argument("constraint_bias", ("n_constraints",), "per second squared"),), (T,),
        needs=("n_constraints",)),
    Function("constraint_acceleration_derivatives",
        "Second rates of the constraints and their derivatives with respect to q and qd; that with "
        "respect to qdd is the Jacobian.",
        (Q, QD, QDD),
        (_ACCELERATIONS, by_row("dcdd_dq", "[i, j] = d constraint_accelerations_i / d q_j"),
         by_row("dcdd_dqd", "[i, j] = d constraint_accelerations_i / d qd_j")), (T,),
        needs=("n_constraints",)),
    Function("constraint_acceleration_parameter_derivatives",
        "Derivatives of the second rates of the constraints by the runtime parameters.",
        (Q, QD, QDD),
        (by_parameter("dcdd_dparameters", "constraint_accelerations", "n_constraints"),), (T,),
        needs=("n_constraints", "n_parameters")),
    Function("constraint_torque_parameter_derivatives",
        "Derivatives of the torques J^T multipliers with respect to the runtime parameters.",
        (Q, CONSTRAINT_MULTIPLIERS), (by_parameter("dp_dparameters", "constraint_torques", "n"),),
        (T,), needs=("n_constraints", "n_parameters")),
    Function("constraint_torque_derivatives",
        "Torques J^T multipliers of the constraints, and their derivatives with respect to q.",
        (Q, CONSTRAINT_MULTIPLIERS),
        (_TORQUES, by_joint("dp_dq", "[i, j] = d constraint_torques_i / d q_j")), (T,),
        needs=("n_constraints",)),
)

INTERNAL_FUNCTIONS: tuple[Function, ...] = (
    Function("constraint_accelerations", "Rates and second rates of the constraints.",
        (Q, QD, QDD), (_RATES, _ACCELERATIONS), (T,), needs=("n_constraints",)),
    Function("constraint_torques", "Torques J^T multipliers of the constraints.",
        (Q, CONSTRAINT_MULTIPLIERS), (_TORQUES,), (T,), needs=("n_constraints",)),
)
# fmt: on
"""Functions that formulations derive only to differentiate them; no module has them."""

# fmt: off
FUNCTIONS: tuple[Function, ...] = (
    Function("inverse_dynamics", "Joint torques that produce the accelerations qdd.",
        (Q, QD, QDD), (TAU,), (LOADS,)),
    Function("inverse_dynamics_derivatives",
        "Joint torques and their derivatives with respect to q, qd and qdd.",
        (Q, QD, QDD),
        (TAU, by_joint("dtau_dq", "[i, j] = d tau_i / d q_j"),
         by_joint("dtau_dqd", "[i, j] = d tau_i / d qd_j"),
         by_joint("dtau_dqdd", "[i, j] = d tau_i / d qdd_j")), (LOADS,), packable=True),
    Function("inverse_dynamics_hessian",
        "Second derivatives of the sum multipliers . tau with respect to q, qd and qdd: the blocks "
        "of its symmetric Hessian that are not always 0.",
        (Q, QD, QDD, MULTIPLIERS),
        (by_joint("hessian_q_q", "q_q[i, j] = d2 sum / d q_i d q_j, symmetric"),
         by_joint("hessian_q_qd", "q_qd[i, j] = d2 sum / d q_i d qd_j"),
         by_joint("hessian_q_qdd", "q_qdd[i, j] = d2 sum / d q_i d qdd_j"),
         by_joint("hessian_qd_qd", "qd_qd[i, j] = d2 sum / d qd_i d qd_j, symmetric")), (LOADS,),
        packable=True, record="TorqueHessian"),
    *INVERSE_PRODUCTS,
    Function("inverse_dynamics_load_derivatives",
        "Derivatives of the joint torques with respect to the loads (tau is linear in them).",
        (Q,),
        (Argument("dtau_dloads", ("n", "n_loads", 6), "[i, k, c] = d tau_i / d loads[k, c]"),)),
    Function("mass_matrix",
        "Joint-space mass matrix M(q), symmetric; with the rotors on its diagonal.",
        (Q,), (by_joint("mass_matrix", "kg m^2, kg m or kg"),), packable=True),
    Function("coriolis_matrix",
        "Christoffel matrix C(q, qd): C qd are the Coriolis and centrifugal torques, and dM/dt - 2 "
        "C is skew-symmetric.",
        (Q, QD), (by_joint("coriolis_matrix", "N m s or N s"),), packable=True),
    Function("bias_forces",
        "Torques at zero acceleration: Coriolis, centrifugal, gravity, loads and joint terms.",
        (Q, QD), (Argument("bias_forces", ("n",), "N m or N"),), (LOADS,)),
    Function("gravity_forces", "Joint torques that hold the robot at rest against gravity alone.",
        (Q,), (Argument("gravity_forces", ("n",), "N m or N"),)),
    Function("torque_parts", "Joint torques in parts, which add up to those of inverse_dynamics.",
        (Q, QD, QDD),
        (Argument("inertial_torques", ("n",), "M qdd, with the rotors (N m or N)"),
         Argument("centrifugal_torques", ("n",), "terms in qd_k^2"),
         Argument("coriolis_torques", ("n",), "terms in qd_k qd_l, k and l different"),
         Argument("gravity_torques", ("n",), "as gravity_forces"),
         Argument("load_torques", ("n",), "torques that hold the robot against the loads"),
         Argument("joint_term_torques", ("n",), "damping, springs and friction of the joints")),
        (LOADS,), record="TorqueParts", for_reading=True),
    Function("kinetic_energy", "Kinetic energy of the bodies and the rotors.",
        (Q, QD), (Argument("kinetic_energy", (), "J"),)),
    Function("potential_energy",
        "Potential energy of springs and gravity, zero for a mass at the base origin.",
        (Q,), (Argument("potential_energy", (), "J"),)),
    Function("forward_kinematics", "Poses of all link frames in the base frame.",
        (Q,),
        (Argument("forward_kinematics", ("n_links", 4, 4),
             "homogeneous transforms, in the order of link_names (m)"),)),
    Function("jacobians", "Geometric Jacobians of all link frames.",
        (Q,),
        (Argument("jacobians", ("n_links", 6, "n"),
             "[linear; angular] velocity of each link frame's origin per joint velocity, base "
             "axes, in the order of link_names"),)),
    Function("joint_wrenches",
        "Force and moment that each joint transmits, exerted by the parent on the link; rotor, "
        "damping, friction and spring of the joint are no part of them.",
        (Q, QD, QDD), (WRENCHES,), (LOADS,)),
    Function("joint_wrench_derivatives",
        "Joint wrenches and their derivatives with respect to q, qd and qdd.",
        (Q, QD, QDD),
        (WRENCHES, Argument("dw_dq", ("n_joints", 6, "n"), "[i, c, j] = d wrench_i[c] / d q_j"),
         Argument("dw_dqd", ("n_joints", 6, "n"), "[i, c, j] = d wrench_i[c] / d qd_j"),
         Argument("dw_dqdd", ("n_joints", 6, "n"), "[i, c, j] = d wrench_i[c] / d qdd_j")),
        (LOADS,)),
    Function("point_motion", "Position, velocity and acceleration of the model's points.",
        (Q, QD, QDD),
        (Argument("position", ("n_points", 3), "in the base frame (m)"),
         Argument("velocity", ("n_points", 3), "base axes (m/s)"),
         Argument("acceleration", ("n_points", 3), "base axes, without gravity (m/s^2)"))),
    Function("point_motion_derivatives",
        "Derivatives of the motion of the model's points with respect to q, qd and qdd.",
        (Q, QD, QDD),
        (point_slope("x", "position", "q"), point_slope("v", "velocity", "q"),
         point_slope("v", "velocity", "qd"), point_slope("a", "acceleration", "q"),
         point_slope("a", "acceleration", "qd"), point_slope("a", "acceleration", "qdd"))),
    Function("link_motion",
        "Velocities and accelerations of all link frames, in the order of link_names; at qdd = 0 "
        "the accelerations are dJ/dt qd.",
        (Q, QD, QDD),
        (Argument("link_velocities", ("n_links", 6),
             "[linear; angular] of each link frame's origin, base axes (m/s, rad/s)"),
         Argument("link_accelerations", ("n_links", 6),
             "their rates, base axes, without gravity (m/s^2, rad/s^2)"))),
    Function("center_of_mass", "Centre of mass of all moving bodies, in the base frame.",
        (Q,), (Argument("center_of_mass", (3,), "m"),)),
    Function("center_of_mass_jacobian",
        "Velocity of the centre of mass per joint velocity, base axes.",
        (Q,),
        (Argument("center_of_mass_jacobian", (3, "n"), "[c, j] = d center_of_mass[c] / d q_j"),)),
    Function("centroidal_momentum",
        "Momentum of all moving bodies: [linear; angular about the centre of mass], base axes.",
        (Q, QD), (Argument("centroidal_momentum", (6,), "kg m/s, kg m^2/s"),)),
    Function("centroidal_momentum_matrix", "Matrix A(q): centroidal_momentum = A qd.",
        (Q,),
        (Argument("centroidal_momentum_matrix", (6, "n"),
             "[c, j] = d centroidal_momentum[c] / d qd_j"),)),
    Function("centroidal_momentum_rate",
        "Rate of the centroidal momentum, A qdd + dA/dt qd: force and moment about the centre of "
        "mass, base axes.",
        (Q, QD, QDD), (Argument("centroidal_momentum_rate", (6,), "N, N m"),)),
    Function("regressor",
        "Matrix Y: Y @ inertial_parameters = inverse dynamics without loads and joint terms.",
        (Q, QD, QDD),
        (Argument("regressor", ("n", "10 n_joints"),
             "columns by moving body: m, m cx, m cy, m cz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the "
             "link frame's origin"),)),
    Function("inverse_dynamics_parameter_derivatives",
        "Derivatives of the joint torques with respect to the runtime parameters.",
        (Q, QD, QDD), (by_parameter("dtau_dparameters", "tau", "n"),), (LOADS,),
        needs=("n_parameters",)),
    Function("point_motion_parameter_derivatives",
        "Derivatives of the motion of the model's points with respect to the runtime parameters.",
        (Q, QD, QDD),
        (by_parameter("dx_dparameters", "position", "n_points", 3),
         by_parameter("dv_dparameters", "velocity", "n_points", 3),
         by_parameter("da_dparameters", "acceleration", "n_points", 3)), needs=("n_parameters",)),
    Function("kinetic_energy_parameter_derivatives",
        "Derivatives of the kinetic energy with respect to the runtime parameters.",
        (Q, QD), (by_parameter("dT_dparameters", "kinetic_energy"),), needs=("n_parameters",)),
    Function("potential_energy_parameter_derivatives",
        "Derivatives of the potential energy with respect to the runtime parameters.",
        (Q,), (by_parameter("dV_dparameters", "potential_energy"),), needs=("n_parameters",)),
    Function("forward_dynamics",
        "Accelerations that the joint torques tau produce; all joints are free.",
        (Q, QD, TAU), (QDD,), (LOADS,), hidden=ALL_FREE),
    Function("forward_dynamics_derivatives",
        "Accelerations and their derivatives with respect to q, qd and tau.",
        (Q, QD, TAU),
        (QDD, by_joint("dqdd_dq", "[i, j] = d qdd_i / d q_j"),
         by_joint("dqdd_dqd", "[i, j] = d qdd_i / d qd_j"),
         by_joint("dqdd_dtau", "[i, j] = d qdd_i / d tau_j: the inverse of the mass matrix")),
        (LOADS,), hidden=ALL_FREE),
    *FORWARD_PRODUCTS,
    Function("forward_dynamics_parameter_derivatives",
        "Derivatives of the accelerations with respect to the runtime parameters, at fixed q, qd "
        "and tau.",
        (Q, QD, TAU), (by_parameter("dqdd_dparameters", "qdd", "n"),), (LOADS,), hidden=ALL_FREE,
        needs=("n_parameters",)),
    Function("forward_dynamics_sensitivities",
        "Accelerations and their total derivatives with respect to the runtime parameters, where "
        "q, qd and tau vary with them: the right-hand side of a sensitivity analysis.",
        (Q, QD, TAU, along("dq", "q"), along("dqd", "qd"), along("dtau", "tau")),
        (QDD, along("dqdd", "qdd")), (LOADS,), hidden=ALL_FREE, needs=("n_parameters",)),
    Function("hybrid_dynamics", "Torques of the prescribed and accelerations of the free joints.",
        (Q, QD, X), (Y,), (LOADS,), hidden=SOME_FREE, needs=("n_prescribed",)),
    Function("hybrid_dynamics_derivatives",
        "Torques of the prescribed and accelerations of the free joints, and their derivatives.",
        (Q, QD, X),
        (Y, by_joint("dy_dq", "[i, j] = d y_i / d q_j"),
         by_joint("dy_dqd", "[i, j] = d y_i / d qd_j"),
         by_joint("dy_dx", "[i, j] = d y_i / d x_j")), (LOADS,), hidden=SOME_FREE,
        needs=("n_prescribed",)),
    Function("hybrid_dynamics_parameter_derivatives",
        "Derivatives of what hybrid_dynamics returns with respect to the runtime parameters.",
        (Q, QD, X), (by_parameter("dy_dparameters", "y", "n"),), (LOADS,), hidden=SOME_FREE,
        needs=("n_prescribed", "n_parameters")),
    Function("outputs", "The outputs of the model, in the order of output_names.",
        (T, Q, QD, QDD, TAU),
        (Argument("outputs", ("n_outputs",), "in the units of their expressions"),), (LOADS,),
        needs=("n_outputs",)),
    Function("outputs_derivatives",
        "The outputs and their derivatives; output_sparsity says which entries can differ from 0.",
        (T, Q, QD, QDD, TAU),
        (Argument("outputs", ("n_outputs",), "in the units of their expressions"),
         of_outputs("do_dt", "t"), of_outputs("do_dq", "q", "n"), of_outputs("do_dqd", "qd", "n"),
         of_outputs("do_dqdd", "qdd", "n"), of_outputs("do_dtau", "tau", "n"),
         of_outputs("do_dloads", "the loads", "n_loads", 6),
         of_outputs("do_dparameters", "the runtime parameters", "n_parameters")), (LOADS,),
        needs=("n_outputs",)),
    Function("outputs_multiplier_derivatives",
        "Derivatives of the outputs with respect to the multipliers of constraints and projections "
        "that they mention.",
        (T, Q, QD, QDD, TAU),
        (of_outputs("do_dmotion_multipliers", "motion_multipliers", 3, "n_motion_multipliers"),),
        (LOADS, MOTION_MULTIPLIERS), needs=("n_outputs", "n_motion_multipliers")),
    *CONSTRAINT_FUNCTIONS,
)
# fmt: on

BY_LINK: Mapping[str, Function] = {
    "forward_kinematics": Function(
        "frame_pose",
        "Pose of one link frame in the base frame.",
        (LINK, Q),
        (Argument("pose", (4, 4), "homogeneous transform (m)"),),
    ),
    "jacobians": Function(
        "frame_jacobian",
        "Geometric Jacobian of one link frame.",
        (LINK, Q),
        (
            Argument(
                "jacobian",
                (6, "n"),
                "[linear; angular] velocity of the frame's origin per joint velocity, base axes",
            ),
        ),
    ),
}
"""Map of a function of all links to that of one link by its name."""

FUNCTION_NAMES = tuple(function.name for function in FUNCTIONS)


def function_named(name: str) -> Function:
    """Return the function called `name`; KeyError if there is none."""
    for function in (*FUNCTIONS, *INTERNAL_FUNCTIONS):
        if function.name == name:
            return function
    raise KeyError(name)


SYMBOLS: Mapping[str, str] = {
    "M": "mass_matrix", "C": "coriolis_matrix", "tau": "inverse_dynamics", "b": "bias_forces",
    "G": "gravity_forces", "g": "gravity_forces", "T": "kinetic_energy", "V": "potential_energy",
    "com": "center_of_mass", "qdd": "forward_dynamics", "Phi": "constraints",
}  # fmt: skip
"""Symbol of a result -> its function, of which it is the first result."""
_COMBINED = {
    "h": "h = C qd is centrifugal_torques + coriolis_torques of torque_parts: show torque_parts",
    "lagrangian": "L = T - V: show kinetic_energy and potential_energy",
}
"""Quantities that are sums of results."""

_BESIDE = {
    "frame_pose": "forward_kinematics",
    "frame_jacobian": "jacobians",
    "frame_motion": "forward_kinematics and link_motion",
    "operational_space_inertia": "jacobians and mass_matrix",
    "inverse_kinematics": "forward_kinematics and jacobians",
    **dict.fromkeys(
        ("assemble", "freedoms", "closed_velocities", "closed_accelerations"),
        "constraints, constraint_jacobian, constraint_rates and constraint_bias",
    ),
}
"""Functions of modules that are not generated -> generated ones that they call."""


def function_suggestion(name: str, candidates: Iterable[str]) -> str:
    """Return advice on an unknown function: its name in symgen, the nearest of `candidates`, those
    that contain the word, or the command that lists all."""
    names = list(candidates)
    if name in _BESIDE:
        return f"{name} comes with {_BESIDE[name]}"
    if name.lower() in _COMBINED:
        return _COMBINED[name.lower()]
    if ELSEWHERE.get(name) in names:
        return f"symgen's name of {name} is {ELSEWHERE[name]}"
    containing = ", ".join(x for x in names if name.lower() in x)
    near = nearest(name, names)
    return (
        f"did you mean {near!r}?"
        if near
        else f"there are {containing}"
        if containing and name
        else "symgen show MODEL lists all"
    )


def inapplicable_functions(sizes: Mapping[str, int]) -> dict[str, str]:
    """The functions that a robot of these sizes cannot have, with the reason and the remedy."""
    reasons = ((function.name, function.lacks(sizes)) for function in FUNCTIONS)
    return {name: reason for name, reason in reasons if reason}


def visible_outputs(program: Program[S]) -> tuple[Output[S], ...]:
    """Return the outputs of `program` that are results of its function."""
    return program.outputs[: len(function_named(program.function).results)]
