"""Expressions of the motion as numbers, as they stand in the file.

They are evaluated over arrays with batch axes in front.  Complex numbers go through every
operation, so that complex step differentiates an expression: what is not analytic (abs, atan2, max,
min, powers) is continued from the real axis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from symgen.description.expressions import Name, Node, Number
from symgen.validation.oracle_parts import Array


def value_of(node: Node, quantities: Callable[[str], Array]) -> Array:
    """The value of an expression, (...)."""
    # Recursion is safe: the grammar limits the height of an expression.
    if isinstance(node, Number):
        return np.asarray(node.value)
    if isinstance(node, Name):
        return quantities(node.name)
    operands = [value_of(operand, quantities) for operand in node.operands]
    return np.asarray(_OPERATIONS[node.operator](*operands))


def _absolute(x: Array) -> Array:
    return np.where(np.real(x) < 0.0, -x, x)


def _larger(x: Array, y: Array) -> Array:
    """By the real parts; the mean of both where these are equal."""
    share = 0.5 * (1.0 + np.sign(np.real(x) - np.real(y)))
    return np.asarray(np.where(share == 1.0, x, np.where(share == 0.0, y, 0.5 * (x + y))))


def _smaller(x: Array, y: Array) -> Array:
    return -_larger(-x, -y)


def _angle(y: Array, x: Array) -> Array:
    """atan2 of the real parts, and its differential along the imaginary ones.

    At the origin, where it depends on the signs of zeros, it has no value.
    """
    a, b = np.asarray(np.real(x)), np.asarray(np.real(y))
    angle = np.where((a == 0.0) & (b == 0.0), np.nan, np.arctan2(b, a))
    if not (np.iscomplexobj(x) or np.iscomplexobj(y)):
        return np.asarray(angle)
    slope = (a * np.imag(y) - b * np.imag(x)) / np.asarray(a * a + b * b)
    return np.asarray(angle + 1j * slope)


def _power(base: Array, exponent: Array) -> Array:
    """The power of the real parts, and its differential along the imaginary ones."""
    a, b = np.real(base), np.real(exponent)
    power = np.power(a, b)
    if not (np.iscomplexobj(base) or np.iscomplexobj(exponent)):
        return np.asarray(power)
    slope = np.where(b == 0.0, 0.0, b * np.power(a, np.where(b == 0.0, 1.0, b - 1.0)))
    along = slope * np.imag(base)
    if np.any(np.imag(exponent)):
        along = along + np.log(a) * power * np.imag(exponent)
    return np.asarray(power + 1j * along)


def _root(x: Array) -> Array:
    """The root of the real part; its differential, which is none at 0, along the imaginary one."""
    root = np.sqrt(np.real(x))
    return np.asarray(root + 0.5j * np.imag(x) / root if np.iscomplexobj(x) else root)


_OPERATIONS: Mapping[str, Callable[..., Array]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "**": _power,
    "neg": np.negative, "sqrt": _root, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": _angle, "exp": np.exp,
    "log": np.log, "abs": _absolute, "tanh": np.tanh, "max": _larger, "min": _smaller,
}  # fmt: skip
