"""Expressions in all languages: same association, exact constants, every function."""

import math

import pytest

from symgen.algebra import rounding
from symgen.algebra.evaluation import NUMPY as NUMPY_ARITHMETIC
from symgen.algebra.graph import Graph
from symgen.emit.printing import C, Printer
from tests.emit.samples import FUNCTIONS_OF_GRAPH


@pytest.fixture
def graph():
    return Graph()


def text(node, language=C):
    names = {symbol.index: symbol.name for symbol in node.graph.nodes if symbol.op == "symbol"}
    return Printer(language, names).definition(node)


CASES = {
    "a + b + c": lambda a, b, c: (a + b) + c,
    "a + b + a*b": lambda a, b, c: a.graph._intern("+", a * b, a + b),
    "a + b + (b + c)": lambda a, b, c: (a + b) + (b + c),
    "b*c - a*b": lambda a, b, c: a.graph._intern("+", -(a * b), b * c),
    "a - b - c": lambda a, b, c: (a - b) - c,
    "a - (b - c)": lambda a, b, c: a - (b - c),
    "(a + b)*c": lambda a, b, c: c.graph._intern("*", a + b, c),
    "a*b*c": lambda a, b, c: (a * b) * c,
    "a*b*(a*c)": lambda a, b, c: (a * b) * (a * c),
    "2.0*(a*b)": lambda a, b, c: 2.0 * (a * b),
    "a/b/c": lambda a, b, c: (a / b) / c,
    "a/(b/c)": lambda a, b, c: a / (b / c),
    "a/(b*c)": lambda a, b, c: a / (b * c),
    "a*(b/c)": lambda a, b, c: a * (b / c),
    "-(a + b)": lambda a, b, c: -(a + b),
    "-a*b": lambda a, b, c: -(a * b),
    "-sin(a)": lambda a, b, c: -a.graph.function("sin", a),
    "-(-a)": lambda a, b, c: a.graph._intern("neg", a.graph._intern("neg", a)),
    "a - 0.5*b": lambda a, b, c: a + (-0.5) * b,
    "a + 0.5*b": lambda a, b, c: a.graph._intern("-", a, (-0.5) * b),
    "-0.5*a - b*c": lambda a, b, c: a.graph._intern("-", -0.5 * a, b * c),
    "2.0*a": lambda a, b, c: a + a,
    "a/(-0.3)": lambda a, b, c: a.graph._intern("/", a, a.graph.constant(-0.3)),
    "pow(a, -b)": lambda a, b, c: a ** (-b),
    "atan2(a + b, c)": lambda a, b, c: a.graph.function("atan2", a + b, c),
}


@pytest.mark.parametrize("expected", CASES)
def test_minimal_parentheses(graph, expected):
    symbols = [graph.symbol(name) for name in "abc"]
    assert text(CASES[expected](*symbols)) == expected


def test_the_list_of_functions_is_complete():
    assert set(FUNCTIONS_OF_GRAPH) == set(rounding.ROUNDED) == set(NUMPY_ARITHMETIC.functions)


@pytest.mark.parametrize("value", [0.1, 1e-300, 5e-324, 1.7976931348623157e308, 2.0, -1e22, 1e-5])
def test_constants_read_back_exactly(graph, value):
    source = text(graph.constant(value))
    assert float(source) == value and any(mark in source for mark in ".e")


def test_an_unknown_symbol_is_an_error(graph):
    with pytest.raises(ValueError, match="'a'"):
        Printer(C, {}).definition(graph.symbol("a") + 1.0)


def test_no_constant_is_infinite(graph):
    with pytest.raises(OverflowError):
        graph.constant(math.inf)
