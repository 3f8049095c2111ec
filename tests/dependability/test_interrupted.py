"""Builds that are interrupted, killed or without a compiler: a package that imports, nothing else.

The full campaign of killing: ``python -m tests.dependability.killing --builds 300``."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.choosing import deep, some_deep
from tests.dependability.builds import OPTIONS, World, files, python
from tests.dependability.killing import campaign

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc of Linux"),
]

INTERRUPTED = """\
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # the tests may run with them ignored
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from symgen.__main__ import main
from symgen.support.journal import Journal
from contextlib import contextmanager

former = Journal.stage
wanted = sys.argv.pop(1)

@contextmanager
def stage(self, name):
    with former(self, name):
        if name == wanted:  # tell it, and go on with the work
            print(name, flush=True)
        yield

Journal.stage = stage
main()
"""
STAGES = ["read", "tool chain", "derive", "emit", "compile", "validate", "install"]


def _interrupt(world, stage, number, *options):
    """Send a signal to a build as soon as a stage begins; its status and what it said."""
    command = python("-c", INTERRUPTED, stage, "build", str(world.model(2.0)), *OPTIONS)
    command += options
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    environment = world.environment()
    with subprocess.Popen(command, cwd=world.work, env=environment, **pipes) as process:
        assert process.stdout.readline() == f"{stage}\n", process.stderr.read()
        process.send_signal(number)
        said = process.stderr.read()
        return process.wait(), said


@pytest.mark.parametrize("stage", some_deep(STAGES, {"read", "derive", "compile"}))
def test_in_an_empty_folder(tmp_path, stage):
    world = World(tmp_path, qualified=stage != "tool chain")
    options = () if stage in ("tool chain", "compile", "install") else ("--backend", "numpy")
    status, said = _interrupt(world, stage, signal.SIGINT, *options)
    assert status == 130
    assert said.endswith("\ninterrupted; nothing is left half done\n")
    assert "Traceback" not in said
    assert world.processes() == {}
    assert [*files(tmp_path / "home"), *files(tmp_path / "tmp")] == []
    assert not (tmp_path / "cache" / "work").exists()
    if stage == "install" and world.package.exists():  # its last step was done already
        assert world.leftovers() == []
    else:
        assert list(files(world.work)) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, *deep(signal.SIGHUP)])
def test_what_asks_it_to_end_is_heard_too(tmp_path, number):
    world = World(tmp_path)
    status, said = _interrupt(world, "derive", number, "--backend", "numpy")
    assert status == 130
    assert "Traceback" not in said
    assert world.processes() == {}
    assert list(files(world.work)) == []


@pytest.mark.parametrize("stage", ["derive", *deep("compile", "validate", "install")])
def test_the_former_package_serves(tmp_path, stage):
    world = World(tmp_path)
    world.hold_a_package()
    assert _interrupt(world, stage, signal.SIGINT)[0] == 130
    assert world.installed_mass() in ({1.0, 2.0} if stage == "install" else {1.0})
    assert world.leftovers() == []


def _run(folder, code):
    environment = World(folder, qualified=False).environment()
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def test_while_the_command_line_is_imported(tmp_path):
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Finder:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'click': signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from symgen.__main__ import main\n"
        "main()\n"
    )
    done = _run(tmp_path, code)
    assert (done.returncode, done.stderr) == (130, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_again_while_it_ends(tmp_path, number):
    code = (
        "import atexit, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
        f"atexit.register(signal.raise_signal, {int(number)})\n"
        "import symgen.pipeline.building\n"
        f"symgen.pipeline.building.build = lambda *given: signal.raise_signal({int(number)})\n"
        "from symgen.__main__ import main\n"
        "sys.argv = ['symgen', 'build', 'robot.yaml', '--quiet']\n"
        "main()\n"
    )
    done = _run(tmp_path, code)
    said = done.stderr.strip()  # behind the ^C of a terminal a new line begins
    assert (done.returncode, said) == (130, "interrupted; nothing is left half done")


@pytest.mark.deep  # installations alone: tests/toolchain/test_install.py
def test_the_package_imports_whatever_is_killed(tmp_path):
    done = campaign(tmp_path, 60, seed=60)
    assert sum(done.outcomes.values()) >= 60


def _dated(folder):
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.rglob("*")}


def test_a_compiler_that_fails(tmp_path):
    world = World(tmp_path, more={"CC": "cc -fno-such-option"})
    world.hold_a_package()
    before = _dated(world.package)
    status, said = world.build(2.0, "--backend", "compiled")
    assert status == 4
    remedy = "apt install" if os.name == "posix" else "install"
    words = "exit status 1", "-fno-such-option", "is for gcc and clang", "unset CC", remedy
    for expected in words:
        assert expected in said
    assert "Traceback" not in said
    assert _dated(world.package) == before
    assert world.leftovers() == []
