"""Joints that follow a coordinate: q = multiplier q_coordinate + offset.

Such a joint moves, has a link, joint terms and a wrench, but its coordinate is none of the robot's:
the torque that it needs acts on the coordinate that it follows.

Where the format is silent: only a joint of one coordinate follows another, and it may follow any
one of a joint of several (``hip_2``), one that is listed later, or a joint that follows a third one
itself, but no circle is closed; angles and lengths may be mixed (a rack and its pinion).  A
multiplier of 0 is legal, and remarked: the joint stays at its offset.  Its motion cannot be
prescribed, that of the coordinate can.  Its limits are checked as those of any joint and are no
limits of the coordinate.
"""

from __future__ import annotations

from collections.abc import Mapping

from symgen.description.expressions import ONE, ZERO
from symgen.description.model import Mimic, coordinate_names
from symgen.description.scalars import Scalars
from symgen.description.schema import JointTable, MimicTable, RobotTable
from symgen.description.wording import KeyPath, shown
from symgen.joints import OnManifold


def check_mimics(robot: RobotTable, scalars: Scalars) -> dict[int, Mimic]:
    """The coordinates that joints follow, by their indices in the file."""
    mimics: dict[int, Mimic] = {}
    coordinates = coordinates_of(robot)
    for index, joint in enumerate(robot.joints or []):
        if joint is not None and joint.mimic is not None:
            path: KeyPath = ("joints", index, "mimic")
            _check_joint(joint, path, scalars)
            mimics[index] = _mimic(joint, joint.mimic, path, scalars, coordinates)
        elif joint is not None and joint.gives("mimic"):
            _check_joint(joint, ("joints", index, "mimic"), scalars)
    _check_circles(robot, mimics, scalars)
    return mimics


def coordinates_of(robot: RobotTable, independent: bool = False) -> tuple[str, ...] | None:
    """The names of the coordinates of all joints, or of those that are `independent`.

    Joints on manifolds have none that anything could follow, or be an expression of.  None where
    they could not all be read.
    """
    if robot.joints is None:
        return None if robot.gives("joints") else ()
    names: list[str] = []
    for joint in robot.joints:
        kind = None if joint is None else joint.kind
        if joint is None or joint.name is None or kind is None:
            return None
        if not (independent and joint.gives("mimic")) and not isinstance(kind, OnManifold):
            names += coordinate_names(joint.name, kind.coordinates)
    return tuple(names)


def _check_joint(joint: JointTable, path: KeyPath, scalars: Scalars) -> None:
    """Whether the joint is one that can follow."""
    kind = joint.kind
    if kind is not None and kind.coordinates == 0:
        scalars.findings.fault(path, f"a {kind.name} joint does not move; remove 'mimic'")
    elif kind is not None and kind.coordinates > 1:
        scalars.findings.fault(
            path,
            f"only a joint of one coordinate can follow another; a {kind.name} joint has "
            f"{kind.coordinates}",
        )
    if any(joint.prescribed or ()):
        scalars.findings.fault(
            (*path[:-1], "prescribed"),
            "the motion of a joint with 'mimic' follows from that of another one; prescribe that",
        )


def _mimic(
    joint: JointTable,
    table: MimicTable,
    path: KeyPath,
    scalars: Scalars,
    coordinates: tuple[str, ...] | None,
) -> Mimic:
    findings, name = scalars.findings, table.coordinate
    if name is not None and coordinates is not None and name not in coordinates:
        findings.fault((*path, "coordinate"), _unknown(name, coordinates, scalars))
    elif name is not None and name == joint.name:
        findings.fault((*path, "coordinate"), f"{shown(name)} is this joint itself")
    value = scalars.value((*path, "multiplier"), table.multiplier)
    if value == 0.0 and table.multiplier is not None:
        findings.warn(
            (*path, "multiplier"), "zero: the joint does not move, it stays at its offset"
        )
    scalars.value((*path, "offset"), table.offset)
    return Mimic(name or "", table.multiplier or ONE, table.offset or ZERO)


def _unknown(name: str, coordinates: tuple[str, ...], scalars: Scalars) -> str:
    several = [x for x in coordinates if x.startswith(f"{name}_") and x[len(name) + 1 :].isdigit()]
    if several:
        return f"{shown(name)} has several coordinates; name one: {', '.join(map(shown, several))}"
    hint = scalars.findings.did_you_mean(name, coordinates)
    hint = hint or "; expected that of a joint that moves"
    return f"{shown(name)} names no coordinate{hint}"


def _check_circles(robot: RobotTable, mimics: Mapping[int, Mimic], scalars: Scalars) -> None:
    """Every circle of joints that follow each other is one fault, at its first joint."""
    tables = robot.joints or []
    by_name = {
        joint.name: index
        for index, joint in enumerate(tables)
        if joint is not None and joint.name and index in mimics
    }
    done: set[int] = set()
    for start in mimics:
        path: dict[int, str] = {}
        at: int | None = start
        while at is not None and at not in done and at not in path:
            path[at] = mimics[at].coordinate
            at = by_name.get(mimics[at].coordinate)
        if at is not None and at in path:
            circle = [path[at]]
            while by_name[circle[-1]] != at:
                circle.append(path[by_name[circle[-1]]])
            if len(circle) > 1:
                names = " follows ".join(map(shown, (circle[-1], *circle)))
                scalars.findings.fault(
                    ("joints", at, "mimic", "coordinate"),
                    f"joints that follow each other in a circle: {names}",
                )
        done.update(path)
