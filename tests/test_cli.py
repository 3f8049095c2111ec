"""The command line as users meet it: output, exit status, files."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from symgen.cli import run

EXAMPLES = Path(__file__).parents[1] / "examples"
TWO_LINK = str(EXAMPLES / "two_link.yaml")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_build_says_what_it_did_and_a_second_build_does_nothing(folder, capfd):
    assert run(["build", TWO_LINK]) == 0
    text = capfd.readouterr().out
    for word in ("two_link: 2 coordinates", "newton_euler", "closed_form_lagrange", "mass_matrix",
                 "checks passed", "from generated import two_link"):  # fmt: skip
        assert word in text
    before = {p: p.stat().st_mtime_ns for p in Path("generated/two_link").rglob("*") if p.is_file()}
    assert run(["build", TWO_LINK]) == 0
    assert "nothing has changed" in capfd.readouterr().out
    after = {p: p.stat().st_mtime_ns for p in Path("generated/two_link").rglob("*") if p.is_file()}
    assert before == after


def test_the_module_works_from_another_folder_without_symgen(folder, tmp_path_factory):
    assert run(["build", TWO_LINK, "--quiet"]) == 0
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    program = (
        "import sys; sys.modules['symgen'] = None\n"
        "from generated import two_link as r\n"
        "print(r.backend, r.inverse_dynamics([0.1, 0.2], [0, 0], [0, 0]).shape)\n"
        "assert all(row.passed for row in r.selftest())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=elsewhere,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[1] == "(2,)"


def test_build_as_json(folder, capfd):
    assert run(["build", TWO_LINK, "--json", "--functions", "mass_matrix"]) == 0
    report = json.loads(capfd.readouterr().out)
    assert report["robot"] == "two_link"
    assert report["validation"]["passed"] is True
    assert {row["function"] for row in report["functions"]} == {"mass_matrix"}


def test_functions_that_were_not_built_say_how_to_build_them(folder):
    assert run(["build", TWO_LINK, "-q", "--functions", "mass_matrix", "--backend", "numpy"]) == 0
    from symgen.toolchain.loading import load_package

    module = load_package(folder / "generated" / "two_link")
    assert module.backend == "numpy"
    with pytest.raises(AttributeError, match="--functions mass_matrix,inverse_dynamics"):
        module.inverse_dynamics
    with pytest.raises(AttributeError, match="not available yet"):
        module.forward_dynamics


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["build", "missing.yaml"], 2, "missing.yaml"),
        (["build", TWO_LINK, "--formulations", "newton"], 2, "newton_euler"),
        (["build", TWO_LINK, "--formulations", "kane"], 2, "not available yet"),
        (["build", TWO_LINK, "--functions", "mass_matrx"], 2, "did you mean 'mass_matrix'"),
        (["build", TWO_LINK, "--functions", "forward_dynamics"], 2, "not available yet"),
        (["build", TWO_LINK, "--runtime-parameters", "m1"], 2, "not available yet"),
        (["build", TWO_LINK, "--backend", "fortran"], 2, "fortran"),
        (["biuld", TWO_LINK], 2, "did you mean 'build'"),
        (["show", TWO_LINK, "mas_matrix"], 2, "did you mean 'mass_matrix'"),
        (["show", TWO_LINK, "joint_wrenches"], 2, "not available yet"),
        (["build"], 2, "MODEL"),
    ],
)
def test_mistakes_end_with_status_2_and_a_hint(folder, capfd, arguments, status, words):
    assert run(arguments) == status
    captured = capfd.readouterr()
    assert words in captured.err
    assert "Traceback" not in captured.err + captured.out
    assert not Path("generated").exists()


def test_a_wrong_model_reports_every_fault_and_writes_nothing(folder, capfd):
    text = Path(TWO_LINK).read_text()
    Path("wrong.yaml").write_text(text.replace("mass: m1", "mas: m1").replace("a: L2", "a: L3"))
    assert run(["build", "wrong.yaml"]) == 2
    error = capfd.readouterr().err
    assert error.count("wrong.yaml:") >= 2
    assert "did you mean" in error
    assert not Path("generated").exists()


def test_failed_validation_installs_nothing(folder, capfd, monkeypatch):
    from symgen.validation import limits

    monkeypatch.setattr(limits, "agreement", lambda n: -1.0)
    assert run(["build", TWO_LINK, "--backend", "numpy"]) == 3
    assert "FAILED" in capfd.readouterr().err
    assert not Path("generated/two_link").exists()


def test_without_a_compiler(folder, capfd, monkeypatch):
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CC", raising=False)
    assert run(["build", TWO_LINK, "--backend", "compiled"]) == 4
    assert "compiler" in capfd.readouterr().err
    assert not Path("generated/two_link").exists()
    assert run(["build", TWO_LINK]) == 0
    captured = capfd.readouterr()
    assert captured.err.count("no C compiler was found: the NumPy backend is built instead") == 1
    assert Path("generated/two_link/__init__.py").exists()


def test_a_failing_compiler_is_quoted(folder, capfd, monkeypatch):
    compiler = folder / "cc"
    compiler.write_text(
        '#!/bin/sh\ncase "$*" in *-c*) echo "no room in the attic" >&2; exit 7;; esac\n'
        'echo "cc 1.0"\n'
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    assert run(["build", TWO_LINK]) == 4
    error = capfd.readouterr().err
    assert "no room in the attic" in error
    assert "7" in error
    assert not Path("generated/two_link").exists()


def test_interruption(folder, capfd, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("symgen.pipeline.build", interrupted)
    assert run(["build", TWO_LINK]) == 130
    assert "interrupted" in capfd.readouterr().err


def test_a_fault_of_symgen_says_what_to_report(folder, capfd, monkeypatch):
    def broken(*arguments):
        raise RuntimeError("the roof is leaking")

    monkeypatch.setattr("symgen.pipeline.build", broken)
    assert run(["build", TWO_LINK]) == 1
    error = capfd.readouterr().err
    assert "the roof is leaking" in error
    assert "not of your model" in error


def test_check_and_compare(folder, capfd):
    assert run(["check", TWO_LINK]) == 0
    text = capfd.readouterr().out
    assert "closed_form_lagrange (numpy)" in text
    assert "checks passed" in text
    assert run(["compare", TWO_LINK, "--json"]) == 0
    rows = json.loads(capfd.readouterr().out)["rows"]
    assert {row["formulation"] for row in rows} == {"newton_euler", "closed_form_lagrange"}
    assert all(row["disagreement"] < 1e-12 for row in rows)
    assert all(row["single_ns"] > 0 and row["batch_ns"] > 0 for row in rows)
    assert run(["compare", TWO_LINK]) == 0
    assert "…" not in capfd.readouterr().out


def test_show_for_a_slide(folder, capfd):
    assert run(["show", TWO_LINK, "mass_matrix", "--format", "latex"]) == 0
    assert capfd.readouterr().out.strip() == (
        r"\begin{bmatrix}I_{1} + I_{2} + l_{1}^{2} m_{1} + m_{2} \left(L_{1}^{2} + 2 L_{1} l_{2} "
        r"\cos {q_{2}} + l_{2}^{2}\right) & I_{2} + m_{2} \left(L_{1} l_{2} \cos {q_{2}} + "
        r"l_{2}^{2}\right)\\I_{2} + m_{2} \left(L_{1} l_{2} \cos {q_{2}} + l_{2}^{2}\right) & "
        r"I_{2} + l_{2}^{2} m_{2}\end{bmatrix}"
    )


@pytest.mark.parametrize("what", ["mass_matrix", "inverse_dynamics", "tree", "frames"])
@pytest.mark.parametrize("style", ["pretty", "latex", "python", "c"])
def test_everything_can_be_shown(folder, capfd, what, style):
    assert run(["show", TWO_LINK, what, "--format", style]) == 0
    assert capfd.readouterr().out.strip()


def test_large_robots_are_shown_step_by_step(folder, capfd):
    assert run(["show", str(EXAMPLES / "tree12.yaml"), "inverse_dynamics"]) == 0
    text = capfd.readouterr().out
    assert "[NE-15]" in text and "Barman 2020" in text


def test_help_and_version(capfd):
    assert run(["--version"]) == 0
    assert "symgen" in capfd.readouterr().out
    for command in ("build", "check", "compare", "show"):
        assert run([command, "--help"]) == 0
        assert "MODEL" in capfd.readouterr().out
