"""Kernels in parts: every temporary reaches the parts that use it, and no slot is overwritten."""

from __future__ import annotations

from symgen.emit.parts import split
from symgen.optimize.ordering import schedule
from tests.emit.samples import random_package


def test_parts_are_of_equal_length_and_slots_are_used_again() -> None:
    program = random_package(3, 900).programs["newton_euler"]["mass_matrix"].straight
    plan = schedule(program)
    whole = split(plan, 50)
    lengths = [sum(len(s.lines) for s in part.sections) for part in whole.parts]
    assert max(lengths) - min(lengths) <= 1 and max(lengths) <= 50
    kept = sum(len(part.keeps) for part in whole.parts)
    assert whole.slots < kept
