"""Growth of symbolic poses along chains of fixed joints.

An angle with a name, such as a parameter, keeps its sine and cosine in every product, and an entry
of the pose behind k such rotations has 3^k terms.  A graph shares common subexpressions; SymPy
expressions, written out, become intractable.  Numbers are evaluated: see `Algebra.settled`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from symgen.description.expressions import Expression, evaluate
from symgen.description.model import JointDescription, RobotDescription

MOST_NAMED_TURNS = 4
MOST_ODD_TURNS = 4
"""Maximum number of rotations up to which equations are legible and simplified within seconds."""


def why_not_written_out(description: RobotDescription) -> str | None:
    """Explain why the equations of a robot cannot be written with its symbols; None if they can."""
    count = named_turns(description)
    if count <= MOST_NAMED_TURNS:
        return None
    return (
        f"{count} links in a row are fixed to each other at angles that have names, and written "
        f"out with these the equations would have 3^{count} terms; give the angles as numbers, or "
        "fewer links"
    )


def named_turns(description: RobotDescription) -> int:
    """Maximum number of successive joints with named angles of which only the last may move."""
    return _longest_row(description, lambda angle: bool(angle.names))


def odd_turns(description: RobotDescription) -> int:
    """Maximum number of successive joints with angles that may not be multiples of pi/2."""
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
    """Whether an angle is a multiple of pi/2 for all arguments."""
    if angle.names:
        return False
    quarters = evaluate(angle, {}) / (math.pi / 2)
    return abs(quarters - round(quarters)) < 1e-12


def _angles(joint: JointDescription) -> list[Expression]:
    """Return the angles of the fixed rotations of a joint."""
    poses = [pose for pose in (joint.origin, joint.before) if pose is not None]
    rows = [] if joint.dh is None else [joint.dh.theta, joint.dh.alpha]
    return [*(angle for pose in poses for angle in pose.rpy), *rows]
