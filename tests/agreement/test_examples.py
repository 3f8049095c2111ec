"""The example robots: every formulation, every function, against Pinocchio and each other.

Programs are evaluated, not compiled.  Each is derived once for both comparisons: the equations of
the largest robot take most of a minute.
"""

from pathlib import Path

import pytest

from symgen import read
from tests.agreement.test_pinocchio import compare, worth_deriving

EXAMPLES = Path(__file__).parents[2] / "examples"
SMALL = ("two_link", "puma560", "arm7")
ROBOTS = (*SMALL, "tree12", "human43")


@pytest.mark.parametrize("name", ROBOTS)
def test_pinocchio_and_each_other(name):
    compare(read(EXAMPLES / f"{name}.yaml"), seed=43)


@pytest.mark.parametrize("name", ROBOTS)
def test_several_formulations_take_part(name):
    taking_part = [item.name for item in worth_deriving(read(EXAMPLES / f"{name}.yaml"))]
    assert len(taking_part) >= 2
    assert ("closed_form_lagrange" in taking_part) == (name in SMALL)
