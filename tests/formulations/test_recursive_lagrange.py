"""Recursive Lagrange: what is written, and what the recursion takes from the tree."""

import re

from symgen.algebra.graph import Graph
from symgen.formulations import derive
from symgen.formulations.recursive_lagrange import RECURSIVE_LAGRANGE
from symgen.kinematics.tree import build_tree
from tests.oracles.descriptions import described

DERIVATIVES = "inverse_dynamics_derivatives"

DRIVEN = """
symgen: 1
name: driven
gravity: [1, -2, -9]
convention: standard
joints:
  - {name: slide, type: prismatic, dh: {alpha: 0.3}, link: {mass: 2}, rotor_inertia: 0.1,
     gear_ratio: 3, damping: 0.3, stiffness: 2, rest: 0.1, friction: 0.5, friction_velocity: 0.2}
  - {name: hip, type: spherical, origin: {xyz: [0.1, 0.2, 0.3], rpy: [0.1, 0.2, 0.3]},
     link: {mass: 1, com: [0.1, 0, 0.3], inertia: {xx: 1, yy: 2, zz: 1.5, xy: 0.1}},
     damping: [1, 2, 3]}
  - {name: arm, type: revolute, parent: slide, dh: {a: 0.4, d: 0.2, alpha: -1.1},
     link: {mass: 1, com: [0.1, 0, 0.3], inertia: {xx: 1, yy: 2, zz: 1.5, xy: 0.1}}, friction: 1}
loads:
  - {name: foot, link: hip, point: [0.1, 0.2, 0.3]}
  - {name: hand, link: arm, point: [0.1, -0.2, 0.3]}
"""

BRANCHES = """
symgen: 1
name: branches
convention: modified
joints:
  - {name: a, type: revolute, dh: {alpha: 0.3}, link: {mass: 2, com: [0.1, 0, 0.2]}}
  - {name: b, type: revolute, dh: {a: 0.4}, link: {mass: 2, com: [0.1, 0, 0.2]}}
  - {name: c, type: prismatic, parent: a, dh: {alpha: 1, a: 0.2}, link: {mass: 1}}
  - {name: d, type: revolute, dh: {alpha: 1, a: 0.2}}
  - {name: e, type: revolute, parent: base, dh: {alpha: 1, a: 0.2}, link: {mass: 1}}
loads:
  - {name: pull, link: b, point: [0.1, 0.2, 0.3]}
"""


def test_massless_links_and_unloaded_branches_write_nothing():
    program = derive(build_tree(described(BRANCHES), Graph()), RECURSIVE_LAGRANGE, DERIVATIVES)
    written = {(step.kind, step.joint) for step in program.steps}
    assert ("backward", "a") in written
    assert not {("backward", "d"), ("torque", "d"), ("inertia", "d")} & written
    assert ("derivatives of backward", "d") not in written
    names = [line.name for line in program.statements]
    assert any(name.startswith("F_pull_1") for name in names)
    assert not any(name.startswith(("F_pull_3", "TF_pull_3", "G_3", "G_5")) for name in names)
    assert program.results[3].is_zero  # tau of the massless leaf
    still = derive(build_tree(described(BRANCHES), Graph()), RECURSIVE_LAGRANGE, "gravity_forces")
    assert not any(line.note in ("RL-3", "RL-4", "RL-5", "RL-7") for line in still.statements)


def test_the_last_rows_of_the_matrices_fold_away():
    program = derive(build_tree(described(DRIVEN), Graph()), RECURSIVE_LAGRANGE, DERIVATIVES)
    for line in program.statements:
        match = re.fullmatch(
            r"(?:d_)?([ABCT](?:_in|_at)?)_\d+_([1-4])([1-4])(?:_dq_\d+)?", line.name
        )
        assert match is None or match[2] != "4", line.name
        match = re.fullmatch(r"(?:d_)?T?D_\d+_([1-4])([1-4])(?:_dqd?d?_\d+)?", line.name)
        assert match is None or match[2] != "4", line.name
