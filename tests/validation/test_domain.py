"""Outputs that have no value or no derivative somewhere: left out there, in words, and compared
wherever they are defined."""

import re

import numpy as np
import pytest

from symgen.deriving.derivation import derived_program
from symgen.formulations import formulation_named
from symgen.runtime.checks import check_module
from symgen.runtime.domain import FEW, has_value, is_smooth, states_in_domain
from symgen.runtime.subjects import Evaluation, Subject, call, random_states, without_warnings
from symgen.validation.evaluated import EvaluatedFormulation
from symgen.validation.oracles import NumericRobot, ParametrisedRobot
from symgen.validation.validate import validate
from tests.choosing import some_deep
from tests.modules import described
from tests.oracles.fake_module import altered, fake_module, formulation

MODEL = """symgen: 1
name: dom
convention: standard
parameters: {a: 0, b: 0, m: 1.5, r: 1.0e-7}
joints:
  - {name: j, type: revolute, dh: {theta: 0, d: 0, a: 1, alpha: 0},
     link: {mass: m, com: [-0.5, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}}
outputs:
"""
PARTLY = {
    "root": "sqrt(q.j)", "rare": "log(q.j - 3)", "power": "q.j**0.5", "tower": "q.j**q.j**2",
    "arc": "asin(q.j)*tau.j",
}  # fmt: skip
KINKS = {
    "kink": "abs(a)*tau.j", "edge": "sqrt(a*q.j)", "tip": "sqrt(abs(a)) + t",
    "angle": "atan2(a, b)",
}  # fmt: skip
STEEP = {
    "slope": "tau.j/r*qd.j", "log": "log(r)*q.j", "root": "sqrt(r)*q.j", "wave": "sin(1e4*m)*q.j",
    "pole": "q.j/(m - 1.4999)",
}  # fmt: skip
HALF = {"half": "sqrt(abs(q.j) - q.j)"}
RUNTIME = ("a", "b", "m", "r")
OUTPUTS = ("outputs", "outputs_derivatives")


def model(outputs):
    lines = [f"  {name}: {text}\n" for name, text in outputs.items()]
    return described(MODEL + "".join(lines))


def derived(description, runtime, *names):
    programs = {
        name: derived_program(description, formulation_named("newton_euler"), name, runtime)
        for name in names
    }
    values = [description.parameter_values[name] for name in runtime]
    return EvaluatedFormulation(programs, values)


def left_out(description, runtime):
    """Remarks of a validation that has to pass."""
    made = derived(description, runtime, *OUTPUTS)
    result = validate(description, [Subject("derived", made, True, False)], runtime=runtime)
    result.raise_if_failed()
    return result.left_out


def failing(outputs, changed):
    """Rows that fail where a module beside the derived one is changed; those of that one alone."""
    description = model(outputs)
    robot = NumericRobot(description, runtime=RUNTIME)
    subjects = [
        Subject("derived", derived(description, RUNTIME, *OUTPUTS), True, False),
        Subject("changed", formulation(robot, changed(robot), OUTPUTS), arrays=False),
    ]
    failures = validate(description, subjects, runtime=RUNTIME).failures
    assert {row.subject for row in failures} == {"changed"}
    return failures


@pytest.mark.parametrize(("name", "text"), [*PARTLY.items(), *KINKS.items(), *HALF.items()])
def test_an_output_that_is_defined_somewhere_passes_and_says_where_it_is_not(name, text):
    what = "value" if name in PARTLY else "derivative"
    remarks = left_out(model({name: text}), RUNTIME)
    said = f"the output {name} has no {what} at (\\d+) of (\\d+)"
    lost, drawn = next(map(int, x.groups()) for row in remarks if (x := re.search(said, row)))
    assert name not in PARTLY or drawn - lost >= FEW


@pytest.mark.parametrize(("name", "text"), [*PARTLY.items(), *HALF.items()])
def test_without_runtime_parameters_too(name, text):
    left_out(model({name: text}), ())


def test_what_is_smooth_everywhere_is_never_left_out():
    outputs = {"o": "abs(m)*sqrt(1 + q.j**2) + exp(a) + a**2*qd.j", **STEEP}
    assert not left_out(model(outputs), RUNTIME)


@pytest.mark.parametrize("runtime", [(), ("m",)])
@pytest.mark.parametrize(
    "text", ["sqrt(points.axis.vx**2 + points.axis.vy**2)", "sqrt(points.axis.x**2)"]
)
def test_an_output_may_have_no_derivative_anywhere_because_of_the_geometry(text, runtime):
    points = "points: [{name: axis, link: j, point: [-1, 0, 0.2]}]\noutputs:\n"
    description = described(MODEL.replace("outputs:\n", points) + f"  o: {text}\n")
    remarks = left_out(description, runtime)
    assert any("the output o has no derivative at 20 of 20" in row for row in remarks)


def wrong_value(robot):
    return altered(robot, "outputs", lambda value, *_: 1.001 * value)


def wrong_slope(robot):
    return altered(robot, "outputs_derivatives", lambda r, *_: (r[0], *(1.001 * x for x in r[1:])))


def no_value(robot):
    return altered(robot, "outputs", lambda value, *_: np.nan * value)


def no_slope(robot):
    return altered(robot, "outputs_derivatives", lambda r, *_: (*r[:2], np.nan * r[2], *r[3:]))


def second_slope_is_wrong(robot):
    def change(result, *_):
        result[2][:, 1] *= 1.001
        return result

    return altered(robot, "outputs_derivatives", change)


@pytest.mark.slow
@pytest.mark.parametrize(("outputs", "mistake"), [
    *(({name: text}, wrong_slope) for name, text in STEEP.items()),
    ({"stress": "1e12*q.j", "small": "m*q.j"}, second_slope_is_wrong),
    ({"o": "1e15 + q.j"}, wrong_slope),
    ({"kink": "abs(a)*tau.j + t"}, wrong_value),
])  # fmt: skip
def test_neither_steep_nor_large_outputs_hide_a_mistake(outputs, mistake):
    assert failing(outputs, mistake)


@pytest.mark.slow
@pytest.mark.parametrize("mistake", [wrong_value, wrong_slope, no_value, no_slope])
@pytest.mark.parametrize("name", some_deep([*PARTLY, *HALF], ("root",)))
def test_a_mistake_within_the_domain_is_found(name, mistake):
    rows = failing({name: (PARTLY | HALF)[name]}, mistake)
    assert any("the independent numeric model" in row.name for row in rows)


@pytest.mark.parametrize("mistake", [wrong_value, wrong_slope])
@pytest.mark.parametrize("name", ["root", "rare"])
def test_the_module_alone_finds_it_too(name, mistake):
    robot = NumericRobot(model({name: PARTLY[name]}), runtime=RUNTIME)
    assert all(row.passed for row in check_module(fake_module(robot, only=OUTPUTS), samples=4))
    rows = check_module(fake_module(robot, mistake(robot), OUTPUTS), samples=4)
    failures = [row for row in rows if not row.passed]
    assert {row.subject for row in failures} == {"newton_euler (compiled)"}


@pytest.mark.slow
def test_derivatives_that_are_nowhere_finite_are_no_kink():
    robot = NumericRobot(model({"o": "q.j**2"}), runtime=RUNTIME)
    lost = no_slope(robot)["outputs_derivatives"]
    s = Evaluation(
        Subject("s", formulation(robot, {"outputs_derivatives": lost}, OUTPUTS), complex_step=True),
        random_states(1, 0, 5, parameters=robot.parameters),
    )
    assert is_smooth(s).all()
    module = fake_module(robot, only=OUTPUTS)
    for family in module.backends.values():
        family.newton_euler.outputs_derivatives = lost
        family.closed_form_lagrange.outputs_derivatives = lost
    module.outputs_derivatives = lost
    assert any(not row.passed for row in check_module(module, samples=4))


def test_kinks_and_domains_of_every_sample():
    description = model({"root": "sqrt(q.j)", "kink": "abs(a)", "smooth": "m*a"})
    states = random_states(1, 0, 50, parameters=[0.0, 0.0, 1.5, 1e-7])
    functions = ParametrisedRobot(NumericRobot(description, runtime=RUNTIME))
    s = Evaluation(Subject("robot", functions, complex_step=True), states)
    with without_warnings():
        valued, smooth = has_value(s), is_smooth(s)
    positive = states.q[:, 0] > 0.0
    assert 10 < positive.sum() < 40
    assert np.array_equal(valued, np.column_stack([positive, positive | True, positive | True]))
    assert np.array_equal(smooth, np.column_stack([positive, positive & False, positive | True]))


def test_derived_parameters_that_have_no_value_beside_the_default():
    text = MODEL.replace("{a: 0,", "{a: 0, edge: sqrt(a),") + "  o: edge*q.j\n"
    remarks = left_out(described(text), ("a",))
    assert any("the output o has no derivative" in row for row in remarks)


def test_states_are_drawn_until_an_output_has_values():
    description = model({"rare": "sqrt(q.j - 3.1)", "never": "log(-1 - q.j**2)", "always": "q.j"})
    robot = NumericRobot(description)

    def outputs(states):
        return call(robot, "outputs", vars(states))[0]

    def draw(count):
        return random_states(1, 0, count, seed=2)

    states = random_states(1, 0, 10)
    more = states_in_domain(states, draw, outputs)
    with without_warnings():
        values = outputs(more)
    assert np.isfinite(values).sum(axis=0).tolist() == [FEW, 0, len(values)]
    assert len(values) <= 10 + FEW
    assert np.array_equal(more.q[:10], states.q)
    enough = model({"always": "q.j"})
    robot = NumericRobot(enough)
    assert states_in_domain(states, draw, outputs) is states


WEIGHTLESS = MODEL.replace("m: 1.5", "m: 0, n: 0").replace("outputs:\n", "") + (
    "  - name: k\n    type: revolute\n    dh: {theta: 0, d: 0, a: 1, alpha: 0}\n"
    "    link: {mass: n, com: [-0.5, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n"
    "outputs: {x: center_of_mass.x}\n"
)


@pytest.mark.parametrize("runtime", [("m",), ("m", "n")])
@pytest.mark.parametrize("name", ["newton_euler", "recursive_lagrange"])
def test_a_robot_whose_masses_are_parameters_may_be_weightless(runtime, name):
    description = described(WEIGHTLESS)
    found = ["center_of_mass", "center_of_mass_jacobian", "centroidal_momentum", "gravity_forces"]
    found += ["forward_kinematics", "jacobians", "mass_matrix"]
    programs = {f: derived_program(description, formulation_named(name), f, runtime) for f in found}
    functions = EvaluatedFormulation(programs, [0.0] * len(runtime))
    result = validate(description, [Subject(name, functions, True, False)], runtime=runtime)
    result.raise_if_failed()
    assert any("center_of_mass has no value at 20 of 20" in row for row in result.left_out)
