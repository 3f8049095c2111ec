"""How fast exact poses grow where links are fixed to each other in a row.

An angle with a name, such as that of a parameter, keeps its sine and cosine in every product, and
an entry of the pose behind k such turns has 3^k terms.  Over a graph they share what they have in
common; written out, over SymPy, nothing ends.  (Numbers are no such matter: `Algebra.settled`.)
"""

from __future__ import annotations

import math
from collections.abc import Callable

from symgen.description.expressions import Expression, evaluate
from symgen.description.model import JointDescription, RobotDescription

MOST_NAMED_TURNS = 4
MOST_ODD_TURNS = 4
"""Up to so many the equations are legible, and simplified while somebody waits."""


def why_not_written_out(description: RobotDescription) -> str | None:
    """Why the equations of a robot cannot be written with its own symbols, None if they can."""
    count = named_turns(description)
    if count <= MOST_NAMED_TURNS:
        return None
    return (
        f"{count} links in a row are fixed to each other at angles that have names, and written "
        f"out with these the equations would have 3^{count} terms; give the angles as numbers, or "
        "fewer links"
    )


def named_turns(description: RobotDescription) -> int:
    """The most joints with angles that have names, in a row, only the last of which may move."""
    return _longest_row(description, lambda angle: bool(angle.names))


def odd_turns(description: RobotDescription) -> int:
    """Return the turn of an angle that is no right one: names may stand for any."""
    return _longest_row(description, lambda angle: not _is_right(angle))


def _longest_row(description: RobotDescription, counts: Callable[[Expression], bool]) -> int:
    turns: dict[str, int] = {}
    largest = 0
    for joint in description.joints:
        count = turns.get(joint.parent, 0) + any(map(counts, _angles(joint)))
        largest = max(largest, count)
        turns[joint.link.name] = 0 if joint.coordinates else count
    return largest


def _is_right(angle: Expression) -> bool:
    """Whether sine and cosine are 0 or 1, up to the sign."""
    if angle.names:
        return False
    quarters = evaluate(angle, {}) / (math.pi / 2)
    return abs(quarters - round(quarters)) < 1e-12


def _angles(joint: JointDescription) -> list[Expression]:
    """The angles of the fixed turns of a joint."""
    poses = [pose for pose in (joint.origin, joint.before) if pose is not None]
    rows = [] if joint.dh is None else [joint.dh.theta, joint.dh.alpha]
    return [*(angle for pose in poses for angle in pose.rpy), *rows]
