"""Steps that take milliseconds and must not be left half done by Ctrl-C.

Python runs the handler of a signal between any two calls of the main thread, so `try ... finally`
alone is not enough: the signal may come before the `try`, or when the `finally` has just begun.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""The signals that ask a program to end."""


class DeferredSignals:
    """Signals that wait for the end of a step."""

    def __init__(self, handlers: Mapping[int, Callable[[int, FrameType | None], Any]]) -> None:
        self._handlers = handlers
        self._arrived: list[int] = []
        self._held = True

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._held:
            self._arrived.append(number)
        else:
            self._handlers[number](number, frame)

    def _restore(self) -> None:
        """Put the former handlers back; if one of them ends this, `_handle` calls the others."""
        try:
            for number, handler in self._handlers.items():
                signal.signal(number, handler)
        finally:
            self._held = False

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Let signals through in a `with` block, the waiting one first."""
        self._held = False
        try:
            self._deliver()
            yield
        finally:
            self._held = True

    def _deliver(self) -> None:
        if self._arrived:
            number, self._arrived = self._arrived[0], []
            signal.raise_signal(number)


@contextmanager
def deferred_signals() -> Iterator[DeferredSignals]:
    """Defer signals that ask this program to end until the `with` block is left.

    Long work in it belongs under `DeferredSignals.heard`.  Only Python handlers are deferred, in
    the main thread, where they run: a signal without one, such as SIGKILL, ends the program.
    """
    if threading.current_thread() is not threading.main_thread():
        yield DeferredSignals({})
        return
    handlers = {number: signal.getsignal(number) for number in ENDING}
    signals = DeferredSignals({n: handler for n, handler in handlers.items() if callable(handler)})
    try:
        for number in signals._handlers:
            signal.signal(number, signals._handle)
        yield signals
    finally:
        signals._restore()
    signals._deliver()
