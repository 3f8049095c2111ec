"""SymPy expressions at a random point of a prime field: equal values mean equal expressions.

`symgen.exact` evaluates programs likewise; here numbers are exact SymPy numbers, so that an answer
may contain products of numbers.  Angles are added as points of the circle, so that cos(q1 + q2)
and c1 c2 - s1 s2 have equal values, and half angles likewise.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import reduce
from operator import add, mul
from typing import Any

import sympy

from symgen.algebra.prime_field import PrimeField, Residue

Expr = Any
MOST_HALVES = 200
"""Maximum multiple of a half angle that is computed by addition."""


class Values:
    """The values of expressions at one point; a symbol's value depends on its name alone.

    In another state, all symbols but those in `fixed` have other values.  ZeroDivisionError and
    NotASquareError are raised where an expression has no value.
    """

    def __init__(self, field: PrimeField, fixed: Collection[str] | None = None) -> None:
        self.field, self.fixed = field, fixed
        self.cache: dict[Expr, Residue] = {}
        self._angles: dict[Expr, tuple[Residue, Residue]] = {}
        self._halves: dict[Expr, tuple[Residue, Residue]] = {}

    def of(self, expression: Expr) -> Residue:
        """Return the value of an expression."""
        if expression not in self.cache:
            self.cache[expression] = self._value(expression)
        return self.cache[expression]

    def _value(self, x: Expr) -> Residue:
        field = self.field
        if x.is_Symbol:
            is_fixed = self.fixed is None or x.name in self.fixed
            return field.draw("symbol" if is_fixed else "moved symbol", x.name)
        if x.is_Rational:
            return field.number(int(x.p)) / field.number(int(x.q))
        if x.is_Float:
            return field.constant(float(x))
        if x.is_NumberSymbol:
            return field.draw("constant", str(x))
        if x.is_Add:
            return reduce(add, map(self.of, x.args))
        if x.is_Mul:
            return reduce(mul, map(self.of, x.args))
        if x.is_Pow:
            return self._power(x)
        if x.func in (sympy.cos, sympy.sin):
            return self.angle(x.args[0])[x.func is sympy.sin]
        if x.func is sympy.tan:
            cosine, sine = self.angle(x.args[0])
            return sine / cosine
        name = x.func.__name__.lower()
        function = field.arithmetic.functions.get(name)
        values = [self.of(part) for part in x.args]
        return function(*values) if function else field.draw(name, *(v.value for v in values))

    def _power(self, x: Expr) -> Residue:
        base, exponent = x.args
        twice = 2 * exponent
        if not twice.is_Integer or abs(int(twice)) > 2**20:
            return self.field.draw("pow", self.of(base).value, self.of(exponent).value)
        value = self.of(base)
        if not exponent.is_Integer:
            value = self.field.sqrt(value)
            exponent = twice
        power = self.field.pow(value, self.field.number(abs(int(exponent))))
        return power if exponent > 0 else self.field.number(1) / power

    def angle(self, x: Expr) -> tuple[Residue, Residue]:
        """(cos x, sin x), a point of the circle."""
        if x not in self._angles:
            self._angles[x] = self._angle(x)
        return self._angles[x]

    def turn(self, x: Expr, point: tuple[Residue, Residue]) -> None:
        """Set (cos x/2, sin x/2) of a symbol."""
        self._halves[x] = point

    def _angle(self, x: Expr) -> tuple[Residue, Residue]:
        unit, zero = self.field.number(1), self.field.number(0)
        if x == 0:
            return unit, zero
        if x.is_Add:
            total = unit, zero
            for part in x.args:
                total = _turned(total, self.angle(part))
            return total
        count, rest = x.as_coeff_Mul()
        if rest.is_Add:
            return self.angle(sympy.Add(*(count * part for part in rest.args)))
        if rest is sympy.pi and (2 * count).is_Integer:
            return ((unit, zero), (zero, unit), (-unit, zero), (zero, -unit))[int(2 * count) % 4]
        if rest is sympy.pi and not sympy.cos(x).has(sympy.cos, sympy.sin):
            return self.of(sympy.cos(x)), self.of(sympy.sin(x))  # roots, as of 3 for pi/6
        halves = 2 * count
        if not halves.is_Integer or abs(halves) > MOST_HALVES:
            halves, rest = sympy.Integer(2), x
        cosine, sine = self.half(rest)
        once = (cosine, sine) if halves > 0 else (cosine, -sine)
        total = unit, zero
        for _ in range(abs(int(halves))):
            total = _turned(total, once)
        return total

    def half(self, x: Expr) -> tuple[Residue, Residue]:
        """Cosine and sine of x/2."""
        if x not in self._halves:
            value = self.of(x) / self.field.number(2)
            self._halves[x] = self.field.cos(value), self.field.sin(value)
        return self._halves[x]


def _turned(
    first: tuple[Residue, Residue], second: tuple[Residue, Residue]
) -> tuple[Residue, Residue]:
    """Add two angles, given as points of the circle."""
    (c, s), (d, t) = first, second
    return c * d - s * t, s * d + c * t
