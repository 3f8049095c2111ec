"""Machines whose tool chain lacks something: what is built there, and what is said."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.dependability.builds import OPTIONS, World, python

pytestmark = pytest.mark.slow
BARRED = (
    "import sys; sys.modules['ziglang'] = None\n"  # as if it were not installed
    "from symgen.__main__ import main; main()"
)


def _build(world: World, *options: str, barred: bool = True, **more: str) -> tuple[int, str]:
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


@pytest.mark.deep
def test_an_empty_path_and_the_packaged_compiler(tmp_path: Path) -> None:
    """Everything is compiled and validated, the tool chain too; and nothing is left at home."""
    pytest.importorskip("ziglang", reason="ziglang is not installed")
    world = World(tmp_path, qualified=False)
    status, said = _build(world, barred=False, PATH=str(tmp_path / "nowhere"))
    assert status == 0, said
    assert "first use of clang" in said
    assert world.installed_mass() == 2.0  # of the compiled functions, and of NumPy's
    assert world.leftovers() == []


def _dated(folder: Path) -> dict[Path, tuple[int, int]]:
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.rglob("*")}


def test_a_compiler_that_fails(tmp_path: Path) -> None:
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
