"""Answers of students: right ones in any form, thirty wrong ones, and what cannot be understood."""

import json
import re
from pathlib import Path

import pytest

import symgen
from symgen.cli import run
from symgen.description.checks import check
from symgen.description.reading import decode
from symgen.errors import RequestError
from symgen.grading import grade
from symgen.grading.questions import Questions
from symgen.showing.equations import show

EXAMPLES = Path(__file__).parents[2] / "examples"
TWO_LINK = symgen.read(EXAMPLES / "two_link.yaml")

M11 = "I1 + I2 + m1*l1**2 + m2*(L1**2 + l2**2 + 2*L1*l2*c2)"
M12 = "I2 + m2*(l2**2 + L1*l2*c2)"
M22 = "I2 + m2*l2**2"
G1 = "g*(m1*l1*c1 + m2*L1*c1 + m2*l2*c12)"
G2 = "m2*l2*g*c12"
H = "m2*L1*l2*s2"
TAU1 = f"({M11})*qdd1 + ({M12})*qdd2 - {H}*(2*qd1*qd2 + qd2**2) + {G1}"
TAU2 = f"({M12})*qdd1 + ({M22})*qdd2 + {H}*qd1**2 + {G2}"
RIGHT = f"""
M[1,1] = {M11}
M[1,2] = {M12}
M[2,1] = {M12}
M[2,2] = {M22}
G[1] = {G1}
G[2] = {G2}
tau[1] = {TAU1}
tau[2] = {TAU2}
b[1] = -{H}*(2*qd1*qd2 + qd2**2) + {G1}
V = g*(m1*l1*s1 + m2*(L1*s1 + l2*s12))
T = (({M11})*qd1**2 + 2*({M12})*qd1*qd2 + ({M22})*qd2**2)/2
dtau_dq[2,1] = -m2*l2*g*s12
dtau_dq[2,2] = m2*L1*l2*(c2*qd1**2 - s2*qdd1) - m2*l2*g*s12
dtau_dqd[1,2] = -2*{H}*(qd1 + qd2)
dtau_dqdd[1,2] = {M12}
com[1] = (m1*l1*c1 + m2*(L1*c1 + l2*c12))/(m1 + m2)
forward_kinematics[2,1,4] = L1*c1 + L2*c12
newton_euler.omega_2_z = qd1 + qd2
"""


def graded(text, robot=TWO_LINK):
    return grade(robot, text).rows


def test_right_answers_are_right():
    rows = graded(RIGHT)
    assert [row.label for row in rows if not row.right] == []
    assert len(rows) == 18


IN_OTHER_WORDS = "I2 + m2*l2**2 + m2*L1*l2*{}"  # of M[1,2], where {} is cos(q2)


@pytest.mark.parametrize("cosine", [
    "(cos(q2 + pi/12)*(sqrt(6) + sqrt(2))/4 + sin(q2 + pi/12)*(sqrt(6) - sqrt(2))/4)",
    "(cos(q2 + pi/7)*cos(pi/7) + sin(q2 + pi/7)*sin(pi/7))",
    "(cos(q2 + 0.3)*cos(0.3) + sin(q2 + 0.3)*sin(0.3))",
    "c2*sqrt((m1 + m2)**2)/(m1 + m2)",  # masses are positive
    "c2*sqrt(m1*m2)/(sqrt(m1)*sqrt(m2))",
    "c2*exp(log(m1)/2)**2/m1",
])  # fmt: skip
def test_roots_and_parts_of_angles(cosine):
    (row,) = graded(f"M[1,2] = {IN_OTHER_WORDS.format(cosine)}")
    assert row.right, row
    (row,) = graded(f"M[1,2] = {IN_OTHER_WORDS.format(f'({cosine} + 1e-300*m1)')}")
    assert not row.right


@pytest.mark.parametrize("cosine", ["sqrt(1 - s2**2)", "cos(asin(s2))", "1/sqrt(1 + tan(q2)**2)"])
def test_what_is_right_for_some_angles_only_is_wrong(cosine):
    assert not graded(f"M[1,2] = {IN_OTHER_WORDS.format(cosine)}")[0].right


SPRINGS = """
symgen: 1
name: r
convention: modified
gravity: [0, 0, -g]
parameters: {g: 9.81, a: 0.3, m: 2, x: 0.1, k: 3, beta: 0.4, f: 0.7}
joints:
  - {name: turn, type: revolute, dh: {theta: 0.3}, friction: f, friction_velocity: 0.1}
  - {name: slide, type: prismatic, dh: {theta: 30*deg, d: 0.1, a: a, alpha: beta}, stiffness: k,
     link: {mass: m, com: [0, x, 0]}}
"""

FOLLOWING = """
symgen: 1
name: scissors
parameters: {m: 0.5, L: 0.3, k: -2}
gravity: [0, -9.8, 0]
convention: standard
joints:
  - {name: a, type: revolute, dh: {a: L}, link: {mass: m}}
  - {name: b, type: revolute, dh: {a: L}, mimic: {coordinate: a, multiplier: k}, link: {mass: m}}
"""
OFFSET = """
symgen: 1
name: r
convention: standard
gravity: [0, 0, -g]
parameters: {g: 9.81, L: 0.5, d: 0.3, m: 2, x: 0.1, beta: 0.4}
joints:
  - {name: a, type: revolute, dh: {a: L, alpha: pi/2}}
  - {name: b, type: revolute, dh: {d: d, a: x, alpha: beta}, link: {mass: m, com: [0, 0, x]}}
"""
TANH = "f*(exp(10*qd1) - exp(-10*qd1))/(exp(10*qd1) + exp(-10*qd1))"
RUBBED = """{symgen: 1, name: r, parameters: {I: 2, f: 0.7}, joints: [{name: a, type: revolute,
    origin: {}, friction: f, friction_velocity: 0.1, link: {mass: 1, inertia: {zz: I}}}]}"""
DERIVED = re.sub(
    r"  l2: \{value: L2/2.*", "  l2: half*L2\n  half: third*3/2\n  third: one/3\n  one: 1",
    (EXAMPLES / "two_link.yaml").read_text(),
)  # fmt: skip
"""Parameters that derive from derived ones, which stand later."""
MECHANISM = """
symgen: 1
name: r
parameters: {a: 2, b: 3}
joints:
  - {name: one, type: revolute, origin: {}, link: {mass: 1, inertia: {zz: 1}}}
  - {name: two, parent: base, type: revolute, origin: {}, link: {mass: 1, inertia: {zz: 1}}}
loops:
  - {name: pin, type: spherical, first: {link: one, origin: {xyz: [a, 0, 0]}},
     second: {link: two, origin: {xyz: [b, 0, 0]}}}
relations: {drive: q.one - 2*pi*t}
"""
MASS = "m*L**2*(1 + 1 + (1 + k)**2 + 2*(1 + k)*cos(k*q1))"
"""By hand: the ends of the two links, the second of which turns by q + k q."""
OF_ROBOTS = [
    (SPRINGS, "M[2,2] = m", True),
    (SPRINGS, "G[2] = m*g*cos(beta)", True),
    (SPRINGS, "G[2] = m*g*sin(beta)", False),
    (SPRINGS, "tau[2] = m*qdd2 - m*qd1**2*sin(beta)**2*(0.1 + q2) + k*q2", False),
    (SPRINGS, "dtau_dq[2,2] = k - m*sin(beta)**2*qd1**2", True),
    (SPRINGS, "dtau_dqd[1,1] = 10*f*4/(exp(10*qd1) + exp(-10*qd1))**2 - 2*m*0", False),
    (SPRINGS, "h = 0.1 + q2\nforward_kinematics[2,3,4] = h*cos(beta)", True),
    (SPRINGS,
     "forward_kinematics[2,1,4] = a*cos(q1 + 0.3) + (0.1 + q2)*sin(beta)*sin(q1 + 0.3)", True),
    (SPRINGS, "forward_kinematics[2,3,1] = sin(beta)*sin(pi/6)", True),
    (SPRINGS, "forward_kinematics[2,3,2] = sin(beta)*sqrt(3)/2", True),
    (SPRINGS, "forward_kinematics[2,3,2] = sin(beta)*cos(30)", False),
    (RUBBED, f"tau[1] = I*qdd1 + {TANH}", True),
    (RUBBED, f"qdd[1] = (tau[1] - {TANH.replace('qd1', 'qd[1]')})/I", True),
    (RUBBED, f"tau[1] = I*qdd1 + {TANH.replace('10', '9')}", False),
    (DERIVED, "M[2,2] = I2 + m2*L2**2*one**2/4", True),
    (DERIVED, "M[2,2] = I2 + m2*L2**2*(3*third/2)**2", True),
    (DERIVED, "M[2,2] = I2 + m2*L2**2/4", False),  # one is a parameter
    (FOLLOWING, f"M[1,1] = {MASS}", True),
    (FOLLOWING, f"M[1,1] = {MASS.replace('k*q1', 'q1')}", False),
    (FOLLOWING, "G[1] = m*9.8*L*(2*cos(q1) + (1 + k)*cos(q1 + k*q1))", True),
    (FOLLOWING, "newton_euler.omega_2_z = qd1*(1 + k)", True),
    (MECHANISM, "constraints[1] = b*c2 - a*c1", True),
    (MECHANISM, "constraints_1 = a*c1 - b*c2", True),  # a row is defined up to its sign
    (MECHANISM, "constraints[1] = a*c1 + b*c2", False),
    (MECHANISM, "constraints[4] = q1 - 2*pi*t", True),
    (MECHANISM, "Phi[drive] = 2*pi*t - q1", True),
    (MECHANISM, "J[pin_y, 1] = -a*c1", True),
    (MECHANISM, "constraint_jacobian[2,1] = -a*c1", True),
    (MECHANISM, "constraint_rates[4] = qd1 - 2*pi", True),
    (FOLLOWING, "constraints[1] = 0", False),
]  # fmt: skip


@pytest.mark.parametrize(("model", "answer", "right"), OF_ROBOTS)
def test_answers_about_robots(model, answer, right):
    (row,) = graded(answer, check(decode(model.encode(), "robot.yaml")))
    assert row.right == right, row


@pytest.mark.parametrize("rule", ["{x}*({x} + 1) + {x}", "{x}/(1 + {x}**2)", "sqrt({x} + {x}*{x})"])
def test_names_upon_names_end_in_time(rule):
    """Each line doubles the one before: put in, they would be longer than any memory."""
    for lines in (12, 40):
        steps = [f"a{k} = {rule.format(x=f'a{k - 1}')}" for k in range(1, lines)]
        text = "\n".join(["a0 = q1", *steps, f"M[1,1] = a{lines - 1}"])
        *faulty, row = graded(text)
        assert not row.right
        for name in faulty:
            assert "is wanted here, and its own line is not understood" in row.wrong
            assert "power higher" in name.wrong or "when all names are put in" in name.wrong


@pytest.mark.parametrize("answer", [
    "cos(1000000*q1)", "cos(1e300*q1)", "(c1 + c2 + m1 + m2)**1000", "cos(cos(cos(q1)))",
    "cos(q1 + q2 + m1 + m2 + L1 + L2 + l1 + I1 + I2 + g + qd1 + qd2 + qdd1 + qdd2 + 9*q2)",
    "cos((q1 + q2 + m1 + m2)**1000)", "(sqrt(m1) + 1)**1000", "1e-300*m1", "1e300*m1",
    "*".join(f"sqrt(m1 + {k})" for k in range(60)), "sqrt((m1 + m2)**999)",
    "tan(q1 + pi/2)/tan(q1)", "*".join(f"sin({k})" for k in range(1, 40)),
    f"{'sqrt(2 + ' * 30}2{')' * 30}", f"q_{'0' * 1500}1",
])  # fmt: skip
def test_an_answer_from_a_stranger_ends_in_time_and_in_a_line(answer):
    (row,) = graded(f"M[1,1] = {answer}")
    assert not row.right
    assert len(row.wrong) < 600


WRONG = [
    ("M[1,1]", M11.replace("2*L1", "L1"), "L1*l2*m2*cos(q2)", "lacks a factor 2", "factor 2"),
    ("M[1,1]", M11.replace("2*L1", "4*L1"), "4*L1*l2*m2*cos(q2)", "factor 2 too many", "factor 2"),
    ("M[1,1]", M11.replace("+ 2*", "- 2*"), "L1*l2*m2*cos(q2)", "wrong sign", "a sign"),
    ("M[1,1]", M11.replace("I1 + I2", "I1"), "I2", "missing", "inertia of forearm about"),
    ("M[1,1]", M11.replace("c2)", "s2)"), "L1*l2*m2*sin(q2)", "does not belong", ""),
    ("M[1,1]", "I1 + m1*l1**2", "I2", "missing", "the link forearm is left out"),
    ("M[1,1]", M11.replace(" + m1*l1**2", ""), "l1**2*m1", "missing", "moment about the wrong"),
    ("M[1,2]", M22, "L1*l2*m2*cos(q2)", "missing", "this is M[2,2]"),
    ("M[1,2]", M12.replace("c2", "c12"), "L1*l2*m2*cos(q1 + q2) (in", "does not belong", ""),
    ("M[2,2]", f"2*({M22})", "2*I2", "factor 2 too many", "too many in the whole entry"),
    ("M[2,2]", "I2 + m2*L2**2", "L2**2*m2", "should be", "forearm is taken at its end (hand)"),
    ("M[1,1]", M11.replace("m1*l1", "m1*L1"), "l1**2*m1", "missing", "origin of its frame"),
    ("tau[2]", TAU2.replace("c12", "s12"), "the term g*l2*m2*cos(q1 + q2) is", "missing",
     "sin(q1 + q2) in place of cos(q1 + q2)"),
    ("forward_kinematics[2,1,4]", "L1*c1 + L2*c2", "L2*cos(q1 + q2) is", "missing",
     "from the base"),
    ("M[2,2]", "I2 + m2*(l2**2 - (L1 - g))", "(in m2*(l2**2 - (L1 - g)))", "does not belong", ""),
    ("G[1]", G1.replace("g*", "-g*", 1), "g*m2*cos(q1)", "wrong sign", "whole entry"),
    ("G[1]", G1.replace(" + m2*l2*c12", ""), "g*l2*m2*", "missing", "is taken in its joint"),
    ("G[1]", "g*m1*l1*c1", "L1*g*m2*cos(q1)", "missing", "forearm is left out (missing child)"),
    ("G[1]", G1.replace("c12", "c2"), "g*l2*m2*cos(q2)", "does not belong", "wrong frame"),
    ("tau[1]", TAU1.replace("2*qd1*qd2", "qd1*qd2"), "qd1*qd2", "lacks a factor 2", "factor 2"),
    ("tau[1]", TAU1.replace("- m2*L1", "+ m2*L1"), "qd1*qd2*sin(q2)", "wrong sign", "a sign"),
    ("tau[1]", f"({M11})*qdd1 + ({M12})*qdd2 + {G1}", "qd", "missing", "velocity terms"),
    ("tau[2]", f"({M12})*qdd1 + ({M22})*qdd2 + {H}*qd1**2", "g*", "missing", "gravity is missing"),
    ("tau[2]", TAU2.replace(f"+ {G2}", f"- {G2}"), "g*l2*m2", "wrong sign", "a sign"),
    ("tau[2]", f"{H}*qd1**2 + {G2}", "qdd", "missing", "acceleration terms"),
    ("V", "g*(m1*l1*s1 + m2*(L1*s1 + l2*s2))", "g*l2*m2*sin(q2)", "does not", "wrong frame"),
    ("T", RIGHT.split("T = ")[1].split("/2\n")[0], "", "2 too many", "2 too many in the whole"),
    ("dtau_dq[2,1]", "-m2*l2*g*s12 + m2*L1*l2*c2*qd1**2 - m2*L1*l2*s2*qdd1", "", "does not belong",
     "this is dtau_dq[2,2]"),
    ("dtau_dqd[1,2]", f"-2*{H}*qd2", "qd1*sin(q2)", "missing", "this is dtau_dqd[1,1]"),
    ("com[1]", "m1*l1*c1 + m2*(L1*c1 + l2*c12)", "", "no sum of products", ""),
    ("newton_euler.omega_2_z", "qd2", "", "missing", "forgotten"),
    ("newton_euler.omega_2_z", "qd1 - qd2", "-qd2", "wrong sign", "a sign"),
    ("M[2,2]", "I1 - m2*l2**2", "I1 does not", "wrong sign; the term I2 is missing", ""),
]  # fmt: skip


@pytest.mark.parametrize(("label", "answer", "term", "what", "slip"), WRONG)
def test_a_wrong_answer_is_graded_with_its_wrong_terms(label, answer, term, what, slip):
    (row,) = graded(f"{label} = {answer}")
    assert row.label == label
    assert not row.right
    assert term in row.wrong, row
    assert what in row.wrong, row
    assert slip in row.slip, row


@pytest.mark.parametrize(("answer", "place"), [
    ("M[1,1] = m*L**2", "taken in its joint"),
    ("M[1,1] = m*((L + x*sin(beta)*s2)**2 + (x*cos(beta))**2)",
     "measured from its joint, not from the link's frame at the far end (wrong frame)"),
])  # fmt: skip
def test_standard_dh_mass_misplaced(answer, place):
    (row,) = graded(answer, check(decode(OFFSET.encode(), "robot.yaml")))
    assert row.slip == f"likely slip: the centre of mass of b is {place}"


def test_loads_count_where_the_answer_speaks_of_them():
    loaded = f"tau[2] = {TAU2} - L2*(tip_fy*c12 - tip_fx*s12) - tip_nz"
    assert graded(loaded)[0].right
    (row,) = graded(loaded.replace("- tip_nz", "+ tip_nz"))
    assert "tip_nz" in row.wrong
    assert "wrong sign" in row.wrong


@pytest.mark.parametrize(("text", "message"), [
    ("", "no answer in it"),
    ("a = 1", "nothing in it is asked for"),
    ("M[1,1]", "expected 'NAME = EXPRESSION'"),
    ("M[1,2] = I2*(1 + L1\nM[2,2] = I2 + m2*l2**2",
     "M[1,2]: this '(' is never closed (column 4 of the expression)"),
    ("M[1,2] = I2\nM[2,1] = M[1,2] + ((", "M[2,1]: expected a number, a name or '('"),
    ("M[1,2] = I2\nM[2,1] = M[1,2] + (3", "(column 10 of the expression)"),
    ("M[1,1] = x1*x2*theta2", "unknown names 'x1', 'x2'; known"),
    ("M[1,1] = x1*x2*theta2", "unknown name 'theta2'; here it is"),
    ("C[1,1] = 1/(s1**2 + c1**2 - 1)\nC[1,2] = 0", "C[1,1]: no value at any point"),
    ("M[1,1] = ", "expression"),
    ("M[1,1] = m1*l1^", "found the end"),
    ("constraints[1] = q1", "constraints has no entries for this robot"),
    ("J = 3\nM[2,2] = I2", "is J[1,1] meant?"),
    ("M[1,1] = m1 l1", "column"),
    ("M[1,1] = m3", "unknown name 'm3'; known are L1, L2, l1"),
    ("M[1,1] = __import__('os')", "column"),
    ("M[3,1] = 1", "expected M[1..2,1..2]"),
    ("T[1] = 1", "expected T = ..."),
    ("N[1,1] = 1", "Phi, h, inertial, centrifugal, coriolis, J, and results"),
    ("m1 = 3", "this name belongs to the model"),
    ("M[1,1] = 1\nM[1,1] = 2", "has an answer already, in line 1"),
    ("M[1,1] = 2**m1", "a power higher than 1000"),
    ("M[1,1] = m1**600/m1**600", "a power higher than 1000"),
    ("M[1,1] = 1/0", "division by zero"),
    ("a = 1e308\nM[1,1] = a*a*m1", "overflows float64"),
    ("M[1,1] = I1*sqrt(-2)", "sqrt(-2) is not defined"),
    ("M[0,0] = I1", "expected M[1..2,1..2], counted from 1"),
    ("h = 3\nM[2,2] = I2", "h: a name of your own that nothing uses; is h[1]"),
    ("tau1 = g\nqdd1 = tau1", "this name is a variable of the motion; is tau[1] meant?"),
    ("q_2 = 0\nM[2,2] = I2", "this name is a variable of the motion"),
    ("b = 2\nM[2,2] = I2", "expected b[1..2]; a name of your own has to be another one"),
    ("tau[1] = M[1,1]*qdd1", "unknown name 'M[1,1]' on the right: only q[i]"),
    ("tau[1] = q[3]*qdd[1]", "unknown name 'q[3]' on the right: only q[i], qd[i], qdd[i], tau[i]"),
    ("M[1,1] = I1*x\nM[2,2] = M[1,1]", "M[1,1] is wanted here, and its own line"),
    ("M = Matrix([[I1, 0], [0, I2]])", "'[' stands behind the name of an entry alone"),
    ("M[1,2] = I2*cos(theta2)", "unknown name 'theta2'; here it is called 'q2'"),
    ("M[1,2] = I2*dq1", "unknown name 'dq1'; here it is called 'qd1'"),
    ("newton_euler.omega_2_z = omega_2_z", "this step or a later one; an answer is in terms of "
     "earlier steps"),
    ("newton_euler.R_1_11 = omega_2_z", "an answer is in terms of earlier steps"),
    ("tau[1] = n_1_z", "is a step; an answer is in terms of the motion"),
    ("M[1,1] = 1/(m1 - m1)", "has no value: division by zero"),
    ("M[1,1] = 1/(m1 + m2 - m2 - m1)", "divides by zero"),
    ("newton_euler.omega_9_z = 1", "newton_euler has no step 'omega_9_z'"),
    ("newton_oiler.omega_2_z = 1", "did you mean 'newton_euler'?"),
    ("x" * 300_000, "longer than"),
    ("\n" * 5000 + "M[1,1] = 1", "longer than"),
    ("M[1,1] = " + "(" * 100 + "1" + ")" * 100, "nest"),
])  # fmt: skip
def test_what_cannot_be_understood_says_so(text, message):
    verdict = grade(TWO_LINK, text, "a.txt")
    *_, row = (row for row in verdict.rows if not row.understood)
    assert message in f"{row.label}: {row.wrong}"
    assert not row.right and not verdict.passed


def test_entries_are_read_as_they_are_shown():
    shown = show(EXAMPLES / "two_link.yaml", "mass_matrix", "python", None, None)
    verdict = grade(TWO_LINK, shown)
    assert "M_12 = " in shown and verdict.summary == "4 of 4 right"
    assert [row.label for row in grade(TWO_LINK, "tau1 = g").rows] == ["tau[1]"]


@pytest.mark.parametrize(("text", "verdicts", "words"), [
    ("M_12 = 99\nM_21 = {M12}\nx = M_12", "Wr", ""),
    ("M_11 = 7\nk = M_11", "W", ""),
    ("C12 = c12\nG[2] = m2*g*l2*C12", "Wr", "C12 is C[1,2]; a name of your own"),
    ("M[1,2] = {M12}\nM_21 = M_12\nM22 = M(2,1) - m2*L1*l2*c2\ninertial[2] = M12*qdd1 + M_2_2*qdd2",
     "rrrr", ""),
    ("M12 = {M12}\nM[1,2] = M12", "r", ""),
    ("h12 = L1*l2\nh_2 = m2*h12*s2*qd1**2", "r", ""),  # there is no h[12]
    ("M_12 = m3\nM_21 = M12", "nn", "unknown name 'm3'"),
    ("M_21 = M_12", "n", "unknown name 'M_12' on the right: only q[i]"),
    ("M_01 = 2\nx = M_01", "nn", "counted from 1"),
    ("M_33 = 2\nM[2,2] = {M22}", "nr", "a name of your own that nothing uses; is M[1,1] meant?"),
    ("M(2,2) := {M22}\nM(1,2) = M(2,2) + m2*L1*l2*cos(q(2))", "rr", ""),
    ("g[2] == m2*g*l2*c12", "n", "an answer has a single ="),
    (r"M_{{22}} = I2 + m_2 l_2^2 \frac12", "n", "this looks like LaTeX; write M[1,1] = "),
    ("lambda[1] = 2\nM[2,2] = lambda_1", "nn", "multipliers, and what depends on them, are not"),
    ("M[2,2] = {M22}\n+ m1", "rn", "expected 'NAME = EXPRESSION'"),  # a part of a formula
])  # fmt: skip
def test_spellings(text, verdicts, words):
    rows = graded(text.format(M12=M12, M22=M22))
    assert "".join(row.verdict[0] for row in rows) == verdicts, rows
    assert words in " ".join(f"{row.wrong} {row.remark}" for row in rows if not row.right)


def test_an_entry_by_name_is_carried_forward():
    assert [row.follows for row in graded("M_12 = I2\nM_21 = M12")] == [0, 1]


def test_entries_of_large_robots_are_read_as_they_are_shown():
    asked = Questions(symgen.read(EXAMPLES / "tree12.yaml"), "", ())
    names = {"g_10": ("g", (10,)), "M_1_10": ("M", (1, 10)), "M_110": None, "M19": ("M", (1, 9))}
    assert {name: asked.entry(name) for name in names} == names


def test_lines_that_are_no_assignments_do_not_count():
    verdict = grade(TWO_LINK, f"Name: Emil (A)\nMatrikel 12345\nM[2,2] = {M22}")
    assert verdict.passed and verdict.as_json()["unread"] == verdict.unread
    *_, first, second, summary = str(verdict).splitlines()
    assert first == "not read, as there is no '=' in it: line 1: Name: Emil (A)"
    assert second.endswith("line 2: Matrikel 12345")
    assert summary == "1 of 1 right; lines not read: 2"


def test_one_fault_is_printed_once():
    verdict = grade(TWO_LINK, "a = m3\nM[1,1] = a\nM[2,2] = I2 + a\ntau[1] = M[1,1]*qdd1")
    fault, waiting, summary = str(verdict).splitlines()
    assert fault.startswith("line 1: a: not understood: unknown name 'm3'")
    assert waiting.endswith(": M[1,1], M[2,2], tau[1]") and summary == "0 of 4 right"


CRANK = symgen.read(EXAMPLES / "plan" / "slider_crank.yaml")
PHI = "Phi[1] = r*c1 + l*c12 - q3"  # with the other sign
J11, J13 = "J[1,1] = {}(r*s1 + l*s12)", "J[1,3] = {}1"
BIAS = "constraint_bias[1] = {}(r*c1*qd1**2 + l*c12*(qd1 + qd2)**2)"
RATES = "constraint_rates[1] = {}(qd3 + r*s1*qd1 + l*s12*(qd1 + qd2))"


def test_torques_of_mechanisms_are_those_of_the_tree():
    """By hand: the slider alone."""
    for text, words in (
        ("tau[3] = 1.5*qdd3\ntau[2] = 1", "tau is that of the tree cut open; the t"),
        ("qdd[3] = tau3/1.5\nqdd[3] = 1", "qdd is that of the tree cut open; the a"),
    ):
        first, second = graded(text, CRANK)
        assert first.right and words in first.remark and not second.right and not second.remark


def test_an_eliminated_coordinate_is_named():
    (row,) = graded("Phi[1] = q3 - r*cos(q1) - l*sqrt(1 - (r/l*sin(q1))**2)", CRANK)
    assert row.wrong == "it is another constraint than row 1, which contains q2"
    (row,) = graded("Phi[1] = q3 - r*cos(q1) - l*sqrt(cos(q2))", CRANK)
    assert row.wrong == "it is no sum of products to be compared term by term"


SIGNS = [  # lines, whether each is right, words of the first wrong one
    ([PHI, J11.format("-"), J13.format("")], "rrW", "the term 1 has the wrong sign"),
    ([PHI, J11.format(""), J13.format("")], "rWW", "l*sin(q1 + q2)"),
    ([PHI, BIAS.format("-"), RATES.format("-")], "rrr", ""),
    ([PHI, BIAS.format(""), "J[2,1] = r*c1 + l*c12", "J[2,3] = 0"], "rWrr", "wrong sign"),
    ([J11.format("-"), J13.format(""), RATES.format("-")], "rWr", "wrong sign"),
    ([J11.format("-"), J13.format("")], "rW", "the term 1 has"),  # the fewest wrong terms
    ([J11.format("-"), J13.format("-2*")], "rW", "factor 2 too many"),
    (["Phi[1] = r*c1 + l*c12 + q3"], "W", "the term q3 has the wrong sign"),
    (
        ["Phi[1] = r*c1 + l*c12 + q3", J13.format("")],
        "Wr",
        "r*cos(q1) (in r*c1) has the wrong sign",
    ),
    (["Phi[1] = q3 - r*c1 - l*c2"], "W", "angles are measured from the base"),
    (["J[1,1] = r*s1 + l*c12"], "W", "cos(q1 + q2) in place of sin(q1 + q2)"),
]


@pytest.mark.parametrize(("lines", "verdicts", "words"), SIGNS)
def test_a_row_of_constraints_has_one_sign(lines, verdicts, words):
    rows = graded("\n".join(lines), CRANK)
    assert "".join(row.verdict[0] for row in rows) == verdicts
    wrong = [f"{row.wrong} {row.slip}" for row in rows if not row.right]
    assert words in "".join(wrong[:1])
    if lines[0] == PHI:  # said once for each row
        places = {"Phi[1]": "row 1", "J[2,1]": "row 2"}
        assert [places.get(row.label, "") in row.remark for row in rows] == [True] * len(rows)
        assert sum("opposite sign" in row.remark for row in rows) == len(
            {*places} & {x.label for x in rows}
        )


@pytest.mark.parametrize(("text", "follows"), [
    ("M[1,2] = I2\nM[2,1] = M[1,2]", [0, 1]),
    ("M[1,2] = I2\na = 2*M[1,2]\nM[2,1] = a/2\nM[2,2] = M[2,1] - m2*L1*l2*c2", [0, 1, 3]),
    ("M[1,2] = I2\nM[2,1] = 2*M[1,2]", [0, 0]),
    (f"tau[2] = 0\nb[2] = tau[2] - ({M12})*qdd[1] - ({M22})*qdd[2]", [0, 1]),
    ("C[2,1] = 0\nh[2] = C[2,1]*qd1", [0, 1]),
])  # fmt: skip
def test_errors_are_carried_forward(text, follows):
    verdict = grade(TWO_LINK, text)
    assert [row.follows for row in verdict.rows] == follows
    count = len(follows) - follows.count(0)
    assert verdict.summary.endswith(f"right; errors carried forward: {count}" if count else "right")


def test_carets_are_powers():
    (row,) = graded("M[2,2] = I2 + m2*l2^2")
    assert row.right and "written with **" in row.remark


def test_the_command(folder, capfd, refusal, monkeypatch):
    model = str(EXAMPLES / "two_link.yaml")
    Path("right.txt").write_text(RIGHT)
    assert run(["grade", model, "right.txt"]) == 0
    assert "18 of 18 right" in capfd.readouterr().out
    Path("wrong.txt").write_text("M[2,2] = I2\nM[1,2] = I2 + m2*(l2**2 + L1*l2*c2)")
    assert run(["grade", model, "wrong.txt"]) == 3
    out = capfd.readouterr()
    assert "line 1: M[2,2]: WRONG" in out.out
    assert "1 of 2 right" in out.out
    assert "grade ..." in out.err
    assert "WRONG" not in out.err
    assert "there is no such file" in refusal(["grade", model, "none.txt"])
    assert "expected an answer such as answer.txt" in refusal(["grade", model, "."])
    assert run(["grade", model, "right.txt", "wrong.txt"]) == 3
    assert capfd.readouterr().out.endswith("\nright.txt: 18 of 18 right\nwrong.txt: 1 of 2 right\n")
    Path("nothing.txt").write_text("?")
    assert run(["grade", model, "wrong.txt", "nothing.txt", "--json"]) == 3
    answers = json.loads(capfd.readouterr().out)["answers"]
    assert [(x["file"], len(x["rows"])) for x in answers] == [("wrong.txt", 2), ("nothing.txt", 1)]
    assert "MODEL comes first, then ANSWER" in refusal(["grade", "wrong.txt", model])
    assert "answers, or - for standard input" in refusal(["grade", model, "x:=1"])
    assert run(["grade", model, "right.txt", "-q"]) == 0
    assert capfd.readouterr().out == "18 of 18 right\n"
    Path("notepad.txt").write_bytes(b"\xef\xbb\xbfM[2,2] = I2 + m2*l2**2\r\n")
    assert run(["grade", model, "notepad.txt"]) == 0
    with Path("notepad.txt").open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert run(["grade", model, "-"]) == 0


def test_from_python(folder):
    heard = []
    text = f"M[2,2] = {M22}\nG[2] = {G2}"
    verdict = symgen.grade(EXAMPLES / "two_link.yaml", text, progress=lambda *x: heard.append(x))
    assert verdict.passed
    with pytest.raises(RequestError, match="a model file or a result of"):
        symgen.grade(symgen, text)
    (folder / "ada.v1.txt").write_text(f"\ufeff{text}", "utf-8")
    assert symgen.grade(TWO_LINK, folder / "ada.v1.txt").passed
    (folder / "emmy").touch()
    for name in ("ada.v1.txt", "folder/none.txt", "emmy"):
        with pytest.raises(RequestError, match=rf"give the file as pathlib.Path\('{name}'\)"):
            symgen.grade(TWO_LINK, name)
    with pytest.raises(RequestError, match="the text of an answer, found int"):
        symgen.grade(TWO_LINK, 3)
    assert str(verdict) == "line 1: M[2,2]: right\nline 2: G[2]: right\n2 of 2 right"
    assert heard == [("grade: M[2,2]", 0, 2), ("grade: G[2]", 1, 2)]


def test_many_faults_are_listed_up_to_a_point():
    verdict = grade(TWO_LINK, "\n".join(f"a{k} = x{k}" for k in range(300)))
    *lines, more, summary = str(verdict).splitlines()
    assert len(lines) == 200
    assert more == "and 100 more that are not understood"
    assert summary == "0 of 300 right"


C, TERM = "-m2*L1*l2*s2", "-L1*l2*m2*qd2**2*sin(q2)"
RIGHT_ANSWERS = [
    f"joint_wrenches[2,6] = {TAU2}",
    # however they are written
    "M[1,2] = I2 + m2*L2**2/4 + m2*L1*L2/2*cos(q2)",  # the derived parameter written out
    "M[1,2] = I2 + m2*l2*(l2 + L1*cos(q_2))",
    "M[1,2] = I2 + m2*l2**2 + m2*L1*l2*(cos(q1)*c12 + s1*sin(q1 + q2))",
    "M[1,2] = I2 + m2*l2**2 + m2*L1*l2*(1 - 2*sin(q2/2)**2)",
    "a = m2*l2  # mine\nM[1,2] = I2 + a*(l2 +\n    L1*c2)",
    "M[1,2] = I2 + m2*(0.5*L2)**2 + 5e-1*L1*L2*m2*tan(q2)*c2**2/s2",
    "%matplotlib inline\nfrom sympy import *\nimport numpy as np\n\nM[2,2] = I2 + m2*l2**2\n",
    "mass_matrix[1,2] = I2 + sqrt(m2**4)*l2**2/m2 + m2*L1*l2*cos(-q2 + 2*pi)",
    # the Christoffel matrix, in part and in whole rows, and others with C qd right
    "C[2,1] = m2*L1*l2*s2*qd1", f"C[1,1] = {C}*qd2\nC[1,2] = {C}*(qd1 + qd2)",
    f"k = {C}\nC[1,1] = -k*qd2\nC[1,2] = k*(3*qd1 + qd2)",
    "C[1,1] = -0.08*s2*qd2\nC[1,2] = -0.04*s2*qd2",
    # gravity, by both names, and velocity-product terms
    "g[2] = m2*g*l2*c12", "h = L1*l2\nG[2] = m2*g*l2*(c1*c2 - s1*s2) + 0*h",
    "gravity_forces[2] = g*m2*l2*cos(q[1] + q_2)", f"h[1] = {C}*(2*qd1*qd2 + qd2**2)",
    f"centrifugal[1] = {C}*qd2**2", f"coriolis[1] = 2*{C}*qd1*qd2", "coriolis[2] = 0",
    # entries that were answered before, and numbers of the file
    "h[2] = m2*L1*l2*s2*qd1**2\ng[2] = m2*g*l2*c12\nb[2] = h[2] + g[2]",
    "M[2,2] = I2 + m2*l2**2\nM[1,2] = M[2,2] + m2*L1*l2*c2\n"
    "inertial[2] = M[1, 2]*qdd1 + M[2,2]*qdd2",
    "h[2] = 0.04*sin(q2)*qd1**2", "C[2,1] = 0.5*0.4*0.2*qd1*s2",
]  # fmt: skip
WRONG_TERMS = [
    (f"C[1,1] = 2*{C}*qd2", "with the whole row any C"),
    (f"C[1,1] = 2*{C}*qd2\nC[1,2] = {C}*(qd1 + qd2)", "factor 2 too many"),
    (f"C[1,1] = 2*{C}*qd2\nC[1,2] = 0", f"row 1 of C qd: the term {TERM} is missing "),
    (f"C[1,1] = 2*{C}*qd2\nC[1,2] = 0", "row 1 of C qd: see line 1"),
    (f"C[1,1] = {C}*qd1\nC[1,2] = {C}*(qd1 + qd2)", "does not belong there; the term -L1*l2*m2"),
    ("M[1,2] = I2 + 0.3333*m2*L1*l2*c2", "the term 0.3333*L1*l2*m2*cos(q2) (in"),
    ("tau[2] = 0.3333*q1", "does not belong there"),
    ("C[2,1] = m2*L1*l2*c2*qd1", "sine and cosine are exchanged"),
    ("C[2,1] = -m2*L1*l2*s2*qd1", "a sign"),
    ("g[2] = m2*g*l2*cos((q1 + q2)*pi/180)", "degrees"),
    ("g[2] = m2*g*l2*c2", "angles are measured from the base"),
    ("g[1] = m2*g*l2*c12", "indices count from 1, not from 0: this is g[2]"),
    ("g[2] = 0.99*c12", "should be"),
    ("h[2] = m2*L1*l2*s2*qd1**2 + m2*g*l2*c12", "does not belong there"),
    (f"centrifugal[1] = {C}*(2*qd1*qd2 + qd2**2)", "does not belong there"),
    (f"coriolis[1] = {C}*qd1*qd2", "missing factor 2"),
    ("M[2,2] = I2\nb[2] = M[2,2]*qd1", "does not belong there"),
    ("M[2,2] = 5e-324**66.14159*m2", "the term"),
    ("G[2] = 0", "the term g*l2*m2*cos(q1 + q2) is missing"),
    ("G[2] = 3*c12/7", "the term g*l2*m2"),
]


@pytest.mark.parametrize("answer", RIGHT_ANSWERS)
def test_right_answers(answer):
    rows = graded(answer)
    assert rows and all(row.right for row in rows), [row.wrong for row in rows]


@pytest.mark.parametrize(("answer", "words"), WRONG_TERMS)
def test_wrong_answers_about_velocities_and_gravity(answer, words):
    rows = graded(answer)
    assert not all(row.right for row in rows)
    said = " ".join(f"{row.wrong} {row.slip} {row.remark}" for row in rows if not row.right)
    assert words in said


def test_a_remark_says_which_coriolis_matrix_it_is():
    """By hand: k (qd2, qd1 + qd2; -qd1, 0) is the Christoffel matrix, and S of the same C qd with
    S skew added keeps dM/dt - 2 C skew; what is added else does not."""
    rest = "C[2,1] = m2*L1*l2*s2*qd1\nC[2,2] = 0"
    christoffel = f"C[1,1] = {C}*qd2\nC[1,2] = {C}*(qd1 + qd2)\n{rest}"
    assert not any(row.remark for row in graded(christoffel))
    other = graded(f"C[1,1] = 2*{C}*qd2\nC[1,2] = {C}*qd2\n{rest}")
    assert ["not skew" in row.remark for row in other] == [True, True, False, False]
    assert all(row.right for row in other)
    numbers = graded("M[2,2] = 0.12")
    assert "numbers of the file" in numbers[0].remark


def test_rounded_fractions_and_missing_points(folder):
    """By hand: a thin rod has a third of m L^2 about its end."""
    rod = check(decode(ROD.encode(), "rod.yaml"))
    (row,) = graded("M[1,1] = 2*m*L**2*0.1667 + I", rod)
    assert row.wrong == (
        "the term 0.3334*L**2*m (in 2*m*L**2*0.1667) is rounded (write fractions exactly: 1/3)"
    )
    (row,) = graded("M[1,1] = m*L**2*0.4 + I", rod)
    assert row.wrong.endswith("should be 1/3*L**2*m")
    (row,) = graded("position[1,1] = L", rod)
    assert row.wrong.startswith("This model has no points") and "'points:'" in row.wrong
    (folder / "rod.yaml").write_text(ROD)
    (folder / "a.txt").write_text("position[1,1] = 0.7*c1")
    assert run(["grade", "rod.yaml", "a.txt", "--point", "rod:0.7,0,0"]) == 0


ROD = """{symgen: 1, name: rod, parameters: {L: 0.7, m: 2, I: 0.1}, joints: [{name: a,
    type: revolute, origin: {}, link: {name: rod, mass: m, com: [L/2, 0, 0],
    inertia: {zz: I + m*L**2/12}}}]}"""


def test_a_bad_line_does_not_void_the_others():
    verdict = grade(
        TWO_LINK, "M[2,2] = I2 + m2*l2**2\nG[1] = m1 l1\nG[2] = m2*g*l2*c12\n? =", "a.txt"
    )
    assert [row.verdict for row in verdict.rows] == [
        "right", "not understood", "right", "not understood"
    ]  # fmt: skip
    assert verdict.summary == "2 of 4 right" and not verdict.passed


@pytest.mark.parametrize("line", ["M[2,2] = {}", "V = {}", "a = {}\nM[2,2] = a"])
def test_a_line_that_is_not_understood_leaves_its_name_to_a_later_one(line):
    """A line that is understood takes it."""
    right = V if line.startswith("V") else M22
    texts = "\n".join(line.format(x) for x in ("x9", right, right)).splitlines()
    words = [row.wrong for row in graded("\n".join(texts))]
    assert "unknown name 'x9'" in words[0] and "has an answer already" in words[-1]
    assert [row.right for row in graded("\n".join(texts))].count(True) == 1


V = "m1*g*l1*(1 + s1) + m2*g*(L1*s1 + l2*s12)"


@pytest.mark.parametrize("level", ["5", "m1*m2", "sqrt(m1)", "4.905*0.2"])
def test_potential_energy_has_any_zero_level(level):
    (row,) = graded(f"V = {V} + {level}")
    assert row.right and "another zero level" in row.remark
    (row,) = graded(f"V = {V} + ({level})*qd1")
    assert not row.right
    if level in ("5", "m1*m2"):
        (row,) = graded(f"V = {V.replace('(1 +', '(1 -')} + {level}")
        assert "wrong sign" in row.wrong and "missing" not in row.wrong and ";" not in row.wrong


ALIKE = """{symgen: 1, name: r, parameters: {s1: 2, q1: 1, qd1: 1, qd_1: 1, tau_1: 1}, joints: [
    {name: a, type: revolute, origin: {}, link: {mass: s1*q1*qd1, com: [qd_1, 0, 0]}}]}"""
"""Parameters called like variables of the motion."""


@pytest.mark.parametrize(("answer", "remark"), [
    ("a = s1*q1\nG[1] = a", "q1 is the parameter q1 here; write q[1]; s1 is the parameter s1 "
     "here; write sin(q[1])"),
    ("T = qd1**2", "qd1 is the parameter qd1 here; write qd[1]"),
    ("qdd[1] = tau1/s1/q1/qd1/qd_1**2", ""),
    ("qdd[1] = tau_1/s1", "s1 is the parameter s1 here; write sin(q[1]); tau_1 is the parameter "
     "tau_1 here; write tau1"),
])  # fmt: skip
def test_parameters_called_like_variables_of_the_motion(answer, remark):
    (row,) = graded(answer, check(decode(ALIKE.encode(), "robot.yaml")))
    assert row.right == (not remark)
    assert row.remark == remark
