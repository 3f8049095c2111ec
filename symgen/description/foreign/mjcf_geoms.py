"""What a body of MJCF weighs by its geoms: sphere, capsule, cylinder, ellipsoid, box.

| symbol | meaning |
| --- | --- |
| r, h | radius, half length along z (m) |
| a, b, c | half axes, or half edges, along x, y and z (m) |
| m | `mass` (kg), or the volume times `density` |

Half spheres have their centre of mass 3/8 r from the plane, and 83/320 m r^2 about axes through it
that are parallel to that plane.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from symgen.description.foreign.mjcf_settings import (
    FLAT,
    Reading,
    attributes_of,
    pose_of,
    rotation_to,
)
from symgen.description.foreign.rotations import Matrix, Pose, entries_of, product
from symgen.description.foreign.xml import Element, values
from symgen.description.wording import shown

WATER = 1000.0
"""Density (kg / m^3) of a geom that gives none."""
_WEIGHTLESS = ("plane", "hfield")
_WITH_ENDS = ("capsule", "cylinder", "box", "ellipsoid")

Solid = tuple[float, Callable[[float], Sequence[float]]]
"""A volume, and the principal moments that a mass has."""


@dataclass(frozen=True)
class Body:
    """Mass, centre of mass (3,), and tensor about it (3, 3), in the axes of the body's frame."""

    mass: float
    com: Matrix
    inertia: Matrix


def body_of_geoms(reading: Reading, body: Element, inherited: str, key: str) -> Body | None:
    """What the geoms of a body weigh together; None where there are none that do."""
    parts = list(_parts(reading, body, inherited, key))
    total = sum(mass for mass, _, _ in parts)
    if not total > 0.0:
        return None
    com = sum((mass * pose.at for mass, pose, _ in parts), np.zeros(3)) / total
    tensor = np.zeros((3, 3))
    for mass, pose, moments in parts:
        arm = pose.at - com
        turned = product(pose.turn, np.diag(moments), pose.turn.T)
        tensor += turned + mass * (float(arm @ arm) * np.eye(3) - np.outer(arm, arm))
    return Body(total, com, tensor)


def entries(body: Body) -> tuple[float, ...]:
    """xx, yy, zz, xy, xz, yz."""
    return entries_of(body.inertia)


def _parts(
    reading: Reading, body: Element, inherited: str, key: str
) -> Iterator[tuple[float, Pose, Sequence[float]]]:
    low, high = reading.groups
    for element in body.all("geom"):
        attributes = attributes_of(reading, element, inherited)
        geom = Element("geom", attributes, element.line)
        group = reading.faults.number(geom, "group", key)
        kind = attributes.get("type", "mesh" if "mesh" in attributes else "sphere")
        if kind in _WEIGHTLESS or not low <= (float(group.text) if group else 0.0) <= high:
            continue
        mass = reading.faults.number(geom, "mass", key)
        if mass is not None and float(mass.text) == 0.0:
            continue
        found = _solid(reading, geom, kind, key)
        if found is None:
            continue
        pose, (volume, moments) = found
        density = reading.faults.number(geom, "density", key)
        weight = volume * (float(density.text) if density else WATER)
        m = float(mass.text) if mass is not None else weight
        yield m, pose, moments(m)


def _solid(reading: Reading, geom: Element, kind: str, key: str) -> tuple[Pose, Solid] | None:
    """The pose of a geom in its body, and what it is."""
    if kind not in _SOLIDS or geom.attributes.get("shellinertia") == "true":
        what = f"a geom of type {shown(kind)}" if kind not in _SOLIDS else "shellinertia"
        message = f"{what}: its mass is not computed here; give <inertial>, or {FLAT}"
        reading.faults.add(geom, key, message)
        return None
    count, solid = _SOLIDS[kind]
    ends = reading.faults.numbers(geom, "fromto", key, 6) if kind in _WITH_ENDS else None
    words = geom.attributes.get("size", "").split()
    found = reading.faults.numbers(geom, "size", key, len(words)) if words else None
    size = values(found) if found else []
    pose = pose_of(reading, geom, key)
    if ends:
        start, end = np.array(values(ends[:3])), np.array(values(ends[3:]))
        length = float(np.linalg.norm(end - start)) / 2
        if length == 0.0:
            reading.faults.add(geom, key, "fromto: both ends are one point")
            return None
        pose = Pose((start + end) / 2, rotation_to(((start - end) / length).tolist()))
        size = [*size[:1] * (count - 1), length]
    if len(size) < count or min(size[:count]) <= 0.0:
        message = f"size: a {kind} needs {count} numbers above zero"
        reading.faults.add(geom, key, message)
        return None
    return pose, solid(*size[:count])


def _sphere(r: float) -> Solid:
    return 4 / 3 * math.pi * r**3, lambda m: [0.4 * m * r * r] * 3


def _capsule(r: float, h: float) -> Solid:
    tube, ball = math.pi * r * r * 2 * h, 4 / 3 * math.pi * r**3

    def moments(m: float) -> Sequence[float]:
        of_tube, of_ball = m * tube / (tube + ball), m * ball / (tube + ball)
        across = of_tube * (3 * r * r + 4 * h * h) / 12
        across += of_ball * (83 / 320 * r * r + (h + 3 / 8 * r) ** 2)
        return [across, across, of_tube * r * r / 2 + 0.4 * of_ball * r * r]

    return tube + ball, moments


def _cylinder(r: float, h: float) -> Solid:
    across = (3 * r * r + 4 * h * h) / 12
    return math.pi * r * r * 2 * h, lambda m: [m * across, m * across, m * r * r / 2]


def _ellipsoid(a: float, b: float, c: float) -> Solid:
    squares = [b * b + c * c, a * a + c * c, a * a + b * b]
    return 4 / 3 * math.pi * a * b * c, lambda m: [m / 5 * x for x in squares]


def _box(a: float, b: float, c: float) -> Solid:
    squares = [b * b + c * c, a * a + c * c, a * a + b * b]
    return 8 * a * b * c, lambda m: [m / 3 * x for x in squares]


_SOLIDS: dict[str, tuple[int, Callable[..., Solid]]] = {
    "sphere": (1, _sphere),
    "capsule": (2, _capsule),
    "cylinder": (2, _cylinder),
    "ellipsoid": (3, _ellipsoid),
    "box": (3, _box),
}
"""How many numbers a size has, and what they make."""
