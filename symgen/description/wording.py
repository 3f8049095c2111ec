"""Quotations of files in messages: shortened, escaped, with the nearest known word."""

from __future__ import annotations

import math
from collections.abc import Iterable

from symgen.support.suggestions import nearest

KeyPath = tuple[str | int, ...]
"""The way to a value in a file: keys of mappings and indices (from 0) of lists."""

_LONGEST_QUOTE = 60


def shown(text: str) -> str:
    """`text` in quotes, at most a line of it, control characters escaped."""
    short = text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 3] + "..."
    return repr(short)


def in_line(text: str) -> str:
    """`text` without quotes, as a part of a line: short, and nothing that a terminal obeys."""
    printable = text if text.isprintable() else repr(text)[1:-1]
    short = len(printable) <= _LONGEST_QUOTE
    return printable if short else f"{printable[: _LONGEST_QUOTE - 3]}..."


def key_path(path: KeyPath) -> str:
    """A path as messages write it, for example ``joints[1].link.mass``."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            plain = step.isascii() and step.replace("-", "_").isidentifier()
            name = step if plain and len(step) <= _LONGEST_QUOTE else shown(step)
            text += f".{name}" if text else name
    return text


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """The tail of a message: ``; did you mean 'x'?``, or nothing where nothing is near."""
    candidate = nearest(word, words)
    return "" if candidate is None else f"; did you mean {shown(candidate)}?"


def degrees_meant(value: float, instead: str = "") -> str:
    """The warning about an angle (rad) of more than a full turn; `instead` is that in degrees."""
    return (
        f"the angle {value:.6g} is in radians ({math.degrees(value):.4g} degrees); write "
        f"{instead or f'{math.radians(value):.10g}'} if degrees are meant"
    )
