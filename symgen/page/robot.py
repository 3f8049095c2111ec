"""The robot of a page: its links and joints, its tree, and the poses of its frames."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from symgen.description.expressions import Expression, evaluate
from symgen.description.model import JointDescription, Limits, Mimic, Pose, RobotDescription
from symgen.kinematics.topology import Topology, topology
from symgen.page.counting import Counted
from symgen.page.mathml import mathml
from symgen.showing.equations import poses_of_frames
from symgen.showing.tree import (
    counted,
    counts_of_forces,
    degrees_of_freedom,
    drawing,
    numbered,
    pattern,
    rotations,
)
from symgen.showing.typesetting import latex_equation

_DECIMAL = re.compile(r"(?<![\w.])(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?(?![\w.])")
INERTIA = ("xx", "yy", "zz", "xy", "xz", "yz")
LARGEST_MATRICES = 12
"""Largest number of coordinates for the poses of the frames."""


@dataclass(frozen=True)
class RobotPart:
    """Part of the page about the robot, before any equation.

    `rows` are those of links, entry by entry with 4 digits and as in the file; `facts` are counts
    in words; `places` are points, loads, springs and forces: name, kind, link, position; `poses`
    the frames' poses as MathML, empty for large robots; `coupled`: some joints follow others, so
    that numbers of joints and coordinates differ; `distal`: some frames are at the far ends of
    their links; `shaped`: the file may have shapes of links.
    """

    name: str
    description: str
    facts: tuple[str, ...]
    rows: tuple[tuple[tuple[str, str], ...], ...]
    parameters: tuple[tuple[str, str, str, str], ...]
    places: tuple[tuple[str, str, str, str], ...]
    gravity: str
    drawing: str
    topology: Topology
    pattern: str
    poses: tuple[str, ...]
    coupled: bool
    distal: bool
    shaped: bool


def robot_part(description: RobotDescription, counted: Counted) -> RobotPart:
    """Return the part of the page about the robot, without equations of motion."""
    tree = counted.tree
    branches = topology(tree)
    posed = counted.legible and tree.n <= LARGEST_MATRICES
    return RobotPart(
        name=description.name,
        description=description.description,
        facts=tuple(_facts(description)),
        rows=tuple(
            tuple((_DECIMAL.sub(_four_digits, text), text) for text in row.values())
            for row in _rows(description)
        ),
        parameters=tuple(
            (item.name, item.expression.text, f"{item.value:.6g} {item.unit}", item.description)
            for item in description.parameters
        ),
        places=tuple(
            (item.name, what, item.link, triple(item.point))
            for what, items in (("point", description.points), ("load", description.loads))
            for item in items
        )
        + tuple(_forces(description)),
        gravity=triple(description.gravity),
        drawing=drawing(description),
        topology=branches,
        pattern=pattern(tree, branches) if branches.n else "",
        poses=tuple(
            mathml(latex_equation(label, matrix, inputs), block=True)
            for _, label, matrix, inputs in (poses_of_frames(description, "latex") if posed else ())
        ),
        coupled=tree.is_coupled,
        shaped=description.file.endswith((".urdf", ".xacro")),
        distal=any(x.dh is not None and x.dh.convention == "standard" for x in description.joints),
    )


def _forces(description: RobotDescription) -> Iterator[tuple[str, str, str, str]]:
    """Yield springs by their ends, and forces."""
    for spring in description.springs:
        links = " and ".join(end.link for end in spring.ends)
        yield spring.name, "spring", links, " and ".join(triple(end.point) for end in spring.ends)
    for force in description.forces:
        yield force.name, force.type, force.at.link, triple(force.at.point)


def _facts(description: RobotDescription) -> Iterator[str]:
    counts = (
        *degrees_of_freedom(description),
        (len(description.joints), "link"),
        (len(description.parameters), "parameter"),
        (len(description.loads), "load"),
        (len(description.points), "point"),
        *counts_of_forces(description),
    )
    for count, what in counts:
        if count or what == "coordinate":
            yield counted(count, what)


def _rows(description: RobotDescription) -> Iterator[dict[str, str]]:
    """Yield the entries of every joint and the link that it carries, by column."""
    names = numbered(description, "q", " to ")
    for joint, coordinates in zip(description.joints, names, strict=True):
        link = joint.link
        yield dict(
            link=link.name,
            parent=joint.parent,
            joint=joint.name,
            type=f"{joint.type} {rotations(joint)}".rstrip(),
            coordinates=_followed(joint.mimic) if joint.mimic else coordinates,
            drive=_drive(joint),
            placement=_placement(joint),
            limits="; ".join(filter(None, map(_range, joint.limits))),
            mass=_number(link.mass, description),
            com=triple(link.com),
            inertia=", ".join(
                f"{name}\N{NO-BREAK SPACE}{entry.text}"
                for name, entry in zip(INERTIA, link.inertia, strict=True)
                if not _is_zero(entry)
            ),
        )


def _drive(joint: JointDescription) -> str:
    """Return whether a joint has a drive, "" for those without coordinates of their own."""
    if joint.mimic or not joint.coordinates:
        return ""
    return "prescribed" if any(joint.prescribed) else "yes" if joint.actuated else "none"


def _followed(mimic: Mimic) -> str:
    """Return the motion of a joint that follows a coordinate."""
    offset = "" if _is_zero(mimic.offset) else f" + {mimic.offset.text}"
    factor = {"1": "", "-1": "-"}.get(mimic.multiplier.text, f"{mimic.multiplier.text} * ")
    return f"= {factor}q of {mimic.coordinate}{offset}"


def _four_digits(number: re.Match[str]) -> str:
    short = f"{float(number[0]):.4g}"
    text = short if len(short) < len(number[0]) else number[0]
    return text.replace("e-", "e-\N{WORD JOINER}")  # no line breaks here


def _number(expression: Expression, description: RobotDescription) -> str:
    value = evaluate(expression, description.parameter_values)
    return f"{expression.text} = {value:.6g}" if expression.names else f"{value:.15g}"


def triple(entries: Sequence[Expression]) -> str:
    """Return the three entries of a vector as text."""
    return f"({', '.join(entry.text for entry in entries)})"


def _is_zero(entry: Expression) -> bool:
    return not entry.names and evaluate(entry, {}) == 0.0


def _placement(joint: JointDescription) -> str:
    """Return the row of the DH table, or origin and axis."""
    if joint.dh is not None:
        row = joint.dh
        entries = {"theta": row.theta, "d": row.d, "a": row.a, "alpha": row.alpha}
        text = ", ".join(f"{name} {entry.text}" for name, entry in entries.items())
        behind = f" behind {placed(joint.before)}" if joint.before is not None else ""
        return f"{row.convention} DH: {text}{behind}"
    origin = "at the parent's origin" if joint.origin is None else placed(joint.origin)
    return origin if joint.axis is None else f"{origin}, axis {triple(joint.axis)}"


def placed(pose: Pose) -> str:
    """Return position and orientation as text."""
    turned = "" if all(map(_is_zero, pose.rpy)) else f", rpy {triple(pose.rpy)}"
    return f"xyz {triple(pose.xyz)}{turned}"


def _range(limits: Limits) -> str:
    if limits.lower is None and limits.upper is None:
        return ""
    low = "-∞" if limits.lower is None else f"{limits.lower:.4g}"
    high = "∞" if limits.upper is None else f"{limits.upper:.4g}"
    return f"{low} to {high}"
