"""Rational functions of sines, cosines and symbols over known denominators.

Solving for accelerations divides by one pivot after the other, so that the result is a sum of
fractions, whose denominators are multiples of the determinant D of the mass matrix.  Expanded, they
are polynomials divided by a power of D; `Quotients` computes these polynomials.

A sine is a variable that obeys sin^2 = 1 - cos^2: polynomials are at most linear in it, and it is
removed from a denominator by the conjugate (with -sin).  This form is unique, so that exact
divisions need no greatest common divisor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any, NamedTuple

import sympy
from sympy.polys.rings import PolyElement, xring

Expr = Any


class Quotient(NamedTuple):
    """A polynomial over a product of powers: factor -> exponent."""

    numerator: Any
    denominator: Mapping[Any, int]


class Quotients:
    """Arithmetic of quotients over the names of a program.

    `definitions` maps names to their values; `expressions` are all further arguments of `of` and
    `polynomial`.  Terms that are no polynomial (the root of a sum, a hyperbolic tangent) are
    variables.
    """

    def __init__(self, definitions: Mapping[Expr, Expr], expressions: Iterable[Expr]) -> None:
        self._definitions = definitions
        self._known: dict[Expr, Quotient] = {}
        variables = _variables([*definitions.values(), *expressions], definitions)
        self._ring, generators = xring([sympy.Dummy() for _ in variables], sympy.QQ)
        self._variables = dict(zip(variables, generators, strict=True))
        self._back = tuple(variables)
        self._angles = [
            (generator, self._variables[sympy.cos(variable.args[0])])
            for variable, generator in self._variables.items()
            if variable.func is sympy.sin
        ]

    def polynomial(self, expression: Expr, factors: Iterable[Expr] = ()) -> Expr | None:
        """`expression` times all `factors`, or None if that is no polynomial."""
        product = self.of(expression)
        for factor in factors:
            product = self._times(product, self.of(factor))
        numerator = _divided(product.numerator, product.denominator)
        return None if numerator is None else numerator.as_expr(*self._back)

    def of(self, expression: Expr) -> Quotient:
        """Return the quotient equal to `expression`; ZeroDivisionError if it divides by 0."""
        waiting = [expression]
        while waiting:
            node = waiting[-1]
            inner = self._operands(node)
            unknown = [x for x in inner if x not in self._known]
            if unknown and node not in self._known:
                waiting += unknown
                continue
            waiting.pop()
            if node not in self._known:
                self._known[node] = self._combined(node, [self._known[x] for x in inner])
        return self._known[expression]

    def _operands(self, node: Expr) -> tuple[Expr, ...]:
        if node in self._definitions:
            return (self._definitions[node],)
        return () if node in self._variables else _operands(node)

    def _combined(self, node: Expr, operands: list[Quotient]) -> Quotient:
        if node in self._definitions:
            return operands[0]
        if node in self._variables:
            return Quotient(self._variables[node], {})
        if node.is_Add:
            return reduce(self._plus, operands)
        if node.is_Mul:
            return reduce(self._times, operands)
        if node.is_Pow:
            base = operands[0] if node.exp > 0 else self._inverse(operands[0])
            return reduce(self._times, [base] * abs(int(node.exp)))
        return Quotient(self._ring.domain_new(node) + self._ring.zero, {})

    def _plus(self, a: Quotient, b: Quotient) -> Quotient:
        common = {
            factor: max(a.denominator.get(factor, 0), b.denominator.get(factor, 0))
            for factor in (*a.denominator, *b.denominator)
        }
        return self._cancelled(_expanded(a, common) + _expanded(b, common), common)

    def _times(self, a: Quotient, b: Quotient) -> Quotient:
        product = {
            factor: a.denominator.get(factor, 0) + b.denominator.get(factor, 0)
            for factor in (*a.denominator, *b.denominator)
        }
        return self._cancelled(a.numerator * b.numerator, product)

    def _inverse(self, x: Quotient) -> Quotient:
        if not x.numerator:
            raise ZeroDivisionError("division by zero")
        numerator, divisor = self._ring.one, x.numerator
        for sine, _ in self._angles:
            if divisor.degree(sine) > 0:
                conjugate = divisor.compose(sine, -sine)
                numerator = self._reduced(numerator * conjugate)
                divisor = self._reduced(divisor * conjugate)
        content, divisor = divisor.primitive()
        numerator = numerator.mul_ground(1 / content)
        for factor, exponent in x.denominator.items():
            numerator = self._reduced(numerator * factor**exponent)
        if divisor.is_ground:
            return Quotient(numerator.mul_ground(1 / divisor.LC), {})
        return self._cancelled(numerator, {divisor: 1})

    def _cancelled(self, numerator: Any, denominator: Mapping[Any, int]) -> Quotient:
        """Cancel each factor as often as it divides the numerator."""
        numerator = self._reduced(numerator)
        left: dict[Any, int] = {}
        for factor, exponent in denominator.items():
            while exponent and (quotient := _exactly(numerator, factor)) is not None:
                numerator, exponent = quotient, exponent - 1
            if exponent:
                left[factor] = exponent
        return Quotient(numerator, left)

    def _reduced(self, polynomial: Any) -> Any:
        """Make the polynomial at most linear in every sine."""
        for sine, cosine in self._angles:
            if polynomial.degree(sine) > 1:
                polynomial = _with_squares(polynomial, sine, 1 - cosine**2)
        return polynomial


def _operands(node: Expr) -> tuple[Expr, ...]:
    """Return the operands of a sum, a product or an integer power; nothing for all others."""
    if node.is_Pow:
        return (node.base,) if node.exp.is_Integer else ()
    return tuple(node.args) if node.is_Add or node.is_Mul else ()


def _variables(expressions: Iterable[Expr], definitions: Mapping[Expr, Expr]) -> list[Expr]:
    """Return the variables: sines and cosines in pairs, symbols, and other non-polynomial terms."""
    variables: set[Expr] = set()
    seen: set[Expr] = set()
    waiting = list(expressions)
    while waiting:
        node = waiting.pop()
        if node in seen or node in definitions:
            continue
        seen.add(node)
        inner = _operands(node)
        waiting += inner
        if node.func in (sympy.sin, sympy.cos):
            variables |= {sympy.sin(node.args[0]), sympy.cos(node.args[0])}
        elif not inner and not (node.is_Rational or node.is_Float):
            variables.add(node)
    return sorted(variables, key=sympy.default_sort_key)


def _expanded(x: Quotient, common: Mapping[Any, int]) -> Any:
    """Return the numerator of `x` over the denominator `common`."""
    numerator = x.numerator
    for factor, exponent in common.items():
        numerator *= factor ** (exponent - x.denominator.get(factor, 0))
    return numerator


def _divided(numerator: Any, denominator: Mapping[Any, int]) -> Any | None:
    """Return the numerator divided by the denominator, or None if there is a remainder."""
    for factor, exponent in denominator.items():
        for _ in range(exponent):
            numerator = _exactly(numerator, factor)
            if numerator is None:
                return None
    return numerator


def _exactly(numerator: Any, factor: Any) -> Any | None:
    quotient, remainder = divmod(numerator, factor)
    return None if remainder else quotient


def _with_squares(polynomial: PolyElement, sine: Any, square: Any) -> Any:
    """Return the polynomial with even powers of `sine` replaced by powers of `square`."""
    place = polynomial.ring.gens.index(sine)
    parts: dict[int, dict[tuple[int, ...], Any]] = {}
    for monomial, coefficient in polynomial.terms():
        half, odd = divmod(monomial[place], 2)
        rest = (*monomial[:place], odd, *monomial[place + 1 :])
        parts.setdefault(half, {})[rest] = coefficient
    return sum(
        (polynomial.ring.from_dict(part) * square**half for half, part in parts.items()),
        polynomial.ring.zero,
    )
