"""`contacts` of a task: points that touch the ground, by phases, with forces in friction cones.

A point *stands* at an instant if it is on in a phase that contains it; a change of phases belongs
to both.  It *bears* a force there only if it is on in all of them: accelerations of splines are
continuous, so forces are, which begin and end at 0 and are linear in between.  With periodic or
mirrored ends the first instant also belongs to the image of the last phase, the last one to that of
the first.

The friction cone is replaced by the pyramid within it, |f_1|, |f_2| <= friction f_n / sqrt(2).
With normal forces that push, the zero-moment point of the robot lies within the support polygon.
Forces of more than three points are not unique: `EVEN` weighs the integral of their squares.

Where the standing of a point holds as an equation is decided in `symgen.planning.standing`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgen.description.reading import Listing, Table
from symgen.description.wording import shown
from symgen.errors import RequestError
from symgen.planning.ground import base_coordinates, ground_reaction
from symgen.planning.placements import Combination, point_of
from symgen.planning.quantities import Parameters, options_of
from symgen.planning.values import Value
from symgen.runtime.configuration import configuration_of
from symgen.support.arrays import Array, Flags, Index

EVEN = 5e-3
"""Weight of the integrals of squared forces, in units of the robot's weight."""
UNIT = 0.125
"""Unit of the unknown forces, as a share of the robot's weight."""
NO_WEIGHT = 800.0
"""Weight (N) that stands for that of a robot without one, or with a fixed base."""
SAME = 1e-9
"""Difference of heights (m) below which a contact point is the image of another one."""
ALONG = 0.99
"""Entry of a unit normal along x above which axes of the ground begin with y instead."""
_ON = 1e-9


@dataclass(frozen=True)
class Contacts:
    """Points that touch a plane.

    `axes` (3, 3) are two directions in the plane and its normal, by rows; `height` (m) is its
    distance from the base origin along the normal.  `points` and `loads` are numbers of points and
    loads of the model, (P,).  `on` (phases, P) are the points of each phase, which ends at the
    share `until` (phases,).  `places` (P, 2) are positions along the axes (m), NaN where free.
    The zero-moment point is `margin` (m) inside the support polygon; two feet may have `shared`
    forces (`symgen.planning.support`).
    """

    names: tuple[str, ...]
    points: Index
    loads: Index
    on: Flags
    until: Array
    axes: Array
    height: float
    friction: float
    places: Array
    clearance: float
    margin: float
    shared: bool

    @property
    def slope(self) -> float:
        """Largest tangential force along an axis, in units of the normal force."""
        return self.friction / float(np.sqrt(2.0))

    def standing(self, s: Array) -> Flags:
        """Return which points are on in a phase that contains the shares s (K,), (K, P)."""
        return np.asarray((self._within(s)[..., None] & self.on).any(axis=1))

    def bearing(self, s: Array) -> Flags:
        """Return which points are on in all phases that contain the shares s (K,), (K, P)."""
        return np.asarray((~self._within(s)[..., None] | self.on).all(axis=1))

    def _within(self, s: Array) -> Flags:
        """Return which phases contain the shares s, (K, phases)."""
        since = np.concatenate([[0.0], self.until[:-1]])
        return np.asarray((s[:, None] >= since - _ON) & (s[:, None] <= self.until + _ON))

    def schedule(self, count: int, image: Index | None, *, leaves_at_rest: bool) -> Schedule:
        """Return what each point does at `count` instants; `image` as of `standing.cycle`."""
        s = np.linspace(0.0, 1.0, count)
        standing, bearing = self.standing(s), self.bearing(s)
        before, after = np.zeros((2, len(self.names)), dtype=bool)
        if image is not None:
            before = self.on[-1][image]
            after[image] = self.on[0]
            for k, more in ((0, before), (-1, after)):
                standing[k], bearing[k] = standing[k] | more, bearing[k] & more
        first = np.zeros(standing.shape, dtype=int)
        for k in range(1, count):
            first[k] = np.where(standing[k] & standing[k - 1], first[k - 1], k)
        came_on, leaves = standing.copy(), standing.copy()
        came_on[1:] &= ~standing[:-1]
        leaves[:-1] &= ~standing[1:]
        came_on[0] &= ~before if image is not None else False
        leaves[-1] &= ~after if image is not None else False
        resting = came_on | leaves if leaves_at_rest else came_on
        return Schedule(standing, bearing, first, resting)

    def places_of(
        self, module: Any, parameters: Parameters, some: Index | None = None
    ) -> Combination:
        """Return positions along the axes, heights above the ground, of all or `some` points,
        (K, 3 P)."""
        some = np.arange(len(self.names)) if some is None else some
        carried = [point_of(module, parameters, number) for number in self.points[some]]
        count = len(carried)
        matrix = np.zeros((count, 3, count, 3))
        matrix[np.arange(count), :, np.arange(count)] = self.axes
        constant = np.tile([0.0, 0.0, -self.height], count)
        labels = [
            f"{kind} of {self.names[k]}" for k in some for kind in ("place", "place", "height")
        ]
        shape = 3 * count, count, 3
        return Combination(module, parameters, carried, labels, matrix.reshape(shape), constant)


@dataclass(frozen=True)
class Schedule:
    """Points that stand, bear, and are at rest as they come on or leave, at instants, (K, P).

    `first` is the instant since which a point stands, (K, P).
    """

    standing: Flags
    bearing: Flags
    first: Index
    resting: Flags


def weight_of(module: Any, parameters: Parameters) -> float:
    """Return the robot's weight (N), or a number of its size."""
    rest = np.zeros(module.n)
    try:
        force = ground_reaction(
            module, module.neutral(), rest, rest, **options_of(parameters)
        ).force
    except RequestError:
        return NO_WEIGHT
    return float(np.linalg.norm(force)) or NO_WEIGHT


def feet_of(module: Any, contacts: Contacts) -> dict[int, Index]:
    """Return numbers of contact points by the link of their foot: the nearest one to the base, with
    contact points, that carries them."""
    parents, feet = list(module.link_parents), dict[int, list[int]]()
    touching = {module.point_links[point] for point in contacts.points}
    for number, point in enumerate(contacts.points):
        link = foot = module.point_links[point]
        while link:
            link = parents[link - 1]
            foot = link if link in touching else foot
        feet.setdefault(foot, []).append(number)
    return {link: np.array(points) for link, points in sorted(feet.items())}


def limbs(contacts: Contacts, module: Any, parameters: Parameters) -> tuple[int, ...]:
    """Return the coordinates between the base of a robot and its contact points.

    Where a point is on the base itself, those of the base are among them.
    """
    moved = np.random.default_rng(0).normal(scale=0.1, size=module.n)
    q = configuration_of(module).integrate(module.neutral(), moved)
    columns = contacts.places_of(module, parameters).placed(q)[1]
    moving = np.abs(columns).max(axis=1) > 0
    with suppress(RequestError):  # of a fixed base
        base = base_coordinates(module, (), options_of(parameters))
        if np.delete(moving, base, axis=1).any(axis=1).all():
            moving[:, base] = False
    return tuple(np.flatnonzero(moving.any(axis=0)).tolist())


def named_points(root: Any) -> tuple[str, ...]:
    """Return the contact points of a task: the module is built with a load at each."""
    node = root.entries.get("contacts") if isinstance(root, Table) else None
    sets = node.value.entries.get("sets") if node and isinstance(node.value, Table) else None
    if sets is None or not isinstance(sets.value, Table):
        return ()
    listings = (entry.value for entry in sets.value.entries.values())
    items = [item for listing in listings if isinstance(listing, Listing) for item in listing.items]
    return tuple(dict.fromkeys(item.text for item in items if hasattr(item, "text")))


# ------------------------------------------------------------------------------------- reading


def read_contacts(value: Value, module: Any) -> Contacts | None:
    """Read the ground, sets of points, phases; None without the key."""
    if value.node is None:
        return None
    keys = value.table(
        ("ground", "sets", "phases", "places", "clearance", "margin", "forces"),
        "sets: of points, and phases:",
    )
    sets = _sets(keys["sets"], module)
    names = tuple(dict.fromkeys(name for points in sets.values() for name in points))
    numbers = [list(module.point_names).index(name) for name in names]
    missing = [name for name in names if name not in module.load_names]
    if missing and not keys["sets"].is_broken:
        options = " ".join(f"--load {name}" for name in missing)
        keys["sets"].fault(f"the module has no loads at these points; rebuild it with {options}")
    until, on = _phases(keys["phases"], sets, names)
    ground = keys["ground"].table(("normal", "height", "friction"), "normal:, height:, friction:")
    normal = ground["normal"].direction() if "normal" in ground else np.eye(3)[2]
    if not sets or not len(until) or value.is_broken:
        if "sets" not in keys and not value.is_broken:
            value.fault("'sets' is missing: NAME: [points of the model that touch together]")
        if "phases" not in keys and not value.is_broken:
            value.fault("'phases' is missing: a list of {until: share of the time, on: [sets]}")
        return None
    across = np.eye(3)[int(abs(normal[0]) > ALONG)]
    across = across - (across @ normal) * normal
    across /= np.linalg.norm(across)
    contacts = Contacts(
        names, np.array(numbers), np.array([list(module.load_names).index(x) for x in names]),
        on, until, np.array([across, np.cross(normal, across), normal]), ground["height"].number(),
        ground["friction"].positive(0.6), _places(keys["places"], names),
        _length(keys["clearance"]), _length(keys["margin"]),
        keys["forces"].choice(("found", "shared"), "found") == "shared",
    )  # fmt: skip
    feet = len(feet_of(module, contacts))
    if contacts.shared and feet != 2 and not value.is_broken:
        keys["forces"].fault(f"two feet share forces; the sets of this task are of {feet}")
    return contacts


def _length(value: Value) -> float:
    """Read a length (m), 0 or more."""
    length = value.number()
    if length < 0:
        value.fault(f"expected a length of 0 or more, found {length:.6g}")
    return length


def _sets(value: Value, module: Any) -> dict[str, list[str]]:
    """Read {NAME: [points]}."""
    node = value.node
    if node is None:
        return {}
    if not isinstance(node, Table) or not node.entries:
        value.fault("expected NAME: [points of the model that touch together]")
        return {}
    names, sets, owner = tuple(module.point_names), dict[str, list[str]](), dict[str, str]()
    for name, entry in node.entries.items():
        items = value.below(name, entry.value).items("points of the model")
        numbers = [item.name(names, "point") for item in items]
        if not items and not value.is_broken:
            value.fault("a set without points", name)
        sets[name] = [names[k] for k in numbers] if names else []
        for item, point in zip(items, sets[name], strict=False):
            if point in owner:
                item.fault(f"{shown(point)} is in the set {shown(owner[point])} already")
            owner[point] = name
    return sets


def _phases(
    value: Value, sets: Mapping[str, Sequence[str]], names: Sequence[str]
) -> tuple[Array, Flags]:
    """Return the end of each phase, (phases,), and its points, (phases, P)."""
    ends, on = list[float](), list[list[bool]]()
    items = value.items("phases, {until: share of the time, on: [sets]}")
    if value.node is not None and not items and not value.is_broken:
        value.fault("expected at least one phase, found an empty list")
    for k, item in enumerate(items):
        keys = item.table(("until", "on"), "until: a share of the time, and on: sets")
        last = k == len(items) - 1
        end = keys["until"].number(1.0)
        if "until" not in keys and not last:
            item.fault("'until' is missing: the share of the time at which this phase ends")
        elif not (ends[-1] if ends else 0.0) < end <= 1.0:
            keys["until"].fault(
                f"expected a share of the time above {ends[-1] if ends else 0:.4g} and up to 1, "
                f"found {end:.6g}"
            )
        elif last and end < 1.0:
            keys["until"].fault(f"the last phase ends at 1, found {end:.6g}")
        if "on" not in keys and not item.is_broken:
            item.fault("'on' is missing: the sets that touch the ground, [] for a flight")
        chosen = [entry.name(tuple(sets), "set") for entry in keys["on"].items("sets")]
        points = [name for k in chosen if sets for name in list(sets.values())[k]]
        ends.append(end)
        on.append([name in points for name in names])
    return np.array(ends), np.array(on, dtype=bool).reshape(len(ends), len(names))


def _places(value: Value, names: Sequence[str]) -> Array:
    """Read {POINT: [x, y]}, ~ for an axis that is free, (P, 2)."""
    places = np.full((len(names), 2), np.nan)
    for name, entry in value.table(names, "POINT: [x, y]").items():
        items = entry.items("two numbers, ~ for a free one")
        if items and len(items) != 2:
            entry.fault(f"expected two numbers, ~ for a free one, found {len(items)}")
            continue
        for axis, item in enumerate(items):
            if not item.is_null:
                places[list(names).index(name), axis] = item.number()
    return places
