"""The general robot behind a model file: every number becomes a parameter.

Folding of float64 numbers rounds, so programs with the numbers of a file are equal only up to
rounding.  In the general robot each number becomes a parameter, and a proof holds for all its
values.  Only structure remains, which the graph handles without rounding: 0, exponents, multiples
of pi/2 in sums of angles, and 1 and -1 as mere factors.  (A sum of ones may be a divisor, and 1/3
is rounded.)

An axis without parameters becomes a unit vector of the same zeros, written with the cosines and
sines of one or two new angles: its normalisation then has a root at every random point.

Parameters are independent here, derived ones included.  This is stricter than necessary: no
formulation may rely on relations between the numbers of a file, except those that the structure of
the tree ensures (rotations are orthogonal, axes have length 1).  Parameters that depend on a
runtime parameter keep doing so, by definitions in which numbers are parameters again.

Derivatives by runtime parameters are proven for `runtime_parameters`: one for every kind of number
in the file (masses, lengths, angles, springs, points, ...), those of the file first, up to the
limit `COLUMNS`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from symgen.algebra import rounding
from symgen.description import RobotDescription
from symgen.description.expressions import (
    CONSTANTS,
    ZERO,
    Expression,
    Name,
    Node,
    Number,
    Operation,
    evaluate,
)
from symgen.description.model import Parameter, Source

ANGLES = ("theta", "alpha", "rpy")
AXES = ("axis", "axes")
UNITS = ("gear_ratio", "multiplier")
"""Keys whose numbers are mere factors."""
_UNCHANGED = ("parameters", "limits", "warnings")
_IDLE_WITHOUT = {
    "friction_velocity": "friction",
    "gear_ratio": "rotor_inertia",
    "rest": "stiffness",
}
"""Joint terms without effect if another one is 0."""

COLUMNS = 240
"""Limit of joints times runtime parameters."""


def general_robot(description: RobotDescription) -> RobotDescription:
    """Replace every number of `description` that is not structure by a parameter."""
    namer = _Namer(description)
    named: RobotDescription = namer.rewritten(description, "")
    derived = [
        replace(item, expression=namer.rewritten(item.expression, "")) if item.derived else item
        for item in description.parameters
    ]
    return replace(named, parameters=(*derived, *namer.parameters))


def runtime_parameters(description: RobotDescription, general: RobotDescription) -> tuple[str, ...]:
    """Choose the runtime parameters of the `general` robot of `description`: see the module."""
    kinds = _kinds(general)
    independent = set(description.independent_parameters)
    most = max(1, COLUMNS // max(1, sum(joint.coordinates for joint in general.joints)))
    waiting, chosen = dict(kinds), list[str]()
    while waiting and len(chosen) < most:
        counts = Counter(
            name for names in waiting.values() for name in names if name in independent
        )
        best = max(counts, key=counts.__getitem__, default="")
        if not best:  # the middle one, which has joints before and behind it
            names = next(iter(waiting.values()))
            best = names[len(names) // 2]
        chosen.append(best)
        waiting = {kind: names for kind, names in waiting.items() if best not in names}
    used = dict.fromkeys(name for names in kinds.values() for name in names)
    chosen += [name for name in used if name in independent and name not in chosen]
    return tuple(name for name in general.parameter_values if name in chosen[:most])


def _kinds(general: RobotDescription) -> dict[str, list[str]]:
    """Return the independent parameters that decide the numbers of each kind, in order."""
    definitions = {item.name: item.expression.names for item in general.parameters}
    kinds: dict[str, dict[str, None]] = {}
    for kind, name in _uses(general, ""):
        if name in definitions:  # else it is a quantity of an output
            leaders = kinds.setdefault(kind, {})
            leaders.update(dict.fromkeys(_leaders(name, definitions)))
    return {kind: list(names) for kind, names in kinds.items()}


def _uses(value: Any, kind: str) -> Iterator[tuple[str, str]]:
    """(kind of number, name in its expression): a kind is the path of keys of the file."""
    if isinstance(value, Expression):
        yield from ((kind, name) for name in value.names)
    elif isinstance(value, tuple):
        for item in value:
            yield from _uses(item, kind)
    elif is_dataclass(value) and not isinstance(value, type | Source):
        for field in fields(value):
            master = getattr(value, _IDLE_WITHOUT.get(field.name, ""), None)
            if field.name not in _UNCHANGED and master != ZERO:
                yield from _uses(getattr(value, field.name), f"{kind}.{field.name}")


def _leaders(name: str, definitions: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return the independent parameters that `name` depends on, itself included."""
    leaders: dict[str, None] = {}
    waiting, seen = [name], {name}
    while waiting:
        name = waiting.pop()
        if not definitions[name]:
            leaders[name] = None
        waiting += [x for x in reversed(definitions[name]) if x not in seen]
        seen.update(definitions[name])
    return list(leaders)


class _Namer:
    """Rewrites the expressions of one description, and collects the new parameters."""

    def __init__(self, description: RobotDescription) -> None:
        self.values = description.parameter_values
        self.source = Source(description.file, 0, "")
        self.units = False
        self.parameters: list[Parameter] = []

    def rewritten(self, value: Any, key: str) -> Any:
        """Rewrite any value with names for numbers; `key` is the field that it stands in."""
        if isinstance(value, Expression):
            self.units = key in UNITS
            return _expression(self.node(value.root, angle=key in ANGLES), value.text)
        if isinstance(value, tuple):
            if key in AXES and len(value) == 3 and isinstance(value[0], Expression):
                return self.axis(value)
            return tuple(self.rewritten(item, key) for item in value)
        if is_dataclass(value) and not isinstance(value, type | Source):
            changed = {
                field.name: self.rewritten(getattr(value, field.name), field.name)
                for field in fields(value)
                if field.name not in _UNCHANGED
            }
            return replace(value, **changed)
        return value

    def node(self, node: Node, angle: bool) -> Node:
        """Rewrite a node; `angle` says whether it is an angle, or a summand of one."""
        # Recursion is safe: the grammar limits the depth of an expression.
        if not _parameters_of(node):
            return self.number(_value(node), angle)
        if not isinstance(node, Operation):
            return node
        if node.operator == "**":
            base, exponent = node.operands
            is_number = not _parameters_of(exponent)
            power = Number(_value(exponent)) if is_number else self.node(exponent, False)
            return Operation("**", (self.node(base, False), power))
        angles = node.operator in ("sin", "cos", "tan") or (
            angle and node.operator in ("+", "-", "neg")
        )
        return Operation(node.operator, tuple(self.node(x, angles) for x in node.operands))

    def number(self, value: float, angle: bool) -> Node:
        quarter = angle and rounding.quarter_turns(value) is not None
        if value == 0.0 or quarter or (self.units and abs(value) == 1.0):
            return Number(value)
        name = self.parameter(abs(value))
        return name if value > 0.0 else Operation("neg", (name,))

    def parameter(self, value: float) -> Name:
        """Return a new parameter of this value."""
        number = len(self.parameters) + 1
        name = f"literal_{number}"
        while name in self.values:
            name += "_"
        expression = Expression(repr(value), Number(value), ())
        self.parameters.append(Parameter(name, expression, value, self.source))
        return Name(name)

    def axis(self, parts: tuple[Expression, ...]) -> tuple[Expression, ...]:
        """Return a direction: see the module."""
        values = [evaluate(part, self.values) for part in parts]
        present = [k for k in range(3) if parts[k].names or values[k] != 0.0]
        nodes: list[Node] = [Number(0.0)] * 3
        if len(present) == 1:
            nodes[present[0]] = Number(math.copysign(1.0, values[present[0]]))
        elif any(part.names for part in parts):
            nodes = [self.node(part.root, False) for part in parts]
        elif len(present) == 2:
            i, k = present
            turn = self.parameter(math.atan2(values[k], values[i]))
            nodes[i], nodes[k] = _function("cos", turn), _function("sin", turn)
        else:
            x, y, z = values
            turn = self.parameter(math.atan2(y, x))
            rise = self.parameter(math.atan2(z, math.hypot(x, y)))
            level = _function("cos", rise)
            nodes[0] = Operation("*", (_function("cos", turn), level))
            nodes[1] = Operation("*", (_function("sin", turn), level))
            nodes[2] = _function("sin", rise)
        return tuple(_expression(n, part.text) for n, part in zip(nodes, parts, strict=True))


def _function(name: str, argument: Node) -> Node:
    return Operation(name, (argument,))


def _expression(root: Node, text: str) -> Expression:
    return Expression(text, root, tuple(dict.fromkeys(_parameters_of(root))))


def _parameters_of(node: Node) -> list[str]:
    return [name for name in _names(node) if name not in CONSTANTS]


def _names(node: Node) -> Iterator[str]:
    if isinstance(node, Name):
        yield node.name
    elif isinstance(node, Operation):
        for operand in node.operands:
            yield from _names(operand)


def _value(node: Node) -> float:
    return evaluate(Expression("", node, ()), {})
