"""Outputs of a model: which names an expression may use, and every fault in one report."""

from __future__ import annotations

import pytest

from symgen.description.expressions import MAX_LENGTH, MAX_NESTING, Name
from symgen.description.quantities import POINT_PARTS, RATES, SINGLE, WRENCH_PARTS
from tests.description.reports import faults, model, rows, warnings

ROBOT = """symgen: 1
name: robot
convention: standard
parameters: {k: 2, weight: -3, half: k/2}
joints:
  - {name: base_turn, type: revolute, dh: {}, link: {mass: k, com: [half, weight, 0]}}
  - {name: hip, type: spherical, origin: {}, link: {name: leg, mass: 1}}
points: [{name: hand, link: leg}, {name: foot, link: base}]
loads: [{name: tip, link: leg}]
"""
HEADER = ROBOT + "outputs:\n"  # outputs start in line 11
COORDINATES = ("base_turn", "hip_1", "hip_2", "hip_3")


def reported(output: str) -> list[str]:
    """The faults of a model with one output ``o``, without their place, line 11."""
    report = faults(f"{HEADER}  o: {output}\n")
    return [line.removeprefix("11: outputs.o").removeprefix(": ").lstrip(".") for line in report]


def quantities() -> list[str]:
    return [
        *SINGLE,
        *(f"{rate}.{name}" for rate in RATES for name in COORDINATES),
        *(f"points.{name}.{part}" for name in ("hand", "foot") for part in POINT_PARTS),
        *(f"wrenches.{name}.{part}" for name in COORDINATES for part in WRENCH_PARTS),
        *(f"loads.tip.{part}" for part in WRENCH_PARTS),
        *(f"center_of_mass.{part}" for part in "xyz"),
    ]


@pytest.mark.parametrize("name", quantities())
def test_every_quantity_is_a_name(name: str) -> None:
    (output,) = model(f"{HEADER}  o: {name}\n").outputs
    assert output.expression.root == Name(name)
    assert output.expression.names == (name,)


def test_outputs_in_both_forms_and_in_order() -> None:
    robot = model(
        HEADER + "  z: 2*q.hip_1 - k*t\n"
        "  a: {value: kinetic_energy + deg, unit: J, description: of all}\n"
        "  n: 7\n"
    )
    assert [output.name for output in robot.outputs] == ["z", "a", "n"]
    assert robot.outputs[0].expression.names == ("q.hip_1", "k", "t")
    assert robot.outputs[1].expression.names == ("kinetic_energy",)
    assert (robot.outputs[1].unit, robot.outputs[1].description) == ("J", "of all")
    assert (robot.outputs[1].source.line, robot.outputs[1].source.key) == (12, "outputs.a")


@pytest.mark.parametrize("name", [*SINGLE, *RATES, "points", "pi", "sqrt", "k", "hip", "hand"])
def test_an_output_may_bear_any_legal_name(name: str) -> None:
    (output,) = model(f"{HEADER}  {name}: q.hip_1\n").outputs
    assert output.name == name


def test_a_parameter_that_only_an_output_names_is_used() -> None:
    text = "symgen: 1\nname: robot\nparameters: {k: 1}\njoints: []\n"
    unused = "3: parameters.k: this parameter is not used"
    assert unused in warnings(text)
    assert unused not in warnings(text + "outputs: {o: 2*k}\n")


def test_a_parameter_called_like_a_family_is_a_parameter() -> None:
    text = "symgen: 1\nname: robot\nparameters: {q: 1, t: 2}\njoints: []\noutputs: {o: 2*q}\n"
    assert model(text).outputs[0].expression.names == ("q",)


THERE_ARE = (
    "there are t, kinetic_energy, potential_energy, q.<coordinate>, qd.<coordinate>, "
    "qdd.<coordinate>, tau.<coordinate>, points.<point>.<component>, "
    "wrenches.<coordinate>.<component>, loads.<load>.<component>, center_of_mass.<component>"
)
WRONG = {
    "q.base_trn": "unknown quantity 'q.base_trn'; did you mean 'q.base_turn'?",
    "q0.hip": "unknown quantity 'q0.hip'; did you mean one of 'q.hip_1', 'q.hip_2', 'q.hip_3'?",
    "wrenches.hip.nz":
        "unknown quantity 'wrenches.hip.nz'; did you mean one of 'wrenches.hip_1.nz', "
        "'wrenches.hip_2.nz', 'wrenches.hip_3.nz'?",
    "torque.base_turn": "unknown quantity 'torque.base_turn'; did you mean 'tau.base_turn'?",
    "velocity.x": f"unknown quantity 'velocity.x'; {THERE_ARE}",
    "q[0]":
        "'q[0]': unexpected character '['; quantities are written with dots and names, such as "
        "q.<joint> (column 2 of the expression)",
    "point.hnd.x": "unknown quantity 'point.hnd.x'; did you mean 'points.hand.x'?",
    "points.hand":
        "'points.hand' lacks the component behind it; there are 'x', 'y', 'z', 'vx', 'vy', 'vz', "
        "'ax', 'ay', 'az'",
    "points.hand.jx":
        "unknown quantity 'points.hand.jx'; there are 'x', 'y', 'z', 'vx', 'vy', 'vz', 'ax', "
        "'ay', 'az'",
    "points.hand.x.y": "unknown quantity 'points.hand.x.y'; nothing follows 'points.hand.x'",
    "tau": "'tau' lacks the coordinate behind it; there are 'base_turn', 'hip_1', 'hip_2', 'hip_3'",
    "2*kinetic_enrgy": "unknown name 'kinetic_enrgy'; did you mean 'kinetic_energy'?",
    "base_turn": "unknown name 'base_turn'; did you mean 'q.base_turn'?",
    "PI*k": "unknown name 'PI'; did you mean 'pi'?",
    "zzz":
        "unknown name 'zzz'; expected a parameter of this file, pi, deg or a quantity such as "
        "'q.base_turn'",
    "o": "unknown name 'o'; an output cannot use other outputs; write the expression out",
    "q.hip_1 + 1e308*10": "'q.hip_1 + 1e308*10': 1e+308 * 10 overflows float64",
    "weight**q.hip_1": "'weight**q.hip_1': the base -3 of an exponent that varies is not positive",
    "q.hip_1(2)":
        "'q.hip_1(2)': 'q.hip_1' is not a function; known are sqrt, sin, cos, tan, asin, acos, "
        "atan, atan2, exp, log, abs, tanh, max, min; a product needs '*' (column 1 of the "
        "expression)",
    "q .hip_1": "'q .hip_1': unexpected character '.' (column 3 of the expression)",
    "{unit: m}":
        "value: this key is required and missing; expected an expression such as 'q.elbow'",
}  # fmt: skip


@pytest.mark.parametrize(("output", "report"), rows(WRONG))
def test_wrong_outputs(output: str, report: str) -> None:
    assert reported(output) == [report]


@pytest.mark.parametrize("name", SINGLE)
def test_a_parameter_hides_no_quantity(name: str) -> None:
    text = f"symgen: 1\nname: robot\nparameters: {{{name}: 1}}\njoints: []\n"
    assert model(f"{text}outputs: {{o: 2}}\n").outputs
    assert faults(f"{text}outputs: {{o: 2*{name}}}\n") == [
        f"5: outputs.o: {name!r} is a parameter of this file and a quantity of outputs; rename "
        "the parameter"
    ]


NAMELESS = ROBOT.replace("type: spherical", "type: sphere").replace("name: tip, ", "")
WRONG_MODELS = {
    f"{HEADER}  2nd: t\n  for: t\n  double: q.hip_9 + qd.nothing\n  ok: t\n  ok: 3\n"
    "  last: {value: tau.hip_1, units: m}\n":
        "11: outputs.'2nd': '2nd' is not a name; a name starts with a letter (A-Z, a-z), followed "
        "by letters, digits and '_'\n"
        "12: outputs.for: 'for' is a keyword of Python; choose another name\n"
        "13: outputs.double: 'double' is a keyword of C; choose another name\n"
        "13: outputs.double: unknown quantity 'q.hip_9'; did you mean 'q.hip_1'?\n"
        "13: outputs.double: unknown quantity 'qd.nothing'; there are 'base_turn', 'hip_1', "
        "'hip_2', 'hip_3'\n"
        "15: outputs.ok: this key stands twice, first in line 14; remove one of them\n"
        "16: outputs.last.units: unknown key; did you mean 'unit'?",
    "symgen: 1\nname: robot\njoints: []\noutputs: {o: points.hand.x + q.a}\n":
        "4: outputs.o: unknown quantity 'points.hand.x'; the model has no points\n"
        "4: outputs.o: unknown quantity 'q.a'; the model has no coordinates",
    # names that could not be read blame no output
    f"{NAMELESS}outputs: {{o: q.knee + loads.top.fx + points.hind.x}}\n":
        "10: outputs.o: unknown quantity 'points.hind.x'; did you mean 'points.hand.x'?",
    # a faulty parameter is blamed once, where it stands
    HEADER.replace("k: 2", "k: 1/0") + "  o: 1/k + q.hip_1\n": "",
}  # fmt: skip


@pytest.mark.parametrize(("text", "report"), rows(WRONG_MODELS))
def test_outputs_of_wrong_models(text: str, report: str) -> None:
    assert [line for line in faults(text) if "outputs" in line] == report.splitlines()


def test_length_and_depth_are_bounded() -> None:
    long = "+".join(["q.hip_1"] * (MAX_LENGTH // 4))
    assert reported(long)[0].endswith(f"characters, not {len(long)}")
    deep = "(" * (MAX_NESTING + 1) + "q.hip_1" + ")" * (MAX_NESTING + 1)
    assert f"nested deeper than {MAX_NESTING} levels" in reported(deep)[0]
    assert reported("+".join(["t"] * 200))[0].endswith("use derived parameters")
