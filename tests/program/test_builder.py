"""Writing programs: names, steps, inputs, outputs."""

import numpy as np
import pytest

from symgen.algebra.graph import Graph
from symgen.algebra.linear import Matrix, Vector
from symgen.program.builder import ProgramBuilder
from symgen.program.evaluation import call


def small_program():
    g = Graph()
    b = ProgramBuilder(g, taken=["q_1"])
    q = b.input("q", (2,), ["q_1", "q_2"])
    b.parameters(["q_1"])
    with b.step("forward", "elbow"):
        v = b.let("v", Vector(g.function("sin", q[0]), q[0] * q[1], g.one), "N-1")
        m = b.let("m", Matrix([[v.x * q[1], g.zero], [q[0], v.y + v.x]]), "N-2")
        s = b.let("v_x", m[0, 0] + m[1, 1], "N-3")
    b.output("y", (2,), [s, m[1, 0]])
    b.output("e", (), [v.z * g.symbol("q_1")])
    return b.build("robot", "formulation", "function", {"N-1": "one", "N-2": "two", "N-9": "no"})


def test_names_do_not_collide_with_parameters_or_each_other():
    program = small_program()
    assert program.input("q").symbol_names == ("q_1_2", "q_2")
    names = [statement.name for statement in program.statements]
    assert names == ["v_x", "v_y", "m_11", "m_22", "v_x_2"]  # no name for constants and symbols
    assert program.notes == {"N-1": "one", "N-2": "two"}
    with pytest.raises(KeyError):
        program.input("loads")


def test_calling_a_program_broadcasts():
    program = small_program()
    y, e = call(program, {"q": np.full((4, 1, 2), 0.5), "parameters": np.full((3, 1), 2.0)})
    assert y.shape == (4, 3, 2)
    assert e.shape == (4, 3)
    assert np.all(e == 2.0)


def test_misuse_is_a_programming_error():
    g = Graph()
    b = ProgramBuilder(g)
    with pytest.raises(RuntimeError, match="outside"):
        b.let("x", g.symbol("a") + g.symbol("b"), "N-1")
    with b.step("forward"), pytest.raises(RuntimeError, match="nest"), b.step("forward"):
        pass


def test_an_output_that_is_withdrawn_is_none():
    b = ProgramBuilder(Graph())
    (x,) = b.input("x", (1,), ["x_1"])
    b.output("twice", (1,), [x + x])
    b.output("square", (1,), [x * x])
    assert b.withdraw("twice").name == "twice"
    assert [output.name for output in b.build("r", "f", "g", {}).outputs] == ["square"]
