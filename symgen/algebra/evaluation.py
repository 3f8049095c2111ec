"""Evaluation of scalars: floats, complex numbers, arrays, or any numbers with an arithmetic.

`evaluate` walks the nodes once, in topological order.  The numbers only need ``+ - * /`` and unary
minus; the functions come from an `Arithmetic`, so that other kinds of numbers (a prime field,
dual numbers, another graph) are an addition and not a change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgen.algebra.graph import ADD, CONST, DIV, MUL, NEG, SUB, SYMBOL, Scalar, reachable


@dataclass(frozen=True)
class Arithmetic:
    """How constants and functions are evaluated for one kind of number."""

    constant: Callable[[float], Any]
    functions: Mapping[str, Callable[..., Any]]


def _complex_abs(x: Any) -> Any:
    """|x| continued analytically from the real axis, so that complex step differentiates it."""
    return np.where(np.real(x) < 0, -x, x)


def _complex_sign(x: Any) -> Any:
    return np.sign(np.real(x))


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
        "abs": _complex_abs,
        "sign": _complex_sign,
        "pow": np.power,
    },
)


def evaluate(
    outputs: Iterable[Scalar], values: Mapping[str, Any], arithmetic: Arithmetic = NUMPY
) -> list[Any]:
    """Values of `outputs` where the symbol named s has the value ``values[s]``.

    Values may be floats, complex numbers or arrays that broadcast mutually.  Constants come back
    as plain numbers.  KeyError names a symbol without a value.
    """
    wanted = list(outputs)
    result: dict[int, Any] = {}
    for node in reachable(wanted):
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


def rebuild(outputs: Iterable[Scalar], replacements: Mapping[str, Scalar]) -> list[Scalar]:
    """`outputs` with symbols replaced by scalars, simplified anew, in the replacements' graph."""
    wanted = list(outputs)
    rebuilder = Rebuilder(replacements)
    return [rebuilder(node) for node in wanted]


class Rebuilder:
    """Replaces symbols by scalars and simplifies anew, remembering what was already rebuilt.

    A symbol without a replacement is an error (KeyError): nothing slips through from one graph
    into another.
    """

    def __init__(self, replacements: Mapping[str, Scalar], graph: Any = None) -> None:
        self._replacements = replacements
        self._graph = graph or next(iter(replacements.values())).graph
        self._done: dict[int, Scalar] = {}

    def __call__(self, root: Scalar) -> Scalar:
        """The rebuilt `root`."""
        done, graph = self._done, self._graph
        stack = [root]
        while stack:
            node = stack[-1]
            if node.index in done:
                stack.pop()
                continue
            missing = [arg for arg in node.args if arg.index not in done]
            if missing:
                stack.extend(reversed(missing))
                continue
            stack.pop()
            args = [done[arg.index] for arg in node.args]
            done[node.index] = self._build(graph, node, args)
        return done[root.index]

    def _build(self, graph: Any, node: Scalar, args: list[Scalar]) -> Scalar:
        op = node.op
        built: Scalar
        if op is CONST:
            built = graph.constant(node.value)
        elif op is SYMBOL:
            built = self._replacements[node.name]
        elif op is ADD:
            built = graph.add(*args)
        elif op is SUB:
            built = graph.sub(*args)
        elif op is MUL:
            built = graph.mul(*args)
        elif op is DIV:
            built = graph.div(*args)
        elif op is NEG:
            built = graph.neg(*args)
        else:
            built = graph.function(op, *args)
        return built
