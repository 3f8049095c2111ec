"""Limits of the angle of a link's axis from a direction, or of its frame from an attitude.

The limits are those of the cosine, which is smooth at angles of 0 and half a turn.  With R the
attitude of the link, J its angular Jacobian, base frame:

    axis a, towards d       R a . d,                      d/dq = (R a x d)^T J
    frame, from R_0         (trace(R R_0^T) - 1) / 2,     d/dq = k^T J,

k being half the vector of the skew part of R R_0^T: minus the sine of the angle times its axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgen.description.reading import Listing
from symgen.planning.quantities import Motion, Parameters, Quantity, turn
from symgen.planning.values import Range, Value
from symgen.support.arrays import Array

LEAST = 0.1
"""Smallest sine by which cosines are divided, so that violations approximate angles in rad."""
KEYS = ("name", "link", "axis", "toward", "rpy", "angle")


@dataclass(frozen=True)
class Angle:
    """A limit of an angle (rad), `lower` to `upper`, of a link.

    The angle is between `axis` (3,) in the link's frame, a unit vector, and `toward` (3,) in the
    base frame; without an axis between the frame and `rotation` (3, 3).
    """

    name: str
    link: int
    lower: float
    upper: float
    axis: Array | None
    toward: Array
    rotation: Array

    @property
    def cosines(self) -> Range:
        """Limits of the cosine; infinite where no angle exceeds them."""
        least = np.cos(self.upper) if self.upper < np.pi else -np.inf
        return float(least), float(np.cos(self.lower)) if self.lower > 0 else np.inf

    @property
    def scale(self) -> float:
        """Slope of the cosine with respect to the angle at the narrower limit."""
        sines = [np.sin(x) for x in (self.lower, self.upper) if 0 < x < np.pi]
        return float(max(LEAST, *sines)) if sines else 1.0


class Cosines(Quantity):
    """Cosines of `angles`, (K, m)."""

    orders = 1
    nonlinear = 1

    def __init__(self, module: Any, parameters: Parameters, angles: Sequence[Angle]) -> None:
        super().__init__(module, parameters)
        self.angles = tuple(angles)
        self.labels = tuple(angle.name for angle in angles)

    def jacobian(self, motion: Motion) -> tuple[Array, Array]:
        """(K, m), (K, 1, m, n)."""
        poses = np.asarray(self.module.forward_kinematics(motion.q, **self.keywords))
        jacobians = np.asarray(self.module.jacobians(motion.q, **self.keywords))
        values, rows = [], []
        for angle in self.angles:
            R, J = poses[..., angle.link, :3, :3], jacobians[..., angle.link, 3:, :]
            if angle.axis is not None:
                axis = R @ angle.axis
                values.append(axis @ angle.toward)
                by_turn = np.cross(axis, angle.toward)
            else:
                left = R @ angle.rotation.T
                values.append(0.5 * (np.trace(left, axis1=-2, axis2=-1) - 1.0))
                by_turn = turn(left)
            rows.append(np.einsum("...a,...aj->...j", by_turn, J))
        return np.stack(values, axis=-1), np.stack(rows, axis=-2)[..., None, :, :]


def read_angles(value: Value, module: Any) -> tuple[Angle, ...]:
    """Read limits of angles of links."""
    items = value.items("angles, each {link, axis, toward, angle} or {link, rpy, angle}")
    return tuple(_angle(item, module, k) for k, item in enumerate(items, 1))


def _angle(value: Value, module: Any, number: int) -> Angle:
    entries = value.table(KEYS, "{link, axis, toward, angle} or {link, rpy, angle}")
    link = entries["link"].name(module.link_names, "link")
    name = entries["name"].text(f"{module.link_names[link]} {number}")
    lower, upper = _range(entries["angle"])
    if "rpy" in entries:
        for key in ("axis", "toward"):
            if key in entries:
                entries[key].fault("give either rpy, an attitude, or axis and toward")
        return Angle(name, link, lower, upper, None, np.zeros(3), entries["rpy"].rotation())
    axis, toward = (entries[key].direction() for key in ("axis", "toward"))
    return Angle(name, link, lower, upper, axis, toward, np.eye(3))


def _range(value: Value) -> Range:
    """Read the largest angle, or [least, largest] (rad)."""
    every = 0.0, np.pi
    if value.node is None:
        value.fault("missing: the largest angle, such as 30*deg, or [least, largest]")
        return every
    lower, upper = value.range()
    lower = lower if isinstance(value.node, Listing) else 0.0
    if value.is_broken:
        return every
    if lower < 0 or upper > np.pi + 1e-12 or (lower == 0 and upper == 0):
        value.fault(f"expected angles from 0 to pi (180*deg), found {lower:.6g}, {upper:.6g}")
        return every
    return lower, upper
