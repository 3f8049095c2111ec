"""Every statement names an equation, and every label means one equation only."""

import pkgutil
from collections import Counter
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import symgen.formulations
from symgen.algebra.graph import Graph
from symgen.description import read
from symgen.formulations import FORMULATIONS, derive, provided_functions
from symgen.kinematics.tree import build_tree
from tests.oracles.descriptions import described

TWO_LINK = Path(__file__).parents[2] / "examples" / "two_link.yaml"

BRANCHES = """
symgen: 1
name: branches
gravity: [1, -2, -9]
convention: standard
parameters: {tilt: 0.3}
joints:
  - {name: slide, type: prismatic, dh: {alpha: tilt}, link: {mass: 2, com: [0, 0.1, 0.2]},
     rotor_inertia: 0.1, gear_ratio: 3, damping: 0.3, stiffness: 2, rest: 0.1, friction: 0.5,
     friction_velocity: 0.2, prescribed: true}
  - {name: hip, type: spherical, origin: {xyz: [0.1, 0.2, 0.3], rpy: [0.1, tilt, 0.3]},
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

FREE = """
symgen: 1
name: free
joints:
  - {name: body, type: floating, coordinates: quaternion, origin: {}, damping: 1,
     link: {mass: 1, com: [0.1, 0, 0.3], inertia: {xx: 1, yy: 2, zz: 1.5, xy: 0.1}}}
  - {name: hip, type: spherical, coordinates: quaternion, origin: {}, damping: 1,
     rotor_inertia: 0.1, prescribed: true,
     link: {mass: 1, com: [0.1, 0, 0.3], inertia: {xx: 1, yy: 2, zz: 1.5, xy: 0.1}}}
"""
SPRUNG = FREE.replace("damping: 1", "stiffness: 1")

FORCED = """
symgen: 1
name: forced
joints:
  - {name: one, type: revolute, origin: {}, link: {mass: 1, com: [0.1, 0, 0.3]}}
  - {name: two, type: revolute, origin: {xyz: [0.3, 0, 0]}, axis: [0, 1, 0],
     link: {mass: 1, com: [0.2, 0.1, 0]}}
springs:
  - {name: band, between: [{link: base, point: [0, 0, 1]}, {link: two, point: [1, 0, 0]}],
     stiffness: 2, length: 0.1}
forces:
  - {name: push, link: one, point: [1, 0, 0], force: [2*q.two, 0, qd.one]}
"""

CLOSED = """
symgen: 1
name: closed
parameters: {w: 0.3}
joints:
  - {name: one, type: revolute, origin: {}, link: {mass: 1, com: [0.1, 0, 0.3]}}
  - {name: two, type: revolute, origin: {xyz: [w, 0, 0], rpy: [w, 0, 0]}, axis: [0, 1, 0],
     link: {mass: 1, com: [0.2, 0.1, 0]}}
loops:
  - {name: pin, type: prismatic, first: {link: base}, second: {link: two}}
  - {name: ball, type: spherical, first: {link: base}, second: {link: two}}
relations: {drive: q.one*q.two - t}
"""

REDUNDANT = """
symgen: 1
name: redundant
parameters: {w: 0.3}
joints:
  - {name: hip, type: spherical, coordinates: euler_parameters, origin: {xyz: [0, w, 0]},
     link: {mass: 1, com: [0.1, w, 0.3], inertia: {xx: 1, yy: 2, zz: 1.5, xy: 0.1}}}
  - {name: knee, type: revolute, origin: {xyz: [0.3, 0, 0]}, axis: [0, 1, 0],
     link: {name: two, mass: 1, com: [0.2, 0.1, 0]}}
loads: [{name: foot, link: two, point: [0.1, 0.2, 0.3]}]
points: [{name: toe, link: two, point: [0.1, 0.2, 0.3]}]
"""


@cache
def trees():
    """With everything that a function may need, parameters among it."""
    found = []
    texts = (BRANCHES, FOLLOWING, FREE, SPRUNG, FORCED, CLOSED, REDUNDANT)
    for description in (read(TWO_LINK), *map(described, texts)):
        runtime = tuple(p.name for p in description.parameters if not p.derived)
        found.append(build_tree(description, Graph(), runtime))
    return found


@cache
def labels():
    """All labels that modules of the formulations explain, and how often."""
    package = symgen.formulations
    modules = (
        import_module(found.name)
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    )
    return Counter(label for module in modules for label in getattr(module, "NOTES", ()))


def used(formulation, functions):
    """The labels that functions name as theirs; each label of a line is among them."""
    names = set()
    for tree in trees():
        if formulation.why_not(tree) is not None:
            continue
        for function in {*provided_functions(formulation, tree)} & {*functions}:
            program = derive(tree, formulation, function)
            assert {line.note for line in program.statements} <= set(program.notes), function
            names |= set(program.notes)
    return names


def test_no_label_is_explained_twice():
    assert labels() and max(labels().values()) == 1


def test_a_derivative_belongs_to_a_line():
    """dNE-14 is the derivative of NE-14, and there is an NE-14."""
    for label in labels():
        assert label.removeprefix("d ").lstrip("d") in labels(), label


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda item: item.name)
def test_labels_of_dynamics_have_a_note(formulation):
    assert used(formulation, ("inverse_dynamics", "forward_dynamics"))


@pytest.mark.deep
def test_every_label_has_a_note_and_every_note_is_used():
    """Of all functions."""
    found = set().union(*(used(item, provided_functions(item)) for item in FORMULATIONS))
    assert {*labels()} <= found
