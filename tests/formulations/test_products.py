"""Products of derivatives and vectors against the matrices, by every formulation."""

import re

import numpy as np
import pytest

from symgen.algebra.graph import Graph
from symgen.deriving.derivation import derived_program
from symgen.formulations import FORMULATIONS, formulation_named, provided_functions
from symgen.kinematics.tree import build_tree
from symgen.optimize.operations import operations_after
from symgen.program.evaluation import call
from symgen.program.products import PRODUCTS
from symgen.robot.configuration import Configuration
from symgen.validation.evaluated import evaluated_subjects
from symgen.validation.oracle_parts import configuration
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
FIRST = {name for name in PRODUCTS if not name.endswith("_hvp")}
SECOND = set(PRODUCTS) - FIRST


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
        for name in FIRST & set(provided_functions(formulation, tree)):
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
    assert tried == FIRST


@pytest.mark.parametrize("kind", RECIPES)
@pytest.mark.parametrize("seed", one_in(3, range(6)))
def test_hessians_are_symmetric_and_bend_gradients(kind, seed):
    """a . H a is the second derivative along a, and a . H b = b . H a; both together are H."""
    text = seeded_model_text(seed + 30, RECIPES[kind]).replace("mass: ", "mass: 0.1*k + ")
    text = re.sub("stiffness: .*", "stiffness: 0", text) if kind == "quaternions" else text
    description, runtime = described(text), ("k",)
    tree = build_tree(description, Graph(), runtime)
    space = configuration(description) or Configuration(tree.n)
    state = state_of(description, seed) | {"parameters": np.array([0.75])}
    tried = set()
    for name in SECOND:
        product = PRODUCTS[name]
        a, b = (direction(product, state_of(description, seed + k), k) for k in (50, 60))
        step = 1e-40j
        ahead = {x: state[x] + step * a[along] for x, along in product.by.items() if x != "q"}
        ahead["q"] = space.integrate(state["q"], step * a["dq"])
        gradient = [state["multipliers"] @ slope for slope in
                    matrices(description, product.of, state | ahead, runtime)[1]]  # fmt: skip
        wanted = weighed(gradient, a, product).imag / step.imag
        for formulation in FORMULATIONS:
            if name not in provided_functions(formulation, tree) or formulation.why_not(tree):
                continue
            program = derived_program(description, formulation, name, runtime)
            along_a, along_b = (call(program, state | x) for x in (a, b))
            size = sum(np.abs(x).sum() for x in (*along_a, *along_b))
            assert abs(weighed(along_a, a, product) - wanted) <= 1e-11 * size
            difference = weighed(along_a, b, product) - weighed(along_b, a, product)
            assert abs(difference) <= 1e-11 * size
            tried.add(name)
    assert tried == SECOND


def direction(product, state, seed):
    """The direction of a product among the arrays of a state, and one of one parameter."""
    state = state | {"dparameters": np.array([0.1 * seed - 5.4])}
    return {along: state[along] for along in product.by.values()}


def weighed(gradients, along, product):
    """Gradients . direction."""
    pairs = zip(gradients, product.by.values(), strict=False)
    return sum(gradient.ravel() @ along[one].ravel() for gradient, one in pairs)


@pytest.mark.parametrize("kind", RECIPES)
def test_a_product_costs_a_small_multiple_of_its_function(kind):
    description = described(seeded_model_text(54, RECIPES[kind]))
    tree = build_tree(description, Graph())
    for formulation in FORMULATIONS:
        for name in set(PRODUCTS) & set(provided_functions(formulation, tree)):
            if formulation.why_not(tree):
                continue
            cost, plain = (
                operations_after(derived_program(description, formulation, x).results).total
                for x in (name, PRODUCTS[name].of)
            )
            both = PRODUCTS[name].backwards and PRODUCTS[name].along
            assert cost <= (12.5 if both else 4.5) * plain + 200, (formulation.name, name)


@pytest.mark.parametrize(
    ("kind", "flipped"),
    [
        ("vjp", "gradient_q"),
        ("vjp", "gradient_qd"),
        ("vjp", "gradient_qdd"),
        ("jvp", "tau_along"),
        ("hvp", "gradient_q_along"),
        ("hvp", "gradient_qdd_along"),
        ("hvp", "gradient_loads_along"),
    ],
)
def test_validation_finds_a_wrong_product(kind, flipped):
    description = described(seeded_model_text(54, RECIPES["angles"]))
    name = f"inverse_dynamics_{kind}"
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
