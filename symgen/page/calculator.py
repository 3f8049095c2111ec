"""The calculator of a page: the functions of the module in JavaScript.

Every formulation that applies computes torques and their derivatives, or accelerations, in a
straight line; the page lists functions that are too long.  Parameters of the model stay arguments,
with a slider for each; dependent quantities (masses, centres, points, gravity) are passed as the
expressions of the file (`symgen.description.figure`), which `model.js` evaluates.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symgen.algebra.nodes import Scalar
from symgen.deriving.derivation import derive_all
from symgen.deriving.packaging import package_of
from symgen.description.expressions import evaluate
from symgen.description.figure import figure, link_numbers, scripted
from symgen.description.model import Limits, RobotDescription
from symgen.emit.emission import javascript_source
from symgen.emit.javascript import SCRIPT
from symgen.joints import joint_type
from symgen.kinematics.tree import KinematicTree, coordinate_units
from symgen.options import STRAIGHT
from symgen.page.closing import ClosingPart
from symgen.page.counting import CLOSING, LIVE_ONLY, Counted
from symgen.runtime.configuration import FREE, Configuration, logarithm

MAIN = ("inverse_dynamics", "inverse_dynamics_derivatives", "forward_dynamics")
LIVE = (*MAIN, *LIVE_ONLY, *CLOSING)
LARGEST = 50_000
"""Operations above which a function is left out of the page."""
FIRST_STATE = {"q": 0.1, "qd": 0.2, "qdd": 0.3}
"""First values of the sliders: q_i = 0.1 i within the limits, equal rates."""
LARGEST_BENT = 12
"""Largest number of coordinates with different first values; with more all are 0.1."""
MOST_ADJUSTABLE = 40
"""Largest number of parameters for which these have sliders."""
LARGEST_LOAD = 10.0
"""Least range of the slider of a load (N, N m); the weight of heavier robots is larger."""
FARTHEST = 1000.0
"""Largest limit (rad, m) that a slider has; with larger ones no value near 0 could be set."""


@dataclass(frozen=True)
class Calculator:
    """JavaScript of the functions, and the facts that the page needs besides.

    `left_out` are formulation, function and operations of functions that are too long.
    """

    source: str
    facts: Mapping[str, Any]
    left_out: tuple[tuple[str, str, int], ...]
    coordinates: tuple[Mapping[str, Any], ...]
    parameters: tuple[Mapping[str, Any], ...]
    loads: tuple[Mapping[str, Any], ...]

    def has(self, function: str) -> bool:
        """Return whether the page computes a function."""
        return any(function in functions for functions in self.facts["functions"].values())


def calculator(
    description: RobotDescription, counted: Counted, closing: ClosingPart | None = None
) -> Calculator:
    """Print everything that the page computes; `closing` is that of a mechanism."""
    sizes = {name: size for name, size in counted.sizes.items() if name[1] in LIVE}
    derived = counted.only(
        [name for name, size in sizes.items() if size <= LARGEST or name[1] in CLOSING]
    )
    free = tuple(item.name for item in description.parameters if not item.expression.names)
    adjustable = free if counted.legible and len(free) <= MOST_ADJUSTABLE else ()
    if adjustable:
        selection = replace(derived.selection, runtime_parameters=adjustable)
        derived = derive_all(description, selection, form=STRAIGHT)
    coordinates = tuple(_coordinates(description, counted.tree))
    if closing is not None:
        coordinates = tuple(_moved(coordinates, closing.start, closing.rates, counted.tree))
    elif description.initial:
        coordinates = tuple(_moved(coordinates, *description.initial_state, counted.tree))
    parameters = tuple(_parameters(description, adjustable))
    loads = tuple(_load_entries(description))
    return Calculator(
        source=javascript_source(package_of(description, derived), SCRIPT),
        facts={
            "coordinates": coordinates,
            "quaternions": counted.tree.quaternions,
            "parameters": parameters,
            **figure(description),
            "bodies": [] if closing else _bodies(description),
            "functions": {
                name: list(functions) for name, functions in derived.selection.built.items()
            },
            **({"closing": closing.facts} if closing else {}),
        },
        left_out=tuple(
            (*name, size)
            for name, size in sizes.items()
            if size > LARGEST and name[1] not in CLOSING
        ),
        coordinates=coordinates,
        parameters=parameters,
        loads=loads,
    )


def _parameters(
    description: RobotDescription, adjustable: Sequence[str]
) -> Iterator[Mapping[str, Any]]:
    """Yield name, unit, meaning, value and ends of the slider of every adjustable parameter."""
    for item in description.parameters:
        if item.name in adjustable:
            low, high = sorted((item.value / 5, 3 * item.value)) if item.value else (-1.0, 1.0)
            yield {
                "name": item.name, "unit": item.unit, "meaning": item.description,
                "value": item.value, "low": low, "high": high,
            }  # fmt: skip


def _load_entries(description: RobotDescription) -> Iterator[Mapping[str, Any]]:
    """Yield the name of every load, and the reach of its sliders."""
    values = description.parameter_values
    masses = [evaluate(joint.link.mass, values) for joint in description.joints]
    reach = max(LARGEST_LOAD, float(f"{9.81 * math.fsum(masses):.1g}"))
    for load in description.loads:
        yield {"name": load.name, "reach": reach}


def _coordinates(
    description: RobotDescription, tree: KinematicTree[Scalar]
) -> Iterator[Mapping[str, Any]]:
    """Yield name, unit, range and first value of every coordinate.

    `place` is the label of the slider of q: for joints on manifolds the position of the link, and a
    rotation vector from the neutral attitude.
    """
    places = _places(description)
    free = (joint for joint in description.joints if joint.mimic is None)
    limits = [limit for joint in free for limit in joint.limits]
    rows = zip(tree.independent, limits, coordinate_units(tree), strict=True)
    for i, (joint, limit, unit) in enumerate(rows, start=1):
        low, high = _range(limit, math.pi if unit == "rad" else 1.0)
        times = i if len(limits) <= LARGEST_BENT else 1
        yield {
            "name": joint.name, "place": places[i - 1],
            "unit": unit, "torque": "N" if unit == "m" else "N m", "low": low, "high": high,
            "q": round(min(max(FIRST_STATE["q"] * times, low), high), 6),
            "qd": FIRST_STATE["qd"], "qdd": FIRST_STATE["qdd"],
        }  # fmt: skip


def _moved(
    coordinates: Sequence[Mapping[str, Any]],
    start: Sequence[float],
    rates: Sequence[float],
    tree: KinematicTree[Scalar],
) -> Iterator[Mapping[str, Any]]:
    """Yield sliders at the coordinates `start` (nq,), of any norm, and the velocities (n,)."""
    space = Configuration(len(coordinates), tree.quaternions)
    q = np.asarray(space.normalize(np.array(start)))
    sliders = np.array(space.coordinates(q))
    for kind, i, k in space.joints:
        turn = 3 * (kind == FREE)
        sliders[k : k + turn] = q[i : i + turn]
        sliders[k + turn : k + turn + 3] = logarithm(q[i + turn : i + turn + 4])
    for coordinate, place, rate in zip(coordinates, sliders.tolist(), rates, strict=True):
        low, high = coordinate["low"], coordinate["high"]
        room = (high - low) / 2 if not low < place < high else 0.0
        ends = {"low": min(low, place - room), "high": max(high, place + room)}
        yield {**coordinate, "q": place, "qd": rate, "qdd": 0.0, **ends}


def _places(description: RobotDescription) -> list[str]:
    """Return names of the sliders of q."""
    listed: list[str] = []
    for joint in description.joints:
        names = () if joint.mimic else joint.position_names
        if joint.manifold is not None:
            start = joint.manifold.quaternion
            names = (*names[:start], *(f"{joint.name}, turned about {axis}" for axis in "xyz"))
        listed += names
    return listed


def _range(limits: Limits, reach: float) -> tuple[float, float]:
    """Return the ends of a slider, at most `reach` from 0 where there are no limits.

    Very large limits, as in files for joints without any, are ignored.
    """
    lower, upper = _near(limits.lower), _near(limits.upper)
    if lower is not None and upper is not None:
        return min(lower, upper), max(lower, upper)
    if lower is not None:
        return lower, max(reach, lower + reach)
    return (-reach, reach) if upper is None else (min(-reach, upper - reach), upper)


def _near(limit: float | None) -> float | None:
    return None if limit is None or abs(limit) > FARTHEST else limit


def _bodies(description: RobotDescription) -> list[dict[str, Any]]:
    """Return the rigid bodies that move, for free-body diagrams.

    Each has its `link`; all links fixed to it, including itself (`members`); the number of its
    parent body, -1 for the base; the number of its joint in `joint_wrenches`; and the reference
    point of that moment: a point `at` in the frame of the link `seat` (-1: the base), the joint's
    origin for standard DH rows and else the link's.
    """
    numbers = link_numbers(description)
    body_of = {"base": -1}
    bodies: list[dict[str, Any]] = []
    last = -1
    for i, joint in enumerate(description.joints):
        coordinates = joint_type(joint.type).coordinates
        if not coordinates:
            body_of[joint.link.name] = body_of[joint.parent]
            if body_of[joint.parent] >= 0:
                bodies[body_of[joint.parent]]["members"].append(i)
            continue
        last += coordinates if joint.manifold is None else 1
        standard = joint.dh is not None and joint.dh.convention == "standard"
        origin = joint.before.xyz if standard and joint.before is not None else ()
        bodies.append({
            "link": i, "members": [i], "parent": body_of[joint.parent], "joint": last,
            "seat": numbers.get(joint.parent, -1) if standard else i,
            "at": [scripted(entry) for entry in origin] or [0, 0, 0],
        })  # fmt: skip
        body_of[joint.link.name] = len(bodies) - 1
    return bodies
