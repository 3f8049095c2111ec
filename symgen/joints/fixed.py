"""The fixed joint: no motion.  Its link is merged into its parent before anything is derived."""

from __future__ import annotations

from symgen.algebra.interface import S
from symgen.joints.closing import PARALLEL, TOGETHER, Row
from symgen.joints.interface import Chain, Directions


class Fixed:
    """See the module."""

    name = "fixed"
    coordinates = 0
    moved_entry = ""
    keys: tuple[str, ...] = ("dh",)
    sequences: tuple[str, ...] = ()
    forbids: tuple[Row, ...] = (*TOGETHER, *PARALLEL, ("u", "v"))

    def chain(self, directions: Directions[S]) -> Chain[S]:
        """Nothing moves."""
        return ()
