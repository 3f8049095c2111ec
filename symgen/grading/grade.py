"""An answer against the truth: `Verdict`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import sympy

from symgen.algebra.prime_field import NotASquareError, PrimeField, random_field
from symgen.algebra.sympy_algebra import SymPyAlgebra, symbol
from symgen.description.expressions import FUNCTIONS as WORDS
from symgen.description.expressions import Expression, Name, Node, Number, Operation
from symgen.description.model import RobotDescription
from symgen.description.wording import did_you_mean, shown
from symgen.errors import Fault, ModelError, RequestError
from symgen.formulations import FORMULATIONS, provided_functions
from symgen.grading.answer import Assignment, read_answer
from symgen.grading.quantities import QUANTITIES
from symgen.grading.slips import slips_of
from symgen.grading.terms import WrongTerm, first_wrong_term, number_of_terms, summands_of, written
from symgen.grading.truth import AS_IT_IS, GIVEN_BY, Changed, Truth, output_named
from symgen.kinematics.scalars import scalar
from symgen.program.program import Program

Expr = Any
POINTS = 2
"""Random points, each in a prime field of 127 bits."""

MOST_TRIES = 20
HIGHEST_POWER = 1000
"""Of what is multiplied out in an answer."""

LARGEST_TRUTH = 10_000
"""Numbers and names in a true entry, all steps put in, that is still taken apart into terms."""

MOST_LINKS = 8
"""Robots with more joints are not tried with slips about single links: it would take minutes."""

_COORDINATE = re.compile(r"(q|qd|qdd|tau)_?([0-9]+)")
_WAVE = re.compile(r"([cs])_?([0-9]+)")


@dataclass(frozen=True)
class Graded:
    """One line of an answer: `wrong` and `slip` say what is the matter where it is not right."""

    label: str
    line: int
    right: bool
    wrong: str = ""
    slip: str = ""


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
    def first_wrong(self) -> Graded | None:
        """The first line that is wrong."""
        return next((row for row in self.rows if not row.right), None)

    @property
    def summary(self) -> str:
        """How many are right."""
        right = sum(row.right for row in self.rows)
        return f"{right} of {len(self.rows)} right"

    def as_json(self) -> dict[str, Any]:
        """The verdict as plain data."""
        return {**asdict(self), "passed": self.passed}

    def __str__(self) -> str:
        lines = []
        for row in self.rows:
            lines.append(f"line {row.line}: {row.label}: {'right' if row.right else 'WRONG'}")
            lines += [f"    {words}" for words in (row.wrong, row.slip) if words]
        return "\n".join([*lines, self.summary])


def grade(description: RobotDescription, text: str, file: str = "answer") -> Verdict:
    """Grade the answer `text` about a robot.

    Raises `ModelError` with every line that cannot be understood; then nothing is graded.
    """
    assignments = read_answer(text, file)
    grading = _Grading(description, file, assignments)
    if grading.faults:
        raise ModelError(grading.faults)
    if not grading.questions:
        names = ", ".join(QUANTITIES)
        message = f"nothing in it is asked for; what can be graded: {names}, FORMULATION.STEP"
        raise ModelError([Fault(file, 0, "", message)])
    return Verdict(description.name, tuple(grading.graded(x) for x in grading.questions))


@dataclass(frozen=True)
class _Question:
    """An assignment that is graded, as an expression, and the truth about it."""

    assignment: Assignment
    answer: Expr
    program: Program[Expr]
    place: int
    """Of the entry in its result; -1 for a step."""


@dataclass
class _Grading:
    """An answer with everything that its names can mean."""

    description: RobotDescription
    file: str
    assignments: tuple[Assignment, ...]
    faults: list[Fault] = field(default_factory=list)
    questions: list[_Question] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.truth = Truth(self.description)
        self.parameters = {x.name: symbol(x.name) for x in self.description.parameters}
        self.known: dict[str, Expr] = {}
        self.state = self.asked_state()
        seen: dict[str, int] = {}
        for assignment in self.assignments:
            label = assignment.label
            if label in seen:
                self.fault(assignment, f"{label} has an answer already, in line {seen[label]}")
            seen.setdefault(label, assignment.line)
            self.take(assignment)

    def fault(self, assignment: Assignment, message: str) -> None:
        self.faults.append(Fault(self.file, assignment.line, assignment.label, message))

    def asked_state(self) -> Changed:
        """Without loads, unless the answer speaks of any."""
        loads = self.loads()
        used = {name for assignment in self.assignments for name in assignment.value.names}
        return AS_IT_IS if used & loads.keys() else Changed(zeros=("loads",))

    # -- what is on the left ----------------------------------------------------------------

    def take(self, assignment: Assignment) -> None:
        """A question or a definition."""
        formulation, dot, step = assignment.name.partition(".")
        if dot:
            self.take_step(assignment, formulation, step)
        elif assignment.name in QUANTITIES:
            self.take_entry(assignment)
        elif assignment.index:
            hint = (
                did_you_mean(assignment.name, QUANTITIES) or f"; there are {', '.join(QUANTITIES)}"
            )
            self.fault(assignment, f"nothing is called {shown(assignment.name)}{hint}")
        elif assignment.name in {**self.parameters, **WORDS, "pi": 0, "deg": 0}:
            self.fault(assignment, "this name belongs to the model; choose another one")
        else:
            value = self.expression(assignment, None)
            if value is not None:
                self.known[assignment.name] = value

    def take_entry(self, assignment: Assignment) -> None:
        quantity = QUANTITIES[assignment.name]
        program = self.program(assignment, quantity.function, GIVEN_BY)
        if program is None:
            return
        shape = output_named(program, quantity.result).shape
        inside = len(assignment.index) == len(shape) and all(
            1 <= i <= size for i, size in zip(assignment.index, shape, strict=True)
        )
        if not inside:
            sizes = ",".join(f"1..{size}" for size in shape)
            expected = f"{assignment.name}[{sizes}]" if shape else f"{assignment.name} = ..."
            self.fault(assignment, f"expected {expected}")
            return
        place = 0
        for i, size in zip(assignment.index, shape, strict=True):
            place = place * size + i - 1
        self.ask(assignment, program, place)

    def take_step(self, assignment: Assignment, formulation: str, step: str) -> None:
        """A step of the recursion of a formulation: of inverse, or else of forward dynamics."""
        names = [item.name for item in FORMULATIONS]
        if formulation not in names:
            hint = did_you_mean(formulation, names) or f"; there are {', '.join(names)}"
            self.fault(assignment, f"no formulation is called {shown(formulation)}{hint}")
            return
        provided = provided_functions(FORMULATIONS[names.index(formulation)])
        function = next(
            x for x in ("inverse_dynamics", "forward_dynamics", *provided) if x in provided
        )
        program = self.program(assignment, function, formulation)
        if program is None:
            return
        steps = [statement.name for statement in program.statements]
        if step not in steps:
            hint = did_you_mean(step, steps) or f"; they begin with {', '.join(steps[:6])}"
            self.fault(assignment, f"{formulation} has no step {shown(step)}{hint}")
            return
        self.ask(assignment, program, -1)

    def program(
        self, assignment: Assignment, function: str, formulation: str
    ) -> Program[Expr] | None:
        try:
            return self.truth.program(function, formulation)
        except (ZeroDivisionError, RequestError) as error:
            self.fault(assignment, f"{function} has no solution for this robot: {error}")
            return None

    def ask(self, assignment: Assignment, program: Program[Expr], place: int) -> None:
        value = self.expression(assignment, program)
        if value is not None:
            self.questions.append(_Question(assignment, value, program, place))

    # -- what is on the right ---------------------------------------------------------------

    def expression(self, assignment: Assignment, program: Program[Expr] | None) -> Expr | None:
        """The right side over SymPy, None where it is faulty; steps of `program` may be named."""
        value = assignment.value
        if _power(value.root) > HIGHEST_POWER:
            self.fault(assignment, f"a power higher than {HIGHEST_POWER}, or one that is no number")
            return None
        meant = {}
        for name in value.names:
            meaning = self.meaning(name, program)
            if meaning is None:
                known = [*self.known, *self.parameters, *self.coordinates()]
                hint = did_you_mean(name, known) or f"; known are {', '.join(known)}"
                self.fault(assignment, f"unknown name {shown(name)}{hint}")
                return None
            meant[symbol(name)] = meaning
        try:
            expression = scalar(value, SymPyAlgebra()).xreplace(meant)
        except (ArithmeticError, ValueError, TypeError) as error:
            self.fault(assignment, f"has no value: {error}")
            return None
        if expression.has(sympy.zoo, sympy.nan, sympy.oo):
            self.fault(assignment, "divides by zero")
            return None
        return expression

    def meaning(self, name: str, program: Program[Expr] | None) -> Expr | None:
        """What a name on the right stands for; the student's own names come first."""
        if name in self.known:
            return self.known[name]
        if name in self.parameters:
            return self.parameters[name]
        if program is not None and name in {x.name for x in program.statements}:
            return symbol(name)
        return self.input(name)

    def input(self, name: str) -> Expr | None:
        """A coordinate or its rate (q1, qd_2), an abbreviation (c12), a load's component."""
        coordinate, wave = _COORDINATE.fullmatch(name), _WAVE.fullmatch(name)
        if coordinate:
            return self.coordinates().get(f"{coordinate[1]}{int(coordinate[2])}")
        if wave:
            angles = [self.coordinates().get(f"q{digit}") for digit in wave[2]]
            if None in angles:
                return None
            angle = sympy.Add(*angles)
            return sympy.cos(angle) if wave[1] == "c" else sympy.sin(angle)
        return self.loads().get(name)

    def loads(self) -> Mapping[str, Expr]:
        """The components of all loads: tip_fx and so on."""
        arrays = self.truth.program("inverse_dynamics").inputs
        symbols = (x for array in arrays if array.name == "loads" for x in array.symbols)
        return {x.name: x for x in symbols}

    def coordinates(self) -> Mapping[str, Expr]:
        """q1, qd1, qdd1 and tau1, and so on: the symbols of the programs."""
        found: dict[str, Expr] = {}
        for array in self.truth.program("inverse_dynamics").inputs:
            if array.name in ("q", "qd", "qdd"):
                found.update({f"{array.name}{k}": x for k, x in enumerate(array.symbols, start=1)})
        n = sum(name.startswith("qdd") for name in found)
        found.update({f"tau{k}": symbol(f"tau_{k}") for k in range(1, n + 1)})
        return found

    # -- right or wrong ---------------------------------------------------------------------

    def graded(self, question: _Question) -> Graded:
        """One question against the truth; where it is wrong, against the usual slips."""
        label, line = question.assignment.label, question.assignment.line
        points = list(_points(self.truth, question, self.state))
        if all(point.answer == point.truth for point in points):
            return Graded(label, line, True)
        wrong = self.wrong(question)
        if isinstance(wrong, WrongTerm):
            slip = wrong.slip if wrong.is_the_slip else ""
            slip = slip or self.slip(question, points) or wrong.slip
            words = wrong.words
        else:
            slip, words = self.slip(question, points), wrong
        return Graded(label, line, False, words, f"likely slip: {slip}" if slip else "")

    def wrong(self, question: _Question) -> WrongTerm | str:
        """The first wrong term, or why there is none to be shown."""
        root = question.assignment.value.root
        truth = self.true_expression(question)
        if truth is None:
            return "the true entry is too long to be compared term by term"
        if self.state.zeros:
            truth = truth.xreplace(dict.fromkeys(self.loads().values(), sympy.S.Zero))
        truth = sympy.expand(truth)
        definitions = self.needed_definitions(truth.free_symbols | question.answer.free_symbols)
        truth = truth.xreplace(definitions)
        summands = []
        for node in summands_of(root):
            piece = Expression("", node, question.assignment.value.names)
            meant = {symbol(x): self.meaning(x, question.program) for x in piece.names}
            value = scalar(piece, SymPyAlgebra()).xreplace(meant).xreplace(definitions)
            summands.append((written(node), value))
        found = first_wrong_term(summands, truth, number_of_terms(root))
        return found or "it is no sum of products to be compared term by term"

    def needed_definitions(self, used: set[Expr]) -> dict[Expr, Expr]:
        """What has to be replaced for terms to be comparable, with the names that answers use.

        A derived parameter stays where what it is derived from does not occur beside it.
        """
        derived = {
            name: value
            for name, value in self.truth.definitions.items()
            if value.free_symbols & used
        }
        own = {x: symbol(name) for name, x in self.coordinates().items()}
        taken = {symbol(name) for name in self.parameters}
        return {**derived, **{x: name for x, name in own.items() if name not in taken}}

    def true_expression(self, question: _Question) -> Expr | None:
        """The truth: of a step as it is written, of an entry with all steps put in.

        None where that is too long.
        """
        program, name = question.program, question.assignment.name.partition(".")[2]
        steps = {symbol(x.name): x.value for x in program.statements}
        if question.place < 0:
            return steps[symbol(name)]
        quantity = QUANTITIES[question.assignment.name]
        entry = output_named(program, quantity.result).entries[question.place]
        sizes: dict[Expr, int] = {}
        for step, value in steps.items():
            sizes[step] = _size(value, sizes)
        if _size(entry, sizes) > LARGEST_TRUTH:
            return None
        needed = _needed(entry, steps)
        stands_for: dict[Expr, Expr] = {}
        for step, value in steps.items():
            if step in needed:
                stands_for[step] = value.xreplace(stands_for)
        return entry.xreplace(stands_for)

    def slip(self, question: _Question, points: list[_Point]) -> str:
        """The likely slip, "" where none of the usual ones gives this answer."""
        for words in _of_whole(question, points):
            return words
        if question.place < 0:
            return ""
        quantity = QUANTITIES[question.assignment.name]
        for slip in slips_of(self.description, links=self.truth.coordinates <= MOST_LINKS):
            other, zeros = Truth(slip.description), (*slip.changed.zeros, *self.state.zeros)
            changed = replace(slip.changed, zeros=zeros)
            try:
                for point in points:
                    entries = other.entries(
                        point.field, quantity.function, quantity.result, changed
                    )
                    if entries[question.place] != point.answer:
                        break
                else:
                    return slip.words
            except (ZeroDivisionError, NotASquareError):
                continue
        return ""


class _Point:
    """A question at one point: the answer's value and the true one, and all entries beside it."""

    def __init__(
        self, truth: Truth, question: _Question, field: PrimeField, state: Changed
    ) -> None:
        self.field = field
        values = truth.values(field, question.program, state)
        self.answer = values.of(question.answer)
        if question.place < 0:
            name = question.assignment.name.partition(".")[2]
            self.entries = [values.of(symbol(name))]
            self.truth = self.entries[0]
        else:
            result = QUANTITIES[question.assignment.name].result
            output = output_named(question.program, result)
            self.entries = [values.of(x) for x in output.entries]
            self.truth = self.entries[question.place]


def _points(truth: Truth, question: _Question, state: Changed) -> Iterator[_Point]:
    """Random points at which everything has a value: roots exist, nothing is divided by 0."""
    found = 0
    for number in range(MOST_TRIES * POINTS):
        field = random_field(0, number)
        try:
            point = _Point(truth, question, field, state)
        except (NotASquareError, ZeroDivisionError):
            continue
        yield point
        found += 1
        if found == POINTS:
            return
    raise RequestError(
        f"line {question.assignment.line}: {question.assignment.label} has no value at any point "
        "that was tried; is something divided by 0?"
    )


def _of_whole(question: _Question, points: list[_Point]) -> Iterator[str]:
    """Slips of the whole entry: its sign, a factor 2, another entry of the same result."""

    def everywhere(value: Any) -> bool:
        return all(value(point) == point.answer for point in points)

    zero = all(point.truth.value == 0 for point in points)
    if not zero and everywhere(lambda p: -p.truth):
        yield "the sign of the whole entry"
    if not zero and everywhere(lambda p: p.truth + p.truth):
        yield "a factor 2 too many in the whole entry"
    if not zero and all(point.answer + point.answer == point.truth for point in points):
        yield "a factor 2 is missing in the whole entry"
    if zero or question.place < 0 or all(point.answer.value == 0 for point in points):
        return
    shape = output_named(question.program, QUANTITIES[question.assignment.name].result).shape
    for place in range(len(points[0].entries)):
        if everywhere(lambda p, place=place: p.entries[place]):
            index = _index(place, shape)
            swapped = index == question.assignment.index[::-1] and len(index) == 2
            name = f"{question.assignment.name}[{','.join(map(str, index))}]"
            yield (
                f"rows and columns are exchanged: this is {name}" if swapped else f"this is {name}"
            )


def _index(place: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """1-based, of an entry in row-major order."""
    found = []
    for size in reversed(shape):
        place, rest = divmod(place, size)
        found.append(rest + 1)
    return tuple(reversed(found))


def _size(expression: Expr, sizes: Mapping[Expr, int]) -> int:
    """Leaves of an expression with all steps put in."""
    if not expression.args:
        return sizes.get(expression, 1)
    return sum(_size(part, sizes) for part in expression.args)


def _needed(entry: Expr, steps: Mapping[Expr, Expr]) -> set[Expr]:
    """The steps that an entry rests on."""
    found: set[Expr] = set()
    waiting = [entry]
    while waiting:
        for x in waiting.pop().free_symbols:
            if x in steps and x not in found:
                found.add(x)
                waiting.append(steps[x])
    return found


def _power(node: Node) -> float:
    """The highest power in an expression when it is multiplied out; infinite for ``2**x``."""
    if isinstance(node, Number | Name):
        return 1.0
    powers = [_power(x) for x in node.operands]
    if node.operator == "**":
        exponent = _number(node.operands[1])
        return float("inf") if exponent is None else powers[0] * max(1.0, abs(exponent))
    return sum(powers) if node.operator in "*/" else max(powers)


def _number(node: Node) -> float | None:
    """The value of a number with signs, and of a fraction of two; else None."""
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Operation) and node.operator == "neg":
        value = _number(node.operands[0])
        return None if value is None else -value
    if isinstance(node, Operation) and node.operator == "/":
        one, other = (_number(x) for x in node.operands)
        return one / other if one is not None and other else None
    return None
