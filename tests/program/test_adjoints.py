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
from tests.modules import described
from tests.oracles.random_models import Recipe, seeded_model_text

RECIPE = Recipe(joints=(3, 5), loads=(1, 2), terms=True)
CASES = {
    "used before it has a name": (
        "first = x*y + x | product = x*y; last = product*product*first", "last, product"),
    "equal values are one node, which has two names": (
        "one = x*y; two = one*x | again = x*y; three = again*two", "three + one, two"),
    "where it is used, a negative is met as what it is the negative of": (
        "negative = -(x*y + x) | difference = y - negative*x; again = x*y + x",
        "difference, again*negative"),
    "what two statements have in common is pulled back once": (
        "first = x*(x*y + y) | second = first*y - (x*y + y)*(x*y); third = second*(x*y + y)",
        "third + (x*y + y), second"),
    "inputs among the results": ("square = x*x", "x, square*y"),
}  # fmt: skip
"""Statements in steps, and the results of programs."""


def results_of(case, b, x, y):
    """Write the statements of a case; return its results."""
    steps, results = CASES[case]
    values = {"x": x, "y": y}
    for number, step in enumerate(steps.split(" | ")):
        with b.step(f"step {number}", "a"):
            for line in step.split("; "):
                name, _, value = line.partition(" = ")
                values[name] = b.let(name, eval(value, {}, values), f"A-{number}")
    return eval(results, {}, values)


def gradient_of(case, algebra):
    """Return a builder with a case, and the gradient of its results by x_1, x_2."""
    b = ProgramBuilder(algebra)
    x = b.input("x", (2,), ["x_1", "x_2"])
    w = b.input("w", (2,), ["w_1", "w_2"])
    return b, pull_back(b, results_of(case, b, *x), w, [b.declared("x")])[0]


@pytest.mark.parametrize("case", CASES)
def test_against_the_chain_rule_of_sympy(case):
    at = {"x_1": 0.7, "x_2": -1.3, "w_1": 0.4, "w_2": 2.1}
    algebra = SymPyAlgebra()
    _, gradient = gradient_of(case, algebra)
    b, values = gradient_of(case, Graph())
    x, y, *w = symbols = sympy.symbols("x_1 x_2 w_1 w_2", real=True)
    numbers = {symbol: at[symbol.name] for symbol in symbols}
    plain = SymPyAlgebra()
    bare = ProgramBuilder(plain)
    results = results_of(case, bare, *bare.input("x", (2,), ["x_1", "x_2"]))
    total = sum(a * plain.expanded(r) for a, r in zip(w, results, strict=True))
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
