"""Joint wrenches, points, momentum and regressor of the numeric model: Pinocchio, and by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from symgen.validation.checks import relative_error
from symgen.validation.limits import STEP
from symgen.validation.oracles import NumericRobot
from tests.choosing import one_in
from tests.oracles.descriptions import described
from tests.oracles.pinocchio_model import pinocchio_model
from tests.oracles.random_models import EVERYTHING, Recipe, model_texts, seeded_model_text

LIMIT = 1e-11
STATE = ("q", "qd", "qdd")
ARGUMENTS = {
    "joint_wrenches": STATE,
    "joint_wrench_derivatives": STATE,
    "point_motion": STATE,
    "point_motion_derivatives": STATE,
    "center_of_mass": ("q",),
    "center_of_mass_jacobian": ("q",),
    "centroidal_momentum": ("q", "qd"),
    "regressor": STATE,
}
POINTS = Recipe(points=(2, 4))
COMPOSITE = replace(EVERYTHING, points=(2, 3))


def random_state(robot, seed, *batch):
    rng = np.random.default_rng(seed)
    q = rng.uniform(-np.pi, np.pi, (*batch, robot.n))
    qd, qdd = rng.uniform(-2, 2, (2, *batch, robot.n))
    return {"q": q, "qd": qd, "qdd": qdd, "loads": rng.uniform(-10, 10, (*batch, robot.n_loads, 6))}


def results(robot, name, state):
    options = {"loads": state["loads"]} if name.startswith("joint_wrench") else {}
    result = getattr(robot, name)(*(state[key] for key in ARGUMENTS[name]), **options)
    return result if isinstance(result, tuple) else (result,)


def errors(robot, oracle, state):
    """Relative error of every result of every function."""
    return {
        (name, k): relative_error(value[np.newaxis], expected[np.newaxis])
        for name in ARGUMENTS
        for k, (value, expected) in enumerate(
            zip(results(robot, name, state), results(oracle, name, state), strict=True)
        )
    }


def assert_equals_pinocchio(text, seed):
    description = described(text)
    robot, oracle = NumericRobot(description), pinocchio_model(description)
    found = errors(robot, oracle, random_state(robot, seed))
    assert all(error <= LIMIT for error in found.values()), found


@pytest.mark.parametrize("seed", one_in(4, range(60)))
def test_random_trees_equal_pinocchio(seed):
    assert_equals_pinocchio(seeded_model_text(seed, POINTS), seed)


@pytest.mark.parametrize("seed", one_in(3, range(60)))
def test_trees_of_all_joints_equal_pinocchio(seed):
    assert_equals_pinocchio(seeded_model_text(seed, COMPOSITE), seed)


@pytest.mark.slow
@settings(max_examples=30, suppress_health_check=list(HealthCheck))
@given(model_texts(Recipe(joints=(1, 8), points=(0, 3))))
def test_drawn_trees_equal_pinocchio(text):
    assert_equals_pinocchio(text, 1)


# ------------------------------------------------------------------------------------- by hand

PENDULUM = """
symgen: 1
name: pendulum
gravity: [0, -9.81, 0]
joints:
  - name: pivot
    type: revolute
    origin: {xyz: [1, 2, 3]}
    link: {name: rod, mass: 2, com: [0.5, 0, 0], inertia: {zz: 0.1}}
points:
  - {name: end, link: rod, point: [0.8, 0, 0]}
"""


def test_a_pendulum_by_hand():
    robot = NumericRobot(described(PENDULUM))
    (q,), (qd,), (qdd,) = states = np.array([[0.7], [1.3], [-0.4]])
    c, s, m, l, g = np.cos(q), np.sin(q), 2.0, 0.5, 9.81
    along, across = -l * qd**2 + g * s, l * qdd + g * c
    wrench = [m * along, m * across, 0, 0, 0, m * l * across + 0.1 * qdd]
    assert np.allclose(robot.joint_wrenches(*states), [wrench], rtol=1e-15)
    x, v, a = robot.point_motion(*states)
    assert np.allclose(x, [[1 + 0.8 * c, 2 + 0.8 * s, 3]], rtol=1e-15)
    assert np.allclose(v, [[-0.8 * s * qd, 0.8 * c * qd, 0]], rtol=1e-15)
    turning = [-s * qdd - c * qd**2, c * qdd - s * qd**2, 0]
    assert np.allclose(a, [0.8 * np.array(turning)], rtol=1e-15)
    assert np.allclose(robot.center_of_mass(states[0]), [1 + l * c, 2 + l * s, 3], rtol=1e-15)
    momentum = [-m * l * s * qd, m * l * c * qd, 0, 0, 0, 0.1 * qd]
    assert np.allclose(robot.centroidal_momentum(*states[:2]), momentum, rtol=1e-15)
    about_pivot = 0.1 + m * l**2
    mass, mcx, izz = robot.regressor(*states)[0, [0, 1, 9]]
    assert (mass, mcx, izz) == pytest.approx((0, g * c, qdd), rel=1e-14)
    expected = [m, m * l, 0, 0, 0, 0, m * l**2, 0, 0, about_pivot]
    assert np.allclose(robot.inertial_parameters, expected, rtol=1e-15)


SLIDER = """
symgen: 1
name: slider
gravity: [0, 0, -10]
joints:
  - name: lift
    type: prismatic
{frame}
    link: {{name: fork, mass: 2}}
loads:
  - {{name: push, link: fork, point: [0, 0, 0]}}
"""
FORK = {
    "standard": """
    convention: standard
    before: {xyz: [0, 0, 5]}
    dh: {a: 0.3, alpha: pi/2}
""",
    "modified": """
    convention: modified
    before: {xyz: [0, 0, 5]}
    dh: {a: 0.3}
""",
    "origin": """
    origin: {xyz: [0.3, 0, 5]}
""",
}


@pytest.mark.parametrize("style", FORK)
def test_the_point_of_moments_by_hand(style):
    """Weight 20 down, push 7 along x: P of a standard row stays behind when the fork goes up."""
    robot = NumericRobot(described(SLIDER.format(frame=FORK[style].strip("\n"))))
    lift = 1.5
    push = np.array([[7.0, 0, 0, 0, 0, 0]])
    wrench = robot.joint_wrenches([lift], [0.0], [0.0], loads=push)[0]
    force, moment = np.array([-7.0, 0, 20]), np.zeros(3)
    if style == "standard":
        moment = np.cross([0.3, 0, lift], force)
        axes = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])  # columns: x, y, z of the fork
        force, moment = axes.T @ force, axes.T @ moment
    assert np.allclose(wrench, [*force, *moment], rtol=0, atol=1e-14)


MERGED = """
symgen: 1
name: merged
joints:
  - {name: mount, type: fixed, origin: {xyz: [9, 9, 9]}, link: {name: plate, mass: 50}}
  - {name: turn, type: revolute, origin: {}, link: {name: arm, mass: 2, com: [0.1, 0, 0]}}
  - name: grip
    type: fixed
    origin: {xyz: [0.5, 0, 0], rpy: [0, 0, pi/2]}
    link: {name: hand, mass: 3, com: [0, 0, 0.2], inertia: {xx: 0.4, yy: 0.6, zz: 0.7}}
points:
  - {name: seat, link: base, point: [1, 2, 3]}
  - {name: bolt, link: plate, point: [1, 0, 0]}
  - {name: tip, link: hand, point: [0, 1, 0]}
"""


def test_fixed_links_by_hand():
    """A plate on the base does not count; the hand belongs to the arm, turned by 90 degrees."""
    robot = NumericRobot(described(MERGED))
    q, qd, qdd = np.zeros((3, 1))
    qd = qd + 2.0
    x, v, a = robot.point_motion(q, qd, qdd)
    assert np.allclose(x, [[1, 2, 3], [10, 9, 9], [9 - 0.5, 9, 9]], atol=1e-15)
    assert np.allclose(v, [[0, 0, 0], [0, 0, 0], [0, -1, 0]], atol=1e-15)
    assert np.allclose(a, [[0, 0, 0], [0, 0, 0], [2, 0, 0]], atol=1e-15)
    centre = np.array([9, 9, 9]) + np.array([2 * 0.1 + 3 * 0.5, 0, 3 * 0.2]) / 5
    assert np.allclose(robot.center_of_mass(q), centre, atol=1e-14)
    # the hand's x axis is the arm's y axis: Ixx = 0.6 + 3 * 0.2^2, Iyy = 0.4 + 3 * 0.29
    hand = [3, 1.5, 0, 0.6, 0.72, 0, 0.4 + 3 * 0.29, -3 * 0.1, 0, 0.7 + 3 * 0.25]
    arm = [2, 0.2, 0, 0, 0, 0, 0.02, 0, 0, 0.02]
    assert np.allclose(robot.inertial_parameters, np.add(hand, arm), atol=1e-15)
    wrench = robot.joint_wrenches(q, qd, qdd)[0]
    assert np.allclose(wrench[:3], [-4 * (2 * 0.1 + 3 * 0.5), 0, 5 * 9.81], atol=1e-14)


def test_without_mass_the_centre_of_mass_is_zero():
    text = "symgen: 1\nname: ghost\njoints:\n  - {name: a, type: revolute, origin: {}}\n"
    robot = NumericRobot(described(text))
    q = np.ones((3, 1))
    assert (robot.center_of_mass(q) == np.zeros((3, 3))).all()
    assert (robot.center_of_mass_jacobian(q) == np.zeros((3, 3, 1))).all()
    assert (robot.centroidal_momentum(q, q) == np.zeros((3, 6))).all()
    assert (robot.joint_wrenches(q, q, q) == np.zeros((3, 1, 6))).all()


# -------------------------------------------------------------------------------------- shapes


@pytest.fixture(scope="module", params=["tree", "all joints"])
def tree(request):
    recipe = Recipe(joints=(7, 7), loads=(2, 2), points=(3, 3))
    if request.param == "all joints":
        recipe = replace(COMPOSITE, joints=(3, 3), terms=False, loads=(2, 2))
    return NumericRobot(described(seeded_model_text(11, recipe)))


def shapes(robot):
    n, m = robot.n, robot.n_points
    slope = (n, 6, n)
    return {
        "joint_wrenches": [(n, 6)],
        "joint_wrench_derivatives": [(n, 6), slope, slope, slope],
        "point_motion": [(m, 3)] * 3,
        "point_motion_derivatives": [(m, 3, n)] * 6,
        "center_of_mass": [(3,)],
        "center_of_mass_jacobian": [(3, n)],
        "centroidal_momentum": [(6,)],
        "regressor": [(n, 10 * n)],
    }


EMPTY = """
symgen: 1
name: empty
joints: []
loads: [{name: push, link: base, point: [0, 0, 0]}]
points: [{name: here, link: base, point: [1, 2, 3]}]
"""
MODELS = {
    "tree": seeded_model_text(3, Recipe(joints=(4, 4), loads=(1, 1), points=(2, 2))),
    "bare": seeded_model_text(3, Recipe(joints=(4, 4), loads=(0, 0), points=(0, 0))),
    "still": seeded_model_text(3, Recipe(joints=(3, 3), types=("fixed",), points=(2, 2))),
    "all joints": seeded_model_text(3, COMPOSITE),
    "empty": EMPTY,
}


@pytest.mark.parametrize("batch", [(), (0,), (4, 2)])
@pytest.mark.parametrize("model", MODELS)
def test_shapes(model, batch):
    robot = NumericRobot(described(MODELS[model]))
    state = random_state(robot, 1, *batch)
    for name, expected in shapes(robot).items():
        found = [result.shape for result in results(robot, name, state)]
        assert found == [(*batch, *shape) for shape in expected], name
    assert robot.inertial_parameters.shape == (10 * robot.n,)


def test_batches_equal_single_samples(tree):
    states = [random_state(tree, seed) for seed in range(3)]
    batch = {key: np.stack([state[key] for state in states]) for key in states[0]}
    crossed = {key: batch[key][:, None] if key == "q" else batch[key] for key in batch}
    for name in ARGUMENTS:
        whole, product = results(tree, name, batch), results(tree, name, crossed)
        for i, state in enumerate(states):
            for k, single in enumerate(results(tree, name, state)):
                assert np.allclose(whole[k][i], single, rtol=1e-12, atol=1e-12)
                if ARGUMENTS[name] != ("q",):
                    assert np.allclose(product[k][i, i], single, rtol=1e-12, atol=1e-12)


def test_broadcast_loads(tree):
    state, loads = random_state(tree, 1), random_state(tree, 2, 3)["loads"]
    many = tree.joint_wrenches(*(state[key] for key in STATE), loads=loads)
    for wrench, row in zip(many, loads, strict=True):
        single = tree.joint_wrenches(*(state[key] for key in STATE), loads=row)
        assert np.allclose(wrench, single, rtol=1e-13, atol=1e-12)


# ---------------------------------------------------------------------------------- identities


def complex_slope(robot, name, state, key, k=0):
    """d result k / d state[key] by complex steps, one at a time."""
    columns = []
    for e in np.eye(robot.n):
        moved = {**state, key: state[key] + 1j * STEP * e}
        columns.append(results(robot, name, moved)[k].imag / STEP)
    return np.stack(columns, axis=-1)


SLOPES = [
    ("joint_wrench_derivatives", 1, "joint_wrenches", 0, "q"),
    ("joint_wrench_derivatives", 2, "joint_wrenches", 0, "qd"),
    ("joint_wrench_derivatives", 3, "joint_wrenches", 0, "qdd"),
    ("point_motion_derivatives", 0, "point_motion", 0, "q"),
    ("point_motion_derivatives", 1, "point_motion", 1, "q"),
    ("point_motion_derivatives", 2, "point_motion", 1, "qd"),
    ("point_motion_derivatives", 3, "point_motion", 2, "q"),
    ("point_motion_derivatives", 4, "point_motion", 2, "qd"),
    ("point_motion_derivatives", 5, "point_motion", 2, "qdd"),
    ("center_of_mass_jacobian", 0, "center_of_mass", 0, "q"),
]


@pytest.mark.parametrize(("name", "k", "function", "result", "key"), SLOPES)
def test_derivatives_are_complex_steps(tree, name, k, function, result, key):
    state = random_state(tree, 4)
    value = results(tree, name, state)[k]
    expected = complex_slope(tree, function, state, key, result)
    assert relative_error(value[None], expected[None]) < 1e-14


@pytest.mark.parametrize("seed", range(20))
def test_the_regressor_gives_the_torques(seed):
    recipe = replace(COMPOSITE if seed % 2 else POINTS, terms=False)
    robot = NumericRobot(described(seeded_model_text(seed, recipe)))
    state = random_state(robot, seed)
    q, qd, qdd = (state[key] for key in STATE)
    torques = robot.regressor(q, qd, qdd) @ robot.inertial_parameters
    expected = robot.virtual_power(q, qd, qdd)
    assert relative_error(torques[None], expected[None]) < 1e-13


def test_the_regressor_takes_complex_numbers(tree):
    state = random_state(tree, 5)
    slope = complex_slope(tree, "regressor", state, "q")
    torques = np.einsum("ikj,k->ij", slope, tree.inertial_parameters)
    expected = tree.inverse_dynamics_derivatives(*(state[key] for key in STATE))[1]
    assert relative_error(torques[None], expected[None]) < 1e-13


@pytest.mark.parametrize("seed", range(10))
def test_momentum_is_that_of_the_centre_of_mass(seed):
    robot = NumericRobot(described(seeded_model_text(seed)))
    state = random_state(robot, seed)
    mass = robot.inertial_parameters[::10].sum()
    linear = mass * robot.center_of_mass_jacobian(state["q"]) @ state["qd"]
    momentum = robot.centroidal_momentum(state["q"], state["qd"])[:3]
    assert relative_error(momentum[None], linear[None]) < 1e-13


def test_the_path_sum_is_that_of_the_busiest_branch():
    text = """
symgen: 1
name: fork
joints:
  - {name: a, type: revolute, origin: {}}
  - {name: b, type: revolute, origin: {}}
  - {name: c, type: revolute, parent: a, origin: {}}
  - {name: d, type: fixed, parent: base, origin: {}}
"""
    robot = NumericRobot(described(text))
    rates = np.array([[1.0, -2.0, 3.0], [-1.0, 2.0, 0.5]])
    assert (robot.path_sum(rates) == [4.0, 3.0]).all()
    assert NumericRobot(described(EMPTY)).path_sum(np.zeros((2, 0))).tolist() == [0.0, 0.0]
