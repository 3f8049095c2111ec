"""Every statement names an equation, and every label means one equation only."""

import pkgutil
from collections import Counter
from functools import cache
from importlib import import_module

import pytest

import symgen.formulations
from symgen.algebra.graph import Graph
from symgen.deriving.natural import in_natural_coordinates
from symgen.description import read
from symgen.formulations import FORMULATIONS, GLOBAL, NEWTON_EULER, derive, provided_functions
from symgen.kinematics.tree import build_tree
from tests.contract.cells import described, selection
from tests.formulations.test_natural_coordinates import mixed
from tests.modules import ROOT

ROBOTS = (
    "planar_arm", "branched_tree", "dh_arm", "composite_joints", "mimic_chain", "quaternion_body",
    "quaternion_ball", "forces_and_outputs", "spatial_loops", "four_bar", "euler_parameters",
)  # fmt: skip


@cache
def trees():
    """All that a function may need, every parameter among it."""
    models = [(described(x), selection(x).runtime_parameters) for x in ROBOTS]
    models += [(model, ()) for model in (in_natural_coordinates(described("four_bar")), mixed()[1])]
    return [build_tree(model, Graph(), parameters) for model, parameters in models]


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
    """Of all functions; LTDL-6 pays on larger trees alone."""
    tree = build_tree(read(ROOT / "examples" / "tree12.yaml"), Graph())
    large = derive(tree, NEWTON_EULER, "forward_dynamics_derivatives")
    found = set(large.notes).union(
        *(used(item, provided_functions(item)) for item in (*FORMULATIONS, *GLOBAL))
    )
    assert {*labels()} <= found
