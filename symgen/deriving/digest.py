"""Digest of a model: of the content that generated code depends on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from symgen.description.expressions import Expression
from symgen.description.model import RobotDescription, Source
from symgen.joints import ANGLES


def model_hash(description: RobotDescription) -> str:
    """SHA-256 of a description without file names, lines and comments."""
    text = json.dumps(_plain(description), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


_AS_WITHOUT_THE_KEY: tuple[tuple[str, object], ...] = (
    ("mimic", None), ("representation", ANGLES), ("rest", ()), ("actuated", True), ("loops", ()),
    ("relations", ()), ("initial", {}), ("initial_drives", ()), ("springs", ()), ("forces", ()),
    ("law", None), ("energy", None), ("wheel", None), ("natural", None), ("is_natural", False),
    ("file_names", {}),
)  # fmt: skip


def _plain(value: Any) -> Any:
    if isinstance(value, Expression):
        return value.text
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if is_dataclass(value):
        return {
            field.name: _plain(getattr(value, field.name))
            for field in fields(value)
            if field.name not in ("file", "warnings", "names_drives")
            and not isinstance(getattr(value, field.name), Source)
            and (field.name, getattr(value, field.name)) not in _AS_WITHOUT_THE_KEY
        }
    return value
