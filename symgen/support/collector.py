"""Pause Python's cyclic garbage collector while millions of nodes are created.

The collector traverses all container objects each time enough new ones have been allocated.  In a
growing graph it frees nothing, yet takes as long as building the graph.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collector() -> Iterator[None]:
    """Disable collection inside the `with` block.

    On exit, move the new objects to the oldest generation, so that the next collection of young
    objects does not traverse them all.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not gc.get_freeze_count():
                gc.freeze()  # move all objects to the permanent generation, and from there
                gc.unfreeze()  # to the oldest one, without traversing them
            gc.enable()
