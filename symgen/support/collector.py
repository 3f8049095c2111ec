"""Python's cyclic garbage collector, paused while millions of nodes are made.

The collector walks through everything that lives whenever enough new objects have been made.  A
growing graph is all alive, so the walks find nothing, and cost as much as the work itself.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collector() -> Iterator[None]:
    """No collection inside; afterwards the collector works as before.

    Objects made inside then count as old, so that not all are walked through at once.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not gc.get_freeze_count():
                gc.freeze()  # everything into a generation of its own, and from there
                gc.unfreeze()  # into the oldest: neither looks at an object
            gc.enable()
