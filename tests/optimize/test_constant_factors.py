"""Constants inside products: fewer multiplications, the same values."""

import numpy as np
import pytest

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
