"""`symgen convert`: a robot in another format as a model file.

The text is laid out as if written by hand: lists of numbers and short mappings are in one line.  It
is read again and checked before the file is written.
"""

from __future__ import annotations

import io
import os
import re
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from symgen.converting.restyling import restyled
from symgen.converting.starter import SUFFIXES
from symgen.description.checks import check, read_document
from symgen.description.reading import Document, Entry, Listing, Node, Scalar, Table, decode
from symgen.description.scalars import rounded_from
from symgen.description.wording import shown
from symgen.errors import Fault, RequestError
from symgen.options import UNCHANGED, ReadOptions
from symgen.toolchain.files import check_replaceable, replace_file


@dataclass(frozen=True)
class Conversion:
    """A file that was written, its number of coordinates, and warnings."""

    target: Path
    n: int
    warnings: tuple[Fault, ...]
    pose_error: float | None = None
    """Largest error of an entry of a link's pose after a change of style."""

    def as_json(self) -> dict[str, Any]:
        """Return the conversion as plain data."""
        return {
            "file": str(self.target),
            "n": self.n,
            "pose_error": self.pose_error,
            "warnings": [asdict(warning) for warning in self.warnings],
        }


def convert(
    source: str | Path,
    target: Path,
    round_angles: bool = False,
    style: str | None = None,
    force: bool = False,
    *,
    reading: ReadOptions = UNCHANGED,
) -> Conversion:
    """Write the robot in the file `source` as the model file `target`.

    Args:
        source: file in any format.
        target: model file.
        round_angles: replace angles of frames near a multiple of pi/2 (relative 1e-4) by this.
        style: frame style, see `symgen.converting.restyling`.
        force: replace an existing file.
        reading: options of reading.

    Raises:
        ModelError: `source` is faulty.
        RequestError: `target` is `source`, exists (unless `force`) or cannot be written.
    """
    _check_target(target, source, force)
    document = read_document(source, reading)
    if round_angles:
        document = replace(document, root=_with_exact_angles(document.root))
    warnings, error = check(document).warnings, None
    if style is not None:
        document, error = restyled(document, style)
    description = check(document)
    heading = f"Made by symgen convert from {shown(Path(source).name)}."
    text = model_text(document, heading)
    check(decode(text.encode(), str(target)))
    replace_file(target, text.encode())
    n = len(description.coordinate_names)
    return Conversion(target, n, warnings, error)


def _with_exact_angles(node: Node, key: str = "") -> Node:
    """Replace the rpy of all frames near multiples of pi/2 by these."""
    if isinstance(node, Table):
        entries = {
            name: replace(entry, value=_with_exact_angles(entry.value, name))
            for name, entry in node.entries.items()
        }
        return replace(node, entries=entries)
    if isinstance(node, Listing):
        return replace(node, items=tuple(_with_exact_angles(item, key) for item in node.items))
    plain = key == "rpy" and node.kind == "float"
    meant = rounded_from(float(node.text)) if plain else None
    return node if meant is None else Scalar(meant, "text", node.line)


def _check_target(target: Path, source: str | Path, force: bool) -> None:
    """Refuse a target that is no model file, is `source`, or exists unless `force` is set."""
    if target.suffix not in SUFFIXES:
        raise RequestError(f"{target} is no name for a model file; expected one such as arm.yaml")
    check_replaceable(target, (source,))
    if os.path.lexists(target) and not force:
        raise RequestError(f"{target} is there already; choose another name, or add --force")


_IN_ONE_LINE = ("dh", "before", "origin", "limits", "inertia", "mimic")
"""Keys of mappings that are written in one line."""
_WIDE = 1_000_000
_TAG = "tag:yaml.org,2002:"
_BARE_POINT = re.compile(r"^([-+]?)\.(?=[0-9])")
"""``.5e3`` is a number, but not for every reader of YAML."""


def model_text(document: Document, heading: str = "") -> str:
    """Return the YAML of a document; `heading` becomes comments above it."""
    yaml: Any = YAML()
    yaml.width = _WIDE
    yaml.indent(mapping=2, sequence=4, offset=2)
    stream = io.StringIO()
    yaml.serialize(_node(document.root, False), stream)
    comments = "".join(f"# {line}".rstrip() + "\n" for line in heading.splitlines())
    return comments + stream.getvalue()


def _node(node: Node, in_line: bool) -> Any:
    if isinstance(node, Scalar):
        return _scalar(node)
    if isinstance(node, Listing):
        short = all(isinstance(item, Scalar) for item in node.items)
        items = [_node(item, in_line) for item in node.items]
        return SequenceNode(f"{_TAG}seq", items, flow_style=short or in_line)
    pairs = [_pair(key, entry, in_line) for key, entry in node.entries.items()]
    return MappingNode(f"{_TAG}map", pairs, flow_style=in_line or not pairs)


def _pair(key: str, entry: Entry, in_line: bool) -> tuple[Any, Any]:
    short = in_line or (isinstance(entry.value, Table) and key in _IN_ONE_LINE)
    return _scalar(Scalar(key, "text", 0)), _node(entry.value, short)


def _scalar(node: Scalar) -> Any:
    text = _BARE_POINT.sub(r"\g<1>0.", node.text) if node.kind == "float" else node.text
    plain_integer = text.lstrip("+-").isdigit()
    kind = {"text": "str", "float": "int" if plain_integer else "float"}.get(node.kind, node.kind)
    return ScalarNode(_TAG + kind, text)
