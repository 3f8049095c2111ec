"""The exceptions of symgen, and whose fault each of them is.

Every exception that a user can meet derives from `SymgenError` and carries the exit status
with which the command line ends.  Anything else that reaches the command line is a fault of
symgen itself and ends with status 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST_LISTED = 200
"""Of faults, and of remarks: nobody reads more."""


@dataclass(frozen=True, order=True)
class Fault:
    """One fault of a model file: where it is, what is wrong, and what is expected.

    `line` counts from 1; 0 means that no line applies (an unreadable file, say).
    `key` is the path of the key, for example ``joints[1].parent``; empty for the whole file.
    As a string it has no characters that a terminal obeys: a file may name anything.
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
    """The first of many faults or remarks, and how many more there are."""
    if len(faults) <= MOST_LISTED:
        return faults
    more = f"and {len(faults) - MOST_LISTED} more; these are the first {MOST_LISTED}"
    return [*faults[:MOST_LISTED], Fault(faults[0].file, 0, "", more)]


class SymgenError(Exception):
    """Base of all errors that are reported without a traceback."""

    exit_status = 1


class ModelError(SymgenError):
    """The user's model file is wrong; `faults` lists every fault that was found, in file order.

    The words name the first 200: nobody reads more, and files from strangers could fill a disk.
    """

    exit_status = 2

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(sorted(faults, key=lambda fault: (fault.file, fault.line)))
        super().__init__("\n".join(map(str, listed(self.faults))))


class RequestError(SymgenError):
    """The user asks for something that does not exist or is not available yet."""

    exit_status = 2


class BeyondRangeError(RequestError, OverflowError):
    """Numbers of a model, each of which is fine, leave float64 when they are put together."""


class ValidationError(SymgenError):
    """The generated code does not pass its validation; nothing was installed.

    `result` is the `symgen.validation.validate.ValidationResult` that failed.
    """

    exit_status = 3

    def __init__(self, message: str, result: object = None) -> None:
        self.result = result
        super().__init__(message)


class ToolchainError(SymgenError):
    """A compiler, Cython, or the file system failed; the message holds its own words."""

    exit_status = 4
