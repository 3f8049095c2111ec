"""Splitting of long kernels into functions, so that compile time stays linear in their length.

    split : Schedule, lines per part -> Parts

A part is a function.  A temporary that only one part uses is a local variable of that part; others
are kept in slots of a workspace array, which are reused after their last reader (linear-scan
allocation): the workspace is as small as the number of temporaries alive at once.  No part writes a
slot that it also reads, so a compiler may reorder reads freely.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from symgen.optimize.ordering import Assignment, Line, Schedule, Section


@dataclass(frozen=True)
class Part:
    """Consecutive lines of a schedule.

    `symbols` are indices of the input symbols that the lines use, `reads` slots of temporaries of
    earlier parts and `keeps` slots of temporaries for later parts, by node index.
    """

    sections: tuple[Section, ...]
    symbols: tuple[int, ...]
    reads: Mapping[int, int]
    keeps: Mapping[int, int]


@dataclass(frozen=True)
class Parts:
    """A whole schedule in parts, and the number of slots of their workspace."""

    parts: tuple[Part, ...]
    slots: int


def split(schedule: Schedule, length: int) -> Parts:
    """Split `schedule` into parts of about `length` lines; up to 4/3 of that stay one part."""
    return in_pieces(schedule, _pieces(schedule.sections, length))


def in_pieces(schedule: Schedule, pieces: Sequence[tuple[Section, ...]]) -> Parts:
    """Return the parts of `schedule` whose sections are given as `pieces`."""
    born, used = _lifetimes(schedule, pieces)
    slots, size = _allocate(born, used)
    parts = []
    for number, sections in enumerate(pieces):
        indices = used[number]
        parts.append(
            Part(
                sections=sections,
                symbols=tuple(sorted(index for index in indices if index not in born)),
                reads={i: slots[i] for i in sorted(indices) if born.get(i, number) < number},
                keeps={i: slot for i, slot in slots.items() if born[i] == number},
            )
        )
    return Parts(tuple(parts), size)


def is_long(schedule: Schedule, length: int) -> bool:
    """Return whether `split` makes more than one part."""
    return _number_of_parts(schedule.sections, length) > 1


def _number_of_parts(sections: tuple[Section, ...], length: int) -> int:
    total = sum(len(section.lines) for section in sections)
    return 1 if 3 * total <= 4 * length else -(-total // length)


def _pieces(sections: tuple[Section, ...], length: int) -> list[tuple[Section, ...]]:
    """Split sections into pieces of equal length."""
    total = sum(len(section.lines) for section in sections)
    number = _number_of_parts(sections, length)
    ends = [total * (piece + 1) // number for piece in range(number)]
    pieces: list[list[Section]] = [[] for _ in ends]
    piece = start = 0
    for section in sections:
        lines: tuple[Line, ...] = section.lines
        while lines:
            room = ends[piece] - start
            if not room:
                piece += 1
                continue
            pieces[piece].append(Section(section.kind, section.joint, lines[:room]))
            start += len(lines[:room])
            lines = lines[room:]
    return [tuple(piece) for piece in pieces]


def _lifetimes(
    schedule: Schedule, pieces: Sequence[tuple[Section, ...]]
) -> tuple[dict[int, int], list[set[int]]]:
    """Return the piece that assigns each node, and the nodes with names that each piece uses."""
    born: dict[int, int] = {}
    used: list[set[int]] = [set() for _ in pieces]
    for number, sections in enumerate(pieces):
        for section in sections:
            for line in section.lines:
                used[number].update(node.index for node in schedule.leaves(line))
                if isinstance(line, Assignment):
                    born[line.value.index] = number
    return born, used


def _allocate(born: Mapping[int, int], used: list[set[int]]) -> tuple[dict[int, int], int]:
    """Return a slot for every node that a later piece uses, and the number of slots."""
    last: dict[int, int] = {}
    for number, nodes in enumerate(used):
        for index in nodes:
            if born.get(index, number) < number:
                last[index] = number
    released: list[list[int]] = [[] for _ in used]
    slots: dict[int, int] = {}
    free: list[int] = []
    size = current = 0
    for index, number in born.items():  # in the order of assignment
        while current < number:
            for slot in released[current]:
                heapq.heappush(free, slot)
            current += 1
        if index in last:
            if free:
                slots[index] = heapq.heappop(free)
            else:
                slots[index], size = size, size + 1
            released[last[index]].append(slots[index])
    return slots, size
