"""Rounding errors of what is solved for: badly scaled trees pass, and errors in them are found."""

import re

import numpy as np
import pytest

from symgen.formulations import FORMULATIONS, provided_functions
from symgen.validation.comparison import relative_error
from symgen.validation.evaluation import Evaluation, Facts, Subject, random_states
from symgen.validation.oracles import NumericRobot
from symgen.validation.scales import Response, response
from symgen.validation.validate import validate
from tests.choosing import one_in
from tests.oracles.descriptions import described
from tests.oracles.fake_module import altered, formulation
from tests.oracles.programs import validation_of
from tests.oracles.random_models import Recipe, seeded_model_text

SMALL = Recipe(joints=(3, 5), types=("revolute", "prismatic"), massless=False)
SOLVING = "forward_dynamics", "forward_dynamics_derivatives"
ABLE = [item for item in FORMULATIONS if SOLVING[0] in provided_functions(item)]


def badly_scaled(seed):
    """Masses from 1e-5 to 1e3, inertias from 1e-5 to 10."""
    rng = np.random.default_rng(seed)

    def scaled(match):
        factor = 10.0 ** float(rng.integers(-5, 2))
        entries = (entry.split(": ") for entry in match[1].split(", "))
        shown = ", ".join(f"{key}: {float(value) * factor:.9g}" for key, value in entries)
        return f"inertia: {{{shown}}}"

    text = seeded_model_text(seed, SMALL)
    text = re.sub("mass: ", lambda _: f"mass: 1e{rng.integers(-5, 4)} * ", text)
    return re.sub(r"inertia: \{(.*)\}", scaled, text)


@pytest.mark.slow
@pytest.mark.parametrize("seed", one_in(4, range(6)))
def test_badly_scaled_trees_pass(seed):
    description = described(badly_scaled(seed))
    validation_of(description, (*SOLVING, "inverse_dynamics"), ABLE).raise_if_failed()


@pytest.mark.slow
@pytest.mark.parametrize("seed", one_in(6, range(6)))
@pytest.mark.parametrize("name", SOLVING)
def test_errors_are_found_in_badly_scaled_trees(seed, name):
    description = described(badly_scaled(seed))
    robot = NumericRobot(description)

    def wrong(result, *_):
        several = isinstance(result, tuple)
        return (*result[:-1], result[-1] * (1 + 1e-4)) if several else result * (1 + 1e-4)

    functions = formulation(robot, altered(robot, name, wrong), (*SOLVING, "inverse_dynamics"))
    made = [Subject("s", functions, complex_step=True, arrays=False)]
    result = validate(description, made, samples=4)
    assert {row.name.split(",")[0].split(" ")[0] for row in result.failures} & {name, f"{name}:"}


def test_the_bound_holds_for_disturbed_torques():
    """Torques that are wrong by e move the accelerations by at most gain e."""
    robot = NumericRobot(described(seeded_model_text(3, SMALL)))
    states = random_states(robot.n, robot.n_loads, 10)
    s = Evaluation(Subject("", robot, complex_step=True), states, Facts())
    found = response(s, "forward_dynamics")
    rng = np.random.default_rng(0)
    for _ in range(20):
        e = rng.uniform(-1, 1, states.tau.shape)
        moved = robot.forward_dynamics(states.q, states.qd, states.tau + e, loads=states.loads)
        change = np.abs(moved - s["forward_dynamics"]).max(axis=1)
        assert np.all(change <= found.gain * np.abs(e).max(axis=1) * (1 + 1e-9))


def test_without_prescribed_joints_both_responses_are_one():
    robot = NumericRobot(described(seeded_model_text(4, SMALL)))
    states = random_states(robot.n, robot.n_loads, 3)
    s = Evaluation(Subject("", robot, complex_step=True), states)
    both = [Response(s, name) for name in ("forward_dynamics", "hybrid_dynamics")]
    assert np.array_equal(both[0].gain, both[1].gain)
    held = Facts(prescribed=np.ones(robot.n, dtype=bool))
    s = Evaluation(Subject("", robot, complex_step=True), states, held)
    assert np.all(Response(s, "hybrid_dynamics").gain == 1.0)


@pytest.mark.parametrize("left", ["inverse_dynamics", "forward_dynamics_derivatives",
                                  "forward_dynamics"])  # fmt: skip
def test_the_mass_matrix_is_found_in_what_there_is(left):
    robot = NumericRobot(described(seeded_model_text(4, SMALL)))
    states = random_states(robot.n, robot.n_loads, 3)
    whole = Evaluation(Subject("", robot, complex_step=True), states)
    functions = type("Functions", (), {left: staticmethod(getattr(robot, left))})
    part = Evaluation(Subject("", functions, complex_step=True), states)
    expected, found = (response(s, "forward_dynamics") for s in (whole, part))
    assert relative_error(found.mass, expected.mass) < 1e-10
