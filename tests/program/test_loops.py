"""Looped programs say what straight lines say."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from symgen import read
from symgen.algebra.graph import Graph
from symgen.deriving.derivation import derived_loops, derived_program
from symgen.formulations import FORMULATIONS, has_loops, manifolds
from symgen.formulations.composite import COMPOSITE
from symgen.kinematics.tree import build_tree
from symgen.program.evaluation import call
from symgen.program.loops import EachJoint, EachPair, Straight, unrolled
from tests.choosing import deep, one_in, some_deep
from tests.oracles.comparison import motion_of
from tests.oracles.descriptions import described
from tests.oracles.random_models import EVERYTHING, Recipe, model_texts, seeded_model_text

EXAMPLES = Path(__file__).parents[2] / "examples"
IN_LOOPS = [(item, function) for item in FORMULATIONS for function in item.loops]
OF_ANY_TREE = [
    (item, function) for item, function in IN_LOOPS if not function.startswith("forward_dynamics")
]
"""Those that do not solve: trees may have a singular mass matrix."""


def compare(description, formulation, function):
    """Both forms at a random state, in the size of each array."""
    state = motion_of(description, 1)
    straight = call(derived_program(description, formulation, function), state)
    looped = call(unrolled(derived_loops(description, formulation, function)), state)
    for value, wanted in zip(looped, straight, strict=True):
        assert value.shape == wanted.shape
        size = max(1.0, np.abs(wanted).max(initial=0.0))
        np.testing.assert_allclose(value, wanted, rtol=0.0, atol=1e-11 * size)


@pytest.mark.parametrize(("formulation", "function"), one_in(2, IN_LOOPS))
@pytest.mark.parametrize("robot", [*deep("two_link", "puma560", "cart_pole"), "tree12"])
def test_examples(formulation, function, robot):
    compare(read(EXAMPLES / f"{robot}.yaml"), formulation, function)


@settings(max_examples=3, suppress_health_check=list(HealthCheck))
@given(model_texts(Recipe(joints=(1, 7), loads=(0, 3), terms=True)))
def test_drawn_trees(text):
    for formulation, function in OF_ANY_TREE:
        compare(described(text), formulation, function)


@pytest.mark.parametrize("seed", some_deep(range(10), (5, 7)))
def test_every_type_of_joint(seed):
    description = described(seeded_model_text(seed, EVERYTHING))
    for formulation, function in OF_ANY_TREE:
        compare(description, formulation, function)


@pytest.mark.parametrize(("formulation", "function"), IN_LOOPS)
def test_what_is_said_once_does_not_grow_with_the_robot(formulation, function):
    def statements(robot):
        looped = derived_loops(read(EXAMPLES / f"{robot}.yaml"), formulation, function)
        kinds = (EachJoint, EachPair)
        once = [phase for phase in looped.phases if isinstance(phase, kinds)]
        straight = [phase for phase in looped.phases if isinstance(phase, Straight)]
        assert once and straight
        programs = [p for p in looped.programs if all(p is not x.program for x in straight)]
        return [len(program.statements) for program in programs]

    assert statements("arm7") == statements("tree12")  # both have loads


FLOATING = Recipe(
    joints=(3, 7),
    types=("revolute", "prismatic"),
    loads=(0, 0),
    terms=True,
    floating_base=True,
    base_terms=False,
    massless=False,
)


@pytest.mark.parametrize("seed", some_deep(range(20, 40), (20, 21, 22)))
def test_floating_bases(seed):
    description = described(seeded_model_text(seed, FLOATING))
    tree = build_tree(description, Graph())
    for function in manifolds.IN_LOOPS:
        assert has_loops(tree, COMPOSITE, function)
        compare(description, COMPOSITE, function)
