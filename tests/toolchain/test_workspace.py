"""Folders that exist only while a build runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from symgen.errors import ToolchainError
from symgen.toolchain.workspace import workspace

HOLD = """
import sys
from pathlib import Path
from symgen.toolchain.workspace import workspace
with workspace(Path(sys.argv[1]), "other") as folder:
    (folder / "half").write_text("")
    print(folder, flush=True)
    sys.stdin.read()
"""


def test_it_is_gone_afterwards_even_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), workspace(tmp_path, "build") as folder:
        (folder / "file").write_text("")
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == ["lock"]


def test_workspaces_are_apart(tmp_path: Path) -> None:
    with workspace(tmp_path, "build") as first, workspace(tmp_path, "build") as second:
        assert first != second
        assert first.is_dir()


def test_leftovers_of_killed_processes_are_collected_and_others_kept(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        with workspace(tmp_path, "mine"):
            assert (folder / "half").exists()
        process.kill()
        process.wait()
        assert (folder / "half").exists()
    with workspace(tmp_path, "mine"):
        assert not folder.exists()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    with pytest.raises(ToolchainError, match="symbolic link"), workspace(tmp_path / "link", "x"):
        pass
    assert os.listdir(tmp_path / "elsewhere") == []
