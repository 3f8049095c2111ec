"""The functions of a generated module: arguments, results, shapes, units and frames.

One table for everybody: formulations derive these functions, emission writes their signatures and
docstrings, validation calls them, and the command line lists them.  Shapes are written in the
sizes ``n``, ``10 n``, ``n_links``, ``n_loads``, ``n_points``, ``n_parameters``; batch axes stand in
front of every shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Size = int | str


@dataclass(frozen=True)
class Argument:
    """An array argument or result of a function, without its batch axes."""

    name: str
    shape: tuple[Size, ...]
    meaning: str

    def sizes(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """The shape in numbers."""
        return tuple(size if isinstance(size, int) else sizes[size] for size in self.shape)


@dataclass(frozen=True)
class Function:
    """One function: `arguments` are positional, `options` keyword-only and may be left out."""

    name: str
    summary: str
    arguments: tuple[Argument, ...]
    results: tuple[Argument, ...]
    options: tuple[Argument, ...] = ()


Q = Argument("q", ("n",), "joint coordinates (rad or m)")
QD = Argument("qd", ("n",), "their velocities (rad/s or m/s)")
QDD = Argument("qdd", ("n",), "their accelerations (rad/s^2 or m/s^2)")
LOADS = Argument(
    "loads",
    ("n_loads", 6),
    "wrenches [fx fy fz nx ny nz] exerted by the environment on the links, base axes, "
    "the force at the load's point (N, N m)",
)
PARAMETERS = Argument("parameters", ("n_parameters",), "values of the runtime parameters")
TAU = Argument("tau", ("n",), "joint torques or forces (N m or N)")


def _by_joint(name: str, meaning: str) -> Argument:
    return Argument(name, ("n", "n"), meaning)


WRENCHES = Argument(
    "joint_wrenches",
    ("n", 6),
    "[fx fy fz nx ny nz] exerted by the parent on the link through its joint, link-frame axes; "
    "moment about the frame that a standard DH row starts from, else about the origin of the link "
    "frame (N, N m)",
)


def _point_slope(what: str, name: str, by: str) -> Argument:
    return Argument(
        f"d{what}_d{by}", ("n_points", 3, "n"), f"[i, c, j] = d {name}_i[c] / d {by}_j, base axes"
    )


FUNCTIONS: tuple[Function, ...] = (
    Function(
        "inverse_dynamics",
        "Joint torques that produce the accelerations qdd.",
        (Q, QD, QDD),
        (TAU,),
        (LOADS,),
    ),
    Function(
        "inverse_dynamics_derivatives",
        "Joint torques and their derivatives with respect to q, qd and qdd.",
        (Q, QD, QDD),
        (
            TAU,
            _by_joint("dtau_dq", "[i, j] = d tau_i / d q_j"),
            _by_joint("dtau_dqd", "[i, j] = d tau_i / d qd_j"),
            _by_joint("dtau_dqdd", "[i, j] = d tau_i / d qdd_j"),
        ),
        (LOADS,),
    ),
    Function(
        "inverse_dynamics_load_derivatives",
        "Derivatives of the joint torques with respect to the loads (tau is linear in them).",
        (Q,),
        (Argument("dtau_dloads", ("n", "n_loads", 6), "[i, k, c] = d tau_i / d loads[k, c]"),),
    ),
    Function(
        "mass_matrix",
        "Joint-space mass matrix M(q), symmetric; with the rotors on its diagonal.",
        (Q,),
        (_by_joint("mass_matrix", "kg m^2, kg m or kg"),),
    ),
    Function(
        "coriolis_matrix",
        "Christoffel matrix C(q, qd): C qd are the Coriolis and centrifugal torques, and "
        "dM/dt - 2 C is skew-symmetric.",
        (Q, QD),
        (_by_joint("coriolis_matrix", "N m s or N s"),),
    ),
    Function(
        "bias_forces",
        "Torques at zero acceleration: Coriolis, centrifugal, gravity, loads and joint terms.",
        (Q, QD),
        (Argument("bias_forces", ("n",), "N m or N"),),
        (LOADS,),
    ),
    Function(
        "gravity_forces",
        "Joint torques that hold the robot at rest against gravity alone.",
        (Q,),
        (Argument("gravity_forces", ("n",), "N m or N"),),
    ),
    Function(
        "kinetic_energy",
        "Kinetic energy of the bodies and the rotors.",
        (Q, QD),
        (Argument("kinetic_energy", (), "J"),),
    ),
    Function(
        "potential_energy",
        "Potential energy of springs and gravity, zero for a mass at the base origin.",
        (Q,),
        (Argument("potential_energy", (), "J"),),
    ),
    Function(
        "forward_kinematics",
        "Poses of all link frames in the base frame.",
        (Q,),
        (
            Argument(
                "forward_kinematics",
                ("n_links", 4, 4),
                "homogeneous transforms, in the order of link_names (m)",
            ),
        ),
    ),
    Function(
        "jacobians",
        "Geometric Jacobians of all link frames.",
        (Q,),
        (
            Argument(
                "jacobians",
                ("n_links", 6, "n"),
                "[linear; angular] velocity of each link frame's origin per joint velocity, "
                "base axes, in the order of link_names",
            ),
        ),
    ),
    Function(
        "joint_wrenches",
        "Force and moment that each joint transmits, exerted by the parent on the link; rotor, "
        "damping, friction and spring of the joint are no part of them.",
        (Q, QD, QDD),
        (WRENCHES,),
        (LOADS,),
    ),
    Function(
        "joint_wrench_derivatives",
        "Joint wrenches and their derivatives with respect to q, qd and qdd.",
        (Q, QD, QDD),
        (
            WRENCHES,
            Argument("dw_dq", ("n", 6, "n"), "[i, c, j] = d wrench_i[c] / d q_j"),
            Argument("dw_dqd", ("n", 6, "n"), "[i, c, j] = d wrench_i[c] / d qd_j"),
            Argument("dw_dqdd", ("n", 6, "n"), "[i, c, j] = d wrench_i[c] / d qdd_j"),
        ),
        (LOADS,),
    ),
    Function(
        "point_motion",
        "Position, velocity and acceleration of the model's points.",
        (Q, QD, QDD),
        (
            Argument("position", ("n_points", 3), "in the base frame (m)"),
            Argument("velocity", ("n_points", 3), "base axes (m/s)"),
            Argument("acceleration", ("n_points", 3), "base axes, without gravity (m/s^2)"),
        ),
    ),
    Function(
        "point_motion_derivatives",
        "Derivatives of the motion of the model's points with respect to q, qd and qdd.",
        (Q, QD, QDD),
        (
            _point_slope("x", "position", "q"),
            _point_slope("v", "velocity", "q"),
            _point_slope("v", "velocity", "qd"),
            _point_slope("a", "acceleration", "q"),
            _point_slope("a", "acceleration", "qd"),
            _point_slope("a", "acceleration", "qdd"),
        ),
    ),
    Function(
        "center_of_mass",
        "Centre of mass of all moving bodies, in the base frame.",
        (Q,),
        (Argument("center_of_mass", (3,), "m"),),
    ),
    Function(
        "center_of_mass_jacobian",
        "Velocity of the centre of mass per joint velocity, base axes.",
        (Q,),
        (Argument("center_of_mass_jacobian", (3, "n"), "[c, j] = d center_of_mass[c] / d q_j"),),
    ),
    Function(
        "centroidal_momentum",
        "Momentum of all moving bodies: [linear; angular about the centre of mass], base axes.",
        (Q, QD),
        (Argument("centroidal_momentum", (6,), "kg m/s, kg m^2/s"),),
    ),
    Function(
        "regressor",
        "Matrix Y: Y @ inertial_parameters = inverse dynamics without loads and joint terms.",
        (Q, QD, QDD),
        (
            Argument(
                "regressor",
                ("n", "10 n"),
                "columns by moving body: m, m cx, m cy, m cz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz about "
                "the link frame's origin",
            ),
        ),
    ),
)

FUNCTION_NAMES = tuple(function.name for function in FUNCTIONS)

PLANNED_FUNCTIONS = (
    "inverse_dynamics_parameter_derivatives",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "forward_dynamics_parameter_derivatives",
)


def function_named(name: str) -> Function:
    """The function called `name`; KeyError if there is none."""
    for function in FUNCTIONS:
        if function.name == name:
            return function
    raise KeyError(name)
