"""Tell errors in printed sources from errors of the compiler, and keep the sources.

An error that gcc, clang, or Cython reports at a line of a file of the bundle, or for a symbol of
the package, means that symgen printed invalid code.  Missing headers, unknown options, signals, and
full disks do not name such a line, or are known by their wording: for these
`symgen.toolchain.compiler.hint_for` says what to install.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass

from symgen.emit.bundle import SourceBundle
from symgen.errors import ToolchainError
from symgen.toolchain.cache import Cache
from symgen.toolchain.processes import CommandFailedError

_AT_A_LINE = re.compile(r"^(?P<file>[^\s:]+):(?P<line>\d+):(?:\d+:)? ?(?P<words>.*)$", re.M)
_UNRESOLVED = re.compile(r"(?:undefined (?:reference to|symbol)|multiple definition of)\W*(\w+)")
_ENVIRONMENT = re.compile(
    r"No such file or directory|file not found|internal compiler error|[Nn]o space left|"
    r"[Oo]ut of memory|[Cc]annot allocate|virtual memory exhausted"
)
"""Causes outside the sources that some compilers report at a line of them."""


class PrintedSourceError(CommandFailedError):
    """A compiler refused a source that symgen printed."""


@dataclass(frozen=True)
class _Place:
    """A file of the bundle, and the function in it, as ``formulation.function``, where known."""

    file: str
    function: str

    def __str__(self) -> str:
        return f"{self.function} in {self.file}" if self.function else self.file


def explained(error: CommandFailedError, bundle: SourceBundle, cache: Cache) -> CommandFailedError:
    """Return `error`, or a `PrintedSourceError` where the fault is in a file of `bundle`.

    Args:
        error: the failure of a command that read files of `bundle`, or linked what they became.
        bundle: the printed sources.
        cache: keeps the sources for a report.
    """
    place = _place(error.output, bundle)
    if place is None:
        return error
    compiler = os.environ.get("CC", "").strip()
    printer = "the templates of --templates or of symgen" if bundle.has_own_templates else "symgen"
    lines = [
        f"this is a fault of {printer}, not of your model or compiler: invalid code was printed "
        f"for {place}"
    ]
    if compiler:
        lines.append(f"CC={compiler!r} must be a compiler of C99, such as gcc or clang")
    with suppress(OSError, ToolchainError):
        folder = cache.keep_failed(f"{bundle.package}-{bundle.digest[:12]}", bundle.files)
        lines.append(f"the source is kept in {folder}: please report it with the model file")
    lines.append('to go on without a compiler: --backend numpy, or backend="numpy" in symgen.load')
    hint = "\n".join(lines)
    return PrintedSourceError(error.action, error.command, error.status, error.output, hint)


def _place(output: str, bundle: SourceBundle) -> _Place | None:
    """Return where `output` reports an error of a printed source; None where it reports none."""
    for match in _AT_A_LINE.finditer(output):
        file, words = match["file"], match["words"]
        is_error = file.endswith(".pyx") or "error" in words
        if is_error and file in bundle.files and not _ENVIRONMENT.search(words):
            return _Place(file, _function_at(bundle, file, int(match["line"])))
    for symbol in _UNRESOLVED.findall(output):
        if symbol.startswith(f"{bundle.package}_"):
            return _Place(f"the symbol {symbol}", "")
    return None


def _function_at(bundle: SourceBundle, file: str, line: int) -> str:
    """Return the ``formulation.function`` whose code holds a line of `file`; empty if unknown."""
    beginnings = bundle.beginnings.get(file, {})
    for text in reversed(bundle.files[file].splitlines()[:line]):
        for beginning, function in beginnings.items():
            if beginning in text:
                return function
    return next(iter(beginnings.values())) if len(set(beginnings.values())) == 1 else ""
