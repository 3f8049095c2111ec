"""Relations between functions by way of the model: each can fail, and says where."""

from dataclasses import replace
from functools import cache

import pytest

from symgen.exact import compare, general_programs, prove
from symgen.exact.compositions import (
    COMPOSITIONS,
    ENERGY,
    FREE_PIVOTS,
    MOTION,
    OUTPUTS,
    PIVOTS,
    RATES,
    REGRESSOR,
    RELATED,
    SUM_OF_ACCELERATIONS,
    SUM_OF_TORQUES,
    TORQUES,
    VELOCITIES,
    WRENCHES,
)
from symgen.exact.model import EXPRESSIONS, MODEL
from symgen.exact.relations import RELATIONS
from symgen.formulations import FORMULATIONS, NEWTON_EULER
from tests.choosing import deep, one_in
from tests.exact.models import complete
from tests.modules import EXAMPLES, described
from tests.oracles.random_models import EVERYTHING, OF_TREES, seeded_model_text

SEED = 2
SUMS = (SUM_OF_TORQUES, SUM_OF_ACCELERATIONS)
"""Their slopes are what products are compared with: a constant that is added changes none."""
CLOSED = (RATES, VELOCITIES, RELATED)


@cache
def programs():
    """Every program of a small robot with every kind of joint term."""
    recipe = replace(EVERYTHING, joints=(3, 3), types=("revolute", "prismatic"), massless=False)
    recipe = replace(recipe, loads=(1, 1), points=(1, 1))
    return general_programs(complete(seeded_model_text(SEED, recipe)))[0]


def with_entry(program, number, change, output=0):
    """`program` with `change` applied to one entry of one output."""
    outputs = list(program.outputs)
    entries = list(outputs[output].entries)
    entries[number] = change(entries[number])
    outputs[output] = replace(outputs[output], entries=tuple(entries))
    return replace(program, outputs=tuple(outputs))


def failures(changed, functions=(MODEL, *OF_TREES)):
    """(function, left side) of the claims that fail, without those between formulations."""
    near = {key: program for key, program in programs().items() if key[1] in functions}
    rows, _ = compare({**near, **changed}, points=1)
    return {(row.function, row.claim.split(" = ")[0]) for row in rows if not row.holds}


@pytest.mark.slow
def test_the_robot_has_every_joint_term():
    outputs = {output.name: output.entries for output in programs()[MODEL, MODEL].outputs}
    for name in ("terms", "damping", "springs"):
        assert any(entry is not entry.graph.zero for entry in outputs[name])
    assert failures({}) == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    "item",
    one_in(4, (item for item in COMPOSITIONS if item not in (TORQUES, OUTPUTS, *SUMS, *CLOSED))),
    ids=lambda item: item.name,
)
def test_a_change_that_all_formulations_share_is_found(item):
    """No comparison between formulations would see it."""
    source = item.sources[0]
    shared = {key: program for key, program in programs().items() if key[1] == source}
    size = len(next(iter(shared.values())).outputs[0].entries)
    subject = {ENERGY: "kinetic_energy", PIVOTS: "forward_dynamics", FREE_PIVOTS: "hybrid_dynamics"}
    subject = subject.get(item, source)
    model = {output.name: output.entries for output in programs()[MODEL, MODEL].outputs}
    factors = {
        REGRESSOR: model["parameters"] * len(model["terms"]),
        WRENCHES: model["axes"],  # across the axis nothing is said
    }.get(item, [None] * size)
    numbers = [k for k, x in enumerate(factors) if x is None or x is not x.graph.zero]
    for number in numbers[:: max(1, size)]:
        changed = {key: with_entry(p, number, lambda x: x + 1.0) for key, p in shared.items()}
        found = {function for function, _ in failures(changed)}
        assert subject in found


@pytest.mark.slow
@pytest.mark.parametrize("number", range(3))
def test_a_change_of_a_constraint_of_positions_or_velocities_is_found(number):
    text = (EXAMPLES / "mechanisms" / "rolling_disc.yaml").read_text()
    more = "  meets: points.rim.vz*q.x - r*qd.spin*t\n  gear: q.heading*q.lean - t\n"
    more += "points: [{name: rim, link: disc, point: [0, 0, r]}]\n"
    disc = general_programs(described(text.replace("initial:", f"{more}initial:")))[0]
    assert all(row.holds for row in compare(disc, points=1)[0])
    changed = {
        key: with_entry(program, number + 1, lambda x: x + x)
        for key, program in disc.items() if key[1] == "constraint_rates"
    }  # fmt: skip
    rows, _ = compare({**disc, **changed}, points=1)
    failed = {row.claim.split(" = ")[-1] for row in rows if not row.holds}
    base = "constraints" if number == 2 else RELATED.name
    assert any(base in claim for claim in failed)


@pytest.mark.slow
def test_a_change_of_every_output_is_found():
    """By its own formulation alone: the expressions are written out a second time."""
    alone = {key: item for key, item in programs().items() if key[0] in (NEWTON_EULER.name, MODEL)}
    del alone[NEWTON_EULER.name, "outputs_derivatives"]
    key = NEWTON_EULER.name, "outputs"
    for number in range(len(alone[key].outputs[0].entries)):
        rows, _ = compare({**alone, key: with_entry(alone[key], number, lambda x: x + 1.0)})
        failed = [row for row in rows if not row.holds]
        assert [row.function for row in failed] == ["outputs"]
        assert failed[0].difference.index == (number,)


SOLVED = (MODEL, "mass_matrix", "bias_forces", "inverse_dynamics", "forward_dynamics")


@pytest.mark.slow
@pytest.mark.parametrize("result", ["qdd", *deep("pivots", "diagonal")])
def test_a_change_of_what_solves_is_found(result):
    """All formulations make the same mistake, and their derivatives do not see it."""
    keys = [key for key in programs() if key[1] == "forward_dynamics"]
    number = {"qdd": 0, "pivots": 1, "diagonal": 2}[result]
    for entry in range(3):
        changed = {
            key: with_entry(programs()[key], entry, lambda x: x + 1.0, number) for key in keys
        }
        found = failures(changed, SOLVED)
        for formulation, _ in keys:
            wanted = formulation if number else f"{formulation}: {MOTION.name}"
            assert ("forward_dynamics", wanted) in found


@pytest.mark.slow
@pytest.mark.parametrize(
    "output",
    ["parameters", "terms", "axes", "damping", "springs", "tau", "x", "prescribed", EXPRESSIONS],
)
def test_what_the_model_says_is_needed(output):
    model = programs()[MODEL, MODEL]
    names = [item.name for item in model.outputs]
    number = names.index(output)
    wrong = model
    flags = output == "prescribed"  # free, prescribed, free: the first two change places
    for place in range(2 if flags else len(model.outputs[number].entries)):
        wrong = with_entry(wrong, place, lambda x: 1.0 - x if flags else x + 1e-30, number)
    wanted = {
        "parameters": {"regressor"}, "terms": {"regressor", "joint_wrenches"},
        "axes": {"joint_wrenches"}, "damping": {"coriolis_matrix"}, "springs": {"gravity_forces"},
        "tau": {"forward_dynamics", "outputs"}, "x": {"hybrid_dynamics"},
        "prescribed": {"hybrid_dynamics"}, EXPRESSIONS: {"outputs"},
    }  # fmt: skip
    assert {function for function, _ in failures({(MODEL, MODEL): wrong})} == wanted[output]


@pytest.mark.slow
def test_a_failure_names_the_composition_and_the_entry():
    key = NEWTON_EULER.name, "regressor"
    wrong = with_entry(programs()[key], 0, lambda x: x + 1.0)
    rows, _ = compare({**programs(), key: wrong}, points=1)
    failed = [row for row in rows if not row.holds and row.claim != "newton_euler = composite"]
    assert len(failed) == sum("inverse_dynamics" in item.functions for item in FORMULATIONS)
    for row in failed:
        assert row.claim.startswith(f"newton_euler: {REGRESSOR.name} = ")
        assert row.claim.endswith("inverse_dynamics at loads = 0")
        assert (row.difference.output, row.difference.index) == (REGRESSOR.name, (0,))


def test_every_composition_takes_part_in_a_relation():
    used = {name for relation in RELATIONS for name in (relation.function, relation.base)}
    assert {item.name for item in COMPOSITIONS} <= used


@pytest.mark.parametrize("seed", range(4))
def test_single_functions_are_proven_by_one_formulation(seed):
    """With every type of joint: chains of coordinates, standard DH rows, loads."""
    description = described(seeded_model_text(seed, replace(EVERYTHING, joints=(1, 3))))
    functions = ["inverse_dynamics", "regressor", "joint_wrenches"]
    result = prove(description, [NEWTON_EULER], functions, points=1, seed=seed)
    assert result.passed
    assert {row.function for row in result.rows} == {"regressor", "joint_wrenches"}
    assert any(WRENCHES.name in row.claim for row in result.rows)
