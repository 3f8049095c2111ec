"""Which cases of a long list are tried every time.

The others are marked slow: they take long, and are of the same kind as those that are tried.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def some_slow(values: Iterable[Any], quick: Collection[Any]) -> list[Any]:
    """The values, all but the `quick` ones marked as slow; a tuple is for several arguments."""
    return [value if value in quick else _slow(value) for value in values]


def slow(*values: Any) -> list[Any]:
    """The values, all marked as slow."""
    return [_slow(value) for value in values]


def one_in(number: int, values: Iterable[Any]) -> list[Any]:
    """The values, all but the first of every `number` marked as slow."""
    listed = list(values)
    return some_slow(listed, listed[::number])


def _slow(value: Any) -> Any:
    arguments = value if isinstance(value, tuple) else (value,)
    return pytest.param(*arguments, marks=pytest.mark.slow)
