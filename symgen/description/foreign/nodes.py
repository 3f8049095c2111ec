"""Nodes and names of a model file, generated from other formats.

Legal names of other formats stay, others are changed, always in the same way: illegal characters
become '_', and the later of two equal names gets its kind or a number appended.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from symgen.description.foreign.rotations import HERE, Pose, to_rpy
from symgen.description.foreign.xml import MOST_JOINTS, Element, Faults, number, place, stop
from symgen.description.inertia import ENTRIES, indefinite
from symgen.description.model import names_made
from symgen.description.names import BASE, illegal_name
from symgen.description.reading import Document, Entry, Listing, Node, Scalar, Table
from symgen.description.schema import MAX_NAME, is_file_name
from symgen.description.wording import KeyPath, shown
from symgen.joints import ON_MANIFOLDS, JointType, OnManifold, joint_type

Content: TypeAlias = "Node | str | float | Sequence[Content] | Mapping[str, Content | None]"
"""A node, or a text, a number, a list or a mapping that becomes one."""
Entries: TypeAlias = "Mapping[str, Content | None]"


def node(value: Content, line: int) -> Node:
    """Return contents as nodes in one line, numbers with all their digits."""
    if isinstance(value, Scalar | Table | Listing):
        return value
    if isinstance(value, str):
        return Scalar(value, "text", line)
    if isinstance(value, int):
        return Scalar(str(value), "int", line)
    if isinstance(value, float):
        return number(float(value), line)
    if isinstance(value, Mapping):
        return table(value, line)
    return Listing(tuple(node(item, line) for item in value), line)


def plain(node: Node) -> Any:
    """Return the dict, list or scalar of a node, without lines of mappings and lists."""
    if isinstance(node, Table):
        return {key: plain(entry.value) for key, entry in node.entries.items()}
    return [plain(item) for item in node.items] if isinstance(node, Listing) else node


def table(entries: Entries, line: int) -> Table:
    """Return a mapping, without entries that are None."""
    nodes = {key: node(value, line) for key, value in entries.items() if value is not None}
    return Table({key: Entry(value.line, value) for key, value in nodes.items()}, line)


def inertia(entries: Sequence[Scalar], line: int) -> Table:
    """Return a tensor from its entries, xx, yy, zz, xy, xz, yz.

    An indefinite tensor, as CAD programs write, is marked as accepted.
    """
    values = [float(entry.text) for entry in entries]
    nonzero = {key: x for key, x in zip(ENTRIES, entries, strict=True) if float(x.text) != 0.0}
    finite = all(map(math.isfinite, values))
    meant = Scalar("true", "bool", line) if finite and indefinite(values) else None
    return table({**nonzero, "accepted": meant}, line)


def triple(entries: Iterable[float], line: int) -> Node | None:
    """Return a vector; None if it is zero, which is the default."""
    values = [float(x) + 0.0 for x in entries]
    return node(values, line) if any(values) else None


def name_of(link: Table) -> str:
    """Return the name of a link."""
    name = link.entries["name"].value
    return name.text if isinstance(name, Scalar) else ""


def joint_node(
    name: str,
    kind: str,
    parent: str,
    pose: Pose,
    link: Table | None,
    line: int,
    more: Entries | None = None,
) -> Table:
    """Return a joint with its link; `pose` is the pose of its frame in the parent's link frame."""
    origin = pose_node(pose, line)
    entries: Entries = {"name": name, "type": kind, "parent": parent, "origin": origin}
    return table({**entries, **(more or {}), "link": link}, line)


def pose_node(pose: Pose, line: int) -> Table:
    """Return a pose, without entries that are zero."""
    return table({"xyz": triple(pose.at, line), "rpy": triple(to_rpy(pose.turn), line)}, line)


class Edge(Protocol):
    """A joint of the file, as an edge of the tree of links."""

    @property
    def child(self) -> str:
        """Name of the child link."""


E = TypeVar("E", bound=Edge)


def depth_first(carried: Mapping[str, list[E]], *roots: str) -> Iterator[E]:
    """Yield the joints below links, depth first; `carried` maps links to the joints on them."""
    waiting = [joint for root in roots for joint in carried.get(root, [])][::-1]
    while waiting:
        joint = waiting.pop()
        yield joint
        waiting += carried.get(joint.child, [])[::-1]


def kind_of(name: str, angles: bool) -> JointType:
    """The type called `name`; free and ball joints have quaternions unless `angles` is set."""
    on_manifolds = (kind for kind in ON_MANIFOLDS if kind.name == name and not angles)
    return next(on_manifolds, None) or joint_type(name)


def representation_of(kind: JointType) -> str | None:
    """Return the key ``coordinates`` of a joint; None for the default."""
    return kind.representation if isinstance(kind, OnManifold) else None


FLOATING_BASE = "floating_base"
"""The joint between the base and the root link of a floating robot."""
_ILLEGAL = re.compile(r"[^A-Za-z0-9_]+")
_ROOM = 12
"""Characters reserved for a kind, a number, and the number of a coordinate."""
_MOST_REPORTED = 3


class LegalNames:
    """A name space; `changed` lists kind, former and new name of all changed names."""

    def __init__(self, written: Iterable[str] = ()) -> None:
        """`written` are the names of the file, which generated names avoid."""
        self._in_file = {name for name in written if is_legal(name)}
        self._reserved: set[str] = set()
        self._numbers: Counter[str] = Counter()
        self.changed: list[tuple[str, str, str]] = []

    def new(self, kind: str, name: str, joint: JointType | None = None) -> str:
        """Return the legal name of a `kind` (joint, link) with the name `name` in the file.

        `joint` is the type of a joint: the names of its coordinates are reserved, too.
        """
        fits = all(len(x) <= MAX_NAME for x in _made(name, joint))
        if is_legal(name) and fits and self._is_free(name, joint, from_file=True):
            return self._take(name, joint)
        legal = self.made(kind, name, joint)
        self.changed.append((kind, name, legal))
        return legal

    def made(self, kind: str, name: str, joint: JointType | None = None) -> str:
        """Generate a name similar to `name`."""
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
        """Return the message about changed names."""
        first = self.changed[:_MOST_REPORTED]
        words = ", ".join(f"{kind} {shown(old)} is {new}" for kind, old, new in first)
        more = len(self.changed) - len(first)
        why = "because they are not valid identifiers or were already in use"
        more_words = f", and {more} more; file_names of the module has those of joints and links"
        return f"some names were changed {why}: {words}{more_words if more else ''}"

    def _is_free(self, name: str, joint: JointType | None, from_file: bool = False) -> bool:
        made = _made(name, joint)
        if name in self._reserved or any(x in self._reserved or x in self._in_file for x in made):
            return False
        return from_file or name not in self._in_file

    def _take(self, name: str, joint: JointType | None) -> str:
        self._reserved.update((name, *_made(name, joint)))
        return name


def _made(name: str, joint: JointType | None) -> tuple[str, ...]:
    return () if joint is None else names_made(name, joint)


def is_legal(name: str) -> bool:
    """Whether `name` is legal, also with the number of a coordinate appended."""
    return name != BASE and len(name) <= MAX_NAME - 2 and illegal_name(name) is None


def _similar(kind: str, name: str) -> str:
    """Return the legal name that is nearest to `name`."""
    plain = _ILLEGAL.sub("_", name)[: MAX_NAME - 2 * _ROOM]
    if not plain[:1].isalpha():
        plain = f"{kind}_{plain.lstrip('_')}".rstrip("_")
    return plain if is_legal(plain) else f"{plain}_{kind}"


def point_node(name: str, link: str, at: Iterable[float], line: int) -> Table:
    """Return a point of a link, in its frame (m)."""
    return table({"name": name, "link": link, "point": [float(x) + 0.0 for x in at]}, line)


class Assembly:
    """Builds the document of a robot in another format.

    `written` are the names of joints and links in the file; `places` are the names of parts of the
    document in messages.
    """

    def __init__(self, faults: Faults, written: Iterable[str]) -> None:
        self.faults, self.names = faults, LegalNames(written)
        self.joints: list[Node] = []
        self.places: dict[KeyPath, str] = {}
        self.base = BASE
        """Name of the base in the file."""

    def add(self, joint: Table, key: str, link_key: str = "") -> None:
        """Add a joint; `key` and `link_key` are its name and its link's name in messages."""
        if len(self.joints) >= MOST_JOINTS:
            message = f"more than {MOST_JOINTS} joints; no robot is that large"
            raise stop(self.faults.files[0], 0, message)
        at = len(self.joints)
        self.places["joints", at] = place(key)
        if link_key:
            self.places["joints", at, "link"] = place(link_key)
        self.joints.append(joint)

    def add_floating_base(self, angles: bool, link: Table | None, key: str, line: int) -> None:
        """Add the floating joint between the base and the root link."""
        kind = kind_of("floating", angles)
        name, more = self.names.made("joint", FLOATING_BASE, kind), representation_of(kind)
        joint = joint_node(name, kind.name, BASE, HERE, link, line, {"coordinates": more})
        self.add(joint, key, key)

    def document(
        self,
        root: Element,
        name: str,
        gravity: Node | None = None,
        **sections: Sequence[Node] | Entries,
    ) -> Document:
        """Return the document of a robot called `name`, with all `sections` that are not empty.

        The checks of the document add to its faults.

        Its name is in a separate name space; ``robot`` if it has none.
        """
        line = root.line
        legal = LegalNames().made("robot", name.strip()) if name.strip() else "robot"
        if legal != name:
            self.names.changed.append(("robot", name, legal))
        if self.names.changed:
            self.faults.warn(root, "", self.names.report())
        names = {new: old for kind, old, new in self.names.changed if kind in ("joint", "link")}
        if self.base != BASE:
            names[BASE] = self.base
        written = {new: old for new, old in names.items() if is_file_name(old)}
        content = {
            "symgen": 1,
            "name": legal,
            "gravity": gravity,
            "joints": self.joints,
            **{key: nodes or None for key, nodes in sections.items()},
            "file_names": written or None,
        }
        files = tuple(self.faults.files)
        warnings = tuple(self.faults.warnings)
        faults = tuple(self.faults)
        return Document(files[0], table(content, line), faults, warnings, self.places, files)
