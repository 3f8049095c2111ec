"""The expression core: a hash-consed graph of scalars, simplified while it is built.

`Nodes` owns its nodes.  A node is a `Scalar`: an operator, operands and an index; operands
always have smaller indices, so a walk over increasing indices is a walk in topological order and
no traversal of this package recurses.  Equal subexpressions are one node (hash-consing), which
makes elimination of common subexpressions free.

Operators
    ``const`` (a float64), ``symbol`` (an input), ``+ - * /`` and ``neg``, and the functions in
    `symgen.algebra.rounding.ROUNDED`.

Simplification at construction (each rule looks at most two levels deep, so building stays O(1)):
    constants fold, correctly rounded; x+0, x*1, x*0, x-x, x/x; 2x + 3x = 5x; signs move outwards
    ((-x)*y = -(x*y), x+(-y) = x-y); constant factors and summands gather at the front;
    sin^2 + cos^2 = 1; sin and cos absorb signs and quarter turns of their argument;
    whole powers become products.

The order of operands of commutative operators is the order of creation, never a hash order, so
the same program text comes out on every run and machine.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from operator import attrgetter

from symgen.algebra import rounding
from symgen.errors import BeyondRangeError

CONST, SYMBOL = "const", "symbol"
ADD, SUB, MUL, DIV, NEG = "+", "-", "*", "/", "neg"
ARITHMETIC = (ADD, SUB, MUL, DIV, NEG)
_LARGEST_UNROLLED_POWER = 64
_LARGEST_EXPONENT = 1000  # of a power of two whose reciprocal is a normal number

Real = int | float


def _coefficient(x: Scalar) -> float:
    """c with x = c y."""
    return x.args[0].value if x.op is MUL and x.args[0].op is CONST else 1.0


def _term(x: Scalar) -> Scalar:
    """y with x = c y."""
    return x.args[1] if x.op is MUL and x.args[0].op is CONST else x


@dataclass(slots=True, eq=False, repr=False)
class Scalar:
    """One of `Nodes`.  Supports ``+ - * / **`` and unary minus with scalars and floats."""

    graph: Nodes
    index: int
    op: str
    args: tuple[Scalar, ...]
    value: float = 0.0
    name: str = ""

    def __add__(self, other: Scalar | Real) -> Scalar:
        return self.graph.add(self, other if isinstance(other, Scalar) else self._const(other))

    def __radd__(self, other: Real) -> Scalar:
        return self.graph.add(self._const(other), self)

    def __sub__(self, other: Scalar | Real) -> Scalar:
        return self.graph.sub(self, other if isinstance(other, Scalar) else self._const(other))

    def __rsub__(self, other: Real) -> Scalar:
        return self.graph.sub(self._const(other), self)

    def __mul__(self, other: Scalar | Real) -> Scalar:
        return self.graph.mul(self, other if isinstance(other, Scalar) else self._const(other))

    def __rmul__(self, other: Real) -> Scalar:
        return self.graph.mul(self._const(other), self)

    def __truediv__(self, other: Scalar | Real) -> Scalar:
        return self.graph.div(self, other if isinstance(other, Scalar) else self._const(other))

    def __rtruediv__(self, other: Real) -> Scalar:
        return self.graph.div(self._const(other), self)

    def __pow__(self, exponent: Scalar | Real) -> Scalar:
        power = exponent if isinstance(exponent, Scalar) else self._const(exponent)
        return self.graph.function("pow", self, power)

    def __neg__(self) -> Scalar:
        return self.graph.neg(self)

    def _const(self, value: Real) -> Scalar:
        return self.graph.constant(value)

    @property
    def is_zero(self) -> bool:
        """Whether this is the constant 0."""
        return self.op is CONST and self.value == 0.0

    @property
    def is_atomic(self) -> bool:
        """Whether this is a constant or a symbol, perhaps negated: not worth a name."""
        node = self.args[0] if self.op is NEG else self
        return node.op is CONST or node.op is SYMBOL

    def __repr__(self) -> str:
        if self.op is CONST:
            return repr(self.value)
        if self.op is SYMBOL:
            return self.name
        return f"{self.op}({', '.join(f'#{arg.index}' for arg in self.args)})"


class Nodes:
    """A growing set of scalars in which equal expressions are the same object."""

    def __init__(self) -> None:
        self.nodes: list[Scalar] = []
        self._table: dict[tuple[object, ...], Scalar] = {}
        self.zero = self.constant(0.0)
        self.one = self.constant(1.0)

    def close(self) -> None:
        """Drop the tables, so that unused nodes are freed at once; nothing can be added afterwards.

        Nodes refer to their graph: without this all of them would wait for the garbage collector.
        """
        del self.nodes, self._table

    def constant(self, value: Real) -> Scalar:
        """Return the float64 constant `value`, which must be finite; -0.0 is stored as 0.0."""
        number = float(value) + 0.0
        node = self._table.get((CONST, number))
        if node is None:
            if not math.isfinite(number):
                raise BeyondRangeError(
                    f"numbers of the model (lengths, masses, angles) combine to {number}: some are "
                    "too large or too small for float64"
                )
            node = self._append((CONST, number), CONST, (), number)
        return node

    def symbol(self, name: str) -> Scalar:
        """Return the input named `name`."""
        node = self._table.get((SYMBOL, name))
        if node is None:
            node = self._append((SYMBOL, name), SYMBOL, (), 0.0, name)
        return node

    def neg(self, x: Scalar) -> Scalar:
        """-x"""
        if x.op is CONST:
            return self.constant(-x.value)
        if x.op is NEG:
            return x.args[0]
        if x.op is MUL and x.args[0].op is CONST:
            return self.mul(self.constant(-x.args[0].value), x.args[1])
        return self._intern(NEG, x)

    def add(self, x: Scalar, y: Scalar) -> Scalar:
        """x + y"""
        if x is self.zero:
            return y
        if y is self.zero:
            return x
        if x.op is CONST or y.op is CONST:
            return self._add_constant(x, y) if x.op is CONST else self._add_constant(y, x)
        if y.op is NEG:
            return self.sub(x, y.args[0])
        if x.op is NEG:
            return self.sub(y, x.args[0])
        if _term(x) is _term(y):
            total = _coefficient(x) + _coefficient(y)
            if math.isfinite(total):
                return self.mul(self.constant(total), _term(x))
        if x.op is SUB and x.args[1] is y:
            return x.args[0]
        if y.op is SUB and y.args[1] is x:
            return y.args[0]
        if x.op is MUL and y.op is MUL and self._is_sine_and_cosine_squared(x, y):
            return self.one
        return self._commutative(ADD, x, y)

    def sub(self, x: Scalar, y: Scalar) -> Scalar:
        """x - y"""
        if y is self.zero:
            return x
        if x is y:
            return self.zero
        if y.op is CONST:
            return self._add_constant(self.constant(-y.value), x)
        if x.op is CONST:
            return self._subtract_from_constant(x, y)
        if y.op is NEG:
            return self.add(x, y.args[0])
        if x.op is NEG:
            return self.neg(self.add(x.args[0], y))
        if _term(x) is _term(y):
            rest = _coefficient(x) - _coefficient(y)
            if math.isfinite(rest):
                return self.mul(self.constant(rest), _term(x))
        if x.op is ADD and y in x.args:
            return x.args[1] if x.args[0] is y else x.args[0]
        if y.op is ADD and x in y.args:
            return self.neg(y.args[1] if y.args[0] is x else y.args[0])
        if x.op is SUB and x.args[0] is y:
            return self.neg(x.args[1])
        if y.op is SUB and y.args[0] is x:
            return y.args[1]
        reverse = self._table.get((SUB, y.index, x.index))
        return self._intern(SUB, x, y) if reverse is None else self._intern(NEG, reverse)

    def mul(self, x: Scalar, y: Scalar) -> Scalar:
        """x * y"""
        if x is self.zero or y is self.zero:
            return self.zero
        if x.op is CONST or y.op is CONST:
            return self._multiply_constant(x, y) if x.op is CONST else self._multiply_constant(y, x)
        if x.op is NEG:
            return self.neg(self.mul(x.args[0], y))
        if y.op is NEG:
            return self.neg(self.mul(x, y.args[0]))
        if x.op is MUL and x.args[0].op is CONST:
            return self.mul(x.args[0], self.mul(x.args[1], y))
        if y.op is MUL and y.args[0].op is CONST:
            return self.mul(y.args[0], self.mul(x, y.args[1]))
        if x.op is DIV and x.args[1] is y:
            return x.args[0]
        if y.op is DIV and y.args[1] is x:
            return y.args[0]
        return self._commutative(MUL, x, y)

    def product(self, x: Scalar, y: Scalar) -> Scalar:
        """x * y without moving constant factors of x or y to the front."""
        if x.op is CONST or y.op is CONST:
            return self.mul(x, y)
        if x.op is NEG:
            return self.neg(self.product(x.args[0], y))
        if y.op is NEG:
            return self.neg(self.product(x, y.args[0]))
        return self._commutative(MUL, x, y)

    def div(self, x: Scalar, y: Scalar) -> Scalar:
        """x / y; ZeroDivisionError for a constant zero y."""
        if y.op is CONST:
            if x.op is CONST:
                return self.constant(x.value / y.value)
            if y.value == 0.0:
                raise ZeroDivisionError("division by the constant 0")
            mantissa, exponent = math.frexp(y.value)
            if abs(mantissa) == 0.5 and abs(exponent) < _LARGEST_EXPONENT:
                # a power of two has an exact reciprocal
                return self.mul(self.constant(1.0 / y.value), x)
        if x.is_zero:
            return self.zero
        if x is y:
            return self.one
        if x.op is NEG:
            return self.neg(self.div(x.args[0], y))
        if y.op is NEG:
            return self.neg(self.div(x, y.args[0]))
        return self._intern(DIV, x, y)

    def function(self, name: str, *args: Scalar) -> Scalar:
        """Return a function of `rounding.ROUNDED` of scalars of this graph."""
        if all(arg.op is CONST for arg in args):
            return self.constant(rounding.ROUNDED[name](*(arg.value for arg in args)))
        if name in ("sin", "cos"):
            return self._sine_or_cosine(name, args[0])
        if name == "pow":
            return self._power(*args)
        if name == "sqrt" and args[0].op is MUL and args[0].args[0] is args[0].args[1]:
            return self.function("abs", args[0].args[0])
        if args[0].op is NEG:
            if name in ("tan", "asin", "atan", "tanh", "sign"):
                return self.neg(self.function(name, args[0].args[0]))
            if name == "abs":
                return self.function(name, args[0].args[0])
        return self._intern(name, *args)

    # -- the rest of the Algebra interface ------------------------------------------------------

    def is_zero(self, x: Scalar) -> bool:
        """Whether `x` is the constant 0."""
        return x.is_zero

    def is_atomic(self, x: Scalar) -> bool:
        """Whether `x` is a constant or a symbol, perhaps negated."""
        return x.is_atomic

    def settled(self, x: Scalar) -> Scalar:
        """`x` itself: constants are folded at once."""
        return x

    def named(self, name: str, x: Scalar) -> Scalar:
        """`x` itself: over a graph a name is only a label."""
        return x

    def unsigned(self, x: Scalar) -> Scalar:
        """`x` without a leading sign, which sums and products move outwards."""
        return x.args[0] if x.op is NEG else x

    def _add_constant(self, c: Scalar, x: Scalar) -> Scalar:
        if x.op is CONST:
            return self.constant(c.value + x.value)
        if c.value == 0.0:
            return x
        if x.op is NEG:
            return self._subtract_from_constant(c, x.args[0])
        if x.op in (ADD, SUB) and x.args[0].op is CONST:
            total = c.value + x.args[0].value
            if math.isfinite(total):
                combine = self.add if x.op is ADD else self.sub
                return combine(self.constant(total), x.args[1])
        return self._intern(ADD, c, x)

    def _subtract_from_constant(self, c: Scalar, x: Scalar) -> Scalar:
        if c.value == 0.0:
            return self.neg(x)
        if x.op is NEG:
            return self._add_constant(c, x.args[0])
        if x.op in (ADD, SUB) and x.args[0].op is CONST:
            rest = c.value - x.args[0].value
            if math.isfinite(rest):
                combine = self.sub if x.op is ADD else self.add
                return combine(self.constant(rest), x.args[1])
        return self._intern(SUB, c, x)

    def _multiply_constant(self, c: Scalar, x: Scalar) -> Scalar:
        if x.op is CONST:
            return self.constant(c.value * x.value)
        if c.value == 0.0:
            return self.zero
        if c.value == 1.0:
            return x
        if c.value == -1.0:
            return self.neg(x)
        if x.op is NEG:
            return self._multiply_constant(self.constant(-c.value), x.args[0])
        if x.op is MUL and x.args[0].op is CONST:
            factor = c.value * x.args[0].value
            # all 53 bits are there; else x could still bring the product back into range
            if sys.float_info.min <= abs(factor) <= sys.float_info.max:
                return self._multiply_constant(self.constant(factor), x.args[1])
        return self._intern(MUL, c, x)

    def _is_sine_and_cosine_squared(self, x: Scalar, y: Scalar) -> bool:
        a, b = x.args[0], y.args[0]
        return (
            a is x.args[1]
            and b is y.args[1]
            and {a.op, b.op} == {"sin", "cos"}
            and a.args[0] is b.args[0]
        )

    def _sine_or_cosine(self, name: str, x: Scalar) -> Scalar:
        if x.op is NEG:
            y = self._sine_or_cosine(name, x.args[0])
            return self.neg(y) if name == "sin" else y
        if x.op in (ADD, SUB) and x.args[0].op is CONST:
            turns = rounding.quarter_turns(x.args[0].value)
            if turns is not None:
                rest = x.args[1] if x.op is ADD else self.neg(x.args[1])
                turns += name == "cos"
                y = self._sine_or_cosine("cos" if turns % 2 else "sin", rest)
                return self.neg(y) if turns % 4 >= 2 else y
        return self._intern(name, x)

    def _power(self, base: Scalar, exponent: Scalar) -> Scalar:
        if exponent.op is not CONST:
            return self._intern("pow", base, exponent)
        n = exponent.value
        if n == 0.5:
            return self.function("sqrt", base)
        if not n.is_integer() or abs(n) > _LARGEST_UNROLLED_POWER:
            return self._intern("pow", base, exponent)
        result, square, remaining = self.one, base, int(abs(n))
        while remaining:
            if remaining & 1:
                result = self.mul(result, square)
            remaining >>= 1
            if remaining:
                square = self.mul(square, square)
        return result if n >= 0 else self.div(self.one, result)

    # -- storage ------------------------------------------------------------------------------

    def existing(self, op: str, x: Scalar, y: Scalar) -> Scalar | None:
        """Return the sum, difference or product of `x` and `y`, if the graph holds it."""
        pair = sorted((x.index, y.index)) if op in (ADD, MUL) else (x.index, y.index)
        return self._table.get((op, *pair))

    def _commutative(self, op: str, x: Scalar, y: Scalar) -> Scalar:
        """Return the node of a sum or product, its operands in the order of creation."""
        i, k = x.index, y.index
        key, args = ((op, i, k), (x, y)) if i <= k else ((op, k, i), (y, x))
        return self._table.get(key) or self._append(key, op, args)

    def _intern(self, op: str, *args: Scalar) -> Scalar:
        key = (op, *[arg.index for arg in args])
        return self._table.get(key) or self._append(key, op, args)

    def _append(
        self,
        key: tuple[object, ...],
        op: str,
        args: tuple[Scalar, ...],
        value: float = 0.0,
        name: str = "",
    ) -> Scalar:
        node = Scalar(self, len(self.nodes), op, args, value, name)
        self.nodes.append(node)
        self._table[key] = node
        return node


def reachable(outputs: Iterable[Scalar], named: Collection[Scalar] = ()) -> list[Scalar]:
    """Nodes that `outputs` depend on, operands before their users; `named` ones are not opened."""
    seen = set(outputs)
    added = seen.difference(named)
    while added:
        added = {arg for node in added for arg in node.args} - seen
        seen |= added
        if named:
            added.difference_update([node for node in added if node in named])
    return sorted(seen, key=attrgetter("index"))
