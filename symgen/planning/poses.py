"""Points and orientations of links that a task demands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symgen.planning.placements import Carried, Combination, point_of
from symgen.planning.quantities import Parameters, skew
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


def position_of(module: Any, parameters: Parameters, pose: Pose) -> Combination:
    """Return the point of a pose in the base frame: x, y, z, and with a rotation the orientation.

    The rows of the orientation are sin(angle) axis of the remaining rotation to `rotation`, 0 there
    and at half a turn, and cos(angle), by which the two differ.
    """
    carried = [carried_by(module, parameters, pose)]
    matrix, constant, labels = np.eye(3)[:, None], np.zeros(3), ["x", "y", "z"]
    if pose.rotation is not None:
        carried += axes_of(pose.link)
        turned = turn_from(pose.rotation)
        matrix = np.zeros((7, 4, 3))
        matrix[:3, 0], matrix[3:, 1:] = np.eye(3), turned
        constant, labels = np.array([*[0.0] * 6, -0.5]), [*labels, "rx", "ry", "rz", "cos"]
    return Combination(module, parameters, carried, labels, matrix, constant)


def carried_by(module: Any, parameters: Parameters, pose: Pose) -> Carried:
    """Return the point of a pose."""
    if pose.point is not None:
        return point_of(module, parameters, pose.point)
    return Carried(pose.link + 1, pose.offset)


def axes_of(link: int) -> list[Carried]:
    """Return the axes of the frame of a link, numbered from 0."""
    return [Carried(link + 1, axis, is_point=False) for axis in np.eye(3)]


def turn_from(rotation: Array) -> Array:
    """Return the map (4, 3, 3) of axes r_k of a frame to its turn from `rotation`, axes s_k.

    Its vector is half the sum of r_k x s_k, -sin(angle) axis; half the sum of r_k . s_k, less 1/2,
    is the cosine.
    """
    axes = rotation.T
    return 0.5 * np.concatenate([-skew(axes).transpose(1, 0, 2), axes[None]])


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
