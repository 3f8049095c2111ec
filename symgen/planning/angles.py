"""Limits of the angle of a link's axis from a direction, or of its frame from an attitude.

The limits are those of the cosine, which is smooth at angles of 0 and half a turn: R a . d of an
axis a, R the attitude of its link, from a direction d, and (trace(R R_0^T) - 1) / 2 of a frame from
the attitude R_0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgen.description.reading import Listing
from symgen.planning.placements import Carried, Combination
from symgen.planning.poses import axes_of, turn_from
from symgen.planning.quantities import Parameters
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


def cosines_of(module: Any, parameters: Parameters, angles: Sequence[Angle]) -> Combination:
    """Return the cosines of `angles`, (K, m)."""
    carried: list[Carried] = []
    matrix, constant = np.zeros((len(angles), 3 * len(angles), 3)), np.zeros(len(angles))
    for row, angle in enumerate(angles):
        first = len(carried)
        if angle.axis is None:
            carried += axes_of(angle.link)
            matrix[row, first : first + 3], constant[row] = turn_from(angle.rotation)[3], -0.5
        else:
            carried.append(Carried(angle.link + 1, angle.axis, is_point=False))
            matrix[row, first] = angle.toward
    labels = [angle.name for angle in angles]
    return Combination(module, parameters, carried, labels, matrix[:, : len(carried)], constant)


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
