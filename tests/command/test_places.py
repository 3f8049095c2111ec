"""Strange places: links, pipes, devices, odd names, folders that are gone or read-only.

A link in the way of a file is replaced or refused, and never written through; only the output
folder itself may be one, because it is where the user said that files should go."""

import errno
import io
import os
import shutil
import sys
from pathlib import Path

import pytest

from symgen.cli import main, run
from tests.choosing import some_slow
from tests.modules import ROOT, quick_builds

TWO_LINK = ROOT / "examples" / "two_link.yaml"
FAST = ["--backend", "numpy", "--functions", "mass_matrix"]
BUILD = ["build", "arm.yaml", *FAST]
WRITERS = {
    "report": (["report", "wheel.yaml", "--quick", "-o"], "page.html"),
    "convert": (["convert", "arm.yaml", "--force"], "other.yaml"),
    "plot": (["compare", "--family", "planar", "--joints", "1,2", "--functions", "mass_matrix",
              "--plot"], "growth.svg"),
    "new": (["new"], "fresh.yaml"),
}  # fmt: skip
WHEEL = """
symgen: 1
name: wheel
joints:
  - {name: turn, type: revolute, origin: {}, link: {mass: 1, com: [1, 0, 0]}}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    place = tmp_path / "folder"
    place.mkdir()
    monkeypatch.chdir(place)
    shutil.copy(TWO_LINK, "arm.yaml")
    Path("wheel.yaml").write_text(WHEEL)
    with quick_builds():
        yield place


@pytest.fixture
def precious(tmp_path):
    """A folder with a file, that nothing may touch."""
    place = tmp_path / "precious"
    place.mkdir()
    (place / "file").write_text("mine")
    return place


def untouched(precious):
    return sorted(os.listdir(precious)) == ["file"] and (precious / "file").read_text() == "mine"


def test_the_output_folder_may_be_a_link(folder, precious):
    Path("generated").symlink_to(precious)
    assert run([*BUILD, "-q"]) == 0
    assert (precious / "two_link" / "__init__.py").is_file()
    assert (precious / "file").read_text() == "mine"


@pytest.mark.parametrize("name", ["two_link", ".symgen"])
def test_a_link_in_place_of_a_folder_of_ours(folder, precious, refusal, name):
    Path("generated").mkdir()
    Path("generated", name).symlink_to(precious)
    error = refusal(BUILD)
    assert f"generated/{name}" in error and "derive" not in error
    assert untouched(precious)


@pytest.mark.parametrize("command", some_slow(WRITERS, [x for x in WRITERS if x != "report"]))
def test_a_link_in_place_of_what_is_written(folder, precious, capfd, command):
    arguments, name = WRITERS[command]
    Path(name).symlink_to(precious / "file")
    status = run([*arguments, name, "-q"] if command != "convert" else
                 ["convert", "arm.yaml", name, "--force", "-q"])  # fmt: skip
    assert untouched(precious)
    assert status == (2 if command == "new" else 0)
    assert Path(name).is_symlink() == (command == "new")


@pytest.mark.parametrize("kind", ["folder", "pipe"])
@pytest.mark.parametrize("command", WRITERS)
def test_what_is_no_file_is_not_replaced(folder, refusal, command, kind):
    arguments, name = WRITERS[command]
    Path(name).mkdir() if kind == "folder" else os.mkfifo(name)
    before = os.lstat(name)
    error = refusal([*arguments, name])
    assert name in error
    assert os.lstat(name).st_ino == before.st_ino
    assert not [entry for entry in os.listdir() if entry.startswith(".")]


@pytest.mark.parametrize(
    ("command", "number"), [*((name, errno.ENOSPC) for name in WRITERS), ("convert", errno.EROFS)]
)
def test_a_disk_that_takes_nothing(folder, refusal, monkeypatch, command, number):
    arguments, name = WRITERS[command]
    really = os.open

    def refused(path, flags, *more, **options):
        if flags & os.O_CREAT and str(path).startswith((".", name)):
            raise OSError(number, os.strerror(number), str(path))
        return really(path, flags, *more, **options)

    monkeypatch.setattr(os, "open", refused)
    error = refusal([*arguments, name])
    assert f"cannot write {name}: {os.strerror(number)}" in error
    assert not os.path.lexists(name)


@pytest.mark.parametrize("command", ["report", "plot", "build"])
def test_a_folder_that_is_read_only_is_told_first(folder, refusal, monkeypatch, command):
    arguments, name = WRITERS.get(command, (BUILD, ""))
    monkeypatch.setattr(os, "access", lambda path, mode, **options: not mode & os.W_OK)
    words = f"cannot write {name}" if name else "is not writable; choose another folder with --out"
    error = refusal([*arguments, *filter(None, [name])])
    assert words in error and "derive" not in error


@pytest.mark.parametrize("command", ["build", "show", "report", "convert", "grade"])
@pytest.mark.parametrize("name", ["pipe.yaml", "/dev/zero", "/dev/stdin", "folder.yaml"])
def test_what_is_no_file_is_not_read(folder, refusal, command, name):
    os.mkfifo("pipe.yaml")
    Path("folder.yaml").mkdir()
    more = {"show": ["tree"], "convert": ["to.yaml"], "grade": [name]}.get(command, [])
    refusal([command, "arm.yaml" if command == "grade" else name, *more])


@pytest.mark.parametrize("place", [
    "it's \"quoted\" [bold]", "new\nline\ttab", "-dash", "ünï 你", "$(touch bad);a", "%s{}",
    "back\\slash", "x" * 255, os.fsdecode(b"not utf-8 \xff\xfe"),
])  # fmt: skip
def test_folders_of_any_name(folder, capfd, place):
    os.mkdir(place)
    shutil.copy("arm.yaml", Path(place, "arm.yaml"))
    named = f"./{place}"
    assert run(["build", f"{named}/arm.yaml", *FAST, "--out", f"{named}/out"]) == 0
    assert Path(place, "out", "two_link", "__init__.py").is_file()
    Path(place, "arm.yaml").write_text(Path("arm.yaml").read_text() + "wrong: 1\n")
    capfd.readouterr()
    assert run(["build", f"{named}/arm.yaml", *FAST, "--json"]) == 2
    captured = capfd.readouterr()
    assert "Traceback" not in captured.err and captured.out.startswith("{")
    assert not Path("bad").exists()


def test_names_that_a_terminal_cannot_show_are_printed_all_the_same(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    with pytest.raises(SystemExit):
        main(["--version"])
    assert stream.errors == "replace"


@pytest.mark.parametrize("length", [252, 300, 5000])
def test_names_that_are_too_long(folder, capfd, length):
    long = "x" * length
    for arguments in (
        ["build", f"{long}.yaml"], [*BUILD, "--out", long * 2], ["show", f"{long}.yaml", "tree"],
        ["new", f"{long}.yaml"], ["convert", "arm.yaml", f"{long}.yaml"],
        ["report", "arm.yaml", "--quick", "-o", f"{long}.html"],
        [*BUILD, "--templates", long * 2],
    ):  # fmt: skip
        assert run(arguments) in (2, 4), arguments
        error = capfd.readouterr().err
        assert "Traceback" not in error and error.strip()


def test_a_name_with_a_dash_in_front(folder, capfd):
    assert run(["convert", "arm.yaml", "--", "-arm.yaml"]) == 0
    assert "symgen build ./-arm.yaml" in capfd.readouterr().out
    assert run(["build", *FAST, "-q", "--", "-arm.yaml"]) == 0


def test_a_working_folder_that_is_gone(tmp_path, monkeypatch, capfd):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert run(["build", "arm.yaml", "--json"]) == 2
    captured = capfd.readouterr()
    assert "the working folder does not exist any more" in captured.err
    assert '"kind": "request"' in captured.out


@pytest.mark.parametrize("arguments", [
    ["plan", "arm.yaml", "task.yaml", "-o", "task.yaml"],
    ["plan", "arm.yaml", "task.yaml", "-o", "link.yaml"],
    ["plan", "arm.yaml", "task.yaml", "-o", "../folder/arm.yaml"],
    ["report", "page.html", "--quick", "-o", "./page.html"],
    ["convert", "arm.yaml", "link.yaml", "--force"],
    ["convert", "link.yaml", "arm.yaml", "--force"],
])  # fmt: skip
def test_no_output_replaces_an_input(folder, refusal, arguments):
    shutil.copy("arm.yaml", "page.html")
    assert run(["new", "--task", "task.yaml", "--quiet"]) == 0
    os.symlink("task.yaml" if arguments[0] == "plan" else "arm.yaml", "link.yaml")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert "choose another name for the output" in refusal(arguments)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_trajectory_replaces_nothing_but_a_trajectory(folder, refusal):
    assert run(["new", "--task", "task.yaml", "--quiet"]) == 0
    plan = ["plan", "arm.yaml", "task.yaml", "-o"]
    assert "no trajectory of a plan" in refusal([*plan, "wheel.yaml"])
    assert "ROBOT comes first, then TASK" in refusal(["plan", "task.yaml", "arm.yaml"])
