"""Accelerations of random trees: every formulation against Pinocchio, and back through the torques.

`compare` holds accelerations, their derivatives, pivots and diagonal against Pinocchio, and every
formulation against the first.  The examples have their turn in `test_examples`.
"""

from pathlib import Path

import numpy as np
import pytest

from symgen import read
from symgen.algebra.graph import Graph
from symgen.formulations import FORMULATIONS
from symgen.formulations.kane import KANE
from symgen.kinematics.tree import build_tree
from symgen.program.evaluation import call
from tests.agreement.test_pinocchio import LARGE, MIXED, SMALL, check, compare
from tests.choosing import deep, one_in, some_deep
from tests.oracles.comparison import SINGULAR, agrees, condition, random_state, state_of
from tests.oracles.descriptions import described
from tests.oracles.pinocchio_model import pinocchio_model
from tests.oracles.programs import evaluated
from tests.oracles.random_models import EVERYTHING, Recipe, seeded_model_text

EXAMPLES = Path(__file__).parents[2] / "examples"
SOLVING = ("forward_dynamics", "forward_dynamics_derivatives")
TO_TWENTY = Recipe(joints=(4, 20), loads=(0, 5), terms=True)
MIXED_TERMS = Recipe(joints=(2, 7), types=EVERYTHING.types, loads=(0, 4), terms=True)
ABLE = [item for item in FORMULATIONS if SOLVING[0] in item.functions]


def mass_of(description, seed):
    return pinocchio_model(description).mass_matrix(state_of(description, seed)["q"])


@pytest.mark.parametrize("seed", some_deep(range(400, 408), (401, 403)))
def test_seeded_trees(seed):
    recipe = TO_TWENTY if seed % 4 == 0 else MIXED_TERMS
    compare(described(seeded_model_text(seed, recipe)), seed, samples=3, only=SOLVING)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(500, 600))
def test_many_seeded_trees(seed):
    recipe = TO_TWENTY if seed % 2 else MIXED_TERMS
    compare(described(seeded_model_text(seed, recipe)), seed, only=SOLVING)


@pytest.mark.deep
def test_the_recursive_derivatives_of_the_largest_example():
    """Too large for `test_examples`."""
    description = read(EXAMPLES / "human43.yaml")
    state = state_of(description, 6)
    results = call(evaluated(description, KANE, SOLVING[1]), state)
    check(pinocchio_model(description), SOLVING[1], state, results, results, "kane")


def test_there_are_four_ways():
    names = {"newton_euler", "kane", "explicit_kane", "partially_recursive_kane"}
    assert {item.name for item in ABLE} >= names
    assert all(set(SOLVING) <= set(item.functions) for item in ABLE)


# -- models without a solution -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("recipe", "seeds", "singular"),
    [
        (SMALL, range(1, 40, 2), 1),
        (LARGE, range(0, 40, 2), 0),
        (MIXED, range(101, 300, 2), 20),
        pytest.param(TO_TWENTY, range(400, 600), 3, marks=pytest.mark.deep),
        *deep((MIXED_TERMS, range(400, 600), 6)),
    ],
    ids=["small", "large", "mixed", "to twenty", "mixed with terms"],
)
def test_few_seeded_trees_are_left_out(recipe, seeds, singular):
    """And none is near the border: what is left out has no solution at all, for its structure."""
    models = [(described(seeded_model_text(seed, recipe)), seed) for seed in seeds]
    found = np.array([condition(mass_of(*model)) for model in models])
    assert np.sum(found >= SINGULAR) <= singular
    assert not np.any((found > SINGULAR / 100) & (found < SINGULAR * 1e4))


@pytest.mark.parametrize("seed", one_in(6, [101, 116, 122, 124, 129]))
def test_pivots_tell_that_there_is_no_solution(seed):
    """A pivot vanishes beside the diagonal, but for what elimination makes of its rounding."""
    description = described(seeded_model_text(seed, MIXED))
    assert condition(mass_of(description, seed)) >= SINGULAR  # of these mixed trees
    tree, state = build_tree(description, Graph()), state_of(description, seed)
    for formulation in ABLE:
        assert formulation.why_not(tree) is None
        program = evaluated(description, formulation, "forward_dynamics")
        with np.errstate(all="ignore"):
            *_, pivots, diagonal = call(program, state)
        multipliers = np.sqrt(diagonal.max() / np.sort(np.abs(pivots))[1:2])
        least = np.finfo(float).eps * len(pivots) * diagonal.max() * max([1.0, *multipliers])
        assert not pivots.min() > least, formulation.name


# -- two ways about ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", some_deep(range(3), (1,)))
def test_slopes_of_torques_and_of_accelerations_belong_together(seed):
    """M dqdd/dq = -dtau/dq, M dqdd/dqd = -dtau/dqd and M dqdd/dtau = 1 at one state."""
    description = described(seeded_model_text(seed + 420, MIXED_TERMS))
    state = state_of(description, seed)
    n = len(state["q"])
    torques = evaluated(description, FORMULATIONS[0], "inverse_dynamics_derivatives")
    tau, by_q, by_qd, mass = call(torques, state)
    limit = 1e-12 * max(1.0, condition(mass))
    for formulation in ABLE:
        program = evaluated(description, formulation, SOLVING[1])
        qdd, slope_q, slope_qd, inverse, *_ = call(program, {**state, "tau": tau})
        assert agrees(qdd, state["qdd"], limit)
        assert agrees(mass @ slope_q, -by_q, limit)
        assert agrees(mass @ slope_qd, -by_qd, limit)
        assert agrees(mass @ inverse, np.eye(n), limit)


def test_states_differ():
    """The samples that `compare` takes are not all one."""
    assert not agrees(random_state(3, 1)["q"], random_state(3, 1001)["q"])
