"""Constants inside products: fewer multiplications, the same values."""

import numpy as np
import pytest

from benchmarks.models import spatial_tree
from symgen import read
from symgen.algebra.graph import Graph
from symgen.formulations import FORMULATIONS, derive
from symgen.kinematics.tree import build_tree
from symgen.optimize.constant_factors import with_constants_inside
from symgen.optimize.folding import fold
from symgen.optimize.operations import operations_after
from symgen.program.builder import ProgramBuilder
from symgen.program.evaluation import call
from tests.choosing import some_slow
from tests.oracles.comparison import motion_of


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


@pytest.mark.parametrize(
    "formulation", some_slow(FORMULATIONS, FORMULATIONS[:2]), ids=lambda item: item.name
)
def test_no_formulation_loses_by_it(formulation, tmp_path):
    path = tmp_path / "chain.yaml"
    path.write_text(spatial_tree(range(4), "chain"))
    description = read(path)
    for function in ("inverse_dynamics", "mass_matrix", "forward_dynamics"):
        if function not in formulation.functions:
            continue
        tree = build_tree(description, Graph())
        program = fold(derive(tree, formulation, function), description.parameter_values)
        better = with_constants_inside(program)
        before, after = (operations_after(x.results) for x in (program, better))
        assert after.multiplications < before.multiplications
        assert (after.additions, after.divisions) == (before.additions, before.divisions)
        state = motion_of(description, 1) | {"tau": np.linspace(-1.0, 2.0, 4)}
        for value, reference in zip(call(better, state), call(program, state), strict=True):
            np.testing.assert_allclose(value, reference, rtol=1e-12, atol=1e-13)
