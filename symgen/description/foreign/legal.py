"""Names of other formats as names of model files: legal ones stay, the others are renamed.

The same file always gives the same names: what is illegal in a name becomes '_', and of two that
would be alike the later one gets a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from symgen.description.leaves import MAX_NAME
from symgen.description.names import BASE, illegal_name
from symgen.description.wording import shown

_ILLEGAL = re.compile(r"[^A-Za-z0-9_]+")
_ROOM = 8
"""Characters that are left for a number, and for that of a coordinate."""


class LegalNames:
    """A name space; `renamed` maps (kind, former name) to the new name, in order."""

    def __init__(self, legal: Iterable[str]) -> None:
        """`legal` are the names that will stand as they are, so that no other one takes them."""
        self._taken = {name for name in legal if is_legal(name)}
        self._given: set[str] = set()
        self.renamed: dict[tuple[str, str], str] = {}

    def new(self, kind: str, name: str) -> str:
        """The name of a `kind` (joint, link) that the file calls `name`."""
        if is_legal(name) and name not in self._given:
            self._given.add(name)
            return name
        legal = self._free(_similar(kind, name), kind)
        self.renamed[kind, name] = legal
        return legal

    def report(self) -> str:
        """What was renamed, in words."""
        changes = (f"{kind} {shown(old)} is {new}" for (kind, old), new in self.renamed.items())
        return f"names that are no identifiers were changed: {', '.join(changes)}"

    def _free(self, similar: str, kind: str) -> str:
        candidates = [similar, f"{similar}_{kind}"]
        number = 2
        while candidates[0] in self._taken:
            candidates.pop(0)
            if not candidates:
                candidates.append(f"{similar}_{number}")
                number += 1
        self._taken.add(candidates[0])
        self._given.add(candidates[0])
        return candidates[0]


def is_legal(name: str) -> bool:
    """Whether `name` may stand as it is."""
    return name != BASE and len(name) <= MAX_NAME - _ROOM // 2 and illegal_name(name) is None


def _similar(kind: str, name: str) -> str:
    """The legal name that is nearest to `name`."""
    plain = _ILLEGAL.sub("_", name)[: MAX_NAME - 2 * _ROOM]
    if not plain[:1].isalpha():
        plain = f"{kind}_{plain.lstrip('_')}"
    return plain if is_legal(plain) else f"{plain}_{kind}"
