"""Rolled programs say what straight lines say."""

import pytest

from symgen import read
from symgen.algebra.graph import Graph
from symgen.deriving.derivation import derived_program, rolled_program
from symgen.formulations import FORMULATIONS, formulation_named, has_rolled_form, manifolds
from symgen.formulations.composite import COMPOSITE
from symgen.kinematics.tree import build_tree
from symgen.program.interpreter import call
from symgen.program.rolled import EachJoint, EachPair, Straight
from tests.choosing import some_slow
from tests.contract import cells, operations, references
from tests.modules import EXAMPLES, described
from tests.oracles.comparison import agrees, motion_of
from tests.oracles.unrolling import unrolled

IN_LOOPS = [(item, function) for item in FORMULATIONS for function in item.rolled]
CASES = [
    (robot, formulation, function)
    for (robot, formulation, function), (_, rolled) in operations.stored().items()
    if rolled is not None and not cells.described(robot).parameters
]
"""Loops are unrolled with numbers in place of parameters."""


@pytest.mark.parametrize(
    ("robot", "formulation", "function"),
    some_slow(CASES, [case for case in CASES if case[0] == "branched_tree"]),
)
def test_loops_have_the_values_of_the_contract(robot, formulation, function):
    states, known = references.stored(robot)
    looped = rolled_program(cells.described(robot), formulation_named(formulation), function)
    for number, result in enumerate(cells.results_of(unrolled(looped), states)):
        expected = known[f"{function}.{number}"]
        assert result.shape == expected.shape
        assert agrees(result, expected, 1e-10)


@pytest.mark.parametrize(("formulation", "function"), IN_LOOPS)
def test_what_is_said_once_does_not_grow_with_the_robot(formulation, function):
    def statements(robot):
        looped = rolled_program(read(EXAMPLES / f"{robot}.yaml"), formulation, function)
        kinds = (EachJoint, EachPair)
        once = [phase for phase in looped.phases if isinstance(phase, kinds)]
        straight = [phase for phase in looped.phases if isinstance(phase, Straight)]
        assert once and straight
        programs = [p for p in looped.programs if all(p is not x.program for x in straight)]
        return [len(program.statements) for program in programs]

    assert statements("arm7") == statements("tree12")  # both have loads


FREE = cells.FOLDER / "robots/floating_angles.yaml"
ARMS = """
  - {name: left, type: revolute, parent: body, origin: {xyz: [0, 0.4, 0], rpy: [0.2, 0.1, 0]},
     damping: 0.3, stiffness: 2, link: {mass: 1, com: [0.1, 0, 0.2]}}
  - {name: slide, type: prismatic, axis: [1, 2, 0], origin: {xyz: [0.3, 0, 0.1]}, friction: 0.4,
     rotor_inertia: 0.1, gear_ratio: 3, link: {mass: 2, inertia: {xx: 1, yy: 1, zz: 1, xy: 0.1}}}
points:"""


@pytest.mark.slow
def test_floating_bases():
    """In the size of each array."""
    description = described(FREE.read_text().replace("\npoints:", ARMS))
    tree, state = build_tree(description, Graph()), motion_of(description, 1)
    for function in manifolds.IN_LOOPS:
        assert has_rolled_form(tree, COMPOSITE, function)
        straight = call(derived_program(description, COMPOSITE, function), state)
        looped = call(unrolled(rolled_program(description, COMPOSITE, function)), state)
        assert all(agrees(x, y) for x, y in zip(looped, straight, strict=True))
