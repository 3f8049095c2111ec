"""Checks of parameters, and of expressions, poses and axes at their values."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from symgen.algebra import rounding
from symgen.description.expressions import (
    CONSTANTS,
    ONE,
    ZERO,
    EvaluationError,
    Expression,
    Name,
    Operation,
    evaluate,
    mentions_constant,
)
from symgen.description.findings import Findings
from symgen.description.model import Parameter, Pose, Triple
from symgen.description.names import illegal_parameter_name
from symgen.description.schema import Number, PoseTable, RobotTable
from symgen.description.wording import KeyPath, degrees_meant, seems_in_degrees, shown

_NOT_FINITE = ("nan", "inf", "infinity")
_EXPECTED = "; expected a parameter of this file, pi or deg"
ORIGIN: Triple = (ZERO, ZERO, ZERO)
Z_AXIS: Triple = (ZERO, ZERO, ONE)
QUARTERS = {
    -4: "-2*pi", -3: "-3*pi/2", -2: "-pi", -1: "-pi/2", 1: "pi/2", 2: "pi", 3: "3*pi/2", 4: "2*pi",
}  # fmt: skip
"""Multiples of pi/2 as expressions."""
_QUARTER = math.pi / 2
_MOST_QUARTERS = 4  # rounded angles up to a full turn
_NEAR = 1e-4  # relative: 1.5708 and 3.1416 are meant, 1.57 may be a measured angle
LARGEST_ANGLE = 1.01 * 2.0 * math.pi  # a full turn, with tolerance for rounding
_LEAST_LIMIT, _LARGEST_LIMIT, _STEP = 15.0, 720.0, 5.0  # degrees; +-10 means without limits
_COORDINATE = re.compile(r"(q|th|theta)_?[0-9]*", re.IGNORECASE)  # usual names of coordinates


@dataclass
class Scalars:
    """Evaluates the expressions of a file and reports their faults.

    `paths` maps all parameters to their key paths, `definitions` maps them to readable expressions.
    Faulty parameters have no `values`, and expressions with them are not evaluated, so that their
    faults are reported once.  `trusted` is False if the parameters could not be read at all, so
    that no name can be called unknown.
    """

    findings: Findings
    paths: Mapping[str, KeyPath]
    definitions: Mapping[str, Expression]
    trusted: bool
    values: dict[str, float] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    in_radians: set[str] = field(default_factory=set)  # whose definitions contain pi or deg
    # The first value that consists of the parameter only.
    bare: dict[str, KeyPath] = field(default_factory=dict)
    # Angles of another format that look rounded.
    rounded: list[KeyPath] = field(default_factory=list)

    def define(self, name: str, value: float) -> None:
        """Set the value of a parameter, after those in its definition."""
        self.values[name] = value
        if self.is_in_radians(self.definitions[name]):
            self.in_radians.add(name)

    def is_in_radians(self, expression: Expression) -> bool:
        """Whether a value contains pi or deg, so that its unit is intended."""
        return mentions_constant(expression) or not self.in_radians.isdisjoint(expression.names)

    def names_are_known(
        self, path: KeyPath, expression: Expression, coordinate: str | None = None
    ) -> bool:
        """Report every name of `expression` that is no parameter; `coordinate` as in `value`."""
        self.used.update(expression.names)
        unknown = [name for name in expression.names if name not in self.paths]
        for name in unknown if self.trusted else ():
            if name.lower() in _NOT_FINITE:
                self.findings.fault(path, f"{shown(name)} is not a finite number")
                continue
            hint = self.meant(name)
            if coordinate and (not hint or _COORDINATE.fullmatch(name)):
                added = f"the joint's coordinate is added by itself; {coordinate} is its constant"
                hint = f"{hint or _EXPECTED} ({added} offset)"
            self.findings.fault(path, f"unknown name {shown(name)}{hint or _EXPECTED}")
        return not unknown

    def meant(self, name: str) -> str:
        """Return the tail of a message about an unknown name: the nearest known one."""
        if name.lower() in CONSTANTS:
            return f"; did you mean {shown(name.lower())}?"
        return self.findings.did_you_mean(name, self.paths)

    def value(
        self, path: KeyPath, expression: Number, coordinate: str | None = None
    ) -> float | None:
        """Evaluate an expression (0 if missing); None, and a fault, if it has no value.

        `coordinate` is the key of a DH row to which the joint's coordinate is added, for messages
        about names of coordinates in it.
        """
        expression = expression or ZERO
        if isinstance(expression.root, Name) and path[0] not in ("parameters", "outputs"):
            self.bare.setdefault(expression.root.name, path)
        if not self.names_are_known(path, expression, coordinate):
            return None
        if any(name not in self.values for name in expression.names):
            return None
        try:
            return evaluate(expression, self.values)
        except EvaluationError as error:
            self.findings.fault(path, f"{shown(expression.text)}: {error}")
            return None

    def length(self, path: KeyPath, expression: Number, coordinate: str | None = None) -> None:
        """Check a length (m), and warn if it is written like an angle."""
        value = self.value(path, expression, coordinate)
        if value and expression and not expression.names and mentions_constant(expression, False):
            self.findings.warn(
                path,
                f"{shown(expression.text)} is written as an angle, and this is a length (m); does "
                "it stand in the place of another entry?",
            )

    def angle(self, path: KeyPath, expression: Number, coordinate: str | None = None) -> None:
        """Check an angle (rad), and warn if it looks like degrees or like a rounded pi/2."""
        value = self.value(path, expression, coordinate)
        if value is None or expression is None:
            return
        path, expression = self.origin(path, expression)
        if abs(value) > LARGEST_ANGLE:
            self.warn_degrees(path, expression, value)
            return
        meant = rounded_from(value)
        if meant is not None and self.findings.document.foreign:
            self.rounded.append(path)  # reported together
        elif meant is not None:
            self.findings.warn(
                path,
                f"the angle {value:.17g} is near {meant} but not equal to it; write '{meant}' if "
                "that is meant, so that its sine and cosine become exact",
            )

    def warn_rounded(self) -> None:
        """Warn once of all rounded angles of a file of another format."""
        if self.rounded:
            count = len(self.rounded)
            angles = "one angle is" if count == 1 else f"{count} angles are"
            self.findings.warn(
                self.rounded[0],
                f"{angles} near a multiple of pi/2 but not equal to it; symgen convert "
                "--round-angles writes 'pi/2', so that sine and cosine become exact and the code "
                "shorter",
            )

    def origin(self, path: KeyPath, expression: Expression) -> tuple[KeyPath, Expression]:
        """Path and expression of the definition of a value that is the name of a parameter."""
        root = expression.root
        while isinstance(root, Name) and root.name in self.definitions:
            path, expression = self.paths[root.name], self.definitions[root.name]
            root = expression.root
        return path, expression

    def warn_degrees(self, path: KeyPath, expression: Expression, value: float) -> None:
        """Warn of an angle (rad) of more than a full turn, unless it contains pi or deg."""
        if self.is_in_radians(expression):
            return
        text = expression.text
        if isinstance(expression.root, Operation) and expression.root.operator != "neg":
            text = f"({text})"
        instead = "" if self.findings.document.foreign else shown(f"{text}*deg")
        self.findings.warn(path, degrees_meant(value, instead))

    def limit(self, path: KeyPath, expression: Number, value: float) -> None:
        """Warn of a limit of an angle (rad) that looks like degrees; large limits are legal."""
        in_degrees = _LEAST_LIMIT <= abs(value) <= _LARGEST_LIMIT and value % _STEP == 0.0
        if expression is not None and in_degrees:
            self.warn_degrees(path, expression, value)

    def initial(self, path: KeyPath, expression: Number, turns: bool) -> None:
        """Check an initial coordinate, and warn if it `turns` and seems to be in degrees."""
        value = self.value(path, expression)
        if turns and value is not None and expression is not None and seems_in_degrees(value):
            self.warn_degrees(path, expression, value)

    def triple(
        self, path: KeyPath, entries: tuple[Number, Number, Number] | None
    ) -> tuple[float, float, float] | None:
        """Evaluate a vector (zero if missing); None if an entry has no value."""
        numbers = entries or (None, None, None)
        x, y, z = (self.value((*path, index), entry) for index, entry in enumerate(numbers))
        return None if x is None or y is None or z is None else (x, y, z)


def vector(entries: tuple[Number, Number, Number] | None, default: Triple = ORIGIN) -> Triple:
    """Return a vector of expressions, with missing entries from `default`."""
    if entries is None:
        return default
    x, y, z = entries
    return x or default[0], y or default[1], z or default[2]


def rounded_from(value: float) -> str | None:
    """Return the multiple of pi/2 that an angle (rad) is near but not equal to, or None."""
    quarters = round(value / _QUARTER)
    exact = quarters * _QUARTER
    if not 0 < abs(quarters) <= _MOST_QUARTERS or rounding.quarter_turns(value) is not None:
        return None
    return QUARTERS[quarters] if abs(value - exact) <= _NEAR * abs(exact) else None


def checked_pose(table: PoseTable | None, path: KeyPath, scalars: Scalars) -> Pose | None:
    """Check a fixed transform (m, rad), if there is one."""
    if table is None:
        return None
    scalars.triple((*path, "xyz"), table.xyz)
    for index, angle in enumerate(table.rpy or ()):
        scalars.angle((*path, "rpy", index), angle)
    return Pose(vector(table.xyz), vector(table.rpy))


def check_axis(axis: Triple, path: KeyPath, scalars: Scalars) -> None:
    """Refuse an axis without a direction."""
    findings = scalars.findings
    values = scalars.triple(path, axis)
    if values is None or findings.broken(path):
        return
    square = sum(value * value for value in values)  # of the length; must not underflow
    if square == 0.0:
        findings.fault(path, "the axis is zero; expected a direction such as [0, 0, 1]")
    elif not math.isfinite(square):
        findings.fault(path, "the axis is too long to be normalised in float64")


_LONGEST_CYCLE = 8  # maximum number of names of a cycle in a message
_SYMBOL = re.compile(r"(?P<symbol>q|qd|qdd|tau)(?P<line>_?)(?P<number>[1-9][0-9]*)")
_WORDS = re.compile("[A-Za-z\u00b0\u00b5\u03bc]+")
_NOT_SI = (
    "mm", "cm", "dm", "km", "um", "\u00b5m", "\u03bcm", "inch", "in", "ft", "g", "mg", "lb", "deg",
    "degree", "degrees", "\u00b0", "rpm", "ms",
)  # fmt: skip
_COORDINATES: Mapping[str, str] = {
    "q": "coordinate", "qd": "velocity", "qdd": "acceleration", "tau": "torque"
}  # fmt: skip


def check_parameters(
    robot: RobotTable, findings: Findings
) -> tuple[tuple[Parameter, ...], Scalars]:
    """Return the parameters in the order of the file, and the evaluator of expressions."""
    places: dict[str, KeyPath] = {name: ("parameters", name) for name in robot.parameters or {}}
    readable = robot.parameters is not None or not robot.gives("parameters")
    expressions = {name: table.value for name, table in (robot.parameters or {}).items()
                   if table is not None and table.value is not None}  # fmt: skip
    scalars = Scalars(findings, places, expressions, trusted=readable)
    dependencies = {name: value.names for name, value in expressions.items()}
    for name in places:
        illegal = illegal_parameter_name(name)
        if illegal:
            findings.fault(places[name], illegal)
    order, cycles = dependency_order(dependencies)
    for cycle in cycles:
        findings.fault(
            places[cycle[0]],
            f"circular definition: {_shown_cycle(cycle)}; give one of them a number",
        )
    circular = {name for cycle in cycles for name in cycle}
    for name in order:
        if name in circular:
            scalars.names_are_known(places[name], expressions[name])
            continue
        value = scalars.value(places[name], expressions[name])
        if value is not None:
            scalars.define(name, value)
    return tuple(_parameters(robot, scalars)), scalars


def _parameters(robot: RobotTable, scalars: Scalars) -> Iterator[Parameter]:
    for name, table in (robot.parameters or {}).items():
        if table is not None:
            yield Parameter(
                name=name,
                expression=table.value or ZERO,
                value=scalars.values.get(name, 0.0),
                source=scalars.findings.source(scalars.paths[name]),
                unit=table.unit or "",
                description=table.description or "",
            )


def warn_unused(parameters: Sequence[Parameter], scalars: Scalars) -> None:
    """Warn of every parameter that no expression of the file contains."""
    for parameter in parameters:
        if parameter.name not in scalars.used:
            scalars.findings.warn(("parameters", parameter.name), "this parameter is not used")


def warn_units(parameters: Sequence[Parameter], scalars: Scalars) -> bool:
    """Warn of a parameter with a unit other than SI that is the whole value of an entry.

    Return whether there is one.
    """
    warned = False
    for parameter in parameters:
        foreign = [word for word in _WORDS.findall(parameter.unit) if word in _NOT_SI]
        if foreign and parameter.name in scalars.bare:
            place = scalars.findings.document.key(scalars.bare[parameter.name])
            scalars.findings.warn(
                ("parameters", parameter.name),
                f"the unit {shown(parameter.unit)} is for readers only: {place} takes the value "
                f"{parameter.value:.6g} as it is, in SI units (m, kg, s, rad)",
            )
            warned = True
    return warned


def warn_coordinates(parameters: Sequence[Parameter], entries: int, findings: Findings) -> None:
    """Warn of every parameter with the name of a symbol of the equations, with `entries` of q."""
    for parameter in parameters:
        name, match = parameter.name, _SYMBOL.fullmatch(parameter.name)
        if match is None or len(match["number"]) > 9 or int(match["number"]) > entries:
            continue
        effect = (
            f"will rename theirs to {shown(f'{name}_2')}" if match["line"]
            else "both look alike in print; answers to 'symgen grade' mean the parameter by it"
        )  # fmt: skip
        what = f"{_COORDINATES[match['symbol']]} {match['number']} {shown(name)}"
        findings.warn(
            ("parameters", name),
            f"equations call {what} and {effect}; another parameter name reads better",
        )


def dependency_order(
    dependencies: Mapping[str, Sequence[str]],
) -> tuple[list[str], list[tuple[str, ...]]]:
    """Sort names topologically, dependencies first, and list cycles.

    Names that are not keys of `dependencies` are ignored.  The depth-first search has its own
    stack, because a chain of definitions may be as long as the file.  Cycles that share a name with
    an earlier one are not listed.
    """
    listed = {name: position for position, name in enumerate(dependencies)}
    order: list[str] = []
    cycles: list[tuple[str, ...]] = []
    circular: set[str] = set()
    finished: set[str] = set()
    for start in dependencies:
        chain: dict[str, Iterator[str]] = {}  # the path from `start`, in order
        visit: str | None = None if start in finished else start
        while visit is not None or chain:
            if visit is not None:
                chain[visit] = iter(dependencies[visit])
            name = next(reversed(chain))
            visit = None
            for successor in chain[name]:
                if successor in chain:
                    cycle = _cycle(chain, successor, circular)
                    if cycle:  # rotated to start at the name that the file lists first
                        at = cycle.index(min(cycle, key=listed.__getitem__))
                        cycles.append(cycle[at:] + cycle[:at])
                        circular.update(cycle)
                elif successor in dependencies and successor not in finished:
                    visit = successor
                    break
            else:
                finished.add(name)
                order.append(name)
                del chain[name]
    return order, cycles


def _cycle(chain: dict[str, Iterator[str]], start: str, circular: set[str]) -> tuple[str, ...]:
    """Return the end of `chain` from `start` on; empty if it contains a name of a listed cycle."""
    cycle: list[str] = []
    for name in reversed(chain):
        if name in circular:
            return ()
        cycle.append(name)
        if name == start:
            break
    return tuple(reversed(cycle))


def _shown_cycle(cycle: tuple[str, ...]) -> str:
    names = [*cycle, cycle[0]]
    if len(names) > _LONGEST_CYCLE:
        names = [*names[: _LONGEST_CYCLE - 2], "...", cycle[-1], cycle[0]]
    return " -> ".join(names)
