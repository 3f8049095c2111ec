"""Kernels in parts: every temporary reaches the parts that use it, and no slot is overwritten."""

from __future__ import annotations

import pytest

from symgen.emit.parts import split
from symgen.optimize.ordering import Assignment, schedule
from tests.emit.samples import random_package


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("length", [5, 60])
def test_slots_hold_what_later_parts_read(seed: int, length: int) -> None:
    program = random_package(seed, 300).programs["newton_euler"]["inverse_dynamics"].straight
    plan = schedule(program)
    whole = split(plan, length)
    symbols = {s.index for declared in program.inputs for s in declared.symbols}
    workspace: dict[int, int] = {}
    lines = []
    for part in whole.parts:
        known = set(part.symbols) | set(part.reads)
        assert set(part.symbols) <= symbols
        assert not set(part.reads.values()) & set(part.keeps.values())
        for index, slot in part.reads.items():
            assert workspace[slot] == index
        for section in part.sections:
            for line in section.lines:
                assert {leaf.index for leaf in plan.leaves(line)} <= known
                if isinstance(line, Assignment):
                    known.add(line.value.index)
                lines.append(line)
        for index, slot in part.keeps.items():
            assert slot < whole.slots
            workspace[slot] = index
    assert lines == list(plan.lines)


def test_parts_are_of_equal_length_and_slots_are_used_again() -> None:
    program = random_package(3, 900).programs["newton_euler"]["mass_matrix"].straight
    plan = schedule(program)
    whole = split(plan, 50)
    lengths = [sum(len(s.lines) for s in part.sections) for part in whole.parts]
    assert max(lengths) - min(lengths) <= 1 and max(lengths) <= 50
    kept = sum(len(part.keeps) for part in whole.parts)
    assert whole.slots < kept


def test_a_short_kernel_is_one_part() -> None:
    plan = schedule(random_package(1, 100).programs["newton_euler"]["mass_matrix"].straight)
    whole = split(plan, 10_000)
    assert len(whole.parts) == 1 and whole.slots == 0
