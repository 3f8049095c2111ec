"""Switch interval of threads that wait for processes while another one computes.

A thread that returns from a system call waits until the computing thread releases the interpreter
lock, by default every 5 ms.  A hundred files and processes would then start seconds late.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

PROMPT = 1e-4
"""Switch interval in seconds; a switch takes some microseconds."""

_lock = threading.Lock()
_inside = 0
_before = 0.0


@contextmanager
def prompt_threads() -> Iterator[None]:
    """Shorten the switch interval inside the `with` block, until the last such block ends."""
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
