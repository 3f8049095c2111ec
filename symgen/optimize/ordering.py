"""Scheduling: from a program to a linear list of named assignments.

    schedule : Program[Scalar] -> Schedule

Sines and cosines of angles that depend on the arguments alone come first, in one section, because
they are computed fastest together.  Then the order is that of the recursion, step by step,
statement by statement: readers expect it, and it executes fastest.  Subexpressions that several
later expressions share become temporaries ``t1, t2, ...`` right before their first use; those used
once are printed inside their consumer, as long as the line stays readable.  Statements that no
output needs, and statements that fold to a constant or a bare symbol, vanish; an expression that
was named twice is computed once.  An output entry is stored as soon as its value is known.

Expressions that belong to no step (a program that was differentiated has many) follow in the order
of their creation, which is again the order of the recursion.

Every traversal is iterative and visits a node a bounded number of times: the cost is linear.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

from symgen.algebra.nodes import ARITHMETIC, CONST, SYMBOL, Scalar, reachable
from symgen.program.program import Program

MAX_OPERATIONS = 8
MAX_CHARACTERS = 72
ANGLES = "angles"
"""Kind of the first section: sines and cosines of angles that depend on the arguments alone."""

RESULTS = "results"
"""Kind of the last section: expressions that belong to no step."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """`name` = `value`; `note` names the equation and is empty for a temporary without a name."""

    name: str
    value: Scalar
    note: str


@dataclass(frozen=True, slots=True)
class Store:
    """Entry `position` (row by row) of the output `output` = `value`."""

    output: str
    position: int
    value: Scalar


Line = Assignment | Store


@dataclass(frozen=True, slots=True)
class Section:
    """The lines of one step: `kind` and `joint` are the step's."""

    kind: str
    joint: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Schedule:
    """The lines of a program, in the order of execution.

    `names` maps the index of every node that has a name (input symbols and assigned nodes) to it;
    a node without a name is printed where it is used.  `zeros` maps every output to the positions
    of its structural zeros, which no line stores.
    """

    program: Program[Scalar]
    sections: tuple[Section, ...]
    names: Mapping[int, str]
    zeros: Mapping[str, tuple[int, ...]]

    @property
    def lines(self) -> Iterator[Line]:
        """All lines, in order."""
        for section in self.sections:
            yield from section.lines

    def leaves(self, line: Line) -> list[Scalar]:
        """Return the named nodes that the right-hand side of `line` uses, from left to right."""
        leaves: list[Scalar] = []
        stack = [line.value] if isinstance(line, Store) else list(reversed(line.value.args))
        while stack:
            node = stack.pop()
            if node.index in self.names:
                leaves.append(node)
            else:
                stack.extend(reversed(node.args))
        return leaves


def is_wave(node: Scalar) -> bool:
    """Whether `node` is a sine or a cosine."""
    return node.op in ("sin", "cos")


def schedule(program: Program[Scalar]) -> Schedule:
    """Arrange the program as a linear list of assignments."""
    return _Scheduler(program).run()


class _Size(NamedTuple):
    """Size of an expression in print."""

    operations: int
    characters: int

    @property
    def readable(self) -> bool:
        return self.operations <= MAX_OPERATIONS and self.characters <= MAX_CHARACTERS


class _Scheduler:
    """The state of one walk over a program."""

    def __init__(self, program: Program[Scalar]) -> None:
        self.program = program
        self.live = reachable(program.results)
        self.names: dict[int, str] = {}
        for declared in program.inputs:
            for symbol, name in zip(declared.symbols, declared.symbol_names, strict=True):
                self.names[symbol.index] = name
        self.entries = self._entries()
        self.uses = self._uses()
        self.labels = self._labels()
        self.waves = self._waves()
        self.inlined: dict[int, _Size] = {}
        self.known = {node.index for node in self.live if node.op is CONST} | set(self.names)
        self.sections: list[Section] = []
        self.lines: list[Line] = []
        self.anonymous = self._anonymous_names()

    def run(self) -> Schedule:
        for node in self.waves.values():
            self._compute(node)
        self._close(ANGLES, "")
        for step in self.program.steps:
            for statement in step.statements:
                if statement.value.index in self.labels:
                    self._compute(statement.value)
            self._close(step.kind, step.joint)
        for node in self.live:
            if not node.is_atomic and (self.uses[node.index] > 1 or node.index in self.entries):
                self._compute(node)
        zeros = self._store_atoms()
        self._close(RESULTS, "")
        return Schedule(self.program, tuple(self.sections), self.names, zeros)

    # -- preparation ----------------------------------------------------------------------------

    def _entries(self) -> dict[int, list[tuple[str, int]]]:
        """Node index -> output entries with that value; constants and symbols are left out."""
        entries: dict[int, list[tuple[str, int]]] = {}
        for output in self.program.outputs:
            for position, node in enumerate(output.entries):
                if not node.is_atomic:
                    entries.setdefault(node.index, []).append((output.name, position))
        return entries

    def _uses(self) -> dict[int, int]:
        """Node index -> number of uses as an operand or output entry."""
        uses = {node.index: len(self.entries.get(node.index, ())) for node in self.live}
        for node in self.live:
            for arg in node.args:
                uses[arg.index] += 1
        return uses

    def _labels(self) -> dict[int, tuple[str, str]]:
        """Node index -> (name, note) of the first statement that names it and is needed."""
        labels: dict[int, tuple[str, str]] = {}
        for statement in self.program.statements:
            node = statement.value
            if node.index in self.uses and not node.is_atomic:
                labels.setdefault(node.index, (statement.name, statement.note))
        return labels

    def _waves(self) -> dict[int, Scalar]:
        """Sines and cosines of angles in which there is no function, by index."""
        plain = {CONST, SYMBOL, *ARITHMETIC}
        composed: set[int] = set()  # nodes with a function in them
        for node in self.live:
            if node.op not in plain or any(arg.index in composed for arg in node.args):
                composed.add(node.index)
        return {
            node.index: node
            for node in self.live
            if is_wave(node) and node.args[0].index not in composed
        }

    def _anonymous_names(self) -> Iterator[str]:
        taken = set(self.names.values())
        taken.update(statement.name for statement in self.program.statements)
        taken.update(declared.name for declared in self.program.inputs)
        taken.update(output.name for output in self.program.outputs)
        return (name for name in (f"t{number}" for number in count(1)) if name not in taken)

    # -- the walk ------------------------------------------------------------------------------

    def _compute(self, root: Scalar) -> None:
        """Append the missing lines that `root` needs, and its own."""
        stack, computed = [root], self.known
        while stack:
            node = stack[-1]
            if node.index in computed:
                stack.pop()
                continue
            missing = [arg for arg in node.args if arg.index not in computed]
            if missing:
                stack.extend(reversed(missing))
                continue
            stack.pop()
            self._place(node)
            computed.add(node.index)

    def _place(self, node: Scalar) -> None:
        """Give `node` a line, or leave it to the line of its consumer."""
        size = self._size(node)
        while not size.readable:
            parts = [x for x in node.args if x.index in self.inlined and not x.is_atomic]
            if not parts:
                break
            self._assign(max(parts, key=lambda arg: self.inlined[arg.index].characters))
            size = self._size(node)
        index = node.index
        entries = self.entries.get(index, [])
        shared = self.uses[index] > 1 and not node.is_atomic
        if shared or index in self.labels or index in self.waves:
            self._assign(node)
        else:
            self.inlined[index] = size
        self.lines.extend(Store(output, position, node) for output, position in entries)

    def _assign(self, node: Scalar) -> None:
        name, note = self.labels.get(node.index) or (next(self.anonymous), "")
        self.lines.append(Assignment(name, node, note))
        self.inlined.pop(node.index, None)
        self.names[node.index] = name

    def _size(self, node: Scalar) -> _Size:
        operations = 1
        characters = 3 if node.op in ARITHMETIC else len(node.op) + 2
        for arg in node.args:
            if arg.op is CONST:
                characters += len(repr(arg.value))
            elif arg.index in self.names:
                characters += len(self.names[arg.index])
            else:
                inlined = self.inlined[arg.index]
                operations += inlined.operations
                characters += inlined.characters
        return _Size(operations, characters)

    def _store_atoms(self) -> dict[str, tuple[int, ...]]:
        """Store the entries that are constants or bare symbols; return the positions of zeros."""
        zeros: dict[str, tuple[int, ...]] = {}
        for output in self.program.outputs:
            atoms = [(i, node) for i, node in enumerate(output.entries) if node.is_atomic]
            zeros[output.name] = tuple(i for i, node in atoms if node.is_zero)
            self.lines.extend(Store(output.name, i, node) for i, node in atoms if not node.is_zero)
        return zeros

    def _close(self, kind: str, joint: str) -> None:
        if self.lines:
            self.sections.append(Section(kind, joint, tuple(self.lines)))
            self.lines = []
