"""A build that meets a full file system leaves the former package, and says what is wrong.

A small file system in memory is mounted, which takes the superuser (or a user name space).  What is
free on it grows from nothing to what a build takes, so that builds stop at one place after another.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.dependability.builds import World

BYTES = 24_000_000


@contextmanager
def small(folder: Path) -> Iterator[Path]:
    """Mount a file system of `BYTES` on a folder."""
    folder.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={BYTES}", "none", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        pytest.skip(f"cannot mount a small file system: {error}")
    if mounted.returncode:
        pytest.skip(f"cannot mount a small file system: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def fill(folder: Path, spare: int) -> None:
    """Leave `spare` bytes free on the file system of `folder`."""
    filler = folder / "filler"
    filler.unlink(missing_ok=True)
    state = os.statvfs(folder)
    size = state.f_bavail * state.f_frsize - spare
    with filler.open("wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, max(size, 1))


def _builds_on_less_and_less(world: World, small: Path, steps: int) -> list[int]:
    """Statuses of builds with more and more space; the former package is there after failures."""
    before = _used(small)
    world.hold_a_package()
    needed = _used(small) - before
    present, statuses = 1.0, []
    for number in range(steps):
        world.model(2.0 + number)  # while there is room for it
    for number in range(steps):
        mass = 2.0 + number
        fill(small, round(2 * needed * number / max(steps - 1, 1)))
        status, said = world.build(mass, "--force")
        statuses.append(status)
        if status:
            assert status == 4, said
            assert "No space left on device" in said
            assert "Traceback" not in said
        present = present if status else mass
        assert world.installed_mass() == present
    (small / "filler").unlink()
    assert world.build(1000.0)[0] == 0
    assert world.installed_mass() == 1000.0
    assert world.leftovers() == []
    return statuses


def _used(folder: Path) -> int:
    state = os.statvfs(folder)
    return (state.f_blocks - state.f_bfree) * state.f_frsize


@pytest.mark.deep
@pytest.mark.parametrize("steps", [1, 40])
def test_the_output_folder_is_full(tmp_path: Path, steps: int) -> None:
    world = World(tmp_path)
    with small(world.package.parent) as folder:
        statuses = _builds_on_less_and_less(world, folder, steps)
    assert statuses[0] == 4  # and the last build, with all of the space, ended well
    assert steps == 1 or statuses[-1] == 0
    assert statuses == sorted(statuses, reverse=True)


@pytest.mark.deep
def test_everything_is_full(tmp_path: Path) -> None:
    """Packages, cache, home folder and temporary files on one file system."""
    with small(tmp_path / "all") as folder:
        statuses = _builds_on_less_and_less(World(folder), folder, 10)
    assert statuses[0] == 4  # and the last build, with all of the space, ended well
