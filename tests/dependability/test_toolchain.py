"""Machines whose tool chain lacks something: what is built there, and what is said."""

import os
import subprocess

import pytest

from tests.dependability.builds import OPTIONS, World, python

pytestmark = pytest.mark.slow
BARRED = (
    "import sys; sys.modules['ziglang'] = None\n"  # as if it were not installed
    "from symgen.__main__ import main; main()"
)


def _build(world, *options, barred=True, **more):
    start = python("-c", BARRED) if barred else python("-m", "symgen")
    done = subprocess.run(
        [*start, "build", str(world.model(2.0)), *OPTIONS, *options],
        cwd=world.work,
        env={**world.environment(), **more},
        capture_output=True,
        text=True,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


def _dated(folder):
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.rglob("*")}


def test_a_compiler_that_fails(tmp_path):
    world = World(tmp_path)
    world.hold_a_package()
    before = _dated(world.package)
    status, said = _build(world, "--backend", "compiled", CC="cc -fno-such-option")
    assert status == 4
    remedy = "apt install" if os.name == "posix" else "install"
    words = "exit status 1", "-fno-such-option", "is for gcc and clang", "unset CC", remedy
    for expected in words:
        assert expected in said
    assert _dated(world.package) == before
    assert world.leftovers() == []
