"""The whole validation: right models pass, a wrong frame or function is found and named."""

from __future__ import annotations

import time

import numpy as np
import pytest

from symgen.errors import ValidationError
from symgen.validation.checks import (
    ARGUMENTS,
    Evaluation,
    Subject,
    random_states,
    relative_error,
)
from symgen.validation.oracles import NumericRobot
from symgen.validation.validate import INDEPENDENT, ValidationResult, validate
from tests.oracles.descriptions import described
from tests.oracles.fake_module import altered, formulation
from tests.oracles.random_models import Recipe, seeded_model_text

SMALL = Recipe(
    joints=(3, 5), types=("revolute", "prismatic"), loads=(1, 2), points=(1, 2), massless=False
)


def subjects(robot, changed=None):
    return [
        Subject("newton_euler (evaluated)", formulation(robot), complex_step=True, arrays=False),
        Subject("newton_euler (compiled)", formulation(robot, changed)),
    ]


@pytest.mark.parametrize("seed", range(3))
def test_right_models_pass(seed):
    description = described(seeded_model_text(seed))
    result = validate(description, subjects(NumericRobot(description)))
    result.raise_if_failed()
    assert result.passed
    assert result.failures == ()
    assert "checks passed" in result.summary
    assert result.rows[0].subject == INDEPENDENT


def test_a_small_robot_takes_less_than_half_a_second():
    description = described(seeded_model_text(3, Recipe(joints=(6, 6), types=("revolute",))))
    robot = NumericRobot(description)
    start = time.process_time()
    validate(description, subjects(robot))
    assert time.process_time() - start < 2.0  # 0.2 s on an idle machine


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_wrong_function_is_named(name):
    description = described(seeded_model_text(8, SMALL))
    robot = NumericRobot(description)

    def change(result, *_):
        return tuple(-x for x in result) if isinstance(result, tuple) else -result

    result = validate(description, subjects(robot, altered(robot, name, change)), samples=3)
    assert {row.subject for row in result.failures} == {"newton_euler (compiled)"}
    independent = [row.name for row in result.failures if INDEPENDENT in row.name]
    assert independent
    assert all(row.startswith(name) for row in independent)
    with pytest.raises(ValidationError) as failure:
        result.raise_if_failed()
    assert failure.value.exit_status == 3
    assert f"newton_euler (compiled): {name}" in str(failure.value)
    assert str(result).count("FAILED") == len(result.failures)


FRAMES = [
    ("alpha: ", "alpha: 0.01 + "),
    ("alpha: ", "alpha: -"),
    ("theta: ", "theta: 0.01 + "),
    ("xyz: [", "xyz: [0.01 + "),
    ("rpy: [", "rpy: [0.01 + "),
    ("axis: [", "axis: [0.01 + "),
    ("com: [", "com: [0.01 + "),
    ("convention: standard", "convention: modified"),
    ("type: revolute", "type: prismatic"),
    ("mass: ", "mass: 1.01*"),
    ("inertia: {xx: ", "inertia: {xx: 0.01 + "),
    ("gravity: [", "gravity: [0.01 + "),
    ("point: [", "point: [0.01 + "),
]


def mutations(count):
    """(model, model with one entry changed), seeded."""
    rng = np.random.default_rng(0)
    found = []
    seed = 0
    while len(found) < count:
        seed += 1
        text = seeded_model_text(seed, SMALL).split("\npoints:")[0]
        old, new = FRAMES[int(rng.integers(len(FRAMES)))]
        places = [i for i in range(len(text)) if text.startswith(old, i)]
        if places:
            place = places[int(rng.integers(len(places)))]
            wrong = text[:place] + new + text[place + len(old) :]
            found.append(pytest.param(text, wrong, id=f"{seed}: {new.strip()}"))
    return found


@pytest.mark.parametrize(("text", "wrong"), mutations(60))
def test_a_wrong_frame_in_a_joint_is_found(text, wrong):
    description = described(text)
    mutant = NumericRobot(described(wrong.replace("--", "").replace("-pi", "pi*(-1)")))
    states = random_states(mutant.n, mutant.n_loads, 3)
    here, there = (Evaluation(Subject("", x), states) for x in (mutant, NumericRobot(description)))
    same = all(relative_error(here[name], there[name]) < 1e-14 for name in ARGUMENTS)
    result = validate(description, subjects(mutant), samples=3)
    assert result.passed == same


def test_the_table_has_a_line_for_every_row():
    description = described(seeded_model_text(0, SMALL))
    result = validate(description, subjects(NumericRobot(description)), samples=2)
    assert str(result).count("\n") == len(result.rows)


def test_an_empty_result_passes():
    assert ValidationResult((), 0.0).passed
    assert "0 checks passed" in ValidationResult((), 0.0).summary
