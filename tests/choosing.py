"""Tiers: the cases of a test that `make test`, `make test-all` and `make test-deep` try.

An unmarked case is in `make test`, one that is marked slow in `make test-all` as well, one that is
marked deep in `make test-deep` alone: seeds and long lists whose kind is tried elsewhere.  A value
that is a tuple stands for several arguments, unless it is `alone`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet


def some_deep(values: Iterable[Any], quick: Collection[Any], alone: bool = False) -> list[Any]:
    """Return the values, all but the `quick` ones marked as deep."""
    return [value if value in quick else _marked("deep", value, alone) for value in values]


def some_slow(values: Iterable[Any], quick: Collection[Any], alone: bool = False) -> list[Any]:
    """Return the values, all but the `quick` ones marked as slow."""
    return [value if value in quick else _marked("slow", value, alone) for value in values]


def deep(*values: Any) -> list[Any]:
    """Return the values, all marked as deep."""
    return [_marked("deep", value) for value in values]


def slow(*values: Any) -> list[Any]:
    """Return the values, all marked as slow."""
    return [_marked("slow", value) for value in values]


def one_in(number: int, values: Iterable[Any], alone: bool = False) -> list[Any]:
    """Return the values, all but the first of every `number` marked as deep."""
    return [
        _marked("deep", value, alone) if place % number else value
        for place, value in enumerate(values)
    ]


def _marked(tier: str, value: Any, alone: bool = False) -> Any:
    mark = getattr(pytest.mark, tier)
    if isinstance(value, ParameterSet):
        return value._replace(marks=(*value.marks, mark))
    arguments = value if isinstance(value, tuple) and not alone else (value,)
    return pytest.param(*arguments, marks=mark)
