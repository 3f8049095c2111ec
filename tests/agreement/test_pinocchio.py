"""Random trees against Pinocchio: every formulation, every function, to 1e-11."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from symgen.algebra.graph import Graph
from symgen.deriving.derivation import derived_program
from symgen.formulations import FORMULATIONS, provided_functions
from symgen.kinematics.tree import build_tree
from symgen.program.evaluation import call
from symgen.program.functions import function_named, senseless_functions
from tests.choosing import some_deep
from tests.oracles.comparison import LIMIT, agrees, solving_limit, state_of
from tests.oracles.descriptions import described
from tests.oracles.pinocchio_functions import has_solution, mass_to_invert, reference
from tests.oracles.pinocchio_model import pinocchio_model
from tests.oracles.programs import evaluated
from tests.oracles.random_models import COMPOSITE, Recipe, model_texts, seeded_model_text

LARGEST = 23_000
"""Estimated operations of a function, those of a closed form of a chain of eight: more are not
derived here."""
LARGEST_SLOPES = 140_000
"""The same of derivatives and of functions that solve."""
LARGE = Recipe(joints=(1, 12), loads=(0, 5))
SMALL = Recipe(joints=(1, 8), loads=(0, 3))
DRAWN = Recipe(joints=(1, 5), loads=(0, 2))
TYPES = ("revolute", "revolute", "prismatic", "fixed", *COMPOSITE)
MIXED = Recipe(joints=(1, 6), types=TYPES, loads=(0, 3), points=(0, 3))
MEDIUM = Recipe(joints=(1, 14), loads=(0, 5), points=(0, 3))
HUGE = Recipe(joints=(15, 30), loads=(0, 5), points=(0, 3))


def worth_deriving(description, runtime=()):
    """The formulations, each with what it derives: what means something and is not too large."""
    tree = build_tree(description, Graph(), runtime)
    senseless = senseless_functions(tree.sizes)
    for formulation in FORMULATIONS:
        functions = [
            name
            for name in provided_functions(formulation, tree)
            if name not in senseless and formulation.operations(tree, name) <= largest(name)
        ]
        if functions:
            assert formulation.why_not(tree) is None
            yield formulation, functions


def largest(function):
    """The estimated operations up to which a function is derived."""
    slopes = function == "inverse_dynamics_derivatives" or function_named(function).solves
    return LARGEST_SLOPES if slopes else LARGEST


def compare(description, seed, samples=2, only=None, derived=evaluated):
    """Every function that Pinocchio has, on random states, and every formulation with the first.

    `only` names functions, and `derived` makes their programs.  Where the mass matrix is singular
    nothing is solved with it.
    """
    oracle = pinocchio_model(description)
    states = [state_of(description, seed + 1000 * k) for k in range(samples)]
    first = {}
    for formulation, functions in worth_deriving(description):
        for function in functions:
            if function.startswith("outputs") or function not in (only or functions):
                continue  # outputs: see tests/formulations/test_outputs.py
            found = [k for k in range(samples) if has_solution(oracle, function, states[k])]
            if not found:
                continue
            program = derived(description, formulation, function)
            for k in found:
                results = call(program, states[k])
                expected = first.setdefault((function, k), results)
                check(oracle, function, states[k], results, expected, formulation.name)
                if function == "forward_dynamics":
                    check_torques(oracle, program, states[k])


def check(oracle, function, state, results, others, label):
    """The results of a function against those of another formulation and Pinocchio."""
    mass = mass_to_invert(oracle, function, state)
    limit = LIMIT if mass is None else solving_limit(mass)
    for value, other in zip(results, others, strict=True):
        assert agrees(value, other, limit), (label, function)
    if function == "coriolis_matrix":
        results = [results[0] @ state["qd"]]
    if function.endswith("_hvp"):
        return  # Pinocchio has none; see tests/formulations/test_products.py
    for value, expected in zip(results, reference(oracle, function, state), strict=True):
        assert agrees(value, expected, limit), (label, function)


def check_torques(oracle, program, state):
    """|ID(FD(tau)) - tau| <= 1e-11 of scale, for any torques and for those of known accelerations.

    Any torques may accelerate light links by 1e5 rad/s^2 and more.  What M qdd is summed of is the
    scale then; for moderate accelerations it is the torques alone.
    """
    q, qd, loads = (state[name] for name in ("q", "qd", "loads"))
    mass = oracle.mass_matrix(q)
    qdd = call(program, state)[0]
    tau = oracle.inverse_dynamics(q, qd, qdd, loads=loads)
    scale = max(1.0, np.abs(state["tau"]).max(initial=0.0), *(np.abs(mass) @ np.abs(qdd)))
    assert np.abs(tau - state["tau"]).max(initial=0.0) <= LIMIT * scale
    known = oracle.inverse_dynamics(q, qd, state["qdd"], loads=loads)
    qdd = call(program, {**state, "tau": known})[0]
    assert agrees(qdd, state["qdd"], solving_limit(mass))
    assert agrees(oracle.inverse_dynamics(q, qd, qdd, loads=loads), known)


@pytest.mark.parametrize("seed", some_deep(range(40), (4,)))
def test_seeded_trees(seed):
    recipe = SMALL if seed % 2 else LARGE
    compare(described(seeded_model_text(seed, recipe)), seed, derived=derived_program)


@given(model_texts(DRAWN))
@settings(max_examples=2, suppress_health_check=list(HealthCheck))
def test_drawn_trees(text):
    compare(described(text), 1, samples=1)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(100, 200))
def test_many_seeded_trees(seed):
    """Trees of 1 to 30 joints, composite joints among them; one in ten is large."""
    recipe = HUGE if seed % 10 == 0 else (MIXED, MEDIUM)[seed % 2]
    description = described(seeded_model_text(seed, recipe))
    compare(description, seed, samples=1, derived=derived_program)
