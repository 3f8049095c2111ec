"""Centre of mass and the momentum about it in special cases."""

import numpy as np
import pytest

from symgen.algebra.graph import Graph
from symgen.formulations import derive, formulation_named
from symgen.kinematics.tree import build_tree
from symgen.program.interpreter import call
from tests.modules import described
from tests.oracles.comparison import agrees, evaluated

NEWTON_EULER = formulation_named("newton_euler")
FUNCTIONS = (
    "center_of_mass", "center_of_mass_jacobian", "centroidal_momentum",
    "centroidal_momentum_matrix", "centroidal_momentum_rate",
)  # fmt: skip


def result(description, name, state):
    return call(evaluated(description, NEWTON_EULER, name), state)[0]


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


LINKS = {
    "mass 0": "revolute, link: {mass: 0, com: [1, 0, 0], inertia: {zz: 0.5}}",
    "parameter 0": "revolute, link: {mass: m, com: [1, 0, 0], inertia: {zz: 0.5}}",
    "still": "fixed, link: {mass: 3}",
}


@pytest.mark.parametrize("link", LINKS)
def test_nothing_heavy_or_nothing_that_moves_has_its_centre_at_the_base_origin(link):
    """By structure or by value; bodies without mass may turn all the same."""
    head = "symgen: 1\nname: weightless\nparameters: {m: 0}\njoints:\n"
    description = described(f"{head}  - {{name: a, origin: {{}}, type: {LINKS[link]}}}\n")
    n = description.joints[0].coordinates
    state = {"q": np.full(n, 0.3), "qd": np.full(n, 2.0)}
    assert result(description, "center_of_mass", state).tolist() == [0, 0, 0]
    assert result(description, "center_of_mass_jacobian", state).tolist() == [[0.0] * n] * 3
    momentum = result(description, "centroidal_momentum", state)
    assert agrees(momentum, [0, 0, 0, 0, 0, 1.0 * n])


def test_joints_that_carry_nothing_take_no_part():
    """A massless side branch is in no statement, and its column is 0 by structure."""
    text = PART_OF_THE_BASE + "  - {name: idle, type: revolute, parent: mount, origin: {}}\n"
    tree = build_tree(described(text), Graph())
    for name in FUNCTIONS:
        program = derive(tree, NEWTON_EULER, name)
        assert not [line.name for line in program.statements if "2" in line.name.split("_")]
    jacobian = derive(tree, NEWTON_EULER, "center_of_mass_jacobian").outputs[0]
    assert all(entry.is_zero for entry in jacobian.entries[1::2])
