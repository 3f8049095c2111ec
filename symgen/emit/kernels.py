"""Kernels: one function by one formulation, ready to be placed by a template.

    kernel : Program -> Kernel            schedule and names, the same for all languages
    Kernel.printed : Language -> PrintedKernel      headings and lines as text
    sliced : Kernel, number of links -> Kernel      from all links to one of them

A kernel takes the arrays of one sample and fills the arrays of its results.  Options of size 0
(such as the loads of a robot without loads) are left out of its signature.

A kernel that solves for accelerations also fills its `hidden` arrays, the pivots and the diagonal
of the mass matrix.  Where a pivot is at most `tolerance` times the diagonal entry of its row, the
matrix counts as singular: the results are NaN, and the kernel returns 1.

Slicing: each line of a kernel of all links is needed by a set of links, those with an entry that
depends on it.  Lines that the same links need form one part of the sliced kernel; parts with more
links come first, so that operands precede their uses.  An entry with the same value for several
links is stored once.  For one link, only the parts run that it needs: in a tree, those of the
joints on its path.  The arithmetic is that of the whole kernel, line by line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, groupby
from math import prod

from symgen.algebra.nodes import CONST, SYMBOL, Scalar, reachable
from symgen.emit import parts
from symgen.emit.bundle import Forms
from symgen.emit.names import identifier, local_names
from symgen.emit.printing import Language, Printer, functions_used
from symgen.emit.text import plain
from symgen.optimize.operations import operations_after, rolled_operations
from symgen.optimize.ordering import (
    ANGLES,
    Assignment,
    Line,
    Schedule,
    Section,
    Store,
    is_wave,
    schedule,
)  # fmt: skip
from symgen.program.arguments import PARAMETERS, Argument
from symgen.program.function import Function
from symgen.program.functions import BY_LINK, function_named
from symgen.program.program import Program
from symgen.program.rolled import RolledProgram

STATES = frozenset({"q", "qd", "qdd", "tau", "dq", "dqd", "dqdd", "dtau", "multipliers"})
"""Names of arrays with an entry for each coordinate."""


@dataclass(frozen=True)
class Array:
    """An argument or result of a function: the shape of one sample, in numbers.

    `places` are the positions of its entries in memory, if these are not contiguous.
    """

    name: str
    shape: tuple[int, ...]
    meaning: str
    places: tuple[int, ...] = ()

    @property
    def is_state(self) -> bool:
        """Whether it has an entry for each coordinate, by which users may name them."""
        return self.name in STATES

    @property
    def size(self) -> int:
        """Number of entries."""
        return prod(self.shape)

    @property
    def batch_shape(self) -> str:
        """The shape as users read it, such as ``(..., 2, 6)``."""
        return f"({', '.join(['...', *map(str, self.shape)])})"

    @property
    def indices(self) -> str:
        """The shape as C writes it, such as ``[2][6]``."""
        return "".join(f"[{length}]" for length in self.shape) or "[1]"

    def place(self, position: int) -> int:
        """Return the position in memory of the entry at `position`."""
        return self.places[position] if self.places else position

    def index(self, position: int) -> str:
        """Return the index of the entry at `position` in NumPy, such as ``[..., 1, 5]``."""
        indices: list[str] = []
        for length in reversed(self.shape):
            position, index = divmod(position, length)
            indices.append(str(index))
        return f"[{', '.join(['...', *reversed(indices)])}]"


@dataclass(frozen=True)
class PrintedLine:
    """``name = value`` or, where `name` is empty, ``array[position] = value``.

    `constant` says that the value is a number.  `index` is the position in NumPy's notation, `slot`
    the slot of the workspace that keeps the value for later parts (None: it is not kept), `note`
    the label of the equation, or empty.
    """

    value: str
    name: str = ""
    array: str = ""
    position: int = 0
    index: str = ""
    slot: int | None = None
    note: str = ""
    constant: bool = False


@dataclass(frozen=True)
class PrintedAngle:
    """An angle, and the lines that use its sine and its cosine, if any."""

    value: str
    sine: PrintedLine | None
    cosine: PrintedLine | None


@dataclass(frozen=True)
class PrintedSection:
    """Lines under one heading.

    In languages that compute sines and cosines together, `angles` are their arguments, which the
    lines `before` compute.
    """

    heading: str
    lines: tuple[PrintedLine, ...]
    angles: tuple[PrintedAngle, ...] = ()
    before: tuple[PrintedLine, ...] = ()

    @property
    def room(self) -> int:
        """Length of the arrays of sines and of cosines: a multiple of 8, the widest vector."""
        return -(-len(self.angles) // 8) * 8


@dataclass(frozen=True)
class PrintedPart:
    """One function of source: its unpacked arguments, its slots to read, and its sections."""

    number: int
    unpacked: tuple[PrintedLine, ...]
    reads: tuple[PrintedLine, ...]
    sections: tuple[PrintedSection, ...]


@dataclass(frozen=True)
class PrintedKernel:
    """A kernel in one language; `slots` is the size of the workspace, if it has several parts."""

    kernel: Kernel
    parts: tuple[PrintedPart, ...]
    slots: int


@dataclass(frozen=True)
class Body:
    """The lines of a program, ready for printing.

    `names` are the names of nodes in source, by index; `arrays` the arrays in source, by name of
    the program's input or output.  `pieces` are the sections of each part, where these are not
    split by length.
    """

    schedule: Schedule
    names: Mapping[int, str]
    arrays: Mapping[str, Array]
    pieces: tuple[tuple[Section, ...], ...] = ()

    def printed(self, language: Language, length: int) -> tuple[tuple[PrintedPart, ...], int]:
        """Return the lines in parts of about `length` lines, and the slots of their workspace."""
        printer = Printer(language, self.names)
        paragraphs = self.split(length)
        printed = (self._part(printer, n, part) for n, part in enumerate(paragraphs.parts, start=1))
        return tuple(printed), paragraphs.slots

    def split(self, length: int) -> parts.Parts:
        """Return the schedule in parts of about `length` lines."""
        if length not in self._splits:
            self._splits[length] = (
                parts.in_pieces(self.schedule, self.pieces)
                if self.pieces
                else parts.split(self.schedule, length)
            )
        return self._splits[length]

    @cached_property
    def _splits(self) -> dict[int, parts.Parts]:
        return {}

    def _part(self, printer: Printer, number: int, part: parts.Part) -> PrintedPart:
        wanted = set(part.symbols)
        return PrintedPart(
            number,
            tuple(line for index, line in self._unpacking() if index in wanted),
            tuple(PrintedLine(f"{slot}", self.names[i]) for i, slot in part.reads.items()),
            tuple(self._section(printer, section, part.keeps) for section in part.sections),
        )

    def _unpacking(self) -> Iterator[tuple[int, PrintedLine]]:
        """Yield the index of every input symbol, and the line that reads it from its array."""
        for declared in self.schedule.program.inputs:
            array = self.arrays.get(declared.name)
            for position, symbol in enumerate(declared.symbols if array else ()):
                yield symbol.index, self._placed(declared.name, position, self.names[symbol.index])

    def _placed(self, array: str, position: int, name: str) -> PrintedLine:
        placed = self.arrays[array]
        return PrintedLine("", name, placed.name, placed.place(position), placed.index(position))

    def _section(
        self, printer: Printer, section: Section, keeps: Mapping[int, int]
    ) -> PrintedSection:
        joint = f", joint {identifier(section.joint)}" if section.joint else ""
        heading = plain(section.kind) + joint
        before: list[Line] = []
        waves: list[Line] = []
        after: list[Line] = []
        if section.kind == ANGLES and printer.language.angles_together:
            for line in section.lines:
                is_wanted = isinstance(line, Assignment) and is_wave(line.value)
                lines = after if isinstance(line, Store) else before
                (waves if is_wanted else lines).append(line)
        else:
            after += section.lines
        return PrintedSection(
            heading,
            tuple(self._line(printer, line, keeps) for line in after),
            tuple(self._angles(printer, waves, keeps)),
            tuple(self._line(printer, line, keeps) for line in before),
        )

    def _angles(
        self, printer: Printer, waves: Sequence[Line], keeps: Mapping[int, int]
    ) -> Iterator[PrintedAngle]:
        """Yield sines and cosines, grouped by angle."""
        angles: dict[int, dict[str, Line]] = {}
        for line in waves:
            angles.setdefault(line.value.args[0].index, {})[line.value.op] = line
        for of in angles.values():
            taken = {op: self._line(printer, line, keeps) for op, line in of.items()}
            angle = next(iter(of.values())).value.args[0]
            yield PrintedAngle(printer.use(angle), taken.get("sin"), taken.get("cos"))

    def _line(self, printer: Printer, line: Line, keeps: Mapping[int, int]) -> PrintedLine:
        if isinstance(line, Assignment):
            return PrintedLine(
                value=printer.definition(line.value),
                name=self.names[line.value.index],
                slot=keeps.get(line.value.index),
                note=plain(line.note),
            )
        return replace(
            self._placed(line.output, line.position, ""),
            value=printer.use(line.value),
            constant=line.value.op is CONST,
        )


@dataclass(frozen=True)
class Kernel:
    """One function by one formulation: in a straight line, in loops, or both (see `Forms`).

    A kernel for one link has `paths`: the numbers of the parts that each link needs.
    """

    formulation: str
    function: Function
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    hidden: tuple[Array, ...]
    tolerance: float
    line: Body | None
    rolled: RolledProgram[Scalar] | None = None
    batches_in_loops: bool = False
    paths: tuple[tuple[int, ...], ...] = ()

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The arrays that the kernel reads and fills, inputs first."""
        return self.inputs + self.filled

    @property
    def filled(self) -> tuple[Array, ...]:
        """The arrays that the kernel fills."""
        return self.outputs + self.hidden

    @property
    def result(self) -> str:
        """Its C return type: a kernel that solves returns 1 for a singular matrix, else 0."""
        return "int" if self.hidden else "void"

    @property
    def body(self) -> Body:
        """Its straight-line code; ValueError for a kernel in loops alone."""
        if self.line is None:
            raise ValueError(f"{self.formulation}.{self.function.name} has no straight line")
        return self.line

    @property
    def schedule(self) -> Schedule:
        """The lines of the straight-line code."""
        return self.body.schedule

    @property
    def program(self) -> Program[Scalar]:
        """The program of the straight-line code."""
        return self.schedule.program

    @property
    def programs(self) -> Iterator[Program[Scalar]]:
        """The programs of all its forms."""
        if self.line is not None:
            yield self.program
        if self.rolled is not None:
            yield from self.rolled.programs

    @property
    def functions(self) -> list[str]:
        """The functions of the graph that it calls, sorted."""
        used = (functions_used(reachable(program.results)) for program in self.programs)
        return sorted({name for names in used for name in names})

    @property
    def unused(self) -> list[str]:
        """The arrays that its straight-line code does not use."""
        used = {node.name for node in reachable(self.program.results) if node.op is SYMBOL}
        declared = {array.name: set(array.symbol_names) for array in self.program.inputs}
        inputs = [a.name for a in self.inputs if not declared.get(a.name, set()) & used]
        return inputs + [a.name for a in self.filled if not a.size]

    @property
    def adapted(self) -> str:
        """Its arguments as entries of x, all inputs of the public function, and y, all results:
        ``x[0], x[2], y[0]``."""
        public = [a.name for a in (*self.function.arguments, *self.function.options, PARAMETERS)]
        inputs = [f"x[{public.index(array.name)}]" for array in self.inputs]
        return ", ".join([*inputs, *(f"y[{i}]" for i in range(len(self.outputs)))])

    @property
    def zeros(self) -> Mapping[str, tuple[int, ...]]:
        """The structural zeros of every output of the straight-line code."""
        return self.schedule.zeros

    @cached_property
    def work(self) -> int:
        """Number of operations, with 10 for a function, and of numbers written."""
        if self.rolled is not None and self.batches_in_loops:
            count = rolled_operations(self.rolled)
        else:
            count = operations_after(self.program.results)
        total = count.total + 9 * count.functions
        if self.paths:
            lengths = [sum(len(s.lines) for s in sections) for sections in self.body.pieces]
            longest = max(sum(lengths[i - 1] for i in path) for path in self.paths)
            total = int(total * (longest / max(1, sum(lengths))))
        return total + sum(array.size for array in self.outputs)

    def links_of(self, part: int) -> tuple[int, ...]:
        """Return the links that need the part number `part`."""
        return tuple(link for link, path in enumerate(self.paths) if part in path)

    @property
    def path_parts(self) -> tuple[int, ...]:
        """The parts of all links, concatenated; none where every entry is 0."""
        return tuple(part for path in self.paths for part in path)

    @property
    def path_starts(self) -> tuple[int, ...]:
        """The start of the parts of each link in `path_parts`, and the end."""
        return tuple(accumulate(map(len, self.paths), initial=0))

    @property
    def has_zeros(self) -> bool:
        """Whether some entry of a result is structurally 0."""
        return any(self.zeros[array.name] for array in self.outputs)

    def printed(self, language: Language, length: int) -> PrintedKernel:
        """Return the kernel in `language`, in parts of about `length` lines."""
        return PrintedKernel(self, *self.body.printed(language, length))


def kernel(formulation: str, forms: Forms, sizes: Mapping[str, int]) -> Kernel:
    """Make the kernel of a function; ValueError if the table of functions disagrees."""
    function = function_named(forms.any.function).of(sizes)
    options = (*function.options, PARAMETERS)
    inputs = [*in_numbers(function.arguments, sizes)]
    inputs += [array for array in in_numbers(options, sizes) if array.size]
    results = in_numbers(function.results, sizes)
    hidden = in_numbers(function.hidden, sizes)
    _check_inputs(forms.any, [*inputs, *in_numbers(options, sizes)])
    arrays = {array.name: array for array in (*inputs, *results, *hidden)}
    line = None
    if forms.straight is not None:
        _check_outputs(forms.straight, [*results, *hidden])
        lines = schedule(forms.straight)
        line = Body(lines, local_names(lines, arrays), arrays)
    return Kernel(
        identifier(formulation), function, tuple(inputs), results, hidden, tolerance(sizes), line,
        forms.rolled, forms.batches_in_loops,
    )  # fmt: skip


def tolerance(sizes: Mapping[str, int]) -> float:
    """Return n eps, the least ratio of a pivot to the diagonal entry of its row for a regular
    mass matrix."""
    return sizes["n"] * 2.0**-52


def in_numbers(arguments: Sequence[Argument], sizes: Mapping[str, int]) -> tuple[Array, ...]:
    """Return `arguments` with their shapes in numbers."""
    return tuple(Array(identifier(a.name), a.sizes(sizes), plain(a.meaning)) for a in arguments)


def _check_inputs(
    program: Program[Scalar] | RolledProgram[Scalar], inputs: Sequence[Array]
) -> None:
    where = f"{program.formulation}.{program.function}"
    shapes = {array.name: array.shape for array in inputs}
    for declared in program.inputs:
        expected = shapes.get(declared.name)
        if expected != declared.shape or prod(declared.shape) != len(declared.symbols):
            raise ValueError(f"{where}: input {declared.name} {declared.shape}, not {expected}")


def _check_outputs(program: Program[Scalar], outputs: Sequence[Array]) -> None:
    where = f"{program.formulation}.{program.function}"
    results = [(output.name, output.shape) for output in program.outputs]
    if results != [(array.name, array.shape) for array in outputs]:
        raise ValueError(f"{where}: the outputs {results} are not those of the function")
    for output in program.outputs:
        if len(output.entries) != prod(output.shape):
            raise ValueError(f"{where}: output {output.name} has {len(output.entries)} entries")


def sliced(stack: Kernel, n: int) -> Kernel:
    """Make the kernel for one link from that of all links; `n` is the number of coordinates."""
    function = BY_LINK[stack.function.name]
    stacked = stack.outputs[0]
    links = stacked.shape[0]
    result = in_numbers(function.results, {"n": n})[0]
    entries = tuple(range(result.size))
    arrays = {array.name: array for array in stack.inputs}
    arrays[stacked.name] = replace(result, places=entries * links)
    pieces = _pieces(stack.schedule, _needs(stack.schedule, result.size))
    lines = Schedule(
        stack.program,
        tuple(section for _, sections in pieces for section in sections),
        stack.schedule.names,
        {result.name: entries},
    )
    names = local_names(lines, [*arrays, result.name])
    return replace(
        stack,
        function=function,
        outputs=(result,),
        line=Body(lines, names, arrays, tuple(sections for _, sections in pieces)),
        rolled=None,
        batches_in_loops=False,
        paths=tuple(
            tuple(number for number, (needed, _) in enumerate(pieces, 1) if needed >> link & 1)
            for link in range(links)
        ),
    )


def _needs(schedule: Schedule, size: int) -> list[int]:
    """Return, for every line, the links that need it, as bits; a link has `size` entries.

    Of stores of one value for several links, the first has all the bits and the others none.
    """
    stored: dict[tuple[int, int], int] = {}
    for line in schedule.lines:
        if isinstance(line, Store):
            link, entry = divmod(line.position, size)
            same = entry, line.value.index
            stored[same] = stored.get(same, 0) | 1 << link
    by_node: dict[int, int] = {}
    needs: list[int] = []
    for line in reversed(list(schedule.lines)):
        if isinstance(line, Store):
            need = stored[line.position % size, line.value.index]
        else:
            need = by_node.get(line.value.index, 0)
        for node in schedule.leaves(line):
            by_node[node.index] = by_node.get(node.index, 0) | need
        needs.append(need)
    for number, line in enumerate(schedule.lines):
        if isinstance(line, Store) and not stored.pop((line.position % size, line.value.index), 0):
            needs[-1 - number] = 0
    return needs[::-1]


def _pieces(schedule: Schedule, needs: Sequence[int]) -> list[tuple[int, tuple[Section, ...]]]:
    """Group the lines by the links that need them, those that most links need first."""
    grouped: dict[int, list[tuple[Section, Line]]] = {}
    lines = ((section, line) for section in schedule.sections for line in section.lines)
    for need, pair in zip(needs, lines, strict=True):
        if need:
            grouped.setdefault(need, []).append(pair)
    ordered = sorted(grouped.items(), key=lambda item: -item[0].bit_count())
    return [(need, tuple(_sections(pairs))) for need, pairs in ordered]


def _sections(lines: Sequence[tuple[Section, Line]]) -> Iterator[Section]:
    for (kind, joint), run in groupby(lines, key=lambda pair: (pair[0].kind, pair[0].joint)):
        yield Section(kind, joint, tuple(line for _, line in run))
