"""Kernels in loops, ready to be placed by a template.

    Loops : Kernel, LoopedProgram                    where columns stand, names, tables
    Loops.printed : Language -> PrintedLoops         the phases as text

All columns stand in one array, one behind the other, with room for a multiple of 8 joints each: a
vector of joints may be read and written whole, whatever the width.  Entries for joints that the
robot does not have are never read.
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
from symgen.program.loops import (
    COLUMN,
    COLUMNS,
    ROW,
    WRITTEN,
    AddDiagonal,
    Column,
    EachJoint,
    EachPair,
    Factors,
    LoopedProgram,
    Pair,
    Phase,
    Product,
    SetDiagonal,
    SolveColumn,
    SolveSquare,
    Solving,
    Straight,
    TowardsBase,
)
from symgen.program.program import Input, Output, Program

OCTET = 8
"""Joints in the widest vector."""

LONGEST_PATH = 24
"""Joints on a path up to which C for several samples solves with M in a straight line.

A column of right sides then stays in registers: of the human's 43 columns that takes two thirds of
the time of loops over pieces of rows, of chains of 20, 24 and 28 joints 0.83, 0.92 and 0.95; of 32
and 48 joints, which do not fit, 1.2 and 1.9 times as long (AVX2: 16 registers).
"""

Visit = tuple[int, int, int]
"""A row, and bits for the columns of joints beyond and before that of the row."""


@dataclass(frozen=True)
class PrintedEntry:
    """One number that a pair has in a square array: `part` of `height`, which stand one below or,
    in an array of `beside` joints, one beside the other."""

    square: str
    height: int = 1
    part: int = 0
    beside: int = 0

    @property
    def index(self) -> str:
        """Where it stands for the joints of row and column, in NumPy."""
        if self.beside:
            return f"[r, {self.height} * c + {self.part}]"
        return "[r, c]" if self.height == 1 else f"[r, {self.part}, c]"

    @property
    def rows(self) -> str:
        """Its rows, in NumPy."""
        return "" if self.height == 1 else f"[:, {self.part}]"

    def place(self, row: str, column: str, stride: str) -> str:
        """Return where it stands for two joints, in C."""
        if self.beside:
            return f"({row} * {self.beside} + {column}) * {self.height} + {self.part}"
        return f"{self.start(row, stride)} + {column}"

    def row(self, joint: str) -> str:
        """Its row in the array, in C; `joint` is that of the row."""
        return joint if self.height == 1 else f"{joint} * {self.height} + {self.part}"

    def start(self, joint: str, stride: str) -> str:
        """Return where this row begins, in C."""
        row = self.row(joint)
        return f"{row} * {stride}" if self.height == 1 else f"({row}) * {stride}"

    def diagonal(self, joint: str, stride: str) -> str:
        """Return where it stands for a joint and itself, in C."""
        if self.height == 1:
            return f"{joint} * ({stride} + 1)"
        return f"{self.start(joint, stride)} + {joint}"


@dataclass(frozen=True)
class PrintedPhase:
    """A phase: `kind` says which of the other fields it has.

    ``straight``: parts, and the places in columns that are 0 by structure; ``joints``: one part;
    ``pairs``: the squares and what a pair has in them, and a part for joints beyond and for joints
    before; of these parts also, by part, the places and entries that are 0 for all; ``base``: the
    places of columns that are added up; all others (see `_solving`): squares, and places of
    columns; ``diagonal`` also what is added to.
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
        """Whether pairs are visited row by row: several entries of each make many rows, which would
        be out of the cache before the next vector of columns is theirs."""
        return self.kind == "pairs" and any(entry.height > 1 for entry in self.entries)

    @property
    def beside(self) -> bool:
        """Whether what a pair has stands one beside the other."""
        return any(entry.beside for entry in self.entries)

    @property
    def beyond_alone(self) -> bool:
        """Whether a joint has nothing of those that carry it."""
        return len(self.absent[1]) == len(self.entries)


@dataclass(frozen=True)
class Line:
    """Joints from `start` to before `end`, each of which is the only one that the former carries
    next to it; and `related`, the joints that carry them or are carried by them, and they."""

    start: int
    end: int
    related: tuple[int, ...]


@dataclass(frozen=True)
class PrintedLoops:
    """A kernel in loops; `slots` is the size of the workspace of its straight phases."""

    loops: Loops
    phases: tuple[PrintedPhase, ...]
    slots: int


@dataclass(frozen=True)
class Loops:
    """A looped program, and the kernel that it is for.

    `padded` columns are those of C; others stand without room between them, and those of constants
    are columns like the others.
    """

    kernel: Kernel
    program: LoopedProgram[Scalar]
    padded: bool = True

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.program.n

    @property
    def room(self) -> int:
        """From one column to the next."""
        return -(-self.n // OCTET) * OCTET if self.padded else self.n

    @property
    def size(self) -> int:
        """Size of all columns together."""
        return len(self._order) * self.room

    @property
    def slots(self) -> int:
        """Numbers of one sample that it keeps at a time, roughly."""
        return self.size + sum(map(self.rows, self.inner)) * self.room

    @property
    def numbers(self) -> int:
        """Numbers of one sample where all joints and all pairs are computed at once, roughly."""
        pairs = [
            x
            for phase in self.program.phases
            if isinstance(phase, EachPair)
            for x in (phase.beyond, phase.before)
        ]
        names = [len(x.rows) + len(x.columns) + len(reachable(x.program.results)) for x in pairs]
        return self.slots + max(names, default=0) * self.path_ends[-1]

    @property
    def inner(self) -> tuple[str, ...]:
        """The square arrays that are no results."""
        results = {array.name for array in self.kernel.outputs}
        pairs = (phase for phase in self.program.phases if isinstance(phase, EachPair))
        return tuple(name for phase in pairs for name in phase.squares if name not in results)

    def rows(self, square: str) -> int:
        """Return the number of rows of a square array: one for every joint, or several."""
        return self.n * self._heights[square]

    @cached_property
    def _heights(self) -> Mapping[str, int]:
        pairs = (phase for phase in self.program.phases if isinstance(phase, EachPair))
        return {name: prod(shape) for phase in pairs for name, shape in phase.shapes.items()}

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
        """Where each of `carried` begins, and the last one ends, one behind the other."""
        return [0, *accumulate(map(len, self.carried))]

    @property
    def carriers(self) -> list[int]:
        """The joint that carries each joint, -1 for the base; joints count from 0."""
        return [parent - 1 for parent in self.program.parents]

    @property
    def paths(self) -> list[list[int]]:
        """Joints from the base to each joint, it included; joints count from 0."""
        paths: list[list[int]] = []
        for joint, parent in enumerate(self.program.parents):
            paths.append([*(paths[parent - 1] if parent else []), joint])
        return paths

    @cached_property
    def _path_sets(self) -> list[frozenset[int]]:
        return [frozenset(path) for path in self.paths]

    @property
    def path_ends(self) -> list[int]:
        """Where each of `paths` begins, and the last one ends, one behind the other."""
        return [0, *accumulate(map(len, self.paths))]

    @property
    def in_registers(self) -> bool:
        """Whether a column of right sides stays in registers while it is solved with M."""
        return max(map(len, self.paths)) <= LONGEST_PATH

    @property
    def lines(self) -> list[Line]:
        """All joints in lines; columns of one line are related to the same joints."""
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
        """Return rows by vector of columns: rows whose joints carry some of theirs, rows of
        their joints, rows whose joints are carried by some, and all other rows."""
        chunks = (range(c, min(c + lanes, self.n)) for c in range(0, self.n, lanes))
        return [self._visits(chunk) for chunk in chunks]

    def visit_ends(self, lanes: int) -> list[list[int]]:
        """Return where each of the lists of `visits` begins and the last one of a vector ends."""
        ends, table = 0, []
        for segments in self.visits(lanes):
            row = [ends, *(ends + end for end in accumulate(map(len, segments)))]
            ends = row[-1]
            table.append(row)
        return table

    def visits_by_row(self, lanes: int) -> list[Visit]:
        """Return vectors of columns by row, the last one first."""
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

    def printed(self, language: Language, length: int) -> PrintedLoops:
        """Return the phases in `language`, straight ones in parts of about `length` lines."""
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
            program, written = self._without_constants(phase)
            reads = [self._place(column, joint) for column, joint in phase.reads]
            writes = [self._place(column, joint) for column, joint in written]
            arrays = {array.name: array for array in self.kernel.arrays}
            body = _body(program, {**arrays, **_columns(reads, writes)})
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
            bodies = [self._pair(pair) for pair in (phase.beyond, phase.before)]
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
        squares: tuple[str, ...]
        columns: tuple[Column, ...] = ()
        if isinstance(phase, SetDiagonal):
            places = tuple(self._place(phase.column, joint) for joint in phase.joints)
            return PrintedPhase("set diagonal", number, squares=(phase.square,), places=places)
        if isinstance(phase, AddDiagonal):
            entries = (self._entries(phase.square)[phase.part],)
            squares, places = (phase.square,), (self._place(phase.column),)
            return PrintedPhase("diagonal", number, (), (), squares, places, entries)
        if isinstance(phase, Product):
            kind, squares, columns = "product", (phase.square,), (phase.column, phase.result)
        elif isinstance(phase, Factors):
            kind, squares = "factors", (phase.square,)
        elif isinstance(phase, SolveColumn):
            kind, squares, columns = "column", (phase.factors,), (phase.column,)
        elif isinstance(phase, SolveSquare):
            kind, squares = "square", (phase.factors, phase.square, phase.result)
        else:
            kind, squares = "inverse", (phase.factors, phase.result)
        places = tuple(self._place(column) for column in columns)
        return PrintedPhase(kind, number, squares=squares, places=places)

    def _entries(self, square: str, beside: int = 0) -> list[PrintedEntry]:
        height = self._heights[square]
        return [PrintedEntry(square, height, part, beside) for part in range(height)]

    def _without_constants(
        self, phase: Straight[Scalar]
    ) -> tuple[Program[Scalar], list[tuple[Column, int]]]:
        """Return the program without the columns of constants, and what else it writes."""
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
        """Return the program with two inputs instead of one: columns, and columns of constants."""
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
        """Columns that only programs for every joint read, and that hold nothing but numbers."""
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
                for pair in (phase.beyond, phase.before):
                    varying.update((*pair.rows, *pair.columns))
            elif isinstance(phase, TowardsBase):
                varying.update(phase.columns)
            elif isinstance(phase, Product):
                varying.update((phase.column, phase.result))
            elif isinstance(phase, (SetDiagonal, AddDiagonal, SolveColumn)):
                varying.add(phase.column)
        return {
            column: tuple(entry.value for entry in entries.values())
            for column, entries in written.items()
            if column not in varying and all(x.op is CONST for x in entries.values())
        }


def _written(phase: Straight[Scalar]) -> Output[Scalar]:
    return next(output for output in phase.program.outputs if output.name == WRITTEN)


def _zeros(body: Body) -> tuple[int, ...]:
    """Return where the results stand that are 0 by structure."""
    return tuple(
        body.arrays[name].place(position)
        for name, positions in body.schedule.zeros.items()
        for position in positions
    )


def _columns(reads: Sequence[int], writes: Sequence[int]) -> dict[str, Array]:
    return {COLUMNS: _array("columns", reads), WRITTEN: _array("columns", writes)}


def _array(name: str, places: Sequence[int]) -> Array:
    return Array(name, (len(places),), "", tuple(places))


def _body(program: Program[Scalar], arrays: Mapping[str, Array]) -> Body:
    lines = schedule(program)
    return Body(lines, local_names(lines, {array.name for array in arrays.values()}), arrays)
