"""Pinocchio's own reading of a URDF file, with coordinates in the order of a description.

A floating base is a free flyer, whose numbers are those of a `floating` joint with a quaternion
here; with `angles` it is three sliding and three turning joints.  Joints without limits, which
Pinocchio keeps as cosine and sine, are mapped.
Pinocchio gives joints that mimic others coordinates of their own; they are put where the others
place them, S q + o, with S and o from the XML itself."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from symgen.description import RobotDescription

Array = np.ndarray[Any, Any]
ROOT = "root"


class PinocchioUrdf:
    """Torques, masses and frames of a URDF text, for ONE sample at a time."""

    def __init__(
        self,
        text: str,
        description: RobotDescription,
        floating_base: bool = False,
        angles: bool = False,
    ):
        if floating_base:
            root = _three_angles() if angles else pin.JointModelFreeFlyer()
            self.model = pin.buildModelFromXML(text, root, ROOT)
        else:
            self.model = pin.buildModelFromXML(text)
        self.model.gravity.linear = np.array([0.0, 0.0, -9.81])
        for name in ("damping", "friction", "armature"):
            setattr(self.model, name, np.zeros(self.model.nv))
        self.data = self.model.createData()
        self.description = description
        self.places = self._places(description, floating_base)
        self.S, self.o = _coupling(text, description)
        self.n = self.S.shape[1]

    def _places(self, description: RobotDescription, floating_base: bool) -> Array:
        """Coordinate -> its place among Pinocchio's velocities."""
        places: list[int] = []
        for at, joint in enumerate(description.joints):
            name = joint.source.key.removeprefix("joint.")
            if floating_base and at == 0:
                name = ROOT
            if joint.coordinates:
                number = self.model.getJointId(name)
                assert number < self.model.njoints, name
                first = self.model.joints[number].idx_v
                places += range(first, first + joint.coordinates)
        assert len(places) == self.model.nv
        return np.array(places, dtype=int)

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """tau, (n,)."""
        states = self._configuration(q), self._to_pin(self.S @ qd), self._to_pin(self.S @ qdd)
        return self.S.T @ pin.rnea(self.model, self.data, *states)[self.places]

    def mass_matrix(self, q: Array) -> Array:
        """M, (n, n)."""
        M = np.triu(pin.crba(self.model, self.data, self._configuration(q)))
        M = M + np.triu(M, 1).T
        return self.S.T @ M[np.ix_(self.places, self.places)] @ self.S

    def frame(self, link: str, q: Array) -> Array:
        """The pose of a link that Pinocchio knows by this name, (4, 4)."""
        pin.framesForwardKinematics(self.model, self.data, self._configuration(q))
        return self.data.oMf[self.model.getFrameId(link, pin.BODY)].homogeneous

    def _to_pin(self, values: Array) -> Array:
        ordered = np.empty(self.model.nv)
        ordered[self.places] = values
        return ordered

    def _configuration(self, q: Array) -> Array:
        angles, poses = self._split(q)
        by_velocity, full = self._to_pin(self.S @ angles + self.o), np.empty(self.model.nq)
        for joint in self.model.joints[1:]:
            angle = by_velocity[joint.idx_v : joint.idx_v + joint.nv]
            if joint.idx_v in poses:
                full[joint.idx_q : joint.idx_q + joint.nq] = poses[joint.idx_v]
            elif joint.nq == joint.nv:
                full[joint.idx_q : joint.idx_q + joint.nq] = angle
            else:
                full[joint.idx_q : joint.idx_q + 2] = np.cos(angle[0]), np.sin(angle[0])
        return full

    def _split(self, q: Array) -> tuple[Array, dict[int, Array]]:
        """q with 0 for joints on manifolds, (n,), and their entries by Pinocchio's velocity."""
        angles, poses, place, row = [], {}, 0, 0
        for joint in self.description.joints:
            count = 0 if joint.mimic else len(joint.position_names)
            own, place = q[place : place + count], place + count
            if joint.manifold:
                poses[int(self.places[row])] = own
                own = np.zeros(joint.coordinates)
            angles += [*own]
            row += joint.coordinates
        return np.array(angles), poses


def _coupling(text: str, description: RobotDescription) -> tuple[Array, Array]:
    """S (N, n) and o (N,) of the joints in the order of a description."""
    names = [
        (joint.source.key.removeprefix("joint."), k)
        for joint in description.joints
        for k in range(joint.coordinates)
    ]
    mimics = {}
    for element in ElementTree.fromstring(text).iter("joint"):
        mimic = element.find("mimic")
        if mimic is not None and element.get("type") != "fixed":
            numbers = mimic.get("multiplier", "1"), mimic.get("offset", "0")
            mimics[element.get("name")] = (mimic.get("joint"), *map(float, numbers))
    own = [place for place in names if place[0] not in mimics]
    S, o = np.zeros((len(names), len(own))), np.zeros(len(names))
    for row, (name, k) in enumerate(names):
        factor, shift = 1.0, 0.0
        while name in mimics:
            name, multiplier, offset = mimics[name]
            factor, shift = factor * multiplier, shift + factor * offset
        S[row, own.index((name, k))], o[row] = factor, shift
    return S, o


def _three_angles() -> pin.JointModel:
    """Translations x, y, z, then rotations about z, y, x."""
    joint = pin.JointModelComposite()
    for part in (
        pin.JointModelPX(), pin.JointModelPY(), pin.JointModelPZ(),
        pin.JointModelRZ(), pin.JointModelRY(), pin.JointModelRX(),
    ):  # fmt: skip
        joint.addJoint(part)
    return joint
