"""Scheduler of commands that depend on each other, in parallel on all processors."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from symgen.support.journal import Progress
from symgen.support.threads import prompt_threads
from symgen.toolchain.cache import Cache
from symgen.toolchain.compiler import hint_for
from symgen.toolchain.files import file_system_errors, write_new
from symgen.toolchain.processes import CommandFailedError, Completed, Processes, describe_status

Result = TypeVar("Result")


@dataclass(frozen=True)
class Task:
    """One command; it makes the file `output` and starts when all files in `needs` are made.

    An output that other builds need as well is `kept_under` a digest in the cache.  `begun` is the
    run of a command that was started early.
    """

    stage: str
    action: str
    command: tuple[str, ...]
    output: str
    needs: tuple[str, ...] = ()
    kept_under: str = ""
    begun: Future[Completed] | None = None


def processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def beside(work: Callable[[Processes], Result]) -> Iterator[Future[Result]]:
    """Do `work` in a thread during the `with` block, whose end stops its processes."""
    with prompt_threads(), ThreadPoolExecutor(1) as pool, Processes() as processes:
        yield pool.submit(work, processes)


def run_tasks(
    tasks: Sequence[Task],
    folder: Path,
    environment: Mapping[str, str],
    jobs: int,
    progress: Progress | None = None,
    processes: Processes | None = None,
    cache: Cache | None = None,
) -> dict[str, float]:
    """Run all tasks in `folder`; return the seconds that the commands of each stage took.

    Tasks start in the order of `tasks`, as soon as their needs are met; outputs in `cache` are
    reused.  The first failure ends all commands; so does an exception, Ctrl-C included, and the end
    of `processes` if it is given.
    """
    totals = {task.stage: 0 for task in tasks}
    for task in tasks:
        totals[task.stage] += 1
    done = dict.fromkeys(totals, 0)
    seconds = dict.fromkeys(totals, 0.0)
    waiting = list(tasks)
    made: set[str] = set()
    running: dict[Future[Completed], Task] = {}
    with ThreadPoolExecutor(jobs) as pool, processes or Processes() as children:
        while waiting or running:
            ready = [task for task in waiting if made.issuperset(task.needs)]
            for task in ready[: jobs - len(running)]:
                waiting.remove(task)
                if _write_cached(task, folder, cache):
                    totals[task.stage] -= 1
                    made.add(task.output)
                    continue
                future = task.begun or pool.submit(
                    children.run, task.command, cwd=folder, environment=environment
                )
                running[future] = task
            finished, _ = wait(running, return_when=FIRST_COMPLETED) if running else ((), ())
            for future in finished:
                task = running.pop(future)
                completed, made_file = checked(task, future.result()), folder / task.output
                if not made_file.is_file():
                    status = f"exit status {completed.status}, but there is no {task.output}"
                    raise _failed(task, completed, status)
                seconds[task.stage] += completed.seconds
                if cache and task.kept_under:
                    with file_system_errors(f"read what the compiler wrote: {task.output}"):
                        cache.store_binary(task.kept_under, made_file.read_bytes())
                done[task.stage] += 1
                made.add(task.output)
                if progress is not None:
                    progress(task.stage, done[task.stage], totals[task.stage])
    return seconds


def _write_cached(task: Task, folder: Path, cache: Cache | None) -> bool:
    """Write the output of `task` from `cache`; return whether it was there."""
    content = cache.binary(task.kept_under) if cache and task.kept_under else None
    if content is None:
        return False
    with file_system_errors(f"write {task.output}"):
        write_new(folder / task.output, content)
    return True


def checked(task: Task, completed: Completed) -> Completed:
    """Return `completed`, or raise `CommandFailedError` with its output."""
    if completed.status:
        raise _failed(task, completed, describe_status(completed.status))
    return completed


def _failed(task: Task, completed: Completed, status: str) -> CommandFailedError:
    hint = "" if task.stage == "cython" else hint_for(completed.output)
    return CommandFailedError(task.action, task.command, status, completed.output, hint)
