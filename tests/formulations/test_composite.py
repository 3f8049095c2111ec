"""Composite rigid bodies against the other recursions: values, operations, digits far away."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from benchmarks.models import HUMAN43, spatial_tree
from symgen import read
from symgen.algebra.graph import Graph
from symgen.deriving.derivation import derived_program
from symgen.formulations import FORMULATIONS
from symgen.formulations.composite import COMPOSITE
from symgen.formulations.composite.frames import place_sweep
from symgen.formulations.kane import KANE
from symgen.formulations.newton_euler import NEWTON_EULER
from symgen.kinematics.tree import build_tree
from symgen.optimize.operations import operations_after
from symgen.program.builder import ProgramBuilder
from symgen.program.evaluation import call
from tests.choosing import deep, one_in, some_deep
from tests.oracles.comparison import motion_of
from tests.oracles.descriptions import described
from tests.oracles.programs import evaluated
from tests.oracles.random_models import EVERYTHING, Recipe, model_texts, seeded_model_text

EXAMPLES = Path(__file__).parents[2] / "examples"
SWEEPS = (
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "mass_matrix",
    "coriolis_matrix",
    "bias_forces",
    "gravity_forces",
    "joint_wrench_derivatives",
    "regressor",
)
POINTS = ("point_motion", "point_motion_derivatives")
ROBOTS = ("puma560", "arm7", "tree12", "human43")


def close(values, references):
    """Whether arrays agree to 1e-11 of the largest entry of each."""
    for value, reference in zip(values, references, strict=True):
        size = max(1.0, np.abs(reference).max(initial=0.0))
        np.testing.assert_allclose(value, reference, rtol=0.0, atol=1e-11 * size)


def compare(description, function, seed):
    state = motion_of(description, seed)
    close(
        call(evaluated(description, COMPOSITE, function), state),
        call(evaluated(description, NEWTON_EULER, function), state),
    )


def operations(description, formulation, function):
    return operations_after(derived_program(description, formulation, function).results).total


@pytest.fixture
def general(tmp_path):
    """General spatial chains and trees by the parents of their joints, with a point at the end."""

    def model(parents):
        path = tmp_path / "general.yaml"
        tip = f"{{name: tip, link: j{len(parents)}, point: [0.1, 0.2, 0.3]}}"
        path.write_text(f"{spatial_tree(parents, 'general')}points: [{tip}]\n")
        return read(path)

    return model


# -- values ------------------------------------------------------------------------------------


@settings(max_examples=4, suppress_health_check=list(HealthCheck))
@given(model_texts(Recipe(joints=(1, 8), loads=(0, 3), terms=True)))
def test_drawn_trees_equal_newton_euler(text):
    for function in SWEEPS:
        compare(described(text), function, 1)


@pytest.mark.parametrize("seed", one_in(20, range(1, 21)))
def test_every_type_of_joint_equals_newton_euler(seed):
    description = described(seeded_model_text(seed, EVERYTHING))
    for function in SWEEPS:
        compare(description, function, seed)


@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(model_texts(Recipe(joints=(1, 8), points=(0, 3))))
def test_points_of_drawn_trees_equal_newton_euler(text):
    for function in POINTS:
        compare(described(text), function, 2)


@pytest.mark.parametrize("seed", one_in(5, range(20)))
def test_points_behind_every_type_of_joint_equal_newton_euler(seed):
    description = described(seeded_model_text(seed, replace(EVERYTHING, points=(1, 3))))
    for function in POINTS:
        compare(description, function, seed)


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
    for seed in range(3):
        compare(described(SLIDING_ROWS), "joint_wrench_derivatives", seed)


@pytest.mark.parametrize(
    "parents", [range(14), *some_deep([HUMAN43], [], alone=True)], ids=["chain", "human"]
)
def test_forces_written_in_the_base_equal_forces_carried_back(general, parents):
    compare(general(parents), "mass_matrix", 3)


@pytest.mark.parametrize("name", ["two_link", *ROBOTS])
def test_the_coriolis_matrix_is_0_where_a_joint_carries_no_other(name):
    description = read(EXAMPLES / f"{name}.yaml")
    tree = build_tree(description, Graph())
    (matrix,) = evaluated(description, COMPOSITE, "coriolis_matrix").outputs
    leaves = {joint.number for joint in tree.joints} - {joint.parent for joint in tree.joints}
    assert leaves
    assert all(matrix.entries[(i - 1) * (tree.n + 1)].is_zero for i in leaves)


SATELLITE = """
symgen: 1
name: satellite
gravity: [0.0, 0.0, 0.0]
joints:
  - name: body
    type: floating
    origin: {xyz: [0.0, 0.0, 0.0]}
    link: {mass: 90.0, com: [0.1, 0.02, -0.05],
           inertia: {xx: 8.0, yy: 9.0, zz: 7.0, xy: 0.1, xz: -0.2, yz: 0.3}}
  - name: shoulder
    type: revolute
    origin: {xyz: [0.6, 0.1, 0.2], rpy: [0.3, 0.2, 0.1]}
    axis: [0, 0, 1]
    link: {mass: 5.0, com: [0.3, 0.0, 0.02],
           inertia: {xx: 0.1, yy: 0.2, zz: 0.3, xy: 0.01, xz: 0.02, yz: -0.01}}
points:
  - {name: tip, link: shoulder, point: [0.4, 0.0, 0.1]}
"""


@pytest.mark.parametrize(
    "function",
    [
        "mass_matrix",
        "coriolis_matrix",
        "inverse_dynamics_derivatives",
        "point_motion_derivatives",
    ],
)
def test_a_floating_base_far_away_keeps_its_digits(function):
    """Nothing depends on where the base is: translations by 1e7 m leave every bit in place."""
    program = derived_program(described(SATELLITE), COMPOSITE, function)
    here = motion_of(described(SATELLITE), 5)
    there = {**here, "q": here["q"] + np.array([1e7, -2e7, 3e7, 0, 0, 0, 0])}
    for near, far in zip(call(program, here), call(program, there), strict=True):
        np.testing.assert_array_equal(near, far)


@pytest.mark.parametrize("function", ["coriolis_matrix", "inverse_dynamics_derivatives"])
def test_a_base_that_slides_fast_keeps_its_digits(function):
    """Seen from axes that slide along nothing changes, to the last bit."""
    program = derived_program(described(SATELLITE), COMPOSITE, function)
    slow = motion_of(described(SATELLITE), 5)
    fast = {**slow, "qd": slow["qd"] + np.array([1e7, -2e7, 3e7, 0, 0, 0, 0])}
    for one, other in zip(call(program, slow), call(program, fast), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_reference_point_is_the_first_joint_that_turns():
    description = described(SATELLITE)
    tree = build_tree(description, Graph())
    b = ProgramBuilder(tree.algebra)
    q = tuple(tree.algebra.symbol(f"q_{i}") for i in range(1, tree.n + 1))
    places = place_sweep(tree, b, q)
    sliding = [j for j, at in places.items() if all(x.is_zero for x in at.axis.angular)]
    first = next(j for j in places if j not in sliding)
    assert sliding == [1, 2, 3]
    assert all(x.is_zero for x in places[first].axis.linear)


# -- operations --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", some_deep(ROBOTS, ["two_link", "tree12"]))
@pytest.mark.parametrize("function", ["inverse_dynamics", "inverse_dynamics_derivatives", *POINTS])
def test_examples_need_no_more_operations_than_newton_euler(name, function):
    description = read(EXAMPLES / f"{name}.yaml")
    assert operations(description, COMPOSITE, function) <= operations(
        description, NEWTON_EULER, function
    )


@pytest.mark.parametrize(
    ("joints", "function", "share"),
    [
        (7, "inverse_dynamics", 0.70),
        (7, "mass_matrix", 0.27),
        (7, "coriolis_matrix", 0.37),
        (7, "inverse_dynamics_derivatives", 0.55),
        (7, "forward_dynamics_derivatives", 0.60),
        *deep((24, "inverse_dynamics_derivatives", 0.32)),
        *deep((24, "coriolis_matrix", 0.20)),
        (7, "point_motion_derivatives", 0.35),
        *deep((24, "point_motion_derivatives", 0.12)),
    ],
)
def test_general_chains_need_a_share_of_newton_euler(general, joints, function, share):
    chain = general(range(joints))
    ours = operations(chain, COMPOSITE, function)
    assert ours < share * operations(chain, NEWTON_EULER, function)


@pytest.mark.parametrize("name", [*deep(*ROBOTS), "satellite_arm"])
def test_coriolis_matrices_of_examples_need_hardly_more_operations_than_newton_euler(name):
    """Between quarter turns link axes are as good as one basis."""
    description = read(EXAMPLES / f"{name}.yaml")
    ours = operations(description, COMPOSITE, "coriolis_matrix")
    assert ours < 1.02 * operations(description, NEWTON_EULER, "coriolis_matrix")


def test_forward_dynamics_of_arms_needs_less_than_articulated_bodies(general):
    chain = general(range(7))
    assert operations(chain, COMPOSITE, "forward_dynamics") < 0.85 * operations(
        chain, KANE, "forward_dynamics"
    )


@pytest.mark.parametrize("joints", [7, 12])
def test_the_estimate_of_accelerations_is_of_the_right_size(general, joints):
    chain = general(range(joints))
    tree = build_tree(chain, Graph())
    for function in ("forward_dynamics", "forward_dynamics_derivatives"):
        counted = operations(chain, COMPOSITE, function)
        assert counted / 2 < COMPOSITE.estimate(tree, function) < 2 * counted


def test_it_is_preferred():
    assert FORMULATIONS[0] is COMPOSITE
