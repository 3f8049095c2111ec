"""The exceptions of symgen, with their exit statuses.

Errors for users derive from `SymgenError` and carry the exit status of the command line.  Any other
exception is a fault of symgen and ends with status 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST_LISTED = 200
"""Maximum number of faults, and of remarks, that are reported."""


@dataclass(frozen=True, order=True)
class Fault:
    """One fault of a model file: its place, and a message with the expected input.

    `line` counts from 1; 0 means that no line applies (an unreadable file, say).
    `key` is the path of the key, for example ``joints.wrist.parent``; empty for the whole file.
    As a string it has no control characters, which an untrusted file may contain.
    """

    file: str
    line: int
    key: str
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        text = f"{place}: {self.key}: {self.message}" if self.key else f"{place}: {self.message}"
        return "".join(x if x.isprintable() or x == "\n" else repr(x)[1:-1] for x in text)


def listed(faults: Sequence[Fault]) -> Sequence[Fault]:
    """Return at most `MOST_LISTED` faults or remarks, and the number of omitted ones."""
    if len(faults) <= MOST_LISTED:
        return faults
    more = f"and {len(faults) - MOST_LISTED} more; these are the first {MOST_LISTED}"
    return [*faults[:MOST_LISTED], Fault(faults[0].file, 0, "", more)]


class SymgenError(Exception):
    """Base of all errors that are reported without a traceback."""

    exit_status = 1


class ModelError(SymgenError):
    """The user's model file is wrong; `faults` lists all faults, in file order.

    The message lists the first `MOST_LISTED`, since an untrusted file could fill a disk.
    """

    exit_status = 2

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(sorted(faults, key=lambda fault: (fault.file, fault.line)))
        super().__init__("\n".join(map(str, listed(self.faults))))


class RequestError(SymgenError):
    """The user requests something that does not exist or is not available."""

    exit_status = 2


class BeyondRangeError(RequestError, OverflowError):
    """Valid numbers of a model combine to one that exceeds float64."""


class ValidationError(SymgenError):
    """The generated code does not pass its validation; nothing was installed.

    `result` is the `symgen.validation.validate.ValidationResult` that failed.
    """

    exit_status = 3

    def __init__(self, message: str, result: object = None) -> None:
        self.result = result
        super().__init__(message)


class ToolchainError(SymgenError):
    """A compiler, Cython, or the file system failed; the message contains its output."""

    exit_status = 4
