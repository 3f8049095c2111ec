"""Folders that exist only while a build runs.

Each is locked by the process that uses it.  The system releases the lock when the process ends, so
a folder with a free lock is a leftover, which the next build removes.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from symgen.errors import ToolchainError
from symgen.toolchain.files import file_system_errors
from symgen.toolchain.signals import deferred_signals

LOCK_NAME = "lock"
WAIT_SECONDS = 120.0
"""How long to wait for another process that holds a lock; it is never held while compiling."""

LOOK_SECONDS = 1.0
"""Interval at which a waiting process checks that the folder of the lock still exists."""

TRANSIENT = (Timeout, FileNotFoundError, FileExistsError)
"""Errors that are worth another try: the last user of a lock removes its folder at any moment."""


def make_folder(folder: Path, mode: int = 0o777) -> Path:
    """Make `folder` if need be; `ToolchainError` if it is a symbolic link."""
    with file_system_errors(f"make the folder {folder}"):
        while not folder.is_dir():
            try:
                folder.mkdir(mode=mode, parents=True)
            except FileExistsError:
                with suppress(FileNotFoundError):  # removed meanwhile: try again
                    if not stat.S_ISDIR(folder.lstat().st_mode):
                        raise
    if folder.is_symlink():
        raise ToolchainError(f"{folder} is a symbolic link; symgen does not write through it")
    return folder


@contextmanager
def folder_lock(folder: Path, mode: int = 0o777) -> Iterator[None]:
    """Hold the lock of `folder`, which is made with `mode` if need be.

    Ctrl-C interrupts the wait for the lock; while the lock is held, it is deferred.
    """
    deadline = time.monotonic() + WAIT_SECONDS
    with deferred_signals() as signals:
        lock = FileLock(folder / LOCK_NAME)
        try:
            while not lock.is_locked:
                with signals.heard():
                    if time.monotonic() > deadline:
                        message = f"another process holds {lock.lock_file} for {WAIT_SECONDS:g} s"
                        raise ToolchainError(message)
                make_folder(folder, mode)
                with file_system_errors(f"lock {folder}"), suppress(*TRANSIENT):
                    lock.acquire(timeout=LOOK_SECONDS)
            yield
        finally:
            lock.release()
            del lock  # a signal that arrives in its `__del__` would be lost


@contextmanager
def workspace(parent: Path, prefix: str, mode: int = 0o777) -> Iterator[Path]:
    """Make an empty folder below `parent`; remove it afterwards, and leftovers of dead processes.

    `parent` is made with `mode` if need be, and removed when it is empty.  Raises `ToolchainError`
    if a folder cannot be made, or is removed by another process meanwhile.
    """
    place: _Place | None = None
    with deferred_signals() as signals:
        try:
            with signals.heard(), folder_lock(parent, mode):
                collect_leftovers(parent)
                place = _Place(parent, prefix)
            with signals.heard(), _blaming_removal(place.folder):
                yield place.folder
        finally:
            if place is not None:
                place.remove()
            _remove_if_empty(parent)


@contextmanager
def _blaming_removal(folder: Path) -> Iterator[None]:
    """Replace a failure by a message that `folder` was removed, if it was."""
    try:
        yield
    except ToolchainError as error:
        if folder.is_dir():
            raise
        message = f"{folder} was removed while a build used it; build again"
        raise ToolchainError(message) from error


class _Place:
    """A new folder whose lock is held."""

    def __init__(self, parent: Path, prefix: str) -> None:
        with file_system_errors(f"make a folder in {parent}"):
            self.folder = Path(tempfile.mkdtemp(prefix=f"{prefix}-", dir=parent))
        self._lock = FileLock(self.folder / LOCK_NAME, blocking=False)
        try:
            with file_system_errors(f"lock {self.folder}"):
                self._lock.acquire()
        except ToolchainError:
            self.remove()
            raise

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self._lock.release()
        del self._lock


def _remove_if_empty(parent: Path) -> None:
    """Remove a folder of workspaces that holds nothing but its lock.

    A process that waits for the removed lock makes a new one.
    """
    if not parent.is_dir():
        return
    with suppress(OSError, ToolchainError):
        with folder_lock(parent):
            if not set(os.listdir(parent)) - {LOCK_NAME}:
                (parent / LOCK_NAME).unlink()
        parent.rmdir()


def collect_leftovers(parent: Path) -> None:
    """Remove unused workspaces below `parent`, whose lock must be held."""
    with os.scandir(parent) as entries:
        folders = [Path(entry) for entry in entries if entry.is_dir(follow_symlinks=False)]
    for folder in folders:
        lock = FileLock(folder / LOCK_NAME, blocking=False)
        try:
            lock.acquire()
        except (Timeout, OSError):
            continue  # in use
        shutil.rmtree(folder, ignore_errors=True)
        lock.release()
