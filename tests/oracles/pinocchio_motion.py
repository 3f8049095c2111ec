"""Joint wrenches, motion of points, momentum and regressor by Pinocchio, for `PinocchioRobot`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

Array = np.ndarray[Any, Any]
ALIGNED = pin.LOCAL_WORLD_ALIGNED


class PinocchioMotion:
    """Functions of a generated module, for ONE sample at a time."""

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
        states = [self._q_to_pin(q), *(self._to_pin(x) for x in (qd, qdd))]
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
        states = [self._q_to_pin(q), *(self._to_pin(x) for x in (qd, qdd))]
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

    def _has_mass(self) -> bool:
        return sum(inertia.mass for inertia in list(self.model.inertias)[1:]) > 0.0

    def center_of_mass(self, q: Array) -> Array:
        """Of all moving links, (3,)."""
        if not self._has_mass():
            return np.zeros(3)
        return np.array(pin.centerOfMass(self.model, self.data, self._q_to_pin(q)))

    def center_of_mass_jacobian(self, q: Array) -> Array:
        """(3, n)"""
        if not self._has_mass():
            return np.zeros((3, self.n))
        jacobian = pin.jacobianCenterOfMass(self.model, self.data, self._q_to_pin(q))
        return np.asarray(jacobian).reshape(3, self.n)[:, self.order]

    def centroidal_momentum(self, q: Array, qd: Array) -> Array:
        """[linear; angular about the centre of mass], (6,)."""
        if not self._has_mass():
            return np.zeros(6)
        states = [self._q_to_pin(q), self._to_pin(qd)]
        return pin.computeCentroidalMomentum(self.model, self.data, *states).vector.copy()

    def centroidal_momentum_matrix(self, q: Array) -> Array:
        """(6, n)"""
        if not self._has_mass():
            return np.zeros((6, self.n))
        matrix = pin.computeCentroidalMap(self.model, self.data, self._q_to_pin(q))
        return np.asarray(matrix).reshape(6, self.n)[:, self.order]

    def centroidal_momentum_rate(self, q: Array, qd: Array, qdd: Array) -> Array:
        """(6,)"""
        if not self._has_mass():
            return np.zeros(6)
        states = [self._q_to_pin(q), *(self._to_pin(x) for x in (qd, qdd))]
        found = pin.computeCentroidalMomentumTimeVariation(self.model, self.data, *states)
        return found.vector.copy()

    # ------------------------------------------------------------------------- link frames

    def link_motion(self, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array]:
        """Velocities and accelerations of the link frames, base axes, 2 x (n_links, 6)."""
        states = [self._q_to_pin(q), *(self._to_pin(x) for x in (qd, qdd))]
        pin.forwardKinematics(self.model, self.data, *states)
        motion = np.zeros((2, len(self.description.joints), 6))
        for i, joint in enumerate(self.description.joints):
            seat = self.seats[joint.link.name]
            at = self.model, self.data, seat.joint, seat.pose, ALIGNED
            motion[0, i] = pin.getFrameVelocity(*at).vector
            motion[1, i] = pin.getFrameClassicalAcceleration(*at).vector
        return tuple(motion)

    # --------------------------------------------------------------------------- regressor

    def regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        """(n, 10 n_joints), parameters about the origins of the link frames."""
        states = [self._q_to_pin(q), *(self._to_pin(x) for x in (qd, qdd))]
        whole = pin.computeJointTorqueRegressor(self.model, self.data, *states)
        whole = np.asarray(whole).reshape(self.n, 10 * len(self._coordinates()))[self.order]
        columns = []
        for joint, name in self._coordinates():
            number = self.model.getJointId(name)
            block = whole[:, 10 * (number - 1) : 10 * number]
            columns.append(block @ _change_of_frame(self._behind(joint, number).homogeneous))
        return np.concatenate([np.zeros((self.n, 0)), *columns], axis=1)


def _change_of_frame(pose: Array) -> Array:
    """Parameters about the frame ahead from those about the frame behind: a 10 x 10 matrix.

    [[S, m c], [m c', m]] with S the second moments of mass, trace(S) 1 - S the inertia, turns as
    T ... T' by the pose T.
    """
    matrix = np.zeros((10, 10))
    for k, (m, x, y, z, xx, xy, yy, xz, yz, zz) in enumerate(np.eye(10)):
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        moments = np.zeros((4, 4))
        moments[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia
        moments[:3, 3] = moments[3, :3] = x, y, z
        moments[3, 3] = m
        there = pose @ moments @ pose.T
        turned = np.trace(there[:3, :3]) * np.eye(3) - there[:3, :3]
        entries = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
        matrix[:, k] = [there[3, 3], *there[:3, 3], *(turned[entry] for entry in entries)]
    return matrix
