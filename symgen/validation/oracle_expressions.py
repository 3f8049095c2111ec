"""Values of parameters and expressions for `NumericRobot`, in dual arithmetic over arrays.

A complex number stands for a value (its real part) and its slope along one direction (its imaginary
part, times the complex step).  Real parts are computed as everywhere; imaginary parts follow from
the partial derivatives of each operation, so that `abs`, `atan2` and powers of negative numbers can
be differentiated, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from symgen.description.expressions import CONSTANT_VALUES, Expression, Name, Node, Number, evaluate
from symgen.description.model import RobotDescription

Array = np.ndarray[Any, Any]
Value = complex
"""A real number, or one with the slope along some direction as imaginary part."""

# ---------------------------------------------------------------------------------- operations


def _angle(y: Array, x: Array) -> Array:
    """atan2; NaN at the origin, where it depends on the signs of zeros."""
    return np.where((x == 0.0) & (y == 0.0), np.nan, np.arctan2(y, x))


def _power_slopes(base: Array, exponent: Array) -> tuple[Array, Array]:
    by_base = exponent * np.power(base, np.where(exponent == 0.0, 1.0, exponent - 1.0))
    by_exponent = np.log(base) * np.power(base, exponent)
    return by_base, np.where(base == 0.0, 0.0, by_exponent)


def _shares(sign: Array) -> tuple[Array, Array]:
    """Slopes of max or min: 1 by the selected operand, 0 by the other, 1/2 if they are equal."""
    return 0.5 * (1.0 + sign), 0.5 * (1.0 - sign)


def _arc_slope(a: Array) -> Array:
    return np.asarray(1.0 / np.sqrt((1.0 - a) * (1.0 + a)))


_RULES: Mapping[str, tuple[Callable[..., Any], Callable[..., tuple[Any, ...]]]] = {
    "+": (np.add, lambda a, b: (1.0, 1.0)),
    "-": (np.subtract, lambda a, b: (1.0, -1.0)),
    "*": (np.multiply, lambda a, b: (b, a)),
    "/": (np.divide, lambda a, b: (1.0 / b, -a / b / b)),
    "**": (np.power, _power_slopes),
    "neg": (np.negative, lambda a: (-1.0,)),
    "sqrt": (np.sqrt, lambda a: (0.5 / np.sqrt(a),)),
    "sin": (np.sin, lambda a: (np.cos(a),)),
    "cos": (np.cos, lambda a: (-np.sin(a),)),
    "tan": (np.tan, lambda a: (1.0 / np.cos(a) ** 2,)),
    "asin": (np.arcsin, lambda a: (_arc_slope(a),)),
    "acos": (np.arccos, lambda a: (-_arc_slope(a),)),
    "atan": (np.arctan, lambda a: (1.0 / (1.0 + a * a),)),
    "atan2": (_angle, lambda y, x: (x / (x * x + y * y), -y / (x * x + y * y))),
    "exp": (np.exp, lambda a: (np.exp(a),)),
    "log": (np.log, lambda a: (1.0 / a,)),
    "sign": (np.sign, lambda a: (0.0 * a,)),
    "abs": (np.abs, lambda a: (np.sign(a),)),
    "tanh": (np.tanh, lambda a: (1.0 - np.tanh(a) ** 2,)),
    "max": (np.maximum, lambda a, b: _shares(np.sign(a - b))),
    "min": (np.minimum, lambda a, b: _shares(np.sign(b - a))),
}
"""Every operator and function of the grammar, and sign, and its partial derivatives."""


def value_of(node: Node, quantities: Callable[[str], Array]) -> Array:
    """Evaluate an expression whose names have the values `quantities` (...); returns (...).

    Slopes that do not exist are NaN.
    """
    # Recursion is safe: the grammar limits the height of an expression.
    if isinstance(node, Number):
        return np.asarray(node.value)
    if isinstance(node, Name):
        return quantities(node.name)
    operands = [value_of(operand, quantities) for operand in node.operands]
    function, slopes = _RULES[node.operator]
    real = [np.asarray(np.real(x)) for x in operands]
    value = np.asarray(function(*real))
    if not any(map(np.iscomplexobj, operands)):
        return value
    dual = value.astype(complex)
    with np.errstate(all="ignore"):
        for slope, operand in zip(slopes(*real), operands, strict=True):
            along = np.imag(operand)
            change = np.where(along == 0.0, 0.0, slope * along)
            dual.imag += np.where(np.isinf(slope), np.nan, change)
    return dual


# ---------------------------------------------------------------------------------- parameters


def parameter_values(
    description: RobotDescription, changed: Mapping[str, Value]
) -> dict[str, Value]:
    """Values of all parameters, with some `changed`, also in derived ones.

    EvaluationError if one has no finite value.
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
    """Return a function that evaluates expressions at these values of the parameters."""
    real = {name: value.real for name, value in values.items()}
    moving = {name for name, value in values.items() if value.imag}
    every = {name: np.asarray(x) for name, x in {**CONSTANT_VALUES, **real}.items()}
    every |= {name: np.asarray(values[name]) for name in moving}

    def number(expression: Expression) -> Value:
        value = evaluate(expression, real)
        if moving.isdisjoint(expression.names):
            return value
        return complex(value, float(value_of(expression.root, every.__getitem__).imag))

    return number
