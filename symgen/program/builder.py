"""Construction of programs: formulations name their temporaries here, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Generic, TypeAlias, overload

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Vector
from symgen.program.program import ADJOINT, DERIVATIVE, Input, Output, Program, Statement, Step

Results: TypeAlias = Mapping[str, Sequence[S]]
"""Entries of the results of a function, row by row, by name; the table of functions has shapes."""


class ProgramBuilder(Generic[S]):
    """Collects the inputs, steps and outputs of one program.

    `taken` are names that no temporary or input may use (the model's parameters).
    """

    def __init__(self, algebra: Algebra[S], taken: Iterable[str] = ()) -> None:
        self.algebra = algebra
        self._names = set(taken)
        self._repeats: dict[str, int] = {}
        self._inputs: list[Input[S]] = []
        self._outputs: list[Output[S]] = []
        self._steps: list[Step[S]] = []
        self._current: list[Statement[S]] | None = None
        self._variant = ""
        self._part = ""
        self._labels: set[S] = set()
        self._places: dict[int, tuple[int, int]] = {}

    def input(self, name: str, shape: tuple[int, ...], entry_names: Sequence[str]) -> tuple[S, ...]:
        """Declare the array argument `name`; its entries as symbols, row by row."""
        declared = self.auxiliary(name, shape, entry_names)
        self.declare(declared)
        return declared.symbols

    def declare(self, array: Input[S]) -> None:
        """Declare an array argument that has symbols already."""
        self._inputs.append(array)

    @contextmanager
    def taking(self, arrays: Iterable[Input[S]]) -> Iterator[None]:
        """Inside the `with` block, let `arrays` replace the arguments of the same names."""
        outer, by_name = self._inputs, {array.name: array for array in arrays}
        self._inputs = [by_name.get(array.name, array) for array in outer]
        try:
            yield
        finally:
            self._inputs = outer

    @property
    def inputs(self) -> tuple[Input[S], ...]:
        """The arguments that were declared."""
        return tuple(self._inputs)

    def declared(self, name: str) -> Input[S]:
        """Return the input called `name`, which was declared before."""
        return next(array for array in self._inputs if array.name == name)

    def parameters(self, names: Sequence[str]) -> None:
        """Declare the model's parameters as the last argument, under their own names."""
        symbols = tuple(self.algebra.symbol(name) for name in names)
        self._inputs.append(Input("parameters", (len(names),), symbols, tuple(names)))

    def auxiliary(self, name: str, shape: tuple[int, ...], entry_names: Sequence[str]) -> Input[S]:
        """Make symbols that are no argument, to differentiate by and to substitute afterwards."""
        names = tuple(self.unique(entry) for entry in entry_names)
        return Input(name, shape, tuple(map(self.algebra.symbol, names)), names)

    def rewrite(self, change: Callable[[Step[S]], Step[S]]) -> None:
        """Replace every step written so far by its `change`."""
        self._set_steps([change(step) for step in self._steps])

    def substitute(self, values: Mapping[S, S], results: Results[S]) -> Results[S]:
        """Replace symbols in all statements, by scalars that are defined before they occur.

        To hold an expression constant during differentiation, write a symbol of `auxiliary` in its
        place, differentiate, and substitute.  Returns `results` with the same replacements.
        """
        if not values:
            return results
        written = [line.value for step in self._steps for line in step.statements]
        written += [entry for entries in results.values() for entry in entries]
        replacements = iter(self.algebra.replaced(written, values))

        def replaced(line: Statement[S]) -> Statement[S]:
            value = next(replacements)
            if value is not line.value:
                self.algebra.named(line.name, value)
            return Statement(line.name, value, line.note)

        self.rewrite(lambda step: replace(step, statements=tuple(map(replaced, step.statements))))
        return {name: list(islice(replacements, len(x))) for name, x in results.items()}

    @property
    def steps(self) -> tuple[Step[S], ...]:
        """The steps written so far."""
        return tuple(self._steps)

    @property
    def length(self) -> int:
        """Number of steps written so far."""
        return len(self._steps)

    def output(self, name: str, shape: tuple[int, ...], entries: Iterable[S]) -> None:
        """Declare the array result `name`, its entries row by row."""
        self._outputs.append(Output(name, shape, tuple(entries)))

    @contextmanager
    def step(self, kind: str, joint: str = "") -> Iterator[None]:
        """Collect the statements made inside into one step.  Steps do not nest."""
        if self._current is not None:
            raise RuntimeError("steps do not nest")
        self._current = []
        try:
            yield
        finally:
            statements, self._current = self._current, None
            if statements:
                self._append(Step(self._part + kind, joint, tuple(statements)))

    @contextmanager
    def variant(self, suffix: str, part: str = "") -> Iterator[None]:
        """Append `suffix` to names made inside, for a recursion that runs several times.

        `part` names the purpose of the run, as a prefix of the kind of each step.
        """
        outer = self._variant, self._part
        self._variant += suffix
        self._part = f"{part}: " if part else self._part
        try:
            yield
        finally:
            self._variant, self._part = outer

    @overload
    def let(self, name: str, value: Vector[S], note: str) -> Vector[S]: ...
    @overload
    def let(self, name: str, value: Matrix[S], note: str) -> Matrix[S]: ...
    @overload
    def let(self, name: str, value: S, note: str) -> S: ...
    def let(
        self, name: str, value: S | Vector[S] | Matrix[S], note: str
    ) -> S | Vector[S] | Matrix[S]:
        """Name `value` (entry by entry for a vector or matrix), by the equation `note`.

        Returns what later expressions should use.  Constants and bare symbols get no name.
        """
        if isinstance(value, Vector):
            parts = zip("xyz", value, strict=True)
            return Vector(*(self._let(f"{name}_{axis}", part, note) for axis, part in parts))
        if isinstance(value, Matrix):
            return Matrix(
                [
                    [
                        self._let(f"{name}_{i}{k}", entry, note)
                        for k, entry in enumerate(row, start=1)
                    ]
                    for i, row in enumerate(value.rows, start=1)
                ]
            )
        return self._let(name, value, note)

    def rename(self, values: Mapping[str, S], note: str) -> list[S]:
        """Give scalars their final names, by renaming their statements where they have any.

        Over an algebra whose scalars are names, a new statement equates both.  Returns the scalars
        that later expressions should use, in order.
        """
        renamed_values: list[S] = []
        renamed: set[int] = set()
        for name, value in values.items():
            first = id(value) in self._places and id(value) not in renamed
            if value in self._labels and first:
                i, k = self._places[id(value)]
                renamed.add(id(value))
                lines = list(self._steps[i].statements)
                lines[k] = Statement(self.unique(name + self._variant), value, note)
                self._steps[i] = replace(self._steps[i], statements=tuple(lines))
                self._labels.remove(value)  # its name is final
                renamed_values.append(value)
            elif value in self._labels:
                renamed_values.append(self._write(name, value, note))
            else:
                renamed_values.append(self._let(name, value, note))
        return renamed_values

    def build(
        self, robot: str, formulation: str, function: str, notes: Mapping[str, str]
    ) -> Program[S]:
        """Return the program, with those notes alone that its statements use.

        The notes ``d X`` of derivatives are made from those of `notes`.
        """
        return Program(
            robot=robot,
            formulation=formulation,
            function=function,
            inputs=tuple(self._inputs),
            outputs=tuple(self._outputs),
            steps=tuple(self._steps),
            notes=_used_notes(self._steps, notes),
        )

    def _append(self, step: Step[S]) -> None:
        """Add a step, or extend the last one if kind and joint are the same."""
        former = self._steps[-1] if self._steps else None
        if former is not None and (former.kind, former.joint) == (step.kind, step.joint):
            self._steps[-1] = Step(step.kind, step.joint, former.statements + step.statements)
            self._note_places(step, len(former.statements))
        else:
            self._steps.append(step)
            self._note_places(step)

    def _set_steps(self, steps: list[Step[S]]) -> None:
        self._steps, self._places = [], {}
        for step in steps:
            self._steps.append(step)
            self._note_places(step)

    def _note_places(self, step: Step[S], start: int = 0) -> None:
        """Remember the first position of each value: number of the step, position in it."""
        last = len(self._steps) - 1
        for k, line in enumerate(step.statements, start):
            self._places.setdefault(id(line.value), (last, k))

    def _let(self, name: str, value: S, note: str) -> S:
        return value if self.algebra.is_atomic(value) else self._write(name, value, note)

    def _write(self, name: str, value: S, note: str) -> S:
        if self._current is None:
            raise RuntimeError(f"the statement {name} stands outside every step")
        unique = self.unique(name + self._variant)
        self._current.append(Statement(unique, value, note))
        label = self.algebra.named(unique, value)
        self._labels.add(label)
        return label

    def unique(self, name: str) -> str:
        """`name`, or where it is taken the first of name_2, name_3, ... that is free."""
        unique = name
        while unique in self._names:
            self._repeats[name] = self._repeats.get(name, 1) + 1
            unique = f"{name}_{self._repeats[name]}"
        self._names.add(unique)
        return unique


def _used_notes(steps: Sequence[Step[S]], notes: Mapping[str, str]) -> dict[str, str]:
    used = {statement.note for step in steps for statement in step.statements}
    derived = {
        DERIVATIVE * times + label: f"{which}derivative of {label}"
        for times, which in enumerate(("", "second ", "third "), start=1)
        for label in notes
    }
    derived |= {ADJOINT + label: f"derivative by what {label} defines" for label in notes}
    derived |= {
        DERIVATIVE + ADJOINT + label: f"derivative of that by what {label} defines"
        for label in notes
    }
    return {label: text for label, text in {**notes, **derived, **notes}.items() if label in used}
