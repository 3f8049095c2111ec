"""What a file from a stranger must not make symgen do, watched while it is read.

An audit hook of the interpreter (PEP 578) hears of every file that is opened, every process and
every piece of code that is run.  Nothing of that belongs to the reading of a file: it is recorded,
and raised where the reading cannot catch it by accident."""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

SECONDS = 20.0
"""Of the processor, for one file: several times what the largest take on a slow processor."""

ROOM = 1 << 30
"""Bytes of address space beside what the process has when it begins."""

_CHANGES = (
    "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.chmod",
    "os.chown", "os.truncate", "os.utime", "os.putenv", "os.unsetenv", "os.chdir", "os.kill",
    "os.setxattr", "os.removexattr", "shutil.", "tempfile.",
)  # fmt: skip
_STARTS = (
    "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.startfile",
    "pty.", "socket.", "urllib.", "http.", "ftplib.", "smtplib.", "ctypes.", "webbrowser.",
)  # fmt: skip
_COMPILERS = (  # they compile templates, docstrings of templates, exponents: nothing of a file
    f"{os.sep}jinja2{os.sep}environment.py",
    f"{os.sep}symgen{os.sep}emit{os.sep}package.py",
    f"{os.sep}sympy{os.sep}polys{os.sep}monomials.py",
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_OWN = tuple(
    os.path.realpath(folder)
    for folder in (sys.prefix, sys.base_prefix, os.path.join(os.path.dirname(__file__), "../.."))
)


class Forbidden(BaseException):
    """Something that no file may cause; no handler of ordinary errors swallows it."""


class TooLong(BaseException):
    """A file took more than its seconds."""


class Watch:
    """Hears of everything from the moment it is made; asks only `during` a reading.

    `may_read` are files beside the one that is read, `may_write` one that is written in its place
    by a file of another name that is renamed."""

    def __init__(self, may_read: Sequence[str] = (), may_write: Sequence[str] = ()) -> None:
        self.may_read = tuple(map(os.path.realpath, may_read))
        self.may_write = tuple(map(os.path.realpath, may_write))
        self.allowed: tuple[str, ...] | None = None  # what may be read; None: nobody asks
        self.seen: list[str] = []
        sys.addaudithook(self._heard)

    @contextmanager
    def during(self, path: str) -> Iterator[None]:
        """What is done within belongs to the reading of `path`; Forbidden tells what else was."""
        self.seen.clear()
        self.allowed = (os.path.realpath(path), *self.may_read)
        try:
            yield
        finally:
            self.allowed = None
        if self.seen:
            raise Forbidden("; ".join(self.seen[:5]))

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.allowed is None:
            return
        allowed, self.allowed = self.allowed, None  # what is asked here is nobody's business
        try:
            problem = _problem(event, arguments, allowed, self.may_write)
        finally:
            self.allowed = allowed
        if problem:
            self.seen.append(problem)
            raise Forbidden(problem)


def _problem(
    event: str, arguments: tuple[Any, ...], readable: Sequence[str], writable: Sequence[str]
) -> str:
    """What is wrong with an event, "" if nothing is."""
    if event.startswith(_CHANGES):
        paths = [x for x in arguments if isinstance(x, str | os.PathLike)]
        if paths and all(_is_at(x, writable) for x in paths):
            return ""
    if event.startswith(_STARTS) or event.startswith(_CHANGES):
        return f"{event} {arguments!r}"
    if event == "open" and isinstance(arguments[0], str | bytes):
        path, flags = os.fsdecode(arguments[0]), arguments[2]
        is_written = isinstance(flags, int) and bool(flags & _WRITING)
        return _of_opening(path, is_written, readable, writable)
    if event in ("exec", "compile") and not _is_importing():
        return f"{event} of {arguments[0]!r}"
    return ""


def _of_opening(
    path: str, is_written: bool, readable: Sequence[str], writable: Sequence[str]
) -> str:
    real = os.path.realpath(path)
    if is_written:  # an import may write its bytecode
        return "" if _is_at(real, writable) or _is_importing() else f"{path!r} is written"
    if real in readable or _is_at(real, writable) or real.startswith(_OWN):
        return ""
    return f"{real!r} is opened"


def _is_at(path: str | os.PathLike[str], places: Sequence[str]) -> bool:
    """Whether a file is one of those, or a temporary one beside it that will be."""
    folder = os.path.dirname(os.path.realpath(path))
    name = os.path.basename(path)
    return any(
        folder == os.path.dirname(place) and os.path.basename(place) in name for place in places
    )


def _is_importing() -> bool:
    """Whether the import system is what runs the code, or one of the known compilers."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        path = frame.f_code.co_filename
        if path.startswith("<frozen importlib") or path.endswith(_COMPILERS):
            return True
        frame = frame.f_back
    return False


def limit_memory() -> None:
    """Allow no more address space than there is now and `ROOM` beside it."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


@contextmanager
def in_time(seconds: float = SECONDS) -> Iterator[None]:
    """TooLong after so many seconds of the processor, or ten times as many on the clock."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooLong(f"more than {seconds} s")

    signal.signal(signal.SIGPROF, stop)
    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 10 * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
