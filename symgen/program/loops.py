"""Looped programs: one body of statements for all joints, instead of one for each.

A `LoopedProgram` computes what a `Program` computes, in phases.  Phases pass columns to each other:
a column holds one scalar of every joint, such as the first entry of t_1.

================  ==================================================================================
`Straight`        a program over the arguments of the function and over entries of columns
`EachJoint`       a program over the columns of one joint, for every joint: several in a vector
`EachPair`        programs over two joints of which one carries the other, for all such pairs: they
                  fill square arrays, one row after the other, several columns in a vector; where
                  a pair has k entries the rows of each joint are k, and the array is (n, k, n),
                  or its columns are, and the array is (n, n k)
`TowardsBase`     adds columns of every joint to those of the joint that carries it, leaves first
`OnDiagonal`      adds a column to the diagonal of a square array
`Known`           puts entries of a column instead of some of a diagonal
`Product`         a square array times a column
`Factors`         factorises a symmetric square array of pairs, M = L^T D L, in its place
`SolveColumn`     M x = b for one column, in its place
`SolveSquare`     M X = -B for the columns of a square array
`Inverse`         M^-1
================  ==================================================================================

Square arrays that are no results of the function stay inside.

Joints count from 1 and are carried by joints of smaller numbers.  `unrolled` makes a straight line
of a looped program again, which shows that both say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Generic

from symgen.algebra.evaluation import evaluate, over_graph
from symgen.algebra.graph import Graph
from symgen.algebra.interface import S
from symgen.algebra.nodes import Scalar
from symgen.program.arguments import DIAGONAL, PIVOTS
from symgen.program.functions import function_named
from symgen.program.program import Input, Output, Program

COLUMNS, WRITTEN = "columns", "written"
"""Names in programs of phases: the input that is read from columns, the output that is written to
them."""

ROW, COLUMN = "row", "column"
"""Names in programs of pairs: the inputs of the row's joint and of the column's joint."""


@dataclass(frozen=True)
class Column:
    """One scalar of every joint: `stem` and, of a vector or a matrix, `part`."""

    stem: str
    part: str = ""

    def of(self, label: str) -> str:
        """Name of the entry of one joint, such as ``t1_n_3_x``."""
        return "_".join([self.stem, label, *([self.part] if self.part else [])])


@dataclass(frozen=True)
class Straight(Generic[S]):
    """A straight line; `reads` and `writes` name the entries of `COLUMNS` and `WRITTEN`."""

    program: Program[S]
    reads: tuple[tuple[Column, int], ...]
    writes: tuple[tuple[Column, int], ...]


@dataclass(frozen=True)
class EachJoint(Generic[S]):
    """A program for every joint; `reads` and `writes` name the entries of `COLUMNS` and
    `WRITTEN`."""

    program: Program[S]
    reads: tuple[Column, ...]
    writes: tuple[Column, ...]


@dataclass(frozen=True)
class Pair(Generic[S]):
    """A program over two joints; `rows` and `columns` name the entries of `ROW` and `COLUMN`.

    Its outputs are the entries of the square arrays of the same names: scalars, or k numbers each.
    """

    program: Program[S]
    rows: tuple[Column, ...]
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class EachPair(Generic[S]):
    """Square arrays; with `beside` the entries that a pair has stand one beside the other, and the
    array is (n, n k).  `beyond` holds where the joint of the row carries that of the column or is
    the same, `before` where it is carried by it; elsewhere there are zeros."""

    beyond: Pair[S]
    before: Pair[S]
    beside: bool = False

    @property
    def squares(self) -> tuple[str, ...]:
        """The arrays that are filled."""
        return tuple(output.name for output in self.beyond.program.outputs)

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """Return, by array, the shape of the entries of one pair: () or (k,)."""
        return {output.name: output.shape for output in self.beyond.program.outputs}


@dataclass(frozen=True)
class TowardsBase:
    """``column[parent of i] += column[i]``, from the last joint to the first"""

    columns: tuple[Column, ...]


@dataclass(frozen=True)
class OnDiagonal:
    """``square[i, i] += column[i]``; ``square[i, part, i]`` where a pair has several entries."""

    square: str
    column: Column
    part: int = 0


@dataclass(frozen=True)
class Known:
    """``square[i, i] = column[i]`` for `joints`, where the column holds it without rounding."""

    square: str
    column: Column
    joints: tuple[int, ...]


@dataclass(frozen=True)
class Product:
    """``result[i] = sum_k square[i, k] column[k]``, a column"""

    square: str
    column: Column
    result: Column


@dataclass(frozen=True)
class Factors:
    """M = L^T D L instead of `square`, leaves first: see `formulations.accelerations`.

    The pivots D and the diagonal of M are the hidden results of a function that solves."""

    square: str


@dataclass(frozen=True)
class SolveColumn:
    """x with M x = b, both of them `column`; `factors` holds those of M."""

    factors: str
    column: Column


@dataclass(frozen=True)
class SolveSquare:
    """`result` X with M X = -B; B, in `square`, is lost."""

    factors: str
    square: str
    result: str


@dataclass(frozen=True)
class Inverse:
    """`result` is M^-1."""

    factors: str
    result: str


Solving = Known | Product | Factors | SolveColumn | SolveSquare | Inverse
Phase = Straight[S] | EachJoint[S] | EachPair[S] | TowardsBase | OnDiagonal | Solving


@dataclass(frozen=True)
class LoopedProgram(Generic[S]):
    """One function of a robot by one formulation, in phases.

    `parents` has for every joint the number of the one that carries it, 0 for the base.
    """

    robot: str
    formulation: str
    function: str
    inputs: tuple[Input[S], ...]
    parents: tuple[int, ...]
    phases: tuple[Phase[S], ...]

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.parents)

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns, in the order in which they are filled."""
        columns: dict[Column, None] = {}
        for phase in self.phases:
            if isinstance(phase, Straight):
                columns.update((column, None) for column, _ in phase.writes)
            elif isinstance(phase, EachJoint):
                columns.update((column, None) for column in phase.writes)
            elif isinstance(phase, Product):
                columns[phase.result] = None
        return tuple(columns)

    @property
    def notes(self) -> Mapping[str, str]:
        """Return the notes of all phases: see `Program.notes`."""
        return {label: text for x in self.programs for label, text in x.notes.items()}

    @property
    def programs(self) -> Iterator[Program[S]]:
        """The programs of all phases."""
        for phase in self.phases:
            if isinstance(phase, EachPair):
                yield phase.beyond.program
                yield phase.before.program
            elif isinstance(phase, (Straight, EachJoint)):
                yield phase.program

    def mapped(self, change: Callable[[Program[S]], Program[S]]) -> LoopedProgram[S]:
        """Return the phases with changed programs."""

        def of_pair(pair: Pair[S]) -> Pair[S]:
            return replace(pair, program=change(pair.program))

        phases: list[Phase[S]] = []
        for phase in self.phases:
            if isinstance(phase, EachPair):
                pairs = of_pair(phase.beyond), of_pair(phase.before)
                phases.append(replace(phase, beyond=pairs[0], before=pairs[1]))
            elif isinstance(phase, (Straight, EachJoint)):
                phases.append(replace(phase, program=change(phase.program)))
            else:
                phases.append(phase)
        return replace(self, phases=tuple(phases))

    @property
    def depths(self) -> tuple[int, ...]:
        """How many joints there are from the base to each joint, it included."""
        depths: list[int] = []
        for parent in self.parents:
            depths.append(1 + (depths[parent - 1] if parent else 0))
        return tuple(depths)

    def is_before(self, i: int, k: int) -> bool:
        """Whether joint i carries joint k."""
        while k > i:
            k = self.parents[k - 1]
            if k == i:
                return True
        return False


def unrolled(looped: LoopedProgram[Scalar]) -> Program[Scalar]:
    """The straight line that the loops amount to, in a graph of its own and without statements."""
    return _Unrolling(looped).program()


class _Unrolling:
    """The values of all columns and results while the phases are gone through."""

    def __init__(self, looped: LoopedProgram[Scalar]) -> None:
        self.looped, self.graph = looped, Graph()
        self.arguments = {
            name: self.graph.symbol(name) for x in looped.inputs for name in x.symbol_names
        }
        self.columns: dict[tuple[Column, int], Scalar] = {}
        self.results: dict[str, tuple[tuple[int, ...], list[Scalar]]] = {}

    def program(self) -> Program[Scalar]:
        for phase in self.looped.phases:
            if isinstance(phase, Straight):
                self._straight(phase)
            elif isinstance(phase, EachJoint):
                self._each_joint(phase)
            elif isinstance(phase, EachPair):
                self._each_pair(phase)
            elif isinstance(phase, TowardsBase):
                self._towards_base(phase)
            elif isinstance(phase, OnDiagonal):
                self._on_diagonal(phase)
            else:
                self._solving(phase)
        x, spec = self.looped, function_named(self.looped.function)
        names = [array.name for array in (*spec.results, *spec.hidden)]
        arrays = ((name, *self.results[name]) for name in names)
        outputs = tuple(Output(name, shape, tuple(entries)) for name, shape, entries in arrays)
        return Program(x.robot, x.formulation, x.function, x.inputs, outputs, (), {})

    def _straight(self, phase: Straight[Scalar]) -> None:
        values = {**self.arguments, **self._given(phase.program, COLUMNS, phase.reads)}
        for name, shape, entries in self._values(phase.program, values):
            if name == WRITTEN:
                self.columns.update(zip(phase.writes, entries, strict=True))
            else:
                self.results[name] = shape, entries

    def _each_joint(self, phase: EachJoint[Scalar]) -> None:
        for j in range(1, self.looped.n + 1):
            values = self._given(phase.program, COLUMNS, [(column, j) for column in phase.reads])
            ((_, _, entries),) = self._values(phase.program, values)
            writes = [(column, j) for column in phase.writes]
            self.columns.update(zip(writes, entries, strict=True))

    def _each_pair(self, phase: EachPair[Scalar]) -> None:
        n = self.looped.n
        for name, shape in phase.shapes.items():
            full_shape = (n, n * prod(shape)) if phase.beside else (n, *shape, n)
            self.results[name] = full_shape, [self.graph.zero] * prod(full_shape)
        for r in range(1, n + 1):
            for c in range(1, n + 1):
                if r == c or self.looped.is_before(r, c):
                    self._pair(phase.beyond, r, c, phase.beside)
                elif self.looped.is_before(c, r):
                    self._pair(phase.before, r, c, phase.beside)

    def _pair(self, pair: Pair[Scalar], r: int, c: int, beside: bool) -> None:
        rows = self._given(pair.program, ROW, [(column, r) for column in pair.rows])
        columns = self._given(pair.program, COLUMN, [(column, c) for column in pair.columns])
        for name, _, entries in self._values(pair.program, {**rows, **columns}):
            n, height = self.looped.n, len(entries)
            for part, entry in enumerate(entries):
                if beside:
                    place = ((r - 1) * n + c - 1) * height + part
                else:
                    place = ((r - 1) * height + part) * n + c - 1
                self.results[name][1][place] = entry

    def _towards_base(self, phase: TowardsBase) -> None:
        for i in range(self.looped.n, 0, -1):
            parent = self.looped.parents[i - 1]
            for column in phase.columns if parent else ():
                carried = self.columns[column, i]
                self.columns[column, parent] = self.graph.add(self.columns[column, parent], carried)

    def _on_diagonal(self, phase: OnDiagonal) -> None:
        (shape, entries), n = self.results[phase.square], self.looped.n
        for j in range(n):
            place = j * prod(shape[1:]) + phase.part * n + j
            entries[place] = self.graph.add(entries[place], self.columns[phase.column, j + 1])

    def _solving(self, phase: Solving) -> None:
        n = self.looped.n
        joints = range(1, n + 1)
        if isinstance(phase, Known):
            for j in phase.joints:
                diagonal = self.columns[phase.column, j]
                self.results[phase.square][1][(j - 1) * (n + 1)] = diagonal
        elif isinstance(phase, Product):
            entries = self.results[phase.square][1]
            column = [self.columns[phase.column, k] for k in joints]
            for j in joints:
                row = entries[(j - 1) * n : j * n]
                self.columns[phase.result, j] = self._inner(row, column)
        elif isinstance(phase, Factors):
            self._factorise(self.results.pop(phase.square)[1])
        elif isinstance(phase, SolveColumn):
            solution = self._solved([self.columns[phase.column, j] for j in joints])
            self.columns.update(
                ((phase.column, j), x) for j, x in zip(joints, solution, strict=True)
            )
        else:
            graph, columns = self.graph, []
            if isinstance(phase, SolveSquare):
                entries = [graph.neg(x) for x in self.results.pop(phase.square)[1]]
            else:
                entries = [graph.one if i == k else graph.zero for i in joints for k in joints]
            columns = [self._solved(entries[k::n]) for k in range(n)]
            solved = [columns[k][i] for i in range(n) for k in range(n)]
            self.results[phase.result] = (n, n), solved

    def _factorise(self, entries: list[Scalar]) -> None:
        """Fill `rows` and `pivots`, and with these the hidden results."""
        n, graph = self.looped.n, self.graph
        left = {(i, k): entries[i * n + k] for i in range(n) for k in range(n)}
        diagonal = [left[k, k] for k in range(n)]
        self.rows: list[dict[int, Scalar]] = [{} for _ in range(n)]
        for k in reversed(range(n)):
            before = [i for i in range(k) if self.looped.is_before(i + 1, k + 1)]
            for i in before:
                self.rows[k][i] = graph.div(left[k, i], left[k, k])
                for j in [*(j for j in before if j < i), i]:
                    product = graph.mul(self.rows[k][i], left[k, j])
                    left[i, j] = graph.sub(left[i, j], product)
        self.pivots = [left[k, k] for k in range(n)]
        for name, entries_of_array in ((PIVOTS, self.pivots), (DIAGONAL, diagonal)):
            self.results[name] = (n,), entries_of_array

    def _solved(self, x: list[Scalar]) -> list[Scalar]:
        graph, x = self.graph, list(x)
        for k in reversed(range(len(x))):
            for i, multiplier in self.rows[k].items():
                x[i] = graph.sub(x[i], graph.mul(multiplier, x[k]))
        x = [graph.div(entry, pivot) for entry, pivot in zip(x, self.pivots, strict=True)]
        for k, row in enumerate(self.rows):
            carried = self._inner(row.values(), [x[i] for i in row])
            x[k] = graph.sub(x[k], carried)
        return x

    def _inner(self, x: Iterable[Scalar], y: Iterable[Scalar]) -> Scalar:
        total = self.graph.zero
        for left, right in zip(x, y, strict=True):
            total = self.graph.add(total, self.graph.mul(left, right))
        return total

    def _given(
        self, program: Program[Scalar], name: str, places: Sequence[tuple[Column, int]]
    ) -> dict[str, Scalar]:
        names = program.input(name).symbol_names
        return {name: self.columns[place] for name, place in zip(names, places, strict=True)}

    def _values(
        self, program: Program[Scalar], values: Mapping[str, Scalar]
    ) -> Iterator[tuple[str, tuple[int, ...], list[Scalar]]]:
        results = iter(evaluate(program.results, values, over_graph(self.graph)))
        for output in program.outputs:
            yield output.name, output.shape, [next(results) for _ in output.entries]
