"""The example robots: every formulation, every function, against Pinocchio and each other.

Programs are evaluated, not compiled.  The closed form takes part up to eight joints.
"""

from pathlib import Path

import numpy as np
import pytest

from symgen import read
from symgen.algebra.graph import Graph
from symgen.derivation import derived_program
from symgen.formulations import FORMULATIONS, provided_functions
from symgen.kinematics.tree import build_tree
from symgen.program.evaluation import call
from tests.agreement.test_pinocchio import LARGEST_CLOSED_FORM, compare

EXAMPLES = Path(__file__).parents[2] / "examples"
ROBOTS = ("two_link", "puma560", "arm7", "tree12", "human43")


@pytest.mark.parametrize("name", ROBOTS)
def test_pinocchio(name):
    compare(read(EXAMPLES / f"{name}.yaml"), seed=43)


@pytest.mark.parametrize("name", ROBOTS)
def test_each_other(name):
    """Every function of every formulation equals that of the first one that has it."""
    description = read(EXAMPLES / f"{name}.yaml")
    tree = build_tree(description, Graph())
    rng = np.random.default_rng(7)
    state = {
        "q": rng.uniform(-np.pi, np.pi, (2, tree.n)),
        "qd": rng.uniform(-2, 2, (2, tree.n)),
        "qdd": rng.uniform(-2, 2, (2, tree.n)),
        "loads": rng.uniform(-10, 10, (2, len(tree.loads), 6)),
    }
    expected = {}
    compared = 0
    for formulation in FORMULATIONS:
        if tree.n > LARGEST_CLOSED_FORM and formulation.estimate(tree, "inverse_dynamics"):
            continue
        for function in provided_functions(formulation):
            results = call(derived_program(description, formulation, function), state)
            if function not in expected:
                expected[function] = results
                continue
            for value, reference in zip(results, expected[function], strict=True):
                scale = max(1.0, np.abs(reference).max(initial=0.0))
                error = np.abs(value - reference).max(initial=0.0) / scale
                assert error <= 1e-11, (formulation.name, function)
                compared += 1
    assert compared >= 15
