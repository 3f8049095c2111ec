"""What programs get from the command line: JSON and nothing else, or nothing at all."""

import json
import math
import shutil
from pathlib import Path

import pytest

from symgen.cli import cli, run
from symgen.command import outcome
from symgen.errors import ValidationError
from symgen.runtime import limits
from tests.choosing import some_slow
from tests.command.test_places import WHEEL

EXAMPLES = Path(__file__).parents[2] / "examples"
FAST = ["--backend", "numpy", "--functions", "mass_matrix"]

COMMANDS = {
    "new": ["new", "fresh.yaml"],
    "convert": ["convert", "two_link.yaml", "again.yaml", "--style", "modified"],
    "build": ["build", "two_link.yaml", *FAST],
    "wheel": ["wheel", "two_link.yaml", *FAST],
    "check": ["check", "two_link.yaml", *FAST],
    "check --exact": ["check", "two_link.yaml", "--exact", "--functions", "mass_matrix"],
    "compare": ["compare", "two_link.yaml", *FAST, "--formulations", "newton_euler"],
    "compare --family": ["compare", "--family", "planar", "--joints", "1,2",
                         "--functions", "mass_matrix"],
    "grade": ["grade", "two_link.yaml", "answer.txt"],
    "report": ["report", "wheel.yaml", "--quick"],
    "show": ["show", "two_link.yaml", "tree"],
    "plan": ["plan", "two_link.yaml", "task.yaml"],
}  # fmt: skip
KEYS = {
    "new": {"robot", "file"},
    "convert": {"file", "n", "pose_error", "warnings"},
    "build": {"robot", "n", "folder", "functions", "validation", "seconds", "backends"},
    "wheel": {"file"},
    "check": {"passed", "seconds", "checks"},
    "check --exact": {"passed", "identities", "left_out", "points", "bits", "probability"},
    "compare": {"robot", "n", "backend", "rows"},
    "compare --family": {"family", "joints", "sizes", "exponents", "crossings"},
    "grade": {"passed", "robot", "rows"},
    "report": {"file", "quick"},
    "show": {"what", "format", "text"},
    "plan": {"status", "T", "objective", "violation", "final_error", "files"},
}
DEAR = {"build", "check", "compare", "plan", "report", "wheel"}
TEXT_IS_THE_RESULT = {"grade", "show"}


@pytest.fixture
def folder(folder):
    shutil.copy(EXAMPLES / "two_link.yaml", "two_link.yaml")
    Path("wheel.yaml").write_text(WHEEL)
    Path("task.yaml").write_text(
        "symgen_task: 1\nstart: {q: [0, 0]}\ngoal: {q: [1, 0]}\nlimits: {torque: 20}\n"
    )
    Path("answer.txt").write_text("M[2,2] = I2 + m2*l2**2\n")
    return folder


def test_every_command_is_here():
    named = {name.split()[0] for name in COMMANDS} | {"schema", "completion"}
    assert named == set(cli.commands)


@pytest.mark.parametrize("name", some_slow(COMMANDS, {*COMMANDS} - DEAR))
def test_json_and_nothing_else(folder, capfd, name):
    assert run([*COMMANDS[name], "--json"]) == 0
    captured = capfd.readouterr()
    assert captured.err == ""
    found = json.loads(captured.out, parse_constant=pytest.fail)
    assert KEYS[name] | {"notices"} <= set(found)
    assert "error" not in found


@pytest.mark.parametrize("name", some_slow(COMMANDS, ["new", "grade", "show"]))
def test_quiet(folder, capfd, name):
    assert run([*COMMANDS[name], "--quiet"]) == 0
    captured = capfd.readouterr()
    assert captured.err == ""
    assert bool(captured.out) is (name in TEXT_IS_THE_RESULT)


WRONG = """\
symgen: 1
name: wrong
joints:
  - name: a
    type: revolut
    origin: {}
    link: {mas: 1}
"""


@pytest.mark.parametrize("name", COMMANDS)
def test_the_faults_of_a_file_as_json(folder, capfd, name):
    Path("two_link.yaml").write_text(WRONG)
    arguments = [argument.replace("wheel.yaml", "two_link.yaml") for argument in COMMANDS[name]]
    if "two_link.yaml" not in arguments:
        return
    assert run([*arguments, "--json"]) == 2
    captured = capfd.readouterr()
    error = json.loads(captured.out)["error"]
    assert (error["status"], error["kind"]) == (2, "model")
    assert {(fault["file"], fault["line"], fault["key"]) for fault in error["faults"]} >= {
        ("two_link.yaml", 5, "joints.a.type"),
        ("two_link.yaml", 7, "joints.a.link.mas"),
    }
    assert captured.err.strip() == error["message"]  # people read what they always read
    assert not list(Path().glob("generated*"))


@pytest.mark.parametrize(("arguments", "words"), [
    (["build", "two_link.yaml", "--functions", "mas_matrix"], "did you mean 'mass_matrix'"),
    (["build", "two_link.yaml", "--functions", "frame_pose"], "comes with forward_kinematics"),
    (["build", "two_link.yaml", "--backend", "numpi"], "did you mean 'numpy'"),
    (["build", "two_link.yaml", "--bakend", "numpy"], "--backend"),
    (["build"], "MODEL"),
    (["show", "two_link.yaml", "tre"], "did you mean 'tree'"),
    (["biuld"], "did you mean 'build'"),
    (["simulate", "two_link.yaml"], "in Python: symgen.simulate("),
    (["new", "two_link.yaml"], "is there already"),
])  # fmt: skip
def test_a_wrong_request_as_json(folder, capfd, arguments, words):
    assert run([*arguments, "--json"]) == 2
    captured = capfd.readouterr()
    error = json.loads(captured.out)["error"]
    assert (error["status"], error["kind"], error["faults"]) == (2, "request", [])
    assert words in error["message"] and words in captured.err


def test_a_wrong_request_is_printed_without_warnings_of_the_file(folder, capfd):
    Path("arm.urdf").write_text('<robot name="arm-1"><link name="base-1"/></robot>')
    assert run(["show", "arm.urdf", "tree"]) == 0 and "were changed" in capfd.readouterr().err
    assert run(["show", "arm.urdf", "tre"]) == 2
    assert capfd.readouterr().err == "there is no 'tre' to show; did you mean 'tree'?\n"


def test_other_failures_as_json(folder, capfd, monkeypatch):
    def error():
        return json.loads(capfd.readouterr().out)["error"]

    with monkeypatch.context() as patch:
        patch.setattr(limits, "agreement", lambda n: -1.0)
        assert run([*COMMANDS["build"], "--json"]) == 3
    failed = error()
    assert (failed["status"], failed["kind"]) == (3, "validation")
    assert failed["validation"]["passed"] is False
    with monkeypatch.context() as patch:
        patch.setenv("CC", "no-such-compiler")
        assert run(["build", "two_link.yaml", "--backend", "compiled", "--json"]) == 4
    assert error()["kind"] == "toolchain"


@pytest.mark.parametrize(
    ("raised", "status", "kind"),
    [(KeyboardInterrupt, 130, "interrupted"), (RuntimeError, 1, "internal")],
)
def test_a_build_that_is_stopped_as_json(folder, capfd, monkeypatch, raised, status, kind):
    def stop(*arguments):
        raise raised("the roof is leaking")

    monkeypatch.setattr("symgen.pipeline.building.build", stop)
    assert run([*COMMANDS["build"], "--json"]) == status
    captured = capfd.readouterr()
    failed = json.loads(captured.out)["error"]
    assert (failed["status"], failed["kind"]) == (status, kind)
    if kind == "internal":
        assert "the roof is leaking" in captured.err and "not of your model" in captured.err


@pytest.mark.slow
def test_a_check_that_fails_prints_its_result_once(folder, capfd, monkeypatch):
    assert run([*COMMANDS["build"], "-q"]) == 0
    monkeypatch.setattr(limits, "agreement", lambda n: -1.0)
    assert run([*COMMANDS["check"], "--json"]) == 3
    captured = capfd.readouterr()
    assert json.loads(captured.out)["passed"] is False
    assert "failed" in captured.err.lower()


def test_numbers_that_json_has_no_word_for():
    data = {"error": [math.nan, -math.inf, 1.5], "rows": ({"a": math.inf},)}
    assert json.loads(outcome.text(data, ["careful"])) == {
        "error": [None, None, 1.5],
        "rows": [{"a": None}],
        "notices": ["careful"],
    }
    text = outcome.error_text(ValidationError("wrong"), 3, "wrong")
    assert json.loads(text)["error"]["validation"] is None
