"""Separate processes that open untrusted files, with resource limits and JSON messages.

A program (`mujoco_process`, `xacro_process`) runs isolated in an empty folder, reads a question
from standard input and prints its answer.  This module imports nothing of symgen, because the
programs run it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any


class NoAnswerError(Exception):
    """A program did not answer; `ended` says whether it ended or took too long."""

    def __init__(self, message: str, ended: bool) -> None:
        self.ended = ended
        super().__init__(message)


def is_installed(package: str) -> bool:
    """Whether a program could import a package."""
    return bool(sys.executable) and find_spec(package) is not None


def answer_of(
    program: Path,
    question: Mapping[str, Any],
    seconds: float,
    environment: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the answer of a program within `seconds`; `NoAnswerError` if there is none."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [sys.executable, "-I", str(program)], input=json.dumps(question).encode(),
                cwd=folder, env=environment, capture_output=True, timeout=seconds, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise NoAnswerError(f"not done after {seconds} s", ended=False) from None
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        words = f"ended with status {done.returncode}: not enough time or memory"
        raise NoAnswerError(words, ended=True) from None
    return answer


def respond(answer: Callable[[Any], Mapping[str, Any]], seconds: int, size: int) -> None:
    """Read the question and print the answer, in the program; output of libraries is discarded.

    Limits are `seconds` of processor time and `size` bytes of address space.
    """
    out = os.dup(1)
    os.dup2(2, 1)
    question = json.loads(sys.stdin.buffer.read())
    limit_resources(seconds, size)
    content = json.dumps(answer(question)).encode()
    while content:
        content = content[os.write(out, content) :]


def limit_resources(seconds: int, size: int) -> None:
    """Limit processor time and address space, and forbid written files."""
    try:
        import resource
        import signal
    except ImportError:  # no such limits on this system
        return
    for which, most in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, size),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(OSError, ValueError):
            resource.setrlimit(which, (most, most))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
