"""Threads that wait for processes beside one that computes.

A thread that comes back from the system, where it has written a file or started a process, waits
for the one that computes until Python makes that one let go: every 5 ms by default.  So a hundred
files and processes begin seconds later than they could.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

PROMPT = 1e-4
"""Seconds between two turns, which take some microseconds to change."""

_lock = threading.Lock()
_inside = 0
_before = 0.0


@contextmanager
def prompt_threads() -> Iterator[None]:
    """Threads take turns more often inside, as often as before when the last one has left."""
    global _inside, _before
    with _lock:
        if not _inside:
            _before = sys.getswitchinterval()
            sys.setswitchinterval(min(PROMPT, _before))
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                sys.setswitchinterval(_before)
