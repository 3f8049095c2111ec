"""What the derivatives of the closed form leave out."""

import re

from symgen.algebra.graph import Graph
from symgen.formulations import derive
from symgen.formulations.closed_form_lagrange import CLOSED_FORM_LAGRANGE
from symgen.kinematics.tree import build_tree
from tests.oracles.descriptions import described

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


def derivatives(text):
    """dtau_dq, dtau_dqd and dtau_dqdd."""
    tree = build_tree(described(text), Graph())
    return derive(tree, CLOSED_FORM_LAGRANGE, "inverse_dynamics_derivatives").outputs[1:]


def test_joints_of_different_paths_have_nothing_to_do_with_each_other():
    apart = {(i, 4) for i in (1, 2, 3)} | {(4, i) for i in (1, 2, 3)}
    slide = {(i, 0) for i in range(1, 5)}  # where it is, and how fast, makes no difference
    for output in derivatives(DRIVEN):  # coordinates: slide, hip_1, hip_2, hip_3, arm
        zeros = {divmod(k, 5) for k, entry in enumerate(output.entries) if entry.is_zero}
        assert zeros == (apart if output.name == "dtau_dqdd" else apart | slide), output.name


def test_inertia_knows_nothing_of_the_first_joint():
    """A joint turns all that it carries as one piece; only gravity and loads tell how far."""
    text = re.sub("gravity.*\n", "gravity: [0, 0, 0]\n", DRIVEN).partition("loads:")[0]
    by_q = derivatives(text.replace("stiffness: 2, ", ""))[0]
    assert all(entry.is_zero for entry in by_q.entries[::5])
