"""Forward and reverse derivatives against complex step, and the zeros they leave out."""

import math
import random

import pytest

from symgen.algebra import rounding
from symgen.algebra.differentiation import ForwardDerivatives, gradient
from symgen.algebra.evaluation import evaluate
from symgen.algebra.graph import Graph
from symgen.algebra.nodes import reachable
from tests.algebra.test_graph import SYMBOLS, random_expression

STEP = 1e-40


def complex_step(scalar, values, name):
    shifted = {s: complex(v, STEP if s == name else 0.0) for s, v in values.items()}
    return complex(evaluate([scalar], shifted)[0]).imag / STEP


@pytest.mark.parametrize("seed", range(60))
def test_forward_reverse_and_complex_step_agree(seed):
    rng = random.Random(seed)
    g = Graph()
    scalar, _ = random_expression(rng, g, 40)
    inputs = [g.symbol(s) for s in SYMBOLS]
    values = {s: rng.uniform(0.1, 1.0) for s in SYMBOLS}
    forward = ForwardDerivatives(inputs).of(scalar)
    reverse = gradient(scalar, inputs)
    for k, name in enumerate(SYMBOLS):
        expected = complex_step(scalar, values, name)
        scale = max(1.0, abs(expected))
        for row in (forward, reverse):
            value = evaluate([row[k]], values)[0] if k in row else 0.0
            assert abs(value - expected) <= 1e-9 * scale


ARGUMENTS = {
    "atan2": (0.7, -0.4), "pow": (1.3, 2.6), "asin": (0.3,), "acos": (0.3,), "log": (1.7,),
    "sqrt": (1.7,), "sign": (-0.4,), "abs": (-0.4,),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(rounding.ROUNDED))
def test_every_function_has_its_derivative(name):
    g = Graph()
    numbers = ARGUMENTS.get(name, (0.6,))
    symbols = [g.symbol(s) for s in SYMBOLS[: len(numbers)]]
    scalar = g.function(name, *symbols)
    values = dict(zip(SYMBOLS, numbers, strict=False))
    row = ForwardDerivatives(symbols).of(scalar)
    for k in range(len(numbers)):
        value = evaluate([row[k]], values)[0] if k in row else 0.0
        assert value == pytest.approx(complex_step(scalar, values, SYMBOLS[k]), rel=1e-13)


def test_structural_zeros_are_left_out():
    g = Graph()
    x, y, z = map(g.symbol, SYMBOLS)
    row = ForwardDerivatives([x, y, z]).of(x * y + 3.0)
    assert sorted(row) == [0, 1]
    assert row[0] is y
    assert gradient(x * x - x * x + y, [x, y, z]) == {1: g.one}


def test_reverse_costs_a_small_multiple_however_many_inputs():
    g = Graph()
    inputs = [g.symbol(f"x{i}") for i in range(200)]
    value = g.one
    for x in inputs:
        value = value * g.function("sin", x) + x
    cost = len(reachable([value]))
    row = gradient(value, inputs)
    assert len(row) == 200
    assert len(reachable([value, *row.values()])) < 6 * cost


@pytest.mark.slow
def test_long_chains_need_no_recursion():
    g = Graph()
    x = value = g.symbol("x")
    for _ in range(20_000):
        value = g.function("sin", value)
    derivative = ForwardDerivatives([x]).of(value)[0]
    assert math.isfinite(evaluate([derivative], {"x": 0.5})[0])
    assert math.isfinite(evaluate([gradient(value, [x])[0]], {"x": 0.5})[0])


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("there", [True, False])
def test_turned_vectors_are_differentiated_by_what_is_there(sign, there):
    """Either sense of the turn, factors that move with the angle, too; along, and backwards."""
    g = Graph()
    inputs = [g.symbol(s) for s in SYMBOLS[:3]]
    q, x, y = inputs
    x, y = x * q, y + x
    c, s = g.function("cos", q), g.function("sin", q) * sign
    entries = [c * x - s * y, s * x + c * y]
    values = {name: 0.3 + 0.2 * k for k, name in enumerate(SYMBOLS)}
    direction = [g.constant(v) for v in (0.7, -1.1, 0.4)]
    for entry in entries if there else entries[:1]:
        expected = [complex_step(entry, values, name) for name in SYMBOLS[:3]]
        row = gradient(entry, inputs)
        found = evaluate([row[k] for k in range(3)], values)
        assert found == pytest.approx(expected, rel=1e-14)
        along = ForwardDerivatives(inputs, direction).of(entry)[0]
        product = sum(a * b.value for a, b in zip(expected, direction, strict=True))
        assert evaluate([along], values)[0] == pytest.approx(product, rel=1e-13)


def test_a_turn_needs_no_products_with_slopes_of_waves():
    """Along a direction an entry takes 3 products and 2 sums; backwards the angle has -v."""
    g = Graph()
    q, x, y, dq, dx, dy = (g.symbol(name) for name in ("q", "x", "y", "dq", "dx", "dy"))
    c, s = g.function("cos", q), g.function("sin", q)
    u, v = c * x - s * y, s * x + c * y
    along = ForwardDerivatives([q, x, y], [dq, dx, dy])
    slopes = [along.of(u)[0], along.of(v)[0]]
    more = len(reachable([u, v, *slopes])) - len(reachable([u, v, dq, dx, dy]))
    assert more == 6 + 4
    back = gradient(u, [q, x, y])
    assert back[0] is -v
