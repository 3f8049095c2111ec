"""A package is in place completely, or not at all."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from symgen.errors import RequestError, ToolchainError
from symgen.toolchain.install import stage
from symgen.toolchain.loading import forget_package, load_package
from symgen.toolchain.manifest import Manifest, read_manifest
from tests.choosing import deep, slow
from tests.toolchain.sample import REPLACING, install, package, visible

LISTS = ["build.json", "manifest.json"]


@pytest.fixture
def target(tmp_path):
    return tmp_path / "out" / "sample"


def factor(target):
    """Import the package that lies at `target`; it asserts that its parts belong together."""
    module = load_package(target)
    forget_package(module)
    return float(module.FACTOR)


def test_a_new_package_appears(target):
    install(target)
    assert visible(target) == sorted([*package(), *LISTS])
    assert not (target.parent / ".symgen").exists()
    assert factor(target) == 2.0
    manifest = read_manifest(target)
    assert manifest.build_key == "key-2.0"
    assert manifest.is_intact(target)


@pytest.mark.parametrize("others", [(), ("notes.txt", "parts/own.py")])
def test_stale_files_and_empty_folders_go_and_files_of_others_stay(target, others):
    install(target, 2.0, only_former="X = 1\n")
    factor(target)  # leaves bytecode behind
    for name in others:
        (target / name).write_text("mine")
    with stage(target) as staged:
        staged.write_sources({"__init__.py": "FACTOR = 1\n"})
        staged.install(Manifest(build_key="key"))
    assert visible(target) == ["__init__.py", *LISTS, *others]
    assert not list(target.rglob("only_former*"))
    assert (target / "parts").exists() == bool(others)


@pytest.mark.parametrize("name", ["extra.py", ".former/notes.txt", ".installing.json/notes.txt"])
def test_what_others_wrote_is_never_overwritten_or_removed(target, name):
    install(target)
    mine = target / name
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("mine")
    with pytest.raises(RequestError, match=rf"{re.escape(name.split('/')[0])} is in the way"):
        install(target, 3.0, extra="ours")
    assert mine.read_text() == "mine"
    assert factor(target) == 2.0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
@pytest.mark.parametrize("name", ["manifest.json", "build.json", ".installing.json"])
def test_a_pipe_in_place_of_a_list_is_not_waited_for(target, name):
    target.mkdir(parents=True)
    os.mkfifo(target / name)
    with pytest.raises(RequestError, match="not written by symgen"):
        install(target)


@pytest.mark.parametrize("content", [None, "{}", "[]", "not json", '{"generator": "other"}'])
def test_what_belongs_to_others_is_refused(target, content):
    target.mkdir(parents=True)
    (target / "thesis.tex").write_text("mine")
    if content is not None:
        (target / "manifest.json").write_text(content)
    for place in (target, target / "thesis.tex"):
        with pytest.raises(RequestError, match="not written by symgen"):
            install(place)
    assert (target / "thesis.tex").read_text() == "mine"
    assert not (target / "__init__.py").exists()


def test_links_are_refused(target, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    install(elsewhere)
    before = visible(elsewhere)
    target.parent.mkdir()
    target.symlink_to(elsewhere, target_is_directory=True)
    with pytest.raises(RequestError, match="symbolic link"):
        install(target, 3.0)
    target.unlink()
    install(target)
    shutil.rmtree(target / "parts")
    (target / "parts").symlink_to(elsewhere / "parts", target_is_directory=True)
    with pytest.raises(RequestError, match="parts is in the way"):
        install(target, 3.0)
    assert visible(elsewhere) == before
    assert factor(elsewhere) == 2.0


def test_a_link_in_place_of_a_file_is_replaced_and_not_followed(target, tmp_path):
    install(target)
    (tmp_path / "precious.py").write_text("FACTOR = 2.0\n")
    (target / "parts" / "first.py").unlink()
    (target / "parts" / "first.py").symlink_to(tmp_path / "precious.py")
    install(target, 3.0)
    assert (tmp_path / "precious.py").read_text() == "FACTOR = 2.0\n"
    assert factor(target) == 3.0


def test_a_manifest_cannot_name_files_outside(target, tmp_path):
    install(target)
    (tmp_path / "precious").write_text("mine")
    listed = json.loads((target / "manifest.json").read_text())
    listed["files"]["../../precious"] = ""
    (target / "manifest.json").write_text(json.dumps(listed))
    with pytest.raises(RequestError):
        install(target, 3.0)
    assert (tmp_path / "precious").read_text() == "mine"


@pytest.mark.parametrize("name", ["../x.py", "/x.py", "a/../../x.py", "a\\b.py", ""])
def test_no_file_leaves_the_package(target, name):
    with pytest.raises(ValueError, match="not a path inside"), stage(target) as staged:
        staged.write_sources({name: ""})
    assert not target.parent.exists()


def test_what_validation_leaves_in_the_staged_package_is_not_installed(target):
    with stage(target) as staged:
        staged.write_sources(package())
        assert factor(staged.folder) == 2.0
        (staged.folder / "core").write_text("dumped")
        staged.install(Manifest(build_key="key"))
    assert visible(target) == sorted([*package(), *LISTS])
    assert not list(target.rglob("__pycache__"))


def test_a_failed_validation_changes_nothing(target):
    install(target)
    before = {name: (target / name).stat().st_mtime_ns for name in visible(target)}
    with pytest.raises(ZeroDivisionError), stage(target) as staged:
        staged.write_sources(package(3.0))
        raise ZeroDivisionError
    assert {name: (target / name).stat().st_mtime_ns for name in visible(target)} == before
    assert not (target.parent / ".symgen").exists()


def test_unchanged_files_are_not_touched(target):
    install(target)
    before = (target / "_runtime.py").stat()
    install(target, 3.0)
    after = (target / "_runtime.py").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_two_builds_within_a_second_never_share_bytecode(target):
    for number in range(6):  # same size, same second: what Python compares
        install(target, float(number))
        assert factor(target) == number


@pytest.mark.parametrize("name", ["parts/first.py", "binary.so", "manifest.json", "build.json"])
@pytest.mark.parametrize("fault", ["missing", "changed"])
def test_a_damaged_package_is_not_up_to_date(target, name, fault):
    with stage(target) as staged:
        staged.write_sources(package())
        staged.write_binaries({"binary.so": b"\x7fELF"})
        staged.install(Manifest(build_key="key"))
    assert (manifest := read_manifest(target)) is not None
    assert manifest.is_intact(target)
    if fault == "missing":
        (target / name).unlink()
    else:
        (target / name).write_text("{}")
    manifest = read_manifest(target)
    assert manifest is None or not manifest.is_intact(target)


def test_sources_and_manifest_do_not_depend_on_the_machine(tmp_path):
    texts = []
    for place, binary in (("here", b"1"), ("there", b"2")):
        target = tmp_path / place / "sample"
        with stage(target) as staged:
            staged.write_sources(package())
            staged.write_binaries({"binary.so": binary})
            staged.install(Manifest(build_key=f"key of {place}"))
        texts.append((target / "manifest.json").read_bytes())
    assert texts[0] == texts[1]


def test_errors_of_the_file_system_are_told(target, monkeypatch):
    install(target)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(ToolchainError, match="No space left"):
        install(target, 3.0)
    monkeypatch.undo()
    assert factor(target) == 2.0


class FaultInjectedError(BaseException):
    """As KeyboardInterrupt: nothing catches it on the way."""


def _fail_at(monkeypatch, number):
    """Let the file system operation with this number raise; return whether it came to that."""
    count = 0

    def wrap(operation):
        def wrapped(*arguments, **keywords):
            nonlocal count
            count += 1
            if count == number:
                raise FaultInjectedError
            return operation(*arguments, **keywords)

        return wrapped

    operations = [
        (os, "replace"), (os, "rename"), (os, "link"), (os, "utime"), (shutil, "rmtree"),
        (Path, "unlink"), (Path, "mkdir"), (Path, "rmdir"),
    ]  # fmt: skip
    for place, name in operations:
        monkeypatch.setattr(place, name, wrap(getattr(place, name)))
    return lambda: count >= number


def _date_ahead(target):
    """Date a package ahead, so that each file that replaces one is given a later second.

    The number of steps would else depend on how many of the files came within one second."""
    ahead = int(time.time()) + 1000
    for path in target.rglob("*.py"):
        os.utime(path, (ahead, ahead))


@pytest.mark.parametrize("bytecode", [*slow(True), *deep(False)])
def test_an_interruption_at_any_step_leaves_one_of_both_packages(tmp_path, monkeypatch, bytecode):
    outcomes = []
    for number in range(1, 1000):
        target = tmp_path / str(number) / "sample"
        install(target, 2.0, only_former="")
        _date_ahead(target)
        (target / "notes.txt").write_text("mine")
        if bytecode:
            factor(target)
        with monkeypatch.context() as patch:
            reached = _fail_at(patch, number)
            try:
                install(target, 3.0, only_new="")
            except FaultInjectedError:
                pass
            else:
                assert not reached()
                break
        outcomes.append(factor(target))
        manifest = read_manifest(target)
        if manifest.is_intact(target):
            assert manifest.build_key == f"key-{outcomes[-1]}"
        install(target, 4.0)
        assert factor(target) == 4.0
        assert visible(target) == sorted([*package(), *LISTS, "notes.txt"])
        assert not (target.parent / ".symgen").exists()
    assert len(outcomes) > 20
    assert outcomes == sorted(outcomes)  # the new package, once it is there, stays
    assert set(outcomes) == {2.0, 3.0}


def _install_repeatedly(target, number):
    for turn in range(10):
        install(target, float(10 * number + turn))


@pytest.mark.slow
def test_many_processes_install_at_once(target):
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as pool:
        running = [pool.submit(_install_repeatedly, target, number) for number in range(3)]
        for future in running:
            future.result()
    manifest = read_manifest(target)
    assert manifest.is_intact(target)
    assert manifest.build_key == f"key-{factor(target)}"
    assert visible(target) == sorted([*package(), *LISTS])
    assert not (target.parent / ".symgen").exists()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_killed_installations_leave_a_package_that_imports(target):
    install(target, 0.0)
    generator = random.Random(3)
    for turn in range(5):
        command = [sys.executable, "-c", REPLACING, str(target), str(turn * 1000.0)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            time.sleep(generator.uniform(0.0, 0.1))
            process.kill()
        factor(target)  # asserts that the parts belong together
    install(target, 0.0)
    assert visible(target) == sorted([*package(), *LISTS])
    assert not (target.parent / ".symgen").exists()
