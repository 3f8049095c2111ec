"""Checks of outputs: legal names, existing quantities, constants with a value.

Decisions of this module: an output may have the name of a quantity or parameter; it may not use
other outputs; an output without variables is a constant.  At the values of the parameters every
constant part of an expression is finite, and no divisor is a difference of two equal terms.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from symgen.description.expressions import (
    CONSTANT_VALUES,
    EvaluationError,
    Expression,
    Node,
    Number,
    Operation,
    evaluate,
)
from symgen.description.joints import coordinates_of
from symgen.description.model import OutputDescription
from symgen.description.names import illegal_name
from symgen.description.quantities import RATES, SINGLE, Vocabulary
from symgen.description.scalars import Scalars
from symgen.description.schema import TYRE, ForceTable, PointTable, RobotTable, readable
from symgen.description.wording import KeyPath, shown
from symgen.joints import CLOSING, OnManifold, Redundant
from symgen.joints.closing import row_names

CLOSING_TYPES = {kind.name: kind for kind in CLOSING}


def check_outputs(robot: RobotTable, scalars: Scalars) -> tuple[OutputDescription, ...]:
    """Return the outputs in the order of the file."""
    findings, outputs = scalars.findings, []
    checks = OutputChecks(robot, scalars)
    for name, table in (robot.outputs or {}).items():
        path: KeyPath = ("outputs", name)
        illegal = illegal_name(name)
        if illegal:
            findings.fault(path, illegal)
        if table is None or table.value is None:
            continue
        checks.check(path, table.value)
        source = findings.source(path)
        unit, description = table.unit or "", table.description or ""
        outputs.append(OutputDescription(name, table.value, source, unit, description))
    return tuple(outputs)


class OutputChecks:
    """Checks the expressions of outputs, one after the other."""

    def __init__(self, robot: RobotTable, scalars: Scalars) -> None:
        self.scalars, self.findings = scalars, scalars.findings
        self.outputs = robot.outputs or {}
        joints = [x for _, x in readable(robot.joints) if isinstance(x.kind, OnManifold)]
        tyres = robot.forces and [x for x in robot.forces if x is None or x.type == TYRE]
        self.vocabulary = Vocabulary(
            coordinates_of(robot, independent=True),
            coordinates_of(robot),
            names_of(robot.points, robot.gives("points")),
            names_of(robot.loads, robot.gives("loads")),
            [joint.name for joint in joints if joint.name],
            constraints_of(robot),
            tyres=names_of(tyres, robot.gives("forces")),
        )

    def check(self, path: KeyPath, expression: Expression, defined: Collection[str] = ()) -> None:
        """Report the faults of one expression; names in `defined` are legal."""
        scalars = self.scalars
        scalars.used.update(expression.names)
        for name in expression.names:
            if name not in defined and (problem := self.problem(name)):
                self.findings.fault(path, problem)
        if any(name in scalars.paths and name not in scalars.values for name in expression.names):
            return  # a parameter is faulty and reported
        try:
            constant_part(expression.root, scalars.values)
        except EvaluationError as error:
            self.findings.fault(path, f"{shown(expression.text)}: {error}")

    def problem(self, name: str) -> str:
        """Return the fault of a name in an expression, or nothing."""
        if name in self.scalars.paths:
            if name not in SINGLE:
                return ""
            words = f"{shown(name)} is a parameter of this file and a quantity of outputs"
            return f"{words}; rename the parameter"
        if "." in name or name in (*self.vocabulary.singles, *self.vocabulary.families):
            return self.vocabulary.problem(name, self.findings.nearest)
        if not self.scalars.trusted:
            return ""
        return f"unknown name {shown(name)}{self.meant(name)}"

    def coordinate_hint(self, name: str) -> str:
        """Return the tail of a message about the name of a coordinate, "" for other names."""
        is_coordinate = name in (self.vocabulary.coordinates or ())
        return f"; did you mean {shown(f'{RATES[0]}.{name}')}?" if is_coordinate else ""

    @property
    def example(self) -> str:
        """An example of a quantity, for the end of a message."""
        coordinates = self.vocabulary.coordinates
        return f" such as {shown(f'{RATES[0]}.{coordinates[0]}')}" if coordinates else ""

    def meant(self, name: str) -> str:
        """Return the tail of a message about a name without dots."""
        if hint := self.coordinate_hint(name):
            return hint
        if name in self.outputs:
            return "; an output cannot use other outputs; write the expression out"
        hint = self.scalars.meant(name)
        hint = hint or self.findings.did_you_mean(name, (*SINGLE, *self.vocabulary.families))
        return hint or f"; expected a parameter of this file, pi, deg or a quantity{self.example}"


class LawChecks(OutputChecks):
    """Checks expressions of a few variables and parameters."""

    variables: Sequence[str] = ()

    def check_law(self, path: KeyPath, law: Expression, variables: Sequence[str]) -> None:
        """Report the faults of one expression of these variables."""
        self.variables = variables
        self.check(path, law)

    def problem(self, name: str) -> str:
        """Return the fault of a name in an expression, or nothing."""
        if name in self.variables:
            clash = f"{shown(name)} is a variable here and a parameter of this file; rename that"
            return clash if name in self.scalars.paths else ""
        if name in self.scalars.paths or not self.scalars.trusted:
            return ""
        expected = f"; expected a parameter of this file, {', '.join(self.variables)}"
        return f"unknown name {shown(name)}{self.scalars.meant(name) or expected}"


def constraints_of(robot: RobotTable) -> tuple[str, ...] | None:
    """Names of all rows of constraints; None if some could not be read."""
    rows: list[str] = []
    for loop in robot.loops or []:
        if loop is None or not loop.name or loop.type not in CLOSING_TYPES:
            return None
        rows += row_names(loop.name, CLOSING_TYPES[loop.type].forbids)
    rows += robot.relations or {}
    joints = [x for _, x in readable(robot.joints) if isinstance(x.kind, Redundant)]
    rows += [f"{joint.name}_norm" for joint in joints if joint.name]
    sections = ("loops", "relations")
    is_broken = any(robot.gives(key) and getattr(robot, key) is None for key in sections)
    return None if is_broken else tuple(rows)


def names_of(
    tables: Sequence[PointTable | ForceTable | None] | None, is_given: bool
) -> tuple[str, ...] | None:
    """Names of the points, loads or forces; None if some could not be read."""
    if tables is None:
        return None if is_given else ()
    names = [None if table is None else table.name for table in tables]
    present = tuple(name for name in names if name is not None)
    return present if len(present) == len(names) else None


def constant_part(node: Node, values: Mapping[str, float]) -> float | None:
    """Return the value of an expression at the values of names; None if it contains other names.

    Raises:
        EvaluationError: a constant part has no finite value, or a divisor or base is 0.
    """
    # Recursion is safe: the grammar limits the height of an expression.
    if isinstance(node, Number):
        return node.value
    if not isinstance(node, Operation):
        return CONSTANT_VALUES.get(node.name, values.get(node.name))
    operands = [constant_part(operand, values) for operand in node.operands]
    numbers = [x for x in operands if x is not None]
    if len(numbers) == len(operands):
        operation = Operation(node.operator, tuple(map(Number, numbers)))
        return evaluate(Expression("", operation, ()), {})
    if node.operator == "-" and node.operands[0] == node.operands[1]:
        return 0.0
    if node.operator == "/" and operands[1] == 0.0:
        raise EvaluationError("division by zero")
    if node.operator == "**" and operands[0] is not None and operands[0] <= 0.0:
        message = f"the base {operands[0]:.6g} of an exponent that varies is not positive"
        raise EvaluationError(message)
    return None
