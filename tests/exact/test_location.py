"""The first wrong statement, on a program small enough to read."""

import pytest

from symgen.algebra.graph import Graph
from symgen.exact import first_difference, first_wrong_derivative
from symgen.exact.location import earliest
from symgen.program.program import Input, Output, Program, Statement, Step

NAMES = ("q_1", "q_2", "qd_1", "qd_2")


def program(graph=None, **changes):
    """p = q1 q2, v_x = sin p, w = v_x qd1 with derivatives; `changes` replaces values by name."""
    graph = graph or Graph()
    q1, q2, qd1, qd2 = (graph.symbol(name) for name in NAMES)
    p = q1 * q2
    sine, cosine = graph.function("sin", p), graph.function("cos", p)
    values = {
        "p": p, "d_p_dq_1": q2 * 1.0, "v_x": sine, "d_v_dq_1_x": cosine * q2,
        "d_v_x_dq_2": cosine * q1, "w": sine * qd1, "d_w_dq_2": cosine * q1 * qd1,
        "d_w_dqd_1": sine, "d_other_dq_1": q1,
    }  # fmt: skip
    for name, change in changes.items():
        values[name] = change(graph, values[name])
    lines = [Statement(name, value, f"N-{name}") for name, value in values.items()]
    steps = (Step("first", "a", tuple(lines[:5])), Step("second", "b", tuple(lines[5:])))
    inputs = (Input("q", (2,), (q1, q2), NAMES[:2]), Input("qd", (2,), (qd1, qd2), NAMES[2:]))
    outputs = (Output("w", (), (values["w"],)), Output("minus_v", (1,), (-values["v_x"],)))
    return Program("robot", "some", "function", inputs, outputs, steps, {})


def negated(graph, value):
    return -value


def test_nothing_is_wrong_with_the_program_itself():
    assert first_wrong_derivative(program()) is None
    assert first_difference(program(), program()) is None


@pytest.mark.parametrize(
    ("name", "step"), [("p", "first"), ("v_x", "first"), ("d_p_dq_1", "first"), ("w", "second")]
)
def test_the_first_statement_that_differs_is_named(name, step):
    place = first_difference(program(**{name: negated, "d_w_dqd_1": negated}), program())
    assert (place.statement, place.kind) == (name, step)
    assert place.joint == {"first": "a", "second": "b"}[step]


@pytest.mark.parametrize("name", ["d_p_dq_1", "d_v_dq_1_x", "d_v_x_dq_2", "d_w_dq_2", "d_w_dqd_1"])
def test_the_first_wrong_derivative_is_named(name):
    place = first_wrong_derivative(program(**{name: lambda graph, value: value * 2.0}))
    assert place.statement == name
    assert place.note == f"N-{name}"
    assert str(place).startswith("some.function, step '")


def test_an_error_behind_a_statement_makes_its_derivatives_wrong():
    """The derivative still is that of the statement as it was."""
    place = first_wrong_derivative(program(w=lambda graph, value: value + graph.symbol("q_2")))
    assert place.statement == "d_w_dq_2"


def with_solution(derivative):
    """x = -(a b) solves an equation, y = q x + p, and a derivative of y that holds x or not."""
    graph = Graph()
    a, b, q, p = (graph.symbol(name) for name in ("a", "b", "q_1", "p"))
    x = -(a * b * p)
    values = {"x": (x, "LTDL-4"), "y": (q * x + p, "N"), **derivative(graph, a, b, q, p, x)}
    lines = tuple(Statement(name, value, note) for name, (value, note) in values.items())
    along = [graph.symbol("dq_1_dp")]
    inputs = (
        Input("q", (1,), (q,), ("q_1",)),
        Input("dq", (1, 1), tuple(along), ("dq_1_dp",)),
        Input("parameters", (3,), (a, b, p), ("a", "b", "p")),
    )
    outputs = (Output("y", (), (lines[-1].value,)),)
    return Program("robot", "some", "function", inputs, outputs, (Step("s", "j", lines),), {})


def test_derivatives_may_hold_solutions_and_be_total():
    """By the parameter p, with which q varies: each way is right, and nothing else is."""
    ways = {
        "held": lambda graph, a, b, q, p, x: graph.one,
        "partial": lambda graph, a, b, q, p, x: 1.0 - q * a * b,
        "total": lambda graph, a, b, q, p, x: 1.0 - q * a * b + graph.symbol("dq_1_dp") * x,
        "total, held": lambda graph, a, b, q, p, x: 1.0 + graph.symbol("dq_1_dp") * x,
    }
    for way in ways.values():
        right = with_solution(lambda *of, way=way: {"d_y_dp": (way(*of), "dN")})
        assert first_wrong_derivative(right) is None
        wrong = with_solution(lambda *of, way=way: {"d_y_dp": (way(*of) * 2.0, "dN")})
        assert first_wrong_derivative(wrong).statement == "d_y_dp"


def test_the_first_result_in_the_order_of_the_recursion():
    here = program()
    assert earliest(here, here.results)[0] == 1
    assert earliest(here, here.results)[1].statement == "v_x"
    assert earliest(here, [here.inputs[1].symbols[1]]) == (0, None)
    minus = program(v_x=negated)
    assert earliest(minus, [minus.statements[2].value])[1].statement == "v_x"


@pytest.mark.parametrize("rooted", ["a solution that nothing uses", "the slope of asin"])
def test_roots_that_are_in_no_result(rooted):
    """They exist at every other point: what a mistake leaves out of a derivative needs them."""
    graph = Graph()
    a, q = graph.symbol("a"), graph.symbol("q_1")
    y = graph.function("asin", q) if rooted.endswith("asin") else q * a
    statements = {"x": (graph.function("sqrt", a), "LTDL-4"), "y": (y, "N"), "d_y_dq_1": (q, "dN")}
    lines = tuple(Statement(name, value, note) for name, (value, note) in statements.items())
    inputs = (Input("q", (1,), (q,), ("q_1",)), Input("parameters", (1,), (a,), ("a",)))
    outputs = (Output("y", (), (y,)),)
    whole = Program("robot", "some", "function", inputs, outputs, (Step("s", "j", lines),), {})
    for seed in range(8):
        assert first_wrong_derivative(whole, seed=seed).statement == "d_y_dq_1"
