"""Figures that the documents state are those that the code gives."""

from pathlib import Path

import pytest

from benchmarks.marks import BEGIN, END
from benchmarks.operation_counts import DOCUMENT, table
from symgen.comparing.growth import MAIN_FUNCTIONS
from tests.choosing import some_slow

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("function", some_slow(MAIN_FUNCTIONS, ["inverse_dynamics"]))
def test_operation_counts(function):
    text = DOCUMENT.read_text()
    start = text.index(BEGIN.format(function)) + len(BEGIN.format(function))
    rows = text[start : text.index(END.format(function))].strip().split("\n")
    assert rows[:5] == table(function, range(1, 4))
    assert len(rows) == 14
