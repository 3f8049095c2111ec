"""The recursions of a page: formulas of the papers with the statements for this robot.

Every formulation that applies shows the steps of one function and of its derivatives.  The
statements are those of the program over SymPy scalars, with the parameters as names, as
`symgen show --steps` prints them, joint by joint.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby
from operator import itemgetter
from typing import Any

from symgen.algebra.blackboard import with_decimals
from symgen.deriving.symbolic import SingularError, SymbolicDynamics
from symgen.description.model import RobotDescription
from symgen.formulations import FORMULATIONS, Formulation
from symgen.page.counting import Counted
from symgen.page.mathml import formula, mathml
from symgen.program.program import Program, Step
from symgen.showing.steps import heading_of, in_latex, notation, result_lines
from symgen.showing.typesetting import aligned, inputs_of
from symgen.support.journal import Journal

PAIRS = (
    ("inverse_dynamics", "inverse_dynamics_derivatives"),
    ("forward_dynamics", "forward_dynamics_derivatives"),
)
"""Pairs of function and derivatives; a formulation shows the first that it derives."""
OF_LECTURES = "newton_euler"
LARGEST = 20_000
"""Largest number of operations of a shown function; larger ones take minutes to derive."""
LARGEST_TYPESET = 30_000
"""Largest number of characters of steps that are typeset; MathML has twelve times as many."""
LARGEST_AT_ONCE = 40_000
"""Largest number of characters of unpacked steps of a function, in HTML."""
LARGEST_IN_ALL = 2_500_000
"""Largest number of characters of all steps; the largest functions are left out first."""
SOURCE = " -- "
"""Separator of equation and source in a note."""


@dataclass(frozen=True)
class Note:
    """An equation: its label, HTML, and source."""

    label: str
    formula: str
    source: str


@dataclass(frozen=True)
class Section:
    """A step of the recursion: statements by label of their equation, as HTML."""

    heading: str
    groups: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Steps:
    """A function step by step; `key` is unique in the page.

    `sections` are empty where the function is too large, or where `missing` has the reason for no
    equations.  `size` is in characters as text; `latex` is empty where they are not typeset.
    """

    key: str
    function: str
    notes: tuple[Note, ...]
    sections: tuple[Section, ...]
    results: str
    size: int
    latex: str = ""
    missing: str = ""

    @property
    def later(self) -> bool:
        """Whether the page unpacks the steps only on demand."""
        lengths = (len(html) for section in self.sections for _, html in section.groups)
        return sum(lengths) > LARGEST_AT_ONCE


@dataclass(frozen=True)
class Recursion:
    """A formulation: its notation as text, its function and derivatives."""

    name: str
    title: str
    source: str
    notation: str
    functions: tuple[Steps, ...]


def recursions(
    description: RobotDescription, counted: Counted, journal: Journal
) -> tuple[Recursion, ...]:
    """Return recursions of all formulations that apply to `description`, that of lectures first."""
    applicable = [item for item in FORMULATIONS if item.name in counted.formulations]
    applicable.sort(key=lambda item: item.name != OF_LECTURES)
    listed = []
    for done, formulation in enumerate(applicable):
        journal.progress(f"steps: {formulation.name}", done, len(applicable))
        text = "\n".join(notation(formulation, _functions(formulation, counted)[0])).strip()
        shown = tuple(_shown(description, formulation, counted))
        about = formulation.name, formulation.title, formulation.source
        listed.append(Recursion(*about, text, shown))
    return _within_bounds(listed)


def _shown(
    description: RobotDescription, formulation: Formulation, counted: Counted
) -> Iterator[Steps]:
    """Yield functions of a formulation with their steps, without where they are too large."""
    dynamics = SymbolicDynamics(description, formulation) if counted.legible else None
    for function in _functions(formulation, counted):
        if dynamics is not None and counted.sizes[formulation.name, function] <= LARGEST:
            yield _steps(dynamics, function)
        else:
            yield _left_out(formulation.name, function)


def unfolded_later(listed: Sequence[Recursion]) -> dict[str, Any]:
    """Return steps that the page unfolds when they are opened, by key."""
    return {
        steps.key: {
            "sections": [[section.heading, section.groups] for section in steps.sections],
            "results": steps.results,
            "latex": steps.latex,
        }
        for recursion in listed
        for steps in recursion.functions
        if steps.later and steps.sections
    }


def _functions(formulation: Formulation, counted: Counted) -> tuple[str, ...]:
    for pair in PAIRS:
        if (formulation.name, pair[0]) in counted.sizes:
            return tuple(name for name in pair if (formulation.name, name) in counted.sizes)
    return ()


def _steps(dynamics: SymbolicDynamics, function: str) -> Steps:
    try:
        program = dynamics.program(function)
    except SingularError as error:
        return replace(_left_out(dynamics.formulation.name, function), missing=str(error))
    sections = tuple(Section(heading_of(step), tuple(_as_text(step))) for step in program.steps)
    results = "\n".join(result_lines(program))
    size = len(results) + sum(
        len(label) + len(text) for section in sections for label, text in section.groups
    )
    written = Steps(
        f"{program.formulation}-{function}",
        function,
        tuple(_notes(program)),
        sections,
        results,
        size,
    )
    return written if size > LARGEST_TYPESET else _typeset(written, program)


def _typeset(steps: Steps, program: Program[Any]) -> Steps:
    inputs, sections, blocks = inputs_of(program), [], []
    for step in program.steps:
        rows = list(in_latex(step, inputs))
        groups = (
            (label, "".join(f"<div>{mathml(f'{x} = {y}')}</div>" for _, x, y in lines))
            for label, lines in groupby(rows, key=itemgetter(0))
        )
        sections.append(Section(heading_of(step), tuple(groups)))
        blocks += [rf"{x} &= {y} \tag{{{label}}}" for label, x, y in rows]
    return replace(steps, sections=tuple(sections), latex=aligned(blocks) if blocks else "")


def _left_out(formulation: str, function: str) -> Steps:
    return Steps(f"{formulation}-{function}", function, (), (), "", 0)


def _notes(program: Program[Any]) -> Iterator[Note]:
    for label, text in program.notes.items():
        equation, _, source = text.partition(SOURCE)
        yield Note(label, formula(equation), source)


def _as_text(step: Step[Any]) -> Iterator[tuple[str, str]]:
    """Yield the statements, those by one equation together, in their order."""
    for label, lines in groupby(step.statements, key=lambda line: line.note):
        text = "\n".join(f"{line.name} = {with_decimals(line.value)}" for line in lines)
        yield label, f"<pre>{escape(text)}</pre>"


def _within_bounds(listed: Sequence[Recursion]) -> tuple[Recursion, ...]:
    """Drop the largest functions where a page would be too large."""
    sizes = sorted((s.size, s.key) for recursion in listed for s in recursion.functions)
    total, kept = 0, set()
    for size, key in sizes:
        total += size
        if total <= LARGEST_IN_ALL:
            kept.add(key)

    def bounded(recursion: Recursion) -> Recursion:
        functions = (
            steps if steps.key in kept else _left_out(recursion.name, steps.function)
            for steps in recursion.functions
        )
        return replace(recursion, functions=tuple(functions))

    return tuple(map(bounded, listed))
