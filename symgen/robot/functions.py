"""The functions of a generated module, as editors and type checkers see them.

Written by ``python -m manual.robot_type`` from the table of functions; do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from symgen.robot.records import AccelerationGradient, TorqueGradient, TorqueHessian, TorqueParts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]
    State = ArrayLike | Mapping[str, ArrayLike]
    Rows = State | None
    Out = Array | None
    Outs = tuple[Array | None, ...] | None


class Constraints(Protocol):
    """Functions of mechanisms with loops or relations.  Arguments are those of `Functions`."""

    def constraints(
        self, q: State, *, t: Rows = None, parameters: Rows = None, out: Out = None,
    ) -> Array:
        """Values that are 0 where loops are closed and relations hold, in the order of
        constraint_names; always 0 of relations of velocities.

        Returns:
            constraints (..., n_constraints): m, m^2 of distances, or none
        """

    def constraint_jacobian(
        self, q: State, *, t: Rows = None, parameters: Rows = None, out: Out = None,
    ) -> Array:
        """Jacobian J of the constraints: derivatives of their rates with respect to qd.

        Returns:
            constraint_jacobian (..., n_constraints, n): [i, j] = d constraint_rates_i / d qd_j, d
                constraints_i / d q_j but for constraints of velocities
        """

    def constraints_parameter_derivatives(
        self, q: State, *, t: Rows = None, parameters: Rows = None, out: Out = None,
    ) -> Array:
        """Derivatives of the constraints with respect to the runtime parameters.

        Returns:
            dc_dparameters (..., n_constraints, n_parameters): [i, k] = d constraints[i] / d
                parameters[k]
        """

    def loop_wrenches(
        self, q: State, constraint_multipliers: ArrayLike, *, parameters: Rows = None,
        out: Out = None,
    ) -> Array:
        """Force and moment that close every loop, exerted by the first link on the second, for the
        multipliers of the constraints.

        Returns:
            loop_wrenches (..., n_loops, 6): [fx fy fz nx ny nz], base axes, the force at the origin
                of the second frame (N, N m)
        """

    def constraint_rates(
        self, q: State, qd: State, *, t: Rows = None, parameters: Rows = None, out: Out = None,
    ) -> Array:
        """Rates of the constraints, J qd and what varies with time; values of relations of
        velocities.

        Returns:
            constraint_rates (..., n_constraints): per second
        """

    def constraint_rate_derivatives(
        self, q: State, qd: State, *, t: Rows = None, parameters: Rows = None, out: Outs = None,
    ) -> tuple[Array, Array]:
        """Rates of the constraints and their derivatives with respect to q; those with respect to
        qd are the Jacobian.

        Returns:
            constraint_rates (..., n_constraints): per second
            dcd_dq (..., n_constraints, n): [i, j] = d constraint_rates_i / d q_j
        """

    def constraint_rates_parameter_derivatives(
        self, q: State, qd: State, *, t: Rows = None, parameters: Rows = None, out: Out = None,
    ) -> Array:
        """Derivatives of the rates of the constraints with respect to the runtime parameters.

        Returns:
            dcd_dparameters (..., n_constraints, n_parameters): [i, k] = d constraint_rates[i] / d
                parameters[k]
        """

    def constraint_bias(
        self, q: State, qd: State, *, t: Rows = None, parameters: Rows = None, out: Out = None,
    ) -> Array:
        """Second rates of the constraints at qdd = 0: they are J qdd + constraint_bias.

        Returns:
            constraint_bias (..., n_constraints): per second squared
        """

    def constraint_acceleration_derivatives(
        self, q: State, qd: State, qdd: State, *, t: Rows = None, parameters: Rows = None,
        out: Outs = None,
    ) -> tuple[Array, Array, Array]:
        """Second rates of the constraints and their derivatives with respect to q and qd; that with
        respect to qdd is the Jacobian.

        Returns:
            constraint_accelerations (..., n_constraints): per second squared
            dcdd_dq (..., n_constraints, n): [i, j] = d constraint_accelerations_i / d q_j
            dcdd_dqd (..., n_constraints, n): [i, j] = d constraint_accelerations_i / d qd_j
        """

    def constraint_acceleration_parameter_derivatives(
        self, q: State, qd: State, qdd: State, *, t: Rows = None, parameters: Rows = None,
        out: Out = None,
    ) -> Array:
        """Derivatives of the second rates of the constraints by the runtime parameters.

        Returns:
            dcdd_dparameters (..., n_constraints, n_parameters): [i, k] = d
                constraint_accelerations[i] / d parameters[k]
        """

    def constraint_torque_parameter_derivatives(
        self, q: State, constraint_multipliers: ArrayLike, *, t: Rows = None,
        parameters: Rows = None, out: Out = None,
    ) -> Array:
        """Derivatives of the torques J^T multipliers with respect to the runtime parameters.

        Returns:
            dp_dparameters (..., n, n_parameters): [i, k] = d constraint_torques[i] / d
                parameters[k]
        """

    def constraint_torque_derivatives(
        self, q: State, constraint_multipliers: ArrayLike, *, t: Rows = None,
        parameters: Rows = None, out: Outs = None,
    ) -> tuple[Array, Array]:
        """Torques J^T multipliers of the constraints, and their derivatives with respect to q.

        Returns:
            constraint_torques (..., n): N m or N
            dp_dq (..., n, n): [i, j] = d constraint_torques_i / d q_j
        """


class Products(Protocol):
    """Derivatives times a vector.  Arguments are those of `Functions`; ``_jvp`` and ``_hvp`` take:

        dq, dqd, dqdd, dtau (..., n), dloads (..., n_loads, 6), dparameters (..., n_parameters):
            the direction
    """

    def inverse_dynamics_jvp(
        self, q: State, qd: State, qdd: State, dq: State, dqd: State, dqdd: State, *,
        loads: Rows = None, dloads: Rows = None, dparameters: Rows = None, parameters: Rows = None,
        out: Outs = None,
    ) -> tuple[Array, Array]:
        """Joint torques, and their derivative along one direction of all that they depend on.

        Returns:
            tau (..., n): joint torques or forces (N m or N)
            tau_along (..., n): derivative of tau along the direction
        """

    def inverse_dynamics_vjp(
        self, q: State, qd: State, qdd: State, multipliers: State, *, loads: Rows = None,
        parameters: Rows = None, out: Outs = None,
    ) -> TorqueGradient:
        """Gradient of multipliers . tau with respect to all that the joint torques depend on.

        Returns:
            q (..., n): [j] = d (multipliers . tau) / d q_j, in the tangent space of q
            qd (..., n): [j] = d (multipliers . tau) / d qd_j
            qdd (..., n): [j] = d (multipliers . tau) / d qdd_j
            loads (..., n_loads, 6): [k, c] = d (multipliers . tau) / d loads[k, c]
            parameters (..., n_parameters): [k] = d (multipliers . tau) / d parameters[k]
        """

    def inverse_dynamics_hvp(
        self, q: State, qd: State, qdd: State, multipliers: State, dq: State, dqd: State,
        dqdd: State, *, loads: Rows = None, dloads: Rows = None, dparameters: Rows = None,
        parameters: Rows = None, out: Outs = None,
    ) -> TorqueGradient:
        """Hessian of multipliers . tau with respect to all that the joint torques depend on, times
        one direction.

        Returns:
            q (..., n): H_q times the direction, H the Hessian of multipliers . tau, in the tangent
                space of q
            qd (..., n): H_qd times the direction, H the Hessian of multipliers . tau
            qdd (..., n): H_qdd times the direction, H the Hessian of multipliers . tau
            loads (..., n_loads, 6): H_loads times the direction, H the Hessian of multipliers . tau
            parameters (..., n_parameters): H_parameters times the direction, H the Hessian of
                multipliers . tau
        """

    def forward_dynamics_jvp(
        self, q: State, qd: State, tau: State, dq: State, dqd: State, dtau: State, *,
        loads: Rows = None, dloads: Rows = None, dparameters: Rows = None, parameters: Rows = None,
        out: Outs = None,
    ) -> tuple[Array, Array]:
        """Accelerations, and their derivative along one direction of all that they depend on.

        Returns:
            qdd (..., n): their accelerations (rad/s^2 or m/s^2)
            qdd_along (..., n): derivative of qdd along the direction
        """

    def forward_dynamics_vjp(
        self, q: State, qd: State, tau: State, multipliers: State, *, loads: Rows = None,
        parameters: Rows = None, out: Outs = None,
    ) -> AccelerationGradient:
        """Gradient of multipliers . qdd with respect to all that the accelerations depend on.

        Returns:
            q (..., n): [j] = d (multipliers . qdd) / d q_j, in the tangent space of q
            qd (..., n): [j] = d (multipliers . qdd) / d qd_j
            tau (..., n): [j] = d (multipliers . qdd) / d tau_j
            loads (..., n_loads, 6): [k, c] = d (multipliers . qdd) / d loads[k, c]
            parameters (..., n_parameters): [k] = d (multipliers . qdd) / d parameters[k]
        """

    def forward_dynamics_hvp(
        self, q: State, qd: State, tau: State, multipliers: State, dq: State, dqd: State,
        dtau: State, *, loads: Rows = None, dloads: Rows = None, dparameters: Rows = None,
        parameters: Rows = None, out: Outs = None,
    ) -> AccelerationGradient:
        """Hessian of multipliers . qdd with respect to all that the accelerations depend on, times
        one direction.

        Returns:
            q (..., n): H_q times the direction, H the Hessian of multipliers . qdd, in the tangent
                space of q
            qd (..., n): H_qd times the direction, H the Hessian of multipliers . qdd
            tau (..., n): H_tau times the direction, H the Hessian of multipliers . qdd
            loads (..., n_loads, 6): H_loads times the direction, H the Hessian of multipliers . qdd
            parameters (..., n_parameters): H_parameters times the direction, H the Hessian of
                multipliers . qdd
        """


class Functions(Constraints, Products, Protocol):
    """The functions of a robot, by one formulation or, at the top level, each by the fastest.

    Arguments; batch axes ``...`` broadcast mutually:

        q, qd, qdd (..., n): coordinates (rad or m), their velocities and accelerations
        tau (..., n): joint torques or forces (N m or N)
        multipliers (..., n): weights of the results in their sum
        constraint_multipliers (..., n_constraints): one for every row of the constraints
        x (..., n): accelerations of prescribed joints, torques of free ones
        t (...): time (s)
        loads (..., n_loads, 6), or a dict by name: [fx fy fz nx ny nz] exerted by the environment
            on the links, base axes, the force at the load's point (N, N m)
        parameters (..., n_parameters), or a dict by name: values of the runtime parameters
        dq, dqd, dtau (..., n, n_parameters): how q, qd and tau vary with the parameters
        packed: square results without the entries that are always 0, see derivative_sparsity
        out: arrays to write the results to and to return

    A function that was not built raises AttributeError with the command that builds it.
    """

    def inverse_dynamics(
        self, q: State, qd: State, qdd: State, *, loads: Rows = None, parameters: Rows = None,
        out: Out = None,
    ) -> Array:
        """Joint torques that produce the accelerations qdd.

        Returns:
            tau (..., n): joint torques or forces (N m or N)
        """

    def inverse_dynamics_derivatives(
        self, q: State, qd: State, qdd: State, *, loads: Rows = None, parameters: Rows = None,
        packed: bool = False, out: Outs = None,
    ) -> tuple[Array, Array, Array, Array]:
        """Joint torques and their derivatives with respect to q, qd and qdd.

        Returns:
            tau (..., n): joint torques or forces (N m or N)
            dtau_dq (..., n, n): [i, j] = d tau_i / d q_j
            dtau_dqd (..., n, n): [i, j] = d tau_i / d qd_j
            dtau_dqdd (..., n, n): [i, j] = d tau_i / d qdd_j
        """

    def inverse_dynamics_hessian(
        self, q: State, qd: State, qdd: State, multipliers: State, *, loads: Rows = None,
        parameters: Rows = None, packed: bool = False, out: Outs = None,
    ) -> TorqueHessian:
        """Second derivatives of the sum multipliers . tau with respect to q, qd and qdd: the blocks
        of its symmetric Hessian that are not always 0.

        Returns:
            q_q (..., n, n): q_q[i, j] = d2 sum / d q_i d q_j, symmetric
            q_qd (..., n, n): q_qd[i, j] = d2 sum / d q_i d qd_j
            q_qdd (..., n, n): q_qdd[i, j] = d2 sum / d q_i d qdd_j
            qd_qd (..., n, n): qd_qd[i, j] = d2 sum / d qd_i d qd_j, symmetric
        """

    def inverse_dynamics_load_derivatives(
        self, q: State, *, parameters: Rows = None, out: Out = None,
    ) -> Array:
        """Derivatives of the joint torques with respect to the loads (tau is linear in them).

        Returns:
            dtau_dloads (..., n, n_loads, 6): [i, k, c] = d tau_i / d loads[k, c]
        """

    def mass_matrix(
        self, q: State, *, parameters: Rows = None, packed: bool = False, out: Out = None,
    ) -> Array:
        """Joint-space mass matrix M(q), symmetric; with the rotors on its diagonal.

        Returns:
            mass_matrix (..., n, n): kg m^2, kg m or kg
        """

    def coriolis_matrix(
        self, q: State, qd: State, *, parameters: Rows = None, packed: bool = False,
        out: Out = None,
    ) -> Array:
        """Christoffel matrix C(q, qd): C qd are the Coriolis and centrifugal torques, and dM/dt - 2
        C is skew-symmetric.

        Returns:
            coriolis_matrix (..., n, n): N m s or N s
        """

    def bias_forces(
        self, q: State, qd: State, *, loads: Rows = None, parameters: Rows = None, out: Out = None,
    ) -> Array:
        """Torques at zero acceleration: Coriolis, centrifugal, gravity, loads and joint terms.

        Returns:
            bias_forces (..., n): N m or N
        """

    def gravity_forces(self, q: State, *, parameters: Rows = None, out: Out = None) -> Array:
        """Joint torques that hold the robot at rest against gravity alone.

        Returns:
            gravity_forces (..., n): N m or N
        """

    def torque_parts(
        self, q: State, qd: State, qdd: State, *, loads: Rows = None, parameters: Rows = None,
        out: Outs = None,
    ) -> TorqueParts:
        """Joint torques in parts, which add up to those of inverse_dynamics.

        Returns:
            inertial (..., n): M qdd, with the rotors (N m or N)
            centrifugal (..., n): terms in qd_k^2
            coriolis (..., n): terms in qd_k qd_l, k and l different
            gravity (..., n): as gravity_forces
            loads (..., n): torques that hold the robot against the loads
            joint_terms (..., n): damping, springs and friction of the joints
        """

    def kinetic_energy(
        self, q: State, qd: State, *, parameters: Rows = None, out: Out = None,
    ) -> Any:
        """Kinetic energy of the bodies and the rotors.

        Returns:
            kinetic_energy (...): J
        """

    def potential_energy(self, q: State, *, parameters: Rows = None, out: Out = None) -> Any:
        """Potential energy of springs and gravity, zero for a mass at the base origin.

        Returns:
            potential_energy (...): J
        """

    def forward_kinematics(self, q: State, *, parameters: Rows = None, out: Out = None) -> Array:
        """Poses of all link frames in the base frame.

        Returns:
            forward_kinematics (..., n_links, 4, 4): homogeneous transforms, in the order of
                link_names (m)
        """

    def jacobians(self, q: State, *, parameters: Rows = None, out: Out = None) -> Array:
        """Geometric Jacobians of all link frames.

        Returns:
            jacobians (..., n_links, 6, n): [linear; angular] velocity of each link frame's origin
                per joint velocity, base axes, in the order of link_names
        """

    def joint_wrenches(
        self, q: State, qd: State, qdd: State, *, loads: Rows = None, parameters: Rows = None,
        out: Out = None,
    ) -> Array:
        """Force and moment that each joint transmits, exerted by the parent on the link; rotor,
        damping, friction and spring of the joint are no part of them.

        Returns:
            joint_wrenches (..., n_joints, 6): [fx fy fz nx ny nz] exerted by the parent on the link
                through its joint, link-frame axes; moment about the frame that a standard DH row
                starts from, else about the origin of the link frame (N, N m)
        """

    def joint_wrench_derivatives(
        self, q: State, qd: State, qdd: State, *, loads: Rows = None, parameters: Rows = None,
        out: Outs = None,
    ) -> tuple[Array, Array, Array, Array]:
        """Joint wrenches and their derivatives with respect to q, qd and qdd.

        Returns:
            joint_wrenches (..., n_joints, 6): [fx fy fz nx ny nz] exerted by the parent on the link
                through its joint, link-frame axes; moment about the frame that a standard DH row
                starts from, else about the origin of the link frame (N, N m)
            dw_dq (..., n_joints, 6, n): [i, c, j] = d wrench_i[c] / d q_j
            dw_dqd (..., n_joints, 6, n): [i, c, j] = d wrench_i[c] / d qd_j
            dw_dqdd (..., n_joints, 6, n): [i, c, j] = d wrench_i[c] / d qdd_j
        """

    def point_motion(
        self, q: State, qd: State, qdd: State, *, parameters: Rows = None, out: Outs = None,
    ) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration of the model's points.

        Returns:
            position (..., n_points, 3): in the base frame (m)
            velocity (..., n_points, 3): base axes (m/s)
            acceleration (..., n_points, 3): base axes, without gravity (m/s^2)
        """

    def point_motion_derivatives(
        self, q: State, qd: State, qdd: State, *, parameters: Rows = None, out: Outs = None,
    ) -> tuple[Array, Array, Array, Array, Array, Array]:
        """Derivatives of the motion of the model's points with respect to q, qd and qdd.

        Returns:
            dx_dq (..., n_points, 3, n): [i, c, j] = d position_i[c] / d q_j, base axes
            dv_dq (..., n_points, 3, n): [i, c, j] = d velocity_i[c] / d q_j, base axes
            dv_dqd (..., n_points, 3, n): [i, c, j] = d velocity_i[c] / d qd_j, base axes
            da_dq (..., n_points, 3, n): [i, c, j] = d acceleration_i[c] / d q_j, base axes
            da_dqd (..., n_points, 3, n): [i, c, j] = d acceleration_i[c] / d qd_j, base axes
            da_dqdd (..., n_points, 3, n): [i, c, j] = d acceleration_i[c] / d qdd_j, base axes
        """

    def link_motion(
        self, q: State, qd: State, qdd: State, *, parameters: Rows = None, out: Outs = None,
    ) -> tuple[Array, Array]:
        """Velocities and accelerations of all link frames, in the order of link_names; at qdd = 0
        the accelerations are dJ/dt qd.

        Returns:
            link_velocities (..., n_links, 6): [linear; angular] of each link frame's origin, base
                axes (m/s, rad/s)
            link_accelerations (..., n_links, 6): their rates, base axes, without gravity (m/s^2,
                rad/s^2)
        """

    def center_of_mass(self, q: State, *, parameters: Rows = None, out: Out = None) -> Array:
        """Centre of mass of all moving bodies, in the base frame.

        Returns:
            center_of_mass (..., 3): m
        """

    def center_of_mass_jacobian(
        self, q: State, *, parameters: Rows = None, out: Out = None,
    ) -> Array:
        """Velocity of the centre of mass per joint velocity, base axes.

        Returns:
            center_of_mass_jacobian (..., 3, n): [c, j] = d center_of_mass[c] / d q_j
        """

    def centroidal_momentum(
        self, q: State, qd: State, *, parameters: Rows = None, out: Out = None,
    ) -> Array:
        """Momentum of all moving bodies: [linear; angular about the centre of mass], base axes.

        Returns:
            centroidal_momentum (..., 6): kg m/s, kg m^2/s
        """

    def centroidal_momentum_matrix(
        self, q: State, *, parameters: Rows = None, out: Out = None,
    ) -> Array:
        """Matrix A(q): centroidal_momentum = A qd.

        Returns:
            centroidal_momentum_matrix (..., 6, n): [c, j] = d centroidal_momentum[c] / d qd_j
        """

    def centroidal_momentum_rate(
        self, q: State, qd: State, qdd: State, *, parameters: Rows = None, out: Out = None,
    ) -> Array:
        """Rate of the centroidal momentum, A qdd + dA/dt qd: force and moment about the centre of
        mass, base axes.

        Returns:
            centroidal_momentum_rate (..., 6): N, N m
        """

    def regressor(
        self, q: State, qd: State, qdd: State, *, parameters: Rows = None, out: Out = None,
    ) -> Array:
        """Matrix Y: Y @ inertial_parameters = inverse dynamics without loads and joint terms.

        Returns:
            regressor (..., n, 10 n_joints): columns by moving body: m, m cx, m cy, m cz, Ixx, Ixy,
                Iyy, Ixz, Iyz, Izz about the link frame's origin
        """

    def inverse_dynamics_parameter_derivatives(
        self, q: State, qd: State, qdd: State, *, loads: Rows = None, parameters: Rows = None,
        out: Out = None,
    ) -> Array:
        """Derivatives of the joint torques with respect to the runtime parameters.

        Returns:
            dtau_dparameters (..., n, n_parameters): [i, k] = d tau[i] / d parameters[k]
        """

    def point_motion_parameter_derivatives(
        self, q: State, qd: State, qdd: State, *, parameters: Rows = None, out: Outs = None,
    ) -> tuple[Array, Array, Array]:
        """Derivatives of the motion of the model's points with respect to the runtime parameters.

        Returns:
            dx_dparameters (..., n_points, 3, n_parameters): [i, j, k] = d position[i, j] / d
                parameters[k]
            dv_dparameters (..., n_points, 3, n_parameters): [i, j, k] = d velocity[i, j] / d
                parameters[k]
            da_dparameters (..., n_points, 3, n_parameters): [i, j, k] = d acceleration[i, j] / d
                parameters[k]
        """

    def kinetic_energy_parameter_derivatives(
        self, q: State, qd: State, *, parameters: Rows = None, out: Out = None,
    ) -> Array:
        """Derivatives of the kinetic energy with respect to the runtime parameters.

        Returns:
            dT_dparameters (..., n_parameters): [k] = d kinetic_energy / d parameters[k]
        """

    def potential_energy_parameter_derivatives(
        self, q: State, *, parameters: Rows = None, out: Out = None,
    ) -> Array:
        """Derivatives of the potential energy with respect to the runtime parameters.

        Returns:
            dV_dparameters (..., n_parameters): [k] = d potential_energy / d parameters[k]
        """

    def forward_dynamics(
        self, q: State, qd: State, tau: State, *, loads: Rows = None, parameters: Rows = None,
        out: Out = None,
    ) -> Array:
        """Accelerations that the joint torques tau produce; all joints are free.

        Returns:
            qdd (..., n): their accelerations (rad/s^2 or m/s^2)
        """

    def forward_dynamics_derivatives(
        self, q: State, qd: State, tau: State, *, loads: Rows = None, parameters: Rows = None,
        out: Outs = None,
    ) -> tuple[Array, Array, Array, Array]:
        """Accelerations and their derivatives with respect to q, qd and tau.

        Returns:
            qdd (..., n): their accelerations (rad/s^2 or m/s^2)
            dqdd_dq (..., n, n): [i, j] = d qdd_i / d q_j
            dqdd_dqd (..., n, n): [i, j] = d qdd_i / d qd_j
            dqdd_dtau (..., n, n): [i, j] = d qdd_i / d tau_j: the inverse of the mass matrix
        """

    def forward_dynamics_parameter_derivatives(
        self, q: State, qd: State, tau: State, *, loads: Rows = None, parameters: Rows = None,
        out: Out = None,
    ) -> Array:
        """Derivatives of the accelerations with respect to the runtime parameters, at fixed q, qd
        and tau.

        Returns:
            dqdd_dparameters (..., n, n_parameters): [i, k] = d qdd[i] / d parameters[k]
        """

    def forward_dynamics_sensitivities(
        self, q: State, qd: State, tau: State, dq: State, dqd: State, dtau: State, *,
        loads: Rows = None, parameters: Rows = None, out: Outs = None,
    ) -> tuple[Array, Array]:
        """Accelerations and their total derivatives with respect to the runtime parameters, where
        q, qd and tau vary with them: the right-hand side of a sensitivity analysis.

        Returns:
            qdd (..., n): their accelerations (rad/s^2 or m/s^2)
            dqdd (..., n, n_parameters): [i, k] = d qdd_i / d parameters[k]: how qdd itself varies
                with the parameters
        """

    def hybrid_dynamics(
        self, q: State, qd: State, x: ArrayLike, *, loads: Rows = None, parameters: Rows = None,
        out: Out = None,
    ) -> Array:
        """Torques of the prescribed and accelerations of the free joints.

        Returns:
            y (..., n): unknown of every coordinate: the torque or force of its joint where its
                motion is prescribed, its acceleration where it is free
        """

    def hybrid_dynamics_derivatives(
        self, q: State, qd: State, x: ArrayLike, *, loads: Rows = None, parameters: Rows = None,
        out: Outs = None,
    ) -> tuple[Array, Array, Array, Array]:
        """Torques of the prescribed and accelerations of the free joints, and their derivatives.

        Returns:
            y (..., n): unknown of every coordinate: the torque or force of its joint where its
                motion is prescribed, its acceleration where it is free
            dy_dq (..., n, n): [i, j] = d y_i / d q_j
            dy_dqd (..., n, n): [i, j] = d y_i / d qd_j
            dy_dx (..., n, n): [i, j] = d y_i / d x_j
        """

    def hybrid_dynamics_parameter_derivatives(
        self, q: State, qd: State, x: ArrayLike, *, loads: Rows = None, parameters: Rows = None,
        out: Out = None,
    ) -> Array:
        """Derivatives of what hybrid_dynamics returns with respect to the runtime parameters.

        Returns:
            dy_dparameters (..., n, n_parameters): [i, k] = d y[i] / d parameters[k]
        """

    def outputs(
        self, t: ArrayLike, q: State, qd: State, qdd: State, tau: State, *, loads: Rows = None,
        parameters: Rows = None, out: Out = None,
    ) -> Array:
        """The outputs of the model, in the order of output_names.

        Returns:
            outputs (..., n_outputs): in the units of their expressions
        """

    def outputs_derivatives(
        self, t: ArrayLike, q: State, qd: State, qdd: State, tau: State, *, loads: Rows = None,
        parameters: Rows = None, out: Outs = None,
    ) -> tuple[Array, Array, Array, Array, Array, Array, Array, Array]:
        """The outputs and their derivatives; output_sparsity says which entries can differ from 0.

        Returns:
            outputs (..., n_outputs): in the units of their expressions
            do_dt (..., n_outputs): derivatives of the outputs with respect to t
            do_dq (..., n_outputs, n): derivatives of the outputs with respect to q
            do_dqd (..., n_outputs, n): derivatives of the outputs with respect to qd
            do_dqdd (..., n_outputs, n): derivatives of the outputs with respect to qdd
            do_dtau (..., n_outputs, n): derivatives of the outputs with respect to tau
            do_dloads (..., n_outputs, n_loads, 6): derivatives of the outputs with respect to the
                loads
            do_dparameters (..., n_outputs, n_parameters): derivatives of the outputs with respect
                to the runtime parameters
        """

    def outputs_multiplier_derivatives(
        self, t: ArrayLike, q: State, qd: State, qdd: State, tau: State, *, loads: Rows = None,
        motion_multipliers: Rows = None, parameters: Rows = None, out: Out = None,
    ) -> Array:
        """Derivatives of the outputs with respect to the multipliers of constraints and projections
        that they mention.

        Returns:
            do_dmotion_multipliers (..., n_outputs, 3, n_motion_multipliers): derivatives of the
                outputs with respect to motion_multipliers
        """
