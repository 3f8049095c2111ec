"""Distances of spheres on links from spheres, boxes and half-spaces, and from one another.

Distances are signed, so that a motion through an obstacle is pushed out of it.  With the vector v
from the obstacle to the centre of the sphere:

    sphere        |v| - R - r
    half-space    normal . v - r
    box           distance of its surface, in its own axes, - r
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.planning.quantities import Motion, Quantity, skew

Array = NDArray[np.float64]


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
        """Of points (..., 3) from its surface, and the gradients (..., 3)."""
        v = p - self.centre
        length = np.linalg.norm(v, axis=-1)
        return length - self.radius, v / np.maximum(length, 1e-12)[..., None]


@dataclass(frozen=True)
class HalfSpace:
    """All that is behind a plane through `point`, whose `normal` points to where robots may be."""

    name: str
    point: Array
    normal: Array

    def distance(self, p: Array) -> tuple[Array, Array]:
        """As of a sphere."""
        return (p - self.point) @ self.normal, np.broadcast_to(self.normal, p.shape)


@dataclass(frozen=True)
class Box:
    """A box of edges `size`, axes the columns of `rotation`, around `centre`."""

    name: str
    centre: Array
    size: Array
    rotation: Array

    def distance(self, p: Array) -> tuple[Array, Array]:
        """As of a sphere; inside, that of the nearest face."""
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


Obstacle = Sphere | HalfSpace | Box


class Distances(Quantity):
    """Of all balls from all obstacles, and of `pairs` of balls from one another (m)."""

    orders = 1
    nonlinear = 1

    def __init__(
        self,
        module: Any,
        parameters: Mapping[str, float] | None,
        balls: Sequence[Ball],
        obstacles: Sequence[Obstacle],
        pairs: Sequence[tuple[int, int]],
    ) -> None:
        super().__init__(module, parameters)
        self.balls, self.obstacles, self.pairs = balls, obstacles, pairs
        self.links = np.array([ball.link for ball in balls], dtype=int)
        self.centres = np.array([ball.centre for ball in balls])
        self.radii = np.array([ball.radius for ball in balls])
        self.labels = (
            *(f"{ball.name} to {one.name}" for one in obstacles for ball in balls),
            *(f"{balls[i].name} to {balls[j].name}" for i, j in pairs),
        )

    def jacobian(self, motion: Motion) -> tuple[Array, Array]:
        """(K, m), (K, 1, m, n)."""
        place, slopes = self._centres(motion.q)
        values, rows = [], []
        for obstacle in self.obstacles:
            distance, by_place = obstacle.distance(place)
            values.append(distance - self.radii)
            rows.append(np.einsum("...bc,...bcj->...bj", by_place, slopes))
        if self.pairs:
            first, second = np.array(self.pairs).T
            v = place[..., first, :] - place[..., second, :]
            length = np.maximum(np.linalg.norm(v, axis=-1), 1e-12)
            values.append(length - self.radii[first] - self.radii[second])
            difference = slopes[..., first, :, :] - slopes[..., second, :, :]
            rows.append(np.einsum("...bc,...bcj->...bj", v / length[..., None], difference))
        return np.concatenate(values, axis=-1), np.concatenate(rows, axis=-2)[..., None, :, :]

    def _centres(self, q: Array) -> tuple[Array, Array]:
        """Centres (K, balls, 3), and their derivatives (K, balls, 3, n)."""
        poses = self.module.forward_kinematics(q, **self.given)[..., self.links, :, :]
        jacobians = self.module.jacobians(q, **self.given)[..., self.links, :, :]
        arm = np.einsum("...bij,bj->...bi", poses[..., :3, :3], self.centres)
        place = poses[..., :3, 3] + arm
        return place, jacobians[..., :3, :] - skew(arm) @ jacobians[..., 3:, :]
