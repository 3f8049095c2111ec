"""A document -> the text of a model file, laid out as one writes it by hand.

Lists of numbers, and mappings that hold nothing but numbers and names, stand in one line.
"""

from __future__ import annotations

import io
import re
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from symgen.description.reading import Document, Entry, Listing, Node, Scalar, Table

_IN_ONE_LINE = ("dh", "before", "origin", "limits", "inertia", "mimic")
"""Mappings that are short by their nature."""
_WIDE = 1_000_000
_TAG = "tag:yaml.org,2002:"
_BARE_POINT = re.compile(r"^([-+]?)\.(?=[0-9])")
"""``.5e3`` is a number, but not for every reader of YAML."""


def model_text(document: Document, heading: str = "") -> str:
    """The YAML of a document; `heading` becomes comments above it."""
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
