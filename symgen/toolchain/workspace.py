"""Folders that exist only while a build runs.

Each is locked by the process that uses it.  The system releases the lock of a process that dies,
however it dies, so a folder whose lock is free is a leftover and the next build collects it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from symgen.errors import ToolchainError
from symgen.toolchain.files import file_system_errors

LOCK_NAME = "lock"
WAIT_SECONDS = 120.0
"""How long to wait for another process that holds a lock; it is never held while compiling."""


def make_folder(folder: Path, mode: int = 0o777) -> Path:
    """Make sure that `folder` is a folder of its own and not a symbolic link to another."""
    with file_system_errors(f"make the folder {folder}"):
        folder.mkdir(mode=mode, parents=True, exist_ok=True)
    if folder.is_symlink():
        raise ToolchainError(f"{folder} is a symbolic link; symgen does not write through it")
    return folder


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of `folder`; the lock file stays, removing it would split the waiters."""
    lock = FileLock(folder / LOCK_NAME, timeout=WAIT_SECONDS)
    try:
        with file_system_errors(f"lock {folder}"):
            lock.acquire()
    except Timeout:
        message = f"another process holds {folder / LOCK_NAME} for more than {WAIT_SECONDS:g} s"
        raise ToolchainError(message) from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def workspace(parent: Path, prefix: str) -> Iterator[Path]:
    """Make an empty folder below `parent`, and remove it and all leftovers of dead processes."""
    make_folder(parent)
    with folder_lock(parent):
        collect_leftovers(parent)
        with file_system_errors(f"make a folder in {parent}"):
            folder = Path(tempfile.mkdtemp(prefix=f"{prefix}-", dir=parent))
        lock = FileLock(folder / LOCK_NAME, blocking=False)
        lock.acquire()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.release()


def collect_leftovers(parent: Path) -> None:
    """Remove the workspaces below `parent` that no process uses; call it with the lock held."""
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
