"""Kernels in loops, ready for templates.

    RolledKernel : Kernel, RolledProgram                    positions of columns, names, tables
    RolledKernel.printed : Language -> PrintedRolled         the phases as text

All columns are contiguous in one array, each padded to a multiple of 8 joints, so that vectors of
any width can be read and written whole.  The padding is never read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from math import prod

from symgen.algebra.nodes import CONST, Scalar, reachable
from symgen.emit.kernels import Array, Body, Kernel, PrintedPart
from symgen.emit.names import local_names
from symgen.emit.printing import Language
from symgen.optimize.ordering import schedule
from symgen.program.program import Input, Output, Program
from symgen.program.rolled import (
    COLUMN,
    COLUMNS,
    ROW,
    WRITTEN,
    AddDiagonal,
    Column,
    EachJoint,
    EachPair,
    Factors,
    Inverse,
    Pair,
    Phase,
    Product,
    RolledProgram,
    SetDiagonal,
    SolveColumn,
    SolveSquare,
    Solving,
    Straight,
    TowardsBase,
)

OCTET = 8
"""Joints in the widest vector."""

LONGEST_PATH = 24
"""Longest path, in joints, for which C for several samples solves with M in straight-line code.

A column of right sides then stays in registers.  The time, relative to loops over pieces of rows,
is 2/3 for the human's 43 columns, 0.83, 0.92 and 0.95 for chains of 20, 24 and 28 joints, 1.2 and
1.9 for 32 and 48 joints, which do not fit (AVX2: 16 registers).
"""

_SOLVING: Mapping[type, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    SetDiagonal: ("set diagonal", ("square",), ("column",)),
    AddDiagonal: ("diagonal", ("square",), ("column",)),
    Product: ("product", ("square",), ("column", "result")),
    Factors: ("factors", ("square",), ()),
    SolveColumn: ("column", ("factors",), ("column",)),
    SolveSquare: ("square", ("factors", "square", "result"), ()),
    Inverse: ("inverse", ("factors", "result"), ()),
}
"""Kind of the other phases, and their fields that are square arrays, and columns."""

Visit = tuple[int, int, int]
"""A row, and bits for the columns whose joints it carries (or is), and those that carry it."""


@dataclass(frozen=True)
class PrintedEntry:
    """One of the `height` numbers of a pair in a square array, number `part`.

    They are in consecutive rows or, in an array of `beside` joints, in consecutive columns.
    """

    square: str
    height: int = 1
    part: int = 0
    beside: int = 0

    @property
    def index(self) -> str:
        """Its index for the joints of row and column, in NumPy."""
        if self.beside:
            return f"[r, {self.height} * c + {self.part}]"
        return "[r, c]" if self.height == 1 else f"[r, {self.part}, c]"

    @property
    def rows(self) -> str:
        """Its rows, in NumPy."""
        return "" if self.height == 1 else f"[:, {self.part}]"

    def place(self, row: str, column: str, stride: str) -> str:
        """Return its position for two joints, in C."""
        if self.beside:
            return f"({row} * {self.beside} + {column}) * {self.height} + {self.part}"
        return f"{self.start(row, stride)} + {column}"

    def row(self, joint: str) -> str:
        """Return its row in the array for the joint of the row, in C."""
        return joint if self.height == 1 else f"{joint} * {self.height} + {self.part}"

    def start(self, joint: str, stride: str) -> str:
        """Return the start of its row, in C."""
        row = self.row(joint)
        return f"{row} * {stride}" if self.height == 1 else f"({row}) * {stride}"

    def diagonal(self, joint: str, stride: str) -> str:
        """Return its position on the diagonal, in C."""
        if self.height == 1:
            return f"{joint} * ({stride} + 1)"
        return f"{self.start(joint, stride)} + {joint}"


@dataclass(frozen=True)
class PrintedPhase:
    """A phase; its `kind` decides which of the other fields are used.

    ``straight``: parts, and positions in columns that are structurally 0; ``joints``: one part;
    ``pairs``: squares with the entries of a pair, a part for joints beyond and one for joints
    before, and the positions that are 0 in each; ``base``: positions of the columns to add up; all
    others (see `_SOLVING`): squares and positions of columns, ``diagonal`` also the entry.
    """

    kind: str
    number: int
    parts: tuple[PrintedPart, ...] = ()
    zeros: tuple[int, ...] = ()
    squares: tuple[str, ...] = ()
    places: tuple[int, ...] = ()
    entries: tuple[PrintedEntry, ...] = ()
    absent: tuple[tuple[int, ...], ...] = ()

    @property
    def by_row(self) -> bool:
        """Whether pairs are visited row by row: with several entries each, a column of vectors
        spans more rows than the cache holds."""
        return self.kind == "pairs" and any(entry.height > 1 for entry in self.entries)

    @property
    def beside(self) -> bool:
        """Whether the entries of a pair are in consecutive columns."""
        return any(entry.beside for entry in self.entries)

    @property
    def beyond_alone(self) -> bool:
        """Whether all entries of pairs `before` are 0."""
        return len(self.absent[1]) == len(self.entries)


@dataclass(frozen=True)
class Line:
    """An unbranched run of joints, from `start` up to `end`, and the joints `related` to them: they
    themselves, those that carry them, and those that they carry."""

    start: int
    end: int
    related: tuple[int, ...]


@dataclass(frozen=True)
class PrintedRolled:
    """A kernel in loops; `slots` is the size of the workspace of its straight phases."""

    loops: RolledKernel
    phases: tuple[PrintedPhase, ...]
    slots: int


@dataclass(frozen=True)
class RolledKernel:
    """A rolled program and its kernel.

    In C, columns are `padded` and columns of constants are kept apart; in NumPy neither.
    """

    kernel: Kernel
    program: RolledProgram[Scalar]
    padded: bool = True

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.program.n

    @property
    def room(self) -> int:
        """Distance from one column to the next."""
        return -(-self.n // OCTET) * OCTET if self.padded else self.n

    @property
    def size(self) -> int:
        """Size of all columns together."""
        return len(self._order) * self.room

    @property
    def slots(self) -> int:
        """Approximate memory for one sample, in numbers."""
        return self.size + sum(map(self.rows, self.inner)) * self.room

    @property
    def numbers(self) -> int:
        """Approximate memory for one sample with all joints and pairs at once, in numbers."""
        pairs = [x for phase in self._pair_phases for x in phase.pairs]
        names = [len(x.rows) + len(x.columns) + len(reachable(x.program.results)) for x in pairs]
        return self.slots + max(names, default=0) * self.path_ends[-1]

    @property
    def inner(self) -> tuple[str, ...]:
        """The square arrays that are no results."""
        results = {array.name for array in self.kernel.outputs}
        names = (name for phase in self._pair_phases for name in phase.squares)
        return tuple(name for name in names if name not in results)

    def rows(self, square: str) -> int:
        """Return the number of rows of a square array."""
        return self.n * self._heights[square]

    @property
    def _pair_phases(self) -> list[EachPair[Scalar]]:
        return [phase for phase in self.program.phases if isinstance(phase, EachPair)]

    @cached_property
    def _heights(self) -> Mapping[str, int]:
        shapes = (item for phase in self._pair_phases for item in phase.shapes.items())
        return {name: prod(shape) for name, shape in shapes}

    def stride(self, square: str) -> str:
        """Return the step from one row of a square array to the next, in C."""
        return "ROOM" if square in self.inner else str(self.n)

    @property
    def carried(self) -> list[list[int]]:
        """The joints that each joint carries; joints count from 0."""
        carried: list[list[int]] = [[] for _ in range(self.n)]
        for path in self.paths:
            for joint in path[:-1]:
                carried[joint].append(path[-1])
        return carried

    @property
    def carried_ends(self) -> list[int]:
        """The start of each of `carried` when concatenated, and the end."""
        return [0, *accumulate(map(len, self.carried))]

    @property
    def carriers(self) -> list[int]:
        """The joint that carries each joint, -1 for the base; joints count from 0."""
        return [parent - 1 for parent in self.program.parents]

    @property
    def paths(self) -> list[list[int]]:
        """The joints on the path from the base to each joint, inclusive; joints count from 0."""
        paths: list[list[int]] = []
        for joint, parent in enumerate(self.program.parents):
            paths.append([*(paths[parent - 1] if parent else []), joint])
        return paths

    @cached_property
    def _path_sets(self) -> list[frozenset[int]]:
        return [frozenset(path) for path in self.paths]

    @property
    def path_ends(self) -> list[int]:
        """The start of each of `paths` when concatenated, and the end."""
        return [0, *accumulate(map(len, self.paths))]

    @property
    def in_registers(self) -> bool:
        """Whether a column of right sides stays in registers while it is solved with M."""
        return max(map(len, self.paths)) <= LONGEST_PATH

    @property
    def lines(self) -> list[Line]:
        """All joints in unbranched runs; columns of one run are related to the same joints."""
        carriers, paths = self.carriers, self._path_sets
        starts = [
            joint
            for joint in range(self.n)
            if not joint or carriers[joint] != joint - 1 or carriers.count(joint - 1) != 1
        ]
        listed = []
        for start, end in zip(starts, [*starts[1:], self.n], strict=True):
            related = (i for i in range(self.n) if i in paths[start] or start in paths[i])
            listed.append(Line(start, end, tuple(related)))
        return listed

    def visits(self, lanes: int) -> list[tuple[list[Visit], ...]]:
        """Return rows by vector of columns, in four groups: rows whose joints carry joints of the
        vector, rows of its joints, rows whose joints are carried by some, and all others."""
        chunks = (range(c, min(c + lanes, self.n)) for c in range(0, self.n, lanes))
        return [self._visits(chunk) for chunk in chunks]

    def visit_ends(self, lanes: int) -> list[list[int]]:
        """Return the start of each of the groups of `visits` when concatenated, and the ends."""
        ends, table = 0, []
        for segments in self.visits(lanes):
            row = [ends, *(ends + end for end in accumulate(map(len, segments)))]
            ends = row[-1]
            table.append(row)
        return table

    def visits_by_row(self, lanes: int) -> list[Visit]:
        """Return the vectors of columns of each row, the last one first."""
        chunks = [range(c, min(c + lanes, self.n)) for c in reversed(range(0, self.n, lanes))]
        return [self._visit(r, chunk) for r in range(self.n) for chunk in chunks]

    def _visits(self, columns: range) -> tuple[list[Visit], ...]:
        segments: tuple[list[Visit], ...] = ([], [], [], [])
        for r in range(self.n):
            _, beyond, before = visit = self._visit(r, columns)
            place = 1 if r in columns else 0 if beyond else 2 if before else 3
            segments[place].append(visit)
        return segments

    def _visit(self, r: int, columns: range) -> Visit:
        paths = self._path_sets
        beyond = sum((r in paths[c]) << k for k, c in enumerate(columns))
        before = sum((c in paths[r] and c != r) << k for k, c in enumerate(columns))
        return r, beyond, before

    def printed(self, language: Language, length: int) -> PrintedRolled:
        """Print the phases in `language`, straight ones in parts of about `length` lines."""
        phases, slots = [], 0
        for number, phase in enumerate(self.program.phases, start=1):
            printed, needed = self._phase(phase, number, language, length)
            phases.append(printed)
            slots = max(slots, needed)
        return PrintedRolled(self, tuple(phases), slots)

    def _phase(
        self, phase: Phase[Scalar], number: int, language: Language, length: int
    ) -> tuple[PrintedPhase, int]:
        if isinstance(phase, Straight):
            program, written = self._without_constants(phase)
            reads = [self._place(column, joint) for column, joint in phase.reads]
            writes = [self._place(column, joint) for column, joint in written]
            arrays = {array.name: array for array in self.kernel.arrays}
            arrays[COLUMNS], arrays[WRITTEN] = _array("columns", reads), _array("columns", writes)
            body = _body(program, arrays)
            parts, slots = body.printed(language, length)
            zeros = tuple(writes[i] for i in body.schedule.zeros[WRITTEN])
            return PrintedPhase("straight", number, parts, zeros), slots
        if isinstance(phase, EachJoint):
            writes = [self._place(column) for column in phase.writes]
            program, arrays = self._with_constants(phase)
            arrays[WRITTEN] = _array("columns", writes)
            body = _body(program, arrays)
            parts, _ = body.printed(language, 10**9)
            return PrintedPhase("joints", number, parts, absent=(_zeros(body),)), 0
        if isinstance(phase, EachPair):
            bodies = [self._pair(pair) for pair in phase.pairs]
            parts = tuple(body.printed(language, 10**9)[0][0] for body in bodies)
            absent = tuple(_zeros(body) for body in bodies)
            beside = self.n if phase.beside else 0
            entries = tuple(
                entry for name in phase.squares for entry in self._entries(name, beside)
            )
            squares = phase.squares
            return PrintedPhase("pairs", number, parts, (), squares, (), entries, absent), 0
        if isinstance(phase, TowardsBase):
            places = [self._place(column) for column in phase.columns]
            if places != [*range(places[0], places[0] + len(places) * self.room, self.room)]:
                raise ValueError("columns that are added up must have been written by one phase")
            return PrintedPhase("base", number, places=tuple(places)), 0
        return self._solving(phase, number), 0

    def _solving(self, phase: AddDiagonal | Solving, number: int) -> PrintedPhase:
        kind, squares, columns = _SOLVING[type(phase)]
        arrays = tuple(getattr(phase, name) for name in squares)
        joints = phase.joints if isinstance(phase, SetDiagonal) else (1,)
        places = (self._place(getattr(phase, name), joint) for name in columns for joint in joints)
        parts = [phase.part] if isinstance(phase, AddDiagonal) else []
        entries = tuple(self._entries(arrays[0])[part] for part in parts)
        return PrintedPhase(kind, number, squares=arrays, places=tuple(places), entries=entries)

    def _entries(self, square: str, beside: int = 0) -> list[PrintedEntry]:
        height = self._heights[square]
        return [PrintedEntry(square, height, part, beside) for part in range(height)]

    def _without_constants(
        self, phase: Straight[Scalar]
    ) -> tuple[Program[Scalar], list[tuple[Column, int]]]:
        """Return the program without the columns of constants, and the entries that it writes."""
        output = _written(phase)
        kept = [
            (place, entry)
            for place, entry in zip(phase.writes, output.entries, strict=True)
            if place[0] not in self.constants
        ]
        entries = tuple(entry for _, entry in kept)
        outputs = (
            replace(x, shape=(len(kept),), entries=entries) if x is output else x
            for x in phase.program.outputs
        )
        program = replace(phase.program, outputs=tuple(outputs))
        return program, [place for place, _ in kept]

    def _with_constants(self, phase: EachJoint[Scalar]) -> tuple[Program[Scalar], dict[str, Array]]:
        """Split the input of the program into columns, and columns of constants."""
        whole_input = phase.program.input(COLUMNS)
        constants = list(self.constants)
        arrays: dict[str, Array] = {}
        inputs = [array for array in phase.program.inputs if array is not whole_input]
        for name, is_constant in (("SOME", False), ("CONSTANT", True)):
            chosen = [i for i, x in enumerate(phase.reads) if (x in self.constants) == is_constant]
            columns = [phase.reads[i] for i in chosen]
            symbols = tuple(whole_input.symbols[i] for i in chosen)
            names = tuple(whole_input.symbol_names[i] for i in chosen)
            inputs.append(Input(name, (len(chosen),), symbols, names))
            places = [
                constants.index(x) * self.room if is_constant else self._place(x) for x in columns
            ]
            arrays[name] = _array(name, places)
        return replace(phase.program, inputs=tuple(inputs)), arrays

    def _pair(self, pair: Pair[Scalar]) -> Body:
        rows = [self._place(column) for column in pair.rows]
        columns = [self._place(column) for column in pair.columns]
        entries: dict[str, Array] = {}
        filled = 0
        for output in pair.program.outputs:
            size = prod(output.shape)
            entries[output.name] = _array("entries", range(filled, filled + size))
            filled += size
        arrays = {ROW: _array("EVERY", rows), COLUMN: _array("SOME", columns), **entries}
        return _body(pair.program, arrays)

    def _place(self, column: Column, joint: int = 1) -> int:
        return self._order[column] * self.room + joint - 1

    @cached_property
    def _order(self) -> Mapping[Column, int]:
        columns = (column for column in self.program.columns if column not in self.constants)
        return {column: i for i, column in enumerate(columns)}

    @cached_property
    def constants(self) -> Mapping[Column, tuple[float, ...]]:
        """Columns of numbers that only programs for every joint read."""
        if not self.padded:
            return {}
        varying: set[Column] = set()
        written: dict[Column, dict[int, Scalar]] = {}
        for phase in self.program.phases:
            if isinstance(phase, Straight):
                varying.update(column for column, _ in phase.reads)
                entries = _written(phase).entries
                for (column, joint), entry in zip(phase.writes, entries, strict=True):
                    written.setdefault(column, {})[joint] = entry
            elif isinstance(phase, EachJoint):
                varying.update(phase.writes)
            elif isinstance(phase, EachPair):
                for pair in phase.pairs:
                    varying.update((*pair.rows, *pair.columns))
            elif isinstance(phase, TowardsBase):
                varying.update(phase.columns)
            else:
                varying.update(getattr(phase, name) for name in _SOLVING[type(phase)][2])
        return {
            column: tuple(entry.value for entry in entries.values())
            for column, entries in written.items()
            if column not in varying and all(x.op is CONST for x in entries.values())
        }


def _written(phase: Straight[Scalar]) -> Output[Scalar]:
    return next(output for output in phase.program.outputs if output.name == WRITTEN)


def _zeros(body: Body) -> tuple[int, ...]:
    """Return the positions of the results that are structurally 0."""
    return tuple(
        body.arrays[name].place(position)
        for name, positions in body.schedule.zeros.items()
        for position in positions
    )


def _array(name: str, places: Sequence[int]) -> Array:
    return Array(name, (len(places),), "", tuple(places))


def _body(program: Program[Scalar], arrays: Mapping[str, Array]) -> Body:
    lines = schedule(program)
    return Body(lines, local_names(lines, {array.name for array in arrays.values()}), arrays)
