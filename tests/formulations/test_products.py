"""Products of derivatives and vectors against the matrices, by every formulation."""

import numpy as np
import pytest

from symgen.algebra.graph import Graph
from symgen.deriving.derivation import derived_program
from symgen.formulations import FORMULATIONS, formulation_named, provided_functions
from symgen.kinematics.tree import build_tree
from symgen.optimize.operations import operations_after
from symgen.program.evaluation import call
from symgen.program.products import PRODUCTS
from symgen.validation.evaluated import evaluated_subjects
from symgen.validation.validate import validate
from tests.choosing import one_in
from tests.oracles.comparison import state_of
from tests.oracles.descriptions import described
from tests.oracles.programs import evaluated
from tests.oracles.random_models import Recipe, seeded_model_text

RECIPES = {
    "angles": Recipe(joints=(2, 5), loads=(0, 2), terms=True),
    "quaternions": Recipe(
        joints=(2, 3), types=("ball", "free", "revolute"), loads=(1, 2), terms=True
    ),
}


def matrices(description, of, state, runtime):
    """Derivatives by the state, loads and parameters, (n, m) each, and the first result."""

    def found(formulation, function):
        program = evaluated(description, formulation_named(formulation), function, runtime)
        return call(program, state)

    value, *slopes = found("newton_euler", f"{of}_derivatives")[:4]
    (levers,) = found("newton_euler", "inverse_dynamics_load_derivatives")
    levers = levers.reshape(len(value), -1)
    if of == "forward_dynamics":
        levers = -slopes[2] @ levers
    by_parameters = found("newton_euler", f"{of}_parameter_derivatives")[0]
    return value, [*slopes, levers, by_parameters]


@pytest.mark.parametrize("kind", RECIPES)
@pytest.mark.parametrize("seed", one_in(3, range(6)))
def test_against_matrices(kind, seed):
    text = seeded_model_text(seed + 30, RECIPES[kind]).replace("mass: ", "mass: 0.1*k + ")
    description, runtime = described(text), ("k",)
    tree = build_tree(description, Graph(), runtime)
    state = state_of(description, seed)
    state |= {"parameters": np.array([0.75]), "dparameters": np.array([0.3])}
    tried = set()
    for formulation in FORMULATIONS:
        if formulation.why_not(tree):
            continue
        for name in set(PRODUCTS) & set(provided_functions(formulation, tree)):
            product = PRODUCTS[name]
            value, slopes = matrices(description, product.of, state, runtime)
            results = call(derived_program(description, formulation, name, runtime), state)
            if product.backwards:
                expected = [state["multipliers"] @ slope for slope in slopes]
            else:
                directions = [state[one].ravel() for one in product.by.values()]
                pairs = zip(slopes, directions, strict=True)
                expected = [value, sum(slope @ x for slope, x in pairs)]
            sizes = [1.0, *(np.abs(x).max(initial=0.0) for x in (value, *slopes))]
            for found, wanted in zip(results, expected, strict=False):
                assert np.abs(found.ravel() - wanted).max(initial=0.0) <= 1e-11 * max(sizes)
            tried.add(name)
    assert tried == set(PRODUCTS)


@pytest.mark.parametrize("kind", RECIPES)
def test_a_product_costs_a_small_multiple_of_its_function(kind):
    description = described(seeded_model_text(41, RECIPES[kind]))
    tree = build_tree(description, Graph())
    for formulation in FORMULATIONS:
        for name in set(PRODUCTS) & set(provided_functions(formulation, tree)):
            if formulation.why_not(tree):
                continue
            cost, plain = (
                operations_after(derived_program(description, formulation, x).results).total
                for x in (name, PRODUCTS[name].of)
            )
            assert cost <= 4.5 * plain + 200, (formulation.name, name)


@pytest.mark.parametrize("flipped", ["gradient_q", "gradient_qd", "gradient_qdd", "tau_along"])
def test_validation_finds_a_wrong_product(flipped):
    description = described(seeded_model_text(41, RECIPES["angles"]))
    name = "inverse_dynamics_jvp" if flipped == "tau_along" else "inverse_dynamics_vjp"
    program = derived_program(description, formulation_named("composite"), name)
    (subject,) = evaluated_subjects({"composite": {name: program}})
    assert validate(description, [subject]).passed
    right = getattr(subject.functions, name)
    place = [output.name for output in program.outputs].index(flipped)

    def wrong(*arguments, **options):
        results = list(right(*arguments, **options))
        results[place] = -results[place]
        return tuple(results)

    setattr(subject.functions, name, wrong)
    assert not validate(description, [subject]).passed
