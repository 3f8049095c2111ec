"""Answers about balls and free bodies: quaternions have length 1, however an answer is written."""

import pytest

from symgen.grading import grade
from tests.choosing import slow
from tests.modules import described

HEAD = "symgen: 1\nname: robot\ngravity: [0, 0, -g]\n"
BALL = """
parameters: {g: 9.81, m: 2.0, l: 0.5, A: 0.03, B: 0.04, C: 0.05}
joints:
  - {name: ball, type: spherical, coordinates: quaternion, origin: {},
     link: {name: bob, mass: m, com: [0, 0, -l], inertia: {xx: A, yy: B, zz: C}}}
"""
DRONE = """
parameters: {g: 9.81, m: 2.0, l: 0.5, A: 0.03, B: 0.04, C: 0.05, m2: 0.3, a: 0.2, I: 0.01}
joints:
  - {name: body, type: floating, coordinates: quaternion, origin: {},
     link: {mass: m, inertia: {xx: A, yy: B, zz: C}}}
  - {name: arm, type: revolute, origin: {xyz: [0, 0, -a]}, axis: [0, 1, 0],
     link: {mass: m2, com: [0, 0, -l], inertia: {yy: I}}}
loads: [{name: tip, link: arm}]
"""
OF_BALL = """
M[1,1] = A + m*l**2
M[3,3] = C
V = -m*g*l*(1 - 2*q1**2 - 2*q2**2)
g[1] = 2*m*g*l*(q2*q3 + q1*q4)
g[2] = -2*m*g*l*(q1*q3 - q2*q4)
h[3] = (B - A)*qd1*qd2
tau[1] = M[1,1]*qdd1 + (C - B - m*l**2)*qd2*qd3 + g[1]
T = (M[1,1]*qd1**2 + (B + m*l**2)*qd2**2 + C*qd3**2)/2
dtau_dq[1,1] = m*g*l*(q4**2 + q3**2 - q1**2 - q2**2)
dtau_dq[1,2] = 0
dtau_dqd[1,2] = (C - B - m*l**2)*qd3
qdd[3] = (tau3 - h[3])/C
com[3] = -l*(2*q4**2 + 2*q3**2 - 1)
newton_euler.R_ball_11 = 1 - 2*q2**2 - 2*q3**2
"""
OF_DRONE = """
g[1] = 2*(m + m2)*g*(q4*q6 - q5*q7)
g[3] = (m + m2)*g*(q7**2 + q6**2 - q4**2 - q5**2)
g[7] = -m2*g*l*(c8*2*(q4*q6 - q5*q7) - s8*(1 - 2*q4**2 - 2*q5**2))
M[1,1] = m + m2
M[5,7] = I + m2*l*(l + a*c8)
C[1,1] = 0
dtau_dq[3,1] = 0
forward_kinematics[1,2,4] = q2
tau[1] = (m + m2)*(qdd1 + qd5*qd3 - qd6*qd2) + m2*(qdd5*-a) + m2*qd4*qd6*-a - m2*l*(c8*(qdd5
    + qdd7 + qd4*qd6) - s8*((qd5 + qd7)**2 + qd6**2)) + g[1]
"""

OTHER = "jacobians[1,1,1] = 0"
"""A line that is not understood is no error beside one that is."""


@pytest.fixture(scope="module")
def robots():
    return {name: described(HEAD + text) for name, text in (("ball", BALL), ("drone", DRONE))}


@pytest.mark.parametrize(("robot", "answer"), [("ball", OF_BALL), *slow(("drone", OF_DRONE))])
def test_right_answers_are_right(robots, robot, answer):
    rows = grade(robots[robot], answer).rows
    assert [(row.label, row.wrong) for row in rows if not row.right] == []


@pytest.mark.parametrize(("robot", "answer", "told"), [
    ("ball", "g[1] = 2*m*g*l*(q2*q3 - q1*q4)", "q1*q4"),
    ("ball", "g[1] = 2*m*g*l*(q3*q4 + q1*q2)", "w x y z"),
    ("drone",
     "com[1] = q1 - m2/(m + m2)*(l*s8*(1 - 2*q5**2 - 2*q6**2)\n" "+ (a + l*c8)*2*(q4*q6 - q5*q7))",
     "conjugate"),
    ("ball", "V = -m*g*l*(q4**2 + q3**2 - q1**2)", "g*l*m*q2**2"),
    ("ball", "V = -m*g*l*abs(q4)", "no sum of products"),
    ("ball", "g[1] = m*g*l*s1", "q1 is an entry of a quaternion, no angle"),
    ("ball", "M[4,4] = 0", "expected M[1..3,1..3]"),
    ("drone", "g[7] = 0", "term by term|missing"),
    ("drone", "M[5,7] = I + m2*l*(l - a*c8)", "wrong sign"),
    ("drone", "g[1] = 2*(m + m2)*g*(q5*q7 - q4*q6)", "gravity|whole entry"),
    *slow(("drone", "qdd[1] = tau1", "too long")),
])  # fmt: skip
def test_wrong_answers_are_wrong(robots, robot, answer, told):
    row, *_ = grade(robots[robot], f"{answer}\n{OTHER}").rows
    text = f"{row.wrong} {row.slip}"
    assert not row.right and any(words in text for words in told.split("|")), text
