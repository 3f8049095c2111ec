"""The cache folder of a user: built modules, binaries, validated tool chains.

| in the cache folder | what it is |
| --- | --- |
| ``binaries/`` | extensions, shared objects, compiled templates, marks of builds, by digest |
| ``validated/`` | stamps of tool chains that were validated on this machine |
| ``modules/`` | packages that `symgen.load` built |
| ``failed/`` | sources that a compiler refused |
| ``work/`` | folders of running builds |

Everything in it can be deleted at any time, and several processes may use it at once: files are
written in ``work/`` and moved in one step, and digests are checked when files are read.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from symgen.errors import ToolchainError
from symgen.toolchain.files import digest, write_all, write_new
from symgen.toolchain.workspace import make_folder, workspace

DIGEST_LENGTH = 64
UNUSED_DAYS = 90.0
"""Age at which unused entries are removed."""
LEAST_FREE = 64e6
"""Least free space of the disk of a cache, in bytes: builds of large robots write as much."""

_noticed: set[str] = set()


class CacheUnusableError(Exception):
    """A folder cannot serve as the cache; the message says why."""


@dataclass(frozen=True)
class Cache:
    """An existing, writable folder that belongs to this user alone."""

    folder: Path

    def binary(self, key: str, kind: str = "binaries") -> bytes | None:
        """Return the binary that was stored under `key`; None if it is missing or damaged."""
        path = self._path(kind, key)
        try:
            descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
            with os.fdopen(descriptor, "rb") as stream:
                stored = stream.read()
            os.utime(path)  # marks it as used, for `remove_unused`
        except OSError:
            return None
        expected, content = stored[:DIGEST_LENGTH], stored[DIGEST_LENGTH:]
        return content if digest(content).encode() == expected else None

    def store_binary(self, key: str, content: bytes, kind: str = "binaries") -> None:
        """Store a binary, if there is space: a full disk must not fail the build."""
        with suppress(OSError, ToolchainError):
            folder = make_folder(self._path(kind), 0o700)
            with self.workspace("store") as place:  # leftovers of a killed writer are collected
                write_new(place / _checked(key), digest(content).encode() + content, 0o600)
                os.replace(place / key, folder / key)

    def is_toolchain_validated(self, key: str) -> bool:
        """Return whether `mark_toolchain_validated` was called with this key."""
        return self.binary(key, "validated") is not None

    def mark_toolchain_validated(self, key: str) -> None:
        """Remember that the tool chain with this key passed its validation."""
        self.store_binary(key, b"", "validated")

    def module_folder(self, key: str, package: str) -> Path:
        """Return the folder of a package that `symgen.load` builds; it need not exist yet."""
        make_folder(self._path("modules"), 0o700)
        folder = make_folder(self._path("modules", key), 0o700)
        with suppress(OSError):
            os.utime(folder)  # marks it as used, for `remove_unused`
        return folder / _checked(package)

    def keep_failed(self, key: str, files: Mapping[str, str]) -> Path:
        """Keep sources that a compiler refused; return their folder, which may exist already."""
        folder = make_folder(self._path("failed"), 0o700) / _checked(key)
        with self.workspace("failed") as place:
            write_all(place / "sources", files, 0o600)
            with suppress(OSError):  # an earlier failure kept the same sources
                os.rename(place / "sources", folder)
        return folder

    def workspace(self, prefix: str) -> AbstractContextManager[Path]:
        """Return a temporary folder for a build, as a context manager."""
        return workspace(self._path("work"), prefix, 0o700)

    def remove_unused(self) -> None:
        """Remove entries that were not used within `UNUSED_DAYS`."""
        oldest = time.time() - UNUSED_DAYS * 86400.0
        with suppress(OSError):
            for path in [*self._stored("binaries"), *self._stored("validated")]:
                if path.lstat().st_mtime < oldest:
                    path.unlink()
            for folder in [*self._stored("modules"), *self._stored("failed")]:
                if folder.lstat().st_mtime < oldest:
                    shutil.rmtree(folder)

    def _stored(self, kind: str) -> list[Path]:
        folder = self._path(kind)
        return list(folder.iterdir()) if folder.is_dir() and not folder.is_symlink() else []

    def _path(self, kind: str, key: str | None = None) -> Path:
        return self.folder / kind / _checked(key) if key is not None else self.folder / kind


def open_cache(notify: Callable[[str], None] | None = None) -> Cache:
    """Return the cache of this user.

    Its folder is ``SYMGEN_CACHE_DIR``, by default the platform's cache folder.  If that cannot be
    used, a folder for temporary files replaces it, and `notify` gets a message once per process.
    """
    asked = os.environ.get("SYMGEN_CACHE_DIR", "").strip()
    wanted = Path(asked or platformdirs.user_cache_dir("symgen", appauthor=False)).absolute()
    try:
        return Cache(_private_folder(wanted.resolve()))
    except CacheUnusableError as error:
        folder = _temporary_folder()
        message = f"cannot use the cache folder {wanted} ({error}); using {folder}"
        if notify is not None and message not in _noticed:
            _noticed.add(message)
            notify(message)
        return Cache(folder)


def _temporary_folder() -> Path:
    user = os.getuid() if hasattr(os, "getuid") else "user"
    shared = Path(tempfile.gettempdir()) / f"symgen-{user}"
    with suppress(CacheUnusableError):
        return _private_folder(shared)
    try:  # someone else has taken that name
        return Path(tempfile.mkdtemp(prefix="symgen-"))
    except OSError as error:
        raise ToolchainError(f"cannot make a folder for temporary files: {error}") from error


def _private_folder(folder: Path) -> Path:
    """Make `folder` if need be; CacheUnusableError unless it belongs to this user alone."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.lstat()
        if stat.S_ISLNK(status.st_mode):
            raise CacheUnusableError("it is a symbolic link")
        if hasattr(os, "getuid") and status.st_uid != os.getuid():
            raise CacheUnusableError("it belongs to another user")
        if status.st_mode & stat.S_IWOTH:
            raise CacheUnusableError("everybody may write to it")
        for kind in ("binaries", "validated", "modules", "work"):
            if (folder / kind).is_symlink():
                raise CacheUnusableError(f"{kind} in it is a symbolic link")
        if (free := shutil.disk_usage(folder).free) < LEAST_FREE:
            raise CacheUnusableError(f"its disk has {free / 1e6:.1f} MB free")
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        raise CacheUnusableError(error.strerror or str(error)) from error


def _checked(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}", name):
        raise ValueError(f"not a name for the cache: {name!r}")
    return name
