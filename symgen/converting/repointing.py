"""Points of links in new frames of these: loads, points, ends of springs, where forces act.

A point that is named stays so, for the point of that name is written anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.description.expressions import evaluate
from symgen.description.foreign.nodes import listing
from symgen.description.foreign.rotations import inverse
from symgen.description.model import LinkPoint, RobotDescription
from symgen.description.reading import Entry, Listing, Node, Scalar, Table

Array = NDArray[Any]

_TINY = 1e-12
_ZERO = 1e-15


def with_points(root: Table, description: RobotDescription, moved: Mapping[str, Array]) -> Table:
    """The document with its points in the new frames; `moved` are poses of these in the old ones,
    by link."""
    points = _Points(description.parameter_values, moved)
    for key in ("loads", "points"):
        root = _with_items(root, key, [[point] for point in getattr(description, key)], points)
    root = _with_items(root, "springs", [spring.ends for spring in description.springs], points)
    return _with_items(root, "forces", [[force.at] for force in description.forces], points)


def _with_items(
    root: Table, key: str, places: Sequence[Sequence[LinkPoint]], points: _Points
) -> Table:
    """One list of the document; `places` has the points of every item."""
    entry = root.entries.get(key)
    if entry is None or not isinstance(entry.value, Listing):
        return root
    pairs = zip(entry.value.items, places, strict=True)
    items = [points.written(node, own) for node, own in pairs]
    value = listing(items, entry.line) or Scalar("", "null", entry.line)
    return replace(root, entries={**root.entries, key: Entry(entry.line, value)})


class _Points:
    """Writes points anew; `values` are those of the parameters."""

    def __init__(self, values: Mapping[str, float], moved: Mapping[str, Array]) -> None:
        self.values, self.moved = values, moved

    def written(self, node: Node, places: Sequence[LinkPoint]) -> Node:
        """An item of a list: a point itself, or what has several `between`."""
        ends = node.entries.get("between") if isinstance(node, Table) else None
        if isinstance(node, Table) and ends is not None and isinstance(ends.value, Listing):
            items = [self._point(*pair) for pair in zip(ends.value.items, places, strict=True)]
            value = listing(items, ends.line) or Scalar("", "null", ends.line)
            return replace(node, entries={**node.entries, "between": Entry(ends.line, value)})
        return self._point(node, places[0])

    def _point(self, node: Node, point: LinkPoint) -> Node:
        pose = self.moved[point.link]
        given = node.entries.get("point") if isinstance(node, Table) else None
        is_named = given is not None and isinstance(given.value, Scalar)
        if not isinstance(node, Table) or is_named or np.abs(pose - np.eye(4)).max() < _TINY:
            return node
        back = inverse(pose)
        old = np.array([evaluate(x, self.values) for x in point.point])
        at = back[:3, :3] @ old + back[:3, 3]
        numbers = [
            Scalar("0", "int", node.line) if abs(x) < _ZERO else Scalar(repr(x), "float", node.line)
            for x in at.tolist()
        ]
        value = listing(numbers, node.line) or Scalar("", "null", node.line)
        return replace(node, entries={**node.entries, "point": Entry(node.line, value)})
