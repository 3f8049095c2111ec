"""The regressor and the inertial parameters: torques, Pinocchio, single bodies, structure."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from symgen.algebra.evaluation import evaluate
from symgen.algebra.graph import Graph
from symgen.deriving.derivation import derive_all, derived_program
from symgen.deriving.packaging import package_of
from symgen.deriving.selection import select
from symgen.errors import RequestError
from symgen.formulations import derive, formulation_named
from symgen.kinematics.bodies import INERTIAL_PARAMETERS
from symgen.kinematics.tree import build_tree
from symgen.optimize.operations import operations_after
from symgen.options import BuildOptions
from symgen.program.evaluation import call
from symgen.validation.oracles import NumericRobot
from tests.choosing import one_in
from tests.oracles.comparison import agrees, random_state
from tests.oracles.descriptions import described
from tests.oracles.pinocchio_model import pinocchio_model
from tests.oracles.programs import evaluated
from tests.oracles.random_models import EVERYTHING, Recipe, model_texts, seeded_model_text

NEWTON_EULER = formulation_named("newton_euler")


def regressor(description, state):
    return call(evaluated(description, NEWTON_EULER, "regressor"), state)[0]


def inertial_parameters(description):
    tree = build_tree(description, Graph())
    values = evaluate(tree.inertial_parameters, dict(description.parameter_values))
    return np.array(values, dtype=float)


@pytest.mark.parametrize("seed", one_in(5, range(30)))
def test_times_the_parameters_it_is_the_inverse_dynamics(seed):
    description = described(seeded_model_text(seed))
    oracle = pinocchio_model(description)
    state = random_state(oracle.n, seed)
    torques = regressor(description, state) @ inertial_parameters(description)
    none = np.zeros((len(description.loads), 6))
    assert agrees(torques, oracle.inverse_dynamics(**state, loads=none))


@pytest.mark.parametrize("seed", range(100, 120))
def test_every_column_equals_pinocchio(seed):
    description = described(seeded_model_text(seed))
    oracle = pinocchio_model(description)
    state = random_state(oracle.n, seed)
    assert agrees(regressor(description, state), oracle.regressor(**state))


@pytest.mark.parametrize("seed", range(120, 130))
def test_joints_of_several_coordinates_with_terms_of_their_own(seed):
    """Hidden bodies have columns, drives have none."""
    description = described(seeded_model_text(seed, EVERYTHING))
    oracle = NumericRobot(description)
    state = random_state(oracle.n, seed)
    assert agrees(inertial_parameters(description), oracle.inertial_parameters)
    assert agrees(regressor(description, state), oracle.regressor(**state))
    assert agrees(regressor(description, state), pinocchio_model(description).regressor(**state))


@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(model_texts(Recipe(joints=(1, 6))))
def test_every_column_of_drawn_trees_equals_pinocchio(text):
    description = described(text)
    oracle = pinocchio_model(description)
    state = random_state(oracle.n, 2)
    assert agrees(regressor(description, state), oracle.regressor(**state))


@pytest.mark.parametrize("seed", range(200, 210))
def test_parameters_are_those_of_the_merged_bodies(seed):
    description = described(seeded_model_text(seed))
    assert agrees(inertial_parameters(description), NumericRobot(description).inertial_parameters)


# Robots that differ in one body: their torques differ by the columns of that body.

TREE = """
symgen: 1
name: tree
gravity: [1, -2, -9]
convention: standard
joints:
  - {{name: a, type: revolute, dh: {{theta: 0.3, d: 0.2, a: 0.4, alpha: 0.7}}, link: {0}}}
  - {{name: b, type: prismatic, dh: {{theta: -0.5, d: 0.3, a: 0.2, alpha: 1.1}}, link: {1}}}
  - {{name: c, type: revolute, parent: a, origin: {{xyz: [0.1, 0.2, 0.3], rpy: [1, 2, 3]}},
     link: {2}}}
"""
NOTHING = "{name: %s, mass: 0}"
POINT = "{name: %s, mass: 1}"
ASIDE = "{name: %s, mass: 1, com: [0.3, -0.2, 0.1]}"
TENSOR = "{name: %s, mass: 0, inertia: {xx: 2, yy: 2.5, zz: 3, xy: 0.1, xz: -0.2, yz: 0.3}}"
BODIES = {
    POINT: [1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ASIDE: [1, 0.3, -0.2, 0.1, 0.05, 0.06, 0.1, -0.03, 0.02, 0.13],
    TENSOR: [0, 0, 0, 0, 2, 0.1, 2.5, -0.2, 0.3, 3],
}


@pytest.mark.parametrize("link", range(3))
@pytest.mark.parametrize("body", BODIES, ids=["point mass", "mass aside", "tensor"])
def test_one_body_alone(link, body):
    """Parameters by hand, torques by Lagrange's equations from the kinetic energy."""
    shapes = [body if i == link else NOTHING for i in range(3)]
    names = ("la", "lb", "lc")
    description = described(TREE.format(*(s % x for s, x in zip(shapes, names, strict=True))))
    expected = np.zeros(30)
    expected[10 * link : 10 * link + 10] = BODIES[body]
    assert agrees(inertial_parameters(description), expected)
    state = random_state(3, link)
    torques = regressor(description, state) @ expected
    assert agrees(torques, NumericRobot(description).inverse_dynamics(**state))


# ------------------------------------------------------------------------------------ structure


@pytest.mark.parametrize("seed", range(300, 305))
def test_blocks_of_joints_that_do_not_carry_the_body_are_never_written(seed):
    tree = build_tree(described(seeded_model_text(seed, Recipe(joints=(6, 12)))), Graph())
    program = derive(tree, NEWTON_EULER, "regressor")
    blocks = np.array(program.results, dtype=object).reshape(tree.n, tree.n, 10)
    for j in range(1, tree.n + 1):
        for k in range(1, tree.n + 1):
            if k not in tree.path(j):
                assert all(entry.is_zero for entry in blocks[k - 1, j - 1])
                assert not [x for x in program.statements if x.name.startswith(f"Y_{k}_{j}_")]


def test_the_regressor_holds_no_inertial_parameter():
    text = TREE.format("{name: la, mass: m}", "{name: lb, mass: m}", "{name: lc, mass: m}")
    tree = build_tree(described(text + "parameters: {m: 2}\n"), Graph())
    program = derive(tree, NEWTON_EULER, "regressor")
    values = random_state(3, 0)
    symbols = {f"{key}_{i}": x for key, row in values.items() for i, x in enumerate(row, start=1)}
    evaluate(program.results, symbols)  # no value for m is needed


def test_hidden_massless_bodies_have_columns():
    """A joint of several coordinates gives one body of ten parameters for each of them."""
    description = described(
        "symgen: 1\nname: wrist\njoints:\n"
        "  - {name: wrist, type: spherical, origin: {xyz: [0.1, 0.2, 0.3]}, "
        "link: {mass: 2, com: [0.1, 0.2, 0.3], inertia: {xx: 1, yy: 1.5, zz: 2}}}\n"
    )
    tree = build_tree(description, Graph())
    assert len(tree.inertial_parameters) == 30
    state = random_state(3, 1)
    torques = regressor(description, state) @ inertial_parameters(description)
    expected = call(evaluated(description, NEWTON_EULER, "inverse_dynamics"), state)[0]
    assert agrees(torques, expected)
    assert (inertial_parameters(description)[:20] == 0.0).all()


def test_the_module_carries_the_parameters():
    """As numbers, with what is fixed to a body merged into it, whatever is selected."""
    description = described(
        "symgen: 1\nname: two\nparameters: {m: 0.1}\njoints:\n"
        "  - {name: a, type: revolute, origin: {}, link: {mass: m, com: [-1, 0, 0]}}\n"
        "  - {name: b, type: fixed, origin: {xyz: [0, 2, 0]}, link: {mass: 3*m}}\n"
    )
    selection = select(description, BuildOptions(functions=("mass_matrix",)))
    package = package_of(description, selection, derive_all(description, selection))
    found = np.array(package.metadata.inertial_parameters)
    assert agrees(found, np.array([0.4, -0.1, 0.6, 0, 1.2, 0, 0.1, 0, 0, 1.3]))
    assert not np.signbit(found[found == 0.0]).any()


def test_parameters_beyond_float64_are_refused_in_words():
    description = described(
        "symgen: 1\nname: far\njoints:\n"
        "  - {name: a, type: prismatic, origin: {}, link: {mass: 1e200, com: [1e100, 0, 0]}}\n"
    )
    selection = select(description, BuildOptions(functions=("forward_kinematics",)))
    with pytest.raises(RequestError, match="leave the range of float64 in inertial_parameters"):
        package_of(description, selection, derive_all(description, selection))


def test_operations_grow_with_the_pairs_on_a_path():
    """A chain of general joints: about 100 operations for every pair of joint and body."""
    chain = "".join(
        f"  - {{name: j{i}, type: revolute, dh: {{theta: 0.1, d: 0.2, a: 0.3, alpha: 0.4}}}}\n"
        for i in range(8)
    )
    description = described(f"symgen: 1\nname: chain\nconvention: standard\njoints:\n{chain}")
    program = derived_program(description, NEWTON_EULER, "regressor")
    assert operations_after(program.results).total <= 110 * 8 * 9 / 2 + 200 * 8
    assert len(INERTIAL_PARAMETERS) == 10
