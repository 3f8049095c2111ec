"""The kinematic tree: topology, frames, merged bodies."""

import numpy as np
import pytest

from symgen.algebra.evaluation import evaluate
from symgen.algebra.graph import Graph
from symgen.algebra.nodes import reachable
from symgen.formulations import FORMULATIONS, derive, formulation_named
from symgen.kinematics.tree import build_tree
from symgen.optimize.folding import fold
from symgen.program.interpreter import call
from tests.modules import described

TREE = """
symgen: 1
name: tree
convention: standard
parameters: {m: 2, L: 0.5, n: 0}
joints:
  - {name: mount, type: fixed, origin: {xyz: [0, 0, 1]}, link: {mass: 5}}
  - {name: a, type: revolute, dh: {a: L}, link: {mass: m, com: [-L/2, 0, 0], inertia: {zz: 0.1}}}
  - {name: plate, type: fixed, dh: {a: 0.1, alpha: pi/2},
     link: {mass: 1, com: [0, 0, 0.2], inertia: {xx: 0.01, yy: 0.02, zz: 0.03}}}
  - {name: lamp, type: fixed, parent: a, origin: {xyz: [0, 0.3, 0]},
     link: {mass: n + 1/2, inertia: {zz: 0.02}}}
  - {name: b, type: prismatic, parent: plate, origin: {}, axis: [0, 1, 0], link: {mass: n}}
  - {name: tag, type: fixed, origin: {xyz: [0, 0, 1]}, link: {mass: n}}
  - {name: c, type: revolute, parent: a, dh: {}, link: {mass: 1}}
"""


def able(function):
    """The formulations that derive a function."""
    return [formulation for formulation in FORMULATIONS if function in formulation.functions]


def numbers(scalars, description):
    return np.array(evaluate(list(scalars), description.parameter_values))


def test_topology():
    tree = build_tree(described(TREE), Graph())
    assert tree.n == 3
    assert [joint.name for joint in tree.joints] == ["a", "b", "c"]
    assert [joint.parent for joint in tree.joints] == [0, 1, 1]
    assert [frame.name for frame in tree.frames] == ["mount", "a", "plate", "lamp", "b", "tag", "c"]
    assert [frame.body for frame in tree.frames] == [0, 1, 1, 1, 2, 2, 3]
    assert tree.path(3) == (1, 3)
    assert [tree.on_one_path(i, k) for i, k in ((1, 1), (1, 3), (3, 1), (2, 3))] == [1, 1, 1, 0]
    assert [tree.carried_by(*joints) for joints in ((1,), (3, 1), (2, 3))] == [(1, 2, 3), (3,), ()]
    assert tree.towards([0]) == [] and tree.towards([3, 2, 3]) == [1, 2, 3]


def test_fixed_links_are_merged():
    description = described(TREE)
    graph = Graph()
    body = build_tree(description, graph).joint(1).body
    mass = numbers([body.mass], description)[0]
    com = numbers(body.com, description)
    inertia = numbers(body.inertia.entries, description).reshape(3, 3)
    # the plate's frame: origin (0.1, 0, 0) in a, axes turned by 90 degrees about x
    R = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    pieces = [
        (2.0, np.array([-0.25, 0, 0]), np.diag([0, 0, 0.1])),
        (1.0, np.array([0.1, 0, 0]) + R @ [0, 0, 0.2], R @ np.diag([0.01, 0.02, 0.03]) @ R.T),
        (0.5, np.array([0, 0.3, 0]), np.diag([0, 0, 0.02])),
    ]
    center = sum(m * c for m, c, _ in pieces) / 3.5
    total = sum(
        I + m * ((c - center) @ (c - center) * np.eye(3) - np.outer(c - center, c - center))
        for m, c, I in pieces
    )  # fmt: skip
    assert mass == 3.5
    np.testing.assert_allclose(com, center, atol=1e-15)
    np.testing.assert_allclose(inertia, total, atol=1e-15)
    origin = sum(I + m * (c @ c * np.eye(3) - np.outer(c, c)) for m, c, I in pieces)
    parameters = numbers(body.inertial_parameters(graph), description)
    places = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
    expected = [3.5, *3.5 * center, *(origin[place] for place in places)]
    np.testing.assert_allclose(parameters, expected, atol=1e-15)


@pytest.mark.parametrize("function", ["mass_matrix", "bias_forces", "potential_energy"])
def test_named_masses_that_are_merged_leave_no_quotients(function):
    """As of a payload: neither of the Lagrangian formulations asks for a common centre."""
    description = described(TREE)
    for name in ("closed_form_lagrange", "recursive_lagrange"):
        tree = build_tree(description, Graph(), description.independent_parameters)
        program = derive(tree, formulation_named(name), function)
        entries = [x for array in program.outputs for x in array.entries]
        assert [node for node in reachable(entries) if node.op == "/"] == []


def test_massless_links_merge_without_dividing_by_zero():
    description = described(TREE)
    for formulation in able("mass_matrix"):
        program = fold(
            derive(build_tree(description, Graph()), formulation, "mass_matrix"),
            description.parameter_values,
        )
        assert np.all(np.isfinite(call(program, {"q": np.ones(3)})[0]))


def test_an_axis_is_normalised():
    text = TREE.replace("axis: [0, 1, 0]", "axis: [0, 3, 4]")
    description = described(text)
    tree = build_tree(description, Graph())
    np.testing.assert_allclose(numbers(tree.joint(2).placement.axis, description), [0, 0.6, 0.8])
