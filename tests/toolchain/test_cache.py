"""The cache of one user: private, shared by processes, and never in the way."""

import os
import stat
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from types import SimpleNamespace

import pytest

from symgen.toolchain import cache as cache_module
from symgen.toolchain.cache import Cache, open_cache

KEY = "0123456789abcdef"


def test_binaries_come_back(cache):
    assert cache.binary(KEY) is None
    cache.store_binary(KEY, b"content")
    assert cache.binary(KEY) == b"content"
    cache.store_binary(KEY, b"other")
    assert cache.binary(KEY) == b"other"


@pytest.mark.parametrize("damage", [b"", b"x" * 10, b"0" * 64 + b"content"])
def test_damaged_binaries_are_not_used(cache, damage):
    cache.store_binary(KEY, b"content")
    (cache.folder / "binaries" / KEY).write_bytes(damage)
    assert cache.binary(KEY) is None


def test_stamps_of_validated_tool_chains(cache):
    assert not cache.is_toolchain_validated(KEY)
    cache.mark_toolchain_validated(KEY)
    assert cache.is_toolchain_validated(KEY)
    assert not cache.is_toolchain_validated(KEY[::-1])


def test_folders_for_loaded_modules_are_apart(cache):
    folders = {cache.module_folder("a1", "arm"), cache.module_folder("a2", "arm")}
    assert len(folders) == 2
    assert all(folder.name == "arm" and folder.parent.is_dir() for folder in folders)


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "a\0b"])
def test_keys_never_lead_out_of_the_cache(cache, name):
    with pytest.raises(ValueError, match="not a name"):
        cache.store_binary(name, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_nobody_else_can_read_it(cache):
    cache.store_binary(KEY, b"content")
    for path in [cache.folder, *cache.folder.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


def test_links_out_of_the_cache_are_not_followed(cache, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    cache.store_binary(KEY, b"content")
    stored = (cache.folder / "binaries" / KEY).read_bytes()
    (outside / "planted").write_bytes(stored)
    (cache.folder / "binaries" / KEY).unlink()
    (cache.folder / "binaries" / KEY).symlink_to(outside / "planted")
    assert cache.binary(KEY) is None
    cache.store_binary(KEY, b"new")
    assert (outside / "planted").read_bytes() == stored
    (cache.folder / "validated").symlink_to(outside, target_is_directory=True)
    cache.mark_toolchain_validated(KEY)
    assert os.listdir(outside) == ["planted"]
    assert open_cache().folder != cache.folder


@pytest.mark.parametrize("kind", ["file", "writable by all", "on a full disk"])
def test_an_unusable_folder_falls_back_and_says_so_once(kind, tmp_path, monkeypatch):
    place = tmp_path / "place"
    if kind == "file":
        place.write_text("")
    else:
        place.mkdir(mode=0o700)
    if kind == "writable by all":
        place.chmod(0o777)
    if kind == "on a full disk":
        monkeypatch.setattr(
            cache_module.shutil, "disk_usage",
            lambda folder: SimpleNamespace(free=1e12 * (folder != place)),
        )  # fmt: skip
    monkeypatch.setenv("SYMGEN_CACHE_DIR", str(place / "cache" if kind == "file" else place))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(cache_module, "_noticed", set())
    notices = []
    first, second = open_cache(notices.append), open_cache(notices.append)
    assert first == second
    assert first.folder.parent == tmp_path
    assert len(notices) == 1
    assert str(place) in notices[0]
    first.mark_toolchain_validated(KEY)
    assert second.is_toolchain_validated(KEY)


def test_a_name_taken_by_someone_else_is_avoided(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    (tmp_path / f"symgen-{os.getuid()}").symlink_to(tmp_path / "elsewhere")
    monkeypatch.setenv("SYMGEN_CACHE_DIR", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert not open_cache().folder.is_symlink()
    assert not (tmp_path / "elsewhere").exists()


def test_without_a_setting_the_platform_decides(tmp_path, monkeypatch):
    monkeypatch.delenv("SYMGEN_CACHE_DIR")
    monkeypatch.setattr(
        cache_module.platformdirs, "user_cache_dir", lambda *_, **__: str(tmp_path / "custom")
    )
    assert open_cache().folder == tmp_path / "custom"


def test_a_full_disk_costs_the_cache_and_not_the_build(cache, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    cache.store_binary(KEY, b"content")
    cache.mark_toolchain_validated(KEY)
    monkeypatch.undo()
    assert cache.binary(KEY) is None
    assert not cache.is_toolchain_validated(KEY)
    assert os.listdir(cache.folder / "binaries") == []


def test_what_nobody_asks_for_is_removed(cache):
    for key in ("aa", "bb"):
        cache.store_binary(key, key.encode())
        os.utime(cache.folder / "binaries" / key, (time.time() - 100 * 86400.0,) * 2)
        package = cache.module_folder(key, "arm")
        package.mkdir()
        (package / "__init__.py").write_text("")
        os.utime(package.parent, (time.time() - 100 * 86400.0,) * 2)
    assert cache.binary("aa") == b"aa"  # in use again
    cache.module_folder("aa", "arm")
    cache.remove_unused()
    assert os.listdir(cache.folder / "binaries") == ["aa"]
    assert os.listdir(cache.folder / "modules") == ["aa"]


def test_what_a_killed_writer_leaves_is_collected(cache, monkeypatch):
    def killed(*_, **__):
        os._exit(9)

    if (child := os.fork()) == 0:
        monkeypatch.setattr(os, "replace", killed)
        cache.store_binary(KEY, b"content")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert len(os.listdir(cache.folder / "work")) == 2
    cache.store_binary(KEY, b"content")
    assert not (cache.folder / "work").exists()
    assert os.listdir(cache.folder / "binaries") == [KEY]


def _use(folder, number):
    cache = Cache(folder)
    wrong = 0
    for turn in range(40):
        cache.store_binary(KEY, bytes([number]) * 20_000)
        content = cache.binary(KEY)
        wrong += content is None or len(set(content)) != 1 or len(content) != 20_000
        cache.mark_toolchain_validated(f"{number}-{turn}")
    return wrong


@pytest.mark.slow
def test_processes_do_not_disturb_each_other(cache):
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(_use, [cache.folder] * 3, range(3))) == [0] * 3
    assert os.listdir(cache.folder / "binaries") == [KEY]
