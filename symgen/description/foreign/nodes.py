"""Nodes of a model file, made rather than read: what other formats are turned into."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from symgen.description.foreign.rotations import Pose, to_rpy
from symgen.description.inertia import ENTRIES, indefinite
from symgen.description.model import names_made
from symgen.description.names import BASE, illegal_name
from symgen.description.reading import Entry, Listing, Node, Scalar, Table
from symgen.description.schema import MAX_NAME
from symgen.description.wording import shown
from symgen.joints import ON_MANIFOLDS, JointType, OnManifold, joint_type


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


# ------------------------------------------------------------------------------------------ kinds


def kind_of(name: str, angles: bool) -> JointType:
    """The type called `name`; free and ball joints have quaternions, unless `angles` are wanted."""
    on_manifolds = (kind for kind in ON_MANIFOLDS if kind.name == name and not angles)
    return next(on_manifolds, None) or joint_type(name)


def representation_of(kind: JointType, line: int) -> Scalar | None:
    """What a model file says of its coordinates; None where that is the default."""
    return text(kind.representation, line) if isinstance(kind, OnManifold) else None


# ------------------------------------------------------------------------------------------ legal


_ILLEGAL = re.compile(r"[^A-Za-z0-9_]+")
_ROOM = 12
"""Characters that are left for a kind, a number, and that of a coordinate."""

_MOST_REPORTED = 40


class LegalNames:
    """A name space; `changed` lists kind, former and new name of all that were changed."""

    def __init__(self, own: Iterable[str] = ()) -> None:
        """`own` are the names of the file: no name that is made up takes one of them."""
        self._own = {name for name in own if is_legal(name)}
        self._given: set[str] = set()
        self._numbers: Counter[str] = Counter()
        self.changed: list[tuple[str, str, str]] = []

    def new(self, kind: str, name: str, joint: JointType | None = None) -> str:
        """The name of a `kind` (joint, link) that the file calls `name`.

        `joint` is the type of a joint: the names made for its coordinates are taken, too.
        """
        fits = all(len(x) <= MAX_NAME for x in _made(name, joint))
        if is_legal(name) and fits and self._is_free(name, joint, own=True):
            return self._take(name, joint)
        legal = self.made(kind, name, joint)
        self.changed.append((kind, name, legal))
        return legal

    def made(self, kind: str, name: str, joint: JointType | None = None) -> str:
        """A name like `name` for something that has none in the file."""
        similar = _similar(kind, name)
        for candidate in (similar, f"{similar}_{kind}"):
            if self._is_free(candidate, joint):
                return self._take(candidate, joint)
        while True:
            self._numbers[similar] += 1
            candidate = f"{similar}_{self._numbers[similar] + 1}"
            if self._is_free(candidate, joint):
                return self._take(candidate, joint)

    def report(self) -> str:
        """What was changed, in words."""
        shown_ones = self.changed[:_MOST_REPORTED]
        words = ", ".join(f"{kind} {shown(old)} is {new}" for kind, old, new in shown_ones)
        more = len(self.changed) - len(shown_ones)
        behind = f", and {more} more" if more else ""
        return f"names that are not identifiers, or are taken, were changed: {words}{behind}"

    def _is_free(self, name: str, joint: JointType | None, own: bool = False) -> bool:
        others = _made(name, joint)
        if name in self._given or any(x in self._given or x in self._own for x in others):
            return False
        return own or name not in self._own

    def _take(self, name: str, joint: JointType | None) -> str:
        self._given.update((name, *_made(name, joint)))
        return name


def _made(name: str, joint: JointType | None) -> tuple[str, ...]:
    return () if joint is None else names_made(name, joint)


def name_of_robot(name: str, names: LegalNames) -> str:
    """The name of the robot, which has a name space of its own; ``robot`` where it has none."""
    legal = LegalNames().made("robot", name.strip()) if name.strip() else "robot"
    if legal != name:
        names.changed.append(("robot", name, legal))
    return legal


def is_legal(name: str) -> bool:
    """Whether `name` may stand as it is, with the number of a coordinate behind it."""
    return name != BASE and len(name) <= MAX_NAME - 2 and illegal_name(name) is None


def _similar(kind: str, name: str) -> str:
    """The legal name that is nearest to `name`."""
    plain = _ILLEGAL.sub("_", name)[: MAX_NAME - 2 * _ROOM]
    if not plain[:1].isalpha():
        plain = f"{kind}_{plain.lstrip('_')}".rstrip("_")
    return plain if is_legal(plain) else f"{plain}_{kind}"
