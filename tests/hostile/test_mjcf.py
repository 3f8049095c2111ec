"""Hostile MJCF files: each is read by MuJoCo, or refused in words, in time, and leaves nothing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from symgen.cli import run
from tests.choosing import one_in
from tests.hostile.mutating import HERE

FILES = sorted((HERE / "mjcf").iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("path", one_in(7, FILES), ids=lambda path: path.stem)
def test_a_file_ends_in_words_and_leaves_nothing(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    status = run(["convert", path.name, "out.yaml"])
    said = capfd.readouterr().err
    assert status in (0, 2), said
    assert sorted(os.listdir()) == sorted([path.name, *(["out.yaml"] if status == 0 else [])])
    assert "Traceback" not in said and max(map(len, said.splitlines()), default=0) < 4000
