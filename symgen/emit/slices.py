"""One link of a stack: from the kernel that serves all links to one that computes one of them.

    sliced : Kernel, number of links -> Kernel

Every line of the stack is needed by some set of links: those of which an entry depends on it.
Lines that the same links need are one part of the sliced kernel, and a part with more links comes
before one with fewer, so that what a line uses stands before it.  An entry that has the same value
for several links is stored once, for all of them.  For one link the parts run that it needs: in a
tree those of the joints on its path.  The arithmetic is that of the stack, line by line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from symgen.emit.kernels import Body, Kernel, in_numbers
from symgen.emit.names import local_names
from symgen.optimize.ordering import Line, Schedule, Section, Store
from symgen.program.functions import BY_LINK


def sliced(stack: Kernel, n: int) -> Kernel:
    """The kernel for one link by that of all; their arrays of one link come one after the other.

    `n` is the number of coordinates.
    """
    function = BY_LINK[stack.function.name]
    whole = stack.outputs[0]
    links = whole.shape[0]
    result = in_numbers(function.results, {"n": n})[0]
    entries = tuple(range(result.size))
    arrays = {array.name: array for array in stack.inputs}
    arrays[whole.name] = replace(result, places=entries * links)
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
        loops=None,
        batches_in_loops=False,
        paths=tuple(
            tuple(number for number, (needed, _) in enumerate(pieces, 1) if needed >> link & 1)
            for link in range(links)
        ),
    )


def _needs(schedule: Schedule, size: int) -> list[int]:
    """For every line the links that need it, as bits; `size` is that of the entries of a link.

    Of stores that do the same for several links the first has them all, the others have none.
    """
    stored: dict[tuple[int, int], int] = {}
    for line in schedule.lines:
        if isinstance(line, Store):
            link, entry = divmod(line.position, size)
            same = entry, line.value.index
            stored[same] = stored.get(same, 0) | 1 << link
    by_node: dict[int, int] = {}
    found: list[int] = []
    for line in reversed(list(schedule.lines)):
        if isinstance(line, Store):
            need = stored[line.position % size, line.value.index]
        else:
            need = by_node.get(line.value.index, 0)
        for node in schedule.leaves(line):
            by_node[node.index] = by_node.get(node.index, 0) | need
        found.append(need)
    for number, line in enumerate(schedule.lines):
        if isinstance(line, Store) and not stored.pop((line.position % size, line.value.index), 0):
            found[-1 - number] = 0
    return found[::-1]


def _pieces(schedule: Schedule, needs: Sequence[int]) -> list[tuple[int, tuple[Section, ...]]]:
    """The lines by the links that need them, those that most need first."""
    grouped: dict[int, list[tuple[Section, Line]]] = {}
    for need, placed in zip(needs, _placed(schedule.sections), strict=True):
        if need:
            grouped.setdefault(need, []).append(placed)
    ordered = sorted(grouped.items(), key=lambda item: -item[0].bit_count())
    return [(need, tuple(_sections(lines))) for need, lines in ordered]


def _placed(sections: Sequence[Section]) -> Iterator[tuple[Section, Line]]:
    for section in sections:
        for line in section.lines:
            yield section, line


def _sections(lines: Sequence[tuple[Section, Line]]) -> Iterator[Section]:
    for (kind, joint), run in groupby(lines, key=lambda placed: (placed[0].kind, placed[0].joint)):
        yield Section(kind, joint, tuple(line for _, line in run))
