"""Closed loops: joints that close them, relations, and where a mechanism begins.

A loop keeps two frames together as a joint of its type would.  A relation is an expression that is
0, of coordinates, positions of points, time and parameters.  Where the format is silent: loops and
relations share one name space; both frames of a loop may be on the base's side, but not on one
link; relations of coordinates that follow others are written with those that they follow; a
position or velocity that `initial` does not name is 0.
"""

from __future__ import annotations

from collections.abc import Mapping

from symgen.description.expressions import ZERO, Expression
from symgen.description.findings import Findings
from symgen.description.mimic import coordinates_of
from symgen.description.model import LoopDescription, LoopEnd, Pose, RelationDescription
from symgen.description.names import NameSpace, illegal_name
from symgen.description.outputs import OutputChecks
from symgen.description.poses import Z_AXIS, check_axis, checked_pose
from symgen.description.quantities import POINT_POSITIONS, POINTS, TIME
from symgen.description.scalars import ORIGIN, Scalars, vector
from symgen.description.schema import LoopEndTable, LoopTable, RobotTable
from symgen.description.wording import KeyPath, shown
from symgen.joints import OnManifold
from symgen.joints.distance import Distance

_STILL = Pose(ORIGIN, ORIGIN)


def check_loops(
    robot: RobotTable, names: NameSpace, scalars: Scalars
) -> tuple[LoopDescription, ...]:
    """The loops in the order of the file."""
    taken: dict[str, KeyPath] = {}
    found = []
    for index, table in enumerate(robot.loops or []):
        if table is not None:
            path: KeyPath = ("loops", index)
            _check_name(table.name, (*path, "name"), taken, scalars.findings)
            found.append(_loop(table, path, names, scalars))
    _check_twins(found, scalars)
    _check_quaternions(robot, scalars.findings)
    for name in robot.relations or {}:
        _check_name(name, ("relations", name), taken, scalars.findings)
    return tuple(found)


def _check_name(
    name: str | None, path: KeyPath, taken: dict[str, KeyPath], findings: Findings
) -> None:
    if name is None:
        return
    problem = illegal_name(name)
    if name in taken:
        _, line = findings.document.where(taken[name])
        problem = f"{shown(name)} is already the name of a loop, in line {line}"
    if problem:
        findings.fault(path, problem)
    taken.setdefault(name, path)


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
    origin = _STILL
    if table.origin is not None:
        origin = checked_pose(table.origin, (*path, "origin"), scalars)
    link = "" if table.link is None else names.link(table.link, (*path, "link"))
    return LoopEnd(link, origin, axis)


def _check_twins(loops: list[LoopDescription], scalars: Scalars) -> None:
    """No loop stands twice."""
    seen: dict[tuple[object, ...], LoopDescription] = {}
    for index, loop in enumerate(loops):
        what = (loop.type, frozenset((loop.first, loop.second)))
        if what in seen and loop.first.link and loop.second.link:
            scalars.findings.fault(
                ("loops", index), f"the same loop as {shown(seen[what].name)}; remove one of them"
            )
        seen.setdefault(what, loop)


def _check_quaternions(robot: RobotTable, findings: Findings) -> None:
    """Not beside loops as yet."""
    if not robot.loops and not robot.relations:
        return
    foreign = findings.document.foreign
    for index, joint in enumerate(robot.joints or []):
        if joint is not None and isinstance(joint.kind, OnManifold):
            findings.fault(
                ("joints", index, "coordinates"),
                "quaternions are not available yet in models with loops or relations; "
                + ("give --angles" if foreign else "write 'coordinates: angles'"),
            )


# ----------------------------------------------------------------------------------- relations


def check_relations(robot: RobotTable, scalars: Scalars) -> tuple[RelationDescription, ...]:
    """The relations in the order of the file."""
    checks = _RelationChecks(robot, scalars)
    found = []
    for name, expression in (robot.relations or {}).items():
        path: KeyPath = ("relations", name)
        if expression is not None:
            checks.check(path, expression)
            found.append(RelationDescription(name, expression, scalars.findings.source(path)))
    return tuple(found)


class _RelationChecks(OutputChecks):
    """As outputs, of positions and time alone."""

    def check(self, path: KeyPath, expression: Expression) -> None:
        """Report what is wrong with one relation."""
        super().check(path, expression)
        moving = [name for name in expression.names if "." in name]
        if not moving and not self.findings.broken(path):
            self.findings.fault(
                path, "nothing in this relation moves; expected an expression of coordinates"
            )

    def problem(self, name: str) -> str:
        """What is wrong with a name in a relation, or nothing."""
        family, *rest = name.split(".")
        known = family == "q" or (family == POINTS and rest[-1:] and rest[-1] in POINT_POSITIONS)
        if "." in name and not known and not super().problem(name):
            return (
                f"{shown(name)} is no position; a relation is of q.<coordinate>, "
                "points.<point>.x y z, t and parameters"
            )
        if name != TIME and name in ("kinetic_energy", "potential_energy"):
            return f"{shown(name)} is no position"
        return super().problem(name)


# ------------------------------------------------------------------------------------- initial


def check_initial(robot: RobotTable, scalars: Scalars) -> Mapping[str, tuple[Expression, ...]]:
    """``q`` and ``qd`` by coordinate; nothing where the file says nothing."""
    table = robot.initial
    coordinates = coordinates_of(robot, independent=True)
    if table is None or coordinates is None:
        return {}
    found = {}
    for key in ("q", "qd"):
        given = getattr(table, key) or {}
        for name, expression in given.items():
            path: KeyPath = ("initial", key, name)
            if name not in coordinates:
                hint = scalars.findings.did_you_mean(name, coordinates)
                hint = hint or f"; there are {', '.join(map(shown, coordinates[:9]))}"
                scalars.findings.fault(path, f"{shown(name)} is no coordinate{hint}")
            scalars.value(path, expression)
        found[key] = tuple(given.get(name) or ZERO for name in coordinates)
    return found
