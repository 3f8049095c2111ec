"""Suggestions for a name that no function has."""

from __future__ import annotations

from collections.abc import Iterable

from symgen.runtime.elsewhere import ELSEWHERE
from symgen.support.suggestions import suggestion


def function_suggestion(name: str, candidates: Iterable[str]) -> str:
    """Return advice on `name`: its name in symgen, the nearest of `candidates`, or all of them."""
    names = list(candidates)
    if ELSEWHERE.get(name) in names:
        return f"what is called {name} elsewhere is {ELSEWHERE[name]} here"
    return suggestion(name, names)
