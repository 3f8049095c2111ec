"""Writing programs: names, steps, inputs, outputs."""

import numpy as np
import pytest

from symgen.algebra.graph import Graph
from symgen.algebra.linear import Matrix, Vector
from symgen.algebra.sympy_algebra import SymPyAlgebra
from symgen.optimize.folding import without_dead_code
from symgen.program.builder import ProgramBuilder
from symgen.program.interpreter import call


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


@pytest.mark.parametrize("algebra", [Graph, SymPyAlgebra])
def test_scalars_are_renamed(algebra):
    """Over the graph the statement gets the name, over SymPy there is one more."""
    b = ProgramBuilder(algebra())
    (x, y) = b.input("x", (2,), ["x_1", "x_2"])
    with b.step("first"):
        n = b.let("n", x * y, "A")
        b.let("tau", n, "B")  # another name for the same over the graph, none over SymPy
    with b.step("second"):
        found = b.rename({"M_1": n, "M_2": x, "M_3": x + y, "M_4": n, "M_5": b.algebra.one}, "C")
    b.output("M", (5,), found)
    program = b.build("r", "f", "g", {"A": "a", "B": "b", "C": "c"})
    names = {line.name: line.note for line in program.statements}
    assert names["M_3"] == "C" and "M_2" not in names and "M_5" not in names
    assert ("n" in names) == (algebra is SymPyAlgebra) and names["M_1"] == "C"
    if algebra is Graph:
        called = call(program, {"x": np.array([2.0, 3.0])})
        assert called[0].tolist() == [6.0, 2.0, 5.0, 6.0, 1.0]
        assert [line.name for line in without_dead_code(program).statements] == ["M_1", "M_3"]
    else:
        assert [b.algebra.expanded(entry) for entry in found] == [x * y, x, x + y, x * y, 1]


def test_a_part_stands_before_the_kind_of_its_steps():
    b = ProgramBuilder(Graph())
    (x,) = b.input("x", (1,), ["x_1"])
    with b.variant("_column_1", "column 1"):
        with b.step("forward", "elbow"):
            b.let("v", x + x, "A")
        with b.variant("_dq"), b.step("backward"):
            b.let("v", x * x, "A")
    with b.step("forward", "elbow"):
        b.let("v", x - 1.0, "A")
    steps = b.build("r", "f", "g", {}).steps
    assert [step.kind for step in steps] == ["column 1: forward", "column 1: backward", "forward"]
    assert [step.statements[0].name for step in steps] == ["v_column_1", "v_column_1_dq", "v"]
