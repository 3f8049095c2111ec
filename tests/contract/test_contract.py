"""Every function of every formulation has its reference values, and its operations."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.choosing import slow
from tests.contract import operations, references
from tests.contract.cells import ROBOTS, cells, program_of, results_of, selection

LIMIT = 1e-10
"""Of the largest difference, relative to the largest value, at least 1."""
SHARE = 5
"""One in so many cells of each robot is in `make test`; all formulations and functions are."""


def shared_out() -> Iterator[Any]:
    """Yield all cells; each function of a formulation comes with other robots than the next."""
    order: dict[tuple[str, str], int] = {}
    for robot, formulation, function in cells():
        place = order.setdefault((formulation, function), len(order))
        quick = (place + ROBOTS.index(robot)) % SHARE == 0
        cell = robot, formulation, function
        yield from [cell] if quick else slow(cell)


@cache
def counts():
    return operations.stored()


@cache
def stored(robot):
    return references.stored(robot)


@pytest.mark.parametrize(("robot", "formulation", "function"), shared_out())
def test_values_and_operations(robot, formulation, function):
    states, known = stored(robot)
    program = program_of(robot, formulation, function)
    results = results_of(program, states)
    assert f"{function}.{len(results)}" not in known
    for number, result in enumerate(results):
        expected = known[f"{function}.{number}"]
        assert result.shape == expected.shape
        error = np.abs(result - expected).max(initial=0.0)
        assert error <= LIMIT * max(1.0, np.abs(expected).max(initial=0.0))
    before, in_loops = counts()[robot, formulation, function]
    assert abs(operations.straight(program) - before) <= operations.TOLERATED * before
    if in_loops is not None:
        now = operations.in_loops(robot, formulation, function)
        assert abs(now - in_loops) <= operations.TOLERATED * in_loops


def test_tables_are_whole():
    """No cell is missing, none is left over."""
    assert list(counts()) == list(cells())
    for robot in ROBOTS:
        names = {name.split(".")[0] for name in stored(robot)[1]} - {"state"}
        assert names == set(selection(robot).functions)


@pytest.mark.deep
@pytest.mark.parametrize("robot", ROBOTS)
def test_references_come_out_again(robot):
    """Those that are stored are what their script computes."""
    _, known = stored(robot)
    again = references.computed(robot)
    assert set(again) == set(known)
    for name, values in again.items():
        np.testing.assert_allclose(values, known[name], rtol=1e-9, atol=1e-9, err_msg=name)
