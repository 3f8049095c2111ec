"""SymPy scalars behind the same interface as the graph, and conversion both ways.

This file is the one gate between programs and the computer algebra.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import sympy

from symgen.algebra import rounding
from symgen.algebra.evaluation import Arithmetic, evaluate
from symgen.algebra.graph import Graph
from symgen.algebra.nodes import SYMBOL, Scalar, reachable

Expr = Any  # sympy.Expr; SymPy's own annotations are too partial for strict checking

_LONGEST_EXACT_DECIMAL = 12
_LARGEST_CONSTANT = 30  # operations, as of the product of three rotations
_DIGITS, _NOTHING = 17, 1e-100  # what cancels is tried with 100 digits

_FUNCTIONS: dict[str, Any] = {
    "sin": sympy.sin,
    "cos": sympy.cos,
    "tan": sympy.tan,
    "asin": sympy.asin,
    "acos": sympy.acos,
    "atan": sympy.atan,
    "atan2": sympy.atan2,
    "exp": sympy.exp,
    "log": sympy.log,
    "tanh": sympy.tanh,
    "sqrt": sympy.sqrt,
    "abs": sympy.Abs,
    "sign": sympy.sign,
    "pow": sympy.Pow,
}


def symbol(name: str) -> Expr:
    """The symbol for an input, parameter or temporary: always real."""
    return sympy.Symbol(name, real=True)


def constant(value: float) -> Expr:
    """The number `value`: exact for k pi/2 and for decimals of at most 12 digits, else a Float.

    A short decimal such as 0.1 is what stands in a model file, and is meant exactly.  A guard
    against 0/0 is none on a blackboard.
    """
    if value == rounding.GUARD:
        return sympy.S.Zero
    turns = rounding.quarter_turns(value)
    if turns:
        return sympy.Rational(turns, 2) * sympy.pi
    decimal = repr(float(value))
    digits = decimal.split("e")[0].strip("-").replace(".", "").strip("0")
    if len(digits) <= _LONGEST_EXACT_DECIMAL:
        return sympy.Rational(decimal)
    return sympy.Float(value, _DIGITS)


class SymPyAlgebra:
    """An algebra whose scalars are SymPy expressions.

    A named scalar becomes a symbol, so that nothing swells; `definitions` remembers what every
    name stands for, in order, and `expanded` puts it back.
    """

    is_exact = True

    def __init__(self) -> None:
        self.definitions: dict[Expr, Expr] = {}
        self._expanded: dict[Expr, Expr] = {}

    @property
    def zero(self) -> Expr:
        """The constant 0."""
        return sympy.S.Zero

    @property
    def one(self) -> Expr:
        """The constant 1."""
        return sympy.S.One

    def constant(self, value: float) -> Expr:
        """See `constant`."""
        return constant(value)

    def symbol(self, name: str) -> Expr:
        """The input or parameter `name`."""
        return symbol(name)

    def function(self, name: str, *args: Expr) -> Expr:
        """A function of `rounding.FUNCTIONS`."""
        return _FUNCTIONS[name](*args)

    def is_zero(self, x: Expr) -> bool:
        """Whether `x` is the number 0."""
        return bool(x == 0)

    def is_atomic(self, x: Expr) -> bool:
        """Whether `x` is a number or a symbol, perhaps negated."""
        return bool(x.is_number or x.is_Symbol or (-x).is_Symbol)

    def settled(self, x: Expr) -> Expr:
        """`x`, but for a constant of many operations: exact ones swell without end.

        That of links fixed to each other, each at an angle such as 0.1, whose cosine is no number
        here, would have 3^k terms.  A grown one has 17 digits; what cancels is 0.
        """
        if not x.is_number or x.count_ops() <= _LARGEST_CONSTANT:
            return x
        value = sympy.Float(x.evalf(_DIGITS + 3), _DIGITS)
        return sympy.S.Zero if abs(value) < _NOTHING else value

    def named(self, name: str, x: Expr) -> Expr:
        """A new symbol that stands for `x`."""
        label = symbol(name)
        self.definitions[label] = x
        return label

    def unsigned(self, x: Expr) -> Expr:
        """`x` itself: what has a name is used by its name."""
        return x

    def shared(self, values: Sequence[Expr], named: Collection[Expr]) -> list[list[Expr]]:
        """Nothing: names are all that expressions share."""
        return [[] for _ in values]

    def size(self, scalars: Sequence[Expr]) -> int:
        """Return 0: expressions are no graph."""
        return 0

    def expanded(self, x: Expr) -> Expr:
        """`x` with every name replaced by what it stands for."""
        for label, definition in list(self.definitions.items())[len(self._expanded) :]:
            self._expanded[label] = definition.xreplace(self._expanded)
        return x.xreplace(self._expanded)

    def replaced(self, scalars: Sequence[Expr], values: Mapping[Expr, Expr]) -> list[Expr]:
        """Symbols replaced; names that stand for something with such a symbol in it are not."""
        return [x.xreplace(values) for x in scalars]

    def derivatives(self, inputs: Sequence[Expr], along: Sequence[Expr] = ()) -> SymPyDerivatives:
        """Forward derivatives with respect to symbols, or along a direction, through the names."""
        return SymPyDerivatives(inputs, self.definitions, along)

    def adjoints(self, inputs: Sequence[Expr]) -> SymPyAdjoints:
        """Reverse derivatives with respect to symbols, through the names."""
        return SymPyAdjoints(inputs, self.definitions)

    def jacobian(self, outputs: Sequence[Expr], inputs: Sequence[Expr]) -> list[dict[int, Expr]]:
        """Sparse rows of derivatives, in terms of the names."""
        derivatives = self.derivatives(inputs)
        return [derivatives.of(output) for output in outputs]


class SymPyDerivatives:
    """The chain rule over named expressions: see `symgen.algebra.interface.Derivatives`."""

    def __init__(
        self, inputs: Sequence[Expr], definitions: Mapping[Expr, Expr], along: Sequence[Expr] = ()
    ) -> None:
        self._definitions = definitions
        self._known: dict[Expr, dict[int, Expr]] = {
            x: {k: sympy.S.One} for k, x in enumerate(inputs)
        }
        for x, change in zip(inputs, along, strict=bool(along)):
            self._known[x] = {0: change} if change != 0 else {}

    def rows(self, scalars: Sequence[Expr]) -> list[dict[int, Expr]]:
        """See `of`: the derivatives of names are known."""
        return [self.of(x) for x in scalars]

    def of_statement(self, name: str, value: Expr) -> dict[int, Expr]:
        """Derivatives of the right side of a statement."""
        return self.of(value)

    def remember(self, name: str, value: Expr, row: dict[int, Expr]) -> None:
        """The symbol `name` has the derivatives `row`."""
        self._known[symbol(name)] = row

    def of(self, x: Expr) -> dict[int, Expr]:
        """Derivatives of `x`; names that were not met before are differentiated first."""
        stack = [label for label in _symbols_in(x) if self._is_unknown(label)]
        while stack:
            label = stack[-1]
            inner = _symbols_in(self._definitions[label])
            pending = [symbol for symbol in inner if self._is_unknown(symbol)]
            if pending:
                stack.extend(pending)
                continue
            stack.pop()
            self._known[label] = self._chain_rule(self._definitions[label])
        return self._chain_rule(x)

    def _is_unknown(self, label: Expr) -> bool:
        return label in self._definitions and label not in self._known

    def _chain_rule(self, x: Expr) -> dict[int, Expr]:
        row: dict[int, Expr] = {}
        for label in _symbols_in(x):
            inner = self._known.get(label)
            if inner:
                outer = x.diff(label)
                for k, derivative in inner.items():
                    row[k] = row.get(k, sympy.S.Zero) + outer * derivative
        return {k: row[k] for k in sorted(row) if row[k] != 0}


class SymPyAdjoints:
    """Reverse derivatives: see `symgen.algebra.interface.Adjoints`."""

    def __init__(self, inputs: Sequence[Expr], definitions: Mapping[Expr, Expr]) -> None:
        self._definitions = definitions
        self._moves = dict.fromkeys(inputs, True)
        self._seen = 0

    def of(self, x: Expr, weight: Expr, named: Collection[Expr]) -> dict[Expr, Expr]:
        """Return the gradient by the symbols in `x`: a name is one, and has nothing inside."""
        terms = {label: weight * x.diff(label) for label in _symbols_in(x) if self._moved(label)}
        return {label: term for label, term in terms.items() if term != 0}

    def _moved(self, label: Expr) -> bool:
        """Whether what `label` stands for depends on the inputs; names are defined in order."""
        for name, definition in list(self._definitions.items())[self._seen :]:
            inside = definition.free_symbols
            self._moves[name] = any(self._moves.get(symbol, False) for symbol in inside)
        self._seen = len(self._definitions)
        return self._moves.get(label, False)


def _symbols_in(x: Expr) -> list[Expr]:
    return sorted(x.free_symbols, key=lambda label: str(label.name))


SYMPY_ARITHMETIC = Arithmetic(constant=constant, functions=_FUNCTIONS)


def to_sympy(scalars: Sequence[Scalar]) -> list[Expr]:
    """The scalars as SymPy expressions, symbols by name.

    The result shares subexpressions in memory; printing it may still be exponential in depth.
    """
    names = {node.name for node in reachable(scalars) if node.op is SYMBOL}
    return evaluate(scalars, {name: symbol(name) for name in names}, SYMPY_ARITHMETIC)


_HEADS: dict[Any, str] = {
    sympy.sin: "sin",
    sympy.cos: "cos",
    sympy.tan: "tan",
    sympy.asin: "asin",
    sympy.acos: "acos",
    sympy.atan: "atan",
    sympy.atan2: "atan2",
    sympy.exp: "exp",
    sympy.log: "log",
    sympy.tanh: "tanh",
    sympy.Abs: "abs",
    sympy.sign: "sign",
}


def from_sympy(
    expressions: Iterable[Expr], graph: Graph, symbols: Mapping[str, Scalar] | None = None
) -> list[Scalar]:
    """SymPy expressions as scalars of `graph`; symbols are looked up by name, else made.

    ValueError names the first construct that has no counterpart in the graph.
    """
    nodes = dict(symbols or {})
    done: dict[Expr, Scalar] = {}
    wanted = list(expressions)
    for root in wanted:
        stack = [root]
        while stack:
            node = stack[-1]
            if node in done:
                stack.pop()
                continue
            missing = [arg for arg in node.args if arg not in done]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            done[node] = _from_sympy_node(node, [done[arg] for arg in node.args], graph, nodes)
    return [done[expression] for expression in wanted]


def _from_sympy_node(
    node: Expr, args: list[Scalar], graph: Graph, symbols: dict[str, Scalar]
) -> Scalar:
    if node.is_Symbol:
        return symbols[node.name] if node.name in symbols else graph.symbol(node.name)
    if node.is_number and not node.args:
        if not (node.is_real and node.is_finite):
            raise ValueError(f"{node} is not a finite real number")
        return graph.constant(float(node))
    if node.is_Add or node.is_Mul:
        combine = graph.add if node.is_Add else graph.mul
        total = args[0]
        for arg in args[1:]:
            total = combine(total, arg)
        return total
    if node.is_Pow:
        return graph.function("pow", *args)
    name = _HEADS.get(node.func)
    if name is None:
        raise ValueError(f"{node.func.__name__} has no counterpart in generated code")
    return graph.function(name, *args)
