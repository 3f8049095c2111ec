"""Joint wrenches: bars by hand in every frame style, Pinocchio, the independent model, slopes."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from symgen import read
from symgen.algebra.graph import Graph
from symgen.deriving.derivation import derived_program
from symgen.formulations import derive
from symgen.formulations.newton_euler import NEWTON_EULER
from symgen.kinematics.tree import build_tree
from symgen.optimize.operations import operations_after
from symgen.program.evaluation import call
from symgen.validation.oracles import NumericRobot
from tests.choosing import one_in
from tests.oracles.comparison import LIMIT, agrees, complex_steps
from tests.oracles.descriptions import described
from tests.oracles.pinocchio_model import pinocchio_model
from tests.oracles.programs import evaluated
from tests.oracles.random_models import EVERYTHING, Recipe, model_texts, seeded_model_text

EXAMPLES = Path(__file__).parents[2] / "examples"
LARGE = Recipe(joints=(1, 16), loads=(0, 5))
SMALL = Recipe(joints=(1, 7), loads=(0, 3))


def results(description, function, state):
    return call(evaluated(description, NEWTON_EULER, function), state)


# -- a bar of 2 kg, its centre 0.3 m from the joint, held at rest; g = 10 m/s^2 -------------------

BAR = "link: {mass: 2, com: %s, inertia: {xx: 0.1, yy: 0.2, zz: 0.3}}"
HANDS = {
    # along x, free to turn about y; the weight pulls the far end down, the joint turns it up
    "origin, turning": (
        "gravity: [0, 0, -10]",
        "type: revolute, origin: {}, axis: [0, 1, 0], " + BAR % "[0.3, 0, 0]",
        [0.0],
        [[0, 0, 20, 0, -6, 0]],
    ),
    # the same bar, turned up by 90 degrees: it stands on its joint
    "origin, standing": (
        "gravity: [0, 0, -10]",
        "type: revolute, origin: {}, axis: [0, 1, 0], " + BAR % "[0.3, 0, 0]",
        [-np.pi / 2],
        [[20, 0, 0, 0, 0, 0]],
    ),
    # pushed out by 0.4: the moment is about the link's origin, which moves along
    "origin, sliding": (
        "gravity: [-10, 0, 0]",
        "type: prismatic, origin: {xyz: [1, 2, 3]}, " + BAR % "[0, 0, 0.3]",
        [0.4],
        [[20, 0, 0, 0, 6, 0]],
    ),
    # the link frame is at the far end, 0.5 from P, with x along the bar and y across it
    "standard, turning": (
        "gravity: [0, -10, 0]",
        "type: revolute, dh: {a: 0.5}, convention: standard, " + BAR % "[-0.2, 0, 0]",
        [0.0],
        [[0, 20, 0, 0, 0, 6]],
    ),
    # twisted: y of the link is the axis of the joint, z of it points along -y of the base
    "standard, twisted": (
        "gravity: [0, -10, 0]",
        "type: revolute, dh: {a: 0.5, d: 0.7, alpha: pi/2}, convention: standard, "
        + BAR % "[-0.2, -0.7, 0]",
        [0.0],
        [[0, 0, -20, 0, 6, 0]],
    ),
    # pushed out of P by 0.4 + 0.1; P stays, so that the arm of the weight is 0.5 + 0.3
    "standard, sliding": (
        "gravity: [-10, 0, 0]",
        "type: prismatic, dh: {d: 0.1}, convention: standard, " + BAR % "[0, 0, 0.3]",
        [0.4],
        [[20, 0, 0, 0, 16, 0]],
    ),
    # before the joint, P is shifted by `before`: nothing changes for what P is the origin of
    "standard, before": (
        "gravity: [0, -10, 0]",
        "type: revolute, before: {xyz: [1, 2, 3]}, dh: {a: 0.5}, convention: standard, "
        + BAR % "[-0.2, 0, 0]",
        [0.0],
        [[0, 20, 0, 0, 0, 6]],
    ),
    # the link frame is on the axis, 0.7 behind the seat of the joint
    "modified, turning": (
        "gravity: [0, -10, 0]",
        "type: revolute, dh: {a: 0.1, d: 0.7}, convention: modified, " + BAR % "[0.3, 0, 0]",
        [0.0],
        [[0, 20, 0, 0, 0, 6]],
    ),
    "modified, sliding": (
        "gravity: [-10, 0, 0]",
        "type: prismatic, dh: {d: 0.1}, convention: modified, " + BAR % "[0, 0, 0.3]",
        [0.4],
        [[20, 0, 0, 0, 6, 0]],
    ),
    # row 1: the sliding part, which has not turned; row 2: the link, turned by 90 degrees
    "cylindrical": (
        "gravity: [0, 0, -10]",
        "type: cylindrical, origin: {}, " + BAR % "[0.3, 0, 0]",
        [0.4, np.pi / 2],
        [[0, 0, 20, 6, 0, 0], [0, 0, 20, 0, -6, 0]],
    ),
}


@pytest.mark.parametrize("case", HANDS)
def test_a_bar_by_hand(case):
    gravity, joint, q, expected = HANDS[case]
    text = f"symgen: 1\nname: bar\n{gravity}\njoints:\n  - {{name: j, {joint}}}\n"
    (value,) = results(described(text), "joint_wrenches", {"q": q})
    assert agrees(value, np.array(expected, dtype=float))


TWO_BARS = """
symgen: 1
name: two_bars
gravity: [0, 0, -10]
joints:
  - name: a
    type: revolute
    origin: {}
    axis: [0, 1, 0]
    link: {mass: 2, com: [0.3, 0, 0]}
  - name: b
    type: revolute
    origin: {xyz: [0.5, 0, 0]}
    axis: [0, 1, 0]
    rotor_inertia: 3
    gear_ratio: 7
    damping: 5
    stiffness: 4
    rest: 1
    friction: 2
    link: {mass: 1, com: [0.2, 0, 0]}
loads:
  - {name: tip, link: b, point: [0.4, 0, 0]}
"""


def test_loads_and_links_beyond_are_carried_but_drives_are_not():
    """Bar b, 1 kg, hangs in a horizontal line on bar a, and 5 N pull its tip down."""
    state = {"q": [0, 0], "qd": [0, 3], "qdd": [0, 2], "loads": [[0, 0, -5, 0, 0, 0]]}
    still = {**state, "qd": [0, 0], "qdd": [0, 0]}
    (value,) = results(described(TWO_BARS), "joint_wrenches", still)
    assert agrees(value, np.array([[0, 0, 35, 0, -17.5, 0], [0, 0, 15, 0, -4, 0]]))
    # turning: the centre of b accelerates by 0.2 (-9, 0, -2); the drive adds nothing to the wrench
    (value,) = results(described(TWO_BARS), "joint_wrenches", state)
    assert agrees(value[1], np.array([-1.8, 0, 14.6, 0, -3.92, 0]))


# -- independent oracles -----------------------------------------------------------------------


def compare(description, seed, *oracles):
    rng = np.random.default_rng(seed)
    n = build_tree(description, Graph()).n
    motion = {"q": rng.uniform(-np.pi, np.pi, n)}
    motion |= {name: rng.uniform(-2, 2, n) for name in ("qd", "qdd")}
    loads = rng.uniform(-10, 10, (len(description.loads), 6))
    state = {**motion, "loads": loads}
    wrenches = results(description, "joint_wrenches", state)
    derivatives = results(description, "joint_wrench_derivatives", state)
    for oracle in oracles:
        assert agrees(wrenches[0], oracle.joint_wrenches(*motion.values(), loads=loads))
        expected = oracle.joint_wrench_derivatives(*motion.values(), loads=loads)
        for value, reference in zip(derivatives, expected, strict=True):
            assert agrees(value, reference)
    program = evaluated(description, NEWTON_EULER, "joint_wrenches")
    for by, slope in zip(motion, derivatives[1:], strict=True):
        assert agrees(slope, complex_steps(program, state, by)[0])


@pytest.mark.parametrize("seed", one_in(7, range(30)))
def test_random_trees_equal_pinocchio_and_the_numeric_robot(seed):
    description = described(seeded_model_text(seed, SMALL if seed % 3 else LARGE))
    compare(description, seed, pinocchio_model(description), NumericRobot(description))


@pytest.mark.parametrize("seed", one_in(5, range(30, 45)))
def test_every_type_of_joint_with_terms_of_its_own(seed):
    description = described(seeded_model_text(seed, EVERYTHING))
    compare(description, seed, pinocchio_model(description), NumericRobot(description))


@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(model_texts(Recipe(joints=(1, 5), loads=(0, 2))))
def test_drawn_trees_equal_pinocchio(text):
    description = described(text)
    compare(description, 1, pinocchio_model(description))


@pytest.mark.parametrize("seed", range(50, 60))
def test_the_part_along_the_motion_is_the_torque_without_joint_terms(seed):
    description = described(seeded_model_text(seed, SMALL))
    tree = build_tree(description, Graph())
    rng = np.random.default_rng(seed)
    state = {name: rng.uniform(-2, 2, tree.n) for name in ("q", "qd", "qdd")}
    (wrenches,) = results(description, "joint_wrenches", state)
    (tau,) = results(description, "inverse_dynamics", state)
    for joint, wrench, torque in zip(tree.joints, wrenches, tau, strict=True):
        axes = (*joint.linear_axis(tree.algebra), *joint.angular_axis(tree.algebra))
        felt = sum(axis.value * part for axis, part in zip(axes, wrench, strict=True))
        assert abs(felt - torque) <= LIMIT * max(1.0, np.abs(tau).max())


@pytest.mark.parametrize("seed", range(70, 78))
def test_nothing_is_written_about_joints_on_different_branches(seed):
    description = described(seeded_model_text(seed, Recipe(joints=(5, 12), loads=(0, 3))))
    tree = build_tree(description, Graph())
    paths = {joint.number: tree.path(joint.number) for joint in tree.joints}
    program = derive(tree, NEWTON_EULER, "joint_wrench_derivatives")
    for line in program.statements:
        match = re.fullmatch(r"d_.*?_(\d+)(?:_from_\d+)?(?:_[xyz])?_dq?d?d?_(\d+)", line.name)
        if match:
            j, i = int(match[1]), int(match[2])
            assert i in paths[j] or j in paths[i], line.name
    for output in program.outputs[1:]:
        zeros = np.array([entry.is_zero for entry in output.entries]).reshape(output.shape)
        for j in paths:
            for i in paths:
                if i not in paths[j] and j not in paths[i]:
                    assert zeros[j - 1, :, i - 1].all()


@pytest.mark.parametrize("name", ["puma560", "arm7", "tree12"])
def test_the_estimate_is_within_a_factor_of_two(name):
    description = read(EXAMPLES / f"{name}.yaml")
    program = derived_program(description, NEWTON_EULER, "joint_wrench_derivatives")
    count = operations_after(program.results).total
    tree = build_tree(description, Graph())
    assert 0.5 < NEWTON_EULER.estimate(tree, "joint_wrench_derivatives") / count < 2
