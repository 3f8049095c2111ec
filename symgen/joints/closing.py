"""Joints that close loops, described by rows: scalar products that the joint keeps at 0.

A loop is a joint between two links of a tree.  Each of the two frames has an origin and three unit
vectors: the axis of the joint, and u and v, the images of x and y under the shortest rotation of z
to the axis.  A row is a pair of vectors whose product is 0, such as ``("u", "axis")``: u of the
first frame, the axis of the second.  `GAP` is the vector from the origin of the first frame to the
origin of the second; ``x``, ``y`` and ``z`` are the axes of the base.  Such rows are polynomials in
the poses of the links.
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

    Products are also 0 after half a turn: PARALLEL for opposite axes, together with ("u", "v")
    after half a turn about any of the three axes.  Points, distances and right angles have no such
    roots.
    """
    if not set(PARALLEL) <= set(rows):
        return ()
    return FRAME_AXES if ("u", "v") in rows else FRAME_AXES[-1:]


def row_names(loop: str, rows: Sequence[Row]) -> tuple[str, ...]:
    """Names such as ``closure_x``, ``closure_u_axis``; the name of the loop if it has one row."""
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

    The row is the squared distance between the points minus the squared length, a polynomial.  No
    joint of a tree has this type.
    """

    name = "distance"
    forbids: tuple[Row, ...] = ((GAP, GAP),)
