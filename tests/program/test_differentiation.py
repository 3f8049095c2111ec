"""Derivatives of programs: in place behind their statements, equal to complex step."""

import numpy as np
import pytest
import sympy

from symgen.algebra.graph import Graph
from symgen.algebra.nodes import SYMBOL, reachable
from symgen.algebra.sympy_algebra import SymPyAlgebra, symbol
from symgen.formulations import FORMULATIONS, derive
from symgen.kinematics.tree import build_tree
from symgen.program.builder import ProgramBuilder
from symgen.program.differentiation import differentiate
from symgen.program.interpreter import call
from tests.modules import described
from tests.oracles.random_models import Recipe, seeded_model_text


def test_each_derivative_follows_its_statement():
    description = described(seeded_model_text(1, Recipe(joints=(3, 3))))
    tree = build_tree(description, Graph())
    program = derive(tree, FORMULATIONS[0], "inverse_dynamics_derivatives")
    last = ""
    for statement in program.statements:
        if statement.note.startswith("d "):
            assert statement.name.startswith(f"d_{last}_d")
        else:
            last = statement.name


def test_the_same_derivation_over_sympy_names_the_derivatives():
    description = described(seeded_model_text(2, Recipe(joints=(2, 2), loads=(0, 0))))
    algebra = SymPyAlgebra()
    program = derive(
        build_tree(description, algebra), FORMULATIONS[0], "inverse_dynamics_derivatives"
    )
    assert any(name.name.startswith("d_") for name in algebra.definitions)
    assert len(program.outputs) == 4


def held_and_substituted(algebra, solution):
    """y = solution(x), z = y x - 2 y differentiated by x with y held; dz/dx, and the program."""
    b = ProgramBuilder(algebra)
    (x,) = b.input("x", (1,), ["x"])
    with b.step("first"):
        y = b.let("y", solution(x), "A")
    (held,) = b.auxiliary("y_held", (1,), ["y_held"]).symbols
    with b.step("second"):
        z = b.let("z", held * x - (held + held), "B")
    derivatives = differentiate(b, [b.declared("x")], steps=range(1, b.length))
    results = b.substitute({held: y}, {"z": [z], "dz": [derivatives.of(z)[0]]})
    for name, entries in results.items():
        b.output(name, (1,), entries)
    return b.build("r", "f", "g", {"A": "", "B": ""})


SOLUTIONS = {
    "square": lambda x: x * x,
    "negative": lambda x: -x,
    "symbol": lambda x: x,
    "multiple": lambda x: x + x,
}


@pytest.mark.parametrize("name", SOLUTIONS)
def test_what_is_substituted_afterwards_counts_as_a_constant(name):
    """dz/dx = y, also where the graph has made y one with x; y's own step stays as it is."""
    solution, algebra = SOLUTIONS[name], SymPyAlgebra()
    program = held_and_substituted(Graph(), solution)
    z, dz = call(program, {"x": np.array([3.0])})
    assert dz[0] == solution(3.0)
    assert z[0] == solution(3.0) * 3 - 2 * solution(3.0)
    nodes = reachable([*program.results, *(line.value for line in program.statements)])
    assert not any("held" in node.name for node in nodes if node.op is SYMBOL)
    program = held_and_substituted(algebra, solution)
    (x,) = program.input("x").symbols
    z, dz = map(algebra.expanded, program.results)
    assert sympy.expand(dz - solution(x)) == 0
    assert sympy.expand(z - solution(x) * (x - 2)) == 0


@pytest.mark.parametrize("algebra", [Graph, SymPyAlgebra])
def test_what_is_not_held_is_differentiated_although_its_step_is_skipped(algebra):
    b = ProgramBuilder(algebra())
    (x,) = b.input("x", (1,), ["x"])
    with b.step("first"):
        y = b.let("y", x * x, "A")
    derivatives = differentiate(b, [b.declared("x")], steps=range(1, b.length))
    assert derivatives.of(y)[0] == x + x


def test_over_sympy_derivatives_use_those_of_names():
    b = ProgramBuilder(SymPyAlgebra())
    (x,) = b.input("x", (1,), ["x"])
    with b.step("first"):
        y = b.let("y", x**3, "A")
    slopes = differentiate(b, [b.declared("x")])
    assert slopes.of(y * y)[0] == 2 * y * symbol("d_y_dx")
