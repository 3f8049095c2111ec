"""SymPy scalars, conversion to them, and the readable forms."""

import math
import random

import pytest
import sympy

from symgen.algebra.blackboard import fourier, latex_names, readable, with_decimals
from symgen.algebra.evaluation import evaluate
from symgen.algebra.graph import Graph
from symgen.algebra.sympy_algebra import SymPyAlgebra, constant, symbol, to_sympy
from tests.algebra.test_graph import SYMBOLS, random_expression


@pytest.mark.parametrize("seed", range(20))
def test_conversion_keeps_values(seed):
    rng = random.Random(seed)
    g = Graph()
    scalar, _ = random_expression(rng, g, 25)
    values = {s: rng.uniform(0.1, 1.0) for s in SYMBOLS}
    expression = to_sympy([scalar])[0]
    expected = evaluate([scalar], values)[0]
    numbers = {symbol(s): v for s, v in values.items()}
    assert float(expression.subs(numbers)) == pytest.approx(float(expected), rel=1e-10, abs=1e-12)


def test_constants_mean_what_stands_in_the_file():
    assert constant(0.1) == sympy.Rational(1, 10)
    assert constant(math.pi / 2) == sympy.pi / 2
    assert constant(3.0) == 3
    assert constant(1 / 3) != sympy.Rational(1, 3)
    assert float(constant(1 / 3)) == 1 / 3


def test_named_scalars_are_symbols_and_can_be_put_back():
    algebra = SymPyAlgebra()
    x = algebra.symbol("x")
    a = algebra.named("a", algebra.function("sin", x) * x)
    b = algebra.named("b", a * a + x)
    assert b.is_Symbol
    assert algebra.expanded(b) == (sympy.sin(x) * x) ** 2 + x
    row = algebra.derivatives([x]).of(b)
    exact = algebra.expanded(b).diff(x)
    assert sympy.simplify(algebra.expanded(row[0]) - exact) == 0


def test_fourier_is_canonical():
    a, b, k = symbol("a"), symbol("b"), symbol("k")
    left = sympy.cos(a + b) ** 2 * k + sympy.sin(a + b) ** 2 * k
    assert fourier(left - k) == 0
    assert fourier(sympy.sin(a) * sympy.cos(b) + sympy.cos(a) * sympy.sin(b)) == sympy.sin(a + b)
    assert fourier(sympy.cos(a) ** 3) == sympy.cos(3 * a) / 4 + 3 * sympy.cos(a) / 4
    assert fourier(sympy.sin(a) ** 2 * sympy.sin(b) - sympy.sin(b)) != 0


@pytest.mark.parametrize("seed", range(10))
def test_readable_forms_are_equal_to_what_they_stand_for(seed):
    rng = random.Random(seed)
    parameters = [symbol(s) for s in ("m1", "m2", "L")]
    waves = [f(symbol(f"q_{i}")) for i in (1, 2) for f in (sympy.sin, sympy.cos)]
    rates = [symbol(s) for s in ("qd_1", "qdd_2", "tip_fx")]
    expression = sympy.Add(*(
        rng.randint(-3, 3) * rng.choice(parameters) ** rng.randint(1, 2)
        * rng.choice(waves) ** rng.randint(0, 3) * rng.choice(waves) * rng.choice(rates)
        for _ in range(8)
    ))  # fmt: skip
    assert fourier(readable(expression, rates) - expression) == 0


def test_readable_forms_have_common_factors_outside():
    a, m, x = sympy.symbols("a m x")
    assert str(readable(m * a**2 * sympy.cos(x) + 5 * m * a**3 / 3)) == "a**2*m*(5*a/3 + cos(x))"


def test_readable_forms_keep_denominators():
    a, b, m = map(symbol, "abm")
    assert readable(a / m + b / m) == a / m + b / m


def test_decimals():
    for text in ("0.4318", "123.456", "4.05", "0.03125", "-0.021", "0.00305"):
        assert str(with_decimals(sympy.Rational(text))) == text
    assert with_decimals(sympy.Rational(1, 2)) == sympy.Rational(1, 2)


INPUTS = {
    "q": [symbol("q_1_2")],
    "qdd": [symbol("qdd_1")],
    "loads": [symbol(f"my_tip_{part}") for part in ("fx", "fy", "fz", "nx", "ny", "nz")],
}


@pytest.mark.parametrize(("name", "expected"), [
    ("q_1_2", "q_{1}"),
    ("qdd_1", r"\ddot{q}_{1}"),
    ("my_tip_ny", r"n_{y}^{\mathrm{my\_tip}}"),
    ("q_1", r"\mathrm{q\_1}"),  # a parameter
    ("tip_fx", r"\mathrm{tip\_fx}"),  # another one
    ("R_1_12", "R_{1,12}"),
    ("L1", None),
    ("drive_1", r"\mathrm{drive}_{1}"),  # in italics it would read as a product of its letters
    ("rest_knee", r"\mathrm{rest}_{\mathrm{knee}}"),
    ("mass2", r"\mathrm{mass}_{2}"),
    ("mass2_x", r"{\mathrm{mass}_{2}}_{x}"),
    ("Ixx", r"\mathrm{Ixx}"),
    ("dx_1", "dx_{1}"),
    ("omega_2_z", r"\omega_{2,z}"),
])  # fmt: skip
def test_names_in_latex(name, expected):
    assert latex_names(INPUTS, [symbol(name)]).get(symbol(name)) == expected
