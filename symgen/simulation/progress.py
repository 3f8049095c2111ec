"""Progress of a simulation: who asked for it hears of it now and then."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from symgen.errors import RequestError

Told = Callable[[float, float], object]
"""What hears of progress: the time that the motion has come to, and its last (s)."""

INTERVAL = 0.1
"""At least so long between two calls (s), so that progress costs nothing."""


class Progress:
    """Tells `told` how far a motion until `end` has come; of the end itself always."""

    def __init__(self, told: Told | None, start: float, end: float) -> None:
        self.told, self.furthest, self.end = told, float(start), float(end)
        self.due = time.monotonic() + INTERVAL

    def __call__(self, t: float) -> None:
        """The motion has come to the time t; trials of an integrator may fall back behind it."""
        if self.told is None or not t > self.furthest:
            return
        self.furthest = min(float(t), self.end)
        now = time.monotonic()
        if now >= self.due:
            self.due = now + INTERVAL
            self.told(self.furthest, self.end)

    def finish(self) -> None:
        """The motion has come to its end."""
        if self.told is not None:
            self.told(self.end, self.end)


def checked_progress(told: Any, start: float, end: float) -> Progress:
    """RequestError for what is no function."""
    if told is not None and not callable(told):
        raise RequestError(
            f"simulate: progress: expected a function of (t, end), or None; got {told!r}"
        )
    return Progress(told, start, end)
