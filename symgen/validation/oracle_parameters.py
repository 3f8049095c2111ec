"""Values of expressions and parameters for `NumericRobot`; they may be complex.

A complex number with a tiny imaginary part stands for a value and its slope along one direction:
real parts are computed as everywhere, imaginary parts by the rules of differentiation.  Functions
of complex numbers would do as well, but for `abs`, `atan2` and powers of negative numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from symgen.description.expressions import (
    CONSTANT_VALUES,
    Expression,
    Name,
    Node,
    Number,
    Operation,
    evaluate,
)
from symgen.description.model import RobotDescription

Value = complex
"""A real number, or one with the slope of something as imaginary part."""


def _power(base: float, exponent: float) -> tuple[float, float]:
    """The slopes of base ** exponent."""
    by_base = 0.0 if exponent == 0.0 else exponent * base ** (exponent - 1.0)
    if base > 0.0:
        return by_base, base**exponent * math.log(base)
    return by_base, 0.0 if base == 0.0 else math.nan


def _shares(first: bool, second: bool) -> tuple[float, float]:
    """The slopes of a maximum or minimum: 1 by what it is, the mean where both are equal."""
    share = 0.5 * (1 + first - second)
    return share, 1.0 - share


_SLOPES: Mapping[str, Callable[..., Sequence[float]]] = {
    "+": lambda a, b: (1.0, 1.0),
    "-": lambda a, b: (1.0, -1.0),
    "*": lambda a, b: (b, a),
    "/": lambda a, b: (1.0 / b, -a / b / b),
    "**": _power,
    "neg": lambda a: (-1.0,),
    "sqrt": lambda a: (0.5 / math.sqrt(a),),
    "sin": lambda a: (math.cos(a),),
    "cos": lambda a: (-math.sin(a),),
    "tan": lambda a: (1.0 / math.cos(a) ** 2,),
    "asin": lambda a: (1.0 / math.sqrt((1.0 - a) * (1.0 + a)),),
    "acos": lambda a: (-1.0 / math.sqrt((1.0 - a) * (1.0 + a)),),
    "atan": lambda a: (1.0 / (1.0 + a * a),),
    "atan2": lambda y, x: (x / (x * x + y * y), -y / (x * x + y * y)),
    "exp": lambda a: (math.exp(a),),
    "log": lambda a: (1.0 / a,),
    "abs": lambda a: (float((a > 0.0) - (a < 0.0)),),
    "tanh": lambda a: (1.0 - math.tanh(a) ** 2,),
    "max": lambda a, b: _shares(a > b, a < b),
    "min": lambda a, b: _shares(a < b, a > b),
}
"""Partial derivatives of every operator and function of the grammar."""


def parameter_values(
    description: RobotDescription, changed: Mapping[str, Value]
) -> dict[str, Value]:
    """Values of all parameters, in which some are replaced and derived ones follow.

    EvaluationError where one has no finite value.
    """
    values: dict[str, Value] = dict(changed)
    waiting = [p for p in description.parameters if p.name not in values]
    while waiting:
        ready = [p for p in waiting if all(name in values for name in p.expression.names)]
        for parameter in ready:
            values[parameter.name] = reader(values)(parameter.expression)
        waiting = [p for p in waiting if p.name not in values]
    return values


def reader(values: Mapping[str, Value]) -> Callable[[Expression], Value]:
    """The value of an expression, given those of the parameters."""
    real = {name: value.real for name, value in values.items()}
    moving = {name: value.imag for name, value in values.items() if value.imag}

    def number(expression: Expression) -> Value:
        value = evaluate(expression, real)
        if moving.keys().isdisjoint(expression.names):
            return value
        return complex(value, _dual(expression.root, real, moving)[1])

    return number


def _dual(
    node: Node, real: Mapping[str, float], moving: Mapping[str, float]
) -> tuple[float, float]:
    """The value of a node and its slope."""
    if isinstance(node, Number):
        return node.value, 0.0
    if isinstance(node, Name):
        constant = CONSTANT_VALUES.get(node.name)
        if constant is not None:
            return constant, 0.0
        return real[node.name], moving.get(node.name, 0.0)
    operands = [_dual(operand, real, moving) for operand in node.operands]
    plain = Operation(node.operator, tuple(Number(value) for value, _ in operands))
    value = evaluate(Expression("", plain, ()), {})
    if not any(slope for _, slope in operands):
        return value, 0.0
    try:
        factors = _SLOPES[node.operator](*(value for value, _ in operands))
    except (ArithmeticError, ValueError):
        return value, math.nan  # such as the slope of the root of 0
    terms = zip(factors, operands, strict=True)
    return value, sum(factor * slope for factor, (_, slope) in terms if slope)
