"""The calculator of a page: JavaScript that computes there what the module computes.

Every formulation that applies computes torques and their derivatives, or accelerations, in a
straight line; what would be too long for a page is left out, and the page says so.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from symgen.algebra.graph import Graph, Scalar
from symgen.derivation import Derived, derive_all, package_of
from symgen.description.expressions import Expression, evaluate
from symgen.description.model import Limits, RobotDescription
from symgen.emit.emission import javascript_script
from symgen.formulations import FORMULATIONS
from symgen.journal import Journal
from symgen.kinematics.tree import KinematicTree, build_tree
from symgen.options import STRAIGHT
from symgen.report import FunctionReport
from symgen.selection import Selection

TORQUES, GRADIENT = "inverse_dynamics", "inverse_dynamics_derivatives"
MOTION = "forward_dynamics"
POSES = "forward_kinematics"
LIVE = (TORQUES, GRADIENT, MOTION)

LARGEST_ESTIMATE, LARGEST = 80_000, 50_000
"""Operations, roughly and exactly, above which a function is left out of the page."""

FIRST_STATE = {"q": 0.1, "qd": 0.2, "qdd": 0.3}
"""Where the sliders stand at first: q_i = 0.1 i within the limits, the rates alike."""


@dataclass(frozen=True)
class Calculator:
    """`source` is the JavaScript, `facts` what the page needs to know besides.

    `reports` count the operations of everything that was derived, `left_out` says what is too
    long, with its operations where they are known.
    """

    source: str
    facts: Mapping[str, Any]
    reports: tuple[FunctionReport, ...]
    left_out: tuple[tuple[str, str, int], ...]
    coordinates: tuple[Mapping[str, Any], ...]


def calculator(description: RobotDescription, journal: Journal) -> Calculator:
    """Derive and print everything that the page computes."""
    graph = Graph()
    tree = build_tree(description, graph)
    built, left_out = _functions(tree)
    selection = Selection(n=tree.sizes["n"], built=built, evaluated={}, skipped={})
    derived = derive_all(description, selection, journal.progress, STRAIGHT)
    reports = [report for report in derived.reports if report.function in LIVE]
    for report in reports:
        if report.after.total > LARGEST:
            left_out.append((report.formulation, report.function, report.after.total))
    derived, selection = _without(derived, selection, {item[:2] for item in left_out})
    coordinates = tuple(_coordinates(description, tree))
    return Calculator(
        source=javascript_script(package_of(description, selection, derived)),
        facts={
            "coordinates": coordinates,
            "links": _links(description),
            "points": _points(description),
            "functions": {name: list(functions) for name, functions in selection.built.items()},
            "gravity": _values(description.gravity, description),
        },
        reports=tuple(reports),
        left_out=tuple(sorted(left_out)),
        coordinates=coordinates,
    )


def _functions(
    tree: KinematicTree[Scalar],
) -> tuple[dict[str, tuple[str, ...]], list[tuple[str, str, int]]]:
    """What to derive, by formulation, and what is too large even for that."""
    built: dict[str, tuple[str, ...]] = {}
    too_large = []
    for item in FORMULATIONS:
        if item.why_not(tree) is not None:
            continue
        sizes = {name: item.estimate(tree, name) for name in LIVE if name in item.functions}
        built[item.name] = tuple(name for name in sizes if sizes[name] <= LARGEST_ESTIMATE)
        too_large += [
            (item.name, name, size) for name, size in sizes.items() if size > LARGEST_ESTIMATE
        ]
    first = next(item.name for item in FORMULATIONS if POSES in item.functions)
    built[first] = (*built.get(first, ()), POSES)
    return built, too_large


def _without(
    derived: Derived, selection: Selection, names: Collection[tuple[str, str]]
) -> tuple[Derived, Selection]:
    """The same without these functions (formulation, function)."""
    kept = {
        name: tuple(f for f in functions if (name, f) not in names)
        for name, functions in selection.built.items()
    }
    kept = {name: functions for name, functions in kept.items() if functions}
    programs = {name: {f: derived.built[name][f] for f in kept[name]} for name in kept}
    return replace(derived, built=programs), replace(selection, built=kept)


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
        yield {
            "name": joint.name,
            "unit": "rad" if turns else "m",
            "torque": "N m" if turns else "N",
            "low": low,
            "high": high,
            "q": round(min(max(FIRST_STATE["q"] * i, low), high), 6),
            "qd": FIRST_STATE["qd"],
            "qdd": FIRST_STATE["qdd"],
        }


def _range(limits: Limits, reach: float) -> tuple[float, float]:
    """The ends of a slider; `reach` is how far it goes from 0 where there are no limits."""
    if limits.lower is not None and limits.upper is not None:
        return min(limits.lower, limits.upper), max(limits.lower, limits.upper)
    if limits.lower is not None:
        return limits.lower, max(reach, limits.lower + reach)
    if limits.upper is not None:
        return min(-reach, limits.upper - reach), limits.upper
    return -reach, reach


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
