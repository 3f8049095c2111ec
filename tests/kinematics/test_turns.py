"""Links that are fixed to each other at odd angles: their exact poses end, or are refused."""

import numpy as np
import pytest
import sympy

from symgen.algebra.graph import Graph
from symgen.algebra.sympy_algebra import SymPyAlgebra
from symgen.deriving.symbolic import SymbolicDynamics
from symgen.errors import RequestError
from symgen.formulations import formulation_named
from symgen.kinematics.tree import build_tree
from symgen.kinematics.turns import MOST_NAMED_TURNS, named_turns
from symgen.showing.steps import step_by_step
from tests.choosing import deep
from tests.modules import described


def askew(count, angle=lambda k: "0.1"):
    """A joint that carries so many links, each fixed to the one before, and another joint."""
    names = "".join(f"  a{k}: 0.{k + 1}\n" for k in range(count))
    lines = [
        f"  - {{name: f{k}, type: fixed, origin: {{xyz: [1, 0.1, 0], rpy: [{angle(k)}, 0.2, 0.3]}},"
        " link: {mass: 1, com: [0.1, 0, 0.2], inertia: {xx: 1, yy: 1, zz: 1, xy: 0.1}}}\n"
        for k in range(count)
    ]
    moving = (
        "{{name: {}, type: revolute, origin: {{rpy: [0.1, 0.2, 0.3]}}, "
        "link: {{mass: 1, com: [1, 0, 0]}}}}\n"
    )
    return described(
        f"symgen: 1\nname: askew\nparameters:\n{names}joints:\n  - {moving.format('one')}"
        f"{''.join(lines)}  - {moving.format('two')}"
    )


def numbers(matrix):
    return np.array([[float(x) for x in row] for row in matrix.rows])


@pytest.mark.slow
@pytest.mark.parametrize("links", [6, *deep(12)])
def test_constants_that_have_grown_are_numbers_and_the_same(links):
    robot = askew(links)
    exact, folded = build_tree(robot, SymPyAlgebra()), build_tree(robot, Graph())
    for one, other in zip(exact.frames, folded.frames, strict=True):
        pose = one.pose.homogeneous(exact.algebra)
        assert max(entry.count_ops() for entry in pose.entries) < 100
        values = [[x.value for x in row] for row in other.pose.homogeneous(folded.algebra).rows]
        np.testing.assert_allclose(numbers(pose), values, rtol=0, atol=1e-14)


@pytest.mark.deep
def test_steps_of_many_links_askew_are_shown():
    dynamics = SymbolicDynamics(askew(12), formulation_named("newton_euler"))
    text = step_by_step(dynamics, "inverse_dynamics", "pretty")
    assert max(map(len, text.splitlines())) < 3000


def test_few_constants_stay_exact():
    algebra = SymPyAlgebra()
    angle = sympy.Rational(1, 10)
    short = sympy.cos(angle) * sympy.sin(angle)
    assert algebra.settled(short) == short
    grown = sympy.Add(*(sympy.cos(sympy.Rational(k, 10)) ** 2 for k in range(1, 40)))
    assert algebra.settled(grown).is_Float
    assert algebra.settled(grown + sympy.Symbol("x")) == grown + sympy.Symbol("x")
    nothing = grown - 39 + sympy.Add(*(sympy.sin(sympy.Rational(k, 10)) ** 2 for k in range(1, 40)))
    assert algebra.settled(nothing) == 0


def test_angles_with_names_are_refused_where_they_swell():
    few, many = (askew(k, lambda i: f"a{i}") for k in (MOST_NAMED_TURNS, MOST_NAMED_TURNS + 1))
    assert named_turns(few) == MOST_NAMED_TURNS
    SymbolicDynamics(few, formulation_named("newton_euler"))
    with pytest.raises(RequestError, match=r"5 links in a row .* give the angles as numbers"):
        SymbolicDynamics(many, formulation_named("newton_euler"))
