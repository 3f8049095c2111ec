"""Search for the first wrong statement of a program.

Programs are compared at random points, by names of statements: with another program of the same
formulation that is correct, or (derivatives) with the slopes of the statement that a derivative
belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from symgen.algebra.nodes import NEG, Scalar
from symgen.exact.movements import Displacements, by_entries, by_parameters, varying_parameters
from symgen.exact.points import Movement, random_points
from symgen.program.program import Program, Statement, Step

SOLUTION = "LTDL-4"
"""The note of statements that solve equations (`symgen.formulations.accelerations`)."""

CHAIN = "MF-3"
"""The note of accelerations of a chain instead of a quaternion, which are held, too."""

_ENTRY = re.compile(r"[xyz]|[0-9]+")  # suffix of entries of vectors and matrices


@dataclass(frozen=True)
class Location:
    """A statement of a program: its step (kind, joint), its name and the label of its equation."""

    formulation: str
    function: str
    kind: str
    joint: str
    statement: str
    note: str

    def __str__(self) -> str:
        joint = f" of {self.joint}" if self.joint else ""
        return (
            f"{self.formulation}.{self.function}, step '{self.kind}'{joint}: "
            f"{self.statement} [{self.note}]"
        )


Line = tuple[Step[Scalar], Statement[Scalar]]


def lines(program: Program[Scalar]) -> Iterator[Line]:
    """The statements in order, each with its step."""
    for step in program.steps:
        for statement in step.statements:
            yield step, statement


def location(program: Program[Scalar], line: Line) -> Location:
    """Return the location of a statement."""
    step, statement = line
    return Location(
        program.formulation, program.function, step.kind, step.joint, statement.name, statement.note
    )


def first_difference(
    program: Program[Scalar],
    reference: Program[Scalar],
    points: int = 1,
    seed: int = 0,
    *,
    endings: tuple[str, str] = ("", ""),
    zeros: Sequence[str] = (),
) -> Location | None:
    """Locate the first statement of `program` that differs from its namesake in `reference`.

    Statements that `reference` lacks are skipped; None if all agree.  Names are compared without
    their `endings` in `program` and `reference`.  The symbols named in `zeros` are 0.
    """
    own_end, their_end = endings
    counterparts = {
        statement.name.removesuffix(their_end) + own_end: statement.value
        for statement in reference.statements
        if statement.name.endswith(their_end)
    }
    shared = [line for line in lines(program) if line[1].name in counterparts]
    values = [statement.value for _, statement in shared]
    references = [counterparts[statement.name] for _, statement in shared]
    wrong = set()
    for point in random_points(values, references, count=points, seed=seed):
        pairs = zip(point.values(values, zeros), point.values(references, zeros), strict=True)
        wrong |= {k for k, (x, y) in enumerate(pairs) if x != y}
    return location(program, shared[min(wrong)]) if wrong else None


def first_wrong_derivative(
    program: Program[Scalar],
    points: int = 1,
    seed: int = 0,
    displacements: Displacements | None = None,
) -> Location | None:
    """Locate the first statement ``d_X_dq_k`` of `program` that is not the derivative of X.

    The suffix of an entry may come last: ``d_omega_2_dq_1_x`` belongs to ``omega_2_x``.  If X is no
    statement, its derivative is skipped; None if all are correct.  In implicit differentiation,
    accelerations may be held; where the state varies with a parameter, derivatives by it may be
    total; `displacements` are the rates of q, if not entry by entry.
    """
    labels = {name for array in program.inputs for name in array.symbol_names}
    values = {statement.name: statement.value for statement in program.statements}
    pairs = [(line, _origin(line[1].name, labels, values)) for line in lines(program)]
    derivatives = [(line, *origin) for line, origin in pairs if origin is not None]
    stated = [line[1].value for line, _, _ in derivatives]
    bases = [values[base] for _, base, _ in derivatives]
    directions = sorted({label for _, _, label in derivatives})
    alternatives = list(_alternatives(program, directions, displacements))
    taken = [x for _, held in alternatives for x in held]
    wrong = set()
    for point in random_points(stated, bases, taken, count=points, seed=seed):
        right: set[int] = set()
        for movements, held in alternatives:
            entries, slopes = point.values(stated), point.changes(bases, movements, held)
            for k, (_, _, label) in enumerate(derivatives):
                if entries[k] == slopes[k].get(directions.index(label), 0):
                    right.add(k)
        wrong |= {*range(len(derivatives))} - right
    return location(program, derivatives[min(wrong)][0]) if wrong else None


def _alternatives(
    program: Program[Scalar], directions: Sequence[str], displacements: Displacements | None
) -> Iterator[tuple[list[Movement], list[Scalar]]]:
    """Yield the possible meanings of derivatives by `directions`: movements, and held scalars."""
    plain: dict[str, Movement] = {label: {label: None} for label in directions}
    varying = varying_parameters(program)
    moved = by_entries(program) if displacements is None else displacements
    total = plain | dict(zip(varying, by_parameters(program, varying, moved), strict=True))
    held_values = (
        statement.value
        for statement in program.statements
        if statement.note in (SOLUTION, CHAIN) and not statement.name.startswith("d_")
    )
    solution = [x.args[0] if x.op is NEG else x for x in held_values]  # products leave out signs
    for movements in (plain, total) if varying else (plain,):
        for held in ([], solution) if solution else ([],):
            yield [movements[label] for label in directions], held


def _origin(
    name: str, labels: Collection[str], statements: Collection[str]
) -> tuple[str, str] | None:
    """Return the statement X of a derivative ``d_X_dq_k``, and the symbol ``q_k``."""
    if not name.startswith("d_"):
        return None
    for match in re.finditer("_d", name):
        stem, rest = name[2 : match.start()], name[match.end() :]
        head, _, entry = rest.rpartition("_")
        if rest in labels and stem in statements:
            return stem, rest
        if head in labels and _ENTRY.fullmatch(entry) and f"{stem}_{entry}" in statements:
            return f"{stem}_{entry}", head
    return None


def earliest(program: Program[Scalar], entries: Sequence[Scalar]) -> tuple[int, Location | None]:
    """The number of the entry that the program computes first, and its location; (0, None) if no
    entry has a name."""
    wanted: dict[int, int] = {}
    for k, entry in enumerate(entries):
        wanted.setdefault(entry.index, k)
        if entry.op is NEG:
            wanted.setdefault(entry.args[0].index, k)
    for line in lines(program):
        if line[1].value.index in wanted:
            return wanted[line[1].value.index], location(program, line)
    return 0, None
