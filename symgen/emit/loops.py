"""Kernels in loops, ready to be placed by a template.

    in_loops : Kernel -> Loops                       where columns stand, names, tables
    Loops.printed : Language -> PrintedLoops         the phases as text

All columns stand in one array, one behind the other, with room for a multiple of 8 joints each: a
vector of joints may be read and written whole, whatever the width.  What is there for joints that
the robot does not have is never looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from symgen.algebra.graph import Scalar
from symgen.emit.kernels import Array, Body, Kernel, PrintedPart
from symgen.emit.names import local_names
from symgen.emit.printing import Language
from symgen.optimize.ordering import schedule
from symgen.program.loops import (
    COLUMN,
    COLUMNS,
    ROW,
    WRITTEN,
    Column,
    EachJoint,
    EachPair,
    LoopedProgram,
    OnDiagonal,
    Pair,
    Phase,
    Straight,
)
from symgen.program.program import Program

OCTET = 8
"""Joints in the widest vector."""

Visit = tuple[int, int, int]
"""A row, and bits for the columns of joints beyond and before that of the row."""


@dataclass(frozen=True)
class PrintedPhase:
    """A phase: `kind` says which of the other fields it has.

    ``straight``: parts, and the places in columns that are 0 by structure; ``joints``: one part;
    ``pairs``: the squares, and a part for joints beyond and for joints before; ``diagonal``: the
    square, and the place of its column.
    """

    kind: str
    number: int
    parts: tuple[PrintedPart, ...] = ()
    zeros: tuple[int, ...] = ()
    squares: tuple[str, ...] = ()
    place: int = 0


@dataclass(frozen=True)
class PrintedLoops:
    """A kernel in loops; `slots` is the size of the workspace of its straight phases."""

    loops: Loops
    phases: tuple[PrintedPhase, ...]
    slots: int


@dataclass(frozen=True)
class Loops:
    """A looped program, and the kernel that it is for."""

    kernel: Kernel
    program: LoopedProgram[Scalar]

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.program.n

    @property
    def room(self) -> int:
        """From one column to the next."""
        return -(-self.n // OCTET) * OCTET

    @property
    def size(self) -> int:
        """Of all columns together."""
        return len(self.program.columns) * self.room

    @property
    def slots(self) -> int:
        """Numbers of one sample that it keeps at a time, roughly."""
        return self.size + len(self.program.phases) * self.n

    @property
    def squares(self) -> tuple[str, ...]:
        """The square arrays that pairs fill."""
        pairs = (phase for phase in self.program.phases if isinstance(phase, EachPair))
        return tuple(square for phase in pairs for square in phase.squares)

    @property
    def paths(self) -> list[list[int]]:
        """Joints from the base to each joint, it included; joints count from 0."""
        found: list[list[int]] = []
        for joint, parent in enumerate(self.program.parents):
            found.append([*(found[parent - 1] if parent else []), joint])
        return found

    @property
    def path_ends(self) -> list[int]:
        """Where each of `paths` begins, and the last one ends, one behind the other."""
        return [0, *accumulate(map(len, self.paths))]

    @property
    def has_strangers(self) -> bool:
        """Whether there are joints of which neither carries the other."""
        return 2 * self.path_ends[-1] - self.n < self.n**2

    def visits(self, lanes: int) -> list[tuple[list[Visit], ...]]:
        """By vector of columns: rows whose joints carry some of their joints, rows that both carry
        and are carried, or are among them, and rows that are carried."""
        chunks = (range(c, min(c + lanes, self.n)) for c in range(0, self.n, lanes))
        return [self._visits(chunk) for chunk in chunks]

    def visit_ends(self, lanes: int) -> list[list[int]]:
        """Where each of the lists of `visits` begins and the last one of a vector ends."""
        ends, table = 0, []
        for segments in self.visits(lanes):
            row = [ends, *(ends + end for end in accumulate(map(len, segments)))]
            ends = row[-1]
            table.append(row)
        return table

    def _visits(self, columns: range) -> tuple[list[Visit], ...]:
        paths = self.paths
        segments: tuple[list[Visit], ...] = ([], [], [])
        for r in range(self.n):
            beyond = sum((r in paths[c]) << k for k, c in enumerate(columns))
            before = sum((c in paths[r] and c != r) << k for k, c in enumerate(columns))
            if beyond or before:
                place = 1 if r in columns or (beyond and before) else 0 if beyond else 2
                segments[place].append((r, beyond, before))
        return segments

    def printed(self, language: Language, length: int) -> PrintedLoops:
        """The phases in `language`, straight ones in parts of about `length` lines."""
        phases, slots = [], 0
        for number, phase in enumerate(self.program.phases, start=1):
            printed, needed = self._phase(phase, number, language, length)
            phases.append(printed)
            slots = max(slots, needed)
        return PrintedLoops(self, tuple(phases), slots)

    def _phase(
        self, phase: Phase[Scalar], number: int, language: Language, length: int
    ) -> tuple[PrintedPhase, int]:
        if isinstance(phase, Straight):
            reads = [self._place(column, joint) for column, joint in phase.reads]
            writes = [self._place(column, joint) for column, joint in phase.writes]
            arrays = {array.name: array for array in self.kernel.arrays}
            body = _body(phase.program, {**arrays, **_columns(reads, writes)})
            parts, slots = body.printed(language, length)
            zeros = tuple(writes[i] for i in body.schedule.zeros[WRITTEN])
            return PrintedPhase("straight", number, parts, zeros), slots
        if isinstance(phase, EachJoint):
            reads = [self._place(column) for column in phase.reads]
            writes = [self._place(column) for column in phase.writes]
            parts, _ = _body(phase.program, _columns(reads, writes)).printed(language, 10**9)
            return PrintedPhase("joints", number, parts), 0
        if isinstance(phase, EachPair):
            bodies = (self._pair(pair) for pair in (phase.beyond, phase.before))
            parts = tuple(body.printed(language, 10**9)[0][0] for body in bodies)
            return PrintedPhase("pairs", number, parts, squares=phase.squares), 0
        return self._on_diagonal(phase, number), 0

    def _pair(self, pair: Pair[Scalar]) -> Body:
        rows = [self._place(column) for column in pair.rows]
        columns = [self._place(column) for column in pair.columns]
        entries = {
            output.name: Array("entries", (), "", (position,))
            for position, output in enumerate(pair.program.outputs)
        }
        arrays = {ROW: _array("EVERY", rows), COLUMN: _array("SOME", columns), **entries}
        return _body(pair.program, arrays)

    def _on_diagonal(self, phase: OnDiagonal, number: int) -> PrintedPhase:
        place = self._place(phase.column)
        return PrintedPhase("diagonal", number, squares=(phase.square,), place=place)

    def _place(self, column: Column, joint: int = 1) -> int:
        return self._order[column] * self.room + joint - 1

    @cached_property
    def _order(self) -> Mapping[Column, int]:
        return {column: i for i, column in enumerate(self.program.columns)}


def in_loops(kernel: Kernel) -> Loops | None:
    """`kernel` in loops, where it is to be said so."""
    return None if kernel.loops is None else Loops(kernel, kernel.loops)


def _columns(reads: Sequence[int], writes: Sequence[int]) -> dict[str, Array]:
    return {COLUMNS: _array("columns", reads), WRITTEN: _array("columns", writes)}


def _array(name: str, places: Sequence[int]) -> Array:
    return Array(name, (len(places),), "", tuple(places))


def _body(program: Program[Scalar], arrays: Mapping[str, Array]) -> Body:
    lines = schedule(program)
    return Body(lines, local_names(lines, {array.name for array in arrays.values()}), arrays)
