"""File -> tree of YAML nodes with their lines.

ruamel.yaml scans and parses; the tree is composed here from its events, with an explicit stack.
This gives a line for every key and item, needs no recursion, resolves only the core types of YAML
1.2, constructs no objects, and can stop early.

Limits keep the reading within seconds: 4 MiB of file, 100,000 lines, 300,000 words, 50,000 escapes,
32 levels of nesting, 60,000 nodes.  An alias counts as often as it is used, so that a few lines
cannot expand into gigabytes; a function counts double, because its value is computed with many
digits.

The scanner uses terms of YAML, and often stops lines after the mistake.  `explained` words its
errors for people who do not know YAML, and looks for the mistake in the lines of the file.
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.scanner import Scanner, ScannerError

from symgen.description.wording import KeyPath, is_plain, key_path, shown
from symgen.errors import Fault, ModelError
from symgen.support.suggestions import nearest

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 32
FILE_STEP = 10_000_000
"""Offset of line numbers for every preceding file of a document."""
MAX_WEIGHT = 60_000  # nodes after expansion of aliases; a long text weighs more than a short one
MAX_LINES, MAX_WORDS, MAX_ESCAPES = 100_000, 300_000, 50_000
_CHARACTERS_PER_NODE = 20
_LONGEST_TAG = 200
_ENDINGS = (".yaml", ".yml")
_MOST_FILES = 1000  # maximum number of files of a folder searched for a similar name
_LINE_ENDS = ("\n", "\r", "\x85", "\u2028", "\u2029")


@dataclass(frozen=True)
class Scalar:
    """A scalar node: its text, and the YAML 1.2 core type of its text.

    `kind` is ``text``, ``int``, ``float``, ``bool`` or ``null``.
    """

    text: str
    kind: str
    line: int


@dataclass(frozen=True)
class Entry:
    """A key of a mapping: the line of the KEY, and the value (which may start further down)."""

    line: int
    value: Node


@dataclass(frozen=True)
class Table:
    """A YAML mapping."""

    entries: dict[str, Entry]
    line: int


@dataclass(frozen=True)
class Listing:
    """A YAML sequence."""

    items: tuple[Node, ...]
    line: int

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the items in key paths; "" for an item without a name of its own."""
        entries = [item.entries if isinstance(item, Table) else {} for item in self.items]
        values = [entry["name"].value if "name" in entry else None for entry in entries]
        names = [value.text if isinstance(value, Scalar) else "" for value in values]
        count = Counter(names)
        return tuple(name if count[name] == 1 and is_plain(name) else "" for name in names)


Node = Scalar | Table | Listing


@dataclass(frozen=True)
class Document:
    """A document: its file name, its tree, and faults that did not stop the reading.

    A document converted from another format has `places`, names of its parts in the words of that
    format, and `warnings` of the conversion.  A document of several files has `files`, of which
    `file` is the first: line numbers encode the file (`FILE_STEP`).
    """

    file: str
    root: Node
    faults: tuple[Fault, ...]
    warnings: tuple[Fault, ...] = ()
    places: Mapping[KeyPath, str] | None = None
    files: tuple[str, ...] = ()

    @property
    def foreign(self) -> bool:
        """Whether it was converted from another format."""
        return self.places is not None

    def key(self, path: KeyPath) -> str:
        """Return the name of a value in messages."""
        places, names = self.places or {}, self._with_names(path)
        for end in range(len(path), 0, -1):
            if path[:end] in places:
                return ".".join(filter(None, (places[path[:end]], key_path(names[end:]))))
        return key_path(names)

    def _with_names(self, path: KeyPath) -> KeyPath:
        """Replace indices by names of list items, except for the key `name` itself."""
        node: Node | None = self.root
        steps = []
        for step, below in zip(path, (*path[1:], ""), strict=False):
            name = ""
            if isinstance(node, Listing) and isinstance(step, int) and step < len(node.items):
                name = node.names[step] if below != "name" else ""
                node = node.items[step]
            elif isinstance(node, Table) and step in node.entries:
                node = node.entries[str(step)].value
            else:
                node = None
            steps.append(name or step)
        return tuple(steps)

    def where(self, path: KeyPath) -> tuple[str, int]:
        """Return the file and line of a key or list item."""
        return written(self.files or (self.file,), self.line(path))

    def line(self, path: KeyPath) -> int:
        """Return the line of a key or list item; of the nearest enclosing one if it is missing."""
        node, line = self.root, self.root.line
        for step in path:
            if isinstance(node, Table) and step in node.entries:
                entry = node.entries[str(step)]
                node, line = entry.value, entry.line
            elif isinstance(node, Listing) and isinstance(step, int) and step < len(node.items):
                node = node.items[step]
                line = node.line
            else:
                break
        return line


def written(files: Sequence[str], line: int) -> tuple[str, int]:
    """Decode a line number into the file and the line in it."""
    return files[line // FILE_STEP], line % FILE_STEP


def decode(content: bytes, file: str) -> Document:
    """Read the content of a YAML file; `ModelError` if it has no tree."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _stop(file, line, "not UTF-8; save the file in the encoding UTF-8") from None
    return compose(text, file)


def load(path: str | PathLike[str], meant: str = "a robot description such as robot.yaml") -> bytes:
    """Read a file of at most 4 MiB; `ModelError` if it cannot be read.

    `meant` describes the expected file in messages.
    """
    path, file = Path(path), fspath(path)
    try:
        # Devices and pipes could block, or never end.
        if not stat.S_ISREG(path.stat().st_mode):
            what = "a directory" if path.is_dir() else "not a regular file"
            expected = _model_beside(file) or f"; expected {meant}"
            raise _stop(file, 0, f"this is {what}{expected}")
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise _stop(file, 0, f"there is no such file{_model_beside(file)}") from None
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise _stop(file, 0, f"cannot be read: {reason}") from None
    if len(content) > MAX_BYTES:
        raise _stop(file, 0, "larger than 4 MiB, the limit of such a file")
    return content


def _model_beside(file: str) -> str:
    """The tail of a message about a missing file: one with another ending, or a similar name."""
    stem, ending = os.path.splitext(file)
    stems = (file, stem) if ending in _ENDINGS else (file,)
    for name in (stem + ending for stem in stems for ending in _ENDINGS):
        if name != file and os.path.isfile(name):  # never raises
            return f"; did you mean {shown(name)}?"
    return _model_of_a_similar_name(file)


def _model_of_a_similar_name(file: str) -> str:
    folder, name = os.path.split(file)
    stem, ending = os.path.splitext(name)
    try:
        with os.scandir(folder or ".") as entries:
            looked_at = [os.path.splitext(entry.name) for entry in islice(entries, _MOST_FILES)]
    except (OSError, ValueError):  # ValueError: a null byte in the path
        return ""
    endings = {base: end for base, end in sorted(looked_at) if end and end in (ending, *_ENDINGS)}
    meant = nearest(stem, endings)
    if meant is None:
        return ""
    return f"; did you mean {shown(os.path.join(folder, meant + endings[meant]))}?"


def _stop(file: str, line: int, message: str) -> ModelError:
    return ModelError([Fault(file, line, "", message)])


_KINDS = (  # the core schema of YAML 1.2; everything else is a text
    ("null", re.compile(r"~|null|Null|NULL|")),
    ("bool", re.compile(r"true|True|TRUE|false|False|FALSE")),
    ("int", re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")),
    (
        "float",
        re.compile(
            r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
            r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
        ),
    ),
)
_SURROGATE = re.compile("[\ud800-\udfff]")


def _kind(text: str) -> str:
    return next((kind for kind, pattern in _KINDS if pattern.fullmatch(text)), "text")


@dataclass
class _Frame:
    """A mapping or list under composition."""

    is_table: bool
    line: int
    anchor: str | None
    entries: dict[str, Entry] = field(default_factory=dict)
    items: list[Node] = field(default_factory=list)
    key: Node | None = None  # of a table: the key whose value comes next
    weight: int = 1
    height: int = 1

    @property
    def step(self) -> str | int:
        """The current key or index."""
        if not self.is_table:
            return len(self.items)
        return self.key.text if isinstance(self.key, Scalar) else "?"

    def done(self) -> Node:
        if self.is_table:
            return Table(self.entries, self.line)
        return Listing(tuple(self.items), self.line)


class _Composer:
    def __init__(self, file: str) -> None:
        self.file = file
        self.faults: list[tuple[int, KeyPath, str]] = []
        self.stack: list[_Frame] = []
        self.anchors: dict[str, tuple[Node, int, int]] = {}  # with weight and height
        self.root: Node | None = None
        self.documents = 0
        self.weight = 0  # of the whole file

    def fault(self, line: int, message: str, path: KeyPath | None = None) -> None:
        if path is None:
            path = tuple(frame.step for frame in self.stack)
        self.faults.append((line, path, message))

    def reported(self, document: Document) -> list[Fault]:
        return [
            Fault(self.file, line, document.key(path), text) for line, path, text in self.faults
        ]

    def stop(self, line: int, message: str) -> ModelError:
        without_tree = Document(self.file, Table({}, 0), ())
        return ModelError([*self.reported(without_tree), Fault(self.file, line, "", message)])

    def take(self, event: Any) -> None:
        line = event.start_mark.line + 1
        if isinstance(event, DocumentStartEvent):
            self.document(event, line)
        elif isinstance(event, AliasEvent):
            self.alias(event.anchor, line)
        elif isinstance(event, ScalarEvent):
            scalar = self.scalar(event, line)
            self.weight += _weight(scalar)
            self.finish(scalar, _weight(scalar), 0, event.anchor)
        elif isinstance(event, MappingStartEvent | SequenceStartEvent):
            self.tag(event, line)
            self.stack.append(_Frame(isinstance(event, MappingStartEvent), line, event.anchor))
            if len(self.stack) > MAX_DEPTH:
                raise self.stop(line, f"nested deeper than {MAX_DEPTH} levels")
        elif isinstance(event, MappingEndEvent | SequenceEndEvent):
            frame = self.stack.pop()
            self.finish(frame.done(), frame.weight, frame.height, frame.anchor)

    def document(self, event: Any, line: int) -> None:
        self.documents += 1
        if self.documents > 1:
            raise self.stop(line, "a second YAML document starts here; a model is one document")
        if event.version not in (None, (1, 2)):
            raise self.stop(line, "model files are YAML 1.2; remove the %YAML line")

    def tag(self, event: Any, line: int) -> None:
        if event.tag is not None:
            tag = shown(str(event.tag))
            self.fault(line, f"the YAML tag {tag} is not allowed; write the plain value")

    def scalar(self, event: Any, line: int) -> Scalar:
        self.tag(event, line)
        if _SURROGATE.search(event.value):
            raise self.stop(line, "an escape such as \\ud800 is half a character")
        return Scalar(event.value, _kind(event.value) if event.style is None else "text", line)

    def alias(self, anchor: str, line: int) -> None:
        if anchor not in self.anchors:
            raise self.stop(
                line, f"the alias {shown('*' + anchor)} names no anchor that is complete before it"
            )
        node, weight, height = self.anchors[anchor]
        if len(self.stack) + height > MAX_DEPTH:
            raise self.stop(line, f"aliases nest deeper than {MAX_DEPTH} levels")
        self.place(node, weight, height)

    def finish(self, node: Node, weight: int, height: int, anchor: str | None) -> None:
        self.place(node, weight, height)
        if anchor is not None:
            self.anchors[anchor] = node, weight, height

    def place(self, node: Node, weight: int, height: int) -> None:
        """Insert a finished node: as root, list item, key, or value of a key."""
        if not self.stack:
            self.root = node
            return
        frame = self.stack[-1]
        frame.weight += weight
        frame.height = max(frame.height, 1 + height)
        if max(frame.weight, self.weight) > MAX_WEIGHT:
            raise self.stop(
                frame.line,
                f"more than {MAX_WEIGHT} values (aliases are expanded, long texts count "
                "more); no robot is that large",
            )
        if not frame.is_table:
            frame.items.append(node)
        elif frame.key is None:
            frame.key = node
        else:
            self.entry(frame, frame.key, node)
            frame.key = None

    def entry(self, frame: _Frame, key: Node, value: Node) -> None:
        outer = tuple(outer.step for outer in self.stack[:-1])
        if isinstance(key, Scalar) and _is_number_alone(key, value):
            self.fault(
                key.line,
                f"{shown(key.text)} behind a ',' is no key; a decimal point is '.', and a list is "
                "written [x, y, z]",
                outer,
            )
        elif not isinstance(key, Scalar) or key.kind != "text":
            what = f"the key {shown(key.text)}" if isinstance(key, Scalar) else "this key"
            self.fault(key.line, f"{what} is not a text; keys are names", outer)
        elif key.text in frame.entries:
            first = frame.entries[key.text].line
            message = f"this key stands twice, first in line {first}; remove one of them"
            self.fault(key.line, message, (*outer, key.text))
        else:
            frame.entries[key.text] = Entry(key.line, value)


def _is_number_alone(key: Scalar, value: Node) -> bool:
    """Whether an entry is the rest of a number with a decimal comma: ``{mass: 1,5}``."""
    is_empty = isinstance(value, Scalar) and value.kind == "null" and not value.text
    return is_empty and key.kind in ("int", "float")


def _weight(node: Scalar) -> int:
    calls = node.text.count("(") + node.text.count("**")
    return 1 + len(node.text) // _CHARACTERS_PER_NODE + 2 * calls


def compose(text: str, file: str) -> Document:
    """Compose the tree of a YAML text; `file` is its name in messages."""
    _refuse_endless(text, file)
    composer = _Composer(file)
    yaml: Any = YAML(typ="safe", pure=True)
    yaml.Scanner = _Scanner
    try:
        for event in yaml.parse(text):
            composer.take(event)
    except MarkedYAMLError as error:
        line, message = explained(error, text.splitlines())
        raise composer.stop(line, message) from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise composer.stop(line, "a control character is not allowed in YAML") from None
    except (YAMLError, ValueError, OverflowError) as error:  # numeric escapes out of range, say
        raise composer.stop(0, f"malformed YAML: {error}") from None
    if composer.root is None or composer.root == Scalar("", "null", composer.root.line):
        raise composer.stop(0, "the file is empty; a model starts with 'symgen: 1'")
    document = Document(file, composer.root, ())
    return replace(document, faults=tuple(composer.reported(document)))


def _refuse_endless(text: str, file: str) -> None:
    """Refuse a text that would take the scanner long."""
    for what, count, most in (
        ("lines", sum(map(text.count, _LINE_ENDS)), MAX_LINES),
        ("words", len(text.split()), MAX_WORDS),
        ("escapes", text.count("\\"), MAX_ESCAPES),
    ):
        if count > most:
            raise _stop(file, 0, f"more than {most} {what}; no robot is that large")


class _Scanner(Scanner):
    """The scanner of ruamel.yaml, without quadratic time for long tags."""

    def fetch_tag(self) -> Any:
        if not any(self.reader.peek(ahead) in "\0 \t\r\n" for ahead in range(_LONGEST_TAG)):
            mark = self.reader.get_mark()
            raise ScannerError(None, None, f"a tag of more than {_LONGEST_TAG} characters", mark)
        return super().fetch_tag()


_NO_SPACE_AFTER_DASH = re.compile(r"\s*-[A-Za-z_]")
_NO_SPACE_AFTER_COLON = re.compile(r"\s*(?:- +)?[A-Za-z_]\w*:[^\s:]")
_NO_COLON = re.compile(r"\s*(?:- +)?[A-Za-z_]\w*(?: +[^\s:]+)?\s*")
_SECOND_COLON = re.compile(r"\s*(?:- +)?[^'\"{\[#:]+:\s+[^'\"{\[#]*?:(?:\s|$)")
_LISTS = (  # terms of the scanner, and plain words
    ("flow sequence", "list [...]"),
    ("flow mapping", "mapping {...}"),
    ("block collection", "list"),
    ("block sequence", "list"),
    ("block mapping", "mapping"),
    ("quoted scalar", "text in quotes"),
)


def explained(error: MarkedYAMLError, lines: Sequence[str]) -> tuple[int, str]:
    """Line (from 1; 0 if unknown) and message of a syntax error in a file of `lines`."""
    mark = error.problem_mark or error.context_mark
    line = 0 if mark is None else mark.line + 1
    start = 0 if error.context_mark is None else error.context_mark.line + 1
    problem = str(error.problem or error.context or "cannot be parsed")
    if "'\\t'" in problem:
        return line, "malformed YAML: a tab; YAML is indented with spaces"
    if "mapping values are not allowed" in problem:
        return line, f"malformed YAML: {_colon(lines, line)}"
    if "could not find expected ':'" in problem and start:
        return start, f"malformed YAML: {_colon(lines, start + 1)}"
    if "cannot start any token" in problem:
        return line, f"malformed YAML: {problem}; a text that starts with it needs quotes"
    if "end of stream" in problem and "quoted" in str(error.context):
        return start, "malformed YAML: this quote is never closed"
    context = str(error.context or "")
    what = next((ours for theirs, ours in _LISTS if theirs in context), "")
    explanation = _structure(problem, what, start)
    if not explanation and start:
        explanation = f"{problem} ({context} that starts in line {start})"
    return line, f"malformed YAML: {explanation or problem}"


def _colon(lines: Sequence[str], line: int) -> str:
    """Describe a ':' too many or too few in a line or the previous one."""
    current, before = _line(lines, line), _line(lines, line - 1)
    if _SECOND_COLON.match(current):
        return "a second ':' in the line; a text with a ':' needs quotes"
    for number, text in ((line - 1, before), (line, current)):
        if _NO_SPACE_AFTER_DASH.match(text):
            return f"a space is missing after '-' in line {number}"
        if _NO_SPACE_AFTER_COLON.match(text):
            return f"a space is missing after ':' in line {number}"
    if before.strip() and _NO_COLON.fullmatch(before.partition(" #")[0]):
        return f"a ':' is missing in line {line - 1}"
    return (
        "a ':' that no key stands before (texts with a ':' need quotes), or an indentation that "
        "does not fit the line before"
    )


def _line(lines: Sequence[str], number: int) -> str:
    return lines[number - 1] if 0 < number <= len(lines) else ""


def _structure(problem: str, what: str, start: int) -> str:
    """Describe a list or mapping that does not continue or end properly; "" for other problems."""
    structure = f"the {what} that starts in line {start}"
    if not what or not start:
        return ""
    if problem.startswith("expected ',' or"):
        bracket = "]" if "]" in problem else "}"
        return f"a ',' or the closing '{bracket}' is missing before this, in {structure}"
    if "expected <block end>" in problem:
        return (
            f"this does not continue {structure}: entries of one list or mapping begin in the same "
            "column, and nothing follows a text in quotes"
        )
    return ""
