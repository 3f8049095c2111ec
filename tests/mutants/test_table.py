"""The table of mutants fits the sources: most fragments stand where they should, once.

Those of lines that have changed since cannot be planted any more; the table is to be renewed before
they are too many.
"""

import ast

import pytest

from tests.mutants.table import mutants
from tests.test_documents import ROOT

pytestmark = pytest.mark.slow


def test_mutants_can_be_planted_and_parse():
    table = mutants()
    assert len({mutant.name for mutant in table}) == len(table)
    fitting = [mutant for mutant in table if mutant.fits(ROOT)]
    assert len(fitting) >= 300
    for mutant in fitting:
        text = mutant.planted_in((ROOT / mutant.file).read_text())
        if mutant.file.endswith(".py"):
            ast.parse(text)
