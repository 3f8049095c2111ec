"""Folders that exist only while a build runs."""

import itertools
import os
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from symgen.errors import ToolchainError
from symgen.toolchain.tasks import Task, run_tasks
from symgen.toolchain.workspace import folder_lock, workspace

HOLD = """
import sys
from pathlib import Path
from symgen.toolchain.tasks import Task, run_tasks
from symgen.toolchain.workspace import workspace
with workspace(Path(sys.argv[1]), "other") as folder:
    (folder / "half").write_text("")
    print(folder, flush=True)
    sys.stdin.read()
"""


def test_a_folder_that_somebody_removes(tmp_path):
    command = [sys.executable, "-c", "import shutil, sys; shutil.rmtree('..'); sys.exit(1)"]
    said = "was removed while a build used it; build again"
    with pytest.raises(ToolchainError, match=said), workspace(tmp_path / "new", "build") as folder:
        task = Task("c", "compilation of a.c", tuple(command), "a.o")
        run_tasks((task,), folder, {}, jobs=1)
    assert os.listdir(tmp_path) == []
    with pytest.raises(ToolchainError, match="full"), workspace(tmp_path / "new", "build"):
        raise ToolchainError("full")


LOOKED_AT = ("workspace.py", "signals.py", "contextlib.py")


def _interrupt_at(number):
    """A function for `sys.settrace`: Ctrl-C at the step with this number of what it looks at."""
    steps = itertools.count(1)

    def step(frame, event, argument):
        if not frame.f_code.co_filename.endswith(LOOKED_AT):
            return None
        if event in ("call", "line") and next(steps) == number:
            sys.settrace(None)
            signal.raise_signal(signal.SIGINT)
        return step

    return step


@pytest.mark.slow
def test_an_interruption_at_any_step_leaves_nothing(tmp_path):
    """Python may run the handler of a signal between any two calls."""
    former = sys.gettrace(), signal.signal(signal.SIGINT, signal.default_int_handler)
    heard = 0
    try:
        for number in itertools.count(1):
            sys.settrace(_interrupt_at(number))
            try:
                with workspace(tmp_path / "new", "build") as folder:
                    assert list(folder.iterdir()) == [folder / "lock"]
            except KeyboardInterrupt:
                heard += 1
            done = sys.gettrace() is not None
            sys.settrace(None)
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
            assert os.listdir(tmp_path) == []
            if done:
                break
    finally:
        sys.settrace(former[0])
        signal.signal(signal.SIGINT, former[1])
    assert heard == number - 1 > 100


def _come_and_go(parent):
    """Make and leave workspaces; how often another process had the folder of one of them."""
    taken = 0
    for number in range(40):
        with folder_lock(parent):
            place = parent / "inside"
            taken += place.exists()
            place.touch()
            place.unlink()
        with workspace(parent, "build") as folder:
            (folder / str(number)).write_text("")
    return taken


@pytest.mark.slow
def test_the_folder_of_all_comes_and_goes(tmp_path):
    """Each process removes it when it seems to be the last, and the others are not disturbed."""
    parent = tmp_path / "parent"
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(_come_and_go, [parent] * 3)) == [0] * 3
    assert not parent.exists()


def test_workspaces_are_apart(tmp_path):
    with workspace(tmp_path, "build") as first, workspace(tmp_path, "build") as second:
        assert first != second
        assert first.is_dir()


def test_leftovers_of_killed_processes_are_collected_and_others_kept(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        folder = Path(process.stdout.readline().strip())
        with workspace(tmp_path, "mine"):
            assert (folder / "half").exists()
        process.kill()
        process.wait()
        assert (folder / "half").exists()
    with workspace(tmp_path, "mine"):
        assert not folder.exists()


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    with pytest.raises(ToolchainError, match="symbolic link"), workspace(tmp_path / "link", "x"):
        pass
    assert os.listdir(tmp_path / "elsewhere") == []
