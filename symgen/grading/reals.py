"""Answers with roots, absolute values and inverse functions, at random real points.

In a prime field the root of a square is one of two numbers, and nothing there is positive.  So
sqrt((a + b)**2) is a + b only among real numbers, where a and b are lengths, say; and cos(asin(s))
is the cosine only where that is positive.  Nor is there a third of an angle.  Such answers are
evaluated at random states, parameters near those of the model and with their signs, with 500
digits.  That is no tolerance for rounded numbers: the least float64 has 324 zeros, and what differs
by it is wrong.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import mpmath
import sympy

from symgen.algebra.sympy_algebra import symbol
from symgen.grading.questions import Question
from symgen.grading.truth import QUANTITIES, Changed, Truth

Expr = Any
Number = Any  # of mpmath: real, or complex where a root of a negative number was taken
POINTS = 3
MOST_TRIES = 20
DIGITS, EQUAL_DIGITS = 500, 400
MOST_BITS = 10_000
"""Values with more binary digits before or behind the point are none: quantities of robots have a
thousand at most, and exp(exp(exp(9))) would take for ever."""

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
    """Say whether prime fields leave an expression open: signs decide, or parts of angles."""
    for x in sympy.preorder_traversal(expression):
        if x.is_Pow and not x.exp.is_Integer and not x.is_number:
            return True
        if isinstance(x, _RATIONAL):
            if not all(map(_is_taken_apart, parts_of_angle(x.args[0]))):
                return True
        elif x.is_Function and not x.is_number:
            return True
    return False


def parts_of_angle(angle: Expr) -> list[Expr]:
    """Return the summands of an angle; a number in front of their sum is theirs."""
    count, rest = angle.as_coeff_Mul()
    return [count * part for part in sympy.Add.make_args(rest)]


def _is_taken_apart(angle: Expr) -> bool:
    """Say whether a prime field knows the angle as a multiple of halves, or its cosine by roots."""
    count, rest = angle.as_coeff_Mul()
    return (2 * count).is_Integer or (rest is sympy.pi and not sympy.cos(angle).has(sympy.cos))


def agrees(truth: Truth, question: Question, state: Changed) -> bool:
    """Return whether an answer and the truth are the same at all points where both have a value."""
    agreed = 0
    for number in range(MOST_TRIES):
        with mpmath.workdps(DIGITS):
            try:
                answer, true = _both(truth, question, state, number)
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
    values, program = _Reals(truth.description.parameter_values, number), question.program
    if state.numbers:
        values.known.update({x: values.of(number) for x, number in truth.numbers.items()})
    for name, definition in truth.dependent(program).items():
        values.known[name] = values.of(definition)
    for array in program.inputs:
        if array.name in state.zeros:
            values.known.update(dict.fromkeys(array.symbols, mpmath.mpf(0)))
    for statement in program.statements:
        values.known[symbol(statement.name)] = values.of(statement.value)
    if question.place < 0:
        entry = symbol(question.assignment.name.partition(".")[2])
    else:
        quantity = QUANTITIES[question.assignment.name]
        entry = quantity.output(program).entries[question.place]
    return values.of(question.answer), values.of(entry)


class _Reals:
    """The values of expressions at one point; a symbol's value depends on its name alone."""

    def __init__(self, parameters: Mapping[str, float], number: int) -> None:
        self.parameters, self.number = parameters, number
        self.known: dict[Expr, Number] = {}

    def of(self, x: Expr) -> Number:
        """Return the value of an expression."""
        if x not in self.known:
            value = self._value(x)
            if mpmath.mag(value) > MOST_BITS:
                raise ValueError("too large")
            self.known[x] = value
        return self.known[x]

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
        if function is None:  # what SymPy makes of others, such as the cotangent
            return mpmath.mpmathify(x.func(*map(sympy.sympify, values)).evalf(DIGITS))
        return function(*values)

    def _drawn(self, name: str) -> Number:
        """Keep the sign and about the size of a parameter; all else lies between -3 and 3."""
        drawn = random.Random(f"{self.number} {name}")
        value = self.parameters.get(name, 0.0)
        if value:
            return mpmath.mpf(value) * mpmath.mpf(drawn.uniform(0.75, 1.25))
        return mpmath.mpf(drawn.uniform(-3.0, 3.0))
