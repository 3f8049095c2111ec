"""Joint wrenches: bars by hand in every frame style."""

import numpy as np
import pytest

from symgen.formulations.newton_euler import NEWTON_EULER
from symgen.program.evaluation import call
from tests.oracles.comparison import agrees
from tests.oracles.descriptions import described
from tests.oracles.programs import evaluated


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
