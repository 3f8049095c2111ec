"""Folding, dead code, operation counts, constants inside products."""

import math

import numpy as np
import pytest

from symgen.algebra.graph import Graph
from symgen.optimize.constant_factors import with_constants_inside
from symgen.optimize.folding import fold, without_dead_code
from symgen.optimize.operations import OperationCount, operations_after, operations_before
from symgen.program.builder import ProgramBuilder
from symgen.program.interpreter import call


def program(parameters=("alpha", "m", "L")):
    g = Graph()
    b = ProgramBuilder(g, taken=parameters)
    (q,) = b.input("q", (1,), ["q_1"])
    b.parameters(parameters)
    alpha, m, L = (g.symbol(name) for name in parameters)
    with b.step("forward", "joint"):
        c = b.let("c", g.function("cos", alpha) * q, "N-1")
        weight = b.let("weight", m * L * g.function("sin", q), "N-2")
        b.let("unused", q * q * L, "N-3")
        total = b.let("total", c + weight, "N-4")
    b.output("y", (1,), [total])
    notes = {f"N-{i}": f"equation {i}" for i in range(1, 5)}
    return b.build("robot", "formulation", "function", notes)


def test_parameters_become_numbers_and_zeros_take_everything_with_them():
    values = {"alpha": math.pi / 2, "m": 2.0, "L": 0.5}
    folded = fold(program(), values)
    assert folded.input("parameters").symbols == ()
    assert [statement.name for statement in folded.statements] == ["weight"]  # total is the same
    assert set(folded.notes) == {"N-2"}
    assert operations_after(folded.results) == OperationCount(functions=1)
    q = np.array([[0.3], [1.2]])
    np.testing.assert_array_equal(call(folded, {"q": q})[0], np.sin(q))


def test_folding_keeps_the_function():
    values = {"alpha": 0.4, "m": 3.0, "L": 0.7}
    q = np.array([0.9])
    expected = call(program(), {"q": q, "parameters": list(values.values())})[0]
    np.testing.assert_allclose(call(fold(program(), values), {"q": q})[0], expected, rtol=1e-15)


def test_folding_leaves_the_program_as_it_was():
    original = program()
    before = [statement.name for statement in original.statements]
    fold(original, {"alpha": 0.0, "m": 0.0, "L": 0.0})
    assert [statement.name for statement in original.statements] == before


def test_overflow_is_an_arithmetic_error():
    with pytest.raises(ArithmeticError):
        fold(program(), {"alpha": 0.0, "m": 1e200, "L": 1e200})


def test_dead_statements_and_repeated_names_vanish():
    names = [statement.name for statement in without_dead_code(program()).statements]
    assert names == ["c", "weight", "total"]


def test_counts_before_and_after_sharing():
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    shared = x * y + 1.0
    results = [shared * shared, g.function("sin", shared) - x / y, -shared]
    assert operations_after(results) == OperationCount(2, 2, 1, 1)
    assert operations_before(results) == OperationCount(5, 5, 1, 1)
    assert operations_before(results).total == 12


def test_counts_before_are_exact_however_large():
    g = Graph()
    value = g.symbol("x")
    for _ in range(200):
        value = value * g.function("sin", value)  # doubles the tree every time
    count = operations_before([value])
    assert count.multiplications == 2**200 - 1
    assert operations_after([value]).total == 400


def test_no_outputs_cost_nothing():
    assert operations_after([]) == operations_before([]) == OperationCount()


def program_of(entries):
    """A program of three inputs, with the outputs that `entries` makes of them."""
    b = ProgramBuilder(Graph())
    x = b.input("x", (3,), ("x_1", "x_2", "x_3"))
    b.output("y", (len(entries(*x)),), entries(*x))
    return b.build("robot", "formulation", "mass_matrix", {})


def multiplications(program):
    return operations_after(program.results).multiplications


PRODUCTS = {
    "a constant that serves two products": (lambda x, y, z: ((x * 3.0) * y, (x * -3.0) * z), 4, 3),
    "a product that is there anyway": (lambda x, y, z: (x * 3.0, (x * 3.0) * y), 3, 2),
    "nested products": (lambda x, y, z: ((x * 3.0) * y * z, (x * 3.0) * z), 5, 4),
}
"""With the numbers of multiplications before and after."""


@pytest.mark.parametrize("case", PRODUCTS)
def test_constants_move_inside(case):
    entries, before, after = PRODUCTS[case]
    program = program_of(entries)
    better = with_constants_inside(program)
    assert (multiplications(program), multiplications(better)) == (before, after)
    values = {"x": np.array([0.7, -1.3, 2.1])}
    np.testing.assert_allclose(call(better, values)[0], call(program, values)[0], rtol=1e-15)


def test_a_single_product_stays_as_it_is():
    program = program_of(lambda x, y, z: ((x * 3.0) * y, x * y + z))
    assert with_constants_inside(program) is program
