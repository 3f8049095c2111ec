"""The stick figure of a robot as plain data: links, points, loads, loops, springs, wheels, gravity.

Reports draw it, and generated modules keep it for `symgen.animate`.  Masses and positions are the
expressions of the file in the nested lists of `scripted`, which `templates/report/model.js`
evaluates at values of the parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from symgen.description.expressions import (
    CONSTANT_VALUES,
    Expression,
    Name,
    Node,
    Number,
    Operation,
    evaluate,
)
from symgen.description.model import JointDescription, LinkPoint, RobotDescription
from symgen.description.scalars import Z_AXIS


def figure(description: RobotDescription) -> dict[str, Any]:
    """Return what is drawn of a robot, for JSON.

    Args:
        description: the robot.

    Returns:
        `fixed`: values of independent parameters by name; `derived`: the other parameters, each
        with its expression; `links`: name, number of the parent (-1: the base), mass, centre of
        mass; `loads`, `points`: name, link, position in its frame (m); `gravity`; `loops` and
        `springs`, where there are any: name and two ends, each a link and a position in its frame;
        `wheels` of tyres: name, link, centre and axis in its frame, radius and width (m).
    """
    return {
        "fixed": {
            item.name: item.value for item in description.parameters if not item.expression.names
        },
        "derived": [
            [item.name, scripted(item.expression)]
            for item in description.parameters
            if item.expression.names
        ],
        "links": _links(description),
        "loads": _points(description.loads, description),
        "points": _points(description.points, description),
        "gravity": [scripted(entry) for entry in description.gravity],
        **_ties(description),
    }


def _links(description: RobotDescription) -> list[dict[str, Any]]:
    numbers = link_numbers(description)
    return [
        {
            "name": joint.link.name,
            "parent": numbers.get(joint.parent, -1),
            "mass": scripted(joint.link.mass),
            "com": [scripted(entry) for entry in joint.link.com],
            **({"slides": _axis(joint)} if joint.type == "prismatic" else {}),
        }
        for joint in description.joints
    ]


def _points(points: Sequence[LinkPoint], description: RobotDescription) -> list[dict[str, Any]]:
    numbers = link_numbers(description)
    return [
        {
            "name": point.name, "link": numbers.get(point.link, -1),
            "at": [scripted(entry) for entry in point.point],
        }
        for point in points
    ]  # fmt: skip


def _ties(description: RobotDescription) -> dict[str, Any]:
    """Return loops and springs by their ends; nothing where there are none."""
    numbers = link_numbers(description)

    def end(link: str, place: Sequence[Expression]) -> dict[str, Any]:
        return {"link": numbers.get(link, -1), "at": [scripted(entry) for entry in place]}

    loops = [
        {
            "name": loop.name, "rod": loop.type == "distance",
            "ends": [end(x.link, x.origin.xyz) for x in (loop.first, loop.second)],
        }
        for loop in description.loops
    ]  # fmt: skip
    springs = [
        {"name": spring.name, "ends": [end(x.link, x.point) for x in spring.ends]}
        for spring in description.springs
    ]
    joints = {joint.name: joint for joint in description.joints}
    wheels = [
        {
            "name": force.name, **end(force.at.link, force.at.point),
            "axis": _axis(joints[force.wheel.joint]),
            "radius": scripted(force.wheel.radius), "width": scripted(force.wheel.width),
        }
        for force in description.forces if force.wheel is not None
    ]  # fmt: skip
    every = {"loops": loops, "springs": springs, "wheels": wheels}
    return {key: ties for key, ties in every.items() if ties}


def _axis(joint: JointDescription) -> list[Any]:
    """Return the axis of a joint in the frame of its link, not normalized."""
    if joint.dh is None:
        return [scripted(entry) for entry in joint.axis or Z_AXIS]
    alpha = scripted(joint.dh.alpha) if joint.dh.convention == "standard" else 0.0
    return [0.0, ["sin", alpha], ["cos", alpha]]


def link_numbers(description: RobotDescription) -> dict[str, int]:
    """Return the number of every link by name, from 0."""
    return {joint.link.name: i for i, joint in enumerate(description.joints)}


def scripted(entry: Expression) -> Any:
    """Return an expression as plain data: a number, a name, or [operator, operand, ...]."""
    return _scripted(entry.root) if entry.names else evaluate(entry, {})


def _scripted(node: Node) -> Any:
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Name):
        return CONSTANT_VALUES.get(node.name, node.name)
    return [node.operator, *map(_scripted, node.operands)]


def value_of(data: Any, values: Mapping[str, float]) -> float:
    """Evaluate what `scripted` returned, at values of all parameters."""
    return evaluate(Expression("", _node(data), ()), values)


def _node(data: Any) -> Node:
    if isinstance(data, list):
        return Operation(data[0], tuple(map(_node, data[1:])))
    return Name(data) if isinstance(data, str) else Number(float(data))
