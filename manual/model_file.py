"""The reference of the keys of model files, from their published JSON schema."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from manual.notation import cell, code, table
from symgen.description.schema import json_schema

Node = Mapping[str, Any]

TITLES = {
    "robot": "The file",
    "JointTable": "A joint",
    "DhTable": "A DH row: `dh`",
    "PoseTable": "A pose: `origin`, `before`",
    "LinkTable": "A link: `link`",
    "InertiaTable": "An inertia: `inertia`",
    "LimitsTable": "Limits: `limits`",
    "ParameterTable": "A parameter",
    "OutputTable": "An output",
    "PointTable": "A load or a point",
    "LoopTable": "A loop",
    "LoopEndTable": "A frame of a loop: `first`, `second`",
    "InitialTable": "Where a motion begins: `initial`",
    "SpringTable": "A spring",
    "EndTable": "An end of a spring",
    "ForceTable": "A force",
    "NormalTable": "A tyre's normal force: `normal`",
    "SlipTable": "A tyre's slip forces: `slip`",
}
"""Headings, for whoever reads; a table that is not named here goes by its own name."""


def markdown() -> str:
    """A section for every mapping that a model file may contain."""
    schema = json_schema()
    tables = {"robot": schema, **schema["$defs"]}
    order = [*(name for name in TITLES if name in tables), *(n for n in tables if n not in TITLES)]
    return "\n".join(_section(name, tables[name]) for name in order)


def _section(name: str, node: Node) -> str:
    short = next((choice for choice in node.get("anyOf", ()) if "properties" not in choice), None)
    long = next((choice for choice in node.get("anyOf", ()) if "properties" in choice), node)
    required = set(long.get("required", ()))
    rows = [
        [
            code(key) + (" (required)" if key in required else ""),
            kind(value),
            cell(value.get("description", "")),
        ]
        for key, value in long["properties"].items()
    ]
    lines = [f"### {TITLES.get(name, name)}", "", cell(long.get("description", "")), ""]
    if short is not None:
        lines += [f"Its value alone ({kind(short)}) may stand in its place.", ""]
    return "\n".join([*lines, table(["key", "value", "meaning"], rows)])


def kind(node: Node) -> str:
    """What kind of value `node` of the schema takes, in words."""
    if "$ref" in node:
        return _link(node["$ref"].rpartition("/")[2])
    if "anyOf" in node:
        return " or ".join(dict.fromkeys(kind(choice) for choice in node["anyOf"]))
    if "enum" in node:
        return ", ".join(code(str(value)) for value in node["enum"])
    if "const" in node:
        return code(str(node["const"]))
    kinds = node.get("type", "any")
    if kinds == "array":
        length = f"{node['minItems']} " if node.get("minItems") == node.get("maxItems", -1) else ""
        return f"list of {length}{_several(kind(node.get('items', {})))}"
    if kinds == "object":
        return f"mapping: names to {_several(kind(node.get('additionalProperties') or {}))}"
    return _scalar(kinds if isinstance(kinds, list) else [kinds], node)


def _scalar(kinds: Sequence[str], node: Node) -> str:
    if set(kinds) == {"number", "string"}:
        return "number"
    words = {"string": "name" if "pattern" in node else "text", "boolean": "true or false"}
    return " or ".join(words.get(name, name) for name in kinds)


def _several(one: str) -> str:
    return f"{one}s" if one in ("number", "name") or one.endswith(")") else one


def _link(name: str) -> str:
    """A link to the section of the mapping `name`."""
    title = TITLES.get(name, name)
    slug = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
    words = title.partition(":")[0].removeprefix("An ").removeprefix("A ")
    return f"[{words}](#{slug})"
