"""The verdict on an answer: right or wrong, line by line.

Of the Coriolis matrix there are many: any C with C qd right is.  Row by row the student's
C_i1 qd_1 + C_i2 qd_2 + ... is compared with the velocity-product terms h_i.  A row that is not
whole can only be compared with the Christoffel matrix.  Only that one is sure to make dM/dt - 2 C
skew-symmetric, which controllers rely on: where a whole matrix is right and does not, a remark says
so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import prod
from typing import Any

import sympy

from symgen.algebra.prime_field import NotASquareError, PrimeField, random_field
from symgen.algebra.sympy_algebra import SymPyAlgebra, symbol
from symgen.description.expressions import Expression
from symgen.description.model import RobotDescription
from symgen.errors import MOST_LISTED, Fault, ModelError, RequestError
from symgen.grading.answer import as_written, read_answer
from symgen.grading.questions import Question, Questions
from symgen.grading.reals import agrees, needs_reals
from symgen.grading.slips import slips_of
from symgen.grading.terms import (
    MOST_TERMS,
    WrongTerm,
    first_wrong_term,
    is_decimal,
    summands_of,
    written,
)
from symgen.grading.truth import COUPLED, PRODUCTS, QUANTITIES, Changed, Truth
from symgen.kinematics.scalars import scalar
from symgen.support.journal import Progress, silent


@dataclass(frozen=True)
class Graded:
    """One line of an answer: `wrong` and `slip` say what is the matter where it is not right.

    A `remark` is about what is right.  An answer that is not `understood` is not right either.
    """

    label: str
    line: int
    right: bool
    wrong: str = ""
    slip: str = ""
    remark: str = ""
    understood: bool = True

    @property
    def verdict(self) -> str:
        """In a word."""
        return "right" if self.right else "WRONG" if self.understood else "not understood"


@dataclass(frozen=True)
class Verdict:
    """All graded lines, in the order of the answer."""

    robot: str
    rows: tuple[Graded, ...]

    @property
    def passed(self) -> bool:
        """Whether everything is right."""
        return all(row.right for row in self.rows)

    @property
    def summary(self) -> str:
        """How many are right."""
        right = sum(row.right for row in self.rows)
        return f"{right} of {len(self.rows)} right"

    def as_json(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        return {**asdict(self), "passed": self.passed}

    def __str__(self) -> str:
        lines: list[str] = []
        faults = [row for row in self.rows if not row.understood]
        for row in self.rows:
            label = f"{row.label}: " if row.label else ""
            if row.understood:
                lines.append(f"line {row.line}: {label}{row.verdict}")
                lines += [f"    {words}" for words in (row.wrong, row.slip, row.remark) if words]
            elif row in faults[:MOST_LISTED]:
                lines.append(f"line {row.line}: {label}{row.verdict}: {row.wrong}")
        if len(faults) > MOST_LISTED:
            lines.append(f"and {len(faults) - MOST_LISTED} more that are not understood")
        return "\n".join([*lines, self.summary])


Expr = Any
POINTS = 2
"""Random points, each in a prime field of 127 bits."""

IN_NUMBERS = "with the numbers of the file; in symbols it would hold for every robot of this kind"
_MANY, _HIGH = 10**9, 30
_ANGLE = re.compile("q[0-9]+")
MOST_TRIES = 20
LARGEST_TRUTH = 10_000
"""Numbers and names in a true entry, all steps put in, that is still taken apart into terms."""

MOST_TRUE_TERMS = 200_000
"""Terms of a true entry multiplied out, before like terms are collected: seconds."""

MOST_LINKS = 8
"""Robots with more joints are not tried with slips about single links: it would take minutes."""


def grade(
    description: RobotDescription, text: str, file: str = "answer", progress: Progress = silent
) -> Verdict:
    """Grade the answer `text` about a robot.

    A line that cannot be understood is not right, and does not keep the others from being graded.
    Raises `ModelError` where there are no others.
    """
    assignments, faults = read_answer(text, file)
    asked = Questions(description, file, assignments)
    faults += asked.faults
    if not asked.questions:
        names = ", ".join(QUANTITIES)
        message = f"nothing in it is asked for; what can be graded: {names}, FORMULATION.STEP"
        raise ModelError(faults or [Fault(file, 0, "", message)])
    grading, rows = _Grading(asked), list[Graded]()
    for question in asked.questions:
        progress(f"grade: {question.assignment.label}", len(rows), len(asked.questions))
        rows.append(grading.graded(question))
    rows = by_rows(grading.is_right, asked, rows)
    rows += [
        Graded(fault.key, fault.line, False, fault.message, understood=False) for fault in faults
    ]
    return Verdict(description.name, tuple(sorted(rows, key=lambda row: row.line)))


@dataclass(frozen=True)
class _Grading:
    """The questions of one answer, against the truth."""

    asked: Questions

    @property
    def truth(self) -> Truth:
        """About the robot as it is."""
        return self.asked.truth

    def is_right(self, question: Question, numbers: bool = False) -> bool:
        """Say whether an answer is right; with `numbers` at the parameters of the file."""
        state = replace(self.asked.state, numbers=numbers)
        if needs_reals(question.answer):
            return agrees(self.truth, question, state)
        return all(point.answer == point.truth for point in _points(self.truth, question, state))

    def graded(self, question: Question) -> Graded:
        """Grade one question by the truth; where it is wrong, by the usual slips."""
        label, line = question.assignment.label, question.assignment.line
        if self.is_right(question):
            return Graded(label, line, True)
        if self.is_in_numbers(question) and self.is_right(question, numbers=True):
            return Graded(label, line, True, remark=IN_NUMBERS)
        points: list[_Point] = []
        if not needs_reals(question.answer):
            points = list(_points(self.truth, question, self.asked.state))
        wrong = self.wrong(question)
        if isinstance(wrong, WrongTerm):
            slip = wrong.slip if wrong.is_the_slip else ""
            slip = slip or self.slip(question, points) or wrong.slip
            words = wrong.words
        else:
            slip, words = self.slip(question, points), wrong
        slip = f"likely slip: {slip}" if slip else ""
        return Graded(label, line, False, as_written(words), slip)

    def is_in_numbers(self, question: Question) -> bool:
        """Say whether numbers of an answer may stand for parameters: decimals, or no symbols."""
        used = {x.name for x in question.answer.free_symbols}
        decimals = any(map(is_decimal, question.answer.atoms(sympy.Rational, sympy.Float)))
        return decimals or not used & self.asked.parameters.keys()

    def slips_of_angles(self, question: Question) -> Iterator[str]:
        """Yield sines for cosines, degrees for radians: the answer is right when that is undone."""
        if self.asked.size(question.assignment).terms > MOST_TERMS:
            return
        angles = [
            x
            for name, x in self.asked.coordinates().items()
            if _ANGLE.fullmatch(name) and x not in self.asked.quaternion_entries
        ]
        degrees = {x: 180 * x / sympy.pi for x in angles}
        undone = {
            "sine and cosine are exchanged": question.answer.replace(
                _is_wave,
                lambda x: (sympy.cos if isinstance(x, sympy.sin) else sympy.sin)(x.args[0]),
            ),
            "angles are taken in degrees; they are in radians": question.answer.xreplace(
                degrees
            ).replace(_is_wave, lambda x: x.func(sympy.expand(x.args[0]))),
        }
        for words, answer in undone.items():
            if answer != question.answer and self.is_right(replace(question, answer=answer)):
                yield words

    def wrong(self, question: Question) -> WrongTerm | str:
        """Return the first wrong term, or why there is none to be shown."""
        root = question.assignment.value.root
        truth = self.true_expression(question)
        if truth is None:
            return "the true entry is too long to be compared term by term"
        if self.asked.state.zeros:
            truth = truth.xreplace(dict.fromkeys(self.asked.loads().values(), sympy.S.Zero))
        truth = sympy.expand(truth)
        definitions = self.needed_definitions(truth.free_symbols | question.answer.free_symbols)
        if self.is_in_numbers(question):
            numbers = self.truth.numbers
            derived = {x: y.xreplace(numbers) for x, y in self.truth.definitions.items()}
            definitions = definitions | numbers | derived
        truth = truth.xreplace(definitions)
        quaternions = [
            tuple(x.xreplace(definitions) for x in entries)
            for entries in self.truth.quaternions(question.program)
        ]
        summands = []
        for node in summands_of(root):
            piece = Expression("", node, question.assignment.value.names)
            meant = {symbol(x): self.asked.meaning(x, question.program) for x in piece.names}
            value = scalar(piece, SymPyAlgebra()).xreplace(meant).xreplace(definitions)
            summands.append((written(node), value))
        size = self.asked.size(question.assignment).terms
        wrong = first_wrong_term(summands, truth, size, quaternions)
        return wrong or "it is no sum of products to be compared term by term"

    def needed_definitions(self, used: set[Expr]) -> dict[Expr, Expr]:
        """Return replacements that make terms comparable, with the names that answers use.

        A derived parameter stays where what it is derived from does not occur beside it.
        """
        derived = {
            name: value
            for name, value in self.truth.definitions.items()
            if value.free_symbols & used
        }
        names = {x: symbol(name) for name, x in self.asked.coordinates().items()}
        taken = {symbol(name) for name in self.asked.parameters}
        return {**derived, **{x: name for x, name in names.items() if name not in taken}}

    def true_expression(self, question: Question) -> Expr | None:
        """Return the truth: of a step as it is written, of an entry with all steps put in.

        None where that is too long.
        """
        program, name = question.program, question.assignment.name.partition(".")[2]
        steps = {symbol(x.name): x.value for x in program.statements}
        if question.place < 0:
            return steps[symbol(name)]
        quantity = QUANTITIES[question.assignment.name]
        entry = quantity.output(program).entries[question.place]
        leaves, terms = dict[Expr, int](), dict[Expr, int]()
        for step, value in steps.items():
            leaves[step], terms[step] = _size(value, leaves), _terms(value, terms)
        if _size(entry, leaves) > LARGEST_TRUTH or _terms(entry, terms) > MOST_TRUE_TERMS:
            return None
        needed = _needed(entry, steps)
        stands_for: dict[Expr, Expr] = {}
        for step, value in steps.items():
            if step in needed:
                stands_for[step] = value.xreplace(stands_for)
        return entry.xreplace(stands_for)

    def slip(self, question: Question, points: list[_Point]) -> str:
        """Return the likely slip, "" where none of the usual ones gives this answer.

        Without `points`, as of answers with roots, those of the whole robot are not tried.
        """
        for words in (*_of_whole(question, points), *self.slips_of_angles(question)):
            return words
        if question.place < 0 or not points:
            return ""
        quantity = QUANTITIES[question.assignment.name]
        for slip in slips_of(self.truth.description, links=self.truth.coordinates <= MOST_LINKS):
            mistaken, zeros = (
                Truth(slip.description),
                (*slip.changed.zeros, *self.asked.state.zeros),
            )
            changed = replace(slip.changed, zeros=zeros)
            try:
                for point in points:
                    entries = mistaken.entries(point.field, quantity, changed)
                    if entries[question.place] != point.answer:
                        break
                else:
                    return slip.words
            except (ZeroDivisionError, NotASquareError):
                continue
        return ""


class _Point:
    """A question at one point: the answer's value and the true one, and all entries beside it."""

    def __init__(self, truth: Truth, question: Question, field: PrimeField, state: Changed) -> None:
        self.field = field
        values = truth.values(field, question.program, state)
        self.answer = values.of(question.answer)
        if question.place < 0:
            name = question.assignment.name.partition(".")[2]
            self.entries = [values.of(symbol(name))]
            self.truth = self.entries[0]
        else:
            output = QUANTITIES[question.assignment.name].output(question.program)
            self.entries = [values.of(x) for x in output.entries]
            self.truth = self.entries[question.place]


def _points(truth: Truth, question: Question, state: Changed) -> Iterator[_Point]:
    """Yield random points at which everything has a value: roots exist, nothing is divided by 0."""
    count = 0
    for number in range(MOST_TRIES * POINTS):
        field = random_field(0, number)
        try:
            point = _Point(truth, question, field, state)
        except (NotASquareError, ZeroDivisionError):
            continue
        yield point
        count += 1
        if count == POINTS:
            return
    raise RequestError(
        f"line {question.assignment.line}: {question.assignment.label} has no value at any point "
        "that was tried; is something divided by 0?"
    )


def _of_whole(question: Question, points: list[_Point]) -> Iterator[str]:
    """Yield slips of the whole entry: its sign, a factor 2, another entry of the same result."""

    def everywhere(value: Any) -> bool:
        return all(value(point) == point.answer for point in points)

    if not points:
        return
    zero = all(point.truth.value == 0 for point in points)
    if not zero and everywhere(lambda p: -p.truth):
        yield "the sign of the whole entry"
    if not zero and everywhere(lambda p: p.truth + p.truth):
        yield "a factor 2 too many in the whole entry"
    if not zero and all(point.answer + point.answer == point.truth for point in points):
        yield "a factor 2 is missing in the whole entry"
    if zero or question.place < 0 or all(point.answer.value == 0 for point in points):
        return
    shape = QUANTITIES[question.assignment.name].output(question.program).shape
    for place in range(len(points[0].entries)):
        if everywhere(lambda p, place=place: p.entries[place]):
            index = _index(place, shape)
            position = question.assignment.index
            name = f"{question.assignment.name}[{','.join(map(str, index))}]"
            if index == position[::-1] and len(index) == 2:
                yield f"rows and columns are exchanged: this is {name}"
            elif index == tuple(i + 1 for i in position):
                yield f"indices count from 1, not from 0: this is {name}"
            else:
                yield f"this is {name}"


def _index(place: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """1-based, of an entry in row-major order."""
    indices = []
    for size in reversed(shape):
        place, rest = divmod(place, size)
        indices.append(rest + 1)
    return tuple(reversed(indices))


def _size(expression: Expr, sizes: Mapping[Expr, int]) -> int:
    """Return leaves of an expression with all steps put in."""
    if not expression.args:
        return sizes.get(expression, 1)
    return sum(_size(part, sizes) for part in expression.args)


def _terms(expression: Expr, terms: Mapping[Expr, int]) -> int:
    """Return terms of an expression with all steps put in and multiplied out, at most."""
    if not expression.args:
        return terms.get(expression, 1)
    parts = [_terms(part, terms) for part in expression.args]
    if expression.is_Add:
        return sum(parts)
    if expression.is_Mul:
        return min(prod(parts), _MANY)
    if expression.is_Pow and expression.exp.is_Integer:
        return int(min(parts[0] ** min(abs(int(expression.exp)), _HIGH), _MANY))
    return 1


def _needed(entry: Expr, steps: Mapping[Expr, Expr]) -> set[Expr]:
    """Return the steps that an entry rests on."""
    needed: set[Expr] = set()
    waiting = [entry]
    while waiting:
        for x in waiting.pop().free_symbols:
            if x in steps and x not in needed:
                needed.add(x)
                waiting.append(steps[x])
    return needed


def _is_wave(x: Expr) -> bool:
    return isinstance(x, sympy.sin | sympy.cos)


NOT_CHRISTOFFEL = "C qd is right; this is not the Christoffel matrix"
NOT_SKEW = f"{NOT_CHRISTOFFEL}, and dM/dt - 2 C is not skew-symmetric"
ROW_IS_NEEDED = (
    "not that of the Christoffel matrix; with the whole row any C with C qd right is accepted"
)


def by_rows(
    is_right: Callable[[Question], bool], asked: Questions, rows: Sequence[Graded]
) -> list[Graded]:
    """Return verdicts `rows` on the questions of `asked`, those on entries of C by whole rows."""
    judged = list(rows)
    entries = {
        question.assignment.index: place
        for place, question in enumerate(asked.questions)
        if question.assignment.name == COUPLED
    }
    if all(rows[place].right for place in entries.values()):
        return judged
    n = asked.truth.coordinates
    full = [i for i in range(1, n + 1) if all((i, k) in entries for k in range(1, n + 1))]
    matrix = {index: asked.questions[place].answer for index, place in entries.items()}
    right = [i for i in full if is_right(_products(asked, matrix, i))]
    skew = len(right) == n and _is_skew(is_right, asked, matrix)
    for (i, _), place in entries.items():
        if i in right:
            remark = NOT_CHRISTOFFEL if skew or len(right) < n else NOT_SKEW
            same = all(rows[entries[i, k]].right for k in range(1, n + 1))
            remark = "" if same else remark
            judged[place] = replace(judged[place], right=True, wrong="", slip="", remark=remark)
        elif i not in full and not judged[place].right:
            judged[place] = replace(judged[place], remark=ROW_IS_NEEDED)
    return judged


def _question(asked: Questions, name: str, index: tuple[int, ...], answer: Expr) -> Question:
    """Return a question of our own about an entry."""
    (first, *_) = asked.questions
    quantity = QUANTITIES[name]
    program = asked.truth.program(quantity.function)
    place = 0
    for i, size in zip(index, quantity.output(program).shape, strict=True):
        place = place * size + i - 1
    assignment = replace(first.assignment, name=name, index=index)
    return Question(assignment, answer, program, place)


def _products(asked: Questions, matrix: Mapping[tuple[int, ...], Expr], i: int) -> Question:
    """Return C_i1 qd_1 + C_i2 qd_2 + ..., which is to be h_i."""
    rates = asked.coordinates()
    answer = sum(matrix[i, k] * rates[f"qd{k}"] for k in range(1, asked.truth.coordinates + 1))
    return _question(asked, PRODUCTS, (i,), answer)


def _is_skew(
    is_right: Callable[[Question], bool], asked: Questions, matrix: Mapping[tuple[int, ...], Expr]
) -> bool:
    """Say whether C + C^T is dM/dt, as for the Christoffel matrix: C differs by a skew matrix.

    Entry by entry C_ij is to be (Christoffel)_ij + (Christoffel)_ji - C_ji.
    """
    n = asked.truth.coordinates
    output = QUANTITIES[COUPLED].output(asked.truth.program(QUANTITIES[COUPLED].function))
    for i in range(1, n + 1):
        for k in range(i, n + 1):
            mirrored = output.entries[(k - 1) * n + i - 1]
            answer = matrix[i, k] + matrix[k, i] - mirrored
            if not is_right(_question(asked, COUPLED, (i, k), answer)):
                return False
    return True
