"""Every function of every formulation has its reference values, and its operations."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tests.contract import operations, references
from tests.contract.cells import ROBOTS, cells, program_of, results_of, selection

LIMIT = 1e-10
"""Of the largest difference, relative to the largest value, at least 1."""


@cache
def counts():
    return operations.stored()


@cache
def stored(robot):
    return references.stored(robot)


@pytest.mark.parametrize(("robot", "formulation", "function"), list(cells()))
def test_values_and_operations(robot, formulation, function):
    states, known = stored(robot)
    program = program_of(robot, formulation, function)
    for number, result in enumerate(results_of(program, states)):
        expected = known[f"{function}.{number}"]
        assert result.shape == expected.shape
        error = np.abs(result - expected).max(initial=0.0)
        assert error <= LIMIT * max(1.0, np.abs(expected).max(initial=0.0))
    before, _ = counts()[robot, formulation, function]
    assert abs(operations.straight(program) - before) <= operations.TOLERATED * before


@pytest.mark.parametrize("robot", ROBOTS)
def test_operations_in_loops(robot):
    """Those of each function that is derived in loops."""
    for cell, (_, before) in counts().items():
        if cell[0] == robot and before is not None:
            assert abs(operations.in_loops(*cell) - before) <= operations.TOLERATED * before, cell


def test_tables_are_whole():
    """No cell is missing, none is left over."""
    assert list(counts()) == list(cells())
    for robot in ROBOTS:
        names = {name.split(".")[0] for name in stored(robot)[1]} - {"state"}
        assert names == set(selection(robot).functions)
