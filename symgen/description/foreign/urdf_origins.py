"""Attitudes in URDF: roll, pitch and yaw, or the quaternion of URDF 1.1."""

from __future__ import annotations

from symgen.description.foreign.rotations import from_quaternion, to_rpy
from symgen.description.foreign.xml import Element, Faults, number, values
from symgen.description.reading import Scalar


def attitude(faults: Faults, origin: Element | None, key: str) -> list[Scalar] | None:
    """Roll, pitch and yaw of an <origin> (rad), of its `rpy` or its `quat_xyzw`; None for none."""
    rpy = faults.numbers(origin, "rpy", key, 3)
    quaternion = faults.numbers(origin, "quat_xyzw", key, 4)
    if origin is None or quaternion is None:
        return rpy
    if "rpy" in origin.attributes:
        faults.add(origin, key, "rpy and quat_xyzw: an orientation is given once")
        return None
    x, y, z, w = values(quaternion)
    try:
        angles = to_rpy(from_quaternion((w, x, y, z)))
    except ValueError:
        faults.add(origin, key, "quat_xyzw: the quaternion is zero, and has no direction")
        return None
    return [number(angle, origin.line) for angle in angles]
