"""Distances of spheres on links from obstacles, which are spheres, boxes or half-spaces, and pairs.

Distances are signed, so that a motion through an obstacle is pushed out of it.  With the vector v
from the obstacle to the centre of the sphere:

    sphere        |v| - R - r
    half-space    normal . v - r
    box           distance of its surface, in its own axes, - r
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from symgen.page.shapes import Faces, box, sheet, sphere
from symgen.planning.quantities import Motion, Parameters, Quantity, skew
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
        v = p - self.centre
        length = np.linalg.norm(v, axis=-1)
        return length - self.radius, v / np.maximum(length, 1e-12)[..., None]

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
        outside = np.maximum(beyond, 0.0)
        length = np.linalg.norm(outside, axis=-1)
        inside = np.max(beyond, axis=-1)
        nearest = np.eye(3)[np.argmax(beyond, axis=-1)]
        is_outside = (length > 0)[..., None]
        slope = np.where(is_outside, outside / np.maximum(length, 1e-12)[..., None], nearest)
        distance = np.where(length > 0, length, inside)
        return distance, (slope * np.sign(v)) @ self.rotation.T

    def surface(self, centre: Array, size: float) -> tuple[Array, Faces]:
        """Return vertices (n, 3) in the base frame, and faces (k, 3)."""
        vertices, faces = box(self.size)
        return vertices @ self.rotation.T + self.centre, faces


Obstacle = Sphere | HalfSpace | Box


@dataclass(frozen=True)
class KeepOut:
    """Spheres on links, their obstacles, pairs of them that stay apart, and a margin (m)."""

    balls: tuple[Ball, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()
    margin: float = 0.0


class Distances(Quantity):
    """Distances (m) of all balls from all obstacles, and between the balls of pairs, (K, m)."""

    orders = 1
    nonlinear = 1

    def __init__(self, module: Any, parameters: Parameters, keep_out: KeepOut) -> None:
        super().__init__(module, parameters)
        balls, self.obstacles, self.pairs = keep_out.balls, keep_out.obstacles, keep_out.pairs
        self.links = np.array([ball.link for ball in balls], dtype=int)
        self.centres = np.array([ball.centre for ball in balls])
        self.radii = np.array([ball.radius for ball in balls])
        self.labels = (
            *(f"{ball.name} to {obstacle.name}" for obstacle in self.obstacles for ball in balls),
            *(f"{balls[i].name} to {balls[j].name}" for i, j in self.pairs),
        )

    def jacobian(self, motion: Motion) -> tuple[Array, Array]:
        """(K, m), (K, 1, m, n)."""
        centres, slopes = self._centres(motion.q)
        values, rows = [], []
        for obstacle in self.obstacles:
            distance, by_centre = obstacle.distance(centres)
            values.append(distance - self.radii)
            rows.append(np.einsum("...bc,...bcj->...bj", by_centre, slopes))
        if self.pairs:
            first, second = np.array(self.pairs).T
            v = centres[..., first, :] - centres[..., second, :]
            length = np.maximum(np.linalg.norm(v, axis=-1), 1e-12)
            values.append(length - self.radii[first] - self.radii[second])
            difference = slopes[..., first, :, :] - slopes[..., second, :, :]
            rows.append(np.einsum("...bc,...bcj->...bj", v / length[..., None], difference))
        return np.concatenate(values, axis=-1), np.concatenate(rows, axis=-2)[..., None, :, :]

    def _centres(self, q: Array) -> tuple[Array, Array]:
        """Return centres (K, balls, 3), and their derivatives (K, balls, 3, n)."""
        poses = self.module.forward_kinematics(q, **self.keywords)[..., self.links, :, :]
        jacobians = self.module.jacobians(q, **self.keywords)[..., self.links, :, :]
        arm = np.einsum("...bij,bj->...bi", poses[..., :3, :3], self.centres)
        return poses[..., :3, 3] + arm, jacobians[..., :3, :] - skew(arm) @ jacobians[..., 3:, :]


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
    return KeepOut(balls, obstacles, tuple(pairs), entries["margin"].number())


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
