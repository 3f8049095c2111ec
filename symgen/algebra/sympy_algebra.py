"""SymPy scalars behind the same interface as the graph, and conversion of the graph to SymPy."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sympy

from symgen.algebra import rounding
from symgen.algebra.evaluation import Arithmetic, evaluate
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
    """Return the symbol for an input, parameter or temporary: always real."""
    return sympy.Symbol(name, real=True)


def constant(value: float) -> Expr:
    """The number `value`: exact for k pi/2 and for decimals of at most 12 digits, else a Float.

    A short decimal such as 0.1 was written in a model file and is meant exactly.  The guard against
    0/0 is 0: symbolic division needs none.
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
        """See `constant` of this module."""
        return constant(value)

    def symbol(self, name: str) -> Expr:
        """Return the input or parameter `name`."""
        return symbol(name)

    def function(self, name: str, *args: Expr) -> Expr:
        """Return a function of `rounding.ROUNDED`."""
        return _FUNCTIONS[name](*args)

    def is_zero(self, x: Expr) -> bool:
        """Whether `x` is the number 0."""
        return bool(x == 0)

    def is_atomic(self, x: Expr) -> bool:
        """Whether `x` is a number or a symbol, perhaps negated."""
        return bool(x.is_number or x.is_Symbol or (-x).is_Symbol)

    def settled(self, x: Expr) -> Expr:
        """`x`, with a constant of many operations replaced by 17 digits; 0 where it cancels.

        Exact constants swell: for k links fixed to each other at angles such as 0.1, whose cosine
        stays symbolic, they would have 3^k terms.
        """
        if not x.is_number or x.count_ops() <= _LARGEST_CONSTANT:
            return x
        value = sympy.Float(x.evalf(_DIGITS + 3), _DIGITS)
        return sympy.S.Zero if abs(value) < _NOTHING else value

    def named(self, name: str, x: Expr) -> Expr:
        """Return a new symbol that stands for `x`."""
        label = symbol(name)
        self.definitions[label] = x
        return label

    def unsigned(self, x: Expr) -> Expr:
        """`x` itself: named scalars are used by their names."""
        return x

    def shared(self, values: Sequence[Expr], named: Collection[Expr]) -> list[list[Expr]]:
        """Empty lists: expressions share nothing but names."""
        return [[] for _ in values]

    def size(self, scalars: Sequence[Expr]) -> int:
        """0: expressions form no graph."""
        return 0

    def expanded(self, x: Expr) -> Expr:
        """`x` with every name replaced by its definition; other definitions are not expanded."""
        needed: set[Any] = set()
        waiting = [x]
        while waiting:
            labels = waiting.pop().free_symbols & self.definitions.keys() - self._expanded.keys()
            waiting += [self.definitions[label] for label in labels - needed]
            needed |= labels
        for label in [label for label in self.definitions if label in needed]:
            self._expanded[label] = self.definitions[label].xreplace(self._expanded)
        return x.xreplace(self._expanded)

    def replaced(self, scalars: Sequence[Expr], values: Mapping[Expr, Expr]) -> list[Expr]:
        """Replace symbols in `scalars`, but not inside the definitions of names."""
        return [x.xreplace(values) for x in scalars]

    def derivatives(self, inputs: Sequence[Expr], along: Sequence[Expr] = ()) -> SymPyDerivatives:
        """Forward derivatives with respect to symbols, or along a direction, through the names."""
        return SymPyDerivatives(inputs, self.definitions, along)

    def adjoints(self, inputs: Sequence[Expr]) -> SymPyAdjoints:
        """Reverse derivatives with respect to symbols, through the names."""
        return SymPyAdjoints(inputs, self.definitions)


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

    def reverse(self, scalars: Sequence[Expr]) -> list[dict[int, Expr]]:
        """Derivatives of several scalars, which have no graph to reverse: see `of`."""
        return [self.of(x) for x in scalars]

    def remember(self, name: str, value: Expr, row: dict[int, Expr]) -> None:
        """Take `row` as the derivatives of the symbol `name`."""
        self._known[symbol(name)] = row

    def of(self, x: Expr) -> dict[int, Expr]:
        """Derivatives of `x`; the names inside it are differentiated first."""
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
        """Gradient of `weight` times `x` by the symbols in it, names included."""
        terms = {label: weight * x.diff(label) for label in _symbols_in(x) if self._moved(label)}
        return {label: term for label, term in terms.items() if term != 0}

    def _moved(self, label: Expr) -> bool:
        """Whether the definition of `label` depends on the inputs; names are defined in order."""
        for name, definition in list(self._definitions.items())[self._seen :]:
            inside = definition.free_symbols
            self._moves[name] = any(self._moves.get(symbol, False) for symbol in inside)
        self._seen = len(self._definitions)
        return self._moves.get(label, False)


def _symbols_in(x: Expr) -> list[Expr]:
    return sorted(x.free_symbols, key=lambda label: str(label.name))


def to_sympy(scalars: Sequence[Scalar]) -> list[Expr]:
    """Return the scalars as SymPy expressions, symbols by name.

    The result shares subexpressions in memory; printing it may still be exponential in depth.
    """
    names = {node.name for node in reachable(scalars) if node.op is SYMBOL}
    return evaluate(scalars, {x: symbol(x) for x in names}, Arithmetic(constant, _FUNCTIONS))
