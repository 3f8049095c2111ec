"""Progress, notices and timings of long work."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

Progress = Callable[[str, int, int], None]
"""Callback with the current activity, the number of steps done, and the total, or 0."""


def silent(_what: str, _done: int, _total: int) -> None:
    """Show no progress."""


@dataclass
class Journal:
    """Journal of a build while it runs: progress, notices, seconds by stage."""

    progress: Progress = silent
    notify: Callable[[str], None] = lambda message: None
    notices: list[str] = field(default_factory=list)
    shown: set[str] = field(default_factory=set)
    seconds: dict[str, float] = field(default_factory=dict)

    def notice(self, message: str, at_once: bool = False) -> None:
        """Keep a message for the end of the work, and show it at once if asked to."""
        self.notices.append(message)
        if at_once:
            self.shown.add(message)
            self.notify(message)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage and announce it."""
        self.progress(name, 0, 0)
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
