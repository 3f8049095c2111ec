"""Checks of springs and forces.

Decisions of this module: springs and forces share one name space; a named point determines its
link, so that `link` may be omitted; stiffness, damping and length of a spring are 0 by default; a
spring without stiffness and damping, or with both ends on one link, is a fault; damping and length
are not negative, while a negative stiffness gives a warning; a spring with a `force` has no
stiffness and damping, and the slope of its `energy` is its force at rest; a force acts on a link
other than the base, in base axes; a name of `let` differs from all parameters and is defined before
its use.  As in outputs, every constant part of an expression is finite at the values of the
parameters.  Names of variables of a spring's law or of the ground, such as x, are not those of
parameters.  A tyre is on the link of a revolute joint; its stiffnesses are not negative, the first
is positive, and friction does not grow with slip.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress

from symgen.description.expressions import ZERO, EvaluationError, Expression, derivative, evaluate
from symgen.description.findings import Findings
from symgen.description.model import ForceDescription, LinkPoint, SpringDescription
from symgen.description.names import BASE, NameSpace, UniqueNames, illegal_parameter_name
from symgen.description.outputs import LawChecks, OutputChecks, names_of
from symgen.description.quantities import TIME, StateVocabulary
from symgen.description.scalars import ORIGIN, Scalars, vector
from symgen.description.schema import TYRE, EndTable, ForceTable, RobotTable, SpringTable, readable
from symgen.description.tyres import TyreChecks
from symgen.description.wording import KeyPath, shown

_ENDS = 2
_SPRING_VARIABLES = ("x", "l", "v")
_OF_FORCES = ("link", "let", "force", "torque")
_OF_TYRES = ("wheel", "radius", "width", "normal", "slip")
_TYRES_MAY = ("rolling", "ground")
_SHARES = (-0.73, -0.31, 0.17, 0.59)
"""Elongations at which energies are checked, in units of the length or 1 m."""
_NEAR = 1e-6


def check_forces(
    robot: RobotTable, points: Sequence[LinkPoint], names: NameSpace, scalars: Scalars
) -> tuple[tuple[SpringDescription, ...], tuple[ForceDescription, ...]]:
    """Return the springs and the forces, in the order of the file."""
    resolver, findings = _Resolver(robot, points, names, scalars), scalars.findings
    unique = UniqueNames("the name of a spring or force", findings)
    laws = LawChecks(robot, scalars)
    springs, forces = [], []
    for index, spring in readable(robot.springs):
        path: KeyPath = ("springs", index)
        unique.check(spring.name, (*path, "name"))
        springs.append(_spring(spring, path, resolver, laws))
    checks, tyres = _ForceChecks(robot, scalars), TyreChecks(robot, names, scalars)
    for index, force in readable(robot.forces):
        path = ("forces", index)
        unique.check(force.name, (*path, "name"))
        _check_keys(force, path, findings)
        if force.type == TYRE:
            forces.append(tyres.tyre(force, path, laws))
        else:
            forces.append(_force(force, path, resolver, checks))
    return tuple(springs), tuple(forces)


def _spring(
    table: SpringTable, path: KeyPath, resolver: _Resolver, laws: LawChecks
) -> SpringDescription:
    ends = _ends(table, path, resolver)
    _check_numbers(table, path, resolver.scalars)
    _check_law(table, path, laws)
    numbers = (x or ZERO for x in (table.stiffness, table.damping, table.length))
    stiffness, damping, length = numbers
    source = resolver.scalars.findings.source(path)
    law = table.force, table.energy
    return SpringDescription(table.name or "", ends, stiffness, damping, length, source, *law)


def _ends(table: SpringTable, path: KeyPath, resolver: _Resolver) -> tuple[LinkPoint, LinkPoint]:
    findings, ends = resolver.scalars.findings, table.between
    path = (*path, "between")
    points = [resolver.of(end, (*path, index)) for index, end in readable(ends)]
    if ends is not None and len(ends) != _ENDS:
        findings.fault(path, f"a spring has two ends [{{link, point}}, ..], found {len(ends)}")
    if len(points) != _ENDS:
        nowhere = LinkPoint("", "", ORIGIN, findings.source(path))
        return nowhere, nowhere
    first, second = points
    if first.link and first.link == second.link:
        message = f"both ends are on {shown(first.link)}, so that the spring does nothing"
        findings.fault(path, message)
    return first, second


def _check_numbers(table: SpringTable, path: KeyPath, scalars: Scalars) -> None:
    findings = scalars.findings
    if not any(map(table.gives, ("stiffness", "damping", "force"))):
        what = "expected 'stiffness', 'damping' or both, or 'force'"
        findings.fault(path, f"{what}: it does nothing else")
    for key in ("stiffness", "damping", "length"):
        value = scalars.value((*path, key), getattr(table, key))
        if value is None or value >= 0.0:
            continue
        if key == "stiffness":
            findings.warn((*path, key), "negative: the spring pushes away from its length")
        else:
            findings.fault((*path, key), f"{value:.6g} is negative; expected 0 or more")


def _check_law(table: SpringTable, path: KeyPath, laws: LawChecks) -> None:
    findings, law, energy = laws.findings, table.force, table.energy
    for key in ("stiffness", "damping") if table.gives("force") else ():
        if table.gives(key):
            findings.fault((*path, key), "'force' replaces it; write it in that expression")
    if table.gives("energy") and not table.gives("force"):
        findings.fault((*path, "energy"), "it is that of 'force', which is missing; leave it out")
    if law is not None:
        laws.check_law((*path, "force"), law, _SPRING_VARIABLES)
    if energy is not None:
        laws.check_law((*path, "energy"), energy, _SPRING_VARIABLES[:2])
    if law is not None and energy is not None and not findings.broken(path):
        _check_energy(law, energy, (*path, "energy"), laws.scalars, table.length or ZERO)


def _check_energy(
    law: Expression, energy: Expression, path: KeyPath, scalars: Scalars, length: Expression
) -> None:
    """Refuse an energy whose slope is not the force at rest, at several x that have a value."""
    by_x, by_l = (Expression("", derivative(energy.root, name), ()) for name in "xl")
    pairs: list[tuple[float, float, float]] = []
    for share in _SHARES:
        with suppress(EvaluationError):  # no value here, or reported
            slack = evaluate(length, scalars.values)
            x = share * (slack or 1.0)
            values = {**scalars.values, "x": x, "l": slack + x, "v": 0.0}
            slope = evaluate(by_x, values) + evaluate(by_l, values)
            pairs.append((x, slope, evaluate(law, values)))
    largest = max((max(abs(slope), abs(force)) for _, slope, force in pairs), default=0.0)
    for x, slope, force in pairs:
        if abs(slope - force) > _NEAR * largest:
            slopes = f"its slope at x = {x:.6g} is {slope:.6g} N, and 'force' at rest {force:.6g} N"
            scalars.findings.fault(path, f"{slopes}; expected the integral of 'force' at v = 0")
            return


def _check_keys(table: ForceTable, path: KeyPath, findings: Findings) -> None:
    """Report keys of the other type, and those that a tyre lacks."""
    is_tyre = table.type == TYRE
    for key in _OF_FORCES if is_tyre else (*_OF_TYRES, *_TYRES_MAY):
        if table.gives(key):
            of, remedy = (
                ("a force", "leave it out") if is_tyre else ("a tyre", "write 'type: tyre'")
            )
            findings.fault((*path, key), f"this key is that of {of}; {remedy}")
    for key in _OF_TYRES if is_tyre else ():
        if not table.gives(key):
            words = ForceTable.all_keys()[key].words
            message = f"this key is required and missing for a tyre; expected {words}"
            findings.fault((*path, key), message)


def _force(
    table: ForceTable, path: KeyPath, resolver: _Resolver, checks: _ForceChecks
) -> ForceDescription:
    findings = resolver.scalars.findings
    at = resolver.of(table, path)
    if at.link == BASE:
        findings.fault((*path, "link"), "a force on the base does nothing; name another link")
    if not (table.gives("force") or table.gives("torque")):
        findings.fault(path, "expected 'force', 'torque' or both: it does nothing else")
    definitions, vectors = checks.all(table, path), (vector(table.force), vector(table.torque))
    return ForceDescription(table.name or "", at, definitions, *vectors, findings.source(path))


class _Resolver:
    """Resolves points on links: by the name of one of `points`, or by coordinates."""

    def __init__(
        self, robot: RobotTable, points: Sequence[LinkPoint], names: NameSpace, scalars: Scalars
    ) -> None:
        self.scalars, self.names = scalars, names
        self.points = {point.name: point for point in points}
        self.complete = names_of(robot.points, robot.gives("points")) is not None

    def of(self, table: EndTable | ForceTable, path: KeyPath) -> LinkPoint:
        """Return the point of a table; its link is "" if unknown."""
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
            message = f"the point {shown(name)} is on {shown(point.link)}; leave 'link' out"
            findings.fault((*path, "link"), message)
        return point


class _ForceChecks(OutputChecks):
    """Checks the expressions of forces, whose names are positions, velocities and the time."""

    def __init__(self, robot: RobotTable, scalars: Scalars) -> None:
        super().__init__(robot, scalars)
        coordinates, points = self.vocabulary.coordinates, self.vocabulary.points
        self.vocabulary = StateVocabulary(coordinates, (), points, (), singles=(TIME,))
        self.later: Collection[str] = ()

    def all(self, table: ForceTable, path: KeyPath) -> tuple[tuple[str, Expression], ...]:
        """Check one force; return the definitions of `let`."""
        defined: dict[str, Expression] = {}
        self.later = table.let or {}
        for name, value in self.later.items():
            at = (*path, "let", name)
            problem = illegal_parameter_name(name)
            if name in self.scalars.paths:
                problem = f"{shown(name)} is a parameter of this file; choose another name"
            if problem:
                self.findings.fault(at, problem)
            if value is not None:
                self.check(at, value, defined)
                defined[name] = value
        self.later = defined
        for key in ("force", "torque"):
            for place, value in enumerate(getattr(table, key) or ()):
                if value is not None:
                    self.check((*path, key, place), value, defined)
        return tuple(defined.items())

    def problem(self, name: str) -> str:
        if name in self.scalars.paths:
            return ""
        if name in self.later:
            return f"{shown(name)} is given below; write it above what uses it"
        return "" if name == TIME else super().problem(name)

    def meant(self, name: str) -> str:
        expected = f"; expected a parameter of this file, one of 'let', or a quantity{self.example}"
        return self.coordinate_hint(name) or self.scalars.meant(name) or expected


def named_points(force: ForceDescription) -> tuple[str, ...]:
    """Return the points whose motion a force depends on, each once."""
    words = (name.split(".") for name in force.names)
    return tuple(dict.fromkeys(rest[0] for family, *rest in words if family == "points" and rest))
