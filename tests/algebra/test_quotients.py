"""Rational functions over a known denominator: values are kept, and nothing is left to divide."""

import random

import pytest
import sympy

from symgen.algebra.quotients import Quotients

a, b, x, y = sympy.symbols("a b x y", real=True)
p, r = sympy.symbols("p r", real=True)


def value(expression, seed):
    rng = random.Random(seed)
    return complex(expression.evalf(30, subs={s: rng.uniform(0.5, 2) for s in (a, b, x, y)}))


def test_a_solution_times_the_determinant_is_a_polynomial():
    """By elimination, through named pivots, with both squares of a sine and a cosine in it."""
    definitions = {
        p: a + b * sympy.sin(x) ** 2,
        r: a - (sympy.cos(x) * b) ** 2 / p + b * sympy.cos(x) ** 2 / p,
    }
    solution = 1 / r - sympy.sin(x) / (p * r)
    quotients = Quotients(definitions, [solution])
    full = {r: definitions[r].subs(p, definitions[p]), p: definitions[p]}
    determinant = quotients.polynomial(sympy.S.One, [p, r])
    numerator = quotients.polynomial(solution, [p, r])
    for found, expected in ((determinant, p * r), (numerator, solution * p * r)):
        assert not sympy.denom(found).free_symbols
        assert value(found, 1) == pytest.approx(value(expected.xreplace(full), 1), rel=1e-20)
    assert quotients.polynomial(solution) is None
    assert quotients.polynomial(solution, [p]) is None


def test_a_denominator_with_sines_cancels():
    """1 - sin^2 is cos^2, so (1 - sin)(1 + sin) / cos^2 is 1."""
    expression = sympy.Mul(
        1 / (1 - sympy.sin(x)), sympy.Pow(1 + sympy.sin(x), -1), sympy.cos(x) ** 2
    )
    assert Quotients({}, [expression]).polynomial(expression) == 1


def test_division_by_what_is_zero_by_trigonometry():
    expression = 1 / sympy.Add(sympy.sin(x) ** 2, sympy.cos(x) ** 2, -1, evaluate=False)
    with pytest.raises(ZeroDivisionError):
        Quotients({}, [expression]).polynomial(expression)


def test_what_is_no_polynomial_is_a_variable_of_its_own():
    expression = sympy.tanh(y) * (a**2 - b**2) / (a + b) + sympy.sqrt(a + 1) * sympy.pi / 3
    found = Quotients({}, [expression]).polynomial(expression)
    assert sympy.expand(found - sympy.tanh(y) * (a - b) - sympy.sqrt(a + 1) * sympy.pi / 3) == 0
