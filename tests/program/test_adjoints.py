"""Adjoints of programs: behind their statements and backwards, the transposes of derivatives."""

import numpy as np
import pytest
import sympy

from symgen.algebra.evaluation import evaluate
from symgen.algebra.graph import Graph
from symgen.algebra.sympy_algebra import SymPyAlgebra
from symgen.formulations import FORMULATIONS, derive, formulation_named
from symgen.kinematics.tree import build_tree
from symgen.program.adjoints import BACKWARDS, pull_back
from symgen.program.builder import ProgramBuilder
from symgen.program.program import ADJOINT
from tests.oracles.descriptions import described
from tests.oracles.random_models import Recipe, seeded_model_text

RECIPE = Recipe(joints=(3, 5), loads=(1, 2), terms=True)


def program_of(write, algebra=None):
    """What `write` lets be written, and the gradient of its results by x_1, x_2."""
    b = ProgramBuilder(algebra or Graph())
    x = b.input("x", (2,), ["x_1", "x_2"])
    w = b.input("w", (2,), ["w_1", "w_2"])
    results = write(b, *x)
    return b, pull_back(b, results, w, [b.declared("x")])[0]


def used_before_it_has_a_name(b, x, y):
    """x y stands inside of a statement, and later has one of its own."""
    with b.step("first", "a"):
        first = b.let("first", x * y + x, "A-1")
    with b.step("second", "b"):
        product = b.let("product", x * y, "A-2")
        last = b.let("last", product * product * first, "A-3")
    return last, product


def named_twice(b, x, y):
    """Equal values are one node, which has two names."""
    with b.step("first", "a"):
        one = b.let("one", x * y, "A-1")
        two = b.let("two", one * x, "A-2")
    with b.step("second", "b"):
        again = b.let("again", x * y, "A-3")
        three = b.let("three", again * two, "A-4")
    return three + one, two


def used_without_its_sign(b, x, y):
    """Where it is used, a negative is met as what it is the negative of."""
    with b.step("first", "a"):
        negative = b.let("negative", -(x * y + x), "A-1")
    with b.step("second", "b"):
        difference = b.let("difference", y - negative * x, "A-2")
        again = b.let("again", x * y + x, "A-3")
    return difference, again * negative


def shared_without_a_name(b, x, y):
    """What two statements have in common is pulled back once."""
    with b.step("first", "a"):
        first = b.let("first", x * (x * y + y), "A-1")
    with b.step("second", "b"):
        second = b.let("second", first * y - (x * y + y) * (x * y), "A-2")
        third = b.let("third", second * (x * y + y), "A-3")
    return third + (x * y + y), second


def is_a_result_itself(b, x, y):
    """Inputs and constants among the results."""
    with b.step("first", "a"):
        square = b.let("square", x * x, "A-1")
    return x, square * y


CASES = [
    used_before_it_has_a_name,
    named_twice,
    used_without_its_sign,
    shared_without_a_name,
    is_a_result_itself,
]


@pytest.mark.parametrize("write", CASES)
def test_against_the_chain_rule_of_sympy(write):
    at = {"x_1": 0.7, "x_2": -1.3, "w_1": 0.4, "w_2": 2.1}
    algebra = SymPyAlgebra()
    _, gradient = program_of(write, algebra)
    b, values = program_of(write)
    x, y, *w = symbols = sympy.symbols("x_1 x_2 w_1 w_2", real=True)
    numbers = {symbol: at[symbol.name] for symbol in symbols}
    plain = SymPyAlgebra()
    bare = ProgramBuilder(plain)
    results = [plain.expanded(r) for r in write(bare, *bare.input("x", (2,), ["x_1", "x_2"]))]
    total = sum(a * r for a, r in zip(w, results, strict=True))
    for by, symbolic, found in zip((x, y), gradient, evaluate(values, at), strict=True):
        assert sympy.expand(algebra.expanded(symbolic) - total.diff(by)) == 0
        assert np.isclose(found, float(total.diff(by).subs(numbers)), rtol=1e-14)
    assert b.steps[-1].kind.startswith(BACKWARDS) or len(b.steps) == 1


@pytest.mark.parametrize("function", ["inverse_dynamics", "forward_dynamics"])
def test_statements_are_walked_through_backwards(function):
    tree = build_tree(described(seeded_model_text(3, RECIPE)), Graph())
    for formulation in FORMULATIONS:
        if function not in formulation.functions or formulation.why_not(tree):
            continue
        program = derive(tree, formulation, f"{function}_vjp")
        forward = [s for s in program.statements if not s.note.startswith(ADJOINT)]
        backward = [s for s in program.statements if s.note.startswith(ADJOINT)]
        places = {statement.name: k for k, statement in enumerate(forward)}
        walked = [places[statement.name.removesuffix("_adjoint")] for statement in backward]
        assert walked == sorted(walked, reverse=True)
        assert walked


def test_steps_say_what_they_are_the_adjoints_of():
    tree = build_tree(described(seeded_model_text(3, RECIPE)), Graph())
    program = derive(tree, formulation_named("newton_euler"), "inverse_dynamics_vjp")
    kinds = [(step.kind, step.joint) for step in program.steps]
    there = [kind for kind in kinds if not kind[0].startswith(BACKWARDS)]
    back = [(kind.removeprefix(BACKWARDS), joint) for kind, joint in kinds[len(there) :]]
    assert back == [kind for kind in reversed(there) if kind in back]
    notes = {s.note for s in program.statements if s.note.startswith(ADJOINT)}
    assert notes <= set(program.notes)
