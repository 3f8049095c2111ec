"""Random trees against Pinocchio: every formulation, every function, to 1e-11."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from symgen.algebra.graph import Graph
from symgen.derivation import derived_program
from symgen.formulations import FORMULATIONS, provided_functions
from symgen.kinematics.tree import build_tree
from symgen.program.evaluation import call
from symgen.program.functions import function_named
from tests.oracles.comparison import agrees, state_of
from tests.oracles.descriptions import described
from tests.oracles.pinocchio_model import pinocchio_model
from tests.oracles.random_models import COMPOSITE, Recipe, model_texts, seeded_model_text

LARGEST = 23_000
"""Estimated operations of the torques: more is not derived here."""
LARGE = Recipe(joints=(1, 12), loads=(0, 5))
SMALL = Recipe(joints=(1, 8), loads=(0, 3))
DRAWN = Recipe(joints=(1, 5), loads=(0, 2))
TYPES = ("revolute", "revolute", "prismatic", "fixed", *COMPOSITE)
MIXED = Recipe(joints=(1, 6), types=TYPES, loads=(0, 3), points=(0, 3))
MEDIUM = Recipe(joints=(1, 14), loads=(0, 5), points=(0, 3))
HUGE = Recipe(joints=(15, 30), loads=(0, 5), points=(0, 3))


def worth_deriving(description):
    """The formulations whose torques are no larger than the closed form of a chain of eight."""
    tree = build_tree(description, Graph())
    for formulation in FORMULATIONS:
        if formulation.estimate(tree, "inverse_dynamics") <= LARGEST:
            assert formulation.why_not(tree) is None
            yield formulation


def compare(description, seed, samples=2):
    """Every function that Pinocchio has, on random states, and every formulation with the first."""
    oracle = pinocchio_model(description)
    states = [state_of(description, seed + 1000 * k) for k in range(samples)]
    first = {}
    for formulation in worth_deriving(description):
        for function in provided_functions(formulation):
            program = derived_program(description, formulation, function)
            for k, state in enumerate(states):
                results = call(program, state)
                expected = first.setdefault((function, k), results)
                for value, other in zip(results, expected, strict=True):
                    assert agrees(value, other), (formulation.name, function)
                references = reference(oracle, function, state)
                for value, expected in zip(results, references, strict=True):
                    value = value @ state["qd"] if function == "coriolis_matrix" else value
                    assert agrees(value, expected), (formulation.name, function)


def reference(oracle, function, state):
    """What Pinocchio says; what it lacks is composed of what it has."""
    q, qd, loads = (state[name] for name in ("q", "qd", "loads"))
    zero, none = np.zeros_like(q), np.zeros_like(loads)
    if function == "bias_forces":
        return (oracle.inverse_dynamics(q, qd, zero, loads=loads),)
    if function == "coriolis_matrix":  # C is not unique; C qd is
        return (oracle.coriolis_matrix(q, qd) @ qd,)
    if function == "inverse_dynamics_load_derivatives":
        still = oracle.inverse_dynamics(q, zero, zero, loads=none)
        slopes = np.zeros((len(q), *loads.shape))
        for position in np.ndindex(loads.shape):
            unit = none.copy()
            unit[position] = 1.0
            slopes[(slice(None), *position)] = (
                oracle.inverse_dynamics(q, zero, zero, loads=unit) - still
            )
        return (slopes,)
    spec = function_named(function)
    arguments = [state[argument.name] for argument in spec.arguments]
    options = {argument.name: state[argument.name] for argument in spec.options}
    result = getattr(oracle, function)(*arguments, **options)
    return result if isinstance(result, tuple) else (np.asarray(result),)


@pytest.mark.parametrize(
    "seed", [*range(16), *(pytest.param(k, marks=pytest.mark.slow) for k in range(16, 40))]
)
def test_seeded_trees(seed):
    recipe = SMALL if seed % 2 else LARGE
    compare(described(seeded_model_text(seed, recipe)), seed)


@given(model_texts(DRAWN))
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
def test_drawn_trees(text):
    compare(described(text), 1, samples=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 300))
def test_many_seeded_trees(seed):
    """Trees of 1 to 30 joints, composite joints among them; one in ten is large."""
    recipe = HUGE if seed % 10 == 0 else (MIXED, MEDIUM)[seed % 2]
    compare(described(seeded_model_text(seed, recipe)), seed, samples=1)
