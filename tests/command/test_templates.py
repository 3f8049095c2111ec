"""`--templates`: what is restyled is used; what is wrong is told, with its place, and kept out."""

import shutil
from pathlib import Path

import pytest

from benchmarks.models import spatial_tree
from symgen.cli import run
from symgen.emit import templates as templates_module
from symgen.emit.templates import Templates
from symgen.pipeline import scheduler

EXAMPLES = Path(__file__).parents[2] / "examples"
BUILD = ["build", "arm.yaml", "--backend", "numpy", "--functions", "mass_matrix"]
MINE = ["--templates", "mine"]


@pytest.fixture
def folder(folder):
    shutil.copy(EXAMPLES / "two_link.yaml", "arm.yaml")
    return folder


def write(name, text):
    """A template of the user's."""
    path = Path("mine") / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def shipped(name):
    return Templates().source(name)


@pytest.mark.slow
def test_a_restyled_package(folder, capfd):
    own = shipped("numpy/formulation.py.jinja").replace(", in NumPy.", ", in our house style.")
    write("numpy/formulation.py.jinja", '{% include "words.jinja" %}' + own)
    write("words.jinja", "# Of our laboratory.\n")
    write("README.md", "What these are.\n")
    assert run([*BUILD, *MINE]) == 0
    text = Path("generated/two_link/_numpy/newton_euler.py").read_text()
    assert text.startswith("# Of our laboratory.\n") and "in our house style" in text
    capfd.readouterr()
    assert run([*BUILD, *MINE]) == 0
    assert "nothing has changed" in capfd.readouterr().out
    write("words.jinja", "# Of theirs.\n")
    assert run([*BUILD, *MINE, "-q"]) == 0
    text = Path("generated/two_link/_numpy/newton_euler.py").read_text()
    assert text.startswith("# Of theirs.\n")


@pytest.mark.parametrize(("name", "text", "words"), [
    ("numpy/formulation.py.jinja", "fine\n{% for %}\n", "formulation.py.jinja, line 2: "),
    ("numpy/formulation.py.jinja", "\n\n{{ rbot }}", "line 3: UndefinedError: 'rbot'"),
    ("numpy/formulation.py.jinja", "\n{{ 1 // 0 }}", "line 2: ZeroDivisionError"),
    ("numpy/formulation.py.jinja", "{{ [].remove(1) }}", "line 1: ValueError"),
    ("numpy/formulation.py.jinja", '{% include "numpy/formulation.py.jinja" %}', "Recursion"),
    ("numpy/formulation.py.jinja", '{% include "no.jinja" %}', "TemplateNotFound: no.jinja"),
    ("numpy/formulaton.py.jinja", "", "did you mean 'numpy/formulation.py.jinja'?"),
    ("nunpy/formulation.py.jinja", "", "did you mean 'numpy/formulation.py.jinja'?"),
    ("c/kernels.c", "", "did you mean 'c/kernels.c.jinja'?"),
    ("notes/thoughts", "", "holds no template of symgen's"),
])  # fmt: skip
def test_what_is_wrong_is_told(folder, capfd, name, text, words):
    write(name, text)
    assert run([*BUILD, *MINE]) == 2
    captured = capfd.readouterr()
    assert words in captured.err
    assert "Traceback" not in captured.err
    assert not Path("generated/two_link").exists()
    assert not list(Path().glob("generated/.symgen/two_link*"))


@pytest.mark.slow
def test_a_name_that_nothing_uses_beside_one_that_is_right(folder, refusal):
    write("c/header.h.jinja", shipped("c/header.h.jinja"))
    write("c/my_own.h.jinja", "")
    assert "mine/c/my_own.h.jinja: symgen has no such template" in refusal([*BUILD, *MINE])
    write("c/header.h.jinja", '{% include "c/my_own.h.jinja" %}')
    assert run([*BUILD, *MINE, "-q"]) == 0
    write("c/header.h.jinja", "{% include robot %}")  # which one is known when it is filled
    assert run([*BUILD, *MINE, "-q"]) == 0


def test_wrong_templates_are_told_by_every_command(folder, refusal):
    write("numpy/formulaton.py.jinja", "")
    for arguments in (
        ["check", "arm.yaml"], ["compare", "arm.yaml"], ["report", "arm.yaml", "--quick"]
    ):  # fmt: skip
        assert "did you mean 'numpy/formulation.py.jinja'" in refusal([*arguments, *MINE])
        assert "nowhere" in refusal([*arguments, "--templates", "nowhere"])
    assert not list(Path().glob("*.html"))


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new", "status", "words"), [
    ("{{ line.value }}", "{{ line.value }} + 1e-3", 3, "FAILED"),
    ("def {{ kernel", "def wrong_{{ kernel", 4, "mass_matrix"),
    ('"""{{ robot }}', '"" {{ robot }}', 4, "SyntaxError"),
    ('"""{{ kernel.function.summary }}"""', "nothing()", 4, "'nothing' is not defined"),
])  # fmt: skip
def test_wrong_code_is_not_installed(folder, capfd, old, new, status, words):
    """The former module stays as it was, and the message names the folder of templates."""
    assert run([*BUILD, "-q"]) == 0
    before = {p: p.read_bytes() for p in Path("generated").rglob("*.py")}
    text = shipped("numpy/formulation.py.jinja")
    assert old in text
    write("numpy/formulation.py.jinja", text.replace(old, new))
    assert run([*BUILD, *MINE]) == status
    error = capfd.readouterr().err
    assert words in error and "the templates in mine were used (--templates)" in error
    assert "Traceback" not in error
    assert {p: p.read_bytes() for p in Path("generated").rglob("*.py")} == before


@pytest.mark.slow
def test_code_that_does_not_compile(folder, capfd):
    text = shipped("c/kernels.c.jinja")
    write("c/kernels.c.jinja", text + "\nint wrong(\n")
    assert run([*BUILD[:2], *BUILD[4:], "--formulations", "newton_euler", *MINE]) == 4
    error = capfd.readouterr().err
    assert "error:" in error and "the templates in mine were used (--templates)" in error
    assert not Path("generated/two_link").exists()


@pytest.mark.slow
def test_kernels_that_need_the_header_of_the_robot(folder, monkeypatch):
    """It is written when all is derived, so they cannot be compiled before."""
    monkeypatch.setattr(scheduler, "processors", lambda: 2)
    write("c/header.h.jinja", shipped("c/header.h.jinja") + "\n#define NOTHING 0\n")
    needs = "\nstatic const int nothing __attribute__((unused)) = NOTHING;\n"
    guarded = f"#if SYMGEN_WIDTH == 1{needs}#endif\n/* {{{{ formulation.name }}}} */\n"
    write("c/kernels.c.jinja", shipped("c/kernels.c.jinja") + guarded)
    model = Path("chain4.yaml")
    model.write_text(spatial_tree(range(4), "chain4"))
    function = ("--functions", "inverse_dynamics_hessian", "--formulations", "composite")
    assert run(["build", str(model), "--out", "generated", *function, "-q", *MINE]) == 0
    (kernel,) = Path("generated/chain4/c").glob("*_hessian.c")
    assert "= NOTHING;" in kernel.read_text()


@pytest.mark.slow
def test_a_folder_that_is_a_link_and_links_in_it(folder, capfd):
    own = shipped("numpy/formulation.py.jinja")
    kept = Path("kept/numpy")
    kept.mkdir(parents=True)
    (kept / "formulation.py.jinja").write_text(own.replace(", in NumPy.", ", in mine."))
    Path("mine").mkdir()
    Path("mine/numpy").symlink_to(kept.absolute())
    Path("mine/numpy/circle").symlink_to(Path("mine").absolute())
    Path("linked").symlink_to("mine")
    assert run([*BUILD, "--templates", "linked", "-q"]) == 0
    made = Path("generated/two_link/_numpy/newton_euler.py")
    assert ", in mine." in made.read_text()
    (kept / "formulation.py.jinja").write_text(own.replace(", in NumPy.", ", in yours."))
    assert run([*BUILD, "--templates", "linked", "-q"]) == 0
    assert ", in yours." in made.read_text()


def test_a_folder_that_is_none(folder, refusal, monkeypatch):
    monkeypatch.setattr(templates_module, "MOST_FILES", 10)
    for number in range(12):
        write(f"{number}.jinja", "")
    assert "mine holds more than 10 files" in refusal([*BUILD, *MINE])
    Path("file").write_text("")
    for name in ("file", "nowhere", "/dev/null"):
        assert f"there is no folder of templates {name!r}" in refusal([*BUILD, "--templates", name])
    Path("other/numpy").mkdir(parents=True)
    Path("other/numpy/formulation.py.jinja").write_bytes(b"\xff\xfe")
    assert "not UTF-8" in refusal([*BUILD, "--templates", "other"])


@pytest.mark.slow
def test_the_lines_that_are_compared_are_those_of_the_templates(folder, capfd):
    import json

    def lines(*more):
        options = [*BUILD[2:], "--formulations", "newton_euler", "--json"]
        assert run(["compare", "arm.yaml", *options, *more]) == 0
        return [row["lines"] for row in json.loads(capfd.readouterr().out)["rows"]]

    write("c/kernels.c.jinja", "/* ours */\n" + shipped("c/kernels.c.jinja"))
    assert lines(*MINE) == [count + 1 for count in lines()]
