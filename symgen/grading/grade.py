"""The verdict on an answer: right or wrong, line by line.

The Coriolis matrix is not unique: every C with the right product C qd is right.  Each complete row
C_i1 qd_1 + C_i2 qd_2 + ... of an answer is compared with the velocity-product terms h_i, entries of
incomplete rows with the Christoffel matrix.  The Christoffel matrix makes dM/dt - 2 C
skew-symmetric, which controllers rely on; a remark reports a right matrix that does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, reduce
from itertools import product
from math import prod
from typing import Any

import numpy as np
import sympy

from symgen.algebra.prime_field import NotASquareError, PrimeField, random_field
from symgen.algebra.sympy_algebra import SymPyAlgebra, symbol
from symgen.description.expressions import EvaluationError, Expression, Name, Node, Operation
from symgen.description.model import RobotDescription
from symgen.errors import MOST_LISTED, Fault
from symgen.grading.answer import ENTRY_PREFIX, as_written, read_answer
from symgen.grading.questions import NOT_UNDERSTOOD, Question, Questions
from symgen.grading.reals import agrees, needs_reals
from symgen.grading.slips import slips_of
from symgen.grading.terms import (
    MOST_TERMS,
    WrongTerm,
    cofunction,
    is_decimal,
    summands_of,
    written,
    wrong_terms,
)
from symgen.grading.truth import COUPLED, PRODUCTS, QUANTITIES, Changed, Truth, position_of
from symgen.kinematics.scalars import scalar
from symgen.support.journal import Progress, silent


@dataclass(frozen=True)
class Graded:
    """One line of an answer: `wrong` and `slip` explain a wrong line, `remark` a right one.

    A line that is not `understood` is not right.
    """

    label: str
    line: int
    right: bool
    wrong: str = ""
    slip: str = ""
    remark: str = ""
    understood: bool = True
    follows: int = 0
    """Line of the wrong entry with whose true value a wrong line would be right; 0 for none."""

    @property
    def is_consequence(self) -> bool:
        """Whether the line is not understood because a line that it uses is not."""
        return self.wrong.endswith(NOT_UNDERSTOOD)

    @property
    def verdict(self) -> str:
        """The verdict in one or two words."""
        return "right" if self.right else "WRONG" if self.understood else "not understood"


@dataclass(frozen=True)
class Verdict:
    """All graded lines, in the order of the answer."""

    robot: str
    rows: tuple[Graded, ...]
    unread: tuple[str, ...] = ()
    """The lines that are no assignments, with their numbers."""

    @property
    def passed(self) -> bool:
        """Whether everything is right."""
        return all(row.right for row in self.rows)

    @property
    def summary(self) -> str:
        """The number of right lines, and of lines that are not read."""
        right = sum(row.right for row in self.rows)
        following = sum(row.follows > 0 for row in self.rows)
        apart = f"; errors carried forward: {following}" * (following > 0)
        apart += f"; lines not read: {len(self.unread)}" * bool(self.unread)
        return f"{right} of {len(self.rows)} right{apart}"

    def as_json(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        return {**asdict(self), "passed": self.passed}

    def __str__(self) -> str:
        lines: list[str] = []
        faults = [row for row in self.rows if not row.understood and not row.is_consequence]
        waiting = [row.label for row in self.rows if row.is_consequence]
        for row in self.rows:
            label = f"line {row.line}: " * bool(row.line) + f"{row.label}: " * bool(row.label)
            if row.understood:
                lines.append(f"{label}{row.verdict}")
                remarks = *row.wrong.split(TERM_END), row.slip, row.remark
                lines += [f"    {text}" for text in remarks if text]
            elif row in faults[:MOST_LISTED]:
                lines.append(f"{label}{row.verdict}: {row.wrong}")
        if len(faults) > MOST_LISTED:
            lines.append(f"and {len(faults) - MOST_LISTED} more that are not understood")
        if waiting:
            lines.append(f"not graded, as they use lines above that are not: {', '.join(waiting)}")
        lines += [f"not read, as there is no '=' in it: {x}" for x in self.unread[:MOST_LISTED]]
        return "\n".join([*lines, self.summary])


Expr = Any
POINTS = 2
"""Number of random points, each in a prime field of 127 bits."""
MOST_TRIES = 20
LARGEST_TRUTH = 10_000
"""Maximum number of leaves of a true entry, steps substituted, that is split into terms."""
MOST_TRUE_TERMS = 200_000
"""Maximum number of terms of an expanded true entry, before collection (seconds)."""
MOST_NAMED = 12
"""Maximum number of wrong terms in the verdict on an entry."""
TERM_END = "; "
"""The end of a wrong term in a verdict."""
MOST_LINKS = 8
"""Maximum number of joints up to which slips about single links are tried (minutes above)."""

IN_NUMBERS = "with the numbers of the file; in symbols it would hold for every robot of this kind"
POWER = "a power is written with **; ^ is read likewise"
ANOTHER_LEVEL = "another zero level"
OF_TREE = "{} is that of the tree cut open; the {} also depends on the multipliers"
CLOSED = {"inverse_dynamics": "torque of the drives", "forward_dynamics": "acceleration"}
ANOTHER_SIGN = "row {} has throughout the opposite sign of that in symgen show, which is accepted"
NOT_CHRISTOFFEL = "C qd is right; this is not the Christoffel matrix"
NOT_SKEW = f"{NOT_CHRISTOFFEL}, and dM/dt - 2 C is not skew-symmetric"
ROW_IS_NEEDED = (
    "not that of the Christoffel matrix; with the whole row any C with C qd right is accepted"
)
_MANY, _HIGH = 10**9, 30
_ANGLE = re.compile("q[0-9]+")


def grade(
    description: RobotDescription, text: str, file: str = "answer", progress: Progress = silent
) -> Verdict:
    """Grade the answer `text` about a robot.

    Lines that cannot be understood are not right; the others are graded.  An answer in which
    nothing is asked for has one row that is not right, of line 0.
    """
    numbers = {name: str(k) for k, name in enumerate(description.constraint_names, start=1)}
    text = re.sub(r"(?<=\[)\w+", lambda name: numbers.get(name[0], name[0]), text)
    assignments, faults, unread = read_answer(text, file)
    asked = Questions(description, file, assignments)
    faults += asked.faults
    if not asked.questions and not faults:
        names = ", ".join(QUANTITIES)
        message = f"nothing in it is asked for; what can be graded: {names}, FORMULATION.STEP"
        faults.append(Fault(file, 0, "", message))
    grading, rows = _Grading(asked), list[Graded]()
    for question in grading.questions:
        progress(f"grade: {question.assignment.label}", len(rows), len(asked.questions))
        rows.append(grading.graded(question))
    rows = grading.by_lines(grading.by_rows(rows))
    rows += [Graded(x.key, x.line, False, x.message, understood=False) for x in faults]
    return Verdict(description.name, tuple(sorted(rows, key=lambda row: row.line)), tuple(unread))


@dataclass(frozen=True)
class _Grading:
    """Grades the questions of one answer."""

    asked: Questions

    @cached_property
    def questions(self) -> list[Question]:
        """The questions, with one sign for each row of constraints.

        It is the sign with which constraints[i] is right, else that with which most answers about
        the row are right, else that which leaves the fewest wrong terms.
        """
        signs = dict[str, int]()
        for row in {x.row for x in self.asked.questions} - {0}:
            of_row = [x for x in self.asked.questions if x.row == row]
            right, merits = dict[int, set[str]](), dict[int, tuple[int, ...]]()
            for sign in (1, -1):
                agreeing = [x.assignment for x in of_row if self.agrees(replace(x, sign=sign))]
                decisive = any(QUANTITIES[x.name].function == "constraints" for x in agreeing)
                merits[sign] = decisive, len(agreeing)
                right[sign] = {x.label for x in agreeing}
            if merits[1] == merits[-1]:
                for sign in merits:
                    wrong = (self.wrong(replace(x, sign=sign)) for x in of_row)
                    merits[sign] = (-sum(len(x) for x in wrong if not isinstance(x, str)),)
            best = max(merits, key=lambda sign: merits[sign])
            labels = {x.assignment.label for x in of_row} - (right[1] & right[-1])
            signs |= dict.fromkeys(labels, best)
        return [replace(x, sign=signs.get(x.assignment.label, 1)) for x in self.asked.questions]

    def agrees(self, question: Question) -> bool:
        """Whether an answer has a value, and is right, in symbols or in numbers."""
        try:
            return self.remarks_if_right(question) is not None
        except EvaluationError:
            return False

    @property
    def truth(self) -> Truth:
        """The truth about the unchanged robot."""
        return self.asked.truth

    def is_right(
        self, question: Question, numbers: bool = False, up_to_constant: bool = False
    ) -> bool:
        """Whether an answer is right; with `numbers`, at the parameters of the file."""
        state = replace(self.asked.state, numbers=numbers)
        if needs_reals(question.answer):
            return agrees(self.truth, question, state, up_to_constant)
        points = _points(self.truth, question, state, up_to_constant)
        return all(point.answer - point.truth == point.level for point in points)

    def remarks_if_right(self, question: Question) -> str | None:
        """The remarks on a right answer; None for a wrong one."""
        numbers = (False, True) if self.is_in_numbers(question) else (False,)
        levels = (False, True) if question.is_levelled else (False,)
        for in_numbers, another_level in product(numbers, levels):
            if self.is_right(question, in_numbers, another_level):
                return "; ".join([ANOTHER_LEVEL] * another_level + [IN_NUMBERS] * in_numbers)
        return None

    def graded(self, question: Question) -> Graded:
        """Grade one question, and look for the slip if it is wrong."""
        label, line = question.assignment.label, question.assignment.line
        opposite = (x for x in self.questions if x.row == question.row and x.sign < 0)
        is_first = question.sign < 0 and question is next(opposite)
        notes = [ANOTHER_SIGN.format(question.row)] * is_first
        notes += [POWER] * question.assignment.has_carets
        alike = [x for x in self.questions if x.function == question.function]
        closed = self.truth.description.constraint_names and CLOSED.get(question.function)
        if closed and question is alike[0]:
            notes.append(OF_TREE.format(question.assignment.name, closed))
        try:
            remarks = self.remarks_if_right(question)
        except EvaluationError as error:
            return Graded(label, line, False, str(error), understood=False)
        if remarks is not None:
            return Graded(label, line, True, remark=TERM_END.join(filter(None, (*notes, remarks))))
        points: list[_Point] = []
        if not needs_reals(question.answer):
            points = list(_points(self.truth, question, self.asked.state))
        wrong = self.wrong(question)
        if isinstance(wrong, str):
            slip, words = self.slip(question, points), wrong
        else:
            common = wrong[0].slip if len({term.slip for term in wrong}) == 1 else ""
            is_the_slip = common and len(wrong) == 1 and wrong[0].factor != 0
            slip = common if is_the_slip else self.slip(question, points) or common
            named = [term.words for term in wrong[:MOST_NAMED]]
            more = [f"and {len(wrong) - MOST_NAMED} more terms"] * (len(wrong) > MOST_NAMED)
            words = TERM_END.join([*named, *more])
        slip = f"likely slip: {slip}" if slip else ""
        names = [x for x in self.asked.names(question.assignment)[1:] if "_" not in x]
        notes += [f"{x} is {label}; a name of your own has to be another one" for x in names]
        remark = TERM_END.join([*notes, *self.asked.remarks(question.answer)])
        return Graded(label, line, False, as_written(words), slip, remark)

    def is_in_numbers(self, question: Question) -> bool:
        """Whether numbers of an answer may stand for parameters: decimals, or no symbols."""
        used = {x.name for x in question.answer.free_symbols}
        numbers = question.answer.atoms(sympy.Rational, sympy.Float)
        return any(map(is_decimal, numbers)) or not used & self.asked.parameters.keys()

    def slips_of_angles(self, question: Question) -> Iterator[str]:
        """Yield exchanged sines and cosines, or degrees, if undoing them makes the answer right."""
        if self.asked.size(question.assignment).terms > MOST_TERMS:
            return
        angles = [
            x
            for name, x in self.asked.coordinates().items()
            if _ANGLE.fullmatch(name) and x not in self.asked.quaternion_entries
        ]
        degrees = {x: 180 * x / sympy.pi for x in angles}
        waves = sorted(question.answer.atoms(sympy.sin, sympy.cos), key=str)
        in_degrees = {x: x.func(sympy.expand(x.args[0].xreplace(degrees))) for x in waves}
        undone = {
            "sine and cosine are exchanged": {x: cofunction(x) for x in waves},
            "angles are taken in degrees; they are in radians": degrees | in_degrees,
        }
        for x in waves[:MOST_NAMED]:
            name = x.xreplace(self.asked.unambiguous())
            undone[f"{name} in place of {cofunction(name)}"] = {x: cofunction(x)}
        for words, meant in undone.items():
            answer = question.answer.xreplace(meant)
            if answer != question.answer and self.is_right(replace(question, answer=answer)):
                yield words

    def wrong(self, question: Question, numbers: bool = False) -> list[WrongTerm] | str:
        """Find the wrong terms, or explain why there are none to show.

        With `numbers`, parameters have the values of the file; so they have where a decimal stands
        for parameters.
        """
        root = question.assignment.value.root
        truth = self.true_expression(question)
        if truth is None:
            return "the true entry is too long to be compared term by term"
        if self.asked.state.zeros:
            truth = truth.xreplace(dict.fromkeys(self.asked.loads().values(), sympy.S.Zero))
        truth = sympy.expand(truth)
        definitions = self.needed_definitions(truth.free_symbols | question.answer.free_symbols)
        if numbers:
            values = self.truth.numbers
            derived = {x: y.xreplace(values) for x, y in self.truth.definitions.items()}
            definitions = definitions | values | derived
        truth = truth.xreplace(definitions)
        quaternions = [
            tuple(x.xreplace(definitions) for x in entries)
            for entries in self.truth.quaternions(question.program)
        ]
        summands = []
        for node in summands_of(root):
            piece = Expression("", node, question.assignment.value.names)
            meant = {symbol(x): self.asked.meaning(x, question.program) for x in piece.names}
            value = scalar(piece, SymPyAlgebra()).xreplace(meant)
            value = value.xreplace(self.asked.answers).xreplace(definitions)
            summands.append((written(node), value))
        size = self.asked.size(question.assignment).terms
        ignored = {*self.asked.parameters.values()} if question.is_levelled else None
        wrong = wrong_terms(summands, truth, size, quaternions, ignored)
        if not numbers and any(x.expected == 0 and is_decimal(x.factor) for x in wrong):
            return self.wrong(question, numbers=True)
        used = (x.free_symbols for _, x in summands)
        unused = truth.free_symbols.difference(*used, self.asked.parameters.values())
        if not wrong and unused and question.function == "constraints":
            names = ", ".join(sorted(x.name for x in unused))
            return f"it is another constraint than row {question.row}, which contains {names}"
        return wrong or "it is no sum of products to be compared term by term"

    def needed_definitions(self, used: set[Expr]) -> dict[Expr, Expr]:
        """Replacements that make terms comparable, with the names that answers use.

        A derived parameter stays if the parameters in its definition do not occur.
        """
        derived = {
            name: value
            for name, value in self.truth.definitions.items()
            if value.free_symbols & used
        }
        return {**derived, **self.asked.unambiguous()}

    def true_expression(self, question: Question) -> Expr | None:
        """Return the true value of a step as written, or of an entry with all steps substituted.

        None if it is too long.
        """
        steps = {symbol(x.name): x.value for x in question.program.statements}
        entry = question.entries[question.position]
        if question.is_step:
            return steps[entry]
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
        """Return the likely slip, "" if none of the usual ones gives this answer.

        Without `points`, for answers with roots, slips of the whole robot are not tried.
        """
        for words in (*_of_whole(question, points), *self.slips_of_angles(question)):
            return words
        if question.is_step or not points:
            return ""
        quantity = QUANTITIES[question.assignment.name]
        for slip in slips_of(self.truth.description, links=self.truth.coordinates <= MOST_LINKS):
            mistaken = Truth(slip.description)
            zeros = (*slip.changed.zeros, *self.asked.state.zeros)
            changed = replace(slip.changed, zeros=zeros)
            try:
                if all(
                    mistaken.entries(x.field, quantity, changed)[question.position]
                    == x.field.number(question.sign) * x.answer
                    for x in points
                ):
                    return slip.words
            except (ZeroDivisionError, NotASquareError):
                continue
        return ""

    def by_rows(self, rows: Sequence[Graded]) -> list[Graded]:
        """Correct the verdicts `rows` on entries of C by complete rows.

        A wrong row has the difference of C qd, and that of the Christoffel matrix only where some
        of its entries agree with this matrix.
        """
        judged, asked = list(rows), self.asked
        entries = {
            question.assignment.index: place
            for place, question in enumerate(asked.questions)
            if question.assignment.name == COUPLED
        }
        if all(rows[place].right for place in entries.values()):
            return judged
        n, by_row = self.truth.coordinates, dict[int, list[int]]()
        for (i, _), place in entries.items():
            by_row.setdefault(i, []).append(place)
        matrix = {index: asked.questions[place] for index, place in entries.items()}
        products = {
            i: self.graded(self._product(matrix, i))
            for i, places in by_row.items()
            if len(places) == n and all(rows[x].understood for x in places)
        }
        right = [i for i, product in products.items() if product.right]
        skew = len(right) == n and self._is_skew({x: y.answer for x, y in matrix.items()})
        remark = NOT_CHRISTOFFEL if skew or len(right) < n else NOT_SKEW
        for i, places in by_row.items():
            wrong = [x for x in places if not rows[x].right]
            for place in places if wrong and i in right else wrong:
                row = rows[place]
                if i in right:
                    remarks = TERM_END.join(filter(None, (remark, products[i].remark)))
                    row = replace(row, right=True, wrong="", slip="", remark=remarks)
                elif i in products:
                    is_first, partly = place == wrong[0], len(wrong) < n
                    words = products[i].wrong if is_first else f"see line {rows[wrong[0]].line}"
                    words = TERM_END.join([f"row {i} of C qd: {words}", *[row.wrong] * partly])
                    slip = row.slip if partly else products[i].slip * is_first
                    row = replace(row, wrong=words, slip=slip)
                else:
                    remarks = TERM_END.join(filter(None, (ROW_IS_NEEDED, row.remark)))
                    row = replace(row, remark=remarks)
                judged[place] = row
        return judged

    def by_lines(self, rows: Sequence[Graded]) -> list[Graded]:
        """Mark lines that are right with the true values of wrong entries from lines above."""
        judged, wrong = list(rows), dict[Expr, Question]()
        for place, (row, question) in enumerate(zip(rows, self.questions, strict=True)):
            if row.right or not row.understood:
                continue
            used = {x: wrong[x] for x in wrong if x in question.stated.free_symbols}
            true = {x: self.true_expression(entry) for x, entry in used.items()}
            answer = question.stated
            if used and None not in true.values():
                answer = answer.xreplace(true).xreplace(self.asked.answers)
            if answer != question.stated and self.agrees(replace(question, answer=answer)):
                line = min(entry.assignment.line for entry in used.values())
                words = f"it follows from line {line}, and is right with the true entry"
                judged[place] = replace(row, wrong=words, slip="", follows=line)
            wrong[symbol(question.assignment.entry)] = question
        return judged

    def _question(self, name: str, index: tuple[int, ...], answer: Expr) -> Question:
        """Return a question about an entry with a value that is derived from the answer."""
        quantity = QUANTITIES[name]
        program = self.truth.program(quantity.function)
        position = position_of(index, quantity.output(program).shape)
        assignment = replace(self.asked.questions[0].assignment, name=name, index=index)
        return Question(assignment, answer, program, position)

    def _product(self, matrix: Mapping[tuple[int, ...], Question], row: int) -> Question:
        """Return the question whether a row of C times qd is that of h."""
        parts, rates = list[Node](), self.asked.coordinates()
        names, answer = dict[str, None](), sympy.S.Zero
        for k in range(1, self.truth.coordinates + 1):
            question, rate = matrix[row, k], f"{ENTRY_PREFIX}qd_{k}"
            parts.append(Operation("*", (question.assignment.value.root, Name(rate))))
            names |= dict.fromkeys((*question.assignment.value.names, rate))
            answer += question.answer * rates[f"qd{k}"]
        product = self._question(PRODUCTS, (row,), answer)
        root = reduce(lambda x, y: Operation("+", (x, y)), parts)
        value = Expression("", root, (*names,))
        return replace(
            product, assignment=replace(product.assignment, value=value, has_carets=False)
        )

    def _is_skew(self, matrix: Mapping[tuple[int, ...], Expr]) -> bool:
        """Whether C + C^T is dM/dt, as for the Christoffel matrix.

        Entry by entry C_ij must be (Christoffel)_ij + (Christoffel)_ji - C_ji.
        """
        n, quantity = self.truth.coordinates, QUANTITIES[COUPLED]
        output = quantity.output(self.truth.program(quantity.function))
        for i in range(1, n + 1):
            for k in range(i, n + 1):
                answer = matrix[i, k] + matrix[k, i] - output.entries[(k - 1) * n + i - 1]
                if not self.agrees(self._question(COUPLED, (i, k), answer)):
                    return False
        return True


class _Point:
    """Values of a question at one point: of the answer, of the truth, of all true entries.

    `level` is 0, or the difference of answer and truth in another state.
    """

    def __init__(
        self, truth: Truth, question: Question, field: PrimeField, state: Changed,
        up_to_constant: bool = False,
    ) -> None:  # fmt: skip
        self.field = field
        values = truth.values(field, question.program, state)
        self.answer = values.of(question.answer)
        self.entries = [values.of(x) for x in question.entries]
        self.truth = self.entries[question.position]
        self.level = field.number(0)
        if up_to_constant:
            moved = _Point(truth, question, field, replace(state, moved=True))
            self.level = moved.answer - moved.truth


def _points(
    truth: Truth, question: Question, state: Changed, up_to_constant: bool = False
) -> Iterator[_Point]:
    """Yield random points at which everything has a value: roots exist, divisors are not 0."""
    count = 0
    for number in range(MOST_TRIES * POINTS):
        field = random_field(0, number)
        try:
            point = _Point(truth, question, field, state, up_to_constant)
        except (NotASquareError, ZeroDivisionError):
            continue
        yield point
        count += 1
        if count == POINTS:
            return
    raise EvaluationError("no value at any point that was tried; is something divided by 0?")


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
    if zero or question.is_step or all(point.answer.value == 0 for point in points):
        return
    shape = QUANTITIES[question.assignment.name].output(question.program).shape
    for position in range(len(points[0].entries)):
        if everywhere(lambda p, position=position: p.entries[position]):
            index = tuple(int(i) + 1 for i in np.unravel_index(position, shape)) if shape else ()
            asked = question.assignment.index
            name = f"{question.assignment.name}[{','.join(map(str, index))}]"
            if index == asked[::-1] and len(index) == 2:
                yield f"rows and columns are exchanged: this is {name}"
            elif index == tuple(i + 1 for i in asked):
                yield f"indices count from 1, not from 0: this is {name}"
            else:
                yield f"this is {name}"


def _size(expression: Expr, sizes: Mapping[Expr, int]) -> int:
    """Number of leaves of an expression with all steps substituted."""
    if not expression.args:
        return sizes.get(expression, 1)
    return sum(_size(part, sizes) for part in expression.args)


def _terms(expression: Expr, terms: Mapping[Expr, int]) -> int:
    """Upper bound of the number of terms of an expression with all steps substituted, expanded."""
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
    """Return the steps that an entry depends on."""
    needed: set[Expr] = set()
    waiting = [entry]
    while waiting:
        for x in waiting.pop().free_symbols:
            if x in steps and x not in needed:
                needed.add(x)
                waiting.append(steps[x])
    return needed
