"""Machines whose tool chain lacks something: what is built there, and what is said."""

from __future__ import annotations

import os
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.choosing import one_in
from tests.dependability.builds import OPTIONS, World, python

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


def test_an_empty_path_and_no_compiler(tmp_path: Path) -> None:
    world = World(tmp_path)
    status, said = _build(world, PATH=str(tmp_path / "nowhere"))
    assert status == 0, said
    told = "no C compiler was found: the NumPy backend is built instead; pip install ziglang"
    assert said.count(told) == 1
    assert not list(world.package.glob("*.so"))
    status, said = _build(world, "--backend", "compiled", PATH=str(tmp_path / "nowhere"))
    assert status == 4
    assert "no C compiler found" in said
    assert "apt install" in said or "xcode-select" in said
    assert world.leftovers() == []  # the NumPy package is still there, and complete


def _dated(folder: Path) -> dict[Path, tuple[int, int]]:
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.rglob("*")}


COMPILERS = {
    "cc -fno-such-option": ["exit status 1", "-fno-such-option", "is for gcc and clang"],
    "no-such-compiler": ["CC='no-such-compiler' names no program"],
    "cc -nostdinc": ["exit status 1", "if a file of the compiler or the C library is missing"],
    "sh -c 'echo half; kill -9 $$'": ["ended by SIGKILL", "half"],
}


@pytest.mark.parametrize("compiler", one_in(4, COMPILERS))
def test_a_compiler_that_fails(tmp_path: Path, compiler: str) -> None:
    world = World(tmp_path)
    world.hold_a_package()
    before = _dated(world.package)
    status, said = _build(world, "--backend", "compiled", CC=compiler)
    assert status == 4
    remedy = "apt install" if os.name == "posix" else "install"
    for expected in [*COMPILERS[compiler], "unset CC", remedy]:
        assert expected in said
    assert _dated(world.package) == before
    assert world.leftovers() == []


def test_missing_python_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from symgen.cli import run

    paths = {**sysconfig.get_paths(), "include": str(tmp_path), "platinclude": str(tmp_path)}
    monkeypatch.setattr(sysconfig, "get_paths", lambda: paths)
    world = World(tmp_path / "world")
    model = str(world.model(2.0))
    assert run(["build", model, "-q", "--force", "--out", str(world.package.parent)]) == 4
    assert not world.package.exists()
