"""Suggestions for misspelt commands, options, names, keys and files."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import islice

_LONGEST_WORD = 64  # of legal names
_MOST_CANDIDATES = 1000
_LEAST_RATIO = 0.6
_LEAST_RATIO_OF_OTHERS = 0.75  # if the first letters differ: 'beta' does not mean 'theta'
_SHORTEST_PREFIX = 3  # 'cosine' means 'cos', but 'angle' does not mean 'a'
_PREFIX_BONUS = 0.1


def nearest(word: str, words: Iterable[str]) -> str | None:
    """Return the most similar of `words`, the first of equals; None if all are too different.

    If one word is a prefix of the other, they are always similar enough, with a bonus.
    """
    if len(word) > _LONGEST_WORD:
        return None
    best, best_ratio = None, 0.0
    small = word.lower()
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(small)
    for candidate in islice(words, _MOST_CANDIDATES):
        lowered = candidate.lower()
        matcher.set_seq1(lowered)
        prefix = min(len(small), len(lowered))
        is_prefix = prefix >= _SHORTEST_PREFIX and small[:prefix] == lowered[:prefix]
        bonus = _PREFIX_BONUS if is_prefix else 0.0
        least = _LEAST_RATIO if small[:1] == lowered[:1] else _LEAST_RATIO_OF_OTHERS
        least = max(0.0 if bonus else least, best_ratio - bonus)
        if matcher.real_quick_ratio() < least or matcher.quick_ratio() < least:
            continue
        ratio = matcher.ratio()
        if ratio >= least and ratio + bonus > best_ratio:
            best, best_ratio = candidate, ratio + bonus
    return best


def suggestion(word: str, words: Iterable[str]) -> str:
    """Return advice on a word that is none of `words`: ``did you mean ...?``, or the list."""
    names = list(words)
    near = nearest(word, names)
    return f"did you mean {near!r}?" if near else f"there are: {', '.join(names)}"
