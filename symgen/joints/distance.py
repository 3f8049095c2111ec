"""The distance: what closes a loop between two points a constant length apart, like a thin rod.

The row is the square of the way between the points, less the square of the length: a polynomial.
No joint of a tree is of that type.
"""

from __future__ import annotations

from symgen.joints.closing import GAP, Row


class Distance:
    """See the module."""

    name = "distance"
    forbids: tuple[Row, ...] = ((GAP, GAP),)
