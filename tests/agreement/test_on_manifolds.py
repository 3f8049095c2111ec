"""Ball and free joints with a quaternion: every formulation against Pinocchio, entry by entry."""

import pytest

from symgen.formulations import formulation_named
from symgen.program.evaluation import call
from symgen.validation.oracles import NumericRobot
from tests.agreement.test_pinocchio import compare
from tests.choosing import some_deep
from tests.oracles.comparison import agrees, motion_of, state_of
from tests.oracles.descriptions import described
from tests.oracles.pinocchio_model import pinocchio_model
from tests.oracles.programs import evaluated
from tests.oracles.random_models import Recipe, seeded_model_text

TREES = Recipe(
    joints=(1, 5),
    types=("ball", "free", "ball", "revolute", "prismatic", "fixed", "universal"),
    loads=(0, 2),
    points=(0, 2),
    terms=True,
    prescribed=True,
)
FLYING = Recipe(
    joints=(2, 6),
    types=("revolute", "revolute", "prismatic", "ball"),
    loads=(1, 3),
    points=(0, 1),
    terms=True,
    prescribed=True,
    floating_base=True,
)
"""Robots on a free body, loads on what rides on it and on what does not."""
FOLLOWING = """\
symgen: 1
name: follows
joints:
  - name: body
    type: floating
    coordinates: quaternion
    origin: {xyz: [0.1, 0, 0], rpy: [0.3, 0, 0.2]}
    rotor_inertia: [0.1, 0.2, 0.3, 0.02, 0.03, 0.04]
    link: {mass: 2, com: [0.1, 0, 0.05], inertia: {xx: 0.1, yy: 0.2, zz: 0.15, xy: 0.01}}
  - name: left
    type: revolute
    origin: {xyz: [0.2, 0.1, 0]}
    link: {mass: 0.5, com: [0.1, 0, 0], inertia: {xx: 0.01, yy: 0.02, zz: 0.015}}
  - name: right
    type: revolute
    parent: body
    origin: {xyz: [0.2, -0.1, 0]}
    axis: [0, 1, 1]
    mimic: {coordinate: left, multiplier: -1.5, offset: 0.2}
    link: {mass: 0.4, com: [0.1, 0.1, 0], inertia: {xx: 0.01, yy: 0.02, zz: 0.015}}
"""


@pytest.mark.parametrize("seed", some_deep(range(30), (1, 6)))
def test_random_trees(seed):
    compare(described(seeded_model_text(seed, TREES)), seed)


@pytest.mark.parametrize("seed", some_deep(range(100, 120), (101, 107, 113)))
def test_random_floating_bases(seed):
    compare(described(seeded_model_text(seed, FLYING)), seed)


def test_the_numeric_model_is_pinocchio_s():
    description = described(seeded_model_text(3, TREES))
    robot, oracle = NumericRobot(description), pinocchio_model(description)
    state = motion_of(description, 5)
    loads = state.pop("loads")
    found = robot.inverse_dynamics_derivatives(**state, loads=loads)
    for value, expected in zip(
        found, oracle.inverse_dynamics_derivatives(**state, loads=loads), strict=True
    ):
        assert agrees(value, expected)


def test_a_joint_that_follows_another_beside_a_free_body():
    description = described(FOLLOWING)
    robot, state = NumericRobot(description), state_of(description, 2)
    for name in ("inverse_dynamics_derivatives", "forward_dynamics_derivatives"):
        program = evaluated(description, formulation_named("newton_euler"), name)
        third = "qdd" if name.startswith("inverse") else "tau"
        expected = getattr(robot, name)(state["q"], state["qd"], state[third])
        for value, other in zip(call(program, {**state, "loads": []}), expected, strict=False):
            assert agrees(value, other, 1e-10), name
