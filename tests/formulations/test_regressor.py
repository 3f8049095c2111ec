"""The regressor and the inertial parameters: single bodies by hand, and what a module carries."""

import numpy as np
import pytest

from symgen.algebra.evaluation import evaluate
from symgen.algebra.graph import Graph
from symgen.deriving.derivation import derive_all
from symgen.deriving.packaging import package_of
from symgen.deriving.selection import select
from symgen.errors import RequestError
from symgen.formulations import derive, formulation_named
from symgen.kinematics.tree import build_tree
from symgen.options import BuildOptions
from symgen.program.evaluation import call
from symgen.validation.oracles import NumericRobot
from tests.oracles.comparison import agrees, random_state
from tests.oracles.descriptions import described
from tests.oracles.programs import evaluated

NEWTON_EULER = formulation_named("newton_euler")


def regressor(description, state):
    return call(evaluated(description, NEWTON_EULER, "regressor"), state)[0]


def inertial_parameters(description):
    tree = build_tree(description, Graph())
    values = evaluate(tree.inertial_parameters, dict(description.parameter_values))
    return np.array(values, dtype=float)


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


def test_the_regressor_holds_no_inertial_parameter():
    text = TREE.format("{name: la, mass: m}", "{name: lb, mass: m}", "{name: lc, mass: m}")
    tree = build_tree(described(text + "parameters: {m: 2}\n"), Graph())
    program = derive(tree, NEWTON_EULER, "regressor")
    values = random_state(3, 0)
    symbols = {f"{key}_{i}": x for key, row in values.items() for i, x in enumerate(row, start=1)}
    evaluate(program.results, symbols)  # no value for m is needed


def test_the_module_carries_the_parameters():
    """As numbers, with what is fixed to a body merged into it, whatever is selected."""
    description = described(
        "symgen: 1\nname: two\nparameters: {m: 0.1}\njoints:\n"
        "  - {name: a, type: revolute, origin: {}, link: {mass: m, com: [-1, 0, 0]}}\n"
        "  - {name: b, type: fixed, origin: {xyz: [0, 2, 0]}, link: {mass: 3*m}}\n"
    )
    selection = select(description, BuildOptions(functions=("mass_matrix",)))
    package = package_of(description, derive_all(description, selection))
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
        package_of(description, derive_all(description, selection))
