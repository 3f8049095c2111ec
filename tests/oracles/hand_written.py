"""One robot per frame style, and two of composite joints, their 4x4 matrices written by hand.

Nothing is imported from symgen.  Each style has a model file (`TEXT`) and a function that composes
the pose of every link from elementary matrices; mass matrix and gravity forces follow from the
poses alone, by complex step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
STEP = 1e-30


def rx(a: Any) -> Array:
    c, s = np.cos(a), np.sin(a)
    return np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])


def ry(a: Any) -> Array:
    c, s = np.cos(a), np.sin(a)
    return np.array([[c, 0, s, 0], [0, 1, 0, 0], [-s, 0, c, 0], [0, 0, 0, 1]])


def rz(a: Any) -> Array:
    c, s = np.cos(a), np.sin(a)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def shift(x: Any, y: Any, z: Any) -> Array:
    return np.array([[1, 0, 0, x], [0, 1, 0, y], [0, 0, 1, z], [0, 0, 0, 1]])


@dataclass(frozen=True)
class HandWritten:
    """A robot by hand: `poses(q)` lists the link frames in the base frame; one sample at a time."""

    text: str
    poses: Callable[[Array], list[Array]]
    masses: tuple[float, ...]
    coms: tuple[tuple[float, float, float], ...]
    inertias: tuple[tuple[float, ...], ...]  # xx yy zz xy xz yz
    gravity: tuple[float, float, float]
    n: int

    def forward_kinematics(self, q: Array) -> Array:
        return np.array(self.poses(q))

    def potential_energy(self, q: Array) -> Any:
        heights = (
            -m * (T @ [*c, 1.0])[:3] @ np.array(self.gravity)
            for m, c, T in zip(self.masses, self.coms, self.poses(q), strict=True)
        )
        return sum(heights)

    def gravity_forces(self, q: Array) -> Array:
        steps = 1j * STEP * np.eye(self.n)
        return np.array([self.potential_energy(q + step).imag / STEP for step in steps])

    def mass_matrix(self, q: Array) -> Array:
        """Velocities of centres of mass and angular velocities per unit joint velocity."""
        poses = self.poses(q)
        slopes = [
            [T.imag / STEP for T in self.poses(q + step)] for step in 1j * STEP * np.eye(self.n)
        ]
        mass = np.zeros((self.n, self.n))
        bodies = zip(self.masses, self.coms, self.inertias, strict=True)
        for i, (m, c, entries) in enumerate(bodies):
            xx, yy, zz, xy, xz, yz = entries
            local = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            rotation = poses[i][:3, :3]
            inertia = rotation @ local @ rotation.T
            v = np.array([(slope[i] @ [*c, 1.0])[:3] for slope in slopes])
            w = np.array([_vee(slope[i][:3, :3] @ rotation.T) for slope in slopes])
            mass += m * v @ v.T + w @ inertia @ w.T
        return mass


def _vee(matrix: Array) -> Array:
    return np.array([matrix[2, 1], matrix[0, 2], matrix[1, 0]])


_MASSES = (1.5, 0.8, 0.6)
_COMS = ((0.1, -0.05, 0.02), (-0.2, 0.03, 0.1), (0.05, 0.06, -0.07))
_INERTIAS = (
    (0.03, 0.04, 0.05, 0.002, -0.003, 0.004),
    (0.02, 0.06, 0.05, -0.001, 0.002, 0.003),
    (0.01, 0.02, 0.015, 0.001, -0.002, -0.001),
)
_GRAVITY = (0.3, -9.7, 1.1)
_HEAD = "symgen: 1\nname: by_hand\ngravity: [0.3, -9.7, 1.1]\n"


def _link(i: int) -> str:
    xx, yy, zz, xy, xz, yz = _INERTIAS[i]
    entries = f"xx: {xx}, yy: {yy}, zz: {zz}, xy: {xy}, xz: {xz}, yz: {yz}"
    return (
        f"    link: {{name: link{i}, mass: {_MASSES[i]}, com: {list(_COMS[i])}, "
        f"inertia: {{{entries}}}}}\n"
    )


# Standard (distal) DH: revolute, prismatic, and a revolute branch that leaves by a `before`.

STANDARD = HandWritten(
    text=_HEAD
    + "convention: standard\njoints:\n"
    + "  - name: j0\n    type: revolute\n    dh: {theta: 0.2, d: 0.3, a: 0.4, alpha: 0.5}\n"
    + _link(0)
    + "  - name: j1\n    type: prismatic\n    dh: {theta: -0.7, d: 0.1, a: 0.2, alpha: -1.1}\n"
    + _link(1)
    + "  - name: j2\n    type: revolute\n    parent: j0\n"
    + "    before: {xyz: [0.1, 0.2, 0.3], rpy: [0.4, -0.5, 0.6]}\n"
    + "    dh: {theta: 0, d: 0.15, a: -0.25, alpha: pi/2}\n"
    + _link(2),
    poses=lambda q: _standard(*q),
    masses=_MASSES, coms=_COMS, inertias=_INERTIAS, gravity=_GRAVITY, n=3,
)  # fmt: skip


def _standard(q0: Any, q1: Any, q2: Any) -> list[Array]:
    t0 = rz(0.2 + q0) @ shift(0, 0, 0.3) @ shift(0.4, 0, 0) @ rx(0.5)
    t1 = t0 @ rz(-0.7) @ shift(0, 0, 0.1 + q1) @ shift(0.2, 0, 0) @ rx(-1.1)
    before = shift(0.1, 0.2, 0.3) @ rz(0.6) @ ry(-0.5) @ rx(0.4)
    t2 = t0 @ before @ rz(q2) @ shift(0, 0, 0.15) @ shift(-0.25, 0, 0) @ rx(np.pi / 2)
    return [t0, t1, t2]


# Modified (proximal, Craig) DH: the same joints in the other convention.

MODIFIED = HandWritten(
    text=_HEAD
    + "convention: modified\njoints:\n"
    + "  - name: j0\n    type: revolute\n    dh: {theta: 0.2, d: 0.3, a: 0.4, alpha: 0.5}\n"
    + _link(0)
    + "  - name: j1\n    type: prismatic\n    dh: {theta: -0.7, d: 0.1, a: 0.2, alpha: -1.1}\n"
    + _link(1)
    + "  - name: j2\n    type: revolute\n    parent: j0\n"
    + "    before: {xyz: [0.1, 0.2, 0.3], rpy: [0.4, -0.5, 0.6]}\n"
    + "    dh: {theta: 0, d: 0.15, a: -0.25, alpha: pi/2}\n"
    + _link(2),
    poses=lambda q: _modified(*q),
    masses=_MASSES, coms=_COMS, inertias=_INERTIAS, gravity=_GRAVITY, n=3,
)  # fmt: skip


def _modified(q0: Any, q1: Any, q2: Any) -> list[Array]:
    t0 = rx(0.5) @ shift(0.4, 0, 0) @ rz(0.2 + q0) @ shift(0, 0, 0.3)
    t1 = t0 @ rx(-1.1) @ shift(0.2, 0, 0) @ rz(-0.7) @ shift(0, 0, 0.1 + q1)
    before = shift(0.1, 0.2, 0.3) @ rz(0.6) @ ry(-0.5) @ rx(0.4)
    t2 = t0 @ before @ rx(np.pi / 2) @ shift(-0.25, 0, 0) @ rz(q2) @ shift(0, 0, 0.15)
    return [t0, t1, t2]


# Origin and axis: about x, along -y, and about an oblique axis (3, 0, 4) / 5 of a branch.

ORIGIN = HandWritten(
    text=_HEAD
    + "joints:\n"
    + "  - name: j0\n    type: revolute\n"
    + "    origin: {xyz: [0.1, 0.2, 0.3], rpy: [0.4, -0.5, 0.6]}\n    axis: [1, 0, 0]\n"
    + _link(0)
    + "  - name: j1\n    type: prismatic\n    origin: {xyz: [0.2, 0, -0.1]}\n    axis: [0, -2, 0]\n"
    + _link(1)
    + "  - name: j2\n    type: revolute\n    parent: j0\n"
    + "    origin: {rpy: [0, pi/2, 0.3]}\n    axis: [3, 0, 4]\n"
    + _link(2),
    poses=lambda q: _origin(*q),
    masses=_MASSES, coms=_COMS, inertias=_INERTIAS, gravity=_GRAVITY, n=3,
)  # fmt: skip


def _origin(q0: Any, q1: Any, q2: Any) -> list[Array]:
    t0 = shift(0.1, 0.2, 0.3) @ rz(0.6) @ ry(-0.5) @ rx(0.4) @ rx(q0)
    t1 = t0 @ shift(0.2, 0, -0.1) @ shift(0, -q1, 0)
    # a rotation about an axis in the x-z plane: turn the axis into z, rotate, turn back
    tilt = np.arctan2(3, 4)
    t2 = t0 @ rz(0.3) @ ry(np.pi / 2) @ ry(tilt) @ rz(q2) @ ry(-tilt)
    return [t0, t1, t2]


# Joints of several coordinates, with axes of their own choice ...

SEVERAL = HandWritten(
    text=_HEAD
    + "joints:\n"
    + "  - name: j0\n    type: spherical\n    sequence: zxz\n"
    + "    origin: {xyz: [0.1, 0.2, 0.3], rpy: [0.4, -0.5, 0.6]}\n"
    + _link(0)
    + "  - name: j1\n    type: universal\n    axes: [z, x]\n    origin: {xyz: [0.2, 0, -0.1]}\n"
    + _link(1)
    + "  - name: j2\n    type: cylindrical\n    parent: j0\n"
    + "    origin: {rpy: [0, pi/2, 0.3]}\n    axis: [3, 0, 4]\n"
    + _link(2),
    poses=lambda q: _several(*q),
    masses=_MASSES, coms=_COMS, inertias=_INERTIAS, gravity=_GRAVITY, n=7,
)  # fmt: skip


def _several(a0: Any, a1: Any, a2: Any, b0: Any, b1: Any, c0: Any, c1: Any) -> list[Array]:
    t0 = shift(0.1, 0.2, 0.3) @ rz(0.6) @ ry(-0.5) @ rx(0.4) @ rz(a0) @ rx(a1) @ rz(a2)
    t1 = t0 @ shift(0.2, 0, -0.1) @ rz(b0) @ rx(b1)
    tilt = np.arctan2(3, 4)
    slide = shift(0.6 * c0, 0, 0.8 * c0)
    t2 = t0 @ rz(0.3) @ ry(np.pi / 2) @ slide @ ry(tilt) @ rz(c1) @ ry(-tilt)
    return [t0, t1, t2]


# ... and a free body with what the file leaves out.

FLOATING = HandWritten(
    text=_HEAD
    + "joints:\n"
    + "  - name: j0\n    type: floating\n    sequence: yxz\n"
    + "    origin: {xyz: [0.1, 0.2, 0.3], rpy: [0.4, -0.5, 0.6]}\n"
    + _link(0)
    + "  - name: j1\n    type: spherical\n    origin: {xyz: [0.2, 0, -0.1]}\n"
    + _link(1)
    + "  - name: j2\n    type: universal\n    parent: j0\n    origin: {rpy: [0, pi/2, 0.3]}\n"
    + _link(2),
    poses=lambda q: _floating(*q),
    masses=_MASSES, coms=_COMS, inertias=_INERTIAS, gravity=_GRAVITY, n=11,
)  # fmt: skip


def _floating(*q: Any) -> list[Array]:
    x, y, z, a0, a1, a2, b0, b1, b2, c0, c1 = q
    turn = rz(0.6) @ ry(-0.5) @ rx(0.4)
    t0 = shift(0.1, 0.2, 0.3) @ turn @ shift(x, y, z) @ ry(a0) @ rx(a1) @ rz(a2)
    t1 = t0 @ shift(0.2, 0, -0.1) @ rz(b0) @ ry(b1) @ rx(b2)
    t2 = t0 @ rz(0.3) @ ry(np.pi / 2) @ rx(c0) @ ry(c1)
    return [t0, t1, t2]


HAND_WRITTEN = {
    "standard": STANDARD, "modified": MODIFIED, "origin": ORIGIN,
    "several": SEVERAL, "floating": FLOATING,
}  # fmt: skip
