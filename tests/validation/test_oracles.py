"""The numeric model against Pinocchio, against differences, and in special cases."""

from dataclasses import replace

import numpy as np
import pytest

from symgen.description.expressions import EvaluationError, parse
from symgen.runtime.calls import ARGUMENTS
from symgen.runtime.limits import STEP
from symgen.runtime.subjects import call
from symgen.validation.conditioning import path_sum
from symgen.validation.oracle_expressions import parameter_values, reader
from symgen.validation.oracles import NumericRobot, _implicit, _solvable
from tests.choosing import one_in
from tests.modules import described
from tests.oracles.comparison import LIMIT, SINGULAR, agrees, condition, solving_limit, state_of
from tests.oracles.parameter_kinds import EVERY_KIND
from tests.oracles.pinocchio_model import PinocchioRobot
from tests.oracles.random_models import EVERYTHING, Recipe, seeded_model_text

RECIPES = {
    "plain": Recipe(points=(2, 4)),
    "everything": replace(EVERYTHING, points=(2, 3)),
    "manifolds": Recipe(
        joints=(1, 5), types=("ball", "free", "revolute", "prismatic", "fixed", "universal"),
        loads=(0, 2), points=(0, 2), terms=True,
    ),
}  # fmt: skip
OF_PINOCCHIO = (
    "forward_kinematics", "jacobians", "link_motion", "point_motion", "point_motion_derivatives",
    "joint_wrenches", "mass_matrix", "gravity_forces", "kinetic_energy", "potential_energy",
    "inverse_dynamics", "inverse_dynamics_derivatives", "center_of_mass", "center_of_mass_jacobian",
    "centroidal_momentum", "centroidal_momentum_matrix", "centroidal_momentum_rate",
)  # fmt: skip
SOLVED = ("forward_dynamics", "forward_dynamics_derivatives")


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("seed", one_in(3, range(60)))
def test_random_trees_equal_pinocchio(recipe, seed):
    description = described(seeded_model_text(seed, RECIPES[recipe]))
    robot, oracle = NumericRobot(description), PinocchioRobot(description)
    state = state_of(description, seed)
    mass = robot.mass_matrix(state["q"])
    limits = dict.fromkeys(OF_PINOCCHIO, LIMIT)
    if robot.n and condition(mass) < SINGULAR:
        limits |= dict.fromkeys(SOLVED, solving_limit(mass))
    for name, limit in limits.items():
        pairs = zip(call(robot, name, state), call(oracle, name, state), strict=True)
        for place, (value, expected) in enumerate(pairs):
            assert agrees(value, expected, limit), (name, place)
    motion = state["q"], state["qd"], state["qdd"]
    loads = {"loads": state["loads"]}
    torques = oracle.inverse_dynamics(*motion, **loads)
    assert agrees(robot.lagrange_torques(*motion, **loads), torques)
    coriolis = (x.coriolis_matrix(*motion[:2]) @ motion[1] for x in (robot, oracle))
    assert agrees(*coriolis)


EMPTY = """
symgen: 1
name: empty
joints: []
loads: [{name: push, link: base, point: [0, 0, 0]}]
points: [{name: here, link: base, point: [1, 2, 3]}]
"""
MODELS = {
    "tree": seeded_model_text(11, Recipe(joints=(7, 7), loads=(2, 2), points=(3, 3))),
    "all joints": seeded_model_text(3, replace(EVERYTHING, joints=(3, 3), points=(2, 2))),
    "bare": seeded_model_text(3, Recipe(joints=(4, 4), loads=(0, 0), points=(0, 0))),
    "still": seeded_model_text(3, Recipe(joints=(3, 3), types=("fixed",), points=(2, 2))),
    "empty": EMPTY,
}
BATCHED = (*OF_PINOCCHIO, "regressor", "joint_wrench_derivatives", "coriolis_matrix", *SOLVED)


@pytest.mark.parametrize("model", MODELS)
def test_batches_are_their_samples(model):
    description = described(MODELS[model])
    robot, states = NumericRobot(description), [state_of(description, k) for k in range(3)]
    batch = {key: np.stack([state[key] for state in states]) for key in states[0]}
    crossed = {key: x[:, None] if key in ("q", "loads") else x for key, x in batch.items()}
    none = {key: x[:0] for key, x in batch.items()}
    for name in BATCHED:
        whole, product, empty = (call(robot, name, x) for x in (batch, crossed, none))
        mixed = any(key != "q" for key in ARGUMENTS[name])
        for i, state in enumerate(states):
            for k, single in enumerate(call(robot, name, state)):
                assert agrees(whole[k][i], single, 1e-12)
                assert not mixed or agrees(product[k][i, i], single, 1e-12)
                assert empty[k].shape == (0, *single.shape)


@pytest.mark.parametrize(("text", "value", "slope"), [
    ("3*x - 2/x", 5.0, 3.5),
    ("-x + x**3", 6.0, 11.0),
    ("2**x", 4.0, 4 * np.log(2.0)),
    ("(1 - x)**2", 1.0, 2.0),
    ("(x - 2)**2", 0.0, 0.0),
    ("sqrt(x)", np.sqrt(2.0), 0.5 / np.sqrt(2.0)),
    ("sin(x) * cos(x)", np.sin(4.0) / 2, np.cos(4.0)),
    ("tan(x)", np.tan(2.0), 1 / np.cos(2.0) ** 2),
    ("asin(x/4)", np.pi / 6, 0.25 / np.sqrt(0.75)),
    ("acos(x/4)", np.pi / 3, -0.25 / np.sqrt(0.75)),
    ("atan(x)", np.arctan(2.0), 0.2),
    ("atan2(x, -3)", np.arctan2(2.0, -3.0), -3 / 13),
    ("atan2(-3, x)", np.arctan2(-3.0, 2.0), 3 / 13),
    ("exp(x)", np.exp(2.0), np.exp(2.0)),
    ("log(x)", np.log(2.0), 0.5),
    ("abs(1 - x)", 1.0, 1.0),
    ("abs(x - 2)", 0.0, 0.0),
    ("tanh(x)", np.tanh(2.0), 1 - np.tanh(2.0) ** 2),
    ("max(3*x, y)", 6.0, 3.0),
    ("min(y, 3*x)", 5.0, 0.0),
    ("max(x, 2)", 2.0, 0.5),
    ("min(3*x, 8 - x)", 6.0, 1.0),
    ("pi + y", np.pi + 5.0, 0.0),
])  # fmt: skip
def test_slopes_of_expressions(text, value, slope):
    number = reader({"x": 2.0 + 1j * STEP, "y": 5.0})(parse(text))
    assert number.real == pytest.approx(value, rel=1e-15)
    assert number.imag / STEP == pytest.approx(slope, rel=1e-14)


def test_a_slope_that_does_not_exist_is_no_number():
    number = reader({"x": 2.0 + 1j * STEP})
    assert np.isnan(number(parse("sqrt(x - 2)")).imag)
    assert np.isnan(number(parse("acos(x - 1)")).imag)
    with pytest.raises(EvaluationError):
        number(parse("sqrt(1 - x)"))


def test_derived_parameters_follow_complex_ones():
    values = parameter_values(described(EVERY_KIND), {"a1": 2.0 + 1j * STEP})
    assert values["half"] == 1.0 + 0.5j * STEP
    assert values["md"] == 0.5 + 1.7 * values["half"]
    assert values["d1"] == 0.2


def test_where_the_mass_matrix_is_singular_there_is_no_number():
    """A pendulum in two planes: upright, its first axis moves no mass."""
    text = """
symgen: 1
name: spherical_pendulum
joints:
  - {name: a, type: universal, origin: {}, axes: [z, y], link: {mass: 2, com: [0, 0, 0.5]}}
"""
    robot = NumericRobot(described(text))
    q = np.array([[0.3, 0.4], [0.3, 0.0], [-1.0, 1.0]])
    zero = np.zeros_like(q)
    qdd = robot.forward_dynamics(q, zero, zero)
    assert np.isnan(qdd).all(axis=1).tolist() == [False, True, False]
    assert np.allclose(qdd[[0, 2], 1], 9.81 * np.sin(q[[0, 2], 1]) / 0.5)
    assert np.isnan(robot.forward_dynamics_derivatives(q, zero, zero)[3][1]).all()


def test_a_pivot_that_only_numpy_finds_to_be_zero():
    """Two point masses on three axes: singular, but for rounding in one order of elimination."""
    lever = np.array([[0.4, 0.7, 0.4], [-0.3, 0.2, 0.1]])
    mass = np.stack([np.eye(3), lever.T @ lever])
    assert _solvable(mass, 3).all()
    change = _implicit(mass, np.zeros(3, dtype=bool), np.ones((2, 3, 1)))
    assert (change[0] == -1.0).all()
    assert np.isnan(change[1]).all() or np.abs(change[1]).max() > 1e12


def test_without_mass_the_centre_of_mass_is_zero():
    text = "symgen: 1\nname: ghost\njoints:\n  - {name: a, type: revolute, origin: {}}\n"
    robot = NumericRobot(described(text))
    q = np.ones((3, 1))
    assert (robot.center_of_mass(q) == np.zeros((3, 3))).all()
    assert (robot.center_of_mass_jacobian(q) == np.zeros((3, 3, 1))).all()
    assert (robot.centroidal_momentum(q, q) == np.zeros((3, 6))).all()
    assert (robot.joint_wrenches(q, q, q) == np.zeros((3, 1, 6))).all()


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
    assert (path_sum(robot, rates) == [4.0, 3.0]).all()
    assert path_sum(NumericRobot(described(EMPTY)), np.zeros((2, 0))).tolist() == [0.0, 0.0]
