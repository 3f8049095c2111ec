"""The calculator of a page: JavaScript that computes there what the module computes.

Every formulation that applies computes torques and their derivatives, or accelerations, in a
straight line; what would be too long for a page is left out, and the page says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from symgen.algebra.nodes import Scalar
from symgen.deriving.derivation import package_of
from symgen.description.expressions import Expression, evaluate
from symgen.description.model import Limits, RobotDescription
from symgen.emit.emission import javascript_script
from symgen.kinematics.tree import KinematicTree
from symgen.page.counting import LIVE_ONLY, Counted

LIVE = ("inverse_dynamics", "inverse_dynamics_derivatives", "forward_dynamics", *LIVE_ONLY)

LARGEST = 50_000
"""Operations above which a function is left out of the page."""

FIRST_STATE = {"q": 0.1, "qd": 0.2, "qdd": 0.3}
"""Where the sliders stand at first: q_i = 0.1 i within the limits, the rates alike."""
LARGEST_BENT = 12
"""With more coordinates than this all stand at 0.1: the robot would be a knot."""


FARTHEST = 1000.0
"""Limits (rad, m) beyond this are none for a slider, on which nothing near 0 could be chosen."""


@dataclass(frozen=True)
class Calculator:
    """`source` is the JavaScript, `facts` what the page needs to know besides.

    `left_out` are formulation, function and operations of what is too long.
    """

    source: str
    facts: Mapping[str, Any]
    left_out: tuple[tuple[str, str, int], ...]
    coordinates: tuple[Mapping[str, Any], ...]


def calculator(description: RobotDescription, counted: Counted) -> Calculator:
    """Print everything that the page computes."""
    sizes = {name: size for name, size in counted.sizes.items() if name[1] in LIVE}
    derived, selection = counted.only([name for name in sizes if sizes[name] <= LARGEST])
    coordinates = tuple(_coordinates(description, counted.tree))
    return Calculator(
        source=javascript_script(package_of(description, selection, derived)),
        facts={
            "coordinates": coordinates,
            "links": _links(description),
            "points": _points(description),
            "functions": {name: list(functions) for name, functions in selection.built.items()},
            "gravity": _values(description.gravity, description),
        },
        left_out=tuple((*name, size) for name, size in sizes.items() if size > LARGEST),
        coordinates=coordinates,
    )


def _coordinates(
    description: RobotDescription, tree: KinematicTree[Scalar]
) -> Iterator[Mapping[str, Any]]:
    """Of every coordinate its name, unit, range, and where it stands at first."""
    free = (joint for joint in description.joints if joint.mimic is None)
    limits = [found for joint in free for found in joint.limits]
    for i, (joint, limit) in enumerate(zip(tree.independent, limits, strict=True), start=1):
        turns = any(
            not x.is_zero for x in joint.type.angular_axis(joint.placement.axis, tree.algebra)
        )
        low, high = _range(limit, math.pi if turns else 1.0)
        times = i if len(limits) <= LARGEST_BENT else 1
        yield {
            "name": joint.name,
            "unit": "rad" if turns else "m",
            "torque": "N m" if turns else "N",
            "low": low,
            "high": high,
            "q": round(min(max(FIRST_STATE["q"] * times, low), high), 6),
            "qd": FIRST_STATE["qd"],
            "qdd": FIRST_STATE["qdd"],
        }


def _range(limits: Limits, reach: float) -> tuple[float, float]:
    """The ends of a slider; `reach` is how far it goes from 0 where there are no limits.

    Limits that are far away, as files have them for joints without any, are none for a slider.
    """
    limits = replace(limits, lower=_near(limits.lower), upper=_near(limits.upper))
    if limits.lower is not None and limits.upper is not None:
        return min(limits.lower, limits.upper), max(limits.lower, limits.upper)
    if limits.lower is not None:
        return limits.lower, max(reach, limits.lower + reach)
    if limits.upper is not None:
        return min(-reach, limits.upper - reach), limits.upper
    return -reach, reach


def _near(limit: float | None) -> float | None:
    return None if limit is None or abs(limit) > FARTHEST else limit


def _links(description: RobotDescription) -> list[dict[str, Any]]:
    """Of every link its name, the number of the link that carries it (-1: the base), mass, com."""
    numbers = {joint.link.name: i for i, joint in enumerate(description.joints)}
    return [
        {
            "name": joint.link.name,
            "parent": numbers.get(joint.parent, -1),
            "mass": _values((joint.link.mass,), description)[0],
            "com": _values(joint.link.com, description),
        }
        for joint in description.joints
    ]


def _points(description: RobotDescription) -> list[dict[str, Any]]:
    """Points, and where loads act: name, number of the link, place in its frame."""
    numbers = {joint.link.name: i for i, joint in enumerate(description.joints)}
    return [
        {
            "name": point.name,
            "link": numbers.get(point.link, -1),
            "at": _values(point.point, description),
        }
        for point in (*description.loads, *description.points)
    ]


def _values(entries: Sequence[Expression], description: RobotDescription) -> list[float]:
    return [evaluate(entry, description.parameter_values) for entry in entries]
