"""The command line as users meet it: output, exit status, files."""

import json
import sys
from itertools import cycle
from pathlib import Path

import pytest

from symgen.cli import cli, run
from symgen.comparing import comparison
from symgen.formulations import FORMULATIONS
from symgen.program.functions import FUNCTION_NAMES
from tests.choosing import some_slow
from tests.modules import EXAMPLES, quick_builds
from tests.oracles.random_models import OF_TREES

TWO_LINK, FOUR_BAR = (str(EXAMPLES / f"{x}.yaml") for x in ("two_link", "mechanisms/four_bar"))
STYLES = ("pretty", "latex", "python", "c")
MASS = ["--functions", "mass_matrix", "--formulations", "newton_euler"]


@pytest.mark.slow
def test_build_says_what_it_did_and_a_second_build_does_nothing(folder, capfd):
    assert run(["build", TWO_LINK]) == 0
    text = capfd.readouterr().out
    for word in ("two_link: 2 coordinates", "newton_euler", "closed_form_lagrange",
                 "checks passed against an independent model",
                 "within tolerance (worst: ", "from generated import two_link"):  # fmt: skip
        assert word in text
    assert len(text.splitlines()) <= 14
    before = {p: p.stat().st_mtime_ns for p in Path("generated/two_link").rglob("*") if p.is_file()}
    assert run(["build", TWO_LINK]) == 0
    assert "nothing has changed" in capfd.readouterr().out
    after = {p: p.stat().st_mtime_ns for p in Path("generated/two_link").rglob("*") if p.is_file()}
    assert before == after


def test_functions_that_were_not_built_say_how_to_build_them(folder):
    assert run(["build", TWO_LINK, "-q", "--functions", "mass_matrix", "--backend", "numpy"]) == 0
    from symgen.toolchain.loading import load_package

    module = load_package(folder / "generated" / "two_link")
    assert module.backend == "numpy"
    for name, words in (
        ("inverse_dynamics", "--functions mass_matrix,inverse_dynamics"),
        ("forward_dynamics_parameter_derivatives", "--runtime-parameters all"),
        ("hybrid_dynamics", "prescribed: true"),
        ("outputs_derivatives", r"outputs: \{NAME: EXPRESSION\}"),
    ):
        with pytest.raises(AttributeError, match=words):
            getattr(module, name)


@pytest.mark.parametrize(("arguments", "words"), [
    (["build", "missing.yaml"], "missing.yaml"),
    (["build", TWO_LINK, "--formulations", "newton"], "newton_euler"),
    (["build", TWO_LINK, "--functions", "hybrid_dynamics"], "prescribed: true"),
    (["build", TWO_LINK, "--functions", "outputs"], "the model has no outputs"),
    (["build", TWO_LINK, "--runtime-parameters", "m3"], "no parameter is called 'm3'"),
    (["build", TWO_LINK, "--runtime-parameters", "m1 L1"], "separated by commas: m1,L1"),
    (["build", TWO_LINK, "--runtime-parameters", "all,L1"], "'all' stands alone"),
    (["show", TWO_LINK, "mas_matrix"], "did you mean 'mass_matrix'"),
    (["show", TWO_LINK, "hybrid_dynamics"], "prescribed: true"),
    (["show", FOUR_BAR, "forward_dynamics"], "forward_dynamics: it ignores constraints"),
])  # fmt: skip
def test_mistakes_end_with_status_2_and_a_hint(folder, capfd, arguments, words):
    assert run(arguments) == 2
    captured = capfd.readouterr()
    assert words in captured.err
    assert "Traceback" not in captured.err + captured.out
    assert not Path("generated").exists()


def test_without_a_compiler(folder, capfd, monkeypatch):
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setitem(sys.modules, "ziglang", None)  # as if it were not installed
    assert run(["build", TWO_LINK, "--backend", "compiled"]) == 4
    assert "compiler" in capfd.readouterr().err
    assert not Path("generated/two_link").exists()
    assert run(["build", TWO_LINK, *MASS]) == 0
    captured = capfd.readouterr()
    assert captured.err.count("no C compiler was found: the NumPy backend is built instead") == 1
    assert Path("generated/two_link/__init__.py").exists()


@pytest.mark.slow
def test_check_and_compare(folder, capfd, monkeypatch):
    monkeypatch.setattr(comparison, "SECONDS_PER_REPETITION", 1e-5)
    chosen = ["--functions", "inverse_dynamics"]
    assert run(["check", TWO_LINK, *chosen]) == 0
    text, progress = capfd.readouterr()
    assert "closed_form_lagrange (numpy)" in text and "checks passed" in text
    assert "validate ..." in progress
    assert run(["compare", TWO_LINK, "--json", *chosen]) == 0
    rows = json.loads(capfd.readouterr().out)["rows"]
    providers = {item.name for item in FORMULATIONS if "inverse_dynamics" in item.functions}
    assert {row["formulation"] for row in rows} == providers
    assert all(row["disagreement"] < 1e-12 for row in rows)
    for key in ("single_ns", "batch_ns", "compile_seconds", "derive_seconds", "lines", "size"):
        assert all(row[key] > 0 for row in rows)
    assert all(row["before"]["additions"] >= row["after"]["additions"] for row in rows)
    longest = ["--formulations", "closed_form_lagrange", "--backend", "numpy"]
    assert run(["compare", TWO_LINK, *chosen, *longest]) == 0
    out = capfd.readouterr().out
    assert "…" not in out and "add, mul, func: those" in out


def test_show_for_a_slide(folder, capfd):
    assert run(["show", TWO_LINK, "mass_matrix", "--format", "latex"]) == 0
    assert capfd.readouterr().out.strip() == (
        "% mass_matrix\n"
        r"M = \begin{bmatrix}I_{1} + I_{2} + m_{1} \, l_{1}^{2} + m_{2} \, \left(L_{1}^{2} + "
        r"2 \, L_{1} \, l_{2} \, \cos {q_{2}} + l_{2}^{2}\right) & I_{2} + m_{2} \, "
        r"l_{2} \, \left(L_{1} \, \cos {q_{2}} + l_{2}\right)\\I_{2} + m_{2} \, "
        r"l_{2} \, \left(L_{1} \, \cos {q_{2}} + l_{2}\right) & "
        r"I_{2} + m_{2} \, l_{2}^{2}\end{bmatrix}"
    )


@pytest.mark.parametrize(
    ("what", "style"),
    some_slow([*zip(FUNCTION_NAMES, cycle(STYLES))][::3], [("mass_matrix", "pretty")]),
)
def test_every_function_can_be_shown(folder, capfd, what, style):
    text = Path(TWO_LINK).read_text()
    if what in OF_TREES:
        text = text.replace("- name: elbow", "- name: elbow\n    prescribed: true")
        text += "\noutputs: {reach: points.hand.x*L1}\n"
    else:
        text += "\nloops: [{name: pin, type: revolute, first: {link: base}, "
        text += "second: {link: forearm}}]\noutputs: {pull: multipliers.pin_x}\n"
    Path("arm.yaml").write_text(text)
    assert run(["show", "arm.yaml", what, "--format", style]) == 0
    assert capfd.readouterr().out.strip()


def test_the_robot_can_be_shown(folder, capfd, refusal):
    assert run(["show", TWO_LINK, "tree"]) == 0
    assert "forearm  q_2  elbow     revolute" in capfd.readouterr().out
    for style in ("pretty", "latex"):
        assert run(["show", TWO_LINK, "frames", "--format", style]) == 0
        assert "forearm in upper_arm" in capfd.readouterr().out
    assert "pretty" in refusal(["show", TWO_LINK, "tree", "--format", "c"])


def test_parameters_named_like_coordinates_are_told_apart(folder, capfd):
    text = Path(TWO_LINK).read_text().replace("m2", "qd_1").replace("L1", "tip_fx")
    Path("odd.yaml").write_text(text)
    assert run(["show", "odd.yaml", "inverse_dynamics", "--format", "latex"]) == 0
    latex = capfd.readouterr().out
    assert r"l_{2}^{2} \, \mathrm{qd\_1}" in latex
    assert r"\sin {q_{1}} \, \mathrm{tip\_fx}" in latex
    assert r"f_{x}^{\mathrm{tip}}" in latex


def test_the_version_and_each_command_in_one_whole_line(capfd):
    assert run(["--version"]) == 0
    assert "symgen" in capfd.readouterr().out
    assert run(["--help"]) == 0
    commands = capfd.readouterr().out.split("Commands:\n")[1].splitlines()
    assert len(commands) == len(cli.commands)
    assert all(line.endswith(".") and not line.endswith("...") for line in commands)


@pytest.mark.deep
def test_a_binary_that_does_not_load_is_never_installed(folder, capfd, monkeypatch):
    """This compiler leaves out what it should compile, and the linker the objects."""
    compiler = folder / "cc"
    compiler.write_text(
        "#!/bin/sh\n"
        'case "$*" in *--version*) exec cc --version;; *" -c "*) how=-c;; *) how=-shared;; esac\n'
        'out=$(echo "$@" | sed "s/.*-o \\([^ ]*\\).*/\\1/")\n'
        'exec cc $how -fPIC -o "$out" -x c /dev/null\n'
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    assert run(["build", TWO_LINK, *MASS, "--force"]) == 4
    assert "does not load" in capfd.readouterr().err
    assert not Path("generated/two_link").exists()
    assert run(["build", TWO_LINK, *MASS, "--force"]) == 4  # and the tool chain was not certified


@pytest.mark.parametrize("out", ["file", "link", "/dev/null"])
def test_a_place_that_cannot_hold_a_package_is_refused_first(folder, capfd, out):
    Path("file").write_text("mine")
    Path("link").symlink_to("nowhere")
    assert run(["build", TWO_LINK, "--out", out]) == 2
    captured = capfd.readouterr()
    assert "derive" not in captured.err
    assert Path("file").read_text() == "mine"


HEAVY = """
symgen: 1
name: heavy
convention: standard
joints:
  - {name: a, type: revolute, dh: {a: 0.5}, link: {mass: 1e6, com: [0.1, 0.2, 0.3]}}
  - {name: b, type: revolute, dh: {a: 0.5, alpha: 1}, link: {mass: 1.3, com: [0.1, -0.2, 0.15],
     inertia: {xx: 0.3, yy: 0.25, zz: 0.2, xy: 0.02, xz: -0.03, yz: 0.01}}}
"""


@pytest.mark.slow
def test_heavy_bases_are_no_reason_to_fail(folder):
    """Terms that cancel leave rounding errors of their own size behind."""
    Path("heavy.yaml").write_text(HEAVY)
    options = ["-q", "--formulations", "all", "--backend", "numpy"]
    assert run(["build", "heavy.yaml", *options]) == 0


@pytest.mark.slow
def test_two_models_of_one_name_are_remarked(folder, capfd):
    options = ["--functions", "mass_matrix", "--backend", "numpy"]
    for name, mass in (("arm.yaml", "0.5"), ("other.yaml", "0.7")):
        Path(name).write_text(
            Path(TWO_LINK).read_text().replace("m1: {value: 0.5", f"m1: {{value: {mass}")
        )
    with quick_builds():
        assert run(["build", "arm.yaml", *options]) == 0
        text = Path("arm.yaml").read_text()
        Path("arm.yaml").write_text(text.replace("m2: {value: 0.5", "m2: {value: 0.8"))
        capfd.readouterr()
        assert run(["build", "arm.yaml", *options]) == 0
        assert "replaced" not in capfd.readouterr().err
        assert run(["build", "other.yaml", *options]) == 0
    assert "arm.yaml, a model of the same name; it is replaced" in capfd.readouterr().err


@pytest.mark.slow
def test_what_a_package_says_of_itself_is_nothing_that_a_terminal_obeys(folder, capfd):
    options = ["--functions", "mass_matrix", "--backend", "numpy", "--force"]
    with quick_builds():
        assert run(["build", TWO_LINK, *options]) == 0
        file = Path("generated/two_link/build.json")
        content, text = json.loads(file.read_text()), "\x1b]0;title\x07\x1b[31mx"
        functions = {"functions": [{"function": text, "formulation": text}]}
        for key in ("origin", "runtime_parameters", "loads", "points", "made"):
            value = {"origin": text, "made": functions}.get(key, [text])
            file.write_text(json.dumps({**content, key: value}))
            capfd.readouterr()
            assert run(["build", TWO_LINK, *options]) == 0
            error = capfd.readouterr().err
            assert "]0;title [31mx" in error
            assert error.replace("\n", "").isprintable()
