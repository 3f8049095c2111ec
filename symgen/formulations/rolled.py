"""Writing rolled programs: a formulation writes its phases here, one after the other.

A formulation calls the same steps as for its straight line.  Where a step would take what earlier
steps found of a joint it gets symbols, which `Entries` hands out: entries of columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeAlias

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector
from symgen.algebra.spatial import Spatial
from symgen.algebra.turns import UPPER, mirrored
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder
from symgen.program.program import Input, Program
from symgen.program.rolled import (
    COLUMN,
    COLUMNS,
    ROW,
    WRITTEN,
    AddDiagonal,
    Column,
    EachJoint,
    EachPair,
    Pair,
    Phase,
    RolledProgram,
    Solving,
    Straight,
    TowardsBase,
)

Value: TypeAlias = S | Vector[S] | Matrix[S] | Spatial[S]


Entry: TypeAlias = S | tuple[S, ...]
"""Entries of a pair of joints in a square array: one number or several."""


class Entries(Generic[S]):
    """Columns of the joint `label`, as symbols that are declared when they are read."""

    def __init__(self, b: ProgramBuilder[S], label: str) -> None:
        self._b, self.label = b, label
        self._found: dict[Column, tuple[str, S]] = {}

    @property
    def read(self) -> tuple[Column, ...]:
        """The columns that were asked for, in that order."""
        return tuple(self._found)

    def scalar(self, stem: str, part: str = "") -> S:
        """One entry."""
        column = Column(stem, part)
        if column not in self._found:
            name = self._b.unique(column.of(self.label))
            self._found[column] = name, self._b.algebra.symbol(name)
        return self._found[column][1]

    def vector(self, stem: str) -> Vector[S]:
        """Return the entries x, y, z."""
        return Vector(*(self.scalar(stem, part) for part in "xyz"))

    def matrix(self, stem: str) -> Matrix[S]:
        """Return the entries 11 to 33."""
        return Matrix([[self.scalar(stem, f"{i}{k}") for k in (1, 2, 3)] for i in (1, 2, 3)])

    def symmetric(self, stem: str) -> Matrix[S]:
        """Return a matrix of which the entries on and above the diagonal are there."""
        return mirrored({(i, k): self.scalar(stem, f"{i + 1}{k + 1}") for i, k in UPPER})

    def spatial(self, stems: str) -> Spatial[S]:
        """Return both vectors of a spatial vector: ``"S_w S_v"``."""
        return Spatial(*map(self.vector, stems.split()))

    def input(self, name: str) -> Input[S]:
        """All of them as an input."""
        names, symbols = zip(*self._found.values(), strict=True) if self._found else ((), ())
        return Input(name, (len(names),), symbols, names)


def entries_of(stem: str, value: Value[S], symmetric: bool = False) -> dict[Column, S]:
    """`value` by column; of a symmetric matrix the entries on and above the diagonal.

    Of a spatial vector `stem` names both parts: ``"S_w S_v"``.
    """
    if isinstance(value, Spatial):
        angular, linear = stem.split()
        return {**entries_of(angular, value.angular), **entries_of(linear, value.linear)}
    if isinstance(value, Vector):
        return {Column(stem, part): x for part, x in zip("xyz", value, strict=True)}
    if isinstance(value, Matrix):
        places = UPPER if symmetric else [(i, k) for i in range(3) for k in range(3)]
        return {Column(stem, f"{i + 1}{k + 1}"): value[i, k] for i, k in places}
    return {Column(stem): value}


PairStep: TypeAlias = Callable[[ProgramBuilder[S], Entries[S], Entries[S]], Mapping[str, Entry[S]]]
"""Writer of the entries of a row's joint and a column's joint in square arrays."""

BothWays: TypeAlias = Callable[
    [ProgramBuilder[S], Entries[S], Entries[S]], Mapping[str, tuple[S, S]]
]
"""Writer of the entries (j, i) and (i, j) in square arrays; j carries i, or is i."""


@dataclass(frozen=True)
class Floating:
    """A floating base: the numbers of its columns among the joints, and of those that slide."""

    columns: tuple[int, ...]
    sliding: tuple[int, ...]


@dataclass(frozen=True)
class Start(Generic[S]):
    """How a straight phase begins: its builder, the arguments of the function, and the robot.

    Where there are floating bases, `tree` is their chain posed by q, `state` that of the chain
    (see `formulations.manifolds`); `arguments` are those of the function, and `N` is added to the
    chain's accelerations.  Elsewhere `arguments` is `state`.
    """

    b: ProgramBuilder[S]
    state: State[S]
    tree: KinematicTree[S]
    arguments: State[S]
    floating: Sequence[Floating] = ()
    N: Sequence[S] = ()


class StraightBuilder(Generic[S]):
    """A straight phase, of what it starts with; see `Start`."""

    def __init__(self, start: Start[S]) -> None:
        self.b, self.state, self.tree = start.b, start.state, start.tree
        self.arguments, self.floating, self.N = start.arguments, start.floating, start.N
        self._entries: dict[int, Entries[S]] = {}
        self._written: dict[tuple[Column, int], S] = {}

    def joint(self, j: int) -> Entries[S]:
        """Return the columns of joint j."""
        return self._entries.setdefault(j, Entries(self.b, f"{j}"))

    def write(self, j: int, stem: str, value: Value[S], symmetric: bool = False) -> None:
        """Put `value` of joint j into columns."""
        entries = entries_of(stem, value, symmetric)
        self._written.update({(column, j): x for column, x in entries.items()})

    def phase(self, build: Callable[[ProgramBuilder[S]], Program[S]]) -> Straight[S]:
        """Return the phase that was written."""
        inputs = [entries.input(COLUMNS) for entries in self._entries.values()]
        names = tuple(name for array in inputs for name in array.symbol_names)
        symbols = tuple(symbol for array in inputs for symbol in array.symbols)
        self.b.declare(Input(COLUMNS, (len(names),), symbols, names))
        self.b.output(WRITTEN, (len(self._written),), self._written.values())
        reads = tuple(
            (column, j) for j, columns in self._entries.items() for column in columns.read
        )
        return Straight(build(self.b), reads, tuple(self._written))


class RolledBuilder(Generic[S]):
    """Collects the phases of one rolled program.

    `start` gives a builder with the arguments of the function declared, and what they make;
    `notes` are those of the formulation.
    """

    def __init__(
        self,
        tree: KinematicTree[S],
        names: tuple[str, str],
        start: Callable[[], Start[S]],
        notes: Mapping[str, str],
    ) -> None:
        self._tree, self._names, self._start, self._notes = tree, names, start, notes
        self._phases: list[Phase[S]] = []

    @property
    def floats(self) -> bool:
        """Whether there are floating bases."""
        return bool(self._tree.manifolds)

    @contextmanager
    def straight(self) -> Iterator[StraightBuilder[S]]:
        """A phase over the whole robot; outputs of the function are declared in its builder."""
        written = StraightBuilder(self._start())
        yield written
        self._phases.append(written.phase(self._build))

    def each_joint(
        self, write: Callable[[ProgramBuilder[S], Entries[S]], Mapping[Column, S]]
    ) -> tuple[Column, ...]:
        """A phase over every joint: `write` gives what it puts into columns; says into which."""
        b = self._builder()
        joint = Entries(b, "i")
        written = write(b, joint)
        b.declare(joint.input(COLUMNS))
        b.output(WRITTEN, (len(written),), written.values())
        self._phases.append(EachJoint(self._build(b), joint.read, tuple(written)))
        return tuple(written)

    def each_pair(self, beyond: PairStep[S], before: PairStep[S], beside: bool = False) -> None:
        """A phase over pairs of joints, of row and column: the row's joint carries that of the
        column or is the same, or is carried by it."""
        self._phases.append(EachPair(self._pair(beyond), self._pair(before), beside))

    def each_pair_both_ways(self, step: BothWays[S]) -> None:
        """`each_pair` where one step finds the entry of a pair and its mirror image."""

        def beyond(b: ProgramBuilder[S], j: Entries[S], i: Entries[S]) -> Mapping[str, S]:
            return {name: ji for name, (ji, _) in step(b, j, i).items()}

        def before(b: ProgramBuilder[S], i: Entries[S], j: Entries[S]) -> Mapping[str, S]:
            return {name: ij for name, (_, ij) in step(b, j, i).items()}

        self.each_pair(beyond, before)

    def towards_base(self, columns: Iterable[Column]) -> None:
        """Add columns of every joint to those of the joint that carries it, leaves first."""
        self._phases.append(TowardsBase(tuple(columns)))

    def solving(self, *phases: Solving) -> None:
        """Phases as they stand."""
        self._phases.extend(phases)

    def on_diagonal(self, square: str, *stems: str) -> None:
        """Add the column of a number, or those of vectors, to the diagonal of `square`."""
        parts = [""] if len(stems) == 1 else "xyz"
        columns = [Column(stem, part) for stem in stems for part in parts]
        for place, column in enumerate(columns):
            self._phases.append(AddDiagonal(square, column, place))

    def build(self) -> RolledProgram[S]:
        """Return the finished program."""
        parents = tuple(joint.parent for joint in self._tree.joints)
        inputs = self._start().b.inputs
        return RolledProgram(self._tree.name, *self._names, inputs, parents, tuple(self._phases))

    def _pair(self, write: PairStep[S]) -> Pair[S]:
        b = self._builder()
        row, column = Entries(b, "r"), Entries(b, "c")
        for name, entry in write(b, row, column).items():
            if isinstance(entry, tuple):
                b.output(name, (len(entry),), entry)
            else:
                b.output(name, (), (entry,))
        b.declare(row.input(ROW))
        b.declare(column.input(COLUMN))
        return Pair(self._build(b), row.read, column.read)

    def _builder(self) -> ProgramBuilder[S]:
        return ProgramBuilder(self._tree.algebra, taken=self._tree.parameter_names)

    def _build(self, b: ProgramBuilder[S]) -> Program[S]:
        b.parameters(self._tree.parameter_names)
        return b.build(self._tree.name, *self._names, self._notes)
