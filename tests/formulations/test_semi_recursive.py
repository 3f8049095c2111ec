"""Semi-recursive dynamics about three kinds of reference points: the terms of its equations.

The sums are held against (7) in NumPy; `test_lines` has the derivatives of every line."""

import numpy as np
import pytest

from symgen import read
from symgen.algebra.graph import Graph
from symgen.deriving.selection import select
from symgen.formulations import VARIANTS, declare_inputs
from symgen.formulations.semi_recursive import SEMI_RECURSIVE
from symgen.formulations.semi_recursive.bodies import (
    bodies_sweep,
    forces_sweep,
    masses_sweep,
    torques,
)
from symgen.formulations.semi_recursive.kinematics import (
    LINK_ORIGIN,
    RTDYN0,
    RTDYN1,
    columns_sweep,
    system_at,
)
from symgen.formulations.shared import symbolic_parameters
from symgen.kinematics.tree import BASE, build_tree
from symgen.options import BuildOptions
from symgen.program.builder import ProgramBuilder
from tests.modules import ROOT, described
from tests.oracles.comparison import agrees, state_of
from tests.oracles.differentiated import Differentiated
from tests.oracles.random_models import EVERYTHING, Recipe, seeded_model_text

TWO_LINK = ROOT / "examples" / "two_link.yaml"
SMALL = Recipe(joints=(1, 4), types=EVERYTHING.types, loads=(0, 3), terms=True)
THREE = (SEMI_RECURSIVE, *VARIANTS)
POINTS = (LINK_ORIGIN, RTDYN0, RTDYN1)
EACH_POINT = pytest.mark.parametrize("point", POINTS, ids=lambda point: point.name)


class Terms(Differentiated):
    """What the paper's terms are at a state, as numbers: by body, and stacked as in (5) to (7).

    Derivatives are those that stand behind every derivative of a program."""

    def __init__(self, description, state, point, runtime=()):
        tree = build_tree(description, Graph(), runtime)
        b = ProgramBuilder(tree.algebra, taken=tree.parameter_names)
        symbols = declare_inputs(tree, b, "inverse_dynamics")
        self.system = system_at(tree, b, symbols, point)
        self.columns = columns_sweep(self.system)
        self.known = bodies_sweep(self.system)
        self.masses = masses_sweep(self.system, self.known, self.columns)
        self.forces = forces_sweep(self.system, self.known)
        self.tau = torques(self.system, self.forces)
        self.bodies, values = list(self.system.geometry), dict(description.parameter_values)
        for name in ("q", "qd", "qdd", "loads"):
            names = b.declared(name).symbol_names
            values.update(zip(names, np.ravel(state[name]), strict=True))
        inputs = [b.declared("q"), b.declared("qd"), symbolic_parameters(tree)]
        rates = (("q", b.declared("qd").symbols), ("qd", b.declared("qdd").symbols))
        super().__init__(b, inputs, rates, values)

    def R(self, i):
        """R_i: 6 x n, from 6-vectors by joint."""
        found = np.zeros((6, len(self.bodies)))
        for j, column in self.columns[i].items():
            found[:, j - 1] = self.of(column)
        return found

    def R_dot(self, i):
        """(5), (6): b_dot_i, and Bdot_i R_p + B_i Rdot_p in front of it."""
        if i == BASE:
            return np.zeros((6, len(self.bodies)))
        at, motion = self.system.geometry[i], self.system.motions[i]
        p = at.joint.parent
        found = self.shift(at.arm) @ self.R_dot(p) if self.system.columns(i) else self.R_dot(p)
        found[:3] += tilde(self.of(motion.arm_dot)) @ self.R(p)[3:]
        for j in self.system.columns(i):
            found[:, j - 1] = self.of(self.system.motions[j].b_dot)
        return found

    def shift(self, arm):
        """B_i, (4c)"""
        found = np.eye(6)
        found[:3, 3:] = tilde(self.of(arm))
        return found

    def mass(self, i):
        """(75): D^T diag(m I, J_G) D"""
        body, D = self.known[i], np.eye(6)
        D[:3, 3:] = -tilde(self.of(body.c))
        about = np.zeros((6, 6))
        about[:3, :3] = np.eye(3) * self.of([body.m])[0]
        about[3:, 3:] = self.matrix(body.J_G)
        return D.T @ about @ D


def tilde(x):
    """The matrix of x x (.)"""
    return np.cross(np.eye(3), x)


@EACH_POINT
def test_the_sums_are_those_of_the_topology_matrix(point):
    """(4) to (8): V = R qd, Vdot = R qdd + Rdot qd, M = R^T M R and tau = M qdd - Q with
    Q = R^T (Q - M Rdot qd)."""
    description = described(seeded_model_text(320, SMALL))
    state = state_of(description, 320)
    terms = Terms(description, state, point)
    n, known, system = len(terms.bodies), terms.known, terms.system
    R, R_dot = (np.vstack([rows(i) for i in terms.bodies]) for rows in (terms.R, terms.R_dot))
    M, Q = np.zeros((6 * n, 6 * n)), np.zeros(6 * n)
    for i in terms.bodies:
        rows = slice(6 * i - 6, 6 * i)
        M[rows, rows] = terms.mass(i)
        assert agrees(terms.of(system.motions[i].V), (R @ state["qd"])[rows])
        V_dot = R @ state["qdd"] + R_dot @ state["qd"]
        assert agrees(terms.of(system.motions[i].V_dot), V_dot[rows])
        c, body = terms.of(known[i].c), known[i]
        omega, J = terms.of(system.motions[i].omega), terms.matrix(body.J_G)
        t = terms.of([body.m])[0] * np.cross(omega, np.cross(omega, c))
        Q[rows] = [*-t, *(-np.cross(omega, J @ omega) - np.cross(c, t))]
        gravity = terms.of(system.tree.gravity) * terms.of([body.m])[0]
        Q[rows] += [*gravity, *np.cross(c, gravity)]
        at = system.geometry[i]
        for place, load in enumerate(system.tree.loads):
            if load.body == i:
                arm = terms.of(at.places.origin) + terms.matrix(at.A) @ terms.of(load.point)
                force, moment = np.split(state["loads"][place], 2)
                Q[rows] += [*force, *(moment + np.cross(arm - terms.of(at.r), force))]
    expected = R.T @ M @ R
    for (i, j), entry in terms.masses.entries.items():
        assert agrees(terms.of([entry])[0], expected[i - 1, j - 1])
    forces = R.T @ (Q - M @ R_dot @ state["qd"])
    assert agrees(terms.of(terms.tau), expected @ state["qdd"] - forces)


def test_what_the_reference_points_are_chosen_for():
    """RTdyn0: masses are block diagonal. RTdyn1: every B_i is the identity."""
    description = described(seeded_model_text(320, SMALL))
    state = state_of(description, 320)
    centre, origin = (Terms(description, state, point) for point in (RTDYN0, RTDYN1))
    assert all((centre.of(body.M.h) == 0).all() for body in centre.known.values())
    assert all((origin.of(at.arm) == 0).all() for at in origin.system.geometry.values())


def test_it_is_built_where_it_is_named():
    description = read(TWO_LINK)
    for options, expected in (
        (BuildOptions(), set()),
        (BuildOptions(thorough=True), set()),
        (BuildOptions(formulations=("all",)), {"semi_recursive"}),
        (BuildOptions(formulations=("semi_recursive_rtdyn1",)), {"semi_recursive_rtdyn1"}),
        (BuildOptions(formulations=tuple(x.name for x in THREE)), {x.name for x in THREE}),
    ):
        selection = select(description, options)
        assert {name for name in selection.built if name.startswith("semi")} == expected
        assert ("semi_recursive" in selection.evaluated) == options.thorough
