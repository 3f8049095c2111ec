"""Loads and points from the command line, ``hand`` or ``hand:0.1,0,0``, added to those of a file.

Files in formats without loads and points, or that should not be edited, can be used as they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, count

from symgen.description.expressions import literal
from symgen.description.model import LinkPoint, RobotDescription, Triple
from symgen.description.schema import MAX_NAME
from symgen.description.wording import shown
from symgen.errors import RequestError
from symgen.support.suggestions import suggestion


def with_additions(
    description: RobotDescription, loads: Sequence[str], points: Sequence[str]
) -> RobotDescription:
    """Add loads and points, each ``LINK`` or ``LINK:x,y,z``; loads also ``POINT``.

    x, y, z (m) are coordinates in the link frame, by default of its origin.  Each has the name of
    its link, with a number appended if the name is in use.  A load at a point of the model has the
    name of the point, and is there once.

    Raises:
        RequestError: a text is malformed or names no link.
    """
    if not loads and not points:
        return description
    return replace(
        description,
        loads=(*description.loads, *_added("load", loads, description, description.loads)),
        points=(*description.points, *_added("point", points, description, description.points)),
    )


def _added(
    kind: str, texts: Sequence[str], description: RobotDescription, present: Sequence[LinkPoint]
) -> Iterator[LinkPoint]:
    links = {joint.link.name: joint.link for joint in description.joints}
    joints = {joint.name: joint.link.name for joint in description.joints}
    used = {point.name for point in present}
    at_points = {x.name: x for x in description.points if x.name not in links}
    for text in texts:
        name, colon, coordinates = text.partition(":")
        option = f"--{kind} {shown(text)}"
        if kind == "load" and name in at_points and not colon:
            if name not in used:
                used.add(name)
                yield at_points[name]
            continue
        if name not in links:
            problem = f"no link is called {shown(name)}; {suggestion(name, links)}"
            if name in joints:
                problem = f"{shown(name)} is a joint; its link is called {shown(joints[name])}"
            raise RequestError(f"{option}: {problem}")
        numbered = (f"{name[: MAX_NAME - 7]}_{number}" for number in count(2))
        unused = next(x for x in chain([name], numbered) if x not in used)
        used.add(unused)
        point = _point(option, coordinates if colon else "0,0,0")
        yield LinkPoint(unused, name, point, links[name].source)


def _point(where: str, text: str) -> Triple:
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    if len(values) != 3 or not all(map(math.isfinite, values)):
        raise RequestError(
            f"{where}: expected LINK or LINK:x,y,z with three numbers (m), such as hand:0.1,0,0"
        )
    x, y, z = (literal(repr(value), value) for value in values)
    return x, y, z
