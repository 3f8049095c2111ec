"""Nodes of a model file, made rather than read: what other formats are turned into."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from symgen.description.foreign.rotations import Pose, to_rpy
from symgen.description.inertia import ENTRIES, indefinite
from symgen.description.reading import Entry, Listing, Node, Scalar, Table


def text(words: str, line: int) -> Scalar:
    """A name or a text."""
    return Scalar(words, "text", line)


def table(entries: Mapping[str, Node | None], line: int) -> Table:
    """A mapping, without what is None."""
    given = {key: Entry(node.line, node) for key, node in entries.items() if node is not None}
    return Table(given, line, *_size(entry.value for entry in given.values()))


def listing(items: Sequence[Node] | None, line: int) -> Listing | None:
    """A list; None where there is none."""
    return None if items is None else Listing(tuple(items), line, *_size(items))


def inertia(entries: Sequence[Scalar], line: int) -> Table:
    """A tensor from its entries, xx, yy, zz, xy, xz, yz.

    One that no body can have is said to be meant: CAD programs write such.
    """
    values = [float(entry.text) for entry in entries]
    given = {key: x for key, x in zip(ENTRIES, entries, strict=True) if float(x.text) != 0.0}
    finite = all(map(math.isfinite, values))
    meant = Scalar("true", "bool", line) if finite and indefinite(values) else None
    return table({**given, "accepted": meant}, line)


def triple(entries: Iterable[float], line: int) -> Node | None:
    """A vector; None where all of it is zero, which is the default."""
    values = [float(x) + 0.0 for x in entries]
    return listing([Scalar(repr(x), "float", line) for x in values], line) if any(values) else None


def massless(name: str, line: int) -> Table:
    """A link without mass."""
    return table({"name": text(name, line)}, line)


def name_of(link: Table) -> str:
    """The name of a link."""
    name = link.entries["name"].value
    return name.text if isinstance(name, Scalar) else ""


def joint_node(
    name: str,
    kind: str,
    parent: str,
    pose: Pose,
    link: Table,
    line: int,
    more: Mapping[str, Node | None] | None = None,
) -> Table:
    """A joint with its link; `pose` is that of its frame in the link frame of its parent."""
    origin = {"xyz": triple(pose.at.tolist(), line), "rpy": triple(to_rpy(pose.turn), line)}
    return table(
        {
            "name": text(name, line),
            "type": text(kind, line),
            "parent": text(parent, line),
            "origin": table(origin, line),
            **(more or {}),
            "link": link,
        },
        line,
    )


def _size(nodes: Iterable[Node]) -> tuple[int, int]:
    """Weight and height of what holds `nodes`."""
    weight, height = 1, 1
    for node in nodes:
        inner = (1, 0) if isinstance(node, Scalar) else (node.weight, node.height)
        weight, height = weight + inner[0], max(height, 1 + inner[1])
    return weight, height
