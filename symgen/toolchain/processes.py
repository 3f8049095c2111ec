"""Run commands and make sure that none of them outlives the build.

Each command gets a process group of its own, because a compiler driver starts further processes
and ending the driver alone would leave those running.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from symgen.errors import ToolchainError


@dataclass(frozen=True)
class Completed:
    """A command that ran to its end; `output` is standard output and error as they came."""

    command: tuple[str, ...]
    status: int
    output: str
    seconds: float


class CommandFailedError(ToolchainError):
    """A command could not be started or ended with another status than 0."""

    def __init__(
        self, action: str, command: Sequence[str], status: str, output: str, hint: str = ""
    ) -> None:
        self.command = tuple(command)
        self.status = status
        self.output = output
        lines = [f"{action} failed ({status})", f"command: {shlex.join(command)}"]
        lines += [output.strip() or "(the command printed nothing)", *([hint] if hint else [])]
        super().__init__("\n".join(lines))


class StoppedError(ToolchainError):
    """A command was not started, or was ended, because the build is over."""


def describe_status(status: int) -> str:
    """Say in words how a process ended."""
    if status >= 0:
        return f"exit status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    hint = "; out of memory?" if name == "SIGKILL" else ""
    return f"ended by {name}{hint}"


class Processes:
    """The child processes of one build; leaving the `with` block ends those that still run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._stopped = False

    def __enter__(self) -> Processes:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def run(
        self,
        command: Sequence[str],
        *,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Completed:
        """Run `command` and wait for it; any status is returned.  May be called from threads."""
        start = time.perf_counter()
        process = self._start(command, cwd, environment)
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            raise CommandFailedError(
                "command", command, f"no answer within {timeout:g} s", ""
            ) from None
        finally:
            _end([process])
            with self._lock:
                self._running.discard(process)
        if self._stopped:
            raise StoppedError("the build was stopped")
        return Completed(tuple(command), process.returncode, output, time.perf_counter() - start)

    def _start(
        self, command: Sequence[str], cwd: Path | None, environment: Mapping[str, str] | None
    ) -> subprocess.Popen[str]:
        with self._lock:  # so that nothing starts after `stop` has looked at what is running
            if self._stopped:
                raise StoppedError("the build was stopped")
            try:
                process = subprocess.Popen(
                    command,
                    cwd=cwd,
                    env=None if environment is None else {**os.environ, **environment},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    encoding="utf-8",
                    errors="replace",
                    process_group=None if sys.platform == "win32" else 0,
                )
            except OSError as error:
                raise CommandFailedError("starting a command", command, str(error), "") from error
            self._running.add(process)
            return process

    def stop(self) -> None:
        """End every process that still runs and refuse to start others."""
        with self._lock:
            self._stopped = True
            running = list(self._running)
        _end(running)


def _end(processes: Sequence[subprocess.Popen[str]]) -> None:
    """Kill at once: what these processes write goes to folders that are thrown away anyway."""
    alive = [process for process in processes if process.poll() is None]
    for process in alive:
        try:
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass  # it has ended meanwhile
    for process in alive:
        process.wait()
