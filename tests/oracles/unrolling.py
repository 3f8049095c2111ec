"""Unrolling of rolled programs: the straight lines that they amount to, computed phase by phase."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod

from symgen.algebra.evaluation import evaluate, over_graph
from symgen.algebra.graph import Graph
from symgen.algebra.nodes import Scalar
from symgen.program.arguments import DIAGONAL, PIVOTS
from symgen.program.functions import function_named
from symgen.program.program import Output, Program
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
    Pair,
    Product,
    RolledProgram,
    SetDiagonal,
    SolveColumn,
    SolveSquare,
    Solving,
    Straight,
    TowardsBase,
)


def unrolled(looped: RolledProgram[Scalar]) -> Program[Scalar]:
    """The straight line that the loops amount to, in a graph of its own and without statements."""
    return _Unrolling(looped).program()


class _Unrolling:
    """The values of all columns and results while the phases are gone through."""

    def __init__(self, looped: RolledProgram[Scalar]) -> None:
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
            elif isinstance(phase, AddDiagonal):
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
                if r == c or _is_before(self.looped, r, c):
                    self._pair(phase.beyond, r, c, phase.beside)
                elif _is_before(self.looped, c, r):
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

    def _on_diagonal(self, phase: AddDiagonal) -> None:
        (shape, entries), n = self.results[phase.square], self.looped.n
        for j in range(n):
            place = j * prod(shape[1:]) + phase.part * n + j
            entries[place] = self.graph.add(entries[place], self.columns[phase.column, j + 1])

    def _solving(self, phase: Solving) -> None:
        n = self.looped.n
        joints = range(1, n + 1)
        if isinstance(phase, SetDiagonal):
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
            before = [i for i in range(k) if _is_before(self.looped, i + 1, k + 1)]
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


def _is_before(looped: RolledProgram[Scalar], i: int, k: int) -> bool:
    """Whether joint i carries joint k."""
    while k > i:
        k = looped.parents[k - 1]
        if k == i:
            return True
    return False
