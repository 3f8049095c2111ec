"""Pinocchio as an oracle: a `pin.Model` from a robot description, coordinates in file order.

Joints are added depth first, because `crba` and `computeRNEADerivatives` are silently wrong
otherwise; everything is mapped by name back to the order of the file.  Of a mass matrix Pinocchio
fills the upper triangle only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from symgen.description import RobotDescription
from symgen.description.expressions import evaluate
from symgen.description.model import JointDescription, Pose

Array = np.ndarray[Any, Any]
Z = np.array([0.0, 0.0, 1.0])
ALIGNED = pin.LOCAL_WORLD_ALIGNED


@dataclass(frozen=True)
class Seat:
    """Where a link sits: the Pinocchio joint that carries it, and its pose in that frame."""

    joint: int
    pose: pin.SE3


class Terms:
    """Springs, damping and friction, which Pinocchio's inverse dynamics does not know, (n,) each.

    It knows rotors, reflected, as `model.armature`."""

    def __init__(self, description: RobotDescription, number: Any) -> None:
        terms = [terms for joint in description.joints for terms in joint.terms]
        for key in (
            "rotor_inertia", "gear_ratio", "damping", "stiffness", "rest", "friction",
            "friction_velocity",
        ):  # fmt: skip
            setattr(self, key, np.array([number(getattr(term, key)) for term in terms]))

    def springs(self, q: Array) -> Array:
        return self.stiffness * (q - self.rest)

    def losses(self, qd: Array) -> Array:
        """Damping and friction, the tanh by exponentials."""
        e = np.exp(-2.0 * np.abs(qd / self.friction_velocity))
        return self.damping * qd + self.friction * np.sign(qd) * (1.0 - e) / (1.0 + e)

    def loss_slopes(self, qd: Array) -> Array:
        """sech^2 by exponentials."""
        e = np.exp(-2.0 * np.abs(qd / self.friction_velocity))
        return self.damping + self.friction * 4.0 * e / (1.0 + e) ** 2 / self.friction_velocity


class PinocchioRobot:
    """Functions of a generated module, computed by Pinocchio, for ONE sample at a time."""

    def __init__(self, description: RobotDescription) -> None:
        self.description = description
        self.values = dict(description.parameter_values)
        self.model = pin.Model()
        self.model.gravity.linear = np.array([self._number(x) for x in description.gravity])
        self.model.gravity.angular = np.zeros(3)
        self.seats: dict[str, Seat] = {"base": Seat(0, pin.SE3.Identity())}
        self._add_depth_first("base")
        order: list[int] = []
        places: list[int] = []
        for joint in description.joints:
            names = [joint.name] if joint.manifold else joint.coordinate_names
            for own in (self.model.joints[self.model.getJointId(name)] for name in names):
                order += range(own.idx_v, own.idx_v + own.nv)
                places += range(own.idx_q, own.idx_q + own.nq)
        self.order = np.array(order, dtype=int)  # file order -> Pinocchio's
        self.places = np.array(places, dtype=int)  # the same of the entries of q
        self.n = len(order)
        self.terms = Terms(description, self._number)
        self.model.armature[self.order] = self.terms.gear_ratio**2 * self.terms.rotor_inertia
        self.data = self.model.createData()

    # ------------------------------------------------------------------------ construction

    def _number(self, expression: Any) -> float:
        return evaluate(expression, self.values)

    def _add_depth_first(self, parent: str) -> None:
        waiting = [parent]
        while waiting:
            name = waiting.pop()
            if name != "base":
                joint = next(j for j in self.description.joints if j.link.name == name)
                self._add(joint)
            children = [j.link.name for j in self.description.joints if j.parent == name]
            waiting += reversed(children)

    def _add(self, joint: JointDescription) -> None:
        parent = self.seats[joint.parent]
        ahead, behind = self._around_motion(joint)
        placement = parent.pose * ahead
        if joint.type == "fixed":
            seat = Seat(parent.joint, placement * behind)
        elif joint.manifold is not None:
            model = (
                pin.JointModelSpherical if joint.type == "spherical" else pin.JointModelFreeFlyer
            )
            number = self.model.addJoint(parent.joint, model(), placement, joint.name)
            seat = Seat(number, pin.SE3.Identity())
        elif joint.type not in ("revolute", "prismatic"):
            seat = self._add_chain(joint, parent.joint, placement)
        else:
            model = _joint_model(joint.type, self._axis(joint))
            number = self.model.addJoint(parent.joint, model, placement, joint.name)
            seat = Seat(number, behind)
        self.seats[joint.link.name] = seat
        self.model.appendBodyToJoint(seat.joint, self._inertia(joint), seat.pose)

    def _add_chain(self, joint: JointDescription, carrier: int, placement: pin.SE3) -> Seat:
        """A composite joint as joints of one coordinate; Pinocchio's own have other coordinates."""
        turns = [(f"R{letter.upper()}", None) for letter in joint.sequence]
        models = {
            "universal": turns,
            "spherical": turns,
            "cylindrical": [("PrismaticUnaligned", self._axis(joint)),
                            ("RevoluteUnaligned", self._axis(joint))],
            "floating": [("PX", None), ("PY", None), ("PZ", None), *turns],
        }[joint.type]  # fmt: skip
        for (kind, axis), name in zip(models, joint.coordinate_names, strict=True):
            make = getattr(pin, f"JointModel{kind}")
            model = make() if axis is None else make(axis)
            carrier = self.model.addJoint(carrier, model, placement, name)
            placement = pin.SE3.Identity()
        return Seat(carrier, placement)

    def _around_motion(self, joint: JointDescription) -> tuple[pin.SE3, pin.SE3]:
        """Fixed transforms ahead of and behind the joint's motion."""
        if joint.dh is None:
            assert joint.origin is not None
            return self._pose(joint.origin), pin.SE3.Identity()
        dh = joint.dh
        ahead = pin.SE3.Identity() if joint.before is None else self._pose(joint.before)
        theta, d, a, alpha = (self._number(x) for x in (dh.theta, dh.d, dh.a, dh.alpha))
        screw_z = pin.SE3(pin.utils.rotate("z", theta), d * Z)
        screw_x = pin.SE3(pin.utils.rotate("x", alpha), np.array([a, 0.0, 0.0]))
        if dh.convention == "standard":
            return ahead, screw_z * screw_x
        return ahead * screw_x, screw_z

    def _pose(self, pose: Pose) -> pin.SE3:
        rpy = np.array([self._number(x) for x in pose.rpy])
        return pin.SE3(pin.rpy.rpyToMatrix(rpy), np.array([self._number(x) for x in pose.xyz]))

    def _axis(self, joint: JointDescription) -> Array:
        if joint.dh is not None or joint.axis is None:
            return Z
        axis = np.array([self._number(x) for x in joint.axis])
        return axis / np.linalg.norm(axis)

    def _inertia(self, joint: JointDescription) -> pin.Inertia:
        xx, yy, zz, xy, xz, yz = (self._number(x) for x in joint.link.inertia)
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        com = np.array([self._number(x) for x in joint.link.com])
        return pin.Inertia(self._number(joint.link.mass), com, tensor)

    # --------------------------------------------------------------------------- functions

    def _to_pin(self, x: Array) -> Array:
        y = np.zeros(self.model.nv)
        y[self.order] = x
        return y

    def _q_to_pin(self, q: Array) -> Array:
        y = pin.neutral(self.model)
        y[self.places] = q
        return y

    def _states(self, q: Array, *rates: Array) -> list[Array]:
        return [self._q_to_pin(q), *map(self._to_pin, rates)]

    def coordinates(self, q: Array) -> Array:
        """q of the joints that are on no manifold, and 0, (n,)."""
        found = np.zeros(self.n)
        k = place = 0
        for joint in self.description.joints:
            if joint.manifold is None:
                own = joint.coordinates
                found[k : k + own] = q[place : place + own]
            k, place = k + joint.coordinates, place + len(joint.position_names)
        return found

    def _from_pin(self, matrix: Array) -> Array:
        return np.asarray(matrix).reshape(self.n, self.n)[np.ix_(self.order, self.order)]

    def forward_kinematics(self, q: Array) -> Array:
        """Poses of the links in the base frame, (n_links, 4, 4)."""
        pin.forwardKinematics(self.model, self.data, self._q_to_pin(q))
        poses = [self._link_pose(j.link.name).homogeneous for j in self.description.joints]
        return np.array(poses).reshape(-1, 4, 4)

    def _link_pose(self, link: str) -> pin.SE3:
        seat = self.seats[link]
        return self.data.oMi[seat.joint] * seat.pose

    def jacobians(self, q: Array) -> Array:
        """[linear; angular] of the link origins, base axes, (n_links, 6, n)."""
        pin.computeJointJacobians(self.model, self.data, self._q_to_pin(q))
        result = []
        for joint in self.description.joints:
            seat, pose = self.seats[joint.link.name], self._link_pose(joint.link.name)
            jacobian = np.zeros((6, self.n))
            if seat.joint:
                world = self._joint_jacobian(seat.joint, pin.WORLD)
                to_origin = pin.SE3(np.eye(3), pose.translation).inverse()
                jacobian = to_origin.toActionMatrix() @ world
            result.append(jacobian[:, self.order])
        return np.array(result).reshape(len(result), 6, self.n)

    def _joint_jacobian(self, joint: int, axes: Any) -> Array:
        """[linear; angular] of a joint frame, (6, n); the binding drops an axis where n = 1."""
        jacobian = pin.getJointJacobian(self.model, self.data, joint, axes)
        return np.asarray(jacobian).reshape(6, self.model.nv)

    def _external_forces(self, q: Array, loads: Array) -> Any:
        """Loads (n_loads, 6) in base axes as wrenches in the joint frames."""
        pin.forwardKinematics(self.model, self.data, self._q_to_pin(q))
        forces = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for load, wrench in zip(self.description.loads, loads, strict=True):
            seat = self.seats[load.link]
            arm = seat.pose.act(np.array([self._number(x) for x in load.point]))
            turn = self.data.oMi[seat.joint].rotation.T
            force, moment = turn @ wrench[:3], turn @ wrench[3:]
            forces[seat.joint] += pin.Force(force, moment + np.cross(arm, force))
        vector = pin.StdVec_Force()
        for force in forces:
            vector.append(force)
        return vector

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array, *, loads: Array) -> Array:
        """Joint torques, (n,); what Pinocchio leaves out of them is added."""
        forces = self._external_forces(q, loads)
        states = self._states(q, qd, qdd)
        rigid = pin.rnea(self.model, self.data, *states, forces)[self.order]
        return rigid + self.terms.springs(self.coordinates(q)) + self.terms.losses(qd)

    def mass_matrix(self, q: Array) -> Array:
        """M, both triangles."""
        upper = np.triu(pin.crba(self.model, self.data, self._q_to_pin(q)))
        return self._from_pin(upper + np.triu(upper, 1).T)

    def coriolis_matrix(self, q: Array, qd: Array) -> Array:
        """Some C with C qd = Coriolis torques and Mdot - 2C skew; not unique."""
        args = self._states(q, qd)
        return self._from_pin(pin.computeCoriolisMatrix(self.model, self.data, *args))

    def gravity_forces(self, q: Array) -> Array:
        """Torques that hold the robot, (n,)."""
        gravity = pin.computeGeneralizedGravity(self.model, self.data, self._q_to_pin(q))
        return gravity[self.order]

    def kinetic_energy(self, q: Array, qd: Array) -> float:
        """J; the rotors by hand, for Pinocchio 4.1 forgets those of `RevoluteUnaligned` here."""
        args = self._states(q, qd)
        rotors = self.model.armature.copy()
        self.model.armature[:] = 0.0
        bodies = float(pin.computeKineticEnergy(self.model, self.data, *args))
        self.model.armature[:] = rotors
        return bodies + 0.5 * float(rotors @ args[1] ** 2)

    def potential_energy(self, q: Array) -> float:
        """J, zero at the base origin, with the springs."""
        weight = pin.computePotentialEnergy(self.model, self.data, self._q_to_pin(q))
        q = self.coordinates(q)
        return float(weight + 0.5 * self.terms.springs(q) @ (q - self.terms.rest))

    def inverse_dynamics_derivatives(
        self, q: Array, qd: Array, qdd: Array, *, loads: Array
    ) -> tuple[Array, Array, Array, Array]:
        """tau, dtau/dq, dtau/dqd, dtau/dqdd."""
        tau = self.inverse_dynamics(q, qd, qdd, loads=loads)
        forces = self._external_forces(q, loads)
        states = self._states(q, qd, qdd)
        pin.computeRNEADerivatives(self.model, self.data, *states, forces)
        by_q, by_qd = self.data.dtau_dq - self.load_turning(q, loads), self.data.dtau_dv
        by_q = self._from_pin(by_q) + np.diag(self.terms.stiffness)
        by_qd = self._from_pin(by_qd) + np.diag(self.terms.loss_slopes(qd))
        return tau, by_q, by_qd, self.mass_matrix(q)

    def forward_dynamics(self, q: Array, qd: Array, tau: Array, *, loads: Array) -> Array:
        """Accelerations by articulated bodies, (n,)."""
        pushed, forces = self._pushed(q, qd, tau), self._external_forces(q, loads)
        states = self._states(q, qd)
        return pin.aba(self.model, self.data, *states, pushed, forces)[self.order]

    def forward_dynamics_derivatives(
        self, q: Array, qd: Array, tau: Array, *, loads: Array
    ) -> tuple[Array, Array, Array, Array]:
        """qdd, dqdd/dq, dqdd/dqd, dqdd/dtau."""
        qdd = self.forward_dynamics(q, qd, tau, loads=loads)
        pushed, forces = self._pushed(q, qd, tau), self._external_forces(q, loads)
        states = self._states(q, qd)
        pin.computeABADerivatives(self.model, self.data, *states, pushed, forces)
        by_q, by_qd, upper = (
            x.copy() for x in (self.data.ddq_dq, self.data.ddq_dv, np.triu(self.data.Minv))
        )
        inverse = upper + np.triu(upper, 1).T
        by_q += inverse @ self.load_turning(q, loads)
        inverse = self._from_pin(inverse)
        by_q = self._from_pin(by_q) - inverse * self.terms.stiffness
        by_qd = self._from_pin(by_qd) - inverse * self.terms.loss_slopes(qd)
        return qdd, by_q, by_qd, inverse

    def _pushed(self, q: Array, qd: Array, tau: Array) -> Array:
        """Torques without springs, damping and friction, in Pinocchio's order."""
        terms = self.terms
        return self._to_pin(tau - terms.springs(self.coordinates(q)) - terms.losses(qd))

    def load_turning(self, q: Array, loads: Array) -> Array:
        """Return the part of -dtau/dq that is due to loads constant in base axes, (nv, nv).

        Pinocchio holds external forces constant in the joint frames."""
        total = np.zeros((self.model.nv, self.model.nv))
        pin.computeJointJacobians(self.model, self.data, self._q_to_pin(q))
        for load, wrench in zip(self.description.loads, loads, strict=True):
            seat = self.seats[load.link]
            if seat.joint == 0:
                continue
            local = self._joint_jacobian(seat.joint, pin.LOCAL)
            turn = self.data.oMi[seat.joint].rotation.T
            arm = seat.pose.act(np.array([self._number(x) for x in load.point]))
            force = -np.cross(local[3:], turn @ wrench[:3], axis=0)
            moment = -np.cross(local[3:], turn @ wrench[3:], axis=0)
            turning = np.concatenate([force, moment + np.cross(arm, force.T).T])
            total += local.T @ turning
        return total

    # ---------------------------------------------------------------------- joint wrenches

    def joint_wrenches(self, q: Array, qd: Array, qdd: Array, *, loads: Array) -> Array:
        """[force; moment] exerted through each joint on the link, link axes, (n, 6)."""
        self.inverse_dynamics(q, qd, qdd, loads=loads)  # fills data.f and data.oMi
        rows = []
        for joint, name in self._coordinates():
            number = self.model.getJointId(name)
            here = self.data.oMi[number]
            frame = here * self._behind(joint, number)
            origin = frame.translation
            if joint.dh is not None and joint.dh.convention == "standard":
                carrier = self.seats[joint.parent]
                origin = (self.data.oMi[carrier.joint] * carrier.pose).act(self._before(joint))
            wrench = here.act(self.data.f[number])  # about the base origin, base axes
            moment = wrench.angular - np.cross(origin, wrench.linear)
            turn = frame.rotation.T
            rows.append(np.concatenate([turn @ wrench.linear, turn @ moment]))
        return np.array(rows).reshape(len(rows), 6)

    def _coordinates(self) -> list[tuple[Any, str]]:
        """The joint and the name of every coordinate, or joint on a manifold, in file order."""
        return [
            (joint, name)
            for joint in self.description.joints
            for name in ([joint.name] if joint.manifold else joint.coordinate_names)
        ]

    def _behind(self, joint: Any, number: int) -> Any:
        """The link frame in the frame of Pinocchio's joint `number`, the last of `joint` or not."""
        seat = self.seats[joint.link.name]
        return seat.pose if seat.joint == number else pin.SE3.Identity()

    def _before(self, joint: Any) -> Array:
        if joint.before is None:
            return np.zeros(3)
        return np.array([self._number(x) for x in joint.before.xyz])

    # ------------------------------------------------------------------------------ points

    def _point_seats(self) -> list[tuple[int, Any]]:
        """Pinocchio's joint that carries each point, and the point's frame in it."""
        seats = []
        for point in self.description.points:
            seat = self.seats[point.link]
            shift = pin.SE3(np.eye(3), np.array([self._number(x) for x in point.point]))
            seats.append((seat.joint, seat.pose * shift))
        return seats

    def point_motion(self, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration, base axes, 3 x (n_points, 3)."""
        states = self._states(q, qd, qdd)
        pin.forwardKinematics(self.model, self.data, *states)
        motion = np.zeros((3, len(self.description.points), 3))
        for i, (joint, pose) in enumerate(self._point_seats()):
            at = self.model, self.data, joint, pose, ALIGNED
            motion[0, i] = (self.data.oMi[joint] * pose).translation
            motion[1, i] = pin.getFrameVelocity(*at).linear
            motion[2, i] = pin.getFrameClassicalAcceleration(*at).linear
        return tuple(motion)

    def point_motion_derivatives(self, q: Array, qd: Array, qdd: Array) -> tuple[Array, ...]:
        """dx_dq, dv_dq, dv_dqd, da_dq, da_dqd, da_dqdd, each (n_points, 3, n)."""
        states = self._states(q, qd, qdd)
        pin.computeForwardKinematicsDerivatives(self.model, self.data, *states)
        slopes = np.zeros((6, len(self.description.points), 3, self.n))
        for i, (joint, pose) in enumerate(self._point_seats()):
            if joint == 0:
                continue
            at = self.model, self.data, joint, pose, ALIGNED
            parts = pin.getPointClassicAccelerationDerivatives(*at)
            v_q, a_q, a_qd, a_qdd = (x.reshape(3, -1)[:, self.order] for x in parts)
            # velocity per joint velocity = position per coordinate = acceleration per acceleration
            slopes[:, i] = a_qdd, v_q, a_qdd, a_q, a_qd, a_qdd
        return tuple(slopes)

    # ---------------------------------------------------------------------- centre of mass

    def _of_all(self, function: Any, shape: tuple[int, ...], *state: Array) -> Array:
        """A function of all moving links; 0 where none of them has a mass."""
        if not sum(inertia.mass for inertia in list(self.model.inertias)[1:]) > 0.0:
            return np.zeros(shape)
        found = function(self.model, self.data, *self._states(*state))
        found = np.array(getattr(found, "vector", found)).reshape(shape)
        return found[:, self.order] if len(shape) == 2 else found

    def center_of_mass(self, q: Array) -> Array:
        """Of all moving links, (3,)."""
        return self._of_all(pin.centerOfMass, (3,), q)

    def center_of_mass_jacobian(self, q: Array) -> Array:
        """(3, n)"""
        return self._of_all(pin.jacobianCenterOfMass, (3, self.n), q)

    def centroidal_momentum(self, q: Array, qd: Array) -> Array:
        """[linear; angular about the centre of mass], (6,)."""
        return self._of_all(pin.computeCentroidalMomentum, (6,), q, qd)

    def centroidal_momentum_matrix(self, q: Array) -> Array:
        """(6, n)"""
        return self._of_all(pin.computeCentroidalMap, (6, self.n), q)

    def centroidal_momentum_rate(self, q: Array, qd: Array, qdd: Array) -> Array:
        """(6,)"""
        return self._of_all(pin.computeCentroidalMomentumTimeVariation, (6,), q, qd, qdd)

    # ------------------------------------------------------------------------- link frames

    def link_motion(self, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array]:
        """Velocities and accelerations of the link frames, base axes, 2 x (n_links, 6)."""
        states = self._states(q, qd, qdd)
        pin.forwardKinematics(self.model, self.data, *states)
        motion = np.zeros((2, len(self.description.joints), 6))
        for i, joint in enumerate(self.description.joints):
            seat = self.seats[joint.link.name]
            at = self.model, self.data, seat.joint, seat.pose, ALIGNED
            motion[0, i] = pin.getFrameVelocity(*at).vector
            motion[1, i] = pin.getFrameClassicalAcceleration(*at).vector
        return tuple(motion)


def _joint_model(kind: str, axis: Array) -> Any:
    if kind == "revolute":
        return pin.JointModelRZ() if (axis == Z).all() else pin.JointModelRevoluteUnaligned(axis)
    return pin.JointModelPZ() if (axis == Z).all() else pin.JointModelPrismaticUnaligned(axis)
