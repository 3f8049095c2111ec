"""Answers with roots, absolute values and inverse functions, at random real points.

A prime field has no order: the root of a square is one of two numbers, and no number is positive.
sqrt((a + b)**2) is a + b only for real numbers with a positive sum, such as lengths, and
cos(asin(s)) is the cosine only if that is positive.  Nor can a third of an angle be expressed.
Such answers are evaluated at random states, with parameters near those of the model and with their
signs, with 500 digits.  This does not tolerate rounded numbers: it resolves the least float64,
which has 324 zeros after the point.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import mpmath
import sympy

from symgen.grading.questions import Question
from symgen.grading.truth import Changed, Truth

Expr = Any
Number = Any  # of mpmath: real, or complex where a root of a negative number was taken
POINTS = 3
MOST_TRIES = 20
DIGITS, EQUAL_DIGITS = 500, 400
MOST_BITS = 10_000
"""Maximum number of binary digits before or after the point: quantities of robots have a thousand
at most, and exp(exp(exp(9))) would not end."""

_RATIONAL = (sympy.sin, sympy.cos, sympy.tan)  # of the points of the circle


def _exp(x: Number) -> Number:
    if abs(x) > MOST_BITS:
        raise ValueError("too large")
    return mpmath.exp(x)


def _power(base: Number, exponent: Number) -> Number:
    if base and abs(exponent) * (1 + abs(mpmath.mag(base))) > MOST_BITS:
        raise ValueError("too large")
    return base**exponent


_FUNCTIONS: Mapping[str, Callable[..., Number]] = {
    name: getattr(mpmath, name)
    for name in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "log", "tanh", "sign")
} | {"Abs": abs, "exp": _exp}


def needs_reals(expression: Expr) -> bool:
    """Whether an expression cannot be evaluated in prime fields, for roots or parts of angles."""
    for x in sympy.preorder_traversal(expression):
        if x.is_Pow and not x.exp.is_Integer and not x.is_number:
            return True
        if isinstance(x, _RATIONAL):
            count, rest = x.args[0].as_coeff_Mul()
            if not all(_is_in_field(count * part) for part in sympy.Add.make_args(rest)):
                return True
        elif x.is_Function and not x.is_number:
            return True
    return False


def _is_in_field(angle: Expr) -> bool:
    """Whether an angle is a multiple of a half angle, or has a cosine expressed by roots."""
    count, rest = angle.as_coeff_Mul()
    return (2 * count).is_Integer or (rest is sympy.pi and not sympy.cos(angle).has(sympy.cos))


def agrees(truth: Truth, question: Question, state: Changed, up_to_constant: bool = False) -> bool:
    """Whether an answer and the truth are equal at all points where both have a value.

    With `up_to_constant` their differences between two states are compared.
    """
    agreed = 0
    for number in range(MOST_TRIES):
        with mpmath.workdps(DIGITS):
            try:
                answer, true = _both(truth, question, state, number)
                if up_to_constant:
                    levels = _both(truth, question, replace(state, moved=True), number)
                    answer, true = answer - levels[0], true - levels[1]
            except (ZeroDivisionError, ValueError):
                continue
            largest = max(abs(answer), abs(true), mpmath.mpf(1))
            if not abs(answer - true) <= largest * mpmath.mpf(10) ** -EQUAL_DIGITS:
                return False
        agreed += 1
        if agreed == POINTS:
            return True
    return False


def _both(truth: Truth, question: Question, state: Changed, number: int) -> tuple[Number, Number]:
    """Return the answer and the truth at one point; ZeroDivisionError where one has no value."""
    values = _Reals(truth.description.parameter_values, number, state.moved)
    truth.evaluate(question.program, state, values, mpmath.mpf(0))
    return values.of(question.answer), values.of(question.entries[question.position])


class _Reals:
    """The values of expressions at one point; a symbol's value depends on its name alone."""

    def __init__(self, parameters: Mapping[str, float], number: int, moved: bool) -> None:
        self.parameters, self.number, self.moved = parameters, number, moved
        self.cache: dict[Expr, Number] = {}

    def of(self, x: Expr) -> Number:
        """Return the value of an expression."""
        if x not in self.cache:
            value = self._value(x)
            if mpmath.mag(value) > MOST_BITS:
                raise ValueError("too large")
            self.cache[x] = value
        return self.cache[x]

    def _value(self, x: Expr) -> Number:
        if x.is_Symbol:
            return self._drawn(x.name)
        if x.is_Rational:
            return mpmath.mpf(int(x.p)) / int(x.q)
        if x.is_Float:
            return mpmath.mpf(float(x))
        if x.is_number and not x.args:
            return mpmath.mpmathify(x.evalf(DIGITS))
        values = [self.of(part) for part in x.args]
        if x.is_Add:
            return mpmath.fsum(values)
        if x.is_Mul:
            return mpmath.fprod(values)
        if x.is_Pow:
            return _power(*values)
        function = _FUNCTIONS.get(x.func.__name__)
        if function is None:  # functions that SymPy introduces, such as the cotangent
            return mpmath.mpmathify(x.func(*map(sympy.sympify, values)).evalf(DIGITS))
        return function(*values)

    def _drawn(self, name: str) -> Number:
        """Return a random value near that of a parameter; from -3 to 3 for other symbols."""
        moved = " moved" * (self.moved and name not in self.parameters)
        drawn = random.Random(f"{self.number} {name}{moved}")
        value = self.parameters.get(name, 0.0)
        if value:
            return mpmath.mpf(value) * mpmath.mpf(drawn.uniform(0.75, 1.25))
        return mpmath.mpf(drawn.uniform(-3.0, 3.0))
