"""Joints that close loops, by what they forbid: rows, each a product that is 0.

A loop is a joint between two links of a tree.  Each of the two frames has an origin and three unit
vectors: the axis of the joint, and u and v, which are what the shortest rotation that takes z to
the axis makes of x and y.  A row is a pair of vectors whose product the joint keeps at 0, such as
``("u", "axis")``: u of the first frame, the axis of the second.  `GAP` is the way from the origin
of the first to that of the second; ``x``, ``y`` and ``z`` are the axes of the base.  Rows of that
form are polynomials in the poses of the links.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

GAP = "gap"
BASE_AXES = ("x", "y", "z")
FRAME_AXES = ("u", "v", "axis")

Row = tuple[str, str]

TOGETHER: tuple[Row, ...] = tuple((axis, GAP) for axis in BASE_AXES)
"""The origins of both frames are one point."""
PARALLEL: tuple[Row, ...] = (("u", "axis"), ("v", "axis"))
"""The axes are parallel."""


def shared_axes(rows: Sequence[Row]) -> tuple[str, ...]:
    """Axes that both frames share where the loop is closed.

    Products are 0 after half a turn, too: PARALLEL where the axes are opposite, and ("u", "v")
    with it after half a turn about any of the three axes.  Points, distances and right angles
    have no such roots.
    """
    if not set(PARALLEL) <= set(rows):
        return ()
    return FRAME_AXES if ("u", "v") in rows else FRAME_AXES[-1:]


def row_names(loop: str, rows: Sequence[Row]) -> tuple[str, ...]:
    """``closure_x``, ``closure_u_axis``; the name of the loop alone where it has one row."""
    if len(rows) == 1:
        return (loop,)
    named = (first if second == GAP else f"{first}_{second}" for first, second in rows)
    return tuple(f"{loop}_{name}" for name in named)


@runtime_checkable
class Closing(Protocol):
    """A type of joint that can close a loop."""

    name: str
    forbids: tuple[Row, ...]
    """The rows that are 0 where the loop is closed."""


class Distance:
    """A constant distance between two points that closes a loop, like a thin rod.

    The row is the square of the way between the points, less the square of the length: a
    polynomial.  No joint of a tree is of that type.
    """

    name = "distance"
    forbids: tuple[Row, ...] = ((GAP, GAP),)
