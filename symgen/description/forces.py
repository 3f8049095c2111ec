"""Springs and forces of a model: where they act, and what they are.

Where the format is silent: springs and forces have names of their own, each once; a point that is
named says which link it is on, so that `link` may be left out; stiffness, damping and length of a
spring are 0 unless they are given; a spring that neither pulls nor brakes, or whose ends are on one
link, is a fault; damping and length are not negative, while a negative stiffness is legal and
remarked; a force acts on a link that may move, in base axes; a name of `let` is no name of a
parameter, and is used after it was given.  As in outputs, every part of an expression that nothing
else is in is finite at the values of the parameters.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from symgen.description.expressions import ZERO, EvaluationError, Expression
from symgen.description.mimic import coordinates_of
from symgen.description.model import (
    ForceDescription,
    LinkPoint,
    SpringDescription,
)
from symgen.description.names import BASE, NameSpace, illegal_name, illegal_parameter_name
from symgen.description.outputs import constant_part, names_of
from symgen.description.quantities import RATES, TIME, StateVocabulary
from symgen.description.scalars import ORIGIN, Scalars, vector
from symgen.description.schema import EndTable, ForceTable, Number, RobotTable, SpringTable
from symgen.description.wording import KeyPath, shown

_ENDS = 2


def check_springs(
    robot: RobotTable, points: Sequence[LinkPoint], names: NameSpace, scalars: Scalars
) -> tuple[SpringDescription, ...]:
    """The springs, in the order of the file."""
    places = _Places(robot, points, names, scalars)
    springs = []
    for index, table in enumerate(robot.springs or []):
        if table is not None:
            path: KeyPath = ("springs", index)
            _check_name(robot, path, table.name, scalars)
            ends = _ends(table, path, places)
            _check_numbers(table, path, scalars)
            source = scalars.findings.source(path)
            found = (table.stiffness or ZERO, table.damping or ZERO, table.length or ZERO)
            springs.append(SpringDescription(table.name or "", ends, *found, source))
    return tuple(springs)


def _ends(table: SpringTable, path: KeyPath, places: _Places) -> tuple[LinkPoint, LinkPoint]:
    """Both ends; what is faulty is reported."""
    findings, ends = places.scalars.findings, table.between
    path = (*path, "between")
    found = [
        places.of(end, (*path, place)) for place, end in enumerate(ends or []) if end is not None
    ]
    if ends is not None and len(ends) != _ENDS:
        findings.fault(path, f"a spring has two ends [{{link, point}}, ..], found {len(ends)}")
    if len(found) != _ENDS:
        nowhere = LinkPoint("", "", ORIGIN, findings.source(path))
        return nowhere, nowhere
    first, second = found
    if first.link and first.link == second.link:
        findings.fault(
            path, f"both ends are on {shown(first.link)}, so that the spring does nothing"
        )
    return first, second


def _check_numbers(table: SpringTable, path: KeyPath, scalars: Scalars) -> None:
    findings = scalars.findings
    if not (table.gives("stiffness") or table.gives("damping")):
        findings.fault(path, "expected 'stiffness', 'damping' or both: it does nothing else")
    for key in ("stiffness", "damping", "length"):
        value = scalars.value((*path, key), getattr(table, key))
        if value is None or value >= 0.0:
            continue
        if key == "stiffness":
            findings.warn((*path, key), "negative: the spring pushes away from its length")
        else:
            findings.fault((*path, key), f"{value:.6g} is negative; expected 0 or more")


def check_forces(
    robot: RobotTable, points: Sequence[LinkPoint], names: NameSpace, scalars: Scalars
) -> tuple[ForceDescription, ...]:
    """The forces, in the order of the file."""
    places, findings = _Places(robot, points, names, scalars), scalars.findings
    checks = _ForceChecks(robot, scalars)
    forces = []
    for index, table in enumerate(robot.forces or []):
        if table is None:
            continue
        path: KeyPath = ("forces", index)
        _check_name(robot, path, table.name, scalars)
        at = places.of(table, path)
        if at.link == BASE:
            findings.fault((*path, "link"), "a force on the base does nothing; name another link")
        if not (table.gives("force") or table.gives("torque")):
            findings.fault(path, "expected 'force', 'torque' or both: it does nothing else")
        let = checks.all(table, path)
        forces.append(
            ForceDescription(
                table.name or "",
                at,
                let,
                vector(table.force),
                vector(table.torque),
                findings.source(path),
            )
        )
    return tuple(forces)


def _check_name(robot: RobotTable, path: KeyPath, name: str | None, scalars: Scalars) -> None:
    """Springs and forces share one name space."""
    if name is None:
        return
    path = (*path, "name")
    problem = illegal_name(name)
    for other in _named(robot):
        if other == path:
            break
        if _name_at(robot, other) == name:
            _, line = scalars.findings.document.where(other)
            problem = f"{shown(name)} is already the name of a spring or force, in line {line}"
    if problem:
        scalars.findings.fault(path, problem)


def _named(robot: RobotTable) -> Iterator[KeyPath]:
    """Where the names of all springs and forces stand."""
    for section in ("springs", "forces"):
        for index, table in enumerate(getattr(robot, section) or []):
            if table is not None and table.name is not None:
                yield (section, index, "name")


def _name_at(robot: RobotTable, path: KeyPath) -> str:
    section, index, _ = path
    return str(getattr(robot, str(section))[index].name)


class _Places:
    """Points on links: by the name of one of `points`, or by coordinates."""

    def __init__(
        self, robot: RobotTable, points: Sequence[LinkPoint], names: NameSpace, scalars: Scalars
    ) -> None:
        self.scalars, self.names = scalars, names
        self.points = {point.name: point for point in points}
        self.complete = names_of(robot.points, robot.gives("points")) is not None

    def of(self, table: EndTable | ForceTable, path: KeyPath) -> LinkPoint:
        """Where it is; "" stands for a link that is not known."""
        findings, source = self.scalars.findings, self.scalars.findings.source(path)
        link = "" if table.link is None else self.names.link(table.link, (*path, "link"))
        if isinstance(table.point, str):
            return self._named(table.point, link, path)
        if not table.gives("link"):
            findings.fault((*path, "link"), "this key is required and missing, unless 'point' is "
                           "the name of one of 'points'; expected the name of a link")  # fmt: skip
        self.scalars.triple((*path, "point"), table.point)
        return LinkPoint("", link, vector(table.point), source)

    def _named(self, name: str, link: str, path: KeyPath) -> LinkPoint:
        findings, point = self.scalars.findings, self.points.get(name)
        if point is None:
            if self.complete:
                hint = findings.did_you_mean(name, self.points)
                hint = hint or "; expected the name of one of 'points', or [x, y, z]"
                findings.fault((*path, "point"), f"{shown(name)} names no point{hint}")
            return LinkPoint("", link, ORIGIN, findings.source(path))
        if link and point.link and link != point.link:
            findings.fault(
                (*path, "link"),
                f"the point {shown(name)} is on {shown(point.link)}; leave 'link' out",
            )
        return point


class _ForceChecks:
    """Checks the expressions of forces."""

    def __init__(self, robot: RobotTable, scalars: Scalars) -> None:
        self.scalars, self.findings = scalars, scalars.findings
        self.vocabulary = StateVocabulary(
            coordinates_of(robot, independent=True),
            (),
            names_of(robot.points, robot.gives("points")),
            (),
            singles=(TIME,),
        )

    def all(self, table: ForceTable, path: KeyPath) -> tuple[tuple[str, Expression], ...]:
        """Check all of one force; what it lets names stand for."""
        known: dict[str, Expression] = {}
        for name, value in (table.let or {}).items():
            here = (*path, "let", name)
            problem = illegal_parameter_name(name)
            if name in self.scalars.known:
                problem = f"{shown(name)} is a parameter of this file; choose another name"
            if problem:
                self.findings.fault(here, problem)
            self._check(here, value, known, table.let or {})
            if value is not None:
                known[name] = value
        for key in ("force", "torque"):
            for place, value in enumerate(getattr(table, key) or ()):
                self._check((*path, key, place), value, known, known)
        return tuple(known.items())

    def _check(
        self,
        path: KeyPath,
        expression: Number,
        known: Mapping[str, Expression],
        given: Collection[str],
    ) -> None:
        """Report what is wrong with one expression."""
        if expression is None:
            return
        scalars = self.scalars
        scalars.used.update(expression.names)
        for name in expression.names:
            if name not in known and (problem := self._problem(name, given)):
                self.findings.fault(path, problem)
        if any(name in scalars.known and name not in scalars.values for name in expression.names):
            return  # a parameter is faulty itself
        try:
            constant_part(expression.root, scalars.values)
        except EvaluationError as error:
            self.findings.fault(path, f"{shown(expression.text)}: {error}")

    def _problem(self, name: str, given: Collection[str]) -> str:
        """What is wrong with a name in an expression, or nothing."""
        if name in self.scalars.known:
            return ""
        if name in given:
            return f"{shown(name)} is given below; write it above what uses it"
        if name == TIME:
            return ""
        if "." in name or name in self.vocabulary.families:
            return self.vocabulary.problem(name, self.findings.nearest)
        return f"unknown name {shown(name)}{self._meant(name)}" if self.scalars.trusted else ""

    def _meant(self, name: str) -> str:
        """The tail of a message about a name without dots."""
        coordinates = self.vocabulary.coordinates or ()
        if name in coordinates:
            return f"; did you mean {shown(f'{RATES[0]}.{name}')}?"
        example = f" such as {shown(f'{RATES[0]}.{coordinates[0]}')}" if coordinates else ""
        expected = f"; expected a parameter of this file, one of 'let', or a quantity{example}"
        return self.scalars.meant(name) or expected


def named_points(force: ForceDescription) -> tuple[str, ...]:
    """The points whose motion a force depends on, each once."""
    words = (name.split(".") for name in force.names)
    return tuple(dict.fromkeys(rest[0] for family, *rest in words if family == "points" and rest))
