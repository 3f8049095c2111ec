"""The faults and warnings of one file, collected while it is checked."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from symgen.description.model import Source
from symgen.description.reading import Document
from symgen.description.wording import KeyPath, shown
from symgen.errors import Fault, ModelError, listed
from symgen.support.suggestions import nearest

_MOST_SUGGESTIONS = 200


class Findings:
    """Faults and warnings of a document, with their positions.

    A faulty value is reported once: checks of missing or inconsistent values ask `broken` first.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self._faults: dict[Fault, None] = dict.fromkeys(document.faults)  # as an ordered set
        self._warnings: dict[Fault, None] = dict.fromkeys(document.warnings)
        self._broken: set[KeyPath] = set()  # only asked for membership
        self._suggestions = _MOST_SUGGESTIONS

    def source(self, path: KeyPath) -> Source:
        """File, line and key path of a value."""
        return Source(*self.document.where(path), self.document.key(path))

    def fault(self, path: KeyPath, message: str) -> None:
        """Record a fault of the value at `path`."""
        self._faults[self.source(path).fault(message)] = None
        self._broken.update(path[:end] for end in range(len(path) + 1))

    def excuse(self, paths: Collection[KeyPath | None]) -> None:
        """Mark the keys at `paths` as present but misspelt, and reported already."""
        self._broken.update(path for path in paths if path is not None)

    def warn(self, path: KeyPath, message: str) -> None:
        """Record a warning."""
        self._warnings[self.source(path).fault(message)] = None

    def broken(self, path: KeyPath) -> bool:
        """Whether `path` or a value below it is faulty."""
        return path in self._broken

    def nearest(self, word: str, words: Iterable[str]) -> str | None:
        """Return the nearest word; None after a maximum number of searches, which take time."""
        self._suggestions -= 1
        return nearest(word, words) if self._suggestions >= 0 else None

    def did_you_mean(self, word: str, words: Iterable[str]) -> str:
        """Return the tail of a message as in `wording`; "" after a maximum number of searches."""
        candidate = self.nearest(word, words)
        return "" if candidate is None else f"; did you mean {shown(candidate)}?"

    def raise_faults(self) -> None:
        """Raise `ModelError` with all faults, if there are any."""
        if self._faults:
            raise ModelError(list(self._faults))

    @property
    def warnings(self) -> tuple[Fault, ...]:
        """The first warnings, in the order of the file."""
        return tuple(listed(sorted(self._warnings)))
