"""Which cases of a long list are tried every time.

The others are marked slow: they take long, and are of the same kind as those that are tried.  A
value that is a tuple stands for several arguments, unless it is `alone`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet


def some_slow(values: Iterable[Any], quick: Collection[Any], alone: bool = False) -> list[Any]:
    """The values, all but the `quick` ones marked as slow."""
    return [value if value in quick else _slow(value, alone) for value in values]


def slow(*values: Any) -> list[Any]:
    """The values, all marked as slow."""
    return [_slow(value) for value in values]


def one_in(number: int, values: Iterable[Any], alone: bool = False) -> list[Any]:
    """The values, all but the first of every `number` marked as slow."""
    return [_slow(value, alone) if place % number else value for place, value in enumerate(values)]


def _slow(value: Any, alone: bool = False) -> Any:
    if isinstance(value, ParameterSet):
        return value._replace(marks=(*value.marks, pytest.mark.slow))
    arguments = value if isinstance(value, tuple) and not alone else (value,)
    return pytest.param(*arguments, marks=pytest.mark.slow)
