"""The factorisation M = L^T D L of branch-sparse matrices, against numpy."""

import numpy as np
import pytest

from symgen.algebra.graph import Graph
from symgen.algebra.sympy_algebra import SymPyAlgebra
from symgen.deriving.derivation import derived_program
from symgen.errors import RequestError
from symgen.formulations import FORMULATIONS, derive
from symgen.formulations.accelerations import eliminate
from symgen.formulations.interface import Formulation
from symgen.formulations.shared import pivot_results
from symgen.formulations.state import NoSolutionError
from symgen.kinematics.tree import build_tree
from symgen.program.builder import ProgramBuilder
from symgen.program.interpreter import call
from tests.modules import described
from tests.oracles.comparison import agrees


def a_tree(parents, algebra):
    """A tree of joints with these parents, 0 for the base; nothing else about it matters."""
    lines = ["symgen: 1", "name: bare", "gravity: [0, 0, 0]", "joints:"]
    for k, parent in enumerate(parents, start=1):
        above = f"j{parent}" if parent else "base"
        lines.append(
            f"  - {{name: j{k}, type: revolute, parent: {above}, origin: {{xyz: [0, 0, 0]}}, "
            "link: {mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}}"
        )
    return build_tree(described("\n".join(lines)), algebra)


def random_parents(rng, n):
    return [int(rng.integers(0, k)) for k in range(1, n + 1)]


def random_mass(rng, tree):
    """Positive definite, and 0 where neither joint carries the other: J^T J over the paths."""
    n = tree.n
    mass = np.diag(rng.uniform(0.1, 1, n))
    for j in range(1, n + 1):
        rows = np.zeros((3, n))
        rows[:, [i - 1 for i in tree.path(j)]] = rng.normal(size=(3, len(tree.path(j))))
        mass += rows.T @ rows
    return mass


def chosen(rng, n):
    """All joints, or some of them."""
    some = [k for k in range(1, n + 1) if rng.integers(0, 3)] or [n]
    return list(range(1, n + 1)) if rng.integers(0, 2) else some


def symbolic(tree, b):
    """The matrix as an input: its branch-sparse entries, lower triangle only."""
    n = tree.n
    names = [f"m_{i}_{k}" for i in range(1, n + 1) for k in range(1, n + 1)]
    symbols = iter(b.input("M", (n, n), names))
    entries = {(i, k): next(symbols) for i in range(1, n + 1) for k in range(1, n + 1)}
    return {(k, i): x for (k, i), x in entries.items() if i in tree.path(k)}


def block(matrix, numbers):
    rows = [k - 1 for k in numbers]
    return matrix[np.ix_(rows, rows)]


@pytest.mark.parametrize("seed", range(30))
def test_solutions_equal_numpy(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 10))
    tree = a_tree(random_parents(rng, n), Graph())
    free, mass, b = chosen(rng, n), random_mass(rng, tree), ProgramBuilder(tree.algebra)
    factors = eliminate(tree, b, symbolic(tree, b), free)
    names = [f"b_{k}" for k in free]
    rhs = dict(zip(free, b.input("rhs", (len(free),), names), strict=True))
    some = {k: value for k, value in rhs.items() if rng.integers(0, 2)}
    zero = tree.algebra.zero
    shorter = factors.with_shortcuts(b, 100)
    solutions = [factors.solve(b, entries, "x") for entries in (rhs, some)]
    solutions += [shorter.solve(b, entries, "x") for entries in (rhs, some)]
    for x, name in zip(solutions, ("x", "some", "x_short", "some_short"), strict=True):
        b.output(name, (len(free),), [x.get(k, zero) for k in free])
    for name, inverse in (("inverse", factors.inverse(b)), ("short", shorter.inverse(b))):
        entries = [inverse.get((i, k), zero) for i in free for k in free]
        b.output(name, (len(free),) * 2, entries)
    b.output("pivots", (len(free),), [factors.pivots[k] for k in free])

    program = b.build("bare", "none", "none", {})
    values = rng.normal(size=len(free))
    x, x_some, *short, inverted, inverted_short, pivots = call(program, {"M": mass, "rhs": values})
    part = block(mass, free)
    assert agrees(x, np.linalg.solve(part, values))
    assert agrees(short[0], x) and agrees(short[1], x_some) and agrees(inverted_short, inverted)
    kept = np.array([value if k in some else 0.0 for k, value in zip(free, values, strict=True)])
    assert agrees(x_some, np.linalg.solve(part, kept))
    assert agrees(inverted, np.linalg.inv(part))
    # eliminating the last first: D_k is the Schur complement of the block behind k
    tails = [np.linalg.det(part[place:, place:]) for place in range(len(free) + 1)]
    assert agrees(pivots, [tails[k] / tails[k + 1] for k in range(len(free))], 1e-9)


def test_a_shortcut_serves_where_the_right_side_ends_before():
    tree = a_tree([0, 1, 2, 2, 4], Graph())
    b = ProgramBuilder(tree.algebra)
    factors = eliminate(tree, b, symbolic(tree, b), range(1, 6)).with_shortcuts(b, 100)
    assert factors._row(5, {1, 2}) is factors.shortcuts[5, 2]
    assert factors._row(5, {1, 2, 4, 5}) is factors.rows[5]


@pytest.mark.parametrize("algebra", [Graph, SymPyAlgebra])
def test_a_pivot_that_is_structurally_zero_is_refused(algebra):
    tree = a_tree([0, 1], algebra())
    b = ProgramBuilder(tree.algebra)
    with pytest.raises(NoSolutionError, match="joint 2"):
        eliminate(tree, b, {(1, 1): tree.algebra.one}, (1, 2))


SPINNER = """
symgen: 1
name: spinner
parameters: {I: 0}
joints:
  - {name: lift, type: prismatic, origin: {}, link: {mass: 1}}
  - {name: spin, type: revolute, origin: {}, link: {mass: 1, inertia: {xx: 1, yy: 1, zz: INERTIA}}}
  - {name: swing, type: revolute, parent: lift, origin: {}, link: {mass: 1, com: [0.2, 0, 0]}}
"""
SOLVERS = [item for item in FORMULATIONS if "forward_dynamics" in item.functions]


@pytest.mark.parametrize("formulation", SOLVERS, ids=lambda item: item.name)
@pytest.mark.parametrize("algebra", [Graph, SymPyAlgebra])
def test_a_joint_without_inertia_has_no_solution(formulation, algebra):
    tree = build_tree(described(SPINNER.replace("INERTIA", "0")), algebra())
    with pytest.raises(NoSolutionError, match="joint 2"):
        derive(tree, formulation, "forward_dynamics")


@pytest.mark.parametrize("formulation", SOLVERS, ids=lambda item: item.name)
@pytest.mark.parametrize("inertia", ["0", "I"])
def test_a_program_says_that_there_is_no_solution(formulation, inertia):
    """By its pivots, which are 0, be that seen before or after parameters are numbers."""
    description = described(SPINNER.replace("INERTIA", inertia))
    for function in ("forward_dynamics", "forward_dynamics_derivatives"):
        program = derived_program(description, formulation, function)
        pivots = next(array for array in program.outputs if array.name == "pivots")
        assert all(entry.is_zero for entry in pivots.entries)
    kept = derived_program(description, formulation, "forward_dynamics", ("I",))
    pivots = next(array for array in kept.outputs if array.name == "pivots")
    assert all(entry.is_zero for entry in pivots.entries) == (inertia == "0")


def dividing(tree, b, state):
    """Forward dynamics that divide by I, which no pivot is."""
    one, inertia = tree.algebra.one, tree.algebra.symbol("I")
    pivots = [one, state.q[0], inertia + one]
    return {"qdd": [one / inertia, one, one], **pivot_results(pivots, [one, one, one])}


def test_another_division_by_zero_is_not_taken_for_a_zero_pivot():
    fake = Formulation("fake", "", "", {}, {"forward_dynamics": dividing})
    with pytest.raises(RequestError, match="leave the range of float64"):
        derived_program(described(SPINNER.replace("INERTIA", "1")), fake, "forward_dynamics")
