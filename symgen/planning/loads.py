"""Loads along the way: expressions of time, evaluated at all instants, with their rates by T.

An expression may name t = s T, the share s of the time, and T.  Values carry their derivatives with
respect to T at fixed s, by the rules of differentiation (dual numbers over arrays).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from symgen.description.expressions import CONSTANT_VALUES, Expression, Name, Node, Number
from symgen.errors import RequestError
from symgen.planning.samples import LoadsAt

Array = NDArray[np.float64]
Dual = tuple[Array, Array]
"""A value and its derivative."""


def loads_at(
    loads: Mapping[int, tuple[Expression, ...]], count: int, parameters: Mapping[str, float]
) -> LoadsAt | None:
    """What `Sampled` asks for; None without loads."""
    if not loads:
        return None
    moving = any(
        {"t", "T", "s"} & set(entry.names) for entries in loads.values() for entry in entries
    )

    def at(s: Array, T: float) -> tuple[Array, Array | None]:
        values, rates = np.zeros((2, len(s), count, 6))
        zero = np.zeros_like(s)
        names: dict[str, Dual] = {
            "t": (s * T, s), "s": (s, zero), "T": (zero + T, zero + 1.0),
            **{name: (zero + value, zero) for name, value in parameters.items()},
        }  # fmt: skip
        with np.errstate(all="ignore"):
            for load, entries in loads.items():
                for k, entry in enumerate(entries):
                    values[:, load, k], rates[:, load, k] = _dual(entry.root, names, zero)
        if not np.all(np.isfinite(values)):
            raise RequestError("a load has no finite value at some time of the motion")
        return values, rates if moving else None

    return at


def _dual(node: Node, names: Mapping[str, Dual], zero: Array) -> Dual:
    if isinstance(node, Number):
        return zero + node.value, zero
    if isinstance(node, Name):
        if node.name in CONSTANT_VALUES:
            return zero + CONSTANT_VALUES[node.name], zero
        return names[node.name]
    return _RULES[node.operator](*(_dual(operand, names, zero) for operand in node.operands))


def _power(x: Dual, y: Dual) -> Dual:
    value = x[0] ** y[0]
    slope = y[0] * x[0] ** (y[0] - 1) * x[1]
    if np.any(y[1]):
        slope = slope + value * np.log(x[0]) * y[1]
    return value, slope


def _extreme(x: Dual, y: Dual, share: Array) -> Dual:
    """The one of two that has a share of 1; the mean of both where they are equal."""
    return share * x[0] + (1 - share) * y[0], share * x[1] + (1 - share) * y[1]


def _chain(
    function: Callable[[Array], Array], slope: Callable[[Array], Array]
) -> Callable[[Dual], Dual]:
    return lambda x: (function(x[0]), slope(x[0]) * x[1])


_RULES: Mapping[str, Callable[..., Dual]] = {
    "+": lambda x, y: (x[0] + y[0], x[1] + y[1]),
    "-": lambda x, y: (x[0] - y[0], x[1] - y[1]),
    "*": lambda x, y: (x[0] * y[0], x[1] * y[0] + x[0] * y[1]),
    "/": lambda x, y: (x[0] / y[0], (x[1] - x[0] / y[0] * y[1]) / y[0]),
    "**": _power,
    "neg": lambda x: (-x[0], -x[1]),
    "atan2": lambda y, x: (
        np.arctan2(y[0], x[0]),
        (x[0] * y[1] - y[0] * x[1]) / (x[0] ** 2 + y[0] ** 2),
    ),
    "sqrt": _chain(np.sqrt, lambda x: 0.5 / np.sqrt(x)),
    "sin": _chain(np.sin, np.cos),
    "cos": _chain(np.cos, lambda x: -np.sin(x)),
    "tan": _chain(np.tan, lambda x: 1 / np.cos(x) ** 2),
    "asin": _chain(np.arcsin, lambda x: 1 / np.sqrt(1 - x**2)),
    "acos": _chain(np.arccos, lambda x: -1 / np.sqrt(1 - x**2)),
    "atan": _chain(np.arctan, lambda x: 1 / (1 + x**2)),
    "exp": _chain(np.exp, np.exp),
    "log": _chain(np.log, lambda x: 1 / x),
    "abs": _chain(np.abs, np.sign),
    "tanh": _chain(np.tanh, lambda x: 1 - np.tanh(x) ** 2),
    "max": lambda x, y: _extreme(x, y, 0.5 * (1 + np.sign(x[0] - y[0]))),
    "min": lambda x, y: _extreme(x, y, 0.5 * (1 + np.sign(y[0] - x[0]))),
}
