"""The regressor and the inertial parameters that a module carries."""

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
from tests.oracles.comparison import agrees, random_state
from tests.oracles.descriptions import described

NEWTON_EULER = formulation_named("newton_euler")


TREE = """
symgen: 1
name: tree
gravity: [1, -2, -9]
convention: standard
parameters: {m: 2}
joints:
  - {name: a, type: revolute, dh: {theta: 0.3, d: 0.2, a: 0.4, alpha: 0.7}, link: {mass: m}}
  - {name: b, type: prismatic, dh: {theta: -0.5, d: 0.3, a: 0.2, alpha: 1.1}, link: {mass: m}}
  - {name: c, type: revolute, parent: a, origin: {xyz: [0.1, 0.2, 0.3], rpy: [1, 2, 3]},
     link: {mass: m}}
"""


def test_the_regressor_holds_no_inertial_parameter():
    program = derive(build_tree(described(TREE), Graph()), NEWTON_EULER, "regressor")
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
    found = np.array(package.metadata.facts["inertial_parameters"].value)
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
