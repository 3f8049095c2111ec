"""The derivatives of the closed form: as a whole, and statement by statement."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from symgen.algebra.evaluation import evaluate
from symgen.algebra.graph import Graph
from symgen.deriving.derivation import derived_program
from symgen.description import read
from symgen.formulations import derive
from symgen.formulations.closed_form_lagrange import CLOSED_FORM_LAGRANGE
from symgen.kinematics.tree import build_tree
from symgen.optimize.operations import operations_after
from symgen.program.differentiation import write_jacobians
from symgen.program.evaluation import call
from symgen.validation.oracles import NumericRobot
from tests.choosing import deep, one_in
from tests.oracles.comparison import LIMIT, STEP, agrees, complex_steps, motion_of
from tests.oracles.descriptions import described
from tests.oracles.pinocchio_model import pinocchio_model
from tests.oracles.programs import evaluated
from tests.oracles.random_models import Recipe, seeded_model_text

EXAMPLES = Path(__file__).parents[2] / "examples"
DERIVATIVES = "inverse_dynamics_derivatives"
TREES = Recipe(joints=(1, 8), loads=(0, 3))
DERIVATIVE_OF = re.compile(r"d_(.+)_d(qd?_\d+)$")

DRIVEN = """
symgen: 1
name: driven
gravity: [1, -2, -9]
convention: standard
joints:
  - {name: slide, type: prismatic, dh: {alpha: 0.3}, link: {mass: 2}, rotor_inertia: 0.1,
     gear_ratio: 3, damping: 0.3, stiffness: 2, rest: 0.1, friction: 0.5, friction_velocity: 0.2}
  - {name: hip, type: spherical, origin: {xyz: [0.1, 0.2, 0.3], rpy: [0.1, 0.2, 0.3]},
     link: {mass: 1, com: [0.1, 0, 0.3], inertia: {xx: 1, yy: 2, zz: 1.5, xy: 0.1}},
     damping: [1, 2, 3]}
  - {name: arm, type: revolute, parent: slide, dh: {a: 0.4, d: 0.2, alpha: -1.1},
     link: {mass: 1, com: [0.1, 0, 0.3], inertia: {xx: 1, yy: 2, zz: 1.5, xy: 0.1}}, friction: 1}
loads:
  - {name: foot, link: hip, point: [0.1, 0.2, 0.3]}
  - {name: hand, link: arm, point: [0.1, -0.2, 0.3]}
"""


def assert_agree(values, references):
    for value, reference in zip(values, references, strict=True):
        assert agrees(value, reference)


def slopes_of(description, state):
    """tau and its derivatives, by complex step of the formulation's own inverse dynamics."""
    program = evaluated(description, CLOSED_FORM_LAGRANGE, "inverse_dynamics")
    slopes = [complex_steps(program, state, by)[0] for by in ("q", "qd", "qdd")]
    return [call(program, state)[0], *slopes]


MODELS = [
    *(pytest.param(seeded_model_text(seed, TREES), id=f"seed{seed}") for seed in range(30)),
    pytest.param(DRIVEN, id="driven"),
]


@pytest.mark.parametrize("text", [*one_in(7, MODELS[:-1]), MODELS[-1]])
def test_derivatives_are_those_of_the_torques(text):
    description = described(text)
    state = motion_of(description, 1)
    result = call(evaluated(description, CLOSED_FORM_LAGRANGE, DERIVATIVES), state)
    assert_agree(result, slopes_of(description, state))
    loads = state.pop("loads")
    assert_agree(
        result, NumericRobot(description).inverse_dynamics_derivatives(**state, loads=loads)
    )


@pytest.mark.parametrize("seed", one_in(5, range(30, 50)))
def test_derivatives_equal_pinocchio(seed):
    description = described(seeded_model_text(seed, TREES))
    state = motion_of(description, seed)
    result = call(evaluated(description, CLOSED_FORM_LAGRANGE, DERIVATIVES), state)
    assert_agree(result, pinocchio_model(description).inverse_dynamics_derivatives(**state))


@pytest.mark.parametrize(
    "text", one_in(3, [DRIVEN, *(seeded_model_text(seed, TREES) for seed in range(50, 55))])
)
def test_every_derivative_is_that_of_the_statement_it_is_named_after(text):
    """Complex step of every statement: ``d_M_1_2_dq_2`` is how ``M_1_2`` changes with q_2."""
    description = described(text)
    program = derive(build_tree(description, Graph()), CLOSED_FORM_LAGRANGE, DERIVATIVES)
    lines = {line.name: line.value for line in program.statements}
    state = motion_of(description, 2)
    entries = {
        name: complex(value)
        for array in program.inputs[:-1]
        for name, value in zip(array.symbol_names, state[array.name].flat, strict=True)
    }
    entries |= description.parameter_values
    differentiated = [match for name in lines if (match := DERIVATIVE_OF.match(name))]
    kinds = {match[1].partition("_")[0] for match in differentiated}
    if text is DRIVEN:
        assert kinds == {"ddA", "dA", "M", "D", "V", "G", "load", "tau", "drive"}
    by_symbol = {}
    for match in differentiated:
        by_symbol.setdefault(match[2], []).append(match)
    for symbol, matches in by_symbol.items():
        shifted = {**entries, symbol: entries[symbol] + 1j * STEP}
        values = evaluate([lines[match[0]] for match in matches], entries)
        bases = evaluate([lines[match[1]] for match in matches], shifted)
        for match, value, base in zip(matches, values, bases, strict=True):
            slope = np.imag(base) / STEP
            assert abs(np.real(value) - slope) <= LIMIT * max(1.0, abs(slope)), match[0]


def test_joints_of_different_paths_have_nothing_to_do_with_each_other():
    description = described(DRIVEN)  # coordinates: slide, hip_1, hip_2, hip_3, arm
    program = derive(build_tree(description, Graph()), CLOSED_FORM_LAGRANGE, DERIVATIVES)
    apart = {(i, 4) for i in (1, 2, 3)} | {(4, i) for i in (1, 2, 3)}
    slide = {(i, 0) for i in range(1, 5)}  # where it is, and how fast, makes no difference
    for output in program.outputs[1:]:
        zeros = {divmod(k, 5) for k, entry in enumerate(output.entries) if entry.is_zero}
        assert zeros == (apart if output.name == "dtau_dqdd" else apart | slide), output.name


def test_inertia_knows_nothing_of_the_first_joint():
    """A joint turns all that it carries as one piece; only gravity and loads tell how far."""
    text = re.sub("gravity.*\n", "gravity: [0, 0, 0]\n", DRIVEN).partition("loads:")[0]
    program = derive(
        build_tree(described(text.replace("stiffness: 2, ", "")), Graph()),
        CLOSED_FORM_LAGRANGE,
        DERIVATIVES,
    )
    assert all(entry.is_zero for entry in program.outputs[1].entries[::5])


def by_differentiation(tree, builder, state):
    """The same function by differentiation of the program of the torques."""
    CLOSED_FORM_LAGRANGE.functions["inverse_dynamics"](tree, builder, state)
    inputs = [builder.declared(name) for name in ("q", "qd", "qdd")]
    write_jacobians(builder, "tau", builder.results("tau"), inputs)


@pytest.mark.parametrize(
    ("name", "share"), [("two_link", 0.75), ("cart_pole", 0.8), ("puma560", 0.7)]
)
def test_it_costs_less_than_differentiating_the_program(name, share):
    description = read(EXAMPLES / f"{name}.yaml")
    other = replace(CLOSED_FORM_LAGRANGE, functions={DERIVATIVES: by_differentiation})
    count, most = (
        operations_after(derived_program(description, formulation, DERIVATIVES).results).total
        for formulation in (CLOSED_FORM_LAGRANGE, other)
    )
    assert count < share * most


@pytest.mark.parametrize("depth", [4, *deep(2, 6)])
def test_the_estimate_is_about_right(depth):
    recipe = Recipe((depth, depth), types=["revolute"], branching=False, massless=False)
    description = described(seeded_model_text(3, recipe))
    tree = build_tree(description, Graph())
    for function in ("inverse_dynamics", DERIVATIVES):
        program = derived_program(description, CLOSED_FORM_LAGRANGE, function)
        count = operations_after(program.results).total
        assert 0.5 < CLOSED_FORM_LAGRANGE.estimate(tree, function) / count < 2.0
