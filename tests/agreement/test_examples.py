"""The example robots: every formulation, every function, against Pinocchio and each other.

Programs are evaluated, not compiled.  Each is derived once for both comparisons: the equations of
the largest robot take most of a minute.
"""

from pathlib import Path

import pytest

from symgen import read
from tests.agreement.test_pinocchio import compare, worth_deriving
from tests.choosing import some_deep

EXAMPLES = Path(__file__).parents[2] / "examples"
ROBOTS = sorted(path.stem for path in EXAMPLES.glob("*.yaml"))
LARGE = {"tree12", "human43", "satellite_arm"}
"""Too large for a closed form here."""


@pytest.mark.parametrize("name", some_deep(ROBOTS, ["cart_pole"]))
def test_pinocchio_and_each_other(name):
    compare(read(EXAMPLES / f"{name}.yaml"), seed=43)


@pytest.mark.parametrize("name", ROBOTS)
def test_several_formulations_take_part(name):
    found = [
        (f.name, functions) for f, functions in worth_deriving(read(EXAMPLES / f"{name}.yaml"))
    ]
    assert ("closed_form_lagrange" in dict(found)) == (name not in LARGE)
    for function in ("inverse_dynamics", "mass_matrix", "forward_dynamics"):
        assert sum(function in functions for _, functions in found) >= 2
    derivatives = sum("forward_dynamics_derivatives" in functions for _, functions in found)
    assert derivatives == 6 if name != "human43" else derivatives >= 1
