"""Random trees against Pinocchio: every formulation, every function, to 1e-11."""

import pytest

from symgen.algebra.graph import Graph
from symgen.deriving.derivation import derived_program
from symgen.formulations import FORMULATIONS, provided_functions
from symgen.kinematics.tree import build_tree
from symgen.program.evaluation import call
from symgen.program.functions import function_named, senseless_functions
from tests.oracles.comparison import LIMIT, agrees, solving_limit, state_of
from tests.oracles.descriptions import described
from tests.oracles.pinocchio_functions import has_solution, mass_to_invert, reference
from tests.oracles.pinocchio_model import pinocchio_model
from tests.oracles.programs import evaluated
from tests.oracles.random_models import COMPOSITE, Recipe, seeded_model_text

pytestmark = pytest.mark.deep

LARGEST = 23_000
"""Estimated operations of a function, those of a closed form of a chain of eight: more are not
derived here."""
LARGEST_SLOPES = 140_000
"""The same of derivatives and of functions that solve."""
TYPES = ("revolute", "revolute", "prismatic", "fixed", *COMPOSITE)
RECIPES = (
    Recipe(joints=(1, 12), loads=(0, 5), points=(0, 3)),
    Recipe(joints=(1, 6), types=TYPES, loads=(0, 3), points=(0, 3), terms=True, prescribed=True),
    Recipe(
        joints=(1, 5), types=("ball", "free", "revolute", "prismatic", "fixed", "universal"),
        loads=(0, 2), points=(0, 2), terms=True, prescribed=True,
    ),
    Recipe(joints=(2, 7), types=TYPES, loads=(0, 4), terms=True),
    Recipe(
        joints=(2, 6), types=("revolute", "revolute", "prismatic", "ball"), loads=(1, 3),
        points=(0, 1), terms=True, prescribed=True, floating_base=True,
    ),
    Recipe(joints=(15, 30), loads=(0, 5), points=(0, 3)),
)  # fmt: skip


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
                continue  # Pinocchio has none
            found = [k for k in range(samples) if has_solution(oracle, function, states[k])]
            if not found:
                continue
            program = derived(description, formulation, function)
            for k in found:
                results = call(program, states[k])
                expected = first.setdefault((function, k), results)
                check(oracle, function, states[k], results, expected, formulation.name)


def check(oracle, function, state, results, others, label):
    """The results of a function against those of another formulation and Pinocchio."""
    mass = mass_to_invert(oracle, function, state)
    limit = LIMIT if mass is None else solving_limit(mass)
    for value, other in zip(results, others, strict=True):
        assert agrees(value, other, limit), (label, function)
    if function == "coriolis_matrix":
        results = [results[0] @ state["qd"]]
    if function.endswith("_hvp"):
        return  # Pinocchio has none
    for value, expected in zip(results, reference(oracle, function, state), strict=True):
        assert agrees(value, expected, limit), (label, function)


@pytest.mark.parametrize("seed", range(60))
def test_random_trees(seed):
    recipe = RECIPES[seed % 6]
    compare(described(seeded_model_text(seed, recipe)), seed, 1, derived=derived_program)
