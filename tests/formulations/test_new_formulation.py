"""A formulation that writes torques and accelerations has all that follows from them at once.

For joints on manifolds, joints that follow others, forces of the model, runtime parameters."""

import numpy as np
import pytest

from symgen.algebra.graph import Graph
from symgen.deriving.derivation import derived_program
from symgen.formulations import provided_functions
from symgen.kinematics.tree import build_tree
from tests.contract.cells import described, results_of, selection
from tests.contract.references import stored
from tests.formulations.articulated_bodies import ARTICULATED_BODIES

ROBOTS = {"branched_tree": 15, "mimic_chain": 18, "quaternion_body": 18, "forces_and_outputs": 18}
"""With how many functions there are at least."""


@pytest.mark.slow
@pytest.mark.parametrize("robot", ROBOTS)
def test_values_alone_are_enough(robot):
    runtime = selection(robot).runtime_parameters
    tree = build_tree(described(robot), Graph(), runtime)
    functions = set(provided_functions(ARTICULATED_BODIES, tree)) & set(selection(robot).functions)
    assert len(functions) >= ROBOTS[robot]
    functions -= {name for name in functions if name.endswith("_hvp")} - {"inverse_dynamics_hvp"}
    states, known = stored(robot)
    for function in functions:
        program = derived_program(described(robot), ARTICULATED_BODIES, function, runtime)
        for number, result in enumerate(results_of(program, states)):
            expected = known[f"{function}.{number}"]
            scale = max(1.0, np.abs(expected).max(initial=0.0))
            assert np.abs(result - expected).max(initial=0.0) <= 1e-9 * scale, function
