"""Derivatives of the Newton-Euler torques: the equations of the thesis, and their zeros."""

import re

import numpy as np
import pytest

from benchmarks.models import HUMAN43, spatial_tree
from symgen.algebra.graph import Graph
from symgen.formulations import derive
from symgen.formulations.newton_euler import NEWTON_EULER
from symgen.kinematics.tree import build_tree
from tests.choosing import one_in
from tests.oracles.barman import Link, Row, ThesisDynamics
from tests.oracles.comparison import motion_of
from tests.oracles.descriptions import described
from tests.oracles.lines import values_of

FUNCTION = "inverse_dynamics_derivatives"
DERIVATIVE = re.compile(r"d_(.*?)_(\d+)((?:_[xyz])?)_d(q|qd|qdd)_(\d+)")


def written(description, function):
    return derive(build_tree(description, Graph()), NEWTON_EULER, function)


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
    program = written(description, "joint_wrench_derivatives")
    values = values_of(program, state, description.parameter_values)
    torques = values_of(written(description, FUNCTION), state, description.parameter_values)
    values = {**torques, **values}
    quantities = {
        "omega": thesis.omega,
        "alpha": thesis.alpha,
        "H": thesis.H,
        "F_G": thesis.F_G,
        "n_G": thesis.n_G,
        "f": thesis.F_p,
        "n_o": thesis.n_p,
        "tau": thesis.tau,
    }
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


@pytest.mark.deep
def test_the_human_has_747_entries():
    """The tree of the 43-coordinate human in the open-tree paper, with general links."""
    text = spatial_tree(HUMAN43, "human")
    program = written(described(text + "gravity: [1, 2, -9]\n"), FUNCTION)
    for output in program.outputs[1:]:
        assert sum(not entry.is_zero for entry in output.entries) == 747
        assert output.entries[41 * 43 + 17].is_zero
    # the first axis is vertical: where gravity is, too, nothing changes with q_1
    by_q = written(described(text), FUNCTION).outputs[1]
    assert sum(not entry.is_zero for entry in by_q.entries) == 747 - 43
