"""Constants inside products: fewer multiplications, the same values."""

import numpy as np

from symgen.algebra.graph import Graph
from symgen.optimize.constant_factors import with_constants_inside
from symgen.optimize.operations import operations_after
from symgen.program.builder import ProgramBuilder
from symgen.program.evaluation import call


def program_of(entries):
    """A program of three inputs, with the outputs that `entries` makes of them."""
    b = ProgramBuilder(Graph())
    x = b.input("x", (3,), ("x_1", "x_2", "x_3"))
    b.output("y", (len(entries(*x)),), entries(*x))
    return b.build("robot", "formulation", "mass_matrix", {})


def multiplications(program):
    return operations_after(program.results).multiplications


def test_a_constant_that_serves_two_products_is_multiplied_once():
    program = program_of(lambda x, y, z: ((x * 3.0) * y, (x * -3.0) * z))
    assert multiplications(program) == 4
    better = with_constants_inside(program)
    assert multiplications(better) == 3
    values = {"x": np.array([0.7, -1.3, 2.1])}
    np.testing.assert_allclose(call(better, values)[0], call(program, values)[0], rtol=1e-15)


def test_what_is_there_anyway_is_used():
    program = program_of(lambda x, y, z: (x * 3.0, (x * 3.0) * y))
    assert multiplications(program) == 3
    assert multiplications(with_constants_inside(program)) == 2


def test_a_constant_moves_through_nested_products():
    program = program_of(lambda x, y, z: ((x * 3.0) * y * z, (x * 3.0) * z))
    assert multiplications(with_constants_inside(program)) < multiplications(program)


def test_a_single_product_stays_as_it_is():
    program = program_of(lambda x, y, z: ((x * 3.0) * y, x * y + z))
    assert with_constants_inside(program) is program
