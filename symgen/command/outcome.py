"""How a command ends: its exit status, its ``--json`` output, and what to type next."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from symgen.errors import ModelError, RequestError, SymgenError, ToolchainError, ValidationError

KINDS: tuple[tuple[type[BaseException], str], ...] = (
    (ModelError, "model"),
    (RequestError, "request"),
    (click.ClickException, "request"),
    (ValidationError, "validation"),
    (ToolchainError, "toolchain"),
    (KeyboardInterrupt, "interrupted"),
    (click.Abort, "interrupted"),
)
INTERNAL = "internal"
"""A fault of symgen itself."""


def text(data: Mapping[str, Any], notices: Sequence[str] = ()) -> str:
    """The result of a command as JSON, with its notices; null where a number is not finite."""
    said = {**data, "notices": data.get("notices", notices)}
    return json.dumps(_finite(said), indent=2, allow_nan=False)


def error_text(error: BaseException, status: int, message: str) -> str:
    """An error as JSON: ``error`` with status, kind, message, faults of the model file."""
    kind = next((name for cls, name in KINDS if isinstance(error, cls)), INTERNAL)
    faults = error.faults if isinstance(error, ModelError) else ()
    data: dict[str, Any] = {
        "status": status,
        "kind": kind,
        "message": message,
        "faults": [asdict(fault) for fault in faults],
    }
    if isinstance(error, ValidationError):
        data["validation"] = _validation(error)
    return json.dumps(_finite({"error": data}), indent=2, allow_nan=False)


def exit_status(error: SymgenError | click.ClickException) -> int:
    """The status that the error ends the program with."""
    return error.exit_status if isinstance(error, SymgenError) else error.exit_code


def _validation(error: ValidationError) -> dict[str, Any] | None:
    from symgen.pipeline.build_report import validation_json
    from symgen.validation.validate import ValidationResult

    result = error.result
    return validation_json(result) if isinstance(result, ValidationResult) else None


def _finite(value: Any) -> Any:
    """`value` without what JSON has no word for."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def as_argument(path: Path) -> str:
    """A path as a shell takes it, and not for an option."""
    text = str(path)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)
