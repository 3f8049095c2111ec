"""The functions of mechanisms with loops or relations: a part of the table of functions."""

from __future__ import annotations

from symgen.program.arguments import (
    CONSTRAINT_MULTIPLIERS,
    QD,
    QDD,
    Argument,
    Q,
    T,
    by_joint,
    by_parameter,
    by_row,
)
from symgen.program.function import Function

_RATES = Argument("constraint_rates", ("n_constraints",), "per second")
_ACCELERATIONS = Argument("constraint_accelerations", ("n_constraints",), "per second squared")
_TORQUES = Argument("constraint_torques", ("n",), "N m or N")

CONSTRAINT_FUNCTIONS: tuple[Function, ...] = (
    Function(
        "constraints",
        "Values that are 0 where loops are closed and relations hold, in the order of "
        "constraint_names.",
        (Q,),
        (Argument("constraints", ("n_constraints",), "m, m^2 of distances, or none"),),
        (T,),
        needs=("n_constraints",),
    ),
    Function(
        "constraint_jacobian",
        "Jacobian J of the constraints.",
        (Q,),
        (by_row("constraint_jacobian", "[i, j] = d constraints_i / d q_j"),),
        (T,),
        needs=("n_constraints",),
    ),
    Function(
        "constraints_parameter_derivatives",
        "Derivatives of the constraints with respect to the runtime parameters.",
        (Q,),
        (by_parameter("dc_dparameters", "constraints", "n_constraints"),),
        (T,),
        needs=("n_constraints", "n_parameters"),
    ),
    Function(
        "loop_wrenches",
        "Force and moment that close every loop, exerted by the first link on the second, for the "
        "multipliers of the constraints.",
        (Q, CONSTRAINT_MULTIPLIERS),
        (
            Argument(
                "loop_wrenches",
                ("n_loops", 6),
                "[fx fy fz nx ny nz], base axes, the force at the origin of the second frame (N, "
                "N m)",
            ),
        ),
        needs=("n_loops",),
    ),
    Function(
        "constraint_rates",
        "Rates of the constraints, J qd and what varies with time.",
        (Q, QD),
        (_RATES,),
        (T,),
        needs=("n_constraints",),
    ),
    Function(
        "constraint_rates_parameter_derivatives",
        "Derivatives of the rates of the constraints with respect to the runtime parameters.",
        (Q, QD),
        (by_parameter("dcd_dparameters", "constraint_rates", "n_constraints"),),
        (T,),
        needs=("n_constraints", "n_parameters"),
    ),
    Function(
        "constraint_bias",
        "Second rates of the constraints at qdd = 0: they are J qdd + constraint_bias.",
        (Q, QD),
        (Argument("constraint_bias", ("n_constraints",), "per second squared"),),
        (T,),
        needs=("n_constraints",),
    ),
    Function(
        "constraint_acceleration_derivatives",
        "Second rates of the constraints and their derivatives with respect to q and qd; that with "
        "respect to qdd is the Jacobian.",
        (Q, QD, QDD),
        (
            _ACCELERATIONS,
            by_row("dcdd_dq", "[i, j] = d constraint_accelerations_i / d q_j"),
            by_row("dcdd_dqd", "[i, j] = d constraint_accelerations_i / d qd_j"),
        ),
        (T,),
        needs=("n_constraints",),
    ),
    Function(
        "constraint_acceleration_parameter_derivatives",
        "Derivatives of the second rates of the constraints by the runtime parameters.",
        (Q, QD, QDD),
        (by_parameter("dcdd_dparameters", "constraint_accelerations", "n_constraints"),),
        (T,),
        needs=("n_constraints", "n_parameters"),
    ),
    Function(
        "constraint_torque_parameter_derivatives",
        "Derivatives of the torques J^T multipliers with respect to the runtime parameters.",
        (Q, CONSTRAINT_MULTIPLIERS),
        (by_parameter("dp_dparameters", "constraint_torques", "n"),),
        (T,),
        needs=("n_constraints", "n_parameters"),
    ),
    Function(
        "constraint_torque_derivatives",
        "Torques J^T multipliers of the constraints, and their derivatives with respect to q.",
        (Q, CONSTRAINT_MULTIPLIERS),
        (_TORQUES, by_joint("dp_dq", "[i, j] = d constraint_torques_i / d q_j")),
        (T,),
        needs=("n_constraints",),
    ),
)

INTERNAL_FUNCTIONS: tuple[Function, ...] = (
    Function(
        "constraint_accelerations",
        "Rates and second rates of the constraints.",
        (Q, QD, QDD),
        (_RATES, _ACCELERATIONS),
        (T,),
        needs=("n_constraints",),
    ),
    Function(
        "constraint_torques",
        "Torques J^T multipliers of the constraints.",
        (Q, CONSTRAINT_MULTIPLIERS),
        (_TORQUES,),
        (T,),
        needs=("n_constraints",),
    ),
)
"""Functions that formulations write for the sake of their derivatives alone; no module has them."""
