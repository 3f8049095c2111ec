"""Parameters that are arguments at run time: what follows them, and what rests on their values."""

import numpy as np
import pytest

from symgen.algebra.graph import Graph
from symgen.deriving.selection import select
from symgen.errors import RequestError
from symgen.formulations import FORMULATIONS, formulation_named
from symgen.kinematics.scalars import definitions_of, followers
from symgen.kinematics.tree import build_tree
from symgen.options import ALL, BuildOptions
from symgen.program.interpreter import call
from tests.modules import described
from tests.oracles.comparison import agrees, evaluated

CHAIN = """
symgen: 1
name: chain
parameters:
  half: whole/2            # derived, and named before what it is derived from
  whole: {value: 2}
  quarter: half/2
  other: 3
  from_other: other + 1
  both: quarter*from_other
joints:
  - {name: j, type: revolute, origin: {xyz: [whole, half, both]}, link: {mass: quarter,
     com: [from_other, 0, 0]}}
"""
MERGED = """
symgen: 1
name: merged
parameters: {m: 0, f: 0, g: 9.81}
gravity: [0, 0, -g]
joints:
  - {name: a, type: revolute, origin: {}, axis: [0, 1, 0], link: {mass: m, com: [0.1, 0, 0.2]}}
  - {name: tool, type: fixed, origin: {xyz: [1, 0, 0]}, link: {mass: f, com: [0, 0.3, 0]}}
  - {name: b, type: revolute, origin: {}, axis: [1, 0, 0], link: {mass: 1, com: [0.1, 0.2, 0.3]}}
points:
  - {name: tip, link: b}
"""


def test_what_follows_stands_behind_what_it_builds_on():
    parameters = described(CHAIN).parameters
    assert list(followers(parameters, ["whole"])) == ["half", "quarter", "both"]
    assert list(followers(parameters, ["other"])) == ["from_other", "both"]
    assert list(followers(parameters, ["quarter"])) == ["both"]
    assert followers(parameters, []) == {}


def test_definitions_are_expressions_of_the_leaders():
    graph = Graph()
    found = definitions_of(described(CHAIN).parameters, ["whole"], graph)
    whole, from_other = graph.symbol("whole"), graph.symbol("from_other")
    quarter = whole / graph.constant(2.0) / graph.constant(2.0)
    assert found["quarter"] is quarter
    assert found["both"] is quarter * from_other


def test_long_chains_of_definitions():
    """Linear in the length, and no recursion: every one names the one before it twice."""
    lines = [f"  p{i}: p{i - 1} + p{i - 1}" for i in range(1, 900)]
    head = ["symgen: 1", "name: many", "parameters:", "  p0: 1e-300"]
    parameters = described("\n".join([*head, *lines, "joints: []"])).parameters
    graph = Graph()
    assert len(definitions_of(parameters, ["p0"], graph)) == 899
    assert len(graph.nodes) < 3000


def test_values_of_the_file_decide_nothing():
    """Parameters that are 0 in the file: other values give what a file with those values gives."""
    description = described(MERGED)
    runtime = ("m", "f", "g")
    values = {"m": 2.0, "f": 0.5, "g": 1.5}
    written = MERGED.replace("m: 0, f: 0, g: 9.81", "m: 2.0, f: 0.5, g: 1.5")
    rng = np.random.default_rng(0)
    state = dict(zip(("q", "qd", "qdd"), rng.normal(size=(3, 2)), strict=True))
    state["tau"] = rng.normal(size=2)
    arguments = {**state, "parameters": np.array([values[name] for name in runtime])}
    compared = 0
    for formulation in FORMULATIONS:
        for function in ("inverse_dynamics", "forward_dynamics", "point_motion", "center_of_mass"):
            if function in formulation.functions:
                program = evaluated(description, formulation, function, runtime)
                fixed = evaluated(described(written), formulation, function)
                for value, expected in zip(
                    call(program, arguments), call(fixed, state), strict=True
                ):
                    assert agrees(value, expected), (formulation.name, function)
                compared += 1
    assert compared >= 8


def test_one_of_two_merged_masses_may_be_0():
    description = described(MERGED)
    state = {"q": [0.1, 0.2], "qd": [1.0, 2.0], "qdd": [3.0, 4.0]}
    formulation = formulation_named("newton_euler")
    program = evaluated(description, formulation, "inverse_dynamics", ("f",))
    for mass in (0.0, 0.25):
        fixed = described(MERGED.replace("f: 0", f"f: {mass}"))
        expected = call(evaluated(fixed, formulation, "inverse_dynamics"), state)[0]
        assert agrees(call(program, {**state, "parameters": [mass]})[0], expected)


def test_merged_links_without_any_mass_have_no_centre():
    """Their masses cannot be arguments where the file gives all of them as 0."""
    description = described(MERGED)
    assert build_tree(description, Graph()).weightless == ()
    tree = build_tree(description, Graph(), ("m", "f"))
    assert tree.weightless == (("a", "tool"),)
    with pytest.raises(RequestError, match="the links a and tool are fixed to each other"):
        select(description, BuildOptions(runtime_parameters=(ALL,)))
    heavy = described(MERGED.replace("f: 0", "f: 1"))
    assert select(heavy, BuildOptions(runtime_parameters=(ALL,))).runtime_parameters
    # a mass that is literally 0 is none; then one centre is left
    alone = described(MERGED.replace("mass: f", "mass: 0"))
    assert select(alone, BuildOptions(runtime_parameters=(ALL,))).runtime_parameters
