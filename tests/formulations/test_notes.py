"""Every statement names an equation, and every label means one equation only."""

import pkgutil
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

import symgen.formulations
from symgen.algebra.graph import Graph
from symgen.description import read
from symgen.formulations import FORMULATIONS, derive, provided_functions
from symgen.kinematics.tree import build_tree
from tests.choosing import one_in
from tests.oracles.descriptions import described

TWO_LINK = Path(__file__).parents[2] / "examples" / "two_link.yaml"

BRANCHES = """
symgen: 1
name: branches
gravity: [1, -2, -9]
convention: standard
joints:
  - {name: slide, type: prismatic, dh: {alpha: 0.3}, link: {mass: 2, com: [0, 0.1, 0.2]},
     rotor_inertia: 0.1, gear_ratio: 3, damping: 0.3, stiffness: 2, rest: 0.1, friction: 0.5,
     friction_velocity: 0.2, prescribed: true}
  - {name: hip, type: spherical, origin: {xyz: [0.1, 0.2, 0.3], rpy: [0.1, 0.2, 0.3]},
     link: {mass: 1, com: [0.1, 0, 0.3], inertia: {xx: 1, yy: 2, zz: 1.5, xy: 0.1}},
     damping: [1, 2, 3]}
  - {name: arm, type: revolute, parent: slide, dh: {a: 0.4, d: 0.2, alpha: -1.1},
     link: {mass: 1, com: [0.1, 0, 0.3], inertia: {xx: 1, yy: 2, zz: 1.5, xy: 0.1}}, friction: 1}
loads:
  - {name: foot, link: hip, point: [0.1, 0.2, 0.3]}
  - {name: floor, link: base, point: [0.1, 0, 0]}
  - {name: hand, link: arm, point: [0.1, -0.2, 0.3]}
points:
  - {name: toe, link: hip, point: [0.1, 0.2, 0.3]}
  - {name: mark, link: base, point: [0.1, 0.2, 0.3]}
outputs:
  speed: points.toe.vx**2 + kinetic_energy
"""

FOLLOWING = """
symgen: 1
name: following
joints:
  - {name: lead, type: revolute, origin: {}, link: {name: one, mass: 1, com: [0.1, 0, 0.3]}}
  - {name: tail, type: revolute, origin: {xyz: [0.3, 0, 0]}, axis: [0, 1, 0],
     mimic: {coordinate: lead, multiplier: 2}, link: {name: two, mass: 1, com: [0.2, 0.1, 0]}}
"""

PAIRS = [(item, function) for item in FORMULATIONS for function in provided_functions(item)]
NAMES = [f"{item.name}-{function}" for item, function in PAIRS]


def descriptions():
    return read(TWO_LINK), described(BRANCHES), described(FOLLOWING)


@pytest.mark.parametrize(("formulation", "function"), one_in(4, PAIRS), ids=NAMES)
def test_every_label_has_a_note(formulation, function):
    for description in descriptions():
        tree = build_tree(description, Graph())
        if formulation.why_not(tree) is None:
            program = derive(tree, formulation, function)
            assert {line.note for line in program.statements} <= set(program.notes)


def modules():
    """All modules of the formulations that explain labels."""
    package = symgen.formulations
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = import_module(found.name)
        if hasattr(module, "NOTES"):
            yield module


def test_no_label_is_explained_twice():
    labels = Counter(label for module in modules() for label in module.NOTES)
    assert labels and max(labels.values()) == 1


def test_a_derivative_belongs_to_a_line():
    """dNE-14 is the derivative of NE-14, and there is an NE-14."""
    labels = {label for module in modules() for label in module.NOTES}
    for label in labels:
        assert label.lstrip("d") in labels, label


def test_every_note_is_used():
    """No note explains what no function writes."""
    used = set()
    for description in descriptions():
        runtime = tuple(p.name for p in description.parameters if not p.derived)
        tree = build_tree(description, Graph(), runtime)
        for formulation, function in PAIRS:
            if formulation.why_not(tree) is None:
                used |= set(derive(tree, formulation, function).notes)
    assert {label for module in modules() for label in module.NOTES} <= used
