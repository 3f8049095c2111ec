"""Every mistake that changes what a program computes is found, and its statement named."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from symgen.description import read
from symgen.exact import compare, first_difference, general_programs
from symgen.exact.general import general_robot
from symgen.exact.relations import SAME_STATEMENTS
from symgen.program.evaluation import call
from symgen.program.program import Output
from tests.exact.mutations import mutant
from tests.oracles.descriptions import described
from tests.oracles.random_models import Recipe, seeded_model_text

SMALL = Recipe(joints=(2, 4), types=("revolute", "prismatic"), loads=(1, 1), massless=False)
MODELS = 5
PUMA = Path(__file__).parents[2] / "examples" / "puma560.yaml"


@cache
def robot(number):
    """The general programs of a robot by (formulation, function), and its parameters' values.

    The first result holds those to be mutated: what only one formulation derives is left out,
    unless it is a derivative and stands beside its function.
    """
    description = described(seeded_model_text(number, SMALL)) if number else read(PUMA)
    programs, _ = general_programs(description)
    functions = [function for _, function in programs]
    shared = {
        key: program
        for key, program in programs.items()
        if functions.count(key[1]) > 1 or key[1].endswith(("_derivatives", "_jacobian"))
    }
    values = general_robot(description).parameter_values
    return shared, programs, np.array(list(values.values()))


def differs(program, mutated, parameters):
    """Whether the outputs differ in floating point, at states that have nothing special."""
    rng = np.random.default_rng(7)
    arguments = {x.name: rng.uniform(-2, 2, (3, *x.shape)) for x in program.inputs}
    arguments["parameters"] = np.tile(parameters, (3, 1))
    with np.errstate(all="ignore"):
        pairs = zip(call(program, arguments), call(mutated, arguments), strict=True)
        return any(
            not np.allclose(x, y, rtol=0, atol=1e-7 * max(1.0, np.abs(x).max(initial=0.0)))
            for x, y in pairs
        )


def only(program, name):
    """The program with the statement called `name` as its only output."""
    (value,) = (line.value for line in program.statements if line.name == name)
    return replace(program, outputs=(Output(name, (), (value,)),))


@cache
def mutation(seed):
    """A mutant whose outputs and whose first wrong statement differ in floating point."""
    rng = np.random.default_rng(seed)
    shared, programs, parameters = robot(seed % MODELS)
    keys = list(shared)
    while True:
        key = keys[int(rng.integers(len(keys)))]
        program = shared[key]
        if program.statements:
            mutated, step, line = mutant(program, rng)
            pairs = ((program, mutated), (only(program, line.name), only(mutated, line.name)))
            if all(differs(*pair, parameters) for pair in pairs):
                return programs, key, mutated, step, line


def is_known_elsewhere(name, key, programs):
    """Whether the formulation has the statement in another function of the same recursion."""
    formulation, function = key
    return any(
        function in group and other in group and other != function and formulation == owner
        and name in {line.name for line in program.statements}
        for group in SAME_STATEMENTS
        for (owner, other), program in programs.items()
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(50))
def test_a_mistake_is_found_and_its_statement_named(seed):
    programs, key, mutated, step, line = mutation(seed)
    rows, _ = compare({**programs, key: mutated}, points=1, seed=seed)
    failures = [row for row in rows if not row.holds]
    assert failures
    assert all(row.difference.count for row in failures)
    place = first_difference(mutated, programs[key])
    assert (place.formulation, place.function) == key
    assert (place.kind, place.joint, place.statement) == (step.kind, step.joint, line.name)
    if is_known_elsewhere(line.name, key, programs):
        assert all(row.difference.exact for row in failures)
        places = [place for row in failures for place in row.difference.locations]
        assert line.name in {place.statement for place in places}


def test_without_a_mistake_nothing_is_found():
    for number in range(MODELS):
        _, programs, _ = robot(number)
        rows, _ = compare(programs)
        assert all(row.holds for row in rows)
        assert first_difference(*[programs["newton_euler", "inverse_dynamics"]] * 2) is None


def test_statements_of_one_name_mean_the_same_in_functions_of_one_recursion():
    """What the naming of wrong statements relies on."""
    compared = 0
    for number in range(MODELS):
        _, programs, _ = robot(number)
        for group in SAME_STATEMENTS:
            for (formulation, function), program in programs.items():
                for other in group:
                    if function in group and (formulation, other) in programs:
                        assert first_difference(program, programs[formulation, other]) is None
                        compared += 1
    assert compared
