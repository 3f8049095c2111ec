"""The shape of a model file as a JSON schema, by which editors complete keys and mark mistakes.

It is made from the tables of `symgen.description.schema`, and written so that editors that know
draft 7 alone understand it.  It tells less than the checks do: what two values have to do with each
other, and what stands in an expression, is checked by reading the file.
"""

from __future__ import annotations

from typing import Any

from symgen.description.schema import OutputTable, ParameterTable, RobotTable

SHORT_FORM = (ParameterTable, OutputTable)
"""Tables in whose place the value alone may stand."""


def json_schema() -> dict[str, Any]:
    """Return the schema of a model file."""
    schema = _simplified(RobotTable.model_json_schema())
    tables = schema["$defs"]
    for table in SHORT_FORM:
        value = tables[table.__name__]["properties"]["value"]
        tables[table.__name__] = {"anyOf": [value, tables[table.__name__]]}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A robot for symgen",
        **schema,
    }


def _simplified(node: Any) -> Any:
    """Without pydantic's titles, and without null, which stands for a missing key."""
    if isinstance(node, list):
        return [_simplified(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: _simplified(value) for key, value in node.items() if not _is_noise(key, value)}
    choices = [choice for choice in node.pop("anyOf", []) if choice != {"type": "null"}]
    if len(choices) == 1:
        node = {**choices[0], **node}
    elif choices:
        node["anyOf"] = choices
    if "prefixItems" in node:  # three of the same, in words of draft 7
        node["items"] = node.pop("prefixItems")[0]
    return node


def _is_noise(key: str, value: Any) -> bool:
    return (key == "title" and isinstance(value, str)) or (key == "default" and value is None)
