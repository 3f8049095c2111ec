"""Pinocchio's own reading of a URDF file, with coordinates in the order of a description.

A floating base is built as three sliding and three turning joints, whose coordinates are those of a
`floating` joint here; joints without limits, which Pinocchio keeps as cosine and sine, are mapped.
Pinocchio gives joints that mimic others coordinates of their own; they are put where the others
place them, S q + o, with S and o from the XML itself.
"""

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

    def __init__(self, text: str, description: RobotDescription, floating_base: bool = False):
        if floating_base:
            self.model = pin.buildModelFromXML(text, _free_joint(), ROOT)
        else:
            self.model = pin.buildModelFromXML(text)
        self.model.gravity.linear = np.array([0.0, 0.0, -9.81])
        for name in ("damping", "friction", "armature"):
            setattr(self.model, name, np.zeros(self.model.nv))
        self.data = self.model.createData()
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
        by_velocity, full = self._to_pin(self.S @ q + self.o), np.empty(self.model.nq)
        for joint in self.model.joints[1:]:
            angle = by_velocity[joint.idx_v : joint.idx_v + joint.nv]
            if joint.nq == joint.nv:
                full[joint.idx_q : joint.idx_q + joint.nq] = angle
            else:
                full[joint.idx_q : joint.idx_q + 2] = np.cos(angle[0]), np.sin(angle[0])
        return full


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


def _free_joint() -> pin.JointModel:
    """Translations x, y, z, then rotations about z, y, x."""
    joint = pin.JointModelComposite()
    for part in (
        pin.JointModelPX(), pin.JointModelPY(), pin.JointModelPZ(),
        pin.JointModelRZ(), pin.JointModelRY(), pin.JointModelRX(),
    ):  # fmt: skip
        joint.addJoint(part)
    return joint
