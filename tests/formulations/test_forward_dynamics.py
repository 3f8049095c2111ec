"""How programs of accelerations by Newton-Euler read."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from symgen import read
from symgen.algebra.graph import Graph
from symgen.formulations import derive
from symgen.formulations.newton_euler import NEWTON_EULER
from symgen.kinematics.tree import build_tree
from symgen.optimize.folding import fold
from symgen.program.evaluation import call
from symgen.program.program import Output
from tests.oracles.comparison import agrees, state_of
from tests.oracles.implicit import Implicit

EXAMPLES = Path(__file__).parents[2] / "examples"


def program_of(description, function):
    tree = build_tree(description, Graph())
    return fold(derive(tree, NEWTON_EULER, function), description.parameter_values)


@pytest.mark.parametrize("function", ["forward_dynamics", "hybrid_dynamics", "mass_matrix"])
def test_entries_of_the_mass_matrix_have_their_names(function):
    """The numbers of the other statements give M, and `M_i_j` are its entries."""
    description = read(EXAMPLES / "tree12.yaml")
    state, program = state_of(description, 1), program_of(description, function)
    lines = [line for line in program.statements if line.name.startswith("M_")]
    called = call(replace(program, outputs=(Output("M", (len(lines),), values(lines)),)), state)
    mass = Implicit(description, 1).M
    places = [tuple(int(k) - 1 for k in line.name.split("_")[1:]) for line in lines]
    assert len(set(places)) == len(places) > 30
    assert agrees(called[0], np.array([mass[place] for place in places]))
    named = {line.value.index for line in lines}
    for output in program.outputs:
        if output.name in ("diagonal", "mass_matrix"):
            assert all(x.is_atomic or x.index in named for x in output.entries)


def values(lines):
    return tuple(line.value for line in lines)


def test_steps_say_what_they_are_for():
    description = read(EXAMPLES / "two_link.yaml")
    kinds = [step.kind for step in program_of(description, "forward_dynamics").steps]
    assert "mass matrix, column 2: backward" in kinds and "bias: forward" in kinds
    assert "backward" not in kinds
