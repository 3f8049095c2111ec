"""The fixed joint: no motion.  Its link is merged into its parent before anything is derived."""

from __future__ import annotations

from symgen.algebra.interface import S
from symgen.joints.interface import Chain, Directions


class Fixed:
    """See the module."""

    name = "fixed"
    coordinates = 0
    moved_entry = ""
    keys: tuple[str, ...] = ("dh",)
    sequences: tuple[str, ...] = ()

    def chain(self, directions: Directions[S]) -> Chain[S]:
        """Nothing moves."""
        return ()
