"""Names of other formats as names of model files: legal ones stay, the others are changed.

The same file always gives the same names: what is illegal in a name becomes '_', and of two that
would be alike the later one gets its kind behind it, or a number.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from symgen.description.model import names_made
from symgen.description.names import BASE, illegal_name
from symgen.description.schema import MAX_NAME
from symgen.description.wording import shown
from symgen.joints import JointType

_ILLEGAL = re.compile(r"[^A-Za-z0-9_]+")
_ROOM = 12
"""Characters that are left for a kind, a number, and that of a coordinate."""

_MOST_REPORTED = 40


class LegalNames:
    """A name space; `changed` lists kind, former and new name of all that were changed."""

    def __init__(self, own: Iterable[str] = ()) -> None:
        """`own` are the names of the file: no name that is made up takes one of them."""
        self._own = {name for name in own if is_legal(name)}
        self._given: set[str] = set()
        self._numbers: Counter[str] = Counter()
        self.changed: list[tuple[str, str, str]] = []

    def new(self, kind: str, name: str, joint: JointType | None = None) -> str:
        """The name of a `kind` (joint, link) that the file calls `name`.

        `joint` is the type of a joint: the names made for its coordinates are taken, too.
        """
        fits = all(len(x) <= MAX_NAME for x in _made(name, joint))
        if is_legal(name) and fits and self._is_free(name, joint, own=True):
            return self._take(name, joint)
        legal = self.made(kind, name, joint)
        self.changed.append((kind, name, legal))
        return legal

    def made(self, kind: str, name: str, joint: JointType | None = None) -> str:
        """A name like `name` for something that has none in the file."""
        similar = _similar(kind, name)
        for candidate in (similar, f"{similar}_{kind}"):
            if self._is_free(candidate, joint):
                return self._take(candidate, joint)
        while True:
            self._numbers[similar] += 1
            candidate = f"{similar}_{self._numbers[similar] + 1}"
            if self._is_free(candidate, joint):
                return self._take(candidate, joint)

    def report(self) -> str:
        """What was changed, in words."""
        shown_ones = self.changed[:_MOST_REPORTED]
        words = ", ".join(f"{kind} {shown(old)} is {new}" for kind, old, new in shown_ones)
        more = len(self.changed) - len(shown_ones)
        behind = f", and {more} more" if more else ""
        return f"names that are not identifiers, or are taken, were changed: {words}{behind}"

    def _is_free(self, name: str, joint: JointType | None, own: bool = False) -> bool:
        others = _made(name, joint)
        if name in self._given or any(x in self._given or x in self._own for x in others):
            return False
        return own or name not in self._own

    def _take(self, name: str, joint: JointType | None) -> str:
        self._given.update((name, *_made(name, joint)))
        return name


def _made(name: str, joint: JointType | None) -> tuple[str, ...]:
    return () if joint is None else names_made(name, joint)


def name_of_robot(name: str, names: LegalNames) -> str:
    """The name of the robot, which has a name space of its own; ``robot`` where it has none."""
    legal = LegalNames().made("robot", name.strip()) if name.strip() else "robot"
    if legal != name:
        names.changed.append(("robot", name, legal))
    return legal


def is_legal(name: str) -> bool:
    """Whether `name` may stand as it is, with the number of a coordinate behind it."""
    return name != BASE and len(name) <= MAX_NAME - 2 and illegal_name(name) is None


def _similar(kind: str, name: str) -> str:
    """The legal name that is nearest to `name`."""
    plain = _ILLEGAL.sub("_", name)[: MAX_NAME - 2 * _ROOM]
    if not plain[:1].isalpha():
        plain = f"{kind}_{plain.lstrip('_')}".rstrip("_")
    return plain if is_legal(plain) else f"{plain}_{kind}"
