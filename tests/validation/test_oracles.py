"""The numeric model against Pinocchio, against matrices written by hand, and against itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from symgen.description import RobotDescription
from symgen.validation.checks import relative_error
from symgen.validation.limits import STEP
from symgen.validation.oracles import NumericRobot
from tests.choosing import one_in
from tests.oracles.descriptions import described
from tests.oracles.hand_written import HAND_WRITTEN
from tests.oracles.pinocchio_model import pinocchio_model
from tests.oracles.random_models import EVERYTHING, Recipe, model_texts, seeded_model_text

LIMIT = 1e-11


def error(value, reference):
    """The relative error of a single sample."""
    return relative_error(np.asarray(value)[np.newaxis], np.asarray(reference)[np.newaxis])


def random_state(robot, seed):
    rng = np.random.default_rng(seed)
    q = rng.uniform(-np.pi, np.pi, robot.n)
    qd, qdd = rng.uniform(-2, 2, (2, robot.n))
    return q, qd, qdd, rng.uniform(-10, 10, (robot.n_loads, 6))


def assert_equals_pinocchio(description: RobotDescription, seed: int) -> None:
    robot, pin = NumericRobot(description), pinocchio_model(description)
    q, qd, qdd, loads = random_state(robot, seed)
    pairs = {
        "forward_kinematics": (robot.frames(q), pin.forward_kinematics(q)),
        "jacobians": (robot.jacobians(q), pin.jacobians(q)),
        "mass_matrix": (robot.mass_matrix(q), pin.mass_matrix(q)),
        "gravity_forces": (robot.gravity_forces(q), pin.gravity_forces(q)),
        "kinetic_energy": (robot.kinetic_energy(q, qd), pin.kinetic_energy(q, qd)),
        "potential_energy": (robot.potential_energy(q), pin.potential_energy(q)),
        "coriolis": (robot.coriolis_matrix(q, qd) @ qd, pin.coriolis_matrix(q, qd) @ qd),
        "inverse_dynamics": (
            robot.inverse_dynamics(q, qd, qdd, loads=loads),
            pin.inverse_dynamics(q, qd, qdd, loads=loads),
        ),
        "virtual_power": (
            robot.virtual_power(q, qd, qdd, loads=loads),
            pin.inverse_dynamics(q, qd, qdd, loads=loads),
        ),
    }
    slopes = robot.inverse_dynamics_derivatives(q, qd, qdd, loads=loads)
    expected = pin.inverse_dynamics_derivatives(q, qd, qdd, loads=loads)
    for name, value, reference in zip(("tau", "dq", "dqd", "dqdd"), slopes, expected, strict=True):
        pairs[f"derivative {name}"] = value, reference
    errors = {name: error(*pair) for name, pair in pairs.items()}
    assert all(e <= LIMIT for e in errors.values()), errors


@pytest.mark.parametrize("seed", one_in(3, range(60)))
def test_random_trees_equal_pinocchio(seed):
    assert_equals_pinocchio(described(seeded_model_text(seed)), seed)


@pytest.mark.parametrize("seed", one_in(3, range(60)))
def test_composite_joints_and_joint_terms_equal_pinocchio(seed):
    assert_equals_pinocchio(described(seeded_model_text(seed, EVERYTHING)), seed)


@pytest.mark.deep
@settings(max_examples=30, suppress_health_check=list(HealthCheck))
@given(model_texts(EVERYTHING))
def test_drawn_trees_of_everything_equal_pinocchio(text):
    assert_equals_pinocchio(described(text), 1)


@pytest.mark.slow
@settings(max_examples=30, suppress_health_check=list(HealthCheck))
@given(model_texts(Recipe(joints=(1, 8))))
def test_drawn_trees_equal_pinocchio(text):
    assert_equals_pinocchio(described(text), 1)


def test_only_fixed_joints():
    robot = NumericRobot(described(seeded_model_text(2, Recipe(types=("fixed",)))))
    q = np.zeros(0)
    assert robot.n == 0
    assert robot.mass_matrix(q).shape == (0, 0)
    assert robot.inverse_dynamics(q, q, q).shape == (0,)
    assert robot.jacobians(q).shape == (robot.n_links, 6, 0)
    assert robot.frames(q).shape == (robot.n_links, 4, 4)
    assert robot.kinetic_energy(q, q) == 0.0


@pytest.mark.parametrize("style", HAND_WRITTEN)
def test_frames_by_hand(style):
    hand = HAND_WRITTEN[style]
    robot = NumericRobot(described(hand.text))
    for q in np.random.default_rng(3).uniform(-3, 3, (20, hand.n)):
        assert error(robot.frames(q), hand.forward_kinematics(q)) < 1e-14
        assert error(robot.mass_matrix(q), hand.mass_matrix(q)) < 1e-14
        assert error(robot.gravity_forces(q), hand.gravity_forces(q)) < 1e-14
        assert error(robot.potential_energy(q), hand.potential_energy(q)) < 1e-14


@pytest.fixture(scope="module")
def tree():
    return NumericRobot(described(seeded_model_text(11, Recipe(joints=(9, 9), loads=(2, 2)))))


def test_batches_equal_single_samples(tree):
    states = [random_state(tree, seed) for seed in range(4)]
    q, qd, qdd, loads = (np.stack(x) for x in zip(*states, strict=True))
    single = [tree.inverse_dynamics(*s[:3], loads=s[3]) for s in states]
    assert np.allclose(tree.inverse_dynamics(q, qd, qdd, loads=loads), single, rtol=1e-13)
    crossed = tree.inverse_dynamics(q[:, None], qd[None], qdd[0], loads=loads[:, None])
    assert crossed.shape == (4, 4, tree.n)
    expected = tree.inverse_dynamics(q[2], qd[3], qdd[0], loads=loads[2])
    assert np.allclose(crossed[2, 3], expected, rtol=1e-13)


def test_virtual_power_takes_complex_numbers(tree):
    q, qd, qdd, loads = random_state(tree, 5)
    slopes = tree.inverse_dynamics_derivatives(q, qd, qdd, loads=loads)[1:]
    for k, slope in enumerate(slopes):
        for j in range(tree.n):
            moved = [q, qd, qdd]
            moved[k] = moved[k] + 1j * STEP * np.eye(tree.n)[j]
            column = tree.inverse_dynamics(*moved, loads=loads).imag / STEP
            assert error(slope[:, j], column) < 1e-13


def test_finite_differences_see_the_same_slope(tree):
    q, qd, qdd, loads = random_state(tree, 6)
    slope = tree.inverse_dynamics_derivatives(q, qd, qdd, loads=loads)[1]
    h = 1e-5
    for j, e in enumerate(h * np.eye(tree.n)):
        ahead, behind = (tree.inverse_dynamics(q + s * e, qd, qdd, loads=loads) for s in (1, -1))
        assert np.allclose(slope[:, j], (ahead - behind) / (2 * h), atol=1e-5, rtol=1e-6)


def test_parameters_can_be_replaced():
    text = """
symgen: 1
name: pendulum
gravity: [0, -9.81, 0]
parameters: {L: 0.5, m: 2.0, half: L/2}
joints:
  - {name: pivot, type: revolute, origin: {}, link: {name: rod, mass: m, com: [half, 0, 0]}}
"""
    description = described(text)
    flat = np.zeros(1)
    longer = NumericRobot(description, {"L": 1.0})
    assert NumericRobot(description).gravity_forces(flat)[0] == pytest.approx(2 * 9.81 * 0.25)
    assert longer.gravity_forces(flat)[0] == pytest.approx(2 * 9.81 * 0.5)


def test_large_tree_is_quick():
    recipe = Recipe(joints=(43, 43), types=("revolute", "prismatic"))
    assert_equals_pinocchio(described(seeded_model_text(43, recipe)), 43)
