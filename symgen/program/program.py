"""Programs: what a formulation derives, optimisation improves, and emission prints.

A `Program` computes one function of a robot.  It is a list of steps, each tagged with the joint it
belongs to and its kind; a step holds statements ``name = expression``, each with a note that names
the equation it comes from.  The statements stand in the order of the recursion, which is also the
fastest order to execute them in.  A straight line is only one way to emit a program.

Over a `Graph` the values are nodes, and a name is a label on a node: a later expression refers to
the node itself.  Over SymPy the values are expressions, and later ones refer to the name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Generic

from symgen.algebra.interface import S


@dataclass(frozen=True)
class Input(Generic[S]):
    """An array argument, such as ``q``: its shape and its entries' symbols in row-major order."""

    name: str
    shape: tuple[int, ...]
    symbols: tuple[S, ...]
    symbol_names: tuple[str, ...]


@dataclass(frozen=True)
class Output(Generic[S]):
    """An array result, such as ``tau``: its shape (empty for a scalar), its entries row by row."""

    name: str
    shape: tuple[int, ...]
    entries: tuple[S, ...]


DERIVATIVE = "d "
"""Prefix of a label: the statement is the derivative of one with that label."""

ADJOINT = "adjoint "
"""Prefix of a label: the statement is the derivative of a sum of results by a scalar that a
statement with that label defines."""


def is_derivative(note: str) -> bool:
    """Whether a statement with this note is a derivative or an adjoint of another one."""
    return note.startswith((DERIVATIVE, ADJOINT))


@dataclass(frozen=True, slots=True)
class Statement(Generic[S]):
    """`name` = `value`, by the equation labelled `note` in the program's `notes`."""

    name: str
    value: S
    note: str


@dataclass(frozen=True)
class Step(Generic[S]):
    """Statements that belong together: one joint's part of one sweep of a recursion.

    `kind` says which sweep (``forward``, ``backward``, ...); `joint` is the joint's name, or
    empty where the step belongs to the whole robot.
    """

    kind: str
    joint: str
    statements: tuple[Statement[S], ...]


@dataclass(frozen=True)
class Program(Generic[S]):
    """One function of a robot by one formulation.

    `notes` maps every label that statements use to the text of its equation and its source.
    """

    robot: str
    formulation: str
    function: str
    inputs: tuple[Input[S], ...]
    outputs: tuple[Output[S], ...]
    steps: tuple[Step[S], ...]
    notes: Mapping[str, str]

    @property
    def statements(self) -> tuple[Statement[S], ...]:
        """All statements, in order."""
        return tuple(statement for step in self.steps for statement in step.statements)

    @property
    def results(self) -> tuple[S, ...]:
        """The entries of all outputs, in order."""
        return tuple(entry for output in self.outputs for entry in output.entries)

    def input(self, name: str) -> Input[S]:
        """Return the input called `name`; KeyError if there is none."""
        for candidate in self.inputs:
            if candidate.name == name:
                return candidate
        raise KeyError(name)

    def with_values(self, inputs: tuple[Input[S], ...], values: Iterable[S]) -> Program[S]:
        """The program with other inputs, and other values of all statements, then `results`."""
        new = iter(values)
        steps = tuple(
            replace(x, statements=tuple(replace(line, value=next(new)) for line in x.statements))
            for x in self.steps
        )
        outputs = tuple(
            replace(x, entries=tuple(next(new) for _ in x.entries)) for x in self.outputs
        )
        return replace(self, inputs=inputs, steps=steps, outputs=outputs)

    @property
    def values(self) -> list[S]:
        """The values of all statements, then the results."""
        return [*(statement.value for statement in self.statements), *self.results]
