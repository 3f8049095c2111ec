"""Run commands so that none of them outlives the build.

All commands of a build and their child processes are one process group.  Its leader is a guard: a
process that waits for the end of its standard input, which comes when the build closes it or dies,
and then ends the whole group.  So nothing is left running, or writing, even by a killed build.
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
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from symgen.errors import ToolchainError
from symgen.toolchain.signals import deferred_signals


@dataclass(frozen=True)
class Completed:
    """A command that ran to its end; `output` is its standard output and error, merged."""

    command: tuple[str, ...]
    status: int
    output: str
    seconds: float


class CommandFailedError(ToolchainError):
    """A command could not be started, or ended with a status other than 0."""

    def __init__(
        self, action: str, command: Sequence[str], status: str, output: str, hint: str = ""
    ) -> None:
        self.action = action
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


GUARD = "import os, signal; os.read(0, 1); os.killpg(0, signal.SIGKILL)"
"""Program of the guard.  Nothing is written to its standard input, so `read` returns when that is
closed: by `Processes.stop`, or by the system at the end of the build."""


class Processes:
    """The child processes of one build; leaving the `with` block ends those that still run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._guard: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def run(
        self,
        command: Sequence[str],
        *,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Completed:
        """Run `command` and wait for it; any status is returned.  Safe in threads.

        A `timeout` in seconds, like any exception, ends all other commands, too.
        """
        start = time.perf_counter()
        process = self._start(command, cwd, environment)
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.stop()
            silent = f"no answer within {timeout:g} s"
            raise CommandFailedError("command", command, silent, "") from None
        except BaseException:
            self.stop()
            raise
        finally:
            with self._lock:
                self._running.discard(process)
        if self._stopped:
            raise StoppedError("the build was stopped")
        return Completed(tuple(command), process.returncode, output, time.perf_counter() - start)

    def _start(
        self, command: Sequence[str], cwd: Path | None, environment: Mapping[str, str] | None
    ) -> subprocess.Popen[str]:
        # locked, so that nothing starts after `stop` has listed the running processes; deferred, so
        # that no process starts without being listed
        with self._lock, deferred_signals():
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
                    process_group=self._group(),
                )
            except OSError as error:
                raise CommandFailedError("starting a command", command, str(error), "") from error
            self._running.add(process)
            return process

    def _group(self) -> int | None:
        """Return the group that commands belong to; its guard starts with the first of them."""
        if sys.platform == "win32":
            return None
        if self._guard is None:
            self._guard = subprocess.Popen(
                (sys.executable, "-I", "-S", "-c", GUARD), stdin=subprocess.PIPE, process_group=0
            )
        return self._guard.pid

    def stop(self) -> None:
        """End all running processes and refuse to start others.

        By SIGKILL: the folders that they write to are thrown away anyway.
        """
        with deferred_signals():
            with self._lock:
                self._stopped = True
                running = list(self._running)
                guard, self._guard = self._guard, None
            if guard is not None:
                _end_group(guard)
            for process in running:
                process.kill()  # does nothing to a process that has ended
                process.wait()


def _end_group(guard: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):  # somebody else has ended all of it
        os.killpg(guard.pid, signal.SIGKILL)
    if guard.stdin is not None:
        guard.stdin.close()
    guard.wait()
