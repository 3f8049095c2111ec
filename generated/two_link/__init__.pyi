from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import composite as composite
from . import newton_euler as newton_euler
from . import kane as kane
from . import recursive_lagrange as recursive_lagrange
from . import closed_form_lagrange as closed_form_lagrange
from . import explicit_kane as explicit_kane
from . import partially_recursive_kane as partially_recursive_kane

from ._kinematics import FrameMotion as FrameMotion, InverseKinematics as InverseKinematics
from ._runtime import TorqueHessian as TorqueHessian
from ._runtime import TorqueParts as TorqueParts

Array = NDArray[np.float64]
Rows = ArrayLike | Mapping[str, ArrayLike]

name: str
n: int
nq: int
nv: int
n_links: int
n_loads: int
n_points: int
n_outputs: int
n_parameters: int
coordinate_names: tuple[str, ...]
position_names: tuple[str, ...]
quaternion_order: str
link_names: tuple[str, ...]
load_names: tuple[str, ...]
point_names: tuple[str, ...]
parameter_names: tuple[str, ...]
default_parameters: Array
limits: dict[str, Array]
joint_links: dict[str, str]
file_names: dict[str, str]
joint_parents: tuple[int, ...]
prescribed: tuple[bool, ...]
output_names: tuple[str, ...]
inertial_parameters: Array
joint_terms: dict[str, Array]
actuated: tuple[bool, ...]
link_parents: tuple[int, ...]
point_links: tuple[int, ...]
gravity: Array
branches: tuple[tuple[int, ...], ...]
branch_parents: tuple[int, ...]
joint_branches: tuple[tuple[int, int], ...]
junctions: tuple[int, ...]
leaves: tuple[int, ...]
output_units: tuple[str, ...]
output_sparsity: dict[str, NDArray[np.bool_]]
condition: float
derivative_sparsity: NDArray[np.bool_]
formulations: tuple[str, ...]
functions: tuple[str, ...]
operation_counts: dict[str, dict[str, dict[str, int]]]
model_hash: str
symgen_version: str
threads: int
result_memory: int
backend: str
backends: Mapping[str, Any]

def selftest() -> list[Any]: ...
def integrate(q: Rows, v: Rows) -> Array:
    """Return q (..., nq) after a unit of time at the constant velocity v (..., n).
    """
def difference(q0: Rows, q1: Rows) -> Array:
    """Return the velocity (..., n) from q0 to q1 in a unit of time, by the shorter rotation.
    """
def neutral() -> Array:
    """Return the configuration (nq,) with all coordinates 0 and no rotation.
    """
def normalize(q: Rows) -> Array:
    """Return q with quaternions of unit norm, (..., nq).
    """
def random_configuration(rng: Any = ..., shape: int | Sequence[int] = ...) -> Array:
    """Return random configurations within the limits, (*shape, nq).

    `rng` is a `numpy.random.Generator` or a seed.  A coordinate without limits lies between -pi
    and pi (rad or m), with one limit within pi of it; attitudes are uniform, positions of free
    joints between -1 and 1 m.
    """
def frame_motion(
    name: str, q: Rows, qd: Rows, qdd: Rows, *, reference: str = ..., parameters: Rows | None = ...,
) -> FrameMotion:
    """Pose, velocity and acceleration of a link frame.

    Arguments (batch axes ... broadcast mutually):
        name                 a link, one of link_names
        q (..., nq)          joint coordinates (rad or m)
        qd, qdd (..., n)     their velocities and accelerations
        reference            "local_world_aligned": of the frame's origin, base axes;
                             "local": of the frame's origin, axes of the frame; "world": of the
                             point of the link that passes through the base origin, base axes
        parameters (..., n_parameters)   values of the runtime parameters

    Returns a named tuple FrameMotion:
        pose (..., 4, 4)          in the base frame (m)
        velocity (..., 6)         [linear; angular] (m/s, rad/s)
        acceleration (..., 6)     its rate, without gravity; at qdd = 0 that is dJ/dt qd.  For
                                  "local" that of "local_world_aligned", turned
    """
def operational_space_inertia(
    name: str, q: Rows, *, rows: Sequence[str] | None = ..., parameters: Rows | None = ...,
) -> Array:
    """Inertia (J M^-1 J')^-1 that a link frame opposes to forces, (..., m, m).

    Arguments:
        name                 a link, one of link_names
        q (..., nq)          joint coordinates (rad or m)
        rows                 m different ones of "x", "y", "z", "rx", "ry", "rz", the rows of
                             J = frame_jacobian(name, q); default: all
        parameters (..., n_parameters)   values of the runtime parameters

    numpy.linalg.LinAlgError where the frame cannot move in all of these directions, and where
    the mass matrix is singular.
    """
def inverse_kinematics(
    name: str, target: ArrayLike, q0: Rows | None = ..., *, limits: bool = ..., starts: int = ...,
    seed: int = ..., tolerance: float = ..., iterations: int = ..., parameters: Rows | None = ...,
) -> InverseKinematics:
    """Coordinates at which a link frame has a pose, or its origin a position.

    Arguments (batch axes ... broadcast mutually; all samples are solved together):
        name                 a link, one of link_names
        target (..., 4, 4)   pose in the base frame, or (..., 3): position of the origin (m)
        q0 (..., nq)         where to start; default: the middle of the limits
        limits               whether the joints' limits hold
        starts               how many configurations to start from, the first being q0, the
                             others random, until a sample is solved
        seed                 of the random ones
        tolerance            of the error, times 1 + the distance of the target from the base
        iterations           at most, from every start
        parameters (n_parameters,)   values of the runtime parameters

    Returns a named tuple InverseKinematics:
        q (..., nq)          the nearest that was found
        error (...)          what is left: norm of the translation (m) and the rotation (rad)
        solved (...)         whether that is within the tolerance
        iterations (...)     of the start that led there

    Damped least squares with exact Jacobians (Levenberg-Marquardt): the damping is a multiple
    of the error (Sugihara 2011), so that the last steps are those of Gauss and Newton.  A
    coordinate stays at its limit while the error pulls it outwards; attitudes and positions of
    joints with a quaternion have no limits, and move by `integrate`.
    """
def inverse_dynamics(q: Rows, qd: Rows, qdd: Rows, *, loads: Rows | None = ..., parameters: Rows | None = ..., out: Array | None = ...) -> Array:
    """Joint torques that produce the accelerations qdd.

    Arguments (batch axes ... broadcast mutually):
        q (..., 2)           joint coordinates (rad or m); states may be dicts by name, with
                             other entries as in neutral() (loops: initial_q)
        qd (..., 2)          their velocities (rad/s or m/s)
        qdd (..., 2)         their accelerations (rad/s^2 or m/s^2)
        loads (..., 1, 6)    wrenches [fx fy fz nx ny nz] exerted by the environment on the
                             links, base axes, the force at the load's point (N, N m); or a
                             dict by name; default: 0
        parameters (..., 0)  this module has none
        out                  array to write the result to and to return: float64, of the
                             result's shape, any strides, not overlapping an argument

    Returns:
        tau (..., 2)  joint torques or forces (N m or N)
    """
def inverse_dynamics_derivatives(q: Rows, qd: Rows, qdd: Rows, *, loads: Rows | None = ..., parameters: Rows | None = ..., packed: bool = ..., out: tuple[Array | None, Array | None, Array | None, Array | None] | None = ...) -> tuple[Array, Array, Array, Array]:
    """Joint torques and their derivatives with respect to q, qd and qdd.

    Arguments (batch axes ... broadcast mutually):
        q (..., 2)           joint coordinates (rad or m); states may be dicts by name, with
                             other entries as in neutral() (loops: initial_q)
        qd (..., 2)          their velocities (rad/s or m/s)
        qdd (..., 2)         their accelerations (rad/s^2 or m/s^2)
        loads (..., 1, 6)    wrenches [fx fy fz nx ny nz] exerted by the environment on the
                             links, base axes, the force at the load's point (N, N m); or a
                             dict by name; default: 0
        parameters (..., 0)  this module has none
        packed               True for square results as arrays (..., 4): their entries at
                             derivative_sparsity, row by row; all others are 0
        out                  tuple of arrays to write the results to, None where one is to be
                             allocated: float64, of the results' shapes, any strides, not
                             overlapping an argument or each other

    Returns:
        tau (..., 2)           joint torques or forces (N m or N)
        dtau_dq (..., 2, 2)    [i, j] = d tau_i / d q_j
        dtau_dqd (..., 2, 2)   [i, j] = d tau_i / d qd_j
        dtau_dqdd (..., 2, 2)  [i, j] = d tau_i / d qdd_j
    """
def inverse_dynamics_hessian(q: Rows, qd: Rows, qdd: Rows, multipliers: Rows, *, loads: Rows | None = ..., parameters: Rows | None = ..., packed: bool = ..., out: tuple[Array | None, Array | None, Array | None, Array | None] | None = ...) -> TorqueHessian:
    """Second derivatives of the sum multipliers . tau with respect to q, qd and qdd: the blocks
    of its symmetric Hessian that are not always 0.

    Arguments (batch axes ... broadcast mutually):
        q (..., 2)            joint coordinates (rad or m); states may be dicts by name, with
                              other entries as in neutral() (loops: initial_q)
        qd (..., 2)           their velocities (rad/s or m/s)
        qdd (..., 2)          their accelerations (rad/s^2 or m/s^2)
        multipliers (..., 2)  weights of the torques in their sum
        loads (..., 1, 6)     wrenches [fx fy fz nx ny nz] exerted by the environment on the
                              links, base axes, the force at the load's point (N, N m); or a
                              dict by name; default: 0
        parameters (..., 0)   this module has none
        packed                True for square results as arrays (..., 4): their entries at
                              derivative_sparsity, row by row; all others are 0
        out                   tuple of arrays to write the results to, None where one is to be
                              allocated: float64, of the results' shapes, any strides, not
                              overlapping an argument or each other

    Returns a named tuple, TorqueHessian:
        q_q (..., 2, 2)    q_q[i, j] = d2 sum / d q_i d q_j, symmetric
        q_qd (..., 2, 2)   q_qd[i, j] = d2 sum / d q_i d qd_j
        q_qdd (..., 2, 2)  q_qdd[i, j] = d2 sum / d q_i d qdd_j
        qd_qd (..., 2, 2)  qd_qd[i, j] = d2 sum / d qd_i d qd_j, symmetric
    """
def inverse_dynamics_load_derivatives(q: Rows, *, parameters: Rows | None = ..., out: Array | None = ...) -> Array:
    """Derivatives of the joint torques with respect to the loads (tau is linear in them).

    Arguments (batch axes ... broadcast mutually):
        q (..., 2)           joint coordinates (rad or m); states may be dicts by name, with
                             other entries as in neutral() (loops: initial_q)
        parameters (..., 0)  this module has none
        out                  array to write the result to and to return: float64, of the
                             result's shape, any strides, not overlapping an argument

    Returns:
        dtau_dloads (..., 2, 1, 6)  [i, k, c] = d tau_i / d loads[k, c]
    """
def mass_matrix(q: Rows, *, parameters: Rows | None = ..., packed: bool = ..., out: Array | None = ...) -> Array:
    """Joint-space mass matrix M(q), symmetric; with the rotors on its diagonal.

    Arguments (batch axes ... broadcast mutually):
        q (..., 2)           joint coordinates (rad or m); states may be dicts by name, with
                             other entries as in neutral() (loops: initial_q)
        parameters (..., 0)  this module has none
        packed               True for square results as arrays (..., 4): their entries at
                             derivative_sparsity, row by row; all others are 0
        out                  array to write the result to and to return: float64, of the
                             result's shape, any strides, not overlapping an argument

    Returns:
        mass_matrix (..., 2, 2)  kg m^2, kg m or kg
    """
def coriolis_matrix(q: Rows, qd: Rows, *, parameters: Rows | None = ..., packed: bool = ..., out: Array | None = ...) -> Array:
    """Christoffel matrix C(q, qd): C qd are the Coriolis and centrifugal torques, and dM/dt - 2
    C is skew-symmetric.

    Arguments (batch axes ... broadcast mutually):
        q (..., 2)           joint coordinates (rad or m); states may be dicts by name, with
                             other entries as in neutral() (loops: initial_q)
        qd (..., 2)          their velocities (rad/s or m/s)
        parameters (..., 0)  this module has none
        packed               True for square results as arrays (..., 4): their entries at
                             derivative_sparsity, row by row; all others are 0
        out                  array to write the result to and to return: float64, of the
                             result's shape, any strides, not overlapping an argument

    Returns:
        coriolis_matrix (..., 2, 2)  N m s or N s
    """
def bias_forces(q: Rows, qd: Rows, *, loads: Rows | None = ..., parameters: Rows | None = ..., out: Array | None = ...) -> Array:
    """Torques at zero acceleration: Coriolis, centrifugal, gravity, loads and joint terms.

    Arguments (batch axes ... broadcast mutually):
        q (..., 2)           joint coordinates (rad or m); states may be dicts by name, with
                             other entries as in neutral() (loops: initial_q)
        qd (..., 2)          their velocities (rad/s or m/s)
        loads (..., 1, 6)    wrenches [fx fy fz nx ny nz] exerted by the environment on the
                             links, base axes, the force at the load's point (N, N m); or a
                             dict by name; default: 0
        parameters (..., 0)  this module has none
        out                  array to write the result to and to return: float64, of the
                             result's shape, any strides, not overlapping an argument

    Returns:
        bias_forces (..., 2)  N m or N
    """
def gravity_forces(q: Rows, *, parameters: Rows | None = ..., out: Array | None = ...) -> Array:
    """Joint torques that hold the robot at rest against gravity alone.

    Arguments (batch axes ... broadcast mutually):
        q (..., 2)           joint coordinates (rad or m); states may be dicts by name, with
                             other entries as in neutral() (loops: initial_q)
        parameters (..., 0)  this module has none
        out                  array to write the result to and to return: float64, of the
                             result's shape, any strides, not overlapping an argument

    Returns:
        gravity_forces (..., 2)  N m or N
    """
def torque_parts(q: Rows, qd: Rows, qdd: Rows, *, loads: Rows | None = ..., parameters: Rows | None = ..., out: tuple[Array | None, Array | None, Array | None, Array | None, Array | None, Array | None] | None = ...) -> TorqueParts:
    """Joint torques in parts, which add up to those of inverse_dynamics.

    Arguments (batch axes ... broadcast mutually):
        q (..., 2)           joint coordinates (rad or m); states may be dicts by name, with
                             other entries as in neutral() (loops: initial_q)
        qd (..., 2)          their velocities (rad/s or m/s)
        qdd (..., 2)         their accelerations (rad/s^2 or m/s^2)
        loads (..., 1, 6)    wrenches [fx fy fz nx ny nz] exerted by the environment on the
                             links, base axes, the force at the load's point (N, N m); or a
                             dict by name; default: 0
        parameters (..., 0)  this module has none
        out                  tuple of arrays to write the results to, None where one is to be
                             allocated: float64, of the results' shapes, any strides, not
                             overlapping an argument or each other

    Returns a named tuple, TorqueParts:
        inertial (..., 2)     M qdd, with the rotors (N m or N)
        centrifugal (..., 2)  terms in qd_k^2
        coriolis (..., 2)     terms in qd_k qd_l, k and l different
        gravity (..., 2)      as gravity_forces
        loads (..., 2)        torques that hold the robot against the loads
        joint_terms (..., 2)  damping, springs and friction of the joints
    """
def kinetic_energy(q: Rows, qd: Rows, *, parameters: Rows | None = ..., out: Array | None = ...) -> Any:
    """Kinetic energy of the bodies and the rotors.

    Arguments (batch axes ... broadcast mutually):
        q (..., 2)           joint coordinates (rad or m); states may be dicts by name, with
                             other entries as in neutral() (loops: initial_q)
        qd (..., 2)          their velocities (rad/s or m/s)
        parameters (..., 0)  this module has none
        out                  array to write the result to and to return: float64, of the
                             result's shape, any strides, not overlapping an argument

    Returns:
        kinetic_energy (...)  J
    """
def potential_energy(q: Rows, *, parameters: Rows | None = ..., out: Array | None = ...) -> Any:
    """Potential energy of springs and gravity, zero for a mass at the base origin.

    Arguments (batch axes ... broadcast mutually):
        q (..., 2)           joint coordinates (rad or m); states may be dicts by name, with
                             other entries as in neutral() (loops: initial_q)
        parameters (..., 0)  this module has none
        out                  array to write the result to and to return: float64, of the
                             result's shape, any strides, not overlapping an argument

    Returns:
        potential_energy (...)  J
    """
def forward_kinematics(q: Rows, *, parameters: Rows | None = ..., out: Array | None = ...) -> Array:
    """Poses of all link frames in the base frame.

    Arguments (batch axes ... broadcast mutually):
        q (..., 2)           joint coordinates (rad or m); states may be dicts by name, with
                             other entries as in neutral() (loops: initial_q)
        parameters (..., 0)  this module has none
        out                  array to write the result to and to return: float64, of the
                             result's shape, any strides, not overlapping an argument

    Returns:
        forward_kinematics (..., 2, 4, 4)  homogeneous transforms, in the order of link_names
                                           (m)
    """
def jacobians(q: Rows, *, parameters: Rows | None = ..., out: Array | None = ...) -> Array:
    """Geometric Jacobians of all link frames.

    Arguments (batch axes ... broadcast mutually):
        q (..., 2)           joint coordinates (rad or m); states may be dicts by name, with
                             other entries as in neutral() (loops: initial_q)
        parameters (..., 0)  this module has none
        out                  array to write the result to and to return: float64, of the
                             result's shape, any strides, not overlapping an argument

    Returns:
        jacobians (..., 2, 6, 2)  [linear; angular] velocity of each link frame's origin per
                                  joint velocity, base axes, in the order of link_names
    """
def joint_wrenches(q: Rows, qd: Rows, qdd: Rows, *, loads: Rows | None = ..., parameters: Rows | None = ..., out: Array | None = ...) -> Array:
    """Force and moment that each joint transmits, exerted by the parent on the link; rotor,
    damping, friction and spring of the joint are no part of them.

    Arguments (batch axes ... broadcast mutually):
        q (..., 2)           joint coordinates (rad or m); states may be dicts by name, with
                             other entries as in neutral() (loops: initial_q)
        qd (..., 2)          their velocities (rad/s or m/s)
        qdd (..., 2)         their accelerations (rad/s^2 or m/s^2)
        loads (..., 1, 6)    wrenches [fx fy fz nx ny nz] exerted by the environment on the
                             links, base axes, the force at the load's point (N, N m); or a
                             dict by name; default: 0
        parameters (..., 0)  this module has none
        out                  array to write the result to and to return: float64, of the
                             result's shape, any strides, not overlapping an argument

    Returns:
        joint_wrenches (..., 2, 6)  [fx fy fz nx ny nz] exerted by the parent on the link
                                    through its joint, link-frame axes; moment about the frame
                                    that a standard DH row starts from, else about the origin
                                    of the link frame (N, N m)
    """
def joint_wrench_derivatives(q: Rows, qd: Rows, qdd: Rows, *, loads: Rows | None = ..., parameters: Rows | None = ..., out: tuple[Array | None, Array | None, Array | None, Array | None] | None = ...) -> tuple[Array, Array, Array, Array]:
    """Joint wrenches and their derivatives with respect to q, qd and qdd.

    Arguments (batch axes ... broadcast mutually):
        q (..., 2)           joint coordinates (rad or m); states may be dicts by name, with
                             other entries as in neutral() (loops: initial_q)
        qd (..., 2)          their velocities (rad/s or m/s)
        qdd (..., 2)         their accelerations (rad/s^2 or m/s^2)
        loads (..., 1, 6)    wrenches [fx fy fz nx ny nz] exerted by the environment on the
                             links, base axes, the force at the load's point (N, N m); or a
                             dict by name; default: 0
        parameters (..., 0)  this module has none
        out                  tuple of arrays to write the results to, None where one is to be
                             allocated: float64, of the results' shapes, any strides, not
                             overlapping an argument or each other

    Returns:
        joint_wrenches (..., 2, 6)  [fx fy fz nx ny nz] exerted by the parent on the link
                                    through its joint, link-frame axes; moment about the frame
                                    that a standard DH row starts from, else about the origin
                                    of the link frame (N, N m)
        dw_dq (..., 2, 6, 2)        [i, c, j] = d wrench_i[c] / d q_j
        dw_dqd (..., 2, 6, 2)       [i, c, j] = d wrench_i[c] / d qd_j
        dw_dqdd (..., 2, 6, 2)      [i, c, j] = d wrench_i[c] / d qdd_j
    """
def point_motion(q: Rows, qd: Rows, qdd: Rows, *, parameters: Rows | None = ..., out: tuple[Array | None, Array | None, Array | None] | None = ...) -> tuple[Array, Array, Array]:
    """Position, velocity and acceleration of the model's points.

    Arguments (batch axes ... broadcast mutually):
        q (..., 2)           joint coordinates (rad or m); states may be dicts by name, with
                             other entries as in neutral() (loops: initial_q)
        qd (..., 2)          their velocities (rad/s or m/s)
        qdd (..., 2)         their accelerations (rad/s^2 or m/s^2)
        parameters (..., 0)  this module has none
        out                  tuple of arrays to write the results to, None where one is to be
                             allocated: float64, of the results' shapes, any strides, not
                             overlapping an argument or each other

    Returns:
        position (..., 1, 3)      in the base frame (m)
        velocity (..., 1, 3)      base axes (m/s)
        acceleration (..., 1, 3)  base axes, without gravity (m/s^2)
    """
def point_motion_derivatives(q: Rows, qd: Rows, qdd: Rows, *, parameters: Rows | None = ..., out: tuple[Array | None, Array | None, Array | None, Array | None, Array | None, Array | None] | None = ...) -> tuple[Array, Array, Array, Array, Array, Array]:
    """Derivatives of the motion of the model's points with respect to q, qd and qdd.

    Arguments (batch axes ... broadcast mutually):
        q (..., 2)           joint coordinates (rad or m); states may be dicts by name, with
                             other entries as in neutral() (loops: initial_q)
        qd (..., 2)          their velocities (rad/s or m/s)
        qdd (..., 2)         their accelerations (rad/s^2 or m/s^2)
        parameters (..., 0)  this module has none
        out                  tuple of arrays to write the results to, None where one is to be
                             allocated: float64, of the results' shapes, any strides, not
                             overlapping an argument or each other

    Returns:
        dx_dq (..., 1, 3, 2)    [i, c, j] = d position_i[c] / d q_j, base axes
        dv_dq (..., 1, 3, 2)    [i, c, j] = d velocity_i[c] / d q_j, base axes
        dv_dqd (..., 1, 3, 2)   [i, c, j] = d velocity_i[c] / d qd_j, base axes
        da_dq (..., 1, 3, 2)    [i, c, j] = d acceleration_i[c] / d q_j, base axes
        da_dqd (..., 1, 3, 2)   [i, c, j] = d acceleration_i[c] / d qd_j, base axes
        da_dqdd (..., 1, 3, 2)  [i, c, j] = d acceleration_i[c] / d qdd_j, base axes
    """
def link_motion(q: Rows, qd: Rows, qdd: Rows, *, parameters: Rows | None = ..., out: tuple[Array | None, Array | None] | None = ...) -> tuple[Array, Array]:
    """Velocities and accelerations of all link frames, in the order of link_names; at qdd = 0
    the accelerations are dJ/dt qd.

    Arguments (batch axes ... broadcast mutually):
        q (..., 2)           joint coordinates (rad or m); states may be dicts by name, with
                             other entries as in neutral() (loops: initial_q)
        qd (..., 2)          their velocities (rad/s or m/s)
        qdd (..., 2)         their accelerations (rad/s^2 or m/s^2)
        parameters (..., 0)  this module has none
        out                  tuple of arrays to write the results to, None where one is to be
                             allocated: float64, of the results' shapes, any strides, not
                             overlapping an argument or each other

    Returns:
        link_velocities (..., 2, 6)     [linear; angular] of each link frame's origin, base
                                        axes (m/s, rad/s)
        link_accelerations (..., 2, 6)  their rates, base axes, without gravity (m/s^2,
                                        rad/s^2)
    """
def center_of_mass(q: Rows, *, parameters: Rows | None = ..., out: Array | None = ...) -> Array:
    """Centre of mass of all moving bodies, in the base frame.

    Arguments (batch axes ... broadcast mutually):
        q (..., 2)           joint coordinates (rad or m); states may be dicts by name, with
                             other entries as in neutral() (loops: initial_q)
        parameters (..., 0)  this module has none
        out                  array to write the result to and to return: float64, of the
                             result's shape, any strides, not overlapping an argument

    Returns:
        center_of_mass (..., 3)  m
    """
def center_of_mass_jacobian(q: Rows, *, parameters: Rows | None = ..., out: Array | None = ...) -> Array:
    """Velocity of the centre of mass per joint velocity, base axes.

    Arguments (batch axes ... broadcast mutually):
        q (..., 2)           joint coordinates (rad or m); states may be dicts by name, with
                             other entries as in neutral() (loops: initial_q)
        parameters (..., 0)  this module has none
        out                  array to write the result to and to return: float64, of the
                             result's shape, any strides, not overlapping an argument

    Returns:
        center_of_mass_jacobian (..., 3, 2)  [c, j] = d center_of_mass[c] / d q_j
    """
def centroidal_momentum(q: Rows, qd: Rows, *, parameters: Rows | None = ..., out: Array | None = ...) -> Array:
    """Momentum of all moving bodies: [linear; angular about the centre of mass], base axes.

    Arguments (batch axes ... broadcast mutually):
        q (..., 2)           joint coordinates (rad or m); states may be dicts by name, with
                             other entries as in neutral() (loops: initial_q)
        qd (..., 2)          their velocities (rad/s or m/s)
        parameters (..., 0)  this module has none
        out                  array to write the result to and to return: float64, of the
                             result's shape, any strides, not overlapping an argument

    Returns:
        centroidal_momentum (..., 6)  kg m/s, kg m^2/s
    """
def centroidal_momentum_matrix(q: Rows, *, parameters: Rows | None = ..., out: Array | None = ...) -> Array:
    """Matrix A(q): centroidal_momentum = A qd.

    Arguments (batch axes ... broadcast mutually):
        q (..., 2)           joint coordinates (rad or m); states may be dicts by name, with
                             other entries as in neutral() (loops: initial_q)
        parameters (..., 0)  this module has none
        out                  array to write the result to and to return: float64, of the
                             result's shape, any strides, not overlapping an argument

    Returns:
        centroidal_momentum_matrix (..., 6, 2)  [c, j] = d centroidal_momentum[c] / d qd_j
    """
def centroidal_momentum_rate(q: Rows, qd: Rows, qdd: Rows, *, parameters: Rows | None = ..., out: Array | None = ...) -> Array:
    """Rate of the centroidal momentum, A qdd + dA/dt qd: force and moment about the centre of
    mass, base axes.

    Arguments (batch axes ... broadcast mutually):
        q (..., 2)           joint coordinates (rad or m); states may be dicts by name, with
                             other entries as in neutral() (loops: initial_q)
        qd (..., 2)          their velocities (rad/s or m/s)
        qdd (..., 2)         their accelerations (rad/s^2 or m/s^2)
        parameters (..., 0)  this module has none
        out                  array to write the result to and to return: float64, of the
                             result's shape, any strides, not overlapping an argument

    Returns:
        centroidal_momentum_rate (..., 6)  N, N m
    """
def regressor(q: Rows, qd: Rows, qdd: Rows, *, parameters: Rows | None = ..., out: Array | None = ...) -> Array:
    """Matrix Y: Y @ inertial_parameters = inverse dynamics without loads and joint terms.

    Arguments (batch axes ... broadcast mutually):
        q (..., 2)           joint coordinates (rad or m); states may be dicts by name, with
                             other entries as in neutral() (loops: initial_q)
        qd (..., 2)          their velocities (rad/s or m/s)
        qdd (..., 2)         their accelerations (rad/s^2 or m/s^2)
        parameters (..., 0)  this module has none
        out                  array to write the result to and to return: float64, of the
                             result's shape, any strides, not overlapping an argument

    Returns:
        regressor (..., 2, 20)  columns by moving body: m, m cx, m cy, m cz, Ixx, Ixy, Iyy,
                                Ixz, Iyz, Izz about the link frame's origin
    """
def forward_dynamics(q: Rows, qd: Rows, tau: Rows, *, loads: Rows | None = ..., parameters: Rows | None = ..., out: Array | None = ...) -> Array:
    """Accelerations that the joint torques tau produce; all joints are free.

    Arguments (batch axes ... broadcast mutually):
        q (..., 2)           joint coordinates (rad or m); states may be dicts by name, with
                             other entries as in neutral() (loops: initial_q)
        qd (..., 2)          their velocities (rad/s or m/s)
        tau (..., 2)         joint torques or forces (N m or N)
        loads (..., 1, 6)    wrenches [fx fy fz nx ny nz] exerted by the environment on the
                             links, base axes, the force at the load's point (N, N m); or a
                             dict by name; default: 0
        parameters (..., 0)  this module has none
        out                  array to write the result to and to return: float64, of the
                             result's shape, any strides, not overlapping an argument

    Returns:
        qdd (..., 2)  their accelerations (rad/s^2 or m/s^2)

    Where the mass matrix is singular (a pivot is at most n * eps * the diagonal entry of its
    row) one sample raises numpy.linalg.LinAlgError; in a batch such samples are NaN, with one
    RuntimeWarning.
    """
def forward_dynamics_derivatives(q: Rows, qd: Rows, tau: Rows, *, loads: Rows | None = ..., parameters: Rows | None = ..., out: tuple[Array | None, Array | None, Array | None, Array | None] | None = ...) -> tuple[Array, Array, Array, Array]:
    """Accelerations and their derivatives with respect to q, qd and tau.

    Arguments (batch axes ... broadcast mutually):
        q (..., 2)           joint coordinates (rad or m); states may be dicts by name, with
                             other entries as in neutral() (loops: initial_q)
        qd (..., 2)          their velocities (rad/s or m/s)
        tau (..., 2)         joint torques or forces (N m or N)
        loads (..., 1, 6)    wrenches [fx fy fz nx ny nz] exerted by the environment on the
                             links, base axes, the force at the load's point (N, N m); or a
                             dict by name; default: 0
        parameters (..., 0)  this module has none
        out                  tuple of arrays to write the results to, None where one is to be
                             allocated: float64, of the results' shapes, any strides, not
                             overlapping an argument or each other

    Returns:
        qdd (..., 2)           their accelerations (rad/s^2 or m/s^2)
        dqdd_dq (..., 2, 2)    [i, j] = d qdd_i / d q_j
        dqdd_dqd (..., 2, 2)   [i, j] = d qdd_i / d qd_j
        dqdd_dtau (..., 2, 2)  [i, j] = d qdd_i / d tau_j: the inverse of the mass matrix

    Where the mass matrix is singular (a pivot is at most n * eps * the diagonal entry of its
    row) one sample raises numpy.linalg.LinAlgError; in a batch such samples are NaN, with one
    RuntimeWarning.
    """
def frame_pose(name: str, q: Rows, *, parameters: Rows | None = ..., out: Array | None = ...) -> Array:
    """Pose of one link frame in the base frame.

    Arguments (batch axes ... broadcast mutually):
        name                 a link, one of link_names
        q (..., 2)           joint coordinates (rad or m); states may be dicts by name, with
                             other entries as in neutral() (loops: initial_q)
        parameters (..., 0)  this module has none
        out                  array to write the result to and to return: float64, of the
                             result's shape, any strides, not overlapping an argument

    Returns:
        pose (..., 4, 4)  homogeneous transform (m)

    ValueError where no link has this name.
    """
def frame_jacobian(
    name: str, q: Rows, *, reference: str = ..., parameters: Rows | None = ..., out: Array | None = ...,
) -> Array:
    """Geometric Jacobian of a link frame, (..., 6, n): [linear; angular] per joint velocity.

    Arguments (batch axes ... broadcast mutually):
        name                 a link, one of link_names
        q (..., nq)          joint coordinates (rad or m)
        reference            "local_world_aligned": of the frame's origin, base axes;
                             "local": of the frame's origin, axes of the frame; "world": of the
                             point of the link that passes through the base origin, base axes
        parameters (..., n_parameters)   values of the runtime parameters
        out                  array to write the result to and to return
    """
