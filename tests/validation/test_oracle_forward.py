"""Forward and hybrid dynamics of the numeric model, and its derivatives by parameters.

Pinocchio's articulated bodies, finite differences in four-fold steps, and numbers by hand.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from symgen.description.expressions import EvaluationError, parse
from symgen.validation.checks import relative_error
from symgen.validation.limits import STEP
from symgen.validation.oracle_forward import _implicit, _solvable
from symgen.validation.oracle_parameters import parameter_values, reader
from symgen.validation.oracles import NumericRobot
from tests.choosing import one_in
from tests.oracles.descriptions import described
from tests.oracles.pinocchio_forward import acceleration_derivatives, accelerations
from tests.oracles.pinocchio_model import pinocchio_model
from tests.oracles.random_models import EVERYTHING, Recipe, seeded_model_text

FULL = replace(EVERYTHING, joints=(2, 4), points=(1, 2), massless=False)
PARAMETERS = """
symgen: 1
name: every_kind
convention: standard
gravity: [gx, 0, -9.81]
parameters:
  gx: 0.7
  theta: 0.4
  d: 0.3
  a: 0.5
  alpha: 1.1
  yaw: 0.6
  shift: 0.2
  slant: 0.8
  m: 1.5
  total: 3 * m
  c: 0.2
  i: 0.3
  rotor: 0.05
  gear: 4
  damping: 0.6
  stiffness: 7
  rest: 0.25
  friction: 0.5
  slip: 0.4
  px: 0.1
joints:
  - name: turret
    type: revolute
    before: {xyz: [shift, 0, 0.1], rpy: [0.3, 0.2, yaw]}
    dh: {theta: theta, d: d, a: a, alpha: alpha}
    rotor_inertia: rotor
    gear_ratio: gear
    damping: damping
    link: {mass: m, com: [c, 0.1, 0.2], inertia: {xx: 0.3, yy: i, zz: 0.5, xy: 0.1 * i}}
  - name: slide
    type: prismatic
    dh: {theta: theta / 2, a: 0.1, alpha: -alpha}
    convention: modified
    prescribed: true
    stiffness: stiffness
    rest: rest
    link: {mass: total, com: [0.1, c, 0]}
  - name: wrist
    type: revolute
    origin: {xyz: [0, shift, 0], rpy: [yaw, 0, 0]}
    axis: [1, slant, 2]
    friction: friction
    friction_velocity: slip
    link: {mass: 0.8, com: [0.1, 0.2, 0.3], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
  - {name: tool, type: fixed, origin: {rpy: [0, yaw, 0]}, link: {mass: c, com: [0.1, 0, 0]}}
loads: [{name: tip, link: tool, point: [px, 0, 0.2]}]
points: [{name: eye, link: tool, point: [0, px, 0.1]}]
"""


def random_state(robot, seed, *batch):
    rng = np.random.default_rng(seed)
    q = rng.uniform(-np.pi, np.pi, (*batch, robot.n))
    qd, tau = rng.uniform(-2, 2, (*batch, robot.n)), rng.uniform(-9, 9, (*batch, robot.n))
    return q, qd, tau, rng.uniform(-9, 9, (*batch, robot.n_loads, 6))


def error(value, reference):
    return relative_error(np.asarray(value)[np.newaxis], np.asarray(reference)[np.newaxis])


@pytest.mark.parametrize("recipe", [Recipe(massless=False), FULL], ids=["plain", "everything"])
@pytest.mark.parametrize("seed", one_in(2, range(25)))
def test_accelerations_are_those_of_pinocchio(recipe, seed):
    description = described(seeded_model_text(seed, recipe))
    robot, pin = NumericRobot(description), pinocchio_model(description)
    if robot.n == 0:
        return
    q, qd, tau, loads = random_state(robot, seed)
    limit = 1e-10 * max(1.0, np.linalg.cond(robot.mass_matrix(q)) / 1e4)
    qdd, *slopes = robot.forward_dynamics_derivatives(q, qd, tau, loads=loads)
    balance = np.abs(robot.mass_matrix(q)) @ np.abs(qdd)
    back = robot.inverse_dynamics(q, qd, qdd, loads=loads)
    assert relative_error([back], [tau], [balance]) < 1e-11
    assert error(qdd, robot.forward_dynamics(q, qd, tau, loads=loads)) == 0.0
    assert error(qdd, accelerations(pin, q, qd, tau, loads)) < limit
    expected = acceleration_derivatives(pin, q, qd, tau, loads)
    for slope, reference in zip(slopes, expected, strict=True):
        assert error(slope, reference) < limit


@pytest.fixture(scope="module")
def every_kind():
    description = described(PARAMETERS)
    names = [p.name for p in description.parameters if not p.derived]
    return NumericRobot(description, runtime=names)


def difference(robot, function, index, size=2e-4):
    """d function(robot) / d one parameter by central differences of the fourth order."""
    step = np.zeros(robot.n_parameters)
    step[index] = size * max(1.0, abs(robot.parameters[index]))
    values = [function(robot.with_parameters(robot.parameters + k * step)) for k in (-2, -1, 1, 2)]
    slope = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * step[index])
    return np.asarray(slope)


@pytest.mark.slow
def test_derivatives_by_every_kind_of_parameter_are_differences(every_kind):
    robot = every_kind
    q, qd, tau, loads = random_state(robot, 1, 3)
    functions = {
        "inverse_dynamics": (q, qd, tau),
        "forward_dynamics": (q, qd, tau),
        "hybrid_dynamics": (q, qd, tau),
        "kinetic_energy": (q, qd),
        "potential_energy": (q,),
        "point_motion": (q, qd, tau),
    }
    seen = np.zeros(robot.n_parameters)
    for name, given in functions.items():
        options = {"loads": loads} if name.endswith("dynamics") else {}
        slopes = getattr(robot, f"{name}_parameter_derivatives")(*given, **options)
        stacked = np.stack(slopes) if name == "point_motion" else slopes
        for k in range(robot.n_parameters):
            expected = difference(
                robot, lambda r, n=name, g=given, o=options: np.array(getattr(r, n)(*g, **o)), k
            )
            assert np.allclose(stacked[..., k], expected, rtol=1e-7, atol=1e-7), (
                name, robot.parameter_names[k],
            )  # fmt: skip
            seen[k] = max(seen[k], np.abs(expected).max())
    names = zip(robot.parameter_names, seen, strict=True)
    assert [name for name, size in names if size < 1e-3] == []


def test_sensitivities_are_the_derivative_along_a_curve(every_kind):
    robot = every_kind
    q, qd, tau, loads = random_state(robot, 2, 2)
    directions = np.random.default_rng(3).uniform(-1, 1, (3, 2, robot.n, robot.n_parameters))
    qdd, total = robot.forward_dynamics_sensitivities(q, qd, tau, *directions, loads=loads)
    assert error(qdd, robot.forward_dynamics(q, qd, tau, loads=loads)) == 0.0
    for k, unit in enumerate(np.eye(robot.n_parameters)):
        moved = robot.with_parameters(robot.parameters + 1j * STEP * unit)
        state = (x + 1j * STEP * d[..., k] for x, d in zip((q, qd, tau), directions, strict=True))
        column = moved.forward_dynamics(*state, loads=loads).imag / STEP
        assert error(total[..., k], column) < 1e-12


def test_hybrid_dynamics_inverts_what_is_free(every_kind):
    robot = every_kind
    assert robot.prescribed.tolist() == [False, True, False]
    q, qd, x, loads = random_state(robot, 4, 5)
    y = robot.hybrid_dynamics(q, qd, x, loads=loads)
    qdd, tau = np.where(robot.prescribed, x, y), np.where(robot.prescribed, y, x)
    assert error(robot.inverse_dynamics(q, qd, qdd, loads=loads), tau) < 1e-13
    assert error(robot.forward_dynamics(q, qd, tau, loads=loads), qdd) < 1e-12


@pytest.mark.parametrize("name", ["forward_dynamics", "hybrid_dynamics"])
def test_derivatives_are_complex_steps(every_kind, name):
    robot = every_kind
    given = random_state(robot, 5)
    slopes = getattr(robot, f"{name}_derivatives")(*given[:3], loads=given[3])[1:]
    for k, slope in enumerate(slopes):
        for j, unit in enumerate(np.eye(robot.n)):
            moved = [*given[:3]]
            moved[k] = moved[k] + 1j * STEP * unit
            column = getattr(robot, name)(*moved, loads=given[3]).imag / STEP
            assert error(slope[:, j], column) < 1e-12


def test_without_prescribed_joints_hybrid_dynamics_is_forward_dynamics():
    robot = NumericRobot(described(PARAMETERS.replace("    prescribed: true\n", "")))
    q, qd, tau, loads = random_state(robot, 6)
    forward = robot.forward_dynamics_derivatives(q, qd, tau, loads=loads)
    hybrid = robot.hybrid_dynamics_derivatives(q, qd, tau, loads=loads)
    assert all(error(a, b) == 0.0 for a, b in zip(forward, hybrid, strict=True))


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


# ---------------------------------------------------------------------------------- expressions


@pytest.mark.parametrize(
    ("text", "value", "slope"),
    [
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
    ],
)
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
    description = described(PARAMETERS)
    values = parameter_values(description, {"m": 2.0 + 1j * STEP})
    assert values["total"] == 6.0 + 3j * STEP
    assert values["a"] == 0.5


def test_a_pivot_that_only_numpy_finds_to_be_zero():
    """Two point masses on three axes: singular, but for rounding in one order of elimination."""
    lever = np.array([[0.4, 0.7, 0.4], [-0.3, 0.2, 0.1]])
    mass = np.stack([np.eye(3), lever.T @ lever])
    assert _solvable(mass, 3).all()
    change = _implicit(mass, np.zeros(3, dtype=bool), np.ones((2, 3, 1)))
    assert (change[0] == -1.0).all()
    assert np.isnan(change[1]).all() or np.abs(change[1]).max() > 1e12
