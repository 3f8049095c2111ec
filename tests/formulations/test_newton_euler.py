"""Newton-Euler: derivatives are the equations of the thesis, and names those of entries."""

import re
from dataclasses import replace

import numpy as np
import pytest

from symgen import read
from symgen.algebra.graph import Graph
from symgen.formulations import derive
from symgen.formulations.newton_euler import NEWTON_EULER
from symgen.kinematics.tree import build_tree
from symgen.optimize.folding import fold
from symgen.program.interpreter import call
from symgen.program.program import Output
from tests.choosing import one_in
from tests.modules import ROOT, described
from tests.oracles.barman import Link, Row, ThesisDynamics
from tests.oracles.comparison import agrees, motion_of, state_of
from tests.oracles.implicit import Implicit
from tests.oracles.lines import values_of

DERIVATIVE = re.compile(r"d_(.*?)_(\d+)((?:_[xyz])?)_d(q|qd|qdd)_(\d+)")

TYPES = ("revolute", "prismatic", "revolute", "revolute", "prismatic", "revolute")
ENTRIES = dict(xx=(0, 0), yy=(1, 1), zz=(2, 2), xy=(0, 1), xz=(0, 2), yz=(1, 2))


def random_link(kind, rng):
    root = rng.normal(size=(3, 3)) * 0.3
    return Link(
        row=Row(str(kind), *rng.uniform(-1, 1, 4).tolist()),
        mass=float(rng.uniform(0.5, 2)),
        com=rng.normal(size=3),
        inertia=np.trace(root @ root.T) * np.eye(3) - root @ root.T,
        point=rng.normal(size=3),
    )


def thesis_chain(seed):
    """Links of a random chain of standard rows with a load on each, gravity, and their model."""
    rng = np.random.default_rng(seed)
    links = [random_link(kind, rng) for kind in rng.permutation(TYPES)]
    gravity = rng.normal(size=3) * 5
    head = ["symgen: 1", "name: thesis", "convention: standard", f"gravity: {gravity.tolist()}"]
    joints, loads = ["joints:"], ["loads:"]
    for k, link in enumerate(links):
        row = ", ".join(f"{x}: {getattr(link.row, x)!r}" for x in ("theta", "d", "a", "alpha"))
        inertia = ", ".join(f"{x}: {float(link.inertia[place])!r}" for x, place in ENTRIES.items())
        joints.append(
            f"  - {{name: j{k}, type: {link.row.type}, dh: {{{row}}}, link: {{mass: {link.mass!r}, "
            f"com: {link.com.tolist()}, inertia: {{{inertia}}}}}}}"
        )
        loads.append(f"  - {{name: load{k}, link: j{k}, point: {link.point.tolist()}}}")
    return links, gravity, described("\n".join(head + joints + loads))


@pytest.mark.parametrize("seed", one_in(5, range(5)))
def test_the_lines_equal_the_equations_of_the_thesis(seed):
    """d NE-3 to d NE-16, and the equations that they cite."""
    links, gravity, description = thesis_chain(seed)
    state = motion_of(description, seed)
    thesis = ThesisDynamics(links, gravity, *state.values())
    values = {}
    for function in ("inverse_dynamics_derivatives", "joint_wrench_derivatives"):
        program = derive(build_tree(description, Graph()), NEWTON_EULER, function)
        values |= values_of(program, state, description.parameter_values)
    names = ("omega", "alpha", "H", "F_G", "n_G", "tau")
    quantities = {name: getattr(thesis, name) for name in names}
    quantities |= {"f": thesis.F_p, "n_o": thesis.n_p}
    seen = dict.fromkeys(quantities, 0)
    for name, value in values.items():
        match = DERIVATIVE.fullmatch(name)
        if match is None or match[1] not in quantities:
            continue
        quantity, j, axis, by, i = match.groups()
        expected = quantities[quantity][int(j), by, int(i)]
        if axis:
            expected = expected["xyz".index(axis[1])]
        seen[quantity] += 1
        assert abs(value - expected) <= 1e-10 * max(1.0, abs(expected)), name
    assert all(seen.values()), seen


def program_of(description, function):
    tree = build_tree(description, Graph())
    return fold(derive(tree, NEWTON_EULER, function), description.parameter_values)


@pytest.mark.parametrize("function", ["forward_dynamics", "hybrid_dynamics", "mass_matrix"])
def test_entries_of_the_mass_matrix_have_their_names(function):
    """The numbers of the other statements give M, and `M_i_j` are its entries."""
    description = read(ROOT / "examples" / "tree12.yaml")
    state, program = state_of(description, 1), program_of(description, function)
    lines = [line for line in program.statements if line.name.startswith("M_")]
    entries = tuple(line.value for line in lines)
    called = call(replace(program, outputs=(Output("M", (len(lines),), entries),)), state)
    mass = Implicit(description, 1).M
    places = [tuple(int(k) - 1 for k in line.name.split("_")[1:]) for line in lines]
    assert len(set(places)) == len(places) > 25
    assert agrees(called[0], np.array([mass[place] for place in places]))
    named = {line.value.index for line in lines}
    for output in program.outputs:
        if output.name in ("diagonal", "mass_matrix"):
            assert all(x.is_atomic or x.index in named for x in output.entries)


def test_steps_say_what_they_are_for():
    description = read(ROOT / "examples" / "two_link.yaml")
    kinds = [step.kind for step in program_of(description, "forward_dynamics").steps]
    assert "torques: backward" in kinds and "bias: forward" in kinds
    assert "backward" not in kinds
