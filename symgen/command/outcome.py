"""Outcome of a command: its output as tables or JSON, its exit status, arguments for a shell."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symgen.errors import ModelError, RequestError, SymgenError, ToolchainError, ValidationError

if TYPE_CHECKING:
    from symgen.support.journal import Journal

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


@dataclass(frozen=True)
class Output:
    """Form of the output of a command: text, JSON, or nothing if it is `quiet`."""

    as_json: bool
    quiet: bool

    def journal(self) -> AbstractContextManager[Journal]:
        """Return a journal that shows progress on a terminal, for text."""
        from symgen.command import terminal

        return terminal.journal(silent=self.quiet or self.as_json)

    def write(
        self,
        data: Callable[[], Mapping[str, Any]],
        printed: Callable[[], None],
        journal: Journal | None = None,
    ) -> None:
        """Write `data` as JSON with the notices of `journal`, or call `printed` for text."""
        if self.as_json:
            click.echo(text(data(), journal.notices if journal else ()))
        elif not self.quiet:
            printed()


def text(data: Mapping[str, Any], notices: Sequence[str] = ()) -> str:
    """Return the result of a command as JSON, with notices; numbers not finite become null."""
    said = {**data, "notices": data.get("notices", notices)}
    return json.dumps(_finite(said), indent=2, allow_nan=False)


def error_text(error: BaseException, status: int, message: str) -> str:
    """Return an error as JSON: ``error`` with status, kind, message, faults of the model file."""
    kind = next((name for cls, name in KINDS if isinstance(error, cls)), INTERNAL)
    faults = error.faults if isinstance(error, ModelError) else ()
    listed = [asdict(fault) for fault in faults]
    data: dict[str, Any] = {"status": status, "kind": kind, "message": message, "faults": listed}
    if isinstance(error, ValidationError):
        data["validation"] = _validation(error)
    return json.dumps(_finite({"error": data}), indent=2, allow_nan=False)


def exit_status(error: SymgenError | click.ClickException) -> int:
    """Return the exit status of a program that ends with this error."""
    return error.exit_status if isinstance(error, SymgenError) else error.exit_code


def _validation(error: ValidationError) -> dict[str, Any] | None:
    from symgen.pipeline.build_report import validation_json
    from symgen.validation.validate import ValidationResult

    result = error.result
    return validation_json(result) if isinstance(result, ValidationResult) else None


def _finite(value: Any) -> Any:
    """Return `value` with None for numbers that are not finite, which JSON lacks."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def as_argument(path: Path) -> str:
    """Return a path quoted for a shell, and distinct from an option."""
    text = str(path)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)
