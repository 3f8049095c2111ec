"""The tab key: what is offered, in which shells, without messages and without SymPy."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from symgen.cli import cli
from symgen.formulations import FORMULATIONS
from symgen.options import BACKENDS
from symgen.program.functions import FUNCTION_NAMES

ROOT = Path(__file__).parents[2]
TWO_LINK = ROOT / "examples" / "two_link.yaml"


@pytest.fixture
def folder(folder):
    shutil.copy(TWO_LINK, "two_link.yaml")
    shutil.copy(TWO_LINK, "two_arms.YML")
    Path("two_notes.txt").write_text("mine")
    Path("sub").mkdir()
    shutil.copy(TWO_LINK, "sub/third.urdf")
    return folder


def offered(line, monkeypatch=None):
    """What stands for the last word of a line."""
    *words, incomplete = line.split(" ")
    if monkeypatch is not None:
        monkeypatch.setenv("COMP_WORDS", line)
    found = ShellComplete(cli, {}, "symgen", "_SYMGEN_COMPLETE").get_completions(
        words[1:], incomplete
    )
    return [(item.type, item.value) for item in found]


def names(*values):
    return [("plain", value) for value in values]


def test_commands_and_choices(folder):
    assert offered("symgen b") == names("build")
    assert offered("symgen build --backend ") == names(*BACKENDS)
    assert offered("symgen compare --family ") == names("serial", "planar")
    assert offered("symgen completion f") == names("fish")


def test_nothing_is_said_of_a_misspelt_command(folder):
    assert ("plain", "build") in offered("symgen buidl ")
    assert offered("symgen buidl two_link.yaml --fl") == []


def test_names_in_lists(folder):
    known = [item.name for item in FORMULATIONS]
    assert offered("symgen build --formulations ") == names(*known, "default", "all")
    assert offered("symgen show two_link.yaml tree --formulation ") == names(*known)
    assert offered("symgen build --functions mass_matrix,m") == []
    assert offered("symgen build --functions jacobians,mass") == names("jacobians,mass_matrix")
    assert offered("symgen show two_link.yaml ") == names("tree", "frames", *FUNCTION_NAMES)


def test_parameters_of_the_model_on_the_line(folder, monkeypatch):
    line = "symgen build two_link.yaml --runtime-parameters "
    assert offered(line, monkeypatch)[-2:] == names("all", "none")
    assert offered(line + "m", monkeypatch) == names("m1", "m2")
    assert offered(line + "m1,m", monkeypatch) == names("m1,m2")


@pytest.mark.parametrize(
    "content", [b"symgen: 1\nname: [", b"\xff\xfe\0", b"a: &a [*a, *a]\n", None, b""]
)
def test_nothing_is_said_of_a_wrong_model(folder, monkeypatch, capfd, content):
    if content is not None:
        Path("wrong.yaml").write_bytes(content)
    line = "symgen build wrong.yaml --runtime-parameters "
    assert offered(line, monkeypatch) in (names("all", "none"), [])
    assert capfd.readouterr() == ("", "")


def test_model_files(folder):
    assert offered("symgen build two") == names("two_arms.YML", "two_link.yaml")
    assert offered("symgen convert sub/") == names("sub/third.urdf")
    assert offered("symgen build su") == [("file", "su")]  # folders are found by the shell
    assert offered("symgen build nowhere/") == []
    Path("two $(touch bad).yaml").write_text("")
    assert offered("symgen build two") == [("file", "two")]


@pytest.mark.slow
def test_sympy_is_not_loaded(folder):
    program = (
        "import sys\nfrom click.shell_completion import ShellComplete\nfrom symgen.cli import cli\n"
        "c = ShellComplete(cli, {}, 'symgen', '_SYMGEN_COMPLETE')\n"
        "for args, word in ((['build'], 'tw'), (['build', '--functions'], 'm'),\n"
        "                   (['build', '--formulations'], ''), (['show', 'x'], '')):\n"
        "    assert c.get_completions(args, word)\n"
        "assert not {'sympy', 'jinja2', 'rich', 'Cython'} & set(sys.modules)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)


BASH = """
source <(symgen completion bash) || exit 1
complete -p symgen
try() {
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
    _symgen_completion symgen; echo "${COMPREPLY[*]}"
}
try symgen che
try symgen build two_l
try symgen build two_link.yaml --functions = jacobians,mass
try symgen build two_link.yaml --runtime-parameters m1,m
"""
FISH = """
symgen completion fish | source
complete -C "symgen che" | string split \\t | head -1
complete -C "symgen build two_l"
complete -C "symgen build two_link.yaml --functions jacobians,mass"
complete -C "symgen build two_link.yaml --runtime-parameters m1,m"
"""
WANTED = ["check", "two_link.yaml", "jacobians,mass_matrix", "m1,m2"]


@pytest.mark.slow
@pytest.mark.parametrize(("shell", "text"), [("bash", BASH), ("fish", FISH)])
def test_in_a_real_shell(folder, shell, text):
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell}")
    commands = folder / "commands"
    commands.mkdir()
    command = commands / "symgen"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m symgen "$@"\n')
    command.chmod(0o755)
    paths = [str(commands), *os.environ["PATH"].split(os.pathsep)]
    done = subprocess.run(
        [program, "-c", text],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
    )
    lines = done.stdout.splitlines()
    assert lines[-4:] == WANTED, done.stdout + done.stderr
    assert not done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_every_shell(shell, capfd):
    from symgen.cli import run

    assert run(["completion", shell]) == 0
    assert "_SYMGEN_COMPLETE" in capfd.readouterr().out
