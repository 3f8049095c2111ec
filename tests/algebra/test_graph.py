"""The hash-consed graph: what it computes, what it shares, what it folds."""

import math
import operator
import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symgen.algebra.evaluation import evaluate, over_graph
from symgen.algebra.graph import Graph
from symgen.algebra.nodes import CONST, Scalar, reachable

SYMBOLS = ("x", "y", "z")
UNARY = ("sin", "cos", "tan", "atan", "exp", "tanh", "abs", "neg")
EXACT = (0.0, 1.0, -1.0, 2.0, 0.5, -3.0)
CONSTANTS = (*EXACT, math.pi / 2, -math.pi, 0.3)


def random_expression(
    rng: random.Random, graph: Graph, size: int, constants: Sequence[float] = CONSTANTS
) -> tuple[Scalar, Callable]:
    """A random expression over the graph, and the same as a function of the symbols' values."""
    pool = [(graph.symbol(s), lambda v, s=s: v[s]) for s in SYMBOLS]
    pool += [(graph.constant(c), lambda v, c=c: c) for c in constants]
    for _ in range(size):
        (a, f), (b, g) = rng.choice(pool), rng.choice(pool)
        op = rng.choice(("+", "-", "*", "*", "+", "unary"))
        if op == "unary":
            pool.append(random_function(rng, graph, a, f))
        else:
            do = {"+": operator.add, "-": operator.sub, "*": operator.mul}[op]
            pool.append((do(a, b), lambda v, f=f, g=g, do=do: do(f(v), g(v))))
    return pool[-1]


def random_function(rng, graph, a, f):
    name = rng.choice(UNARY)
    if name == "neg":
        return -a, lambda v: -f(v)
    small = graph.function("sin", a)  # keeps exp and tan away from overflow and poles
    numeric = {"atan": math.atan, "abs": abs}.get(name) or getattr(math, name)
    return graph.function(name, small), lambda v: numeric(math.sin(f(v)))


@given(st.integers(0, 2**32), st.integers(1, 60))
@settings(max_examples=100)
def test_simplification_keeps_the_value(seed, size):
    rng = random.Random(seed)
    graph = Graph()
    scalar, plain = random_expression(rng, graph, size)
    values = {s: rng.uniform(-1.0, 1.0) for s in SYMBOLS}
    expected = plain(values)
    got = evaluate([scalar], values)[0]
    scale = max(1.0, abs(expected))
    # products of products amplify rounding: the tolerance follows the size of the intermediates
    largest = max([abs(v) for v in evaluate(reachable([scalar]), values)], default=1.0)
    assert abs(got - expected) <= 1e-12 * max(scale, largest)


@given(st.integers(0, 2**32), st.integers(1, 60))
@settings(max_examples=100)
def test_rebuilding_changes_nothing(seed, size):
    rng = random.Random(seed)
    scalar, _ = random_expression(rng, Graph(), size)
    other = Graph()
    symbols = {s: other.symbol(s) for s in SYMBOLS}
    again = evaluate([scalar], symbols, over_graph(other))[0]
    values = {s: rng.uniform(-1.0, 1.0) for s in SYMBOLS}
    a, b = evaluate([scalar], values)[0], evaluate([again], values)[0]
    largest = max([abs(v) for v in evaluate(reachable([scalar]), values)], default=1.0)
    assert abs(a - b) <= 1e-12 * max(1.0, largest)
    assert len(reachable([again])) <= len(reachable([scalar]))


def test_equal_expressions_are_one_node():
    g = Graph()
    x, y, z = map(g.symbol, SYMBOLS)
    assert x * y + z is z + y * x
    assert g.function("sin", x + y) is g.function("sin", y + x)
    assert (x - y) is not (y - x)


@pytest.mark.parametrize(("build", "expected"), [
    (lambda x, y: x + 0.0, "x"),
    (lambda x, y: x * 1.0, "x"),
    (lambda x, y: x - x, "0.0"),
    (lambda x, y: x * 0.0, "0.0"),
    (lambda x, y: -(x * -1.0), "x"),
    (lambda x, y: (x + y) - y, "x"),
    (lambda x, y: x - (x + y) + y, "0.0"),
    (lambda x, y: x / x, "1.0"),
    (lambda x, y: (x / y) * y, "x"),
    (lambda x, y: (x - y) + y, "x"),
    (lambda x, y: x**0, "1.0"),
    (lambda x, y: x**1, "x"),
])  # fmt: skip
def test_rules(build, expected):
    g = Graph()
    assert repr(build(g.symbol("x"), g.symbol("y"))) == expected


def test_signs_move_outwards_and_constants_gather():
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    assert (-x) * y is -(x * y)
    assert x + (-y) is x - y
    assert x * (-y) is (-x) * y
    assert 2.0 * (3.0 * x) is 6.0 * x
    assert 1.0 + (2.0 + x) is 3.0 + x
    assert 1.0 - (2.0 - x) is x - 1.0
    assert x + x is 2.0 * x
    assert 2.0 * x + 3.0 * x is 5.0 * x
    assert 2.0 * x - x is x
    assert 2.0 * x + (-2.0) * x is g.zero
    assert 2.0 * x - 2.0 * x is g.zero
    assert (1e308 * x + 1e308 * x).op == "+"
    assert (x - y) is -(y - x)


def test_trigonometry():
    g = Graph()
    x = g.symbol("x")
    s, c = g.function("sin", x), g.function("cos", x)
    assert s * s + c * c is g.one
    assert g.function("sin", -x) is -s
    assert g.function("cos", -x) is c
    assert g.function("sin", x + math.pi / 2) is c
    assert g.function("cos", x + math.pi / 2) is -s
    assert g.function("cos", math.pi / 2 - x) is s
    assert g.function("sin", x - math.pi) is -s
    assert g.function("sin", g.constant(math.pi)) is g.zero
    near = g.function("cos", x + 1.5708)
    assert near is not -s


def test_whole_powers_become_products():
    g = Graph()
    x = g.symbol("x")
    assert x**3 is x * x * x or evaluate([x**3], {"x": 1.7})[0] == pytest.approx(1.7**3)
    assert (x**0.5).op == "sqrt"
    assert evaluate([x**-2], {"x": 4.0})[0] == 1 / 16
    assert (x ** g.symbol("y")).op == "pow"


def test_constants_are_finite_and_without_negative_zero():
    g = Graph()
    assert g.constant(-0.0) is g.zero
    with pytest.raises(OverflowError):
        g.constant(math.inf)
    with pytest.raises(OverflowError):
        g.constant(1e308) * g.constant(10.0)
    with pytest.raises(ZeroDivisionError):
        g.symbol("x") / g.zero


def test_regrouping_never_loses_a_number():
    g = Graph()
    x = g.symbol("x")
    tiny = 1e-200 * (1e-200 * x)
    assert evaluate([tiny], {"x": 1e300})[0] == pytest.approx(1e-100)
    huge = 1e200 * (1e200 * x)
    assert evaluate([huge], {"x": 1e-300})[0] == pytest.approx(1e100)
    assert evaluate([1e308 + (1e308 - x)], {"x": 1e308})[0] == 1e308
    quotient = x * 2.0**-1070 / 2.0**-1070
    assert evaluate([quotient], {"x": 3.0})[0] == 3.0


def test_a_chain_of_six_thousand_operations_needs_no_recursion():
    g = Graph()
    x = g.symbol("x")
    value = x
    for i in range(6_000):
        value = g.function("sin", value) + float(i % 7)
    assert math.isfinite(evaluate([value], {"x": 0.5})[0])
    assert len(reachable([value])) > 6_000
    other = Graph()
    evaluate([value], {"x": other.symbol("x")}, over_graph(other))


def test_arrays_complex_numbers_and_missing_symbols():
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    value = g.function("sin", x) * y + 1.0
    grid = evaluate([value], {"x": np.zeros((2, 3)), "y": np.ones(3)})[0]
    assert grid.shape == (2, 3)
    step = evaluate([value], {"x": 0.3 + 1e-30j, "y": 2.0})[0]
    assert step.imag / 1e-30 == pytest.approx(2.0 * math.cos(0.3), rel=1e-15)
    with pytest.raises(KeyError, match="y"):
        evaluate([value], {"x": 1.0})


def test_the_same_construction_gives_the_same_nodes():
    def build():
        g = Graph()
        random_expression(random.Random(7), g, 200)
        return [(n.op, tuple(a.index for a in n.args), n.value, n.name) for n in g.nodes]

    assert build() == build()


def test_operands_come_before_their_users():
    g = Graph()
    scalar, _ = random_expression(random.Random(3), g, 300)
    order = reachable([scalar])
    seen = set()
    for node in order:
        assert all(arg.index in seen for arg in node.args)
        seen.add(node.index)
    assert all(node.op != CONST or node.value == node.value for node in order)


def test_a_closed_graph_takes_nothing_any_more():
    graph = Graph()
    x = graph.symbol("x")
    product = x * x
    graph.close()
    assert [node.op for node in reachable([product])] == ["symbol", "*"]
    with pytest.raises(AttributeError):
        x + product
