"""Evaluation of scalars: floats, complex numbers, arrays, or any numbers with an arithmetic.

`evaluate` visits the nodes once, in topological order.  Numbers need ``+ - * /`` and unary minus;
functions come from an `Arithmetic`, such as that of a prime field, of dual numbers, or of another
graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from symgen.algebra import rounding
from symgen.algebra.nodes import ADD, CONST, DIV, MUL, NEG, SUB, SYMBOL, Nodes, Scalar, reachable


@dataclass(frozen=True)
class Arithmetic:
    """Constants and functions for one kind of number."""

    constant: Callable[[float], Any]
    functions: Mapping[str, Callable[..., Any]]


def _complex_atan2(y: Any, x: Any) -> Any:
    """atan2 continued analytically: first order in the imaginary parts, exact on the real axis."""
    if not (np.iscomplexobj(y) or np.iscomplexobj(x)):
        return np.arctan2(y, x)
    a, b = np.real(y), np.real(x)
    return np.arctan2(a, b) + 1j * (b * np.imag(y) - a * np.imag(x)) / (a * a + b * b)


NUMPY = Arithmetic(
    constant=float,
    functions={
        "sin": np.sin,
        "cos": np.cos,
        "tan": np.tan,
        "asin": np.arcsin,
        "acos": np.arccos,
        "atan": np.arctan,
        "atan2": _complex_atan2,
        "exp": np.exp,
        "log": np.log,
        "tanh": np.tanh,
        "sqrt": np.sqrt,
        "abs": lambda x: np.where(np.real(x) < 0, -x, x),  # continued analytically
        "sign": lambda x: np.sign(np.real(x)),
        "pow": np.power,
    },
)


def evaluate(
    outputs: Iterable[Scalar],
    values: Mapping[str, Any],
    arithmetic: Arithmetic = NUMPY,
    values_by_index: Mapping[int, Any] | None = None,
) -> list[Any]:
    """Return the values of `outputs` for a value ``values[s]`` of each symbol named s.

    Values may be floats, complex numbers or arrays that broadcast mutually.  Constant outputs are
    plain numbers.  KeyError names a symbol without a value.  `values_by_index` are known values of
    nodes, by index.
    """
    wanted = list(outputs)
    result: dict[int, Any] = dict(values_by_index or {})
    for node in reachable(wanted):
        if values_by_index and node.index in values_by_index:
            continue
        op, args = node.op, node.args
        if op is CONST:
            value = arithmetic.constant(node.value)
        elif op is SYMBOL:
            value = values[node.name]
        elif op is ADD:
            value = result[args[0].index] + result[args[1].index]
        elif op is SUB:
            value = result[args[0].index] - result[args[1].index]
        elif op is MUL:
            value = result[args[0].index] * result[args[1].index]
        elif op is DIV:
            value = result[args[0].index] / result[args[1].index]
        elif op is NEG:
            value = -result[args[0].index]
        else:
            value = arithmetic.functions[op](*(result[arg.index] for arg in args))
        result[node.index] = value
    return [result[node.index] for node in wanted]


def replaced(scalars: Sequence[Scalar], values: Mapping[Scalar, Scalar]) -> list[Scalar]:
    """Replace symbols, the keys of `values`, in `scalars` of one graph.

    Nodes without these symbols stay the same.
    """
    kept: dict[int, Scalar] = {}
    for node in reachable(scalars):
        if node not in values and all(arg.index in kept for arg in node.args):
            kept[node.index] = node
    by_name = {symbol.name: value for symbol, value in values.items()}
    return evaluate(scalars, by_name, over_graph(scalars[0].graph), kept) if scalars else []


def over_graph(graph: Nodes) -> Arithmetic:
    """Return the arithmetic of scalars of `graph`, which rebuilds and simplifies expressions."""
    functions = {name: partial(graph.function, name) for name in rounding.ROUNDED}
    return Arithmetic(graph.constant, functions)
