"""Loads and points that are asked for beside those of a file: ``hand`` or ``hand:0.1,0,0``.

So that a file that cannot hold them, or belongs to somebody else, need not be changed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from symgen.description.expressions import literal
from symgen.description.model import LinkPoint, RobotDescription, Triple
from symgen.description.schema import MAX_NAME
from symgen.description.wording import shown
from symgen.errors import RequestError
from symgen.support.suggestions import suggestion


def with_additions(
    description: RobotDescription, loads: Sequence[str], points: Sequence[str]
) -> RobotDescription:
    """The description with more loads and points, each ``LINK`` or ``LINK:x,y,z``.

    x, y, z (m) are those of the point in the link frame; without them it is the frame's origin.
    Each bears the name of its link, with a number where that is taken.  RequestError says what is
    wrong with one.
    """
    if not loads and not points:
        return description
    return replace(
        description,
        loads=(*description.loads, *_added("load", loads, description, description.loads)),
        points=(*description.points, *_added("point", points, description, description.points)),
    )


def _added(
    what: str,
    wanted: Sequence[str],
    description: RobotDescription,
    present: Sequence[LinkPoint],
) -> Iterator[LinkPoint]:
    links = {joint.link.name: joint.link for joint in description.joints}
    seats = {joint.name: joint.link.name for joint in description.joints if joint.name not in links}
    taken = {point.name for point in present}
    for text in wanted:
        name, colon, place = text.partition(":")
        if name in seats:
            raise RequestError(
                f"--{what} {shown(text)}: {shown(name)} is a joint; its link is called "
                f"{shown(seats[name])}"
            )
        if name not in links:
            raise RequestError(
                f"--{what} {shown(text)}: no link is called {shown(name)}; "
                f"{suggestion(name, links)}"
            )
        unused = next(x for x in _names(name) if x not in taken)
        taken.add(unused)
        point = _point(f"--{what} {shown(text)}", place if colon else "0,0,0")
        yield LinkPoint(unused, name, point, links[name].source)


def _names(link: str) -> Iterator[str]:
    yield link
    for number in range(2, 10**6):
        yield f"{link[: MAX_NAME - 7]}_{number}"


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
