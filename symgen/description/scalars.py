"""Values of expressions, poses and axes at the parameters' values, and faults in them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from symgen.algebra import rounding
from symgen.description.expressions import (
    CONSTANTS,
    FUNCTIONS,
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
from symgen.description.model import Pose, Triple
from symgen.description.schema import Number, PoseTable
from symgen.description.wording import KeyPath, degrees_meant, shown

_NOT_FINITE = ("nan", "inf", "infinity")
_EXPECTED = "; expected a parameter of this file, pi or deg"
ORIGIN: Triple = (ZERO, ZERO, ZERO)
_QUARTER = math.pi / 2
_MOST_QUARTERS = 4  # beyond a full turn nobody writes rounded angles
_NEAR = 1e-4  # relative: 1.5708 and 3.1416 are meant, 1.57 may be a measured angle
LARGEST_ANGLE = 1.01 * 2.0 * math.pi  # a full turn, however it was rounded
_LEAST_LIMIT, _LARGEST_LIMIT, _STEP = 15.0, 720.0, 5.0  # degrees; +-10 means without limits
_COORDINATE = re.compile(r"(q|th|theta)_?[0-9]*", re.IGNORECASE)  # what people call coordinates


class Scalars:
    """Evaluates the expressions of a file, each at its place, and reports what goes wrong.

    `known` are the places of all parameters, `definitions` the expressions of those that have a
    readable one.  `values` lacks the parameters that are faulty themselves: what builds on those
    is not evaluated, so that their faults are reported once.  `trusted` is False where the
    parameters could not be read at all, so that no name can be called unknown.
    """

    def __init__(
        self,
        findings: Findings,
        known: Mapping[str, KeyPath],
        definitions: Mapping[str, Expression],
        trusted: bool,
    ) -> None:
        self.findings = findings
        self.known = known
        self.definitions = definitions
        self.trusted = trusted
        self.values: dict[str, float] = {}
        self.used: set[str] = set()  # these two are only asked for membership
        self.in_radians: set[str] = set()  # parameters that pi or deg has a part in
        self.alone: dict[str, KeyPath] = {}  # parameters that are a whole value, and the first such
        self.rounded: list[KeyPath] = []  # angles of another format that look rounded

    def define(self, name: str, value: float) -> None:
        """Give a parameter its value; those that it depends on have theirs."""
        self.values[name] = value
        if self.is_in_radians(self.definitions[name]):
            self.in_radians.add(name)

    def is_in_radians(self, expression: Expression) -> bool:
        """Whether pi or deg has a part in a value: who wrote it knows in which unit it is."""
        return mentions_constant(expression) or not self.in_radians.isdisjoint(expression.names)

    def names_are_known(
        self, path: KeyPath, expression: Expression, coordinate: str | None = None
    ) -> bool:
        """Report every name of `expression` that is no parameter; `coordinate` as in `value`."""
        self.used.update(expression.names)
        unknown = [name for name in expression.names if name not in self.known]
        for name in unknown if self.trusted else ():
            if name.lower() in _NOT_FINITE:
                self.findings.fault(path, f"{shown(name)} is not a finite number")
                continue
            hint = self.meant(name)
            if coordinate and (not hint or _COORDINATE.fullmatch(name)):
                hint = (
                    f"{hint or _EXPECTED} (the joint's coordinate is added by itself; {coordinate} "
                    "is its constant offset)"
                )
            self.findings.fault(path, f"unknown name {shown(name)}{hint or _EXPECTED}")
        return not unknown

    def meant(self, name: str) -> str:
        """The tail of a message about an unknown name, where a known one is near."""
        if name.lower() in CONSTANTS:
            return f"; did you mean {shown(name.lower())}?"
        return self.findings.did_you_mean(name, self.known)

    def value(
        self, path: KeyPath, expression: Number, coordinate: str | None = None
    ) -> float | None:
        """The value of an expression (0 where none is given), or None where it has none.

        `coordinate` is the key of a DH row that the joint's coordinate is added to, where people
        may try to write the coordinate itself.
        """
        expression = expression or ZERO
        if isinstance(expression.root, Name) and path[0] not in ("parameters", "outputs"):
            self.alone.setdefault(expression.root.name, path)
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
        """Check a length (m), and warn where it is written as people write angles."""
        value = self.value(path, expression, coordinate)
        if (
            value
            and expression is not None
            and not expression.names
            and written_as_angle(expression)
        ):
            self.findings.warn(
                path,
                f"{shown(expression.text)} is written as an angle, and this is a length (m); does "
                "it stand in the place of another entry?",
            )

    def angle(self, path: KeyPath, expression: Number, coordinate: str | None = None) -> None:
        """Check an angle (rad), and warn where it looks like degrees, or like a rounded pi/2."""
        value = self.value(path, expression, coordinate)
        if value is None or expression is None:
            return
        path, expression = self.origin(path, expression)
        if abs(value) > LARGEST_ANGLE:
            self.warn_degrees(path, expression, value)
            return
        meant = rounded_from(value)
        if meant is not None and self.findings.document.foreign:
            self.rounded.append(path)  # many in such files: they are reported together
        elif meant is not None:
            self.findings.warn(
                path,
                f"the angle {value:.17g} is near {meant} but not equal to it; write '{meant}' if "
                "that is meant, so that its sine and cosine become exact",
            )

    def warn_rounded(self) -> None:
        """Report at once that a file of another format has rounded angles."""
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
        """Where a value that is but the name of a parameter comes from; it has been evaluated."""
        root = expression.root
        while isinstance(root, Name) and root.name in self.definitions:
            path, expression = self.known[root.name], self.definitions[root.name]
            root = expression.root
        return path, expression

    def warn_degrees(self, path: KeyPath, expression: Expression, value: float) -> None:
        """Warn of an angle (rad) beyond a full turn, unless it is written with pi or deg."""
        if self.is_in_radians(expression):
            return
        text = expression.text
        if isinstance(expression.root, Operation) and expression.root.operator != "neg":
            text = f"({text})"
        instead = "" if self.findings.document.foreign else shown(f"{text}*deg")
        self.findings.warn(path, degrees_meant(value, instead))

    def limit(self, path: KeyPath, expression: Number, value: float) -> None:
        """Warn of a limit of an angle (rad) that looks like degrees.

        Some joints turn many times: only what nobody writes in radians is remarked.
        """
        in_degrees = _LEAST_LIMIT <= abs(value) <= _LARGEST_LIMIT and value % _STEP == 0.0
        if expression is not None and in_degrees:
            self.warn_degrees(path, expression, value)

    def triple(
        self, path: KeyPath, entries: tuple[Number, Number, Number] | None
    ) -> tuple[float, float, float] | None:
        """The values of a vector (zero where none is given), or None where one has none."""
        x, y, z = entries or (None, None, None)
        values = [self.value((*path, index), entry) for index, entry in enumerate((x, y, z))]
        if values[0] is None or values[1] is None or values[2] is None:
            return None
        return values[0], values[1], values[2]


def vector(entries: tuple[Number, Number, Number] | None, default: Triple = ORIGIN) -> Triple:
    """A vector of expressions; what is not given is taken from `default`."""
    if entries is None:
        return default
    x, y, z = entries
    return x or default[0], y or default[1], z or default[2]


def rounded_from(value: float) -> str | None:
    """The multiple of pi/2 that an angle (rad) is near but not equal to, or None."""
    quarters = round(value / _QUARTER)
    exact = quarters * _QUARTER
    if not 0 < abs(quarters) <= _MOST_QUARTERS or rounding.quarter_turns(value) is not None:
        return None
    return _multiple(quarters) if abs(value - exact) <= _NEAR * abs(exact) else None


def _multiple(quarters: int) -> str:
    sign = "-" if quarters < 0 else ""
    return sign + {1: "pi/2", 2: "pi", 3: "3*pi/2", 4: "2*pi"}[abs(quarters)]


def written_as_angle(expression: Expression) -> bool:
    """Whether pi or deg stands in an expression, and not in the argument of a function."""
    waiting = [expression.root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Name) and node.name in CONSTANTS:
            return True
        if isinstance(node, Operation) and node.operator not in FUNCTIONS:
            waiting.extend(node.operands)
    return False


# ------------------------------------------------------------------------------------------ poses


Z_AXIS: Triple = (ZERO, ZERO, ONE)


def checked_pose(table: PoseTable, path: KeyPath, scalars: Scalars) -> Pose:
    """A fixed transform (m, rad)."""
    scalars.triple((*path, "xyz"), table.xyz)
    for index, angle in enumerate(table.rpy or ()):
        scalars.angle((*path, "rpy", index), angle)
    return Pose(vector(table.xyz), vector(table.rpy))


def check_axis(axis: Triple, path: KeyPath, scalars: Scalars) -> None:
    """An axis has a direction."""
    findings = scalars.findings
    values = scalars.triple(path, axis)
    if values is None or findings.broken(path):
        return
    square = sum(value * value for value in values)  # of the length; it must not underflow
    if square == 0.0:
        findings.fault(path, "the axis is zero; expected a direction such as [0, 0, 1]")
    elif not math.isfinite(square):
        findings.fault(path, "the axis is too long to be normalised in float64")
