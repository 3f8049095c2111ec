"""The bound on hidden differences: against counts in small fields, and SymPy's degrees."""

from contextlib import suppress

import numpy as np
import pytest
import sympy

from symgen.algebra.evaluation import evaluate
from symgen.algebra.graph import Graph
from symgen.algebra.prime_field import PrimeField
from symgen.exact.degree import hiding_degree
from symgen.exact.values import Evaluations
from symgen.program.program import Input, Output, Program

P = 1019


def hidden(node, names, keys):
    """Share of the points of small fields at which `node` is 0, where it has a value."""
    zeros = tries = 0
    for key in range(keys):
        field = PrimeField(P, str(key).encode())
        values = {name: field.draw("symbol", name) for name in names}
        with suppress(ZeroDivisionError):
            (value,) = evaluate([node], values, field.arithmetic)
            zeros += value.value == 0
            tries += 1
    return zeros / tries


def test_a_polynomial_with_all_its_roots_meets_the_bound():
    graph = Graph()
    x = graph.symbol("x")
    node = graph.one
    for root in range(1, 41):
        node = node * (x - float(root))
    bound = hiding_degree([node]) / P
    assert bound == 40 / P
    field = PrimeField(P)
    values = ({"x": field.number(value)} for value in range(P))
    zeros = sum(evaluate([node], at, field.arithmetic)[0].value == 0 for at in values)
    assert zeros / P == bound


def with_twenty_points_of_the_circle(graph, x, y):
    """sin x takes the values +-3/5, +-4/5, ... of five triples, each at two points."""
    sine, result = graph.function("sin", x), graph.one
    for leg, hypotenuse in ((3, 5), (4, 5), (5, 13), (12, 13), (8, 17)):
        result = result * (sine * sine * float(hypotenuse**2) - float(leg**2))
    return result


def with_ten_zeros_behind_a_divisor(graph, x, y):
    """1 / (g + 1) - 1 vanishes where g does."""
    g = graph.one
    for root in range(1, 11):
        g = g * (x - float(root))
    return 1.0 / (g + 1.0) - 1.0


@pytest.mark.slow
@pytest.mark.parametrize(("build", "names"), [
    (with_twenty_points_of_the_circle, "x"),
    (with_ten_zeros_behind_a_divisor, "x"),
    (lambda g, x, y: g.function("sin", x) * 3.0 - g.function("cos", x) * 4.0 + 5.0, "x"),
    (lambda g, x, y: g.function("sin", x) * y - g.function("cos", y), "xy"),
    (lambda g, x, y: x / (y + 2.0) - y / (x - 7.0), "xy"),
    (lambda g, x, y: x / (x / (y + 1.0) + 3.0) + 2.0, "xy"),
    (lambda g, x, y: g.function("tan", x) * g.function("tanh", y) - 1.0, "xy"),
    (lambda g, x, y: g.function("pow", x, g.constant(100.0)) - 1.0, "x"),
])  # fmt: skip
def test_differences_hide_no_more_often_than_the_bound_says(build, names):
    """Six standard deviations are left to chance."""
    graph = Graph()
    node = build(graph, graph.symbol("x"), graph.symbol("y"))
    bound, keys = hiding_degree([node]) / P, 20_000
    assert 0 < hidden(node, names, keys) <= bound + 6 * np.sqrt(bound / keys)


def test_the_degree_of_polynomials_is_that_of_sympy():
    """Random polynomials that are built without cancellation have exactly the degree found."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        graph = Graph()
        names = ["x", "y", "z"]
        nodes = [(graph.symbol(name), sympy.Symbol(name, positive=True)) for name in names]
        for _ in range(8):
            (a, s), (b, t) = (nodes[int(k)] for k in rng.integers(len(nodes), size=2))
            nodes.append((a * b, s * t) if rng.random() < 0.5 else (a + b, s + t))
        node, expression = nodes[-1]
        assert hiding_degree([node]) == sympy.Poly(expression, *sympy.symbols(
            names, positive=True)).total_degree()  # fmt: skip


def test_slopes_of_rational_functions_are_covered():
    """The numerators that SymPy finds for derivatives have no higher degree than the bound."""
    x, y = sympy.symbols("x y")
    graph = Graph()
    a, b = graph.symbol("x"), graph.symbol("y")
    pairs = [
        (a * a * b, x * x * y),
        (a / (b + 1.0), x / (y + 1)),
        (a * a / (a * b + 3.0) / (b - 2.0), x**2 / (x * y + 3) / (y - 2)),
        (1.0 / (1.0 / (a + b) + a), 1 / (1 / (x + y) + x)),
    ]
    for node, expression in pairs:
        for symbol in (x, y):
            numerator, _ = sympy.fraction(sympy.cancel(sympy.diff(expression, symbol)))
            degree = sympy.Poly(numerator, x, y).total_degree()
            assert degree <= hiding_degree([], [node], ["x", "y"])


def pivots_of(matrix):
    """D of M = L^T D L, the last row first."""
    left = [list(row) for row in matrix]
    for k in reversed(range(len(left))):
        for i in range(k):
            for j in range(i + 1):
                left[i][j] = left[i][j] - left[k][i] * left[k][j] / left[k][k]
    return [row[k] for k, row in enumerate(left)]


def symmetric(n, entry):
    names = [[f"m_{max(i, j)}_{min(i, j)}" for j in range(n)] for i in range(n)]
    return [[entry(name) for name in row] for row in names]


def test_pivots_that_are_divided_by_pivots_are_covered():
    """The pivots of n joints are quotients of determinants; without a look at the divisors one by
    one, the bound would be more than 2^(n^2)."""
    for n in (2, 3, 4):
        graph = Graph()
        bound = hiding_degree(pivots_of(symmetric(n, graph.symbol)))
        symbols = symmetric(n, sympy.Symbol)
        determinant = sympy.Matrix(symbols).det(method="berkowitz")
        assert sympy.Poly(determinant).total_degree() == n <= bound
    graph = Graph()
    matrix = symmetric(30, graph.symbol)
    inputs = {node.name for row in matrix for node in row}
    pivots = pivots_of(matrix)
    assert hiding_degree(pivots) < 2**40
    assert hiding_degree(pivots, pivots, inputs) < 2**50


def test_the_state_counts_where_slopes_by_it_are_proven():
    graph = Graph()
    q = graph.symbol("q_1")
    tau, inputs = q * q / (q + 2.0), (Input("q", (1,), (q,), ("q_1",)),)
    program = Program("r", "f", "inverse_dynamics", inputs, (Output("tau", (1,), (tau,)),), (), {})
    degree = Evaluations({("f", "inverse_dynamics"): program}, points=1, seed=0).degree
    assert degree == hiding_degree([tau], [tau], ["q_1"]) > hiding_degree([tau], [tau])


def test_roots_that_are_1_cost_nothing():
    graph = Graph()
    x, y = graph.symbol("x"), graph.symbol("y")
    root = graph.function("sqrt", x * (y + 1.0) - x * y - x + 1.0)
    plain, known = hiding_degree([root * x]), hiding_degree([root * x], units=[root.index])
    assert known == 1 < plain
