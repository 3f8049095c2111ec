"""`loads` of a task: expressions of time, or unknown components, optimised with the motion.

An expression may name t = s T, the share s of the time, and T.  Dual numbers over arrays carry
derivatives with respect to T at fixed s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgen.description.expressions import CONSTANT_VALUES, Expression, Name, Node, Number, parse
from symgen.description.reading import Listing, Table
from symgen.errors import RequestError
from symgen.planning.values import COMPONENTS, Range, Value
from symgen.support.arrays import Array

Dual = tuple[Array, Array]
"""A value and its derivative."""
Loads = dict[int, tuple[Expression, ...]]
"""Six expressions by number of the load."""
LoadsAt = Callable[[Array, float], tuple[Array, Array | None]]
"""Instants s in [0, 1] and T -> loads (K, n_loads, 6), and d loads / d T unless that is 0."""

OF_TIME = ("t", "s", "T")
"""Names in expressions of loads: time (s), share of the time, total time (s)."""
_SIX = "[fx, fy, fz, nx, ny, nz]"


@dataclass(frozen=True)
class FreeLoad:
    """An unknown component of a load, within `limits`."""

    load: int
    component: int
    limits: Range


def read_loads(value: Value, module: Any) -> tuple[Loads, tuple[FreeLoad, ...]]:
    """Read known loads, and unknown components."""
    names = tuple(module.load_names)
    if value.node is not None and not names:
        value.fault("this robot has no loads; --load LINK adds one, or 'loads:' in a model file")
        return {}, ()
    loads: Loads = {}
    free: list[FreeLoad] = []
    for name, entry in value.table(names, f"NAME: {_SIX}").items():
        load = names.index(name)
        if isinstance(entry.node, Table):
            parts = entry.table(("free", "given"), f"free: {{fx: limits}}, given: {_SIX}")
            free += _free(parts["free"], load)
            entry = parts["given"]
        items = entry.items(f"six numbers {_SIX}")
        if items and len(items) != len(COMPONENTS):
            entry.fault(f"expected {_SIX}, found {len(items)} entries")
        elif items:
            loads[load] = tuple(item.expression(OF_TIME) or parse(0) for item in items)
    return loads, tuple(free)


def _free(value: Value, load: int) -> list[FreeLoad]:
    """Read {fx: 50, fy: [0, 10], fz: none}, or a list of components without limits."""
    if isinstance(value.node, Listing):
        numbers = [x.name(COMPONENTS, "component of a load") for x in value.items("components")]
        return [FreeLoad(load, c, (-np.inf, np.inf)) for c in dict.fromkeys(numbers)]
    entries = value.table(COMPONENTS, "components and their limits, {fx: 50}")
    return [FreeLoad(load, COMPONENTS.index(c), x.range()) for c, x in entries.items()]


def read_weights(
    value: Value, module: Any, free: Sequence[FreeLoad]
) -> dict[tuple[int, int], float]:
    """Read weights of the integrals of squared unknown components, {NAME: {fx: 1}}."""
    names = tuple(module.load_names)
    unknown = {(load.load, load.component) for load in free}
    weights: dict[tuple[int, int], float] = {}
    for key, entry in value.by_component(names, "NAME: {fx: ...}").items():
        if key not in unknown:
            entry.fault(f"it is not free: 'loads: {{{names[key[0]]}: {{free: ...}}}}'")
        weights[key] = entry.number()
        if weights[key] < 0:
            entry.fault("a weight is negative: the objective has no minimum")
    return weights


def loads_at(
    loads: Mapping[int, tuple[Expression, ...]], count: int, parameters: Mapping[str, float]
) -> LoadsAt | None:
    """Return the function of known loads; None if there are none."""
    if not loads:
        return None
    moving = any(depends_on_time(entries) for entries in loads.values())

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


def depends_on_time(entries: Sequence[Expression]) -> bool:
    """Return whether an expression names the time."""
    return any({*OF_TIME} & {*entry.names} for entry in entries)


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
    """Return share * x + (1 - share) * y."""
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
