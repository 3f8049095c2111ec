"""Rolled programs: loops over joints, one body of statements for all instead of one for each.

A `RolledProgram` is a `Program` as loops over joints, in phases.  Phases pass columns to each
other: a column holds one scalar of every joint, such as the first entry of t_1.

================  ==================================================================================
`Straight`        a program over the arguments of the function and over entries of columns
`EachJoint`       a program over the columns of one joint, for every joint: several in a vector
`EachPair`        programs over two joints of which one carries the other, for all such pairs: they
                  fill square arrays, one row after the other, several columns in a vector; where
                  a pair has k entries the rows of each joint are k, and the array is (n, k, n),
                  or its columns are, and the array is (n, n k)
`TowardsBase`     adds columns of every joint to those of the joint that carries it, leaves first
`AddDiagonal`     adds a column to the diagonal of a square array
`SetDiagonal`     replaces entries of the diagonal of a square array by those of a column
`Product`         a square array times a column
`Factors`         factorises a symmetric square array of pairs, M = L^T D L, in its place
`SolveColumn`     M x = b for one column, in its place
`SolveSquare`     M X = -B for the columns of a square array
`Inverse`         M^-1
================  ==================================================================================

Square arrays that are no results of the function stay inside.

Joints count from 1 and are carried by joints of smaller numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Generic

from symgen.algebra.interface import S
from symgen.program.program import Input, Program

COLUMNS, WRITTEN = "columns", "written"
"""Names in programs of phases: the input and the output that stand for entries of columns."""

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
    """Straight-line code; `reads` and `writes` name the entries of `COLUMNS` and `WRITTEN`."""

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
    """Square arrays (n, k, n), or (n, n k) with `beside`, whose k entries of a pair are adjacent.

    `beyond` gives the entries where the joint of the row carries, or is, that of the column,
    `before` those where it is carried by it; all others are 0.
    """

    beyond: Pair[S]
    before: Pair[S]
    beside: bool = False

    @property
    def pairs(self) -> tuple[Pair[S], Pair[S]]:
        """The programs `beyond` and `before`."""
        return self.beyond, self.before

    @property
    def squares(self) -> tuple[str, ...]:
        """Names of the arrays that are filled."""
        return tuple(output.name for output in self.beyond.program.outputs)

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """Shape of the entries of one pair, () or (k,), by array."""
        return {output.name: output.shape for output in self.beyond.program.outputs}


@dataclass(frozen=True)
class TowardsBase:
    """``column[parent of i] += column[i]``, from the last joint to the first"""

    columns: tuple[Column, ...]


@dataclass(frozen=True)
class AddDiagonal:
    """``square[i, i] += column[i]``; ``square[i, part, i]`` where a pair has several entries."""

    square: str
    column: Column
    part: int = 0


@dataclass(frozen=True)
class SetDiagonal:
    """``square[i, i] = column[i]`` for `joints`, whose columns hold the entries unrounded."""

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
    """Factorise M = L^T D L in place, leaves first: see `formulations.accelerations`.

    The pivots D and the diagonal of M are the hidden results of a function that solves.
    """

    square: str


@dataclass(frozen=True)
class SolveColumn:
    """Replace b in `column` by the solution x of M x = b, by the `factors` of M."""

    factors: str
    column: Column


@dataclass(frozen=True)
class SolveSquare:
    """`result` is the solution X of M X = -B; B, in `square`, is overwritten."""

    factors: str
    square: str
    result: str


@dataclass(frozen=True)
class Inverse:
    """`result` is M^-1."""

    factors: str
    result: str


Solving = SetDiagonal | Product | Factors | SolveColumn | SolveSquare | Inverse
Phase = Straight[S] | EachJoint[S] | EachPair[S] | TowardsBase | AddDiagonal | Solving


@dataclass(frozen=True)
class RolledProgram(Generic[S]):
    """One function of a robot by one formulation, in phases.

    `parents` holds the number of the joint that carries each joint, 0 for the base.
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
        """The notes of all phases: see `Program.notes`."""
        return {label: text for x in self.programs for label, text in x.notes.items()}

    @property
    def programs(self) -> Iterator[Program[S]]:
        """The programs of all phases."""
        for phase in self.phases:
            if isinstance(phase, EachPair):
                yield from (pair.program for pair in phase.pairs)
            elif isinstance(phase, (Straight, EachJoint)):
                yield phase.program

    def mapped(self, change: Callable[[Program[S]], Program[S]]) -> RolledProgram[S]:
        """Apply `change` to the programs of all phases."""

        def mapped(phase: Phase[S]) -> Phase[S]:
            if isinstance(phase, EachPair):
                beyond, before = (replace(x, program=change(x.program)) for x in phase.pairs)
                return replace(phase, beyond=beyond, before=before)
            if isinstance(phase, (Straight, EachJoint)):
                return replace(phase, program=change(phase.program))
            return phase

        return replace(self, phases=tuple(map(mapped, self.phases)))

    @property
    def depths(self) -> tuple[int, ...]:
        """Number of joints on the path from the base to each joint, inclusive."""
        depths: list[int] = []
        for parent in self.parents:
            depths.append(1 + (depths[parent - 1] if parent else 0))
        return tuple(depths)
