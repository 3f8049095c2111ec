"""Suggestions for misspelt commands, options, names, keys and files."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import islice

_LONGEST_WORD = 64  # the longest legal name; nothing longer is a misspelt word
_MOST_CANDIDATES = 1000
_LEAST_RATIO = 0.6
_LEAST_RATIO_OF_OTHERS = 0.75  # where the first letters differ: 'beta' does not mean 'theta'
_SHORTEST_PREFIX = 3  # 'cosine' means 'cos', but 'angle' does not mean 'a'
_PREFIX_BONUS = 0.1


def nearest(word: str, words: Iterable[str]) -> str | None:
    """The word of `words` that `word` may have been meant to be; of equals the first.

    A word that begins with the other one is always near, and nearer than others of its ratio.
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
        bonus = _PREFIX_BONUS if _is_prefix(small, lowered) else 0.0
        least = _LEAST_RATIO if small[:1] == lowered[:1] else _LEAST_RATIO_OF_OTHERS
        least = max(0.0 if bonus else least, best_ratio - bonus)
        if matcher.real_quick_ratio() < least or matcher.quick_ratio() < least:
            continue
        ratio = matcher.ratio()
        if ratio >= least and ratio + bonus > best_ratio:
            best, best_ratio = candidate, ratio + bonus
    return best


def _is_prefix(prefix: str, word: str) -> bool:
    """Whether one of two words begins with the other, and that is more than a letter or two."""
    short = min(len(prefix), len(word))
    return short >= _SHORTEST_PREFIX and prefix[:short] == word[:short]


def suggestion(word: str, words: Iterable[str]) -> str:
    """The end of a message about a word that is none of `words`: ``did you mean ...?``, or all."""
    names = list(words)
    near = nearest(word, names)
    return f"did you mean {near!r}?" if near else f"there are: {', '.join(names)}"
