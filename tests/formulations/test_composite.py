"""Composite rigid bodies: rows whose point stays behind, zeros, digits far away."""

import numpy as np
import pytest

from symgen.algebra.graph import Graph
from symgen.deriving.derivation import derived_program
from symgen.formulations import NEWTON_EULER
from symgen.formulations.composite import COMPOSITE
from symgen.formulations.composite.motion import place_sweep
from symgen.kinematics.tree import build_tree
from symgen.program.builder import ProgramBuilder
from symgen.program.interpreter import call
from symgen.validation.oracles import NumericRobot
from tests.contract.cells import described as contract_robot
from tests.modules import described
from tests.oracles.comparison import agrees, evaluated, motion_of

SLIDING_ROWS = """
symgen: 1
name: sliding_rows
gravity: [1, -2, -9]
joints:
  - {name: a, type: prismatic, convention: standard, dh: {theta: 0.3, a: 0.2, alpha: 0.4},
     link: {mass: 2, com: [0.1, 0.2, 0.3], inertia: {xx: 1, yy: 2, zz: 1.5, xy: 0.1}}}
  - {name: b, type: revolute, convention: standard, dh: {d: 0.3, a: 0.2, alpha: -1.1},
     link: {mass: 1, com: [0.1, 0, 0.3], inertia: {xx: 1, yy: 2, zz: 1.5, xz: 0.1}}}
  - {name: c, type: fixed, origin: {xyz: [0.1, 0.2, 0.3], rpy: [0.1, 0.2, 0.3]},
     link: {mass: 1, com: [0.1, 0, 0.3]}}
  - {name: d, type: prismatic, convention: standard, dh: {theta: 0.7, alpha: 0.9},
     link: {mass: 1, com: [0, 0.2, 0.3]}}
  - {name: e, type: prismatic, convention: modified, dh: {theta: 0.2, a: 0.1, alpha: 0.5},
     link: {mass: 1, com: [0, 0.2, 0.3]}}
  - {name: f, type: revolute, parent: b, convention: modified, dh: {d: 0.1, a: 0.3, alpha: 0.5},
     link: {mass: 1, com: [0.3, 0.2, 0.3]}}
loads:
  - {name: inner, link: b, point: [0.1, 0.2, 0.3]}
  - {name: fixed, link: c, point: [0.1, 0.2, 0.3]}
  - {name: outer, link: e, point: [0.1, -0.2, 0.3]}
"""


def test_wrenches_of_rows_whose_point_stays_behind():
    """The wrench stays there, and what is carried moves away."""
    description = described(SLIDING_ROWS)
    state = motion_of(description, 1)
    found = call(evaluated(description, COMPOSITE, "joint_wrench_derivatives"), state)
    loads = state.pop("loads")
    robot = NumericRobot(description)
    expected = robot.joint_wrench_derivatives(**state, loads=loads)
    for value, reference in zip(found, expected, strict=True):
        assert agrees(value, reference)


def test_the_coriolis_matrix_is_0_where_a_joint_carries_no_other():
    description = described(SLIDING_ROWS)
    tree = build_tree(description, Graph())
    (matrix,) = evaluated(description, COMPOSITE, "coriolis_matrix").outputs
    leaves = {joint.number for joint in tree.joints} - {joint.parent for joint in tree.joints}
    assert leaves
    assert all(matrix.entries[(i - 1) * (tree.n + 1)].is_zero for i in leaves)


FAR = [
    ("q", COMPOSITE, "mass_matrix", 0), ("q", COMPOSITE, "coriolis_matrix", 0),
    ("q", COMPOSITE, "inverse_dynamics_derivatives", 0),
    ("q", COMPOSITE, "point_motion_derivatives", 0), ("qd", COMPOSITE, "coriolis_matrix", 0),
    ("qd", COMPOSITE, "inverse_dynamics_derivatives", 0),
    ("q", NEWTON_EULER, "centroidal_momentum", 0),
    ("q", NEWTON_EULER, "centroidal_momentum_matrix", 3),
    ("q", NEWTON_EULER, "centroidal_momentum_rate", 0),
]  # fmt: skip
"""The last is the first row that is compared: of the matrix those of the angular momentum."""


@pytest.mark.parametrize(("moved", "formulation", "function", "first"), FAR)
def test_a_base_far_away_or_fast_keeps_its_digits(moved, formulation, function, first):
    """Translations by 1e7 m, or by as much in a second, leave every bit in place."""
    program = derived_program(contract_robot("floating_angles"), formulation, function)
    here = motion_of(contract_robot("floating_angles"), 5)
    away = np.zeros_like(here[moved])
    away[:3] = 1e7, -2e7, 3e7
    there = {**here, moved: here[moved] + away}
    for near, far in zip(call(program, here), call(program, there), strict=True):
        np.testing.assert_array_equal(near[first:], far[first:])


def test_the_reference_point_is_the_first_joint_that_turns():
    description = contract_robot("floating_angles")
    tree = build_tree(description, Graph())
    b = ProgramBuilder(tree.algebra)
    q = tuple(tree.algebra.symbol(f"q_{i}") for i in range(1, tree.n + 1))
    places = place_sweep(tree, b, q)
    sliding = [j for j, at in places.items() if all(x.is_zero for x in at.axis.angular)]
    first = next(j for j in places if j not in sliding)
    assert sliding == [1, 2, 3]
    assert all(x.is_zero for x in places[first].axis.linear)
