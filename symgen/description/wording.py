"""Quotations of files in messages: truncated, escaped, with the nearest known word."""

from __future__ import annotations

import math
from collections.abc import Iterable

from symgen.support.suggestions import nearest

KeyPath = tuple[str | int, ...]
"""Path of a value in a file: keys of mappings, and indices (from 0) or names of list items."""

_LONGEST_QUOTE = 60


def shown(text: str) -> str:
    """`text` in quotes, truncated, with control characters escaped."""
    return repr(_truncated(text))


def in_line(text: str) -> str:
    """`text` without quotes, truncated, with control characters escaped."""
    printable = text if text.isprintable() else repr(text)[1:-1]
    return _truncated(printable)


def _truncated(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else f"{text[: _LONGEST_QUOTE - 3]}..."


def is_plain(name: str) -> bool:
    """Whether a key path contains a name without quotes."""
    return name.isascii() and name.replace("-", "_").isidentifier() and len(name) <= _LONGEST_QUOTE


def key_path(path: KeyPath) -> str:
    """Format a path, for example ``joints.elbow.link.com[2]``; items are counted from 1."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step + 1}]"
        else:
            name = step if is_plain(step) else shown(step)
            text += f".{name}" if text else name
    return text


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """Return the tail of a message: ``; did you mean 'x'?``, or "" if no word is near."""
    candidate = nearest(word, words)
    return "" if candidate is None else f"; did you mean {shown(candidate)}?"


def seems_in_degrees(value: float) -> bool:
    """Whether an angle (rad) is a whole number and more than a full turn."""
    return value.is_integer() and abs(value) > math.tau


def degrees_meant(value: float, instead: str = "") -> str:
    """The warning about an angle (rad) of more than a full turn; `instead` is its replacement."""
    return (
        f"the angle {value:.6g} is in radians ({math.degrees(value):.4g} degrees); write "
        f"{instead or f'{math.radians(value):.10g}'} if degrees are meant"
    )
