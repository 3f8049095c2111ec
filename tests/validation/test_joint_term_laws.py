"""The laws hold with rotors, dampers, springs and friction, stiff ones, too."""

import numpy as np
import pytest

from symgen.program.functions import FUNCTION_NAMES
from symgen.program.products import NEEDED
from symgen.runtime.checks import check_evaluations
from symgen.runtime.scales import scales_of
from symgen.runtime.subjects import Evaluation, Facts, Subject, random_states
from symgen.validation.conditioning import condition
from symgen.validation.oracles import NumericRobot
from tests.choosing import one_in
from tests.modules import described
from tests.oracles.comparison import validation_of
from tests.oracles.fake_module import altered, facts_of, formulation

MODEL = """
symgen: 1
name: robot
gravity: [1, 2, -9]
joints:
  - {name: a, type: revolute, origin: {}, axis: [1, 2, 2], rotor_inertia: 0.02, gear_ratio: 10,
     damping: 0.7, stiffness: 11, rest: 0.3, friction: 0.4, friction_velocity: 0.6,
     link: {mass: 2, com: [0.3, -0.1, 0.2], inertia: {xx: 0.1, yy: 0.2, zz: 0.15, xy: 0.01}}}
  - {name: b, type: spherical, origin: {xyz: [0.3, 0, 0.1]}, rotor_inertia: [0.1, 0, 0.3],
     damping: [0, 0.5, 0.2], stiffness: 3, rest: [0.1, -0.7, 0], friction: [0.8, 0, 0.3],
     friction_velocity: [0.5, 1, 2],
     link: {mass: 1, com: [0.1, 0.2, -0.2], inertia: {xx: 0.1, yy: 0.2, zz: 0.15, yz: 0.02}}}
  - {name: c, type: prismatic, origin: {rpy: [0.4, 0.5, 0.6]}, damping: 2,
     link: {mass: 1.5, com: [0.1, 0, 0.3], inertia: {xx: 0.2, yy: 0.2, zz: 0.15}}}
loads: [{name: tip, link: c, point: [0.1, 0.2, 0.3]}]
"""


@pytest.fixture(scope="module")
def robot():
    return NumericRobot(described(MODEL))


TERMS = "damping", "stiffness", "rest", "friction", "friction_velocity", "reflected_inertia"


@pytest.mark.parametrize("wrong", [None, *TERMS])
def test_the_laws_hold(robot, wrong):
    """They need every number: where one is wrong, there are laws that do not."""
    terms = dict(robot.joint_terms)
    if wrong:
        terms[wrong] = 1.001 * terms[wrong] + 1e-4
    subject = Subject("s", formulation(robot), complex_step=True, arrays=False)
    facts = Facts(1.0, robot.inertial_parameters, terms)
    states = random_states(robot.n, robot.n_loads, 4)
    rows = check_evaluations([Evaluation(subject, states, facts)])
    assert all(row.passed for row in rows) == (wrong is None)


def test_rotors_hide_no_body_that_none_is(robot):
    """Of the bodies alone the mass matrix is positive semi-definite."""
    rotors = np.diag(robot.joint_terms["reflected_inertia"])
    changed = altered(robot, "mass_matrix", lambda m, q: m - rotors)
    subject = Subject("s", formulation(robot, changed), complex_step=True, arrays=False)
    facts = Facts(1.0, robot.inertial_parameters, robot.joint_terms)
    rows = check_evaluations([Evaluation(subject, random_states(robot.n, robot.n_loads, 4), facts)])
    assert "mass_matrix is positive semi-definite" in {x.name for x in rows if not x.passed}


def test_friction_is_a_scale_of_the_slopes_by_velocities_alone(robot):
    states = random_states(robot.n, robot.n_loads, 2)
    s = Evaluation(Subject("", robot, complex_step=True), states, facts_of(robot))
    scales = scales_of(s, s, "inverse_dynamics_derivatives")  # of tau, dtau_dq, dtau_dqd, dtau_dqdd
    assert [bool(x.any()) for x in scales] == [False, False, True, False]


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
