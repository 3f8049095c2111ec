"""Points and orientations of links that a task demands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symgen.planning.quantities import Motion, Parameters, Quantity, skew, turn
from symgen.planning.values import Entries, Value
from symgen.support.arrays import Array


@dataclass(frozen=True)
class Pose:
    """A required position (3,) of a point: of the model (`point`), or `offset` in a link's frame.

    `rotation` (3, 3) is the orientation of the link's frame, None where it is free.
    """

    name: str
    position: Array
    point: int | None = None
    link: int = 0
    offset: Array = field(default_factory=lambda: np.zeros(3))
    rotation: Array | None = None


class Positions(Quantity):
    """The point of a pose in the base frame: x, y, z, and with a rotation the orientation.

    The rows of the orientation are sin(angle) axis of the remaining rotation to `rotation`, 0 there
    and at half a turn, and cos(angle), by which the two differ.
    """

    orders = 1
    nonlinear = 1

    def __init__(self, module: Any, parameters: Parameters, pose: Pose) -> None:
        super().__init__(module, parameters)
        self.pose = pose
        turned = pose.rotation is not None
        self.labels = ("x", "y", "z", *(("rx", "ry", "rz", "cos") if turned else ()))

    def jacobian(self, motion: Motion) -> tuple[Array, Array]:
        """(K, m), (K, 1, m, n)."""
        pose, q, zero = self.pose, motion.q, np.zeros_like(motion.qd)
        if pose.point is not None:
            position = self.module.point_motion(q, zero, zero, **self.keywords)[0]
            slopes = self.module.point_motion_derivatives(q, zero, zero, **self.keywords)[0]
            return position[..., pose.point, :], slopes[..., None, pose.point, :, :]
        name = self.module.link_names[pose.link]
        frame = np.asarray(self.module.frame_pose(name, q, **self.keywords))
        jacobian = np.asarray(self.module.frame_jacobian(name, q, **self.keywords))
        rotation, angular = frame[..., :3, :3], jacobian[..., 3:, :]
        arm = rotation @ pose.offset
        value = frame[..., :3, 3] + arm
        slopes = jacobian[..., :3, :] - skew(arm) @ angular
        if pose.rotation is not None:
            left = rotation @ pose.rotation.T  # sum of r_k s_k^T, r of the frame, s of the target
            trace = np.trace(left, axis1=-2, axis2=-1)
            vector = turn(left)  # half the sum of r_k x s_k
            cosine = 0.5 * (trace - 1)
            by_turn = 0.5 * (left - trace[..., None, None] * np.eye(3))
            value = np.concatenate([value, vector, cosine[..., None]], axis=-1)
            by_cosine = np.einsum("...a,...aj->...j", vector, angular)[..., None, :]
            slopes = np.concatenate([slopes, by_turn @ angular, by_cosine], axis=-2)
        return value, slopes[..., None, :, :]


def read_pose(entries: Entries, module: Any, *, placed: bool = True) -> Pose | None:
    """Read point: or link:, with offset: and rpy: of links, and position: if it is `placed`."""
    if "point" not in entries and "link" not in entries:
        for key in ("position", "rpy", "offset"):
            if key in entries:
                entries[key].fault("of which point? give 'point' or 'link', too")
        return None
    if "point" in entries and "link" in entries:
        entries["link"].fault("give either a point of the model or a link, not both")
        return None
    position = entries["position"].vector(3) if placed else np.zeros(3)
    if "point" in entries:
        for key in ("rpy", "offset"):
            if key in entries:
                entries[key].fault("a point has none: it goes with 'link'")
        point = entries["point"].name(module.point_names, "point")
        return Pose(module.point_names[point] if module.point_names else "", position, point)
    link = entries["link"].name(module.link_names, "link")
    offset = entries["offset"].vector(3, np.zeros(3))
    rotation = entries["rpy"].rotation() if "rpy" in entries else None
    return Pose(module.link_names[link], position, None, link, offset, rotation)


def read_point(value: Value, module: Any) -> Pose | None:
    """Read a point of the model, or of a link: a pose without a position."""
    expected = "{point: NAME}, or {link: NAME, offset: [x, y, z]}"
    if value.node is None:
        value.fault(f"missing: {expected}")
        return None
    entries = value.table(("point", "link", "offset"), "{point: NAME}")
    if not entries and not value.is_broken:
        value.fault(f"expected {expected}")
    return read_pose(entries, module, placed=False)
