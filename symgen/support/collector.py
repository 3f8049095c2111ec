"""Pauses of Python's cyclic garbage collector while millions of nodes are made.

The collector traverses all reachable objects whenever enough new ones were made.  In a growing
graph this finds nothing, and costs as much as the work itself.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collector() -> Iterator[None]:
    """Disable collection inside the `with` block.

    Afterwards, objects made inside count as old, so that they are not all traversed at once.
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
