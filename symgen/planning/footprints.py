"""Contacts of a plan in pictures: feet, footprints, forces of the ground, their centre.

A foot is a link with contact points, the nearest to the base, and all that it carries.  A footprint
is the convex hull of the points of a foot that stand before it leaves the ground, each where it
stands.  The centre of the normal forces on a plane is the zero-moment point of the robot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgen.page.shapes import Faces
from symgen.planning.contacts import NO_WEIGHT, Contacts, feet_of, weight_of
from symgen.planning.quantities import MotionSamples
from symgen.planning.task import Task
from symgen.support.arrays import Array, Flags, Index

LEAST = 1e-3
"""Normal force, in units of the largest one, below which its centre is not shown."""
DIGITS = 9
"""Digits of forces in pictures, in units of the largest one."""
RIM = 0.01
"""Margin around the points of a footprint, in units of the length of the motion."""
_CIRCLE = np.exp(2j * np.pi * np.arange(16) / 16).view(float).reshape(-1, 2)


@dataclass(frozen=True)
class Footing:
    """Contacts of a motion at K instants.

    `feet` are numbers of contact points by the name of their link, or of the point where it is the
    only one.  `places` (m) and `forces` (N) of the points are along the axes of the ground,
    (K, P, 3); `on` says which stand, (K, P).  `weight` is that of the robot (N), 0 for none.
    """

    contacts: Contacts
    feet: Mapping[str, Index]
    places: Array
    forces: Array
    on: Flags
    weight: float

    @property
    def reactions(self) -> Array:
        """Forces on each foot along the axes of the ground, (K, feet, 3) (N)."""
        of_feet = [self.forces[:, points].sum(axis=1) for points in self.feet.values()]
        return np.stack(of_feet, axis=1)

    @property
    def centre(self) -> Array:
        """Zero-moment point in base axes, (K, 3) (m); NaN without normal forces."""
        tangent, normal = self.forces[..., :2], self.forces[..., 2:]
        moments = (normal * self.places[..., :2] - self.places[..., 2:] * tangent).sum(axis=1)
        total = normal.sum(axis=1)
        total[total <= LEAST * total.max(initial=0.0)] = np.nan
        return self.on_ground(moments / total)

    @property
    def rim(self) -> float:
        """Margin around points in pictures (m)."""
        return RIM * (float(np.ptp(self.places, axis=(0, 1)).max()) or 1.0)

    def on_ground(self, places: Array) -> Array:
        """Return places (..., 2) along the axes of the ground as points in base axes."""
        across, normal = self.contacts.axes[:2], self.contacts.axes[2]
        return np.asarray(places @ across + self.contacts.height * normal)

    def prints(self) -> Iterator[tuple[int, Array]]:
        """Yield number and positions of the points, (k, 2), of the foot of every footprint."""
        for number, points in enumerate(self.feet.values()):
            stands = self.on[:, points].any(axis=1)
            edges = np.flatnonzero(np.diff(stands, prepend=False, append=False))
            for first, last in edges.reshape(-1, 2):
                on = self.on[first:last, points]
                touched = on.any(axis=0)
                places = self.places[first:last, points, :2]
                sums = np.where(on[..., None], places, 0.0).sum(axis=0)
                yield number, sums[touched] / on.sum(axis=0)[touched, None]

    def supports(self) -> Iterator[Array]:
        """Yield the positions of the points that are on in each phase, at its middle, (k, 2)."""
        ends = np.concatenate([[0.0], self.contacts.until])
        middles = 0.5 * (ends[1:] + ends[:-1]) * (len(self.places) - 1)
        for k, on in zip(np.round(middles).astype(int), self.contacts.on, strict=True):
            if on.any():
                yield self.places[k, on, :2]


def footing(task: Task, module: Any, contacts: Contacts, motion: MotionSamples) -> Footing:
    """Return the contacts of the robot's motion, which has its loads."""
    names = ["base", *module.link_names]
    places = contacts.places_of(module, task.parameters).value(motion)
    assert motion.loads is not None
    weight = weight_of(module, task.parameters)
    feet = {
        contacts.names[points[0]] if len(points) == 1 else names[link]: points
        for link, points in feet_of(module, contacts).items()
    }
    return Footing(
        contacts, feet,
        places.reshape(len(places), -1, 3), motion.loads[:, contacts.loads, :3] @ contacts.axes.T,
        contacts.standing(motion.shares), weight if weight != NO_WEIGHT else 0.0,
    )  # fmt: skip


def outline(points: Array, rim: float) -> tuple[Array, Faces]:
    """Return the convex hull (k, 2) of discs of radius `rim` around points (n, 2), and faces."""
    from scipy.spatial import ConvexHull

    grown = (points[:, None] + rim * _CIRCLE).reshape(-1, 2)
    corners = grown[ConvexHull(grown).vertices]
    k = np.arange(1, len(corners) - 1)
    return corners, np.column_stack([0 * k, k, k + 1])


def draw_reactions(axis: Any, footing: Footing, t: Array, direction: int) -> None:
    """Draw the forces of the ground on each foot along one of its axes, and their sum."""
    largest = float(np.abs(footing.reactions).max()) or 1.0
    forces = largest * np.round(footing.reactions[..., direction] / largest, DIGITS)
    for name, values in zip(footing.feet, forces.T, strict=True):
        axis.plot(t, values, label=name)
    if len(footing.feet) > 1:
        axis.plot(t, forces.sum(axis=1), color="0.2", linewidth=0.9, label="sum", zorder=1.5)
    if direction == 2 and footing.weight:
        axis.axhline(footing.weight, color="0.4", linestyle="--", label="weight")


def draw_centre(axis: Any, footing: Footing, instants: int) -> None:
    """Draw footprints from above, support polygons of all phases, the zero-moment point.

    Dots on its path are evenly spaced `instants`.
    """
    seen: set[int] = set()
    names = list(footing.feet)
    for number, points in footing.prints():
        corners, _ = outline(points, footing.rim)
        label = None if number in seen else names[number]
        axis.fill(*corners.T, color=f"C{number % 10}", alpha=0.3, label=label)
        axis.plot(*points.T, ".", color=f"C{number % 10}", markersize=5)
        seen.add(number)
    for k, points in enumerate(footing.supports()):
        corners, _ = outline(points, footing.rim)
        loop = np.vstack([corners, corners[:1]])
        label = "support of a phase" if not k else None
        axis.plot(*loop.T, color="0.5", linestyle="--", linewidth=0.8, label=label)
    centre = footing.centre @ footing.contacts.axes[:2].T
    dots = np.linspace(0, len(centre) - 1, instants).round().astype(int)
    axis.plot(*centre.T, "-", color="0.1", linewidth=1.2, label="zero-moment point")
    axis.plot(*centre[dots].T, ".", color="0.1", markersize=4)
    axis.set_aspect("equal", adjustable="datalim")
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
