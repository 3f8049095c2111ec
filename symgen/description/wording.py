"""How messages quote a stranger's file: shortened, escaped, with the nearest known word."""

from __future__ import annotations

import math
from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import islice

KeyPath = tuple[str | int, ...]
"""The way to a value in a file: keys of mappings and indices (from 0) of lists."""

_LONGEST_QUOTE = 60
_LONGEST_WORD = 64  # the longest legal name; nothing longer is a misspelt word
_MOST_CANDIDATES = 1000
_LEAST_RATIO = 0.6
_LEAST_RATIO_OF_OTHERS = 0.75  # where the first letters differ: 'beta' does not mean 'theta'
_SHORTEST_PREFIX = 3  # 'cosine' means 'cos', but 'angle' does not mean 'a'
_PREFIX_BONUS = 0.1


def shown(text: str) -> str:
    """`text` in quotes, at most a line of it, control characters escaped."""
    short = text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 3] + "..."
    return repr(short)


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


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The word of `known` that `word` may have been meant to be; of equals the first.

    A word that begins with the other one is always near, and nearer than others of its ratio.
    """
    if len(word) > _LONGEST_WORD:
        return None
    best, best_ratio = None, 0.0
    small = word.lower()
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(small)
    for candidate in islice(known, _MOST_CANDIDATES):
        other = candidate.lower()
        matcher.set_seq1(other)
        bonus = _PREFIX_BONUS if _is_prefix(small, other) else 0.0
        least = _LEAST_RATIO if small[:1] == other[:1] else _LEAST_RATIO_OF_OTHERS
        least = max(0.0 if bonus else least, best_ratio - bonus)
        if matcher.real_quick_ratio() < least or matcher.quick_ratio() < least:
            continue
        ratio = matcher.ratio()
        if ratio >= least and ratio + bonus > best_ratio:
            best, best_ratio = candidate, ratio + bonus
    return best


def _is_prefix(one: str, other: str) -> bool:
    """Whether one of two words begins with the other, and that is more than a letter or two."""
    short = min(len(one), len(other))
    return short >= _SHORTEST_PREFIX and one[:short] == other[:short]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The tail of a message: ``; did you mean 'x'?``, or nothing where nothing is near."""
    candidate = nearest(word, known)
    return "" if candidate is None else f"; did you mean {shown(candidate)}?"


def degrees_meant(value: float, instead: str = "") -> str:
    """The warning about an angle (rad) beyond a full turn, which to write `instead` in degrees."""
    return (
        f"the angle {value:.6g} is in radians ({math.degrees(value):.4g} degrees); write "
        f"{instead or f'{math.radians(value):.10g}'} if degrees are meant"
    )
