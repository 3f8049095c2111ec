"""Numbers of a prime field and dual numbers, against fractions, whole numbers and SymPy."""

import math
import random
from fractions import Fraction

import pytest
import sympy
from hypothesis import example, given
from hypothesis import strategies as st

from symgen.algebra.differentiation import ForwardDerivatives
from symgen.algebra.dual_numbers import Dual, dual_arithmetic
from symgen.algebra.evaluation import evaluate
from symgen.algebra.graph import Graph
from symgen.algebra.prime_field import BITS, NotASquareError, PrimeField, Residue, random_field
from symgen.algebra.rounding import ROUNDED
from tests.algebra.test_graph import EXACT, SYMBOLS, random_expression

SMALL = PrimeField(10007)
LARGE = random_field(seed=1, number=0)
fields = st.sampled_from([PrimeField(7), SMALL, LARGE])
numbers = st.integers(-(2**200), 2**200)
finite = st.floats(allow_nan=False, allow_infinity=False)


@given(fields, numbers, numbers)
def test_the_four_operations_are_those_of_whole_numbers(field, a, b):
    x, y, p = field.number(a), field.number(b), field.prime
    assert (x + y).value == (a + b) % p
    assert (x - y).value == (a - b) % p
    assert (x * y).value == a * b % p
    assert (-x).value == -a % p
    if b % p:
        assert x / y * y == x
    else:
        with pytest.raises(ZeroDivisionError):
            x / y


@given(finite)
@example(math.pi)
@example(5e-324)
@example(1.7976931348623157e308)
@example(-0.0)
def test_constants_are_exact_fractions(value):
    exact = Fraction(value)
    assert LARGE.constant(value) * LARGE.number(exact.denominator) == LARGE.number(exact.numerator)


def test_random_fields_are_primes_of_their_own():
    primes = {random_field(seed, number).prime for seed in range(5) for number in range(5)}
    assert len(primes) == 25
    for prime in primes:
        assert prime.bit_length() == BITS
        assert prime % 4 == 3
        assert sympy.isprime(prime)
    assert random_field(3, 1) == random_field(3, 1)


@given(fields, numbers)
def test_sine_and_cosine_lie_on_the_circle_and_are_odd_and_even(field, a):
    x = field.number(a)
    s, c = field.sin(x), field.cos(x)
    assert s * s + c * c == field.number(1)
    assert field.sin(-x) == -s
    assert field.cos(-x) == c
    assert (field.sin(x), field.cos(x)) == (s, c)
    assert field.sin(field.number(0)) == field.number(0)
    assert field.cos(field.number(0)) == field.number(1)


def test_points_of_the_circle_are_spread_over_it():
    """Modulo 103 the circle has 104 points; a drawn one is any but (-1, 0)."""
    field = PrimeField(103)
    circle = {(c, s) for c in range(103) for s in range(103) if (c * c + s * s) % 103 == 1}
    assert len(circle) == 104
    met = set()
    for key in range(100):
        keyed = PrimeField(103, str(key).encode())
        met |= {(keyed.cos(x).value, keyed.sin(x).value) for x in map(field.number, range(1, 103))}
    assert met == circle - {(102, 0)}


@pytest.mark.parametrize("prime", [3, 7, 11, 10007])
def test_roots_exist_for_squares_and_are_squares_themselves(prime):
    field = PrimeField(prime)
    squares = {x * x % prime for x in range(prime)}
    for x in range(prime):
        if x in squares:
            root = field.sqrt(field.number(x))
            assert root * root == field.number(x)
            assert root.value in squares
        else:
            with pytest.raises(NotASquareError):
                field.sqrt(field.number(x))


@given(numbers, numbers)
def test_the_root_of_a_product_is_the_product_of_the_roots(a, b):
    x, y = LARGE.number(a) * LARGE.number(a), LARGE.number(b) * LARGE.number(b)
    assert LARGE.sqrt(x * y) == LARGE.sqrt(x) * LARGE.sqrt(y)


@given(numbers, st.integers(-(2**52), 2**52))
def test_whole_powers_are_genuine(a, n):
    x = LARGE.number(a)
    if x.value or n >= 0:
        assert LARGE.pow(x, LARGE.number(n)).value == pow(x.value, n, LARGE.prime)


@pytest.mark.parametrize("name", ROUNDED)
def test_every_function_has_a_value_that_depends_on_all_its_arguments(name):
    arguments = 2 if name in ("atan2", "pow") else 1
    function = LARGE.arithmetic.functions[name]
    given = [LARGE.number(k * k) for k in (12345, 23456)[:arguments]]
    value = function(*given)
    assert value == function(*given)
    factor = LARGE.number(4 if name == "sqrt" else -4)
    for k in range(arguments):
        changed = [x * factor if i == k else x for i, x in enumerate(given)]
        assert function(*changed) != value


@pytest.mark.parametrize(
    ("name", "sign"),
    [("sin", -1), ("tan", -1), ("tanh", -1), ("asin", -1), ("atan", -1), ("sign", -1),
     ("cos", 1), ("abs", 1)],
)  # fmt: skip
def test_symmetry(name, sign):
    function = LARGE.arithmetic.functions[name]
    for k in range(1, 20):
        x = LARGE.number(k**40)
        assert function(-x) == LARGE.number(sign) * function(x)


def test_signs_are_those_of_products_and_roots():
    sign, size = (LARGE.arithmetic.functions[name] for name in ("sign", "abs"))
    x, y = LARGE.draw("x"), LARGE.draw("y")
    assert {sign(LARGE.draw(k)).value for k in range(20)} == {1, LARGE.prime - 1}
    assert sign(x * y) == sign(x) * sign(y)
    assert size(x) == sign(x) * x == LARGE.sqrt(x * x)
    assert sign(LARGE.number(0)) == LARGE.number(0)


def test_evaluate_takes_the_numbers():
    graph = Graph()
    x, y = graph.symbol("x"), graph.symbol("y")
    s, c = graph.function("sin", x * y), graph.function("cos", y * x)
    expressions = [0.1 * x - y / 3.0, s * s * y + c * c * y - y]
    values = {"x": LARGE.draw("x"), "y": LARGE.draw("y")}
    first, second = evaluate(expressions, values, LARGE.arithmetic)
    tenth = LARGE.number((0.1).as_integer_ratio()[0]) / LARGE.number((0.1).as_integer_ratio()[1])
    assert first == tenth * values["x"] - values["y"] / LARGE.number(3)
    assert second == LARGE.number(0)


@pytest.mark.parametrize("seed", range(30))
def test_slopes_are_the_derivatives_of_the_graph(seed):
    graph = Graph()
    node, _ = random_expression(random.Random(seed), graph, 40, EXACT)
    inputs = [graph.symbol(name) for name in SYMBOLS]
    node = node / (inputs[0] * inputs[1] + 2.0)
    plain = {name: LARGE.draw(name) for name in SYMBOLS}
    duals = {name: Dual(plain[name].value, {k: 1}, LARGE.prime) for k, name in enumerate(SYMBOLS)}
    (result,) = evaluate([node], duals, dual_arithmetic(LARGE))
    row = {-1: node, **ForwardDerivatives(inputs).of(node)}
    value, *slopes = evaluate(list(row.values()), plain, LARGE.arithmetic)
    assert result.value == value.value
    expected = {k: x.value for k, x in zip(list(row)[1:], slopes, strict=True)}
    assert {k: x for k, x in result.slopes.items() if x} == {k: x for k, x in expected.items() if x}


SLOPES = {
    "log": (5, Fraction(1, 5)), "sqrt": (49, Fraction(1, 14)), "abs": (5, "sign"),
    "sign": (5, Fraction(0)), "exp": (0, "exp"), "asin": (0, Fraction(1)),
    "acos": (0, Fraction(-1)),
}  # fmt: skip
"""By function: an argument and the slope there, a number or the function that it is."""


@pytest.mark.parametrize("name", SLOPES)
def test_slopes_of_the_other_functions(name):
    value, slope = SLOPES[name]
    result = dual_arithmetic(LARGE).functions[name](Dual(value, {7: 3}, LARGE.prime))
    if isinstance(slope, str):
        expected = LARGE.arithmetic.functions[slope](LARGE.number(value))
    else:
        expected = LARGE.number(slope.numerator) / LARGE.number(slope.denominator)
    scaled = LARGE.number(3) * expected
    # the root that is a square itself may be the negative of the usual one
    allowed = (scaled, -scaled) if name == "sqrt" else (scaled,)
    assert Residue(result.slopes.get(7, 0), LARGE.prime) in allowed


def test_slopes_of_functions_of_two_arguments():
    """An angle by its sides; a power by base and exponent."""
    a, b = LARGE.draw("a"), LARGE.draw("b")
    functions, plain = dual_arithmetic(LARGE).functions, LARGE.arithmetic.functions
    dual_a, dual_b = Dual(a.value, {0: 1}, LARGE.prime), Dual(b.value, {1: 1}, LARGE.prime)
    angle = functions["atan2"](dual_a, dual_b)
    for k, wanted in enumerate((b / (a * a + b * b), -a / (a * a + b * b))):
        assert angle.slopes[k] == wanted.value
    power = functions["pow"](dual_a, dual_b)
    assert power.slopes[0] == (b * plain["pow"](a, b - LARGE.number(1))).value
    assert power.slopes[1] == (plain["log"](a) * plain["pow"](a, b)).value
