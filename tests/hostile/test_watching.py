"""What watches the reading of a stranger's file hears of everything that is forbidden."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile.mutating import ROOT
from tests.hostile.watching import TooLong, in_time

FORBIDDEN = """
import os, socket, subprocess, sys
from tests.hostile.watching import Forbidden, Watch
watch = Watch()
try:
    with watch.during("allowed.txt"):
        {code}
except Forbidden:
    sys.exit(7)
except OSError:
    sys.exit(8)
"""


@pytest.mark.parametrize("code", [
    "open('new.txt', 'w')", "os.open('new.txt', os.O_CREAT)", "open('/etc/hostname')",
    "os.remove('allowed.txt')", "os.mkdir('new')", "os.rename('allowed.txt', 'new')",
    "subprocess.run(['true'])", "os.system('true')", "os.fork()", "eval('1')", "exec('x = 1')",
    "os.execv('/bin/true', ['true'])", "socket.socket()", "compile('1', 'x', 'eval')",
    "os.symlink('a', 'b')", "os.chdir('/')", "import ctypes; ctypes.CDLL(None)",
])  # fmt: skip
def test_what_is_forbidden_is_heard(code: str, tmp_path: Path) -> None:
    assert watched(code, tmp_path) == 7
    assert [path.name for path in tmp_path.iterdir()] == ["allowed.txt"]


@pytest.mark.parametrize("code", ["open('allowed.txt').read()", "import colorsys", "1 + 1"])
def test_what_is_allowed_is_not(code: str, tmp_path: Path) -> None:
    assert watched(code, tmp_path) == 0


def watched(code: str, folder: Path) -> int:
    """The exit status of a process that runs `code` while it is watched."""
    (folder / "allowed.txt").write_text("words")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-B", "-c", FORBIDDEN.format(code=code)]
    return subprocess.run(command, cwd=folder, env=environment, timeout=100).returncode


def endless() -> None:
    while True:
        pass


def test_what_does_not_end_is_stopped() -> None:
    with pytest.raises(TooLong), in_time(0.05):
        endless()
