"""Folders that exist only while a build runs, and the order of its tasks."""

import itertools
import os
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest

from symgen.errors import ToolchainError
from symgen.toolchain.cache import Cache
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


def _task(name, *needs):
    """Writes the file `name` and appends its name to the file "order"."""
    program = f"open({name!r}, 'w').close(); open('order', 'a').write({name!r})"
    return Task("c", name, (sys.executable, "-S", "-c", program), name, needs)


@pytest.mark.parametrize(("tasks", "order"), [
    pytest.param((_task("a"), _task("b"), _task("c")), "abc", id="as they come"),
    pytest.param((_task("a"), _task("b", "a"), _task("c")), "abc", id="as soon as it can"),
    pytest.param((_task("a", "c"), _task("b"), _task("c")), "bca", id="not before"),
])  # fmt: skip
def test_the_first_that_can_start_does(tasks, order, tmp_path):
    run_tasks(tasks, tmp_path, {}, jobs=1)

    assert (tmp_path / "order").read_text() == order


def test_what_another_build_has_made_meanwhile_is_taken(tmp_path):
    """It is looked for when its turn comes, not before."""
    other, own, cache = tmp_path / "other", tmp_path / "own", Cache(tmp_path / "cache")
    for folder in (other, own, cache.folder):
        folder.mkdir()
    shared = replace(_task("shared"), kept_under="0" * 64)
    meanwhile = f"import os; os.chdir({str(other)!r}); open('done', 'w').close()"
    first = Task("c", "first", (sys.executable, "-S", "-c", meanwhile), "../other/done")
    reports = []

    def report(*said):
        if not (other / "shared").exists():
            run_tasks((shared,), other, {}, jobs=1, cache=cache)
        reports.append(said)

    run_tasks((first, shared), own, {}, jobs=1, progress=report, cache=cache)

    assert (own / "shared").exists()
    assert not (own / "order").exists()
    assert reports == [("c", 1, 2)]
