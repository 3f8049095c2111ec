"""What only planted faults showed to be unwatched: one test for each, by the mutant's name.

`tests/mutants` says which; each belongs to the part that it is about, and is here because it was
found in one go."""

import gc
import json
import signal
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from ruamel.yaml import YAML

from symgen.algebra.graph import Graph
from symgen.cli import run
from symgen.comparing.charts import growth_svg
from symgen.comparing.families import MOST_JOINTS, check_size
from symgen.comparing.growth import LEAST_POINTS, Size, _exponents, grow
from symgen.description import read
from symgen.description.checks import check, decode
from symgen.description.figure import figure
from symgen.description.schema import json_schema
from symgen.description.wording import in_line
from symgen.errors import ModelError, RequestError
from symgen.formulations import formulation_named
from symgen.grading import grade
from symgen.kinematics.tree import build_tree
from symgen.page import robot as robot_page
from symgen.page import write_report
from symgen.page.mathml import formula
from symgen.program.interpreter import call
from symgen.runtime.subjects import Check
from symgen.simulation import arguments
from symgen.support.collector import paused_collector
from symgen.support.journal import Journal
from symgen.toolchain.files import file_digest
from symgen.toolchain.signals import deferred_signals
from symgen.validation.oracles import NumericRobot
from symgen.validation.validate import ValidationResult
from tests.oracles.comparison import evaluated

TWO_LINK = Path(__file__).parents[2] / "examples" / "two_link.yaml"
ONE = "type: revolute, origin: {}, link: {name: a_link, mass: 1, com: [1, 0, 0]}"


def model(text):
    return check(decode(f"symgen: 1\nname: robot\n{text}".encode(), "robot.yaml"))


def test_point_name_first_line():
    points = "\n".join("  - {name: tip, link: a_link}" for _ in range(3))
    with pytest.raises(ModelError) as caught:
        model(f"joints:\n  - {{name: a, {ONE}}}\npoints:\n{points}\n")
    lines = str(caught.value).splitlines()
    assert len(lines) == 2 and all("in line 6" in line for line in lines)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("parameters: {register: 1}", "'register' is a keyword of C"),
        ("parameters: {x: c, b: d, c: b, d: c}", "parameters.b: circular .*: b -> d -> c -> b"),
        ("outputs: {x: 0**q.a}", "the base 0 of an exponent that varies"),
    ],
    ids=["c-keyword-register", "circle-starts-anywhere", "output-base-zero-power"],
)
def test_refused_models(text, words):
    with pytest.raises(ModelError, match=words):
        model(f"joints:\n  - {{name: a, {ONE}}}\n{text}\n")


def test_answer_line_of_last():
    verdict = grade(read(TWO_LINK), "L = L1\nM[2,2] = (I2 +\n  m2*L**2)\n")
    assert str(verdict).startswith("line 2: M[2,2]: WRONG")


def test_in_line_unescaped():
    assert in_line("red\x1b[31m") == r"red\x1b[31m"


@pytest.mark.parametrize("word", ["true", "True", "TRUE"])
def test_flag_in_capitals_is_false(word):
    robot = model(f"joints:\n  - {{name: a, prescribed: {word}, {ONE}}}\n")
    assert build_tree(robot, Graph()).sizes["n_prescribed"] == 1


def test_synonym_zx():
    inertia = "inertia: {zx: 0.1}"
    with pytest.raises(ModelError, match="'xz'"):
        model(f"joints:\n  - {{name: a, type: revolute, link: {{mass: 1, {inertia}}}}}\n")


def test_schema_output_short_form():
    text = f"symgen: 1\nname: robot\njoints:\n  - {{name: a, {ONE}}}\noutputs: {{x: 2*q.a}}\n"
    jsonschema.Draft7Validator(json_schema()).validate(YAML(typ="safe").load(text))


def test_oracle_offset_of_leader():
    """Three joints, each of which follows the one before with an offset."""
    robot = model(
        "gravity: [0, 0, -9.81]\njoints:\n"
        f"  - {{name: a, axis: [0, 1, 0], {ONE}}}\n"
        f"  - {{name: b, axis: [0, 1, 0], {ONE.replace('a_link', 'b_link')}, parent: a_link,\n"
        "     mimic: {coordinate: a, multiplier: 2, offset: 0.3}}\n"
        f"  - {{name: c, axis: [0, 1, 0], {ONE.replace('a_link', 'c_link')}, parent: b_link,\n"
        "     mimic: {coordinate: b, multiplier: -0.5, offset: 0.2}}\n"
    )
    state = {"q": [0.4], "qd": [0.7], "qdd": [-0.2], "loads": np.zeros((0, 6))}
    program = evaluated(robot, formulation_named("newton_euler"), "inverse_dynamics")
    (tau,) = call(program, state)
    numeric = NumericRobot(robot)
    expected = numeric.inverse_dynamics(*(np.array(state[key]) for key in ("q", "qd", "qdd")))
    np.testing.assert_allclose(tau, expected, rtol=1e-12)


def test_round_angles_everywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    origin = "origin: {xyz: [1.5708, 0, 0], rpy: [1.5708, 0, 0]}"
    text = f"{{name: j, type: revolute, {origin}, link: {{mass: 1.5708}}}}"
    Path("a.yaml").write_text(f"symgen: 1\nname: a\njoints:\n  - {text}\n")
    assert run(["convert", "a.yaml", "b.yaml", "--round-angles", "--quiet"]) == 0
    (joint,) = read("b.yaml").joints
    assert joint.origin.rpy[0].text == "pi/2"
    assert (joint.origin.xyz[0].text, joint.link.mass.text) == ("1.5708", "1.5708")


def test_chart_of_one_size():
    growth = grow("planar", (2,), ("newton_euler",), ("mass_matrix",), Journal())
    assert growth_svg(growth).startswith("<")


@pytest.mark.slow
def test_check_samples_ignored(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    few = ["--functions", "mass_matrix", "--formulations", "newton_euler", "--backend", "numpy"]
    assert run(["check", str(TWO_LINK), "--samples", "3", "--json", "--force", *few]) == 0
    rows = json.loads(capfd.readouterr().out)["checks"]
    assert {row["samples"] for row in rows} - {0} == {3}


def test_residues_negative_angle():
    verdict = grade(read(TWO_LINK), "dtau_dq[2,1] = -m2*g*l2*(2*s1*c2 - sin(q1 - q2))")
    assert verdict.passed, str(verdict)


def test_reals_sign_of_parameter():
    robot = model(
        "parameters: {k: -2, m: 0.5}\ngravity: [0, 0, 0]\njoints:\n"
        "  - {name: a, type: prismatic, origin: {}, axis: [1, 0, 0], link: {mass: m - k}}\n"
    )
    assert grade(robot, "M[1,1] = m + sqrt(k**2)").passed
    assert not grade(robot, "M[1,1] = m - sqrt(k**2)").passed


@pytest.mark.slow
def test_legend_order():
    from symgen.page.counting import count
    from symgen.page.equations import closed_form

    robot = read(TWO_LINK)
    shown = closed_form(robot, count(robot, Journal()), Journal()).abbreviations
    places = {name: next(i for i, x in enumerate(shown) if f"<mn>{name}</mn>" in x) for name in
              ("1", "2", "12")}  # fmt: skip
    assert places["1"] < places["2"] < places["12"]


def test_initial_derivatives_column():
    """An initial value stands before the parameter."""
    columns = arguments._initial_derivatives("dq0", {"L": [1, 2]}, 2, ("L",), np.array([1]), 2)
    assert columns.tolist() == [[0, 1], [0, 2]]


def test_dh_convention_of_file_first():
    """A joint's own convention goes before that of the file: the offset lies behind its axis."""
    joint = (
        "- {name: a, type: revolute, convention: modified, dh: {theta: 0, d: 0, a: 1, alpha: 0}}"
    )
    (joint,) = model(f"convention: standard\njoints:\n  {joint}\n").joints
    assert joint.dh.convention == "modified"


def test_page_pose_with_one_zero_angle():
    origin = "{xyz: [1, 0, 0], rpy: [0, 0.5, 0]}"
    robot = model(f"joints:\n  - {{name: a, {ONE.replace('{}', origin)}}}\n")
    assert "rpy (0, 0.5, 0)" in robot_page.placed(robot.joints[0].origin)


def test_point_of_the_base_is_drawn_on_it():
    text = f"joints:\n  - {{name: a, {ONE}}}\npoints: [{{name: x, link: base, point: [0, 1, 0]}}]\n"
    assert figure(model(text))["points"][0]["link"] == -1


def test_formula_comma_in_brackets():
    assert "<mo>,</mo>" in formula("M = f(a, b)")


def test_largest_family_refused():
    check_size(MOST_JOINTS)
    with pytest.raises(RequestError):
        check_size(MOST_JOINTS + 1)


def test_exponent_without_half():
    sizes = [
        Size("f", "k", n, 0, n**3, 0, 0, 0.0) for n in range(LEAST_POINTS - 1, 2 * LEAST_POINTS - 1)
    ]
    assert abs(_exponents(sizes)["f"]["k"] - 3) < 1e-9


def test_closest_to_limit_by_error():
    rows = Check("near", "s", 0.9, 1.0, 1), Check("far", "s", 5.0, 100.0, 1)
    assert ValidationResult(rows, 0.0).closest.name == "near"


def test_paused_collector():
    with paused_collector():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_seconds_of_a_stage():
    journal = Journal()
    with journal.stage("emit"):
        pass
    assert 0 <= journal.seconds["emit"] < 60


def test_digest_of_a_link(tmp_path):
    (tmp_path / "file").write_text("text")
    (tmp_path / "link").symlink_to("file")
    assert file_digest(tmp_path / "file") and file_digest(tmp_path / "link") is None


def test_page_suffix_in_capitals(tmp_path):
    with pytest.raises(RequestError, match="is no name for a page"):
        write_report(TWO_LINK, tmp_path / "ARM.PDF", True, None, Journal())
    with pytest.raises(RequestError, match="it needs the folder"):
        write_report(TWO_LINK, tmp_path / "missing" / "ARM.HTML", True, None, Journal())


def test_handlers_are_restored():
    def handler(*_):
        pass

    before = signal.signal(signal.SIGTERM, handler)
    try:
        with deferred_signals():
            assert signal.getsignal(signal.SIGTERM) != handler
        assert signal.getsignal(signal.SIGTERM) == handler
    finally:
        signal.signal(signal.SIGTERM, before)
