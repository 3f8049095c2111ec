"""`keep_out` of a task file: spheres on links, obstacles, pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.description.reading import Node, Scalar
from symgen.description.schema import seen
from symgen.description.wording import KeyPath
from symgen.planning.obstacles import Ball, Box, HalfSpace, Obstacle, Sphere
from symgen.planning.task import KeepOut
from symgen.planning.values import Values

Array = NDArray[np.float64]


def read_keep_out(values: Values, module: Any, node: Node | None) -> KeepOut:
    """Spheres on links, what they keep out of, and pairs of them."""
    if node is None:
        return KeepOut()
    path = ("keep_out",)
    known = ("spheres", "obstacles", "pairs", "margin")
    given = values.table(node, path, known, "spheres: on links, and obstacles:")
    balls = tuple(
        _ball(values, module, item, ("keep_out", "spheres", k), k)
        for k, item in enumerate(
            values.items(given.get("spheres"), (*path, "spheres"), "spheres on links")
        )
    )
    obstacles = tuple(
        _obstacle(values, item, ("keep_out", "obstacles", k), k)
        for k, item in enumerate(
            values.items(given.get("obstacles"), (*path, "obstacles"), "obstacles")
        )
    )
    names = tuple(ball.name for ball in balls)
    pairs = []
    for k, item in enumerate(
        values.items(given.get("pairs"), (*path, "pairs"), "pairs of spheres")
    ):
        below: KeyPath = ("keep_out", "pairs", k)
        two = values.items(item, below, "two spheres")
        if len(two) != 2:
            values.fault(below, "expected the names of two spheres")
            continue
        first, second = (
            values.name(one, (*below, j), names, "sphere") for j, one in enumerate(two)
        )
        pairs.append((first, second))
    if not balls:
        values.fault(path, "no spheres on links: nothing keeps out")
    elif not obstacles and not pairs:
        values.fault(path, "neither obstacles nor pairs: there is nothing to keep out of")
    margin = values.number(given.get("margin"), (*path, "margin"))
    return KeepOut(balls, obstacles, tuple(pairs), margin)


def _ball(values: Values, module: Any, node: Node, path: KeyPath, k: int) -> Ball:
    known = ("name", "link", "center", "radius")
    given = values.table(node, path, known, "{link, center, radius}")
    link = values.name(given.get("link"), (*path, "link"), module.link_names, "link")
    name = given.get("name")
    if name is not None and not (isinstance(name, Scalar) and name.text):
        values.fault((*path, "name"), f"expected a name, found {seen(name)}")
        name = None
    centre = values.vector(given.get("center"), (*path, "center"), 3, np.zeros(3))
    if "radius" not in given:
        values.fault((*path, "radius"), "missing: the radius of the sphere (m)")
    radius = values.positive(given.get("radius"), (*path, "radius"), 1.0)
    text = name.text if isinstance(name, Scalar) else f"sphere {k + 1}"
    return Ball(text, link, centre, radius)


def _obstacle(values: Values, node: Node, path: KeyPath, k: int) -> Obstacle:
    known = ("name", "sphere", "radius", "box", "size", "rpy", "half_space", "normal")
    given = values.table(node, path, known, "a sphere, a box or a half_space")
    kinds = [kind for kind in ("sphere", "box", "half_space") if kind in given]
    name = given.get("name")
    text = name.text if isinstance(name, Scalar) else f"obstacle {k + 1}"
    if len(kinds) != 1:
        values.fault(path, "expected one of sphere, box, half_space: the centre, or a point")
        return Sphere(text, np.zeros(3), 1.0)
    kind = kinds[0]
    place = values.vector(given[kind], (*path, kind), 3, None)
    if kind == "sphere":
        if "radius" not in given:
            values.fault((*path, "radius"), "missing: the radius of the sphere (m)")
        return Sphere(text, place, values.positive(given.get("radius"), (*path, "radius"), 1.0))
    if kind == "half_space":
        normal = values.vector(given.get("normal"), (*path, "normal"), 3, None)
        length = float(np.linalg.norm(normal))
        if not length and "normal" in given:
            values.fault((*path, "normal"), "has no direction")
        return HalfSpace(text, place, normal / (length or 1.0))
    size = values.vector(given.get("size"), (*path, "size"), 3, None)
    if "size" in given and np.any(size <= 0):
        values.fault((*path, "size"), "edges are longer than 0 (m)")
    turn = rotation_of(values.vector(given.get("rpy"), (*path, "rpy"), 3, np.zeros(3)))
    return Box(text, place, size, turn)


def rotation_of(rpy: Array) -> Array:
    """The rotation matrix of fixed-axis angles about x, y, z, as in model files."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return np.array([
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ])  # fmt: skip
