"""The laws hold with rotors, dampers, springs and friction, and fail where one is misplaced."""

from __future__ import annotations

import numpy as np
import pytest

from symgen.program.functions import FUNCTION_NAMES
from symgen.program.products import NEEDED
from symgen.validation.checks import Evaluation, Facts, Subject, check_evaluations, random_states
from symgen.validation.conditioning import condition
from symgen.validation.oracles import NumericRobot
from tests.choosing import one_in
from tests.oracles.descriptions import described
from tests.oracles.fake_module import altered, formulation
from tests.oracles.programs import validation_of

MODEL = """
symgen: 1
name: robot
gravity: [1, 2, -9]
joints:
  - name: a
    type: revolute
    origin: {}
    axis: [1, 2, 2]
    rotor_inertia: 0.02
    gear_ratio: 10
    damping: 0.7
    stiffness: 11
    rest: 0.3
    friction: 0.4
    friction_velocity: 0.6
    link: {mass: 2, com: [0.3, -0.1, 0.2], inertia: {xx: 0.1, yy: 0.2, zz: 0.15, xy: 0.01}}
  - name: b
    type: spherical
    origin: {xyz: [0.3, 0, 0.1]}
    rotor_inertia: [0.1, 0, 0.3]
    damping: [0, 0.5, 0.2]
    stiffness: 3
    rest: [0.1, -0.7, 0]
    friction: [0.8, 0, 0.3]
    friction_velocity: [0.5, 1, 2]
    link: {mass: 1, com: [0.1, 0.2, -0.2], inertia: {xx: 0.1, yy: 0.2, zz: 0.15, yz: 0.02}}
  - name: c
    type: prismatic
    origin: {rpy: [0.4, 0.5, 0.6]}
    damping: 2
    link: {mass: 1.5, com: [0.1, 0, 0.3], inertia: {xx: 0.2, yy: 0.2, zz: 0.15}}
loads: [{name: tip, link: c, point: [0.1, 0.2, 0.3]}]
"""
GRAVITY = "gravity_forces + springs = complex step of potential_energy"
BIAS = "coriolis_matrix qd + gravity_forces + joint terms = bias_forces without loads"
STILL = "bias_forces = inverse_dynamics at qdd = 0"
POWER = "power of joints and loads - losses = rate of kinetic_energy + potential_energy"
KINETIC = "kinetic_energy = qd' mass_matrix qd / 2"
POSITIVE = "mass_matrix is positive semi-definite"
SLOPE = "mass_matrix = complex step of inverse_dynamics in qdd"
REGRESSOR = "regressor inertial_parameters = inverse_dynamics without loads and joint terms"


@pytest.fixture(scope="module")
def robot():
    return NumericRobot(described(MODEL))


def failing(robot, changed=None, **terms):
    """Names of the laws that fail; `terms` replace what the laws are told of the joint terms."""
    states = random_states(robot.n, robot.n_loads, 4)
    subject = Subject("s", formulation(robot, changed), complex_step=True, arrays=False)
    facts = Facts(1.0, robot.inertial_parameters, {**robot.joint_terms, **terms})
    rows = check_evaluations([Evaluation(subject, states, facts)])
    return {row.name for row in rows if not row.passed}


def test_the_right_robot_passes(robot):
    assert failing(robot) == set()


def test_the_numbers_of_the_terms(robot):
    assert robot.coordinate_names == ("a", "b_1", "b_2", "b_3", "c")
    terms = robot.joint_terms
    assert terms["reflected_inertia"].tolist() == [2.0, 0.1, 0.0, 0.3, 0.0]
    assert terms["damping"].tolist() == [0.7, 0.0, 0.5, 0.2, 2.0]
    assert terms["stiffness"].tolist() == [11.0, 3.0, 3.0, 3.0, 0.0]
    assert terms["rest"].tolist() == [0.3, 0.1, -0.7, 0.0, 0.0]
    assert terms["friction"].tolist() == [0.4, 0.8, 0.0, 0.3, 0.0]
    assert terms["friction_velocity"].tolist() == [0.6, 0.5, 1.0, 2.0, 1e-3]


MISPLACED = [
    ("gravity_forces", lambda r, g, q: g + r._terms.springs(q), {GRAVITY, BIAS}),
    ("potential_energy", lambda r, v, q: v - r._terms.spring_energy(q), {GRAVITY, POWER}),
    ("bias_forces", lambda r, b, q, qd: b - r._terms.damping * qd, {STILL, BIAS}),
    ("bias_forces", lambda r, b, q, qd: b - r._terms.springs(q), {STILL, BIAS}),
    ("coriolis_matrix", lambda r, c, q, qd: c + np.diag(r._terms.damping),
     {BIAS, "coriolis_matrix = Christoffel symbols of mass_matrix",
      "d mass_matrix/dt - 2 coriolis_matrix is skew"}),
    ("mass_matrix", lambda r, m, q: m - np.diag(r._terms.reflected_inertia),
     {POSITIVE, KINETIC, SLOPE}),
    ("kinetic_energy", lambda r, t, q, qd: t - 0.5 * (r._terms.reflected_inertia * qd**2).sum(-1),
     {KINETIC, POWER}),
    ("inverse_dynamics", lambda r, tau, q, qd, qdd: tau - r._terms.losses(qd),
     {STILL, POWER, REGRESSOR}),
    ("inverse_dynamics", lambda r, tau, q, qd, qdd: tau - r._terms.reflected_inertia * qdd,
     {SLOPE, POWER, REGRESSOR}),
    ("inverse_dynamics", lambda r, tau, q, qd, qdd: tau - r._terms.springs(q),
     {STILL, POWER, REGRESSOR}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change", "expected"), MISPLACED)
def test_a_term_in_the_wrong_place_is_found(robot, name, change, expected):
    changed = altered(robot, name, lambda *arguments: change(robot, *arguments))
    assert expected <= failing(robot, changed)


@pytest.mark.parametrize("key", ["damping", "stiffness", "rest", "friction", "friction_velocity",
                                 "reflected_inertia"])  # fmt: skip
def test_wrong_numbers_of_the_terms_are_found(robot, key):
    found = failing(robot, **{key: robot.joint_terms[key] * 1.001 + 1e-4})
    expected = {
        "stiffness": {GRAVITY, BIAS, REGRESSOR},
        "rest": {GRAVITY, BIAS, REGRESSOR},
        "reflected_inertia": {REGRESSOR},
    }
    assert expected.get(key, {BIAS, POWER, REGRESSOR}) <= found


def test_where_nothing_is_known_there_are_no_terms(robot):
    states = random_states(robot.n, robot.n_loads, 2)
    subject = Subject("s", formulation(robot), complex_step=True, arrays=False)
    rows = check_evaluations([Evaluation(subject, states)])
    assert {GRAVITY, BIAS, POWER} <= {row.name for row in rows if not row.passed}


# --------------------------------------------------------------------------------- stiff terms

STIFF = [
    "stiffness: 1e9, rest: 100", "stiffness: 1e6, rest: 1e6", "damping: 1e6",
    "rotor_inertia: 1e3, gear_ratio: 1000", "friction: 1e6, friction_velocity: 10",
    "friction: 50", "friction: 1e8", "friction: 1, friction_velocity: 1e-8",
    "friction: 1e3, friction_velocity: 1e-300",
]  # fmt: skip
TWO = """
symgen: 1
name: stiff
joints:
  - {{name: a, type: universal, origin: {{}}, {terms}, link: {{mass: 1, com: [0.1, 0.2, 0.3],
     inertia: {{xx: 0.1, yy: 0.1, zz: 0.1}}}}}}
  - {{name: b, type: revolute, origin: {{xyz: [0.3, 0, 0]}}, axis: [2, 3, 6], {terms},
     link: {{mass: 1.3, com: [0.1, -0.2, 0.15], inertia: {{xx: 0.3, yy: 0.25, zz: 0.2}}}}}}
"""


@pytest.mark.deep
@pytest.mark.parametrize("terms", one_in(10, STIFF))
def test_stiff_terms_are_no_reason_to_fail(terms):
    description = described(TWO.format(terms=terms))
    squared = NEEDED if "1e-300" in terms else ()  # a square that is 0 in float64
    functions = {*FUNCTION_NAMES} - {*squared}
    assert condition(description) == 1.0
    validation_of(description, functions, samples=100).raise_if_failed()
