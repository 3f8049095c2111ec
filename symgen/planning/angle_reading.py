"""`angles` among the limits of a task file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.description.reading import Listing, Node, Scalar
from symgen.description.wording import KeyPath
from symgen.planning.angles import Angle
from symgen.planning.obstacle_reading import rotation_of
from symgen.planning.values import Values

Array = NDArray[np.float64]

KEYS = ("name", "link", "axis", "toward", "rpy", "angle")


def read_angles(values: Values, module: Any, node: Node | None, path: KeyPath) -> tuple[Angle, ...]:
    """Limits of angles of links: of an axis from a direction, or of the frame from an attitude."""
    items = values.items(
        node, path, "angles, each {link, axis, toward, angle} or {link, rpy, angle}"
    )
    return tuple(_angle(values, module, item, (*path, k), k) for k, item in enumerate(items))


def _angle(values: Values, module: Any, node: Node, path: KeyPath, k: int) -> Angle:
    given = values.table(node, path, KEYS, "{link, axis, toward, angle} or {link, rpy, angle}")
    link = values.name(given.get("link"), (*path, "link"), module.link_names, "link")
    name = given.get("name")
    text = name.text if isinstance(name, Scalar) else f"{module.link_names[link]} {k + 1}"
    lower, upper = _range(values, given.get("angle"), (*path, "angle"))
    if "rpy" in given:
        for key in ("axis", "toward"):
            if key in given:
                values.fault((*path, key), "give either rpy, an attitude, or axis and toward")
        rpy = values.vector(given["rpy"], (*path, "rpy"), 3, None)
        return Angle(text, link, lower, upper, None, np.zeros(3), rotation_of(rpy))
    axis, toward = (_direction(values, given.get(key), (*path, key)) for key in ("axis", "toward"))
    return Angle(text, link, lower, upper, axis, toward, np.eye(3))


def _direction(values: Values, node: Node | None, path: KeyPath) -> Array:
    vector = values.vector(node, path, 3, None)
    length = float(np.linalg.norm(vector))
    if not length and not values.findings.broken(path) and node is not None:
        values.fault(path, "has no direction")
    return vector / (length or 1.0)


def _range(values: Values, node: Node | None, path: KeyPath) -> tuple[float, float]:
    """The largest angle, or [least, largest] (rad)."""
    whole = 0.0, np.pi
    if node is None:
        values.fault(path, "missing: the largest angle, such as 30*deg, or [least, largest]")
        return whole
    lower, upper = values.range(node, path)
    lower = lower if isinstance(node, Listing) else 0.0
    if values.findings.broken(path):
        return whole
    if lower < 0 or upper > np.pi + 1e-12 or (lower == 0 and upper == 0):
        values.fault(
            path, f"expected angles from 0 to pi (180*deg), found {lower:.6g}, {upper:.6g}"
        )
        return whole
    return lower, upper
