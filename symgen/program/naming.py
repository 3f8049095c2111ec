"""What to answer to a name that no function has."""

from __future__ import annotations

from collections.abc import Iterable

from symgen.program.elsewhere import ELSEWHERE
from symgen.support.suggestions import suggestion


def function_suggestion(name: str, known: Iterable[str]) -> str:
    """The end of a message about `name`: what it is called here, the nearest of `known`, or all."""
    names = list(known)
    if ELSEWHERE.get(name) in names:
        return f"what is called {name} elsewhere is {ELSEWHERE[name]} here"
    return suggestion(name, names)
