"""An XML file -> a tree of elements with their lines.

The parser is expat, of the standard library.  A document type is refused where it begins, because
only document types can define entities, by which XML expands or fetches content.  Comments and
processing instructions have no meaning in these formats and are ignored.

In a robot of several files, line numbers encode the file: `FILE_STEP` times the number of the file
(0 for the file of the user) is added.

Further limits: 256 levels of nesting, 100,000 elements.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Never, TypeVar
from xml.parsers import expat

from symgen.description.reading import FILE_STEP, Scalar, written
from symgen.description.wording import in_line, shown
from symgen.errors import Fault, ModelError
from symgen.support.suggestions import nearest

MAX_DEPTH = 256
_UTF16 = (BOM_UTF16_LE, BOM_UTF16_BE)
_LONGEST_PADDING = 1000
MAX_ELEMENTS = 100_000
_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_DECIMAL_COMMA = re.compile(r"(?<!\S)[-+]?[0-9]+,[0-9]+(?!\S)")
_EXPRESSION = re.compile(r"pi\b|sqrt|[0-9] *[*/]", re.IGNORECASE)
INFINITE = ("inf", "+inf", "-inf", "infinity", "+infinity", "-infinity")
_MOST_FAULTS = 200
_MOST_LISTED = 8
MOST_JOINTS = 3000
"""Maximum number of joints of a robot in another format."""


@dataclass
class Element:
    """An element: its name with any prefix, its attributes, its children in order, its own text."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, tag: str) -> Iterator[Element]:
        """The children of that name."""
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Element | None:
        """Return the first child of that name."""
        return next(self.all(tag), None)


def read_xml(content: bytes, file: str, number_of_file: int = 0) -> Element:
    """Parse a file; the root element, or `ModelError`."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    reader = _Reader(file, parser, FILE_STEP * number_of_file)
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.characters
    parser.StartDoctypeDeclHandler = reader.doctype
    parser.EntityDeclHandler = reader.doctype
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise stop(file, error.lineno, f"malformed XML: {reader.explained(error)}") from None
    except (LookupError, ValueError):
        raise stop(file, 1, "malformed XML: an encoding that is not known here") from None
    if reader.root is None:  # expat finds a root or an error
        raise stop(file, 0, "malformed XML: no element found")
    return reader.root


def without_padding(content: bytes) -> tuple[bytes, list[str]]:
    """Remove illegal characters at both ends, which some programs write; return warnings, too.

    Blanks before the XML declaration are moved after it, so that lines keep their numbers.
    """
    if content.startswith(_UTF16):
        return content, []
    remarks = []
    body = content.rstrip(b"\0")
    if body != content:
        remarks.append("NUL characters at the end are left out")
    start = body[:_LONGEST_PADDING].find(b"<?xml")
    ahead = body[: max(start, 0)]
    if ahead not in (b"", BOM_UTF8) and not ahead.replace(BOM_UTF8, b"").strip():
        end = body.find(b"?>", start) + 2 if b"?>" in body else start
        body = body[start:end] + ahead.replace(BOM_UTF8, b"") + body[end:]
        remarks.append("blanks or byte-order marks stand before <?xml, where XML allows none")
    return body, remarks


def stop(file: str, line: int, message: str) -> ModelError:
    """Return the error about a file that cannot be read any further."""
    return ModelError([Fault(file, line, "", message)])


class _Reader:
    def __init__(self, file: str, parser: expat.XMLParserType, first_line: int) -> None:
        self.file, self.parser, self.first_line = file, parser, first_line
        self.root: Element | None = None
        self.open: list[Element] = []
        self.texts: list[list[str]] = []
        self.count = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, self.first_line + self.parser.CurrentLineNumber)
        self.count += 1
        if self.count > MAX_ELEMENTS:
            raise self.stop(f"more than {MAX_ELEMENTS} elements; no robot is that large")
        if len(self.open) >= MAX_DEPTH:
            raise self.stop(f"nested deeper than {MAX_DEPTH} levels")
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)
        self.texts.append([])

    def characters(self, words: str) -> None:
        if self.texts:
            self.texts[-1].append(words)

    def end(self, tag: str) -> None:
        self.open.pop().text = "".join(self.texts.pop()).strip()

    def doctype(self, *_: object) -> Never:
        raise self.stop("a document type (<!DOCTYPE ...>) is not allowed; remove it")

    def explained(self, error: expat.ExpatError) -> str:
        """Explain a syntax error to people who do not know XML."""
        words = expat.errors.messages[error.code]
        if words == expat.errors.XML_ERROR_INVALID_TOKEN:
            return f'{words}; a value needs quotes, as in name="arm", and & is written &amp;'
        if self.root is None:
            expected = "expected <robot>, <sdf> or <mujoco> (URDF, SDF, MJCF) around all of it"
            return f"{words}; {expected}"
        if words == expat.errors.XML_ERROR_TAG_MISMATCH and self.open:
            tag, line = in_line(self.open[-1].tag), self.open[-1].line
            return f"{words}: <{tag}> of line {line} ends with </{tag}>, or is written <{tag} .../>"
        if words == expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT:
            root = in_line(self.root.tag)
            return f"{words}: everything stands in <{root}>, which ends before this"
        return words

    def stop(self, message: str) -> ModelError:
        return stop(self.file, self.parser.CurrentLineNumber, message)


def place(key: str) -> str:
    """Return the name of a part of the file in messages, truncated and printable."""
    kind, dot, rest = key.partition(".")
    name, behind = (rest, "") if rest.count(".") == 0 else rest.rsplit(".", 1)
    return f"{kind}{dot}{in_line(name)}{'.' if behind else ''}{in_line(behind)}"


def line_of(element: Element) -> int:
    """Return the line of an element in its file, for messages."""
    return element.line % FILE_STEP


class Faults:
    """Faults and warnings of an XML file; `key` names the part of the file.

    `files` are the file and its includes, in the order of their numbers.
    """

    def __init__(self, file: str, files: Sequence[str] = ()) -> None:
        self.files = files or (file,)
        self.warnings: list[Fault] = []
        self._faults: dict[Fault, None] = {}  # as an ordered set
        self._repeated: dict[str, tuple[int, int]] = {}  # place in the warnings, and repetitions
        self._hints = _MOST_FAULTS

    def add(self, element: Element, key: str, message: str) -> None:
        """Record a fault."""
        if len(self._faults) < _MOST_FAULTS:
            self._faults[self._at(element, key, message)] = None

    def warn(self, element: Element, key: str, message: str) -> None:
        """Record a warning; equal ones are counted at the first."""
        if message in self._repeated:
            at, repetitions = self._repeated[message]
            words = f"{message} ({repetitions + 1} more like it)"
            self.warnings[at] = replace(self.warnings[at], message=words)
            self._repeated[message] = at, repetitions + 1
        elif len(self.warnings) < _MOST_FAULTS:
            self._repeated[message] = len(self.warnings), 0
            self.warnings.append(self._at(element, key, message))

    def _at(self, element: Element, key: str, message: str) -> Fault:
        return Fault(*written(self.files, element.line), place(key), message)

    def nearest(self, word: str, words: Iterable[str]) -> str | None:
        """Return the nearest word; None after a maximum number of searches, which take time."""
        self._hints -= 1
        return nearest(word, words) if self._hints >= 0 else None

    def hint(self, word: str, words: Collection[str]) -> str:
        """The tail of a message about an unknown word: the nearest known one, or all of a few."""
        candidate = self.nearest(word, words)
        if candidate is not None:
            return f"; did you mean {shown(candidate)}?"
        few = 0 < len(words) <= _MOST_LISTED
        return f"; there are {', '.join(map(in_line, words))}" if few else ""

    def __iter__(self) -> Iterator[Fault]:
        return iter(self._faults)

    def __bool__(self) -> bool:
        """Whether a fault was recorded."""
        return bool(self._faults)

    def raise_if_any(self) -> None:
        """Raise `ModelError` with all faults, if there are any."""
        if self._faults:
            raise ModelError(list(self._faults))

    def text(self, element: Element, attribute: str, key: str) -> str:
        """Return a required attribute; "", and a fault, if it is missing."""
        value = element.attributes.get(attribute, "").strip()
        if not value:
            example = f'<{element.tag} {attribute}="...">'
            message = f"<{element.tag}> needs the attribute {attribute!r}, as in {example}"
            self.add(element, key, message)
        return value

    def numbers(
        self, element: Element | None, attribute: str, key: str, count: int
    ) -> list[Scalar] | None:
        """Return the numbers of an attribute; None if it is missing or faulty."""
        if element is None or attribute not in element.attributes:
            return None
        return self.numbers_in(element, element.attributes[attribute], f"{attribute}: ", key, count)

    def numbers_in(
        self, element: Element, text: str, what: str, key: str, count: int
    ) -> list[Scalar] | None:
        """Return the numbers of a text of an element; None if it is faulty."""
        words = text.split()
        if len(words) != count or not all(map(_is_number, words)):
            expected = "a number" if count == 1 else f"{count} numbers with spaces between them"
            message = f"{what}expected {expected}, found {shown(text)}{_advice(text)}"
            self.add(element, key, message)
            return None
        return [number(word, element.line) for word in words]

    def number(self, element: Element | None, attribute: str, key: str) -> Scalar | None:
        """Return the number of an attribute; None if it is missing or faulty."""
        numbers = self.numbers(element, attribute, key, 1)
        return None if numbers is None else numbers[0]


def _advice(written: str) -> str:
    """Return the tail of a message about a text that is not a number."""
    if "${" in written or "$(" in written:
        return "; this is xacro, which has to be expanded first: xacro FILE > FILE.urdf"
    if _DECIMAL_COMMA.search(written):
        return "; a decimal point is '.'"
    return "; there are no expressions in this format" if _EXPRESSION.search(written) else ""


def _is_number(word: str) -> bool:
    """Whether `word` is a finite float64."""
    return bool(_NUMBER.fullmatch(word)) and abs(float(word)) != float("inf")


def number(value: str | float, line: int) -> Scalar:
    """Return a number as a node of a model file: as written, or with all its digits."""
    return Scalar(value if isinstance(value, str) else repr(value), "float", line)


def without_infinite(attributes: Mapping[str, str]) -> dict[str, str]:
    """Return the attributes that are not infinite, because infinite limits do not limit."""
    return {k: x for k, x in attributes.items() if x.strip().lower() not in INFINITE}


def values(numbers: list[Scalar]) -> list[float]:
    """Return the numbers as floats."""
    return [float(x.text) for x in numbers]


Numbers = TypeVar("Numbers", bound=Scalar | list[Scalar])


def unless_zero(value: Numbers | None) -> Numbers | None:
    """Return a number or a vector, or None for zero, which is the default."""
    entries = value if isinstance(value, list) else [value]
    return value if any(float(entry.text) for entry in entries if entry) else None
