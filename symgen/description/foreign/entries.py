"""Tables of the entries of a format, and the walk that holds a document against its table.

A table lists every element and attribute of the published description of a format with its use:

| use | meaning |
| --- | --- |
| read | the model has it |
| no effect | it does not act on the dynamics: looks, contacts, sensors, settings of simulators |
| left out | it acts, and there is no key for it: a warning says what it would have changed |
| refused | the numbers would be useless without it: a fault |

A line of a table is a path of elements and attributes of the last one, ``robot/joint @name @type``;
``...`` behind a path stands for everything within that is not listed.  Of what is left out
the line says at which values it has no effect, and what it would have changed:
``link/gravity = true 1 : the link would have no weight``.

What a document has beside the table is named in a warning, with what may be meant.  Entries of one
kind are one warning, with the place of the first and how many there are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from symgen.description.foreign.xml import Element, Faults, line_of
from symgen.description.wording import in_line, shown

_MOST_NAMED = 6
_NAMES_OF_PARTS = ("link", "joint", "transmission", "body", "model", "world", "frame")


class Use(StrEnum):
    """The use of an entry of a format."""

    READ = "read"
    NO_EFFECT = "no effect"
    LEFT_OUT = "left out"
    REFUSED = "refused"


@dataclass(frozen=True)
class Entry:
    """An element or attribute: its use; where it acts, the effect and the values without any."""

    use: Use
    effect: str = ""
    neutral: tuple[str, ...] = ()


@dataclass(frozen=True)
class Format:
    """The table of a format, from one text of lines for each use.

    Elements called as one of `parts` start a path of their own wherever they stand.
    """

    name: str
    read: str
    no_effect: str
    left_out: str = ""
    refused: str = ""
    parts: tuple[str, ...] = ()
    entries: dict[str, Entry] = field(default_factory=dict)
    """Of each path, ``robot/joint`` or ``robot/joint@name``."""
    whole: set[str] = field(default_factory=set)
    """Paths of elements whose content has the use of the element."""
    opened: set[str] = field(default_factory=set)
    """Paths of elements with others or attributes in the table."""

    def __post_init__(self) -> None:
        texts = (self.read, self.no_effect, self.left_out, self.refused)
        for use, text in zip(Use, texts, strict=True):
            for line in filter(str.strip, text.splitlines()):
                self._take(use, line)
        for path in self.entries:
            element, _, attribute = path.partition("@")
            parents = element.split("/")
            self.opened.update("/".join(parents[:k]) for k in range(1, len(parents)))
            self.opened.update([element] if attribute else [])

    def _take(self, use: Use, line: str) -> None:
        names, _, effect = line.partition(" : ")
        names, _, neutral = names.partition(" = ")
        path, *attributes = names.split()
        entry = Entry(use, effect.strip(), tuple(neutral.split()))
        if attributes == ["..."]:
            self.whole.add(path)
            attributes = []
        if not attributes:
            self.entries[path] = entry
        self.entries.setdefault(path, entry)
        self.entries.update((f"{path}{attribute}", entry) for attribute in attributes)

    def entry(self, path: str) -> Entry | None:
        """The entry of a path; None where the table has none."""
        if path in self.entries:
            return self.entries[path]
        element = path.partition("@")[0]
        while element:
            if element in self.whole:
                return self.entries[element]
            element = element.rpartition("/")[0]
        return None

    def below(self, path: str, element: Element) -> str:
        """The path of a child of the element at `path`."""
        return element.tag if element.tag in self.parts else f"{path}/{element.tag}"

    def known(self, path: str, mark: str) -> list[str]:
        """Names of the children (`mark` is ``/``) or attributes (``@``) of an element."""
        start = path + mark
        behind = (name[len(start) :] for name in self.entries if name.startswith(start))
        names = [name for name in behind if "/" not in name and "@" not in name]
        return names if mark == "@" else [*names, *self.parts]


@dataclass
class _Walk:
    """A walk over a document; `unknown` is what the format does not have, with its first place."""

    table: Format
    faults: Faults
    unknown: dict[str, Element] = field(default_factory=dict)

    def visit(self, top: Element, path: str, key: str, apart: Collection[str]) -> None:
        """Hold an element and all within against the table, but for children called `apart`."""
        waiting = [(top, path, key)]
        while waiting:
            element, path, key = waiting.pop()
            named = element.tag in _NAMES_OF_PARTS and element.attributes.get("name")
            if element is not top and (named or not key):
                key = f"{element.tag}.{named}" if named else element.tag
            self.hold(element, path, element.text, key)
            closed = path not in self.table.opened and path not in self.table.entries
            if closed or (path in self.table.whole and path not in self.table.opened):
                continue  # of one use, or unknown, as a whole
            for name, value in element.attributes.items():
                if not name.startswith("xmlns"):
                    self.hold(element, f"{path}@{name}", value, key)
            inner = [x for x in reversed(element.children) if x.tag not in apart]
            waiting += [(x, self.table.below(path, x), key) for x in inner]

    def hold(self, element: Element, path: str, value: str, key: str) -> None:
        """An element or an attribute with its value."""
        entry = self.table.entry(path)
        if entry is None:
            self.take_unknown(element, path, key)
        elif entry.effect and not _is_neutral(value, entry.neutral):
            words = f"{_written(path)} is left out: {entry.effect}"
            if entry.use == Use.REFUSED:
                self.faults.add(element, key, f"{_written(path)}: {entry.effect}")
            else:
                self.faults.warn(element, key, words)

    def take_unknown(self, element: Element, path: str, key: str) -> None:
        """An entry that the format does not have."""
        if "@" in path:
            of, _, name = path.rpartition("@")
            meant = self.faults.nearest(name, self.table.known(of, "@"))
            words = f"{shown(name)} is left out; did you mean {shown(meant)}?" if meant else ""
        else:
            of, _, tag = path.rpartition("/")
            meant = self.faults.nearest(tag, self.table.known(of, "/"))
            words = f"<{in_line(tag)}> is left out; did you mean <{meant}>?" if meant else ""
        if words:
            key = key if "@" not in path else f"{key}.{element.tag}"
            self.faults.warn(element, key, words)
        else:
            self.unknown.setdefault(_written(path), element)

    def report_unknown(self) -> None:
        """Warn once of all that the format does not have."""
        if self.unknown:
            names = [f"{x} (line {line_of(element)})" for x, element in self.unknown.items()]
            more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
            words = f"not part of {self.table.name}, and left out: "
            first = next(iter(self.unknown.values()))
            self.faults.warn(first, "", words + ", ".join(names[:_MOST_NAMED]) + more)


def remark(
    table: Format,
    tops: Iterable[tuple[Element, str, str]],
    faults: Faults,
    apart: Collection[str] = (),
) -> None:
    """Warn of what a document has that is left out, and record faults of what is refused.

    Args:
        table: the format's.
        tops: elements with their paths and the words that messages call them by.
        faults: takes the warnings and faults.
        apart: names of elements that are not walked into: they are tops themselves.
    """
    walk = _Walk(table, faults)
    for element, path, key in tops:
        walk.visit(element, path, key, apart)
    walk.report_unknown()


def counts(table: Format) -> dict[Use, int]:
    """Entries of a table by use."""
    uses = [entry.use for entry in table.entries.values()]
    return {use: uses.count(use) for use in Use}


def rows(table: Format) -> Iterator[tuple[str, Use, str]]:
    """Element with its attributes, use and effect, for a page of documentation."""
    lines: dict[tuple[str, Use, str], list[str]] = {}
    for path, entry in table.entries.items():
        element, _, attribute = path.partition("@")
        lines.setdefault((element, entry.use, entry.effect), []).extend(filter(None, [attribute]))
    for (element, use, effect), attributes in lines.items():
        inner = " and all within" if element in table.whole and not attributes else ""
        yield f"`{element}`{inner}" + "".join(f" `@{x}`" for x in attributes), use, effect


def _written(path: str) -> str:
    """A path as messages call it: the element, or the attribute of the element."""
    element, _, attribute = path.partition("@")
    tag = in_line(element.rpartition("/")[2])
    return f"{shown(attribute)} of <{tag}>" if attribute else f"<{tag}>"


def _is_neutral(value: str, neutral: tuple[str, ...]) -> bool:
    """Whether a value has no effect: one of the neutral ones, or all numbers zero for ``0``."""
    words = value.lower().split()
    if neutral == ("",):
        return not words
    return bool(neutral) and all(word in neutral or _zero(word, neutral) for word in words)


def _zero(word: str, neutral: tuple[str, ...]) -> bool:
    try:
        return "0" in neutral and float(word) == 0.0
    except ValueError:
        return False
