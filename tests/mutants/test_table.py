"""The table of mutants fits the sources: each fragment occurs once in its file."""

import ast

import pytest

from tests.modules import ROOT
from tests.mutants.table import mutants

pytestmark = pytest.mark.slow


def test_mutants_can_be_planted_and_parse():
    table = mutants()
    assert len({mutant.name for mutant in table}) == len(table)
    assert [mutant.name for mutant in table if not mutant.fits(ROOT)] == []
    for mutant in table:
        text = mutant.planted_in((ROOT / mutant.file).read_text())
        if mutant.file.endswith(".py"):
            ast.parse(text)
