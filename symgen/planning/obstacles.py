"""Distances of spheres on links from obstacles, which are spheres, boxes or half-spaces, and pairs.

Distances are signed, so that a motion through an obstacle is pushed out of it.  With the vector v
from the obstacle to the centre of the sphere:

    sphere        |v| - R - r
    half-space    normal . v - r
    box           distance of its surface, in its own axes, - r

Second derivatives of distances are those of |v|, (1 - n n^T) / |v| with n = v / |v|; across an edge
of a box in the plane across the edge, and 0 at a face.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from symgen.page.shapes import Faces, box, sheet, sphere
from symgen.planning.placements import Carried, Placed
from symgen.planning.quantities import Parameters
from symgen.planning.values import Value
from symgen.support.arrays import Array


@dataclass(frozen=True)
class Ball:
    """A sphere fixed to a link; centre in the link's frame (m)."""

    name: str
    link: int
    centre: Array
    radius: float


@dataclass(frozen=True)
class Sphere:
    """A sphere at rest; centre in the base frame (m)."""

    name: str
    centre: Array
    radius: float

    def distance(self, p: Array) -> tuple[Array, Array]:
        """Return distances (...) of points (..., 3) from the surface, and gradients (..., 3)."""
        length, slope = _length(p - self.centre)
        return length - self.radius, slope

    def curvature(self, p: Array) -> Array:
        """Return second derivatives of the distances of p (..., 3), (..., 3, 3)."""
        return _of_length(p - self.centre)

    def surface(self, centre: Array, size: float) -> tuple[Array, Faces]:
        """Return vertices (n, 3) in the base frame, and faces (k, 3)."""
        vertices, faces = sphere(self.radius)
        return vertices + self.centre, faces


@dataclass(frozen=True)
class HalfSpace:
    """The space behind a plane through `point`, whose `normal` points to the robots."""

    name: str
    point: Array
    normal: Array

    def distance(self, p: Array) -> tuple[Array, Array]:
        """Return distances (...) of p (..., 3) and their gradients (..., 3)."""
        return (p - self.point) @ self.normal, np.broadcast_to(self.normal, p.shape)

    def curvature(self, p: Array) -> Array:
        """0: (..., 3, 3)."""
        return np.zeros((*p.shape, 3))

    def surface(self, centre: Array, size: float) -> tuple[Array, Faces]:
        """Return a square of the plane, of edges `size`, below `centre` (3,)."""
        vertices, faces = sheet(size)
        across = np.cross(self.normal, np.eye(3)[int(np.argmin(np.abs(self.normal)))])
        across /= np.linalg.norm(across)
        axes = np.array([across, np.cross(self.normal, across), self.normal])
        return vertices @ axes + centre - self.distance(centre)[0] * self.normal, faces


@dataclass(frozen=True)
class Box:
    """A box of edges `size`, axes the columns of `rotation`, around `centre`."""

    name: str
    centre: Array
    size: Array
    rotation: Array

    def distance(self, p: Array) -> tuple[Array, Array]:
        """Return distances (...) of p (..., 3), inside from the nearest face, and gradients."""
        v = (p - self.centre) @ self.rotation
        beyond = np.abs(v) - self.size / 2
        length, outward = _length(np.maximum(beyond, 0.0))
        nearest = np.eye(3)[np.argmax(beyond, axis=-1)]
        slope = np.where((length > 0)[..., None], outward, nearest)
        distance = np.where(length > 0, length, np.max(beyond, axis=-1))
        return distance, (slope * np.sign(v)) @ self.rotation.T

    def curvature(self, p: Array) -> Array:
        """Return second derivatives of the distances of p (..., 3), (..., 3, 3)."""
        v = (p - self.centre) @ self.rotation
        outside = np.maximum(np.abs(v) - self.size / 2, 0.0) * np.sign(v)
        across = (outside != 0)[..., :, None] & (outside != 0)[..., None, :]
        return np.asarray(self.rotation @ (_of_length(outside) * across) @ self.rotation.T)

    def surface(self, centre: Array, size: float) -> tuple[Array, Faces]:
        """Return vertices (n, 3) in the base frame, and faces (k, 3)."""
        vertices, faces = box(self.size)
        return vertices @ self.rotation.T + self.centre, faces


def _length(v: Array) -> tuple[Array, Array]:
    """Return lengths (...) of vectors (..., 3), and gradients (..., 3)."""
    length = np.linalg.norm(v, axis=-1)
    return length, v / np.maximum(length, 1e-12)[..., None]


def _of_length(v: Array) -> Array:
    """Return second derivatives of lengths, (..., 3, 3)."""
    length, n = _length(v)
    across = np.eye(3) - n[..., :, None] * n[..., None, :]
    return np.asarray(across / np.maximum(length, 1e-12)[..., None, None])


Obstacle = Sphere | HalfSpace | Box


@dataclass(frozen=True)
class KeepOut:
    """Spheres on links, their obstacles, pairs of them that stay apart, and a margin (m)."""

    balls: tuple[Ball, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()
    margin: float = 0.0

    @property
    def acts(self) -> bool:
        """Whether there is a distance to keep."""
        return bool(self.balls and (self.obstacles or self.pairs))


class Distances(Placed):
    """Distances (m) of all balls from all obstacles, and between the balls of pairs, (K, m)."""

    def __init__(self, module: Any, parameters: Parameters, keep_out: KeepOut) -> None:
        balls, self.obstacles, pairs = keep_out.balls, keep_out.obstacles, keep_out.pairs
        self.names = (
            *((ball.name, obstacle.name) for obstacle in self.obstacles for ball in balls),
            *((balls[i].name, balls[j].name) for i, j in pairs),
        )
        labels = [f"{ball} to {other}" for ball, other in self.names]
        centres = [Carried(ball.link + 1, ball.centre) for ball in balls]
        super().__init__(module, parameters, centres, labels)
        self.radii = np.array([ball.radius for ball in balls])
        self.first, self.second = np.array(pairs, dtype=int).reshape(-1, 2).T

    def of_vectors(self, x: Array) -> tuple[Array, Array]:
        """(K, m), (K, m, V, 3)."""
        balls, batch = len(self.radii), x.shape[:-2]
        every = np.arange(balls)
        slopes = np.zeros((*batch, self.size, balls, 3))
        values = []
        for k, obstacle in enumerate(self.obstacles):
            distance, slope = obstacle.distance(x)
            values.append(distance - self.radii)
            slopes[..., k * balls + every, every, :] = slope
        distance, slope = _length(x[..., self.first, :] - x[..., self.second, :])
        values.append(distance - self.radii[self.first] - self.radii[self.second])
        rows = len(self.obstacles) * balls + np.arange(len(self.first))
        slopes[..., rows, self.first, :], slopes[..., rows, self.second, :] = slope, -slope
        return np.concatenate(values, axis=-1), slopes

    def curvature(self, x: Array, multipliers: Array) -> Array:
        """(K, V, 3, V, 3)."""
        count, balls = len(x), len(self.radii)
        curvature = np.zeros((count, balls, 3, balls, 3))
        for k, obstacle in enumerate(self.obstacles):
            weights = multipliers[:, k * balls : (k + 1) * balls, None, None]
            parts = weights * obstacle.curvature(x)
            for i in range(balls):
                curvature[:, i, :, i] += parts[:, i]
        weights = multipliers[:, len(self.obstacles) * balls :, None, None]
        pairs = weights * _of_length(x[:, self.first] - x[:, self.second])
        for k, (i, j) in enumerate(zip(self.first, self.second, strict=True)):
            for a, b, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
                curvature[:, a, :, b] += sign * pairs[:, k]
        return curvature


def read_keep_out(value: Value, module: Any) -> KeepOut:
    """Read spheres on links, their obstacles, and pairs of them."""
    if value.node is None:
        return KeepOut()
    entries = value.table(
        ("spheres", "obstacles", "pairs", "margin"), "spheres: on links, and obstacles:"
    )
    spheres = entries["spheres"].items("spheres on links")
    balls = tuple(_ball(item, module, k) for k, item in enumerate(spheres, 1))
    items = entries["obstacles"].items("obstacles")
    obstacles = tuple(_obstacle(item, k) for k, item in enumerate(items, 1))
    names = tuple(ball.name for ball in balls)
    pairs = []
    for item in entries["pairs"].items("pairs of spheres"):
        two = item.items("two spheres")
        if len(two) != 2:
            item.fault("expected the names of two spheres")
            continue
        pairs.append((two[0].name(names, "sphere"), two[1].name(names, "sphere")))
    if not balls:
        value.fault("no spheres on links: nothing keeps out")
    elif not obstacles and not pairs:
        value.fault("neither obstacles nor pairs: there is nothing to keep out of")
    margin = entries["margin"].number()
    if margin < 0:
        entries["margin"].fault(f"expected a distance (m) of at least 0, found {margin:.6g}")
    return KeepOut(balls, obstacles, tuple(pairs), margin)


_RADIUS = "the radius of the sphere (m)"


def _ball(value: Value, module: Any, number: int) -> Ball:
    entries = value.table(("name", "link", "center", "radius"), "{link, center, radius}")
    link = entries["link"].name(module.link_names, "link")
    name = entries["name"].text(f"sphere {number}")
    centre = entries["center"].vector(3, np.zeros(3))
    return Ball(name, link, centre, entries["radius"].positive(1.0, _RADIUS))


def _obstacle(value: Value, number: int) -> Obstacle:
    entries = value.table(
        ("name", "sphere", "radius", "box", "size", "rpy", "half_space", "normal"),
        "a sphere, a box or a half_space",
    )
    kinds = [kind for kind in ("sphere", "box", "half_space") if kind in entries]
    name = entries["name"].text(f"obstacle {number}")
    if len(kinds) != 1:
        value.fault("expected one of sphere, box, half_space: the centre, or a point")
        return Sphere(name, np.zeros(3), 1.0)
    position = entries[kinds[0]].vector(3)
    if kinds == ["sphere"]:
        return Sphere(name, position, entries["radius"].positive(1.0, _RADIUS))
    if kinds == ["half_space"]:
        return HalfSpace(name, position, entries["normal"].direction())
    size = entries["size"].vector(3)
    if "size" in entries and np.any(size <= 0):
        entries["size"].fault("edges are longer than 0 (m)")
    return Box(name, position, size, entries["rpy"].rotation(np.zeros(3)))
