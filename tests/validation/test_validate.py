"""The whole validation: right models pass, a wrong frame or function is found and named."""

import cProfile

import numpy as np
import pytest

from symgen.errors import ValidationError
from symgen.program.products import NEEDED
from symgen.runtime.calls import ARGUMENTS
from symgen.runtime.checks import CHANGED, changed_parameters
from symgen.runtime.subjects import Subject
from symgen.validation.evaluated import delegated_rows
from symgen.validation.oracles import NumericRobot
from symgen.validation.validate import INDEPENDENT, ValidationResult, begin, validate
from tests.choosing import one_in, some_deep
from tests.modules import described
from tests.oracles.fake_module import altered, formulation, has
from tests.oracles.random_models import OF_TREES, Recipe, seeded_model_text, with_first_prescribed

SMALL = Recipe(
    joints=(3, 5), types=("revolute", "prismatic"), loads=(1, 2), points=(1, 2), massless=False
)

FEW = ("mass_matrix", "kinetic_energy", "inverse_dynamics")


def subjects(robot, changed=None, only=ARGUMENTS):
    right, wrong = (formulation(robot, x, only) for x in (None, changed))
    return [
        Subject("newton_euler (evaluated)", right, complex_step=True, arrays=False),
        Subject("newton_euler (compiled)", wrong),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("seed", some_deep(range(3), {1}))
def test_right_models_pass(seed):
    description = described(seeded_model_text(seed))
    result = validate(description, subjects(NumericRobot(description)))
    result.raise_if_failed()
    assert result.passed
    assert result.failures == ()
    assert "checks passed" in result.summary
    assert str(result).count("\n") == len(result.rows)
    assert result.rows[0].subject == INDEPENDENT


@pytest.mark.slow
def test_progress_is_told_of_every_comparison():
    """In order, with the parts that are done of all; those that had begun are told of, too."""
    description = described(seeded_model_text(1, SMALL))
    both = subjects(NumericRobot(description), only=FEW)
    for begun in (False, True):
        heard, early = [], []
        beginning = begin(description, both[:1], progress=lambda *x, to=early: to.append(x))
        assert {total for _, _, total in early} == {2}
        result = validate(
            description, both, beginning=beginning if begun else None,
            progress=lambda *x, to=heard: to.append(x),
        )  # fmt: skip
        told = {what for what, _, _ in heard}
        compared = [row for row in result.rows if row.subject in {x.name for x in both}]
        assert compared
        assert all(f"validate: {row.subject}: {row.name}" in told for row in compared)
        done = [done for _, done, _ in heard]
        assert done == sorted(done) and {*done} == {0, 1, 2, 3}
        assert {total for _, _, total in heard} == {4}


@pytest.mark.slow
@pytest.mark.parametrize("fault", [None, ValueError("broken")])
def test_what_has_begun_before_is_not_done_again(fault):
    description = described(seeded_model_text(1, SMALL))
    calls = []

    def counted(former):
        def mass_matrix(*arguments, **options):
            calls.append(arguments[0].shape)
            if fault is not None:
                raise fault
            return former(*arguments, **options)

        return mass_matrix

    both = subjects(NumericRobot(description), only=FEW)
    functions = both[0].functions
    functions.mass_matrix = counted(functions.mass_matrix)
    whole = validate(description, both)
    expected, calls[:] = len(calls), []
    beginning = begin(description, both[:1])
    assert beginning.subjects == (both[0],)
    assert calls
    result = validate(description, both, beginning=beginning)
    assert result.rows == whole.rows and result.passed == (fault is None)
    assert fault is not None or len(calls) == expected


@pytest.mark.slow
def test_a_small_robot_is_validated_in_half_a_million_calls():
    """So many of functions, of C too, are some 0.2 s; seconds would be those of the machine."""
    description = described(seeded_model_text(3, Recipe(joints=(6, 6), types=("revolute",))))
    robot = NumericRobot(description)
    validate(description, subjects(robot))  # what happens once
    with cProfile.Profile() as profile:
        validate(description, subjects(robot))
    assert sum(entry.callcount for entry in profile.getstats()) < 500_000


@pytest.fixture(scope="module")
def whole():
    """A robot with a prescribed joint, a parameter and outputs: it has every function."""
    text = with_first_prescribed(seeded_model_text(8, SMALL))
    text = text.replace("mass: ", "mass: 0.1*k + ", 1).replace("point: [", "point: [k + ")
    return NumericRobot(described(f"{text}outputs: {{o: k*t + kinetic_energy}}\n"), runtime=("k",))


@pytest.mark.slow
@pytest.mark.parametrize("name", one_in(30, OF_TREES))
def test_a_wrong_function_is_named(whole, name):
    robot, description = whole, whole.description
    assert has(robot, name)

    def change(result, *_):
        return tuple(-x for x in result) if isinstance(result, tuple) else -result

    made = subjects(robot, altered(robot, name, change), {name, *NEEDED.get(name, FEW)})
    result = validate(description, made, samples=3, runtime=("k",))
    assert {row.subject for row in result.failures} == {"newton_euler (compiled)"}
    independent = [row.name for row in result.failures if INDEPENDENT in row.name]
    if name in NEEDED:  # the numeric model has none where there are runtime parameters
        assert not independent
        assert all(row.name.startswith(name) for row in result.failures)
    else:
        assert independent
        assert all(row.startswith(name) for row in independent)
        assert {CHANGED in row for row in independent} == {True, False}
    with pytest.raises(ValidationError) as failure:
        result.raise_if_failed()
    assert failure.value.exit_status == 3
    assert f"newton_euler (compiled): {name}" in str(failure.value)
    assert str(result).count("FAILED") == len(result.failures)


DERIVED = """
symgen: 1
name: derived
gravity: [0, -9.81, 0]
convention: standard
parameters: {L: 0.4, half: L/2, c: 0.99, alpha: acos(c), none: 0}
joints:
  - {name: a, type: revolute, dh: {a: L, alpha: alpha}, damping: none,
     link: {mass: 1, com: [half, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}}
"""


@pytest.mark.slow
def test_parameters_have_other_values_too():
    description = described(DERIVED)
    robot = NumericRobot(description, runtime=("L",))
    right = formulation(robot).potential_energy

    def wrong(q, *, parameters=None, out=None):
        return right(q, out=out)

    functions = formulation(robot, {"potential_energy": wrong}, FEW)
    made = [Subject("s", functions, complex_step=True, arrays=False)]
    result = validate(description, made, runtime=("L",))
    name = f"potential_energy = that of {INDEPENDENT}{CHANGED}"
    assert name in {row.name for row in result.failures}


def test_parameters_that_may_not_have_other_values():
    """With c above 1 there is no angle."""
    description = described(DERIVED)
    robot = NumericRobot(description, runtime=("L", "c"))
    assert changed_parameters([0.4, 0.99])[1] > 1.0
    result = validate(description, subjects(robot)[:1], runtime=("L", "c"))
    assert result.passed
    assert result.left_out == (
        f"{CHANGED[2:]}: some values do not exist there, and nothing is compared",
    )
    assert result.left_out[0] in result.summary
    assert not [row for row in result.rows if row.name.endswith(CHANGED)]


def test_changes_of_the_parameters_are_small_and_the_same_every_time():
    values = np.array([2.0, 0.0, -3.0])
    changed = changed_parameters(values)
    assert changed[1] == 0.0
    assert np.all(np.abs(changed - values) <= 0.05 * np.abs(values))
    assert np.all(changed[[0, 2]] != values[[0, 2]])
    assert np.array_equal(changed, changed_parameters(values))


def test_an_empty_result_passes():
    assert ValidationResult((), 0.0).passed
    assert "0 checks passed" in ValidationResult((), 0.0).summary


def test_what_is_left_to_another_formulation_is_said():
    delegated = {"kane": {"mass_matrix": "composite", "bias_forces": "composite"}}
    result = ValidationResult(tuple(delegated_rows(delegated)), 0.0)
    assert result.passed
    [said] = result.left_out
    assert said == ("kane: mass_matrix, bias_forces left to composite (symgen check compares all)")
    assert f"evaluated kane  {said}" in str(result)
