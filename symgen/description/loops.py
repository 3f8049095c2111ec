"""Checks of loops, relations, and the initial state of a mechanism.

A loop connects two frames by a joint.  A relation is an expression of coordinates, points, time and
parameters that is 0; velocities of coordinates and points enter it linearly.  Decisions of this
module: loops and relations share one name space; the two frames of a loop are on different links;
relations contain independent coordinates only; positions and velocities missing in `initial` are
0, except quaternions and Euler parameters, which are the identity if all four entries are missing;
quaternions are normalized.
"""

from __future__ import annotations

from collections.abc import Mapping

from symgen.description.expressions import ONE, ZERO, Expression, Name, Node, Number, Operation
from symgen.description.findings import Findings
from symgen.description.model import (
    InitialDrive,
    LoopDescription,
    LoopEnd,
    Pose,
    RelationDescription,
    coordinate_names,
)
from symgen.description.names import NameSpace, UniqueNames
from symgen.description.outputs import OutputChecks
from symgen.description.quantities import POINTS, RATES, STATE_PARTS, TIME, is_velocity
from symgen.description.scalars import ORIGIN, Z_AXIS, Scalars, check_axis, checked_pose, vector
from symgen.description.schema import JointTable, LoopEndTable, LoopTable, RobotTable, readable
from symgen.description.wording import KeyPath, shown
from symgen.joints import OnManifold, Redundant
from symgen.joints.closing import Distance

_STILL = Pose(ORIGIN, ORIGIN)


def check_loops(
    robot: RobotTable, names: NameSpace, scalars: Scalars
) -> tuple[LoopDescription, ...]:
    """Return the loops in the order of the file."""
    unique = UniqueNames("the name of a loop", scalars.findings)
    loops = []
    for index, table in readable(robot.loops):
        path: KeyPath = ("loops", index)
        unique.check(table.name, (*path, "name"))
        loops.append(_loop(table, path, names, scalars))
    _check_twins(loops, scalars)
    for name in robot.relations or {}:
        unique.check(name, ("relations", name))
    return tuple(loops)


def check_prescribed(robot: RobotTable, findings: Findings) -> None:
    """Refuse prescribed motions in models with loops or relations."""
    if not robot.loops and not robot.relations:
        return
    for index, joint in readable(robot.joints):
        if any(joint.prescribed or ()):
            findings.fault(
                ("joints", index, "prescribed"),
                "not available beside loops and relations; a relation of t drives a joint, such "
                f"as 'relations: {{drive: q.{joint.name} - 2*t}}'",
            )


def _loop(table: LoopTable, path: KeyPath, names: NameSpace, scalars: Scalars) -> LoopDescription:
    findings = scalars.findings
    first, second = (
        _end(end, (*path, key), names, scalars)
        for key, end in (("first", table.first), ("second", table.second))
    )
    if first.link and first.link == second.link:
        findings.fault(path, f"both frames are on {shown(first.link)}, which closes no loop")
    is_distance = table.type == Distance.name
    if is_distance and table.length is None and not findings.broken((*path, "length")):
        findings.fault(path, "a distance needs 'length', in m")
    if table.length is not None and table.type is not None:
        length = scalars.value((*path, "length"), table.length)
        if not is_distance:
            findings.fault((*path, "length"), f"a {table.type} joint takes no length; remove it")
        elif length is not None and length <= 0.0:
            findings.fault(
                (*path, "length"),
                f"expected more than 0 m, found {length:.6g}; 'type: spherical' keeps two points "
                "together",
            )
    return LoopDescription(
        name=table.name or "",
        type=table.type or "",
        first=first,
        second=second,
        length=table.length or ZERO,
        source=findings.source(path),
    )


def _end(table: LoopEndTable | None, path: KeyPath, names: NameSpace, scalars: Scalars) -> LoopEnd:
    if table is None:
        return LoopEnd("", _STILL, Z_AXIS)
    axis = vector(table.axis, Z_AXIS)
    check_axis(axis, (*path, "axis"), scalars)
    origin = checked_pose(table.origin, (*path, "origin"), scalars) or _STILL
    link = "" if table.link is None else names.link(table.link, (*path, "link"))
    return LoopEnd(link, origin, axis)


def _check_twins(loops: list[LoopDescription], scalars: Scalars) -> None:
    """Refuse repeated loops."""
    first: dict[tuple[object, ...], LoopDescription] = {}
    for index, loop in enumerate(loops):
        key = (loop.type, frozenset((loop.first, loop.second)))
        if key in first and loop.first.link and loop.second.link:
            message = f"the same loop as {shown(first[key].name)}; remove one of them"
            scalars.findings.fault(("loops", index), message)
        first.setdefault(key, loop)


def check_relations(robot: RobotTable, scalars: Scalars) -> tuple[RelationDescription, ...]:
    """Return the relations in the order of the file."""
    checks = _RelationChecks(robot, scalars)
    relations = []
    for name, expression in (robot.relations or {}).items():
        path: KeyPath = ("relations", name)
        if expression is not None:
            checks.check(path, expression)
            if (reason := _nonlinear(expression.root)) and not scalars.findings.broken(path):
                message = (
                    f"{reason}; a relation is linear in velocities: a sum of products of one of "
                    "them and an expression of positions, t and parameters"
                )
                scalars.findings.fault(path, message)
            if not any("." in x for x in expression.names) and not scalars.findings.broken(path):
                message = "nothing in this relation moves; expected an expression of coordinates"
                scalars.findings.fault(path, message)
            relations.append(RelationDescription(name, expression, scalars.findings.source(path)))
    return tuple(relations)


def _nonlinear(node: Node) -> str:
    """Return what is not linear in velocities; "" where all is."""
    if not isinstance(node, Operation):
        return ""
    for operand in node.operands:
        if reason := _nonlinear(operand):
            return reason
    moving = [_mentions_velocity(operand) for operand in node.operands]
    if not any(moving) or node.operator in ("+", "-", "neg"):
        return ""
    if node.operator == "*":
        return "velocities are multiplied by each other" if all(moving) else ""
    if node.operator == "/":
        return "a divisor contains velocities" if moving[1] else ""
    if node.operator == "**":
        return "" if node.operands[1] == Number(1.0) else "velocities are raised to a power"
    return f"velocities are in the argument of {node.operator}"


def _mentions_velocity(node: Node) -> bool:
    if isinstance(node, Operation):
        return any(map(_mentions_velocity, node.operands))
    return isinstance(node, Name) and is_velocity(node.name)


class _RelationChecks(OutputChecks):
    """Checks names in expressions of positions, velocities and time."""

    def problem(self, name: str) -> str:
        family, *rest = name.split(".")
        state = family in RATES[:2] or (family == POINTS and rest[-1:] and rest[-1] in STATE_PARTS)
        if "." in name and not state and not super().problem(name):
            return (
                f"{shown(name)} is no position or velocity; a relation is of q.<coordinate>, "
                "qd.<coordinate>, points.<point>.x y z vx vy vz, t and parameters"
            )
        if name != TIME and name in ("kinetic_energy", "potential_energy"):
            return f"{shown(name)} is no position or velocity"
        return super().problem(name)


def check_initial(robot: RobotTable, scalars: Scalars) -> Mapping[str, tuple[Expression, ...]]:
    """Return the entries of ``q`` and ``qd``; empty if the file has no `initial`."""
    table = robot.initial
    joints = [joint for _, joint in readable(robot.joints) if not joint.gives("mimic")]
    if table is None or any(joint.kind is None or not joint.name for joint in joints):
        return {}
    angles = {joint.name for joint in joints if joint.kind and joint.kind.moved_entry == "theta"}
    initial = {}
    for key in ("q", "qd"):
        values = getattr(table, key) or {}
        entries = {name: x for joint in joints for name, x in _entries(joint, key, values).items()}
        for name, expression in values.items():
            path: KeyPath = ("initial", key, name)
            if name not in entries:
                hint = scalars.findings.did_you_mean(name, entries)
                hint = hint or f"; there are {', '.join(map(shown, list(entries)[:9]))}"
                scalars.findings.fault(path, f"{shown(name)} is no coordinate{hint}")
            scalars.initial(path, expression, turns=key == "q" and name in angles)
        initial[key] = tuple(entries.values())
        for joint in joints if key == "q" else ():
            _check_quaternion(joint, values, scalars)
    return initial


def initial_drives(robot: RobotTable, findings: Findings) -> tuple[InitialDrive, ...]:
    """The driven coordinates that `initial` names, for a quaternion all coordinates of its joint.

    Coordinates of a quaternion are those of the velocities.
    """
    drives = []
    for key in ("q", "qd") if robot.initial else ():
        values = getattr(robot.initial, key) or {}
        for _, joint in readable(robot.joints):
            if joint.gives("mimic") or joint.actuated is False:
                continue
            coordinates, entries = (tuple(_entries(joint, x, values)) for x in ("qd", key))
            whole = coordinates != entries and not values.keys().isdisjoint(entries)
            for name in coordinates if whole else filter(values.__contains__, entries):
                source = findings.source(("initial", key, name))
                drives.append(InitialDrive(name, key, source))
    return tuple(drives)


def _entries(
    joint: JointTable, key: str, values: Mapping[str, Expression | None]
) -> dict[str, Expression]:
    """Return the entries of a joint in q or qd, by name."""
    kind, name = joint.kind, joint.name or ""
    if not isinstance(kind, OnManifold):
        names = coordinate_names(name, 0 if kind is None else kind.coordinates)
    else:
        suffixes = kind.position_suffixes if key == "q" else kind.velocity_suffixes
        names = tuple(f"{name}_{suffix}" for suffix in suffixes)
    entries = {each: values.get(each) or ZERO for each in names}
    turns = isinstance(kind, (OnManifold, Redundant))
    if turns and key == "q" and values.keys().isdisjoint(names[-4:]):
        entries[names[-1]] = ONE
    return entries


def _check_quaternion(
    joint: JointTable, values: Mapping[str, Expression | None], scalars: Scalars
) -> None:
    """Refuse a quaternion whose entries are all 0."""
    kind = joint.kind
    if not isinstance(kind, (OnManifold, Redundant)):
        return
    four = tuple(_entries(joint, "q", values))[-4:]
    names = [name for name in four if values.get(name)]
    numbers = [scalars.value(("initial", "q", name), values[name] or ZERO) for name in names]
    if names and not any(x is None or x for x in numbers):
        scalars.findings.fault(
            ("initial", "q", names[-1]),
            f"the quaternion of {shown(joint.name or '')} is zero; expected {four[-1]}: 1 or such",
        )
