"""Wrong model files: every fault in one report, each with its line, no innocent line blamed."""

from __future__ import annotations

from pathlib import Path

import pytest

from symgen.description import read
from tests.description.reports import (
    all_warnings,
    faults,
    model,
    one_joint,
    one_link,
    rows,
    warnings,
    with_header,
)
from tests.modules import EXAMPLES

HEADERS = {
    "[]": "1: expected a mapping (key: value), found a list",
    "symgen: 2\nname: robot\n":
        "1: symgen: expected 1, the version of the format that this symgen reads, found the "
        "number '2'",
    "symgen: 1\nname: robot\nconvention: standrad\njoints: [{name: a, type: fixed, dh: {}}]\n":
        "3: convention: expected standard (distal) or modified (Craig, proximal), found the text "
        "'standrad'; did you mean 'standard'?",
    "symgen: 1\nname: robot\njoints: [elbow]\n":
        "3: joints[1]: expected a mapping (key: value), for example {name: .., type: .., dh: .., "
        "link: ..}, found the text 'elbow'",
    "symgen: 1\nname: r\njoints: {a: 1}\nloads: [{name: x, link: a}]\n":  # blames no load
        "3: joints: expected a list (items that start with '-', such as '- name: ..'), found a "
        "mapping",
    "symgen: 1\nname: robot\ndescription: [a]\n": "3: description: expected a text, found a list",
    "symgen: 1\nname: robot\n<<: {}\nwhatever: 1\n":
        "3: '<<': merge keys are not part of YAML 1.2; write the keys out\n"
        "4: whatever: unknown key; known here are 'symgen', 'name', 'description', 'convention', "
        "'gravity', 'parameters', 'joints', 'loads', 'points', 'springs', 'forces', 'outputs', "
        "'loops', 'relations', 'initial', 'file_names'",
    "symgen: 1\nname: r\njoints: [{name: a, type: fixed, origin: {}, link: {name: l, mass: 1}}]\n"
    'file_names:\n  ab: a-1\n  a: "x\\ty"\n  base: w\n  l: w\n':
        "5: file_names.ab: 'ab' is no joint or link; did you mean 'a'?\n"
        "6: file_names.a: expected 1 to 200 characters, without control characters, found the text "
        "'x\\ty'\n"
        "8: file_names.l: 'w' is the name of 'base'",
}  # fmt: skip

PARAMETERS = {  # lines from 5
    "  d: b\n  a: a + 1\n  b: c\n  c: b\n":
        "6: parameters.a: circular definition: a -> a; give one of them a number\n"
        "7: parameters.b: circular definition: b -> c -> b; give one of them a number",
    "  a: 1/0\n  b: a\n  c: sqrt(-1)\n  e: exp(1e3)\n":
        "5: parameters.a: '1/0': division by zero\n"
        "7: parameters.c: 'sqrt(-1)': sqrt(-1) is not defined\n"
        "8: parameters.e: 'exp(1e3)': exp(1000) overflows float64",
    "  a: .nan\n  b: nan\n  c: 1e999\n  d: -.inf\n  e: 0x" + "f" * 300 + "\n":
        "5: parameters.a: '.nan': not a finite float64 number\n"
        "6: parameters.b: 'nan' is not a finite number\n"
        "7: parameters.c: '1e999': not a finite float64 number\n"
        "8: parameters.d: '-.inf': not a finite float64 number\n"
        f"9: parameters.e: '0x{'f' * 55}...': not a finite float64 number",
    "  a:\n  b: [1]\n  c: true\n  d: {value: 1, unti: m}\n  e: {unit: m}\n":
        "5: parameters.a: expected a number or an expression, found nothing\n"
        "6: parameters.b: expected a number, an expression or {value, unit, description}, found a "
        "list\n"
        "7: parameters.c: expected a number or an expression, found 'true'\n"
        "8: parameters.d.unti: unknown key; did you mean 'unit'?\n"
        "9: parameters.e.value: this key is required and missing; expected a number or an "
        "expression",
    "  sin: 1\n  deg: 1\n  for: 1\n  int: 1\n  a-b: 1\n  _a: 1\n  1: 1\n" + f"  {'x' * 65}: 1\n":
        "5: parameters.sin: 'sin' is a function in expressions; choose another name\n"
        "6: parameters.deg: 'deg' is a constant in expressions; choose another name\n"
        "7: parameters.for: 'for' is a keyword of Python; choose another name\n"
        "8: parameters.int: 'int' is a keyword of C; choose another name\n"
        "9: parameters.a-b: 'a-b' is not a name; a name starts with a letter (A-Z, a-z), followed "
        "by letters, digits and '_'\n"
        "10: parameters._a: '_a' is not a name; a name starts with a letter (A-Z, a-z), followed "
        "by letters, digits and '_'\n"
        "11: parameters: the key '1' is not a text; keys are names\n"
        f"12: parameters.'{'x' * 57}...': the name '{'x' * 57}...' has 65 characters; 64 are "
        "allowed",
    "  a: {value: 1, description: one, and another}\n":
        "5: parameters.a.'and another': 'and another' is no key; a text with a comma in it needs "
        "quotes",
    f"  a: {'1' * 100_000}\n  b: 1{'+1' * 50_000}\n":
        f"5: parameters.a: '{'1' * 57}...': a number has at most 2000 characters, not 100000\n"
        f"6: parameters.b: '1{'+1' * 28}...': an expression has at most 2000 characters, not "
        "100001",
}  # fmt: skip


def test_parameters_are_computed_in_any_order() -> None:
    chain = "".join(f"  a{i}: a{i + 1} + 1\n" for i in range(3000))
    robot = model(with_header(f"parameters:\n{chain}  a3000: 0.5\n  b: 2*a0\n"))
    assert robot.parameter_values["a0"] == 3000.5
    assert robot.parameter_values["b"] == 6001.0
    assert list(robot.parameter_values)[:2] == ["a0", "a1"]
    assert robot.parameters[0].derived and not robot.parameters[3000].derived


def test_the_long_form_of_a_parameter() -> None:
    robot = model(
        with_header("parameters:\n  m: {value: 2*k, unit: kg, description: Mass}\n  k: 0x10\n")
    )
    mass, factor = robot.parameters
    assert (mass.value, mass.unit, mass.description) == (32.0, "kg", "Mass")
    assert (factor.expression.text, factor.source.line) == ("0x10", 6)


JOINTS = {  # lines from 6
    "dh: {}":
        "5: joints.a.type: this key is required and missing; expected revolute, prismatic, "
        "fixed, universal, cylindrical, helical, planar, spherical or floating",
    "type: revolute\ndh: {}\norigin: {}":
        "8: joints.a.origin: a joint has either 'dh' or 'origin', not both; remove one",
    "type: revolute\naxis: [0, 0, 1]\ndh: {}":
        "7: joints.a.axis: 'axis' stands only beside 'origin'; a joint with 'dh' acts along z",
    "type: revolute\norigin: {}\naxis: [0, 0, 1e-200]":
        "8: joints.a.axis: the axis is zero; expected a direction such as [0, 0, 1]",
    "type: revolute\norigin: {}\naxis: [1e200, 0, 0]":
        "8: joints.a.axis: the axis is too long to be normalised in float64",
    "type: revolute\ndh: {}\nlimits: {lower: pi, upper: -pi, velocity: -1, effort: 2*x}":
        "8: joints.a.limits.effort: unknown name 'x'; expected a parameter of this file, pi or "
        "deg\n"
        "8: joints.a.limits.lower: the lower limit 3.14159 is above the upper one, -3.14159\n"
        "8: joints.a.limits.velocity: negative (-1); the limit holds in both directions",
    "type: revolute\ndh: {}\nparent: a":
        "8: joints.a.parent: 'a' is this joint itself, or its own link",
    "type: revolute\nbefore: {}\norigin: {}":
        "7: joints.a.before: 'before' stands only beside 'dh'; put this transform into 'origin'",
    "type: fixed\norigin: {}\naxis: [0, 0, 1]\nlimits: {lower: 0}":
        "8: joints.a.axis: a fixed joint does not move; remove 'axis'\n"
        "9: joints.a.limits: a fixed joint does not move; remove 'limits'",
    "type: revolute\ndh: {theta: th_01, a: q1, d: ofset}":
        "7: joints.a.dh.theta: unknown name 'th_01'; did you mean 'th_0'? (the joint's "
        "coordinate is added by itself; theta is its constant offset)\n"
        "7: joints.a.dh.d: unknown name 'ofset'; did you mean 'offset'?\n"
        "7: joints.a.dh.a: unknown name 'q1'; expected a parameter of this file, pi or deg",
    "type: revolute\ndh: {}\nsprings: []":
        "8: joints.a.springs: unknown key here; it belongs further out, beside 'joints'",
    "type: fixed\ndh: {theta: q1}":
        "7: joints.a.dh.theta: unknown name 'q1'; expected a parameter of this file, pi or deg",
    "type: revolute\nlink: {inertia: {xx: 1+, xy: 5}}\ndh: {}":  # and no fault of xy without xx
        "7: joints.a.link.inertia.xx: '1+': expected a number, a name or '(', found the end "
        "(column 3 of the expression)",
}  # fmt: skip


def test_an_inertia_may_be_semi_definite_up_to_rounding() -> None:
    # A rod along (1, 1, 0): the exact smallest eigenvalue is zero.
    model(one_link("{mass: 1, inertia: {xx: 0.1, yy: 0.1, zz: 0.2, xy: -0.1*(1 + 1e-12)}}"))
    model(one_link("{mass: 1, inertia: {xx: 1e300, yy: 1e300, zz: 1e300}}"))


CHAIN = """\
symgen: 1
name: robot
joints:
  - {name: one, type: revolute, origin: {}, link: {name: first}}
  - {name: two, type: revolute, origin: {}}
  - {name: three, type: fixed, origin: {}, parent: one, link: {name: third}}
  - {name: four, type: prismatic, origin: {}, parent: first}
  - {name: five, type: prismatic, origin: {}, parent: base}
  - {name: six, type: prismatic, origin: {}}
loads:
  - {name: push, link: third}
  - {name: pull, link: base, point: [1, 2, 3]}
points:
  - {name: push, link: two}
"""


def replaced(old: str, new: str, text: str = CHAIN) -> str:
    assert text.count(old) == 1
    return text.replace(old, new)


def test_a_parent_may_be_a_joint_or_a_link_and_defaults_to_the_one_before() -> None:
    robot = model(CHAIN)
    parents = [joint.parent for joint in robot.joints]
    assert parents == ["base", "first", "first", "first", "base", "five"]
    links = [joint.link.name for joint in robot.joints]
    assert links == ["first", "two", "third", "four", "five", "six"]
    assert [load.link for load in robot.loads] == ["third", "base"]


REFERENCES = {
    ", link: two -> ":
        "14: points.push.link: this key is required and missing; expected the name of a link",
    "parent: first -> parent: frist":
        "7: joints.four.parent: 'frist' names no joint or link listed before; did you mean "
        "'first'?",
    "link: third}\n  - {name: pull -> link: hand}\n  - {name: pull":
        "11: loads.push.link: 'hand' names no link; expected the name of a link, or base",
    "name: two -> name: first":
        "5: joints[2].name: 'first' is already the name of a joint or link, in line 4; joints and "
        "links share one name space\n"
        "14: points.push.link: 'two' names no link; expected the name of a link, or base",
    "joints: -> parameters: 5\ngravity: [0, g, -G]\njoints:":  # blames no use of a parameter
        "3: parameters: expected a mapping (name: value), found the number '5'",
    "name: pull -> name: push": "12: loads[2].name: 'push' is already a name in loads, in line 11",
}  # fmt: skip

WRONG = [
    *rows(HEADERS),
    *rows(PARAMETERS, lambda lines: with_header("parameters:\n" + lines)),
    *rows(JOINTS, lambda keys: one_joint(keys) + "parameters: {offset: 1, th_0: 2}\n"),
    *rows(REFERENCES, lambda change: replaced(*change.split(" -> "))),
]


@pytest.mark.parametrize(("text", "report"), WRONG)
def test_wrong_models(text: str, report: str) -> None:
    assert faults(text) == report.split("\n")


def test_a_model_without_joints_is_legal() -> None:
    robot = model("symgen: 1\nname: rock\n")
    assert (robot.joints, robot.loads, robot.convention) == ((), (), None)
    assert [entry.text for entry in robot.gravity] == ["0", "0", "-9.81"]


TRIANGLE = (
    "7: joints.a.link.inertia: breaks the triangle inequality, {}; no rigid body can have this "
    "inertia; harmless in planar or textbook models"
)
PLANAR = one_link("{mass: 1, inertia: {zz: 2}}")
TURNED = PLANAR + "  - {name: up, type: revolute, KEYS, link: {mass: 1}}\n"
TOOL = (
    one_link("{}") + "  - {name: tool, type: fixed, origin: {}, link: {mass: M}}\nparameters: {M: "
)
END = (
    "joints.{0}: the link '{0}' ends a chain and has neither mass nor inertia, so that nothing "
    "resists its joint"
)
FORGOTTEN = "7: joints.a.link: this link gives {} but no mass; write 'mass: 0' if that is meant"
NO_JOINTS = "no joints: the robot has 0 coordinates"
WARNINGS = {
    one_link("{mass: 1, inertia: {xx: 1, yy: 1, zz: 2.1}}"):
        TRIANGLE.format("xx + yy < zz (2 < 2.1)"),
    one_link("{mass: 1, inertia: {xx: 1, yy: 1, zz: 2.1, accepted: true}}"): "",
    one_link("{mass: 1, inertia: {xx: 1, yy: 1, zz: 2}}"): "",  # a lamina
    PLANAR: "",  # in the plane zz alone matters
    TURNED.replace("KEYS", "origin: {}, axis: [0, 1, 0]"):
        TRIANGLE.format("xx + yy < zz (0 < 2)"),
    TURNED.replace("KEYS", "origin: {rpy: [0.1, 0, 0]}"):
        TRIANGLE.format("xx + yy < zz (0 < 2)"),
    # the principal moments are 0.5, 1, 1.6
    one_link("{mass: 1, inertia: {xx: 1.05, yy: 1.05, zz: 1, xy: 0.55}}"):
        TRIANGLE.format("principal moments 0.5 + 1 < 1.6"),
    CHAIN: f"5: {END.format('two')}\n7: {END.format('four')}\n9: {END.format('six')}",
    TOOL + "1}\n": "",  # a tool on a fixed joint counts for the link that carries it
    one_link("{}") + "  - {name: tool, type: fixed, origin: {}}\n"  # and so does what it carries
    "  - {name: b, type: revolute, origin: {}, link: {mass: 1}}\n": "",
    TOOL + "1 - 1}\n": f"5: {END.format('a')}",
    one_link("{mass: c}") + "parameters:\n  a: 1\n  b: 2*a\n  c: 3\n":
        "11: parameters.b: this parameter is not used",
    "symgen: 1\nname: rock\n": f"1: {NO_JOINTS}",
    "symgen: 1\nname: rock\njoints: []\n": f"3: joints: {NO_JOINTS}",
    one_link("{com: [0.1, 0, 0]}"): FORGOTTEN.format("com"),  # and nothing of the end of a chain
    one_link("{inertia: {xx: 1, yy: 1, zz: 1}}"): FORGOTTEN.format("inertia"),
    one_link("{mass: 0, inertia: {xx: 1, yy: 1, zz: 1}}"): "",
}  # fmt: skip


@pytest.mark.parametrize(("text", "report"), rows(WARNINGS))
def test_warnings(text: str, report: str) -> None:
    assert warnings(text) == report.splitlines()


def test_masses_without_inertia_are_remarked_once_where_they_turn() -> None:
    silent = "  - {name: NAME, type: TYPE, dh: {}, link: {mass: 1}}\n"
    turning, sliding = (silent.replace("TYPE", kind) for kind in ("revolute", "prismatic"))
    head = with_header("joints:\n")
    assert all_warnings(head + turning.replace("mass: 1", "mass: 1, inertia: {}")) == []
    texts = (sliding.replace("NAME", "a"), turning.replace("NAME", "b"), sliding)
    assert all_warnings(head + "".join(texts)) == [
        "6: joints.b.link: 'b', 'NAME': a mass without 'inertia': these links are point masses; "
        "write 'inertia: {}' if that is meant"
    ]


def test_lengths_in_millimetres_are_remarked_once() -> None:
    joint = "  - {name: NAME, type: revolute, dh: {a: 2}, link: "
    joint += "{mass: 2, com: [L, 0, 0], inertia: {zz: 0.01}}}\n"
    text = with_header("parameters: {L: LENGTH}\njoints:\n") + joint + joint.replace("NAME", "b")
    advice = "lengths are in m: if this is in mm, divide by 1000 (2 such lengths)"
    assert all_warnings(text.replace("LENGTH", "1")) == []
    assert all_warnings(text.replace("LENGTH", "50")) == [
        "6: joints.NAME.link.com: 50 m; the inertia is far below mass times this distance squared; "
        + advice
    ]
    assert all_warnings(text.replace("LENGTH", "51")) == [
        f"6: joints.NAME.link.com: 51 m; {advice}"
    ]


def test_inertias_in_other_units_are_remarked() -> None:
    text = one_link("{mass: 8, inertia: {xx: 19000, yy: 19000, zz: LARGEST}}")
    assert all_warnings(text.replace("LARGEST", "20000")) == []
    (warning,) = all_warnings(text.replace("LARGEST", "20008"))
    assert "a radius of gyration of 50 m; inertias are in kg m^2: divide by 1e6" in warning


def test_parameters_that_are_called_like_coordinates() -> None:
    names = ("q_1", "qd_13", "qdd_1", "q2", "q_", "qddd_1", "Q_1", "q_1a", "q0", "tau1")
    text = one_link(f"{{mass: {' + '.join(names)}}}") + "parameters:\n"
    text += "".join(f"  {name}: 1\n" for name in names)
    remark = "equations call {0} '{1}' and will rename theirs to '{1}_2'; another parameter name "
    remark += "reads better"
    assert warnings(text) == [
        "10: parameters.q_1: " + remark.format("coordinate 1", "q_1"),
        "12: parameters.qdd_1: " + remark.format("acceleration 1", "qdd_1"),
        "19: parameters.tau1: equations call torque 1 'tau1' and both look alike in print; answers "
        "to 'symgen grade' mean the parameter by it; another parameter name reads better",
    ]


def near(angle: str, meant: str) -> str:
    return (
        f"the angle {angle} is near {meant} but not equal to it; write '{meant}' if that is "
        "meant, so that its sine and cosine become exact"
    )


def degrees(radians: str, value: str, text: str) -> str:
    return (
        f"the angle {radians} is in radians ({value} degrees); write '{text}*deg' if degrees are "
        "meant"
    )


ANGLES = {
    "1.5708": near("1.5708", "pi/2"), "-1.5708": near("-1.5708", "-pi/2"),
    "3.14159": near("3.1415899999999999", "pi"), "4.7124": near("4.7123999999999997", "3*pi/2"),
    "-6.2832": near("-6.2831999999999999", "-2*pi"), "2*1.5708": near("3.1415999999999999", "pi"),
    "90": degrees("90", "5157", "90"), "-45.5": degrees("-45.5", "-2607", "-45.5"),
    "7": degrees("7", "401.1", "7"), "1e300": degrees("1e+300", "5.73e+301", "1e300"),
    "k*90 + 1": degrees("181", "1.037e+04", "(k*90 + 1)"),
    **dict.fromkeys(
        ["pi/2", "90*deg", "1.5707963267948966", "1.57", "0.7854", "0", "1e-5", "2*pi", "6.3", "-6",
         "450*deg", "3*pi", "A/2", "B"], ""
    ),
}  # fmt: skip
"""What is said of an angle."""
WITH_ANGLE = {
    "prismatic\nlink: {{mass: k + A + B}}\ndh: {{theta: {}, a: 1.5708}}": "dh.theta",
    "prismatic\nlink: {{mass: k + A + B}}\ndh: {{alpha: {}}}": "dh.alpha",
    "fixed\nlink: {{mass: k + A + B}}\norigin: {{rpy: [0, {}, 0]}}": "origin.rpy[2]",
    "fixed\nlink: {{mass: k + A + B}}\nbefore: {{rpy: [{}, 0, 0]}}\ndh: {{}}": "before.rpy[1]",
}


@pytest.mark.parametrize("angle", ANGLES)
def test_angles(angle: str) -> None:
    for keys, place in WITH_ANGLE.items():
        text = one_joint(f"type: {keys}".format(angle))
        text += "parameters:\n  k: 2\n  A: 1000*deg\n  B: A + 10\n"
        said = ANGLES[angle]
        assert warnings(text) == ([f"8: joints.a.{place}: {said}"] if said else [])


def test_an_angle_in_a_parameter_is_remarked_where_it_stands() -> None:
    text = one_link("{mass: 1}").replace("dh: {}", "dh: {theta: A, alpha: C}")
    assert warnings(text + "parameters:\n  A: B\n  B: 90\n  C: B/2\n") == [
        "11: parameters.B: " + degrees("90", "5157", "90"),
        "12: parameters.C: " + degrees("45", "2578", "(B/2)"),
    ]
    assert warnings(text.replace("C", "A") + "parameters:\n  A: 1.5708\n") == [
        "10: parameters.A: " + near("1.5708", "pi/2")
    ]


@pytest.mark.parametrize(
    ("limit", "remarked"),
    [("-90", True), ("120", True), ("720", True), ("10", False), ("12.57", False), ("1e3", False),
     ("90*deg", False), ("8*pi", False)],
)  # fmt: skip
def test_limits_in_degrees(limit: str, remarked: bool) -> None:
    key = "lower" if limit.startswith("-") else "upper"
    text = one_joint(f"type: revolute\nlink: {{mass: 1}}\ndh: {{}}\nlimits: {{{key}: {limit}}}")
    assert bool(warnings(text)) == remarked
    assert not warnings(text.replace("revolute", "prismatic"))  # in m


@pytest.mark.parametrize(
    ("length", "remarked"),
    [("pi/2", True), ("-90*deg", True), ("0*pi", False), ("R*pi", False), ("R", False),
     ("0.3*sin(30*deg)", False)],
)  # fmt: skip
def test_angles_where_lengths_are_expected(length: str, remarked: bool) -> None:
    for key in ("d", "a"):
        text = one_link("{mass: R}").replace("dh: {}", f"dh: {{{key}: {length}}}")
        assert bool(warnings(text + "parameters: {R: 2}\n")) == remarked


def test_values_in_other_units_than_si() -> None:
    text = one_link("{mass: m}").replace("dh: {}", "dh: {alpha: angle*deg, d: D/1000}")
    text += "parameters:\n  D: {value: 10, unit: mm}\n  angle: {value: 90, unit: deg}\n"
    assert warnings(text + "  m: {value: 2, unit: kg}\n") == []


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_examples_are_sound(path: Path) -> None:
    robot = read(path)
    assert robot.name == path.stem
    remarks = {"puma560": 2}  # inertias of published models
    assert len(robot.warnings) == remarks.get(path.stem, 0)
    assert all("triangle" in warning.message for warning in robot.warnings)
    assert all(fault.file == str(path) for fault in robot.warnings)
