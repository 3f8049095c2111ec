"""Centre of mass and the momentum about it: digits far away, special cases."""

import numpy as np
import pytest

from symgen.algebra.graph import Graph
from symgen.formulations import derive, formulation_named
from symgen.kinematics.tree import build_tree
from symgen.program.evaluation import call
from tests.oracles.comparison import agrees, random_state
from tests.oracles.descriptions import described
from tests.oracles.programs import evaluated

NEWTON_EULER = formulation_named("newton_euler")
FUNCTIONS = (
    "center_of_mass", "center_of_mass_jacobian", "centroidal_momentum",
    "centroidal_momentum_matrix", "centroidal_momentum_rate",
)  # fmt: skip


def result(description, name, state):
    return call(evaluated(description, NEWTON_EULER, name), state)[0]


FLOATING = """
symgen: 1
name: floating
gravity: [0, 0, 0]
joints:
  - {name: x, type: prismatic, origin: {}, axis: [1, 0, 0]}
  - {name: y, type: prismatic, origin: {}, axis: [0, 1, 0]}
  - {name: z, type: prismatic, origin: {}}
  - {name: rz, type: revolute, origin: {}}
  - {name: ry, type: revolute, origin: {}, axis: [0, 1, 0]}
  - name: rx
    type: revolute
    origin: {}
    axis: [1, 0, 0]
    link: {mass: 2, com: [0.1, 0.2, -0.1], inertia: {xx: 0.3, yy: 0.2, zz: 0.4, xy: 0.01}}
  - name: arm
    type: revolute
    origin: {xyz: [0.3, 0.1, 0.2], rpy: [0.2, 0.3, 0.4]}
    link: {mass: 1, com: [0.2, 0, 0.1], inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}
  - name: slide
    type: prismatic
    parent: rx
    origin: {xyz: [-0.2, 0.4, 0.1], rpy: [-0.5, 0.1, 0]}
    link: {mass: 0.5, com: [0, 0.1, 0], inertia: {xx: 0.01, yy: 0.02, zz: 0.015}}
"""


def test_momentum_does_not_depend_on_where_the_base_is():
    """Not even in its last digits; of the matrix the rows of the angular momentum."""
    description = described(FLOATING)
    state = random_state(8, 3)
    away = {**state, "q": state["q"] + np.array([7e6, -5e6, 3e6, 0, 0, 0, 0, 0])}
    for name, first in {
        "centroidal_momentum": 0,
        "centroidal_momentum_matrix": 3,
        "centroidal_momentum_rate": 0,
    }.items():
        here, there = (result(description, name, x)[first:] for x in (state, away))
        assert np.array_equal(here, there), name


# ------------------------------------------------------------------------------- special cases

PART_OF_THE_BASE = """
symgen: 1
name: part_of_the_base
joints:
  - {name: mount, type: fixed, origin: {xyz: [1, 2, 3]}, link: {mass: 100, com: [1, 1, 1]}}
  - {name: turn, type: revolute, parent: mount, origin: {}, link: {mass: 2, com: [0.5, 0, 0]}}
"""


def test_links_fixed_to_the_base_do_not_count():
    description = described(PART_OF_THE_BASE)
    state = {"q": np.array([np.pi / 2]), "qd": np.array([3.0])}
    assert agrees(result(description, "center_of_mass", state), [1.0, 2.5, 3.0])
    assert agrees(result(description, "center_of_mass_jacobian", state), [[-0.5], [0.0], [0.0]])
    assert agrees(result(description, "centroidal_momentum", state), [-3.0, 0, 0, 0, 0, 0])


@pytest.mark.parametrize("mass", ["0", "m"])
def test_a_robot_without_mass_has_its_centre_at_the_base_origin(mass):
    """By structure or by value; its bodies may turn all the same."""
    text = f"""
symgen: 1
name: weightless
parameters: {{m: 0}}
joints:
  - name: turn
    type: revolute
    origin: {{xyz: [1, 2, 3]}}
    link: {{mass: {mass}, com: [1, 0, 0], inertia: {{zz: 0.5}}}}
"""
    description, state = described(text), {"q": np.array([0.3]), "qd": np.array([2.0])}
    assert (result(description, "center_of_mass", state) == 0.0).all()
    assert (result(description, "center_of_mass_jacobian", state) == np.zeros((3, 1))).all()
    assert agrees(result(description, "centroidal_momentum", state), [0, 0, 0, 0, 0, 1.0])


def test_a_robot_that_cannot_move():
    text = (
        "symgen: 1\nname: still\njoints:\n  - {name: a, type: fixed, origin: {}, link: {mass: 3}}\n"
    )
    description, state = described(text), {"q": np.zeros(0), "qd": np.zeros(0)}
    assert result(description, "center_of_mass", state).tolist() == [0, 0, 0]
    assert result(description, "center_of_mass_jacobian", state).shape == (3, 0)
    assert result(description, "centroidal_momentum", state).tolist() == [0] * 6


def test_joints_that_carry_nothing_take_no_part():
    """A massless side branch is in no statement, and its column is 0 by structure."""
    text = PART_OF_THE_BASE + "  - {name: idle, type: revolute, parent: mount, origin: {}}\n"
    tree = build_tree(described(text), Graph())
    for name in FUNCTIONS:
        program = derive(tree, NEWTON_EULER, name)
        assert not [line.name for line in program.statements if "2" in line.name.split("_")]
    jacobian = derive(tree, NEWTON_EULER, "center_of_mass_jacobian").outputs[0]
    assert all(entry.is_zero for entry in jacobian.entries[1::2])
