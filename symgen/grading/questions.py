"""Interpretation of an answer: assignments -> questions about entries and steps.

On the left are entries of results (`symgen.grading.truth`), steps of a formulation, and the
student's definitions.  Names on the right are looked up in this order: the student's definitions,
parameters, steps of the formulation in question, coordinates, rates and torques (``q1``, ``qd_2``,
``tau[1]``), abbreviations (``c12``), components of loads (``tip_fx``), the time ``t`` of relations.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import le
from typing import Any

import sympy

from symgen.algebra.sympy_algebra import SymPyAlgebra, symbol
from symgen.description.expressions import ARITIES as WORDS
from symgen.description.expressions import EvaluationError, Name
from symgen.description.model import RobotDescription
from symgen.description.outputs import constant_part
from symgen.description.wording import did_you_mean, in_line, shown
from symgen.errors import Fault, RequestError
from symgen.formulations import FORMULATIONS, provided_functions
from symgen.grading.answer import ENTRY_PREFIX, Assignment, as_written
from symgen.grading.sizes import Size, size_of, too_large
from symgen.grading.truth import (
    LEVELLED,
    OWN_WITHOUT_INDEX,
    QUANTITIES,
    REFERENCE,
    SIGNED,
    UNCHANGED,
    USUAL,
    Changed,
    Truth,
    position_of,
)
from symgen.kinematics.scalars import scalar
from symgen.program.arguments import why_empty
from symgen.program.functions import function_named
from symgen.program.program import Program

Expr = Any
_COORDINATE = re.compile(rf"(?:{re.escape(ENTRY_PREFIX)})?(q|qd|qdd|tau)_?([0-9]+)")
_ENTRY = re.compile(
    rf"(?P<name>{'|'.join(x for x in QUANTITIES if x not in ('T', 'V'))})"
    "_?(?P<index>[0-9]{1,9}(?:_[0-9]{1,9})*)"
)
_MULTIPLIED = re.compile(r"(given\.)?(lambda|multipliers|drive|constrained_\w+?)(_[0-9]+)?")
_NOT_GRADED = "; multipliers, and what depends on them, are not graded; tau of the tree cut open is"
_MOST_LISTED, _MOST_UNKNOWN = 30, 5
NOT_UNDERSTOOD = " is wanted here, and its own line is not understood"
"""The end of a fault that is the consequence of the fault of another line."""
_ANGLE = "(?:q|theta|th|phi)"
_OTHER_WORDS = re.compile(
    rf"(?P<before>d{{0,2}}){_ANGLE}_?(?P<index>[0-9]+)_?(?P<after>(?:d{{1,2}}(?:ot)?)?)"
    rf"|{_ANGLE}_?(?P<between>d{{1,2}})ot_?(?P<last>[0-9]+)"
)
_WAVE = re.compile(r"([cs])_?([0-9]+)")


@dataclass(frozen=True)
class Question:
    """An assignment to grade, its right side over SymPy, and the true program."""

    assignment: Assignment
    answer: Expr
    program: Program[Expr]
    position: int
    """Row-major position of the entry in its result; 0 for a step."""
    stated: Expr = None
    """The answer with a symbol for every entry that was answered before."""
    sign: int = 1
    """-1 where the truth is taken with the other sign, which is free for rows of constraints."""

    @property
    def is_step(self) -> bool:
        """Whether it is about a step of a recursion rather than an entry of a result."""
        return "." in self.assignment.name

    @property
    def function(self) -> str:
        """Function of the result that it is about; "" for a step."""
        return "" if self.is_step else QUANTITIES[self.assignment.name].function

    @property
    def row(self) -> int:
        """Number of the row of constraints that it is about; 0 for other questions."""
        return self.assignment.index[0] if self.function in SIGNED else 0

    @property
    def is_levelled(self) -> bool:
        """Whether it is about a result that is defined up to a constant."""
        return self.function == LEVELLED

    @property
    def entries(self) -> tuple[Expr, ...]:
        """All true entries of the result, in terms of steps; for a step its symbol."""
        if self.is_step:
            return (symbol(self.assignment.name.partition(".")[2]),)
        entries = QUANTITIES[self.assignment.name].output(self.program).entries
        return tuple(self.sign * x for x in entries)


@dataclass
class Questions:
    """The questions of an answer, and the meanings of its names."""

    description: RobotDescription
    file: str
    assignments: tuple[Assignment, ...]
    faults: list[Fault] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.truth = Truth(self.description)
        self.parameters = {x.name: symbol(x.name) for x in self.description.parameters}
        self.definitions: dict[str, Expr] = {}
        self.answers: dict[Expr, Expr] = {}  # by the symbols of entries
        self.faulty: set[str] = set()  # definitions that could not be read
        self.constants: dict[str, float] = {}
        self.sizes: dict[str, Size] = {}
        self.state = self.asked_state()
        self.spellings: dict[tuple[str, tuple[int, ...]], list[str]] = {}  # on right sides
        for name in sorted(self.used()):
            entry = self.entry(name)
            if entry and not _COORDINATE.fullmatch(name):
                self.spellings.setdefault(entry, []).append(name)
        self.assignments = tuple(map(self.with_index, self.assignments))
        seen: dict[tuple[str, tuple[int, ...]], int] = {}
        for assignment in self.assignments:
            left = assignment.name, assignment.index
            names = self.names(assignment)
            if left in seen:
                message = f"{assignment.label} has an answer already, in line {seen[left]}"
                if all(assignment.value.root != Name(x) for x in names):  # M[1,2] = M_12 is none
                    self.fault(assignment, message)
                continue
            self.faulty -= {assignment.name, *names}
            faults = len(self.faults)
            self.take(assignment)
            if len(self.faults) == faults and assignment.name not in self.faulty:
                seen[left] = assignment.line
        self.refuse_unused_entries()

    def fault(self, assignment: Assignment, message: str) -> None:
        """Record that an assignment cannot be understood."""
        self.faults.append(Fault(self.file, assignment.line, assignment.label, message))

    def asked_state(self) -> Changed:
        """Set loads to 0, unless the answer contains any."""
        loads = self.loads()
        return UNCHANGED if self.used() & loads.keys() else Changed(zeros=("loads",))

    def with_index(self, assignment: Assignment) -> Assignment:
        """Return an entry that is written as a name with its index, but for variables in use."""
        entry = None if assignment.index else self.entry(assignment.name)
        if not entry or (_COORDINATE.fullmatch(assignment.name) and assignment.name in self.used()):
            return assignment
        return replace(assignment, name=entry[0], index=entry[1])

    def entry(self, name: str) -> tuple[str, tuple[int, ...]] | None:
        """Return quantity and index of an entry of this robot that is written as a name, as
        `symgen show` writes it (M_12, g_10, M_1_10); None for other names and parameters."""
        match = _ENTRY.fullmatch(name)
        if match is None or name in self.parameters:
            return None
        quantity, text = QUANTITIES[match["name"]], match["index"]
        results, names = function_named(quantity.function).results, quantity.results
        shape = next(x.sizes(self.truth.tree.sizes) for x in results if x.name in names)
        index = tuple(map(int, text.split("_") if "_" in text or len(shape) == 1 else text))
        is_entry = len(index) == len(shape) and all(map(le, index, shape))
        return (match["name"], index) if is_entry else None

    def names(self, assignment: Assignment) -> list[str]:
        """Return the names of an entry on right sides: M[1,2], M_12, M12 and M_1_2."""
        left = assignment.name, assignment.index
        return [assignment.entry, *self.spellings.get(left, ())]

    def used(self) -> set[str]:
        """Return the names on right sides."""
        return {name for assignment in self.assignments for name in assignment.value.names}

    def refuse_unused_entries(self) -> None:
        """Report entries without an index, which would silently not be graded."""
        for assignment in self.assignments:
            is_definition = not assignment.index and assignment.name in self.definitions
            name = assignment.name.rstrip("_0123456789")
            is_definition = is_definition and name in QUANTITIES.keys() - {"T", "V"}
            if is_definition and assignment.name not in self.used():
                entry = f"{name}[{'1,1' if name in 'CJM' else '1'}]"
                self.fault(assignment, f"a name of your own that nothing uses; is {entry} meant?")

    def take(self, assignment: Assignment) -> None:
        """Take a question or a definition."""
        formulation, dot, step = assignment.name.partition(".")
        if dot:
            self.take_step(assignment, formulation, step)
        elif assignment.name in QUANTITIES and (
            assignment.index or assignment.name not in OWN_WITHOUT_INDEX
        ):
            self.take_entry(assignment)
        elif assignment.index:
            near = did_you_mean(assignment.name, QUANTITIES) or (
                f"; there are {', '.join(USUAL)}, and results of functions, such as constraints"
            )
            hint = _NOT_GRADED if _MULTIPLIED.fullmatch(assignment.name) else near
            self.fault(assignment, f"nothing is called {shown(assignment.name)}{hint}")
        elif assignment.name in {**self.parameters, **WORDS, "pi": 0, "deg": 0}:
            self.fault(assignment, "this name belongs to the model; choose another one")
        elif self.is_variable(assignment.name):
            hint = f"; is tau[{assignment.name[3:]}] meant?" if "tau" in assignment.name else ""
            self.fault(assignment, f"this name is a variable of the motion{hint}")
        else:
            value = self.expression(assignment, None)
            if value is None:
                self.faulty.add(assignment.name)
            else:
                self.definitions[assignment.name] = value
                self.sizes[assignment.name] = self.size(assignment)

    def take_entry(self, assignment: Assignment) -> None:
        """Take an entry of a result."""
        quantity = QUANTITIES[assignment.name]
        program = self.program(assignment, quantity.function, REFERENCE)
        if program is None:
            return
        shape = quantity.output(program).shape
        if 0 in shape:
            remedy = why_empty(function_named(quantity.function).results, self.truth.tree.sizes)
            self.fault(assignment, remedy or f"{quantity.function} has no entries for this robot")
            return
        inside = len(assignment.index) == len(shape) and all(
            1 <= i <= size for i, size in zip(assignment.index, shape, strict=True)
        )
        if not inside:
            sizes = ",".join(f"1..{size}" for size in shape)
            expected = f"{assignment.name}[{sizes}]" if shape else f"{assignment.name} = ..."
            counted = ", counted from 1" if 0 in assignment.index else ""
            hint = "" if assignment.index else "; a name of your own has to be another one"
            self.fault(assignment, f"expected {expected}{counted}{hint}")
            return
        self.ask(assignment, program, position_of(assignment.index, shape))
        if len(shape) and self.questions and self.questions[-1].assignment is assignment:
            names = self.names(assignment)
            self.definitions.update(dict.fromkeys(names, symbol(assignment.entry)))
            self.answers[symbol(assignment.entry)] = self.questions[-1].answer
            self.sizes.update(dict.fromkeys(names, self.size(assignment)))
        else:
            self.faulty.update(self.names(assignment))

    def take_step(self, assignment: Assignment, formulation: str, step: str) -> None:
        """Take a step of a formulation's recursion: of inverse, or else of forward dynamics."""
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
        self.ask(assignment, program, 0)

    def program(
        self, assignment: Assignment, function: str, formulation: str
    ) -> Program[Expr] | None:
        """Return the true program; None, and a fault, where it has no solution."""
        try:
            return self.truth.program(function, formulation)
        except (ZeroDivisionError, RequestError) as error:
            self.fault(assignment, f"{function} has no solution for this robot: {error}")
            return None

    def ask(self, assignment: Assignment, program: Program[Expr], position: int) -> None:
        """Add a question whose left side is understood."""
        steps = [statement.name for statement in program.statements]
        local_name = assignment.name.partition(".")[2]
        later = steps[steps.index(local_name) :] if local_name else steps
        value = self.expression(assignment, program, later)
        if value is not None:
            answer = value.xreplace(self.answers)
            self.questions.append(Question(assignment, answer, program, position, value))

    def expression(
        self, assignment: Assignment, program: Program[Expr] | None, later: Collection[str] = ()
    ) -> Expr | None:
        """Return the right side over SymPy; None, and a fault, where it is wrong.

        It may contain steps of `program`, except `later` ones.
        """
        value = assignment.value
        problem = too_large(self.size(assignment))
        try:
            constant = None if problem else constant_part(value.root, self.constants)
        except EvaluationError as error:
            problem = f"has no value: {error}"
        if problem:
            self.fault(assignment, problem)
            return None
        meant = {}
        unknown: dict[str, list[str]] = {}  # by the tail of their message
        for name in value.names:
            if name in self.faulty:
                if "." in assignment.name or assignment.index:  # else the name is faulty, too
                    whose = as_written(name)
                    self.fault(assignment, f"{whose}{NOT_UNDERSTOOD}")
                return None
            meaning = self.meaning(name, program)
            if name in later and name not in self.definitions and name not in self.parameters:
                what = "this step or a later one" if "." in assignment.name else "a step"
                expected = "earlier steps" if "." in assignment.name else "the motion"
                message = f"{shown(name)} is {what}; an answer is in terms of {expected}"
                self.fault(assignment, message)
                return None
            if meaning is None:
                unknown.setdefault(self.hint(name), []).append(shown(as_written(name)))
            meant[symbol(name)] = meaning
        if unknown:
            problems = (
                f"unknown name{'s' * (len(names) > 1)} {', '.join(names[:_MOST_UNKNOWN])}{hint}"
                for hint, names in list(unknown.items())[:_MOST_UNKNOWN]
            )
            self.fault(assignment, "; ".join(problems))
            return None
        try:
            expression = scalar(value, SymPyAlgebra()).xreplace(meant)
        except (ArithmeticError, ValueError, TypeError) as error:
            self.fault(assignment, f"has no value: {error}")
            return None
        if expression.xreplace(self.answers).has(sympy.zoo, sympy.nan, sympy.oo):
            self.fault(assignment, "divides by zero")
            return None
        if program is None and constant is not None:
            self.constants[assignment.name] = constant
        return expression

    def size(self, assignment: Assignment) -> Size:
        """Return the size of the right side, the student's definitions substituted."""
        return size_of(assignment.value.root, self.sizes)

    def hint(self, name: str) -> str:
        """Return the tail of a message about an unknown name."""
        if _MULTIPLIED.fullmatch(name):
            return _NOT_GRADED
        if name.startswith(ENTRY_PREFIX) or (self.entry(name) and not usual_name(name)):
            return " on the right: only q[i], qd[i], qdd[i], tau[i], or entries from lines above"
        local_names = [x for x in self.definitions if not x.startswith(ENTRY_PREFIX)]
        names = [*local_names, *self.parameters, *self.coordinates()]
        if self.no_angle(name):
            return f": {self.no_angle(name)} is an entry of a quaternion, no angle"
        usual = usual_name(name)
        if usual is not None and self.input(usual) is not None:
            return f"; here it is called {shown(usual)}"
        few = ", ".join(map(in_line, names[:_MOST_LISTED]))
        more = ", ..." if len(names) > _MOST_LISTED else ""
        return did_you_mean(name, names) or f"; known are {few}{more}"

    def is_variable(self, name: str) -> bool:
        """Whether a name is that of the motion or of a load, which a definition cannot have."""
        is_motion = _COORDINATE.fullmatch(name) is not None and self.input(name) is not None
        return is_motion or name in self.loads()

    def unambiguous(self) -> dict[Expr, Expr]:
        """Map the symbols of the motion to names for answers: q1; q[1] if q1 is a parameter."""
        return {
            x: symbol(re.sub(r"(\d+)$", r"[\1]", name) if name in self.parameters else name)
            for name, x in self.coordinates().items()
        }

    def remarks(self, answer: Expr) -> list[str]:
        """Remark the parameters in `answer` that have the name of a variable of the motion."""
        names = sorted({x.name for x in answer.free_symbols} & self.parameters.keys())
        variables = {name: self.input(name) for name in names}
        return [
            f"{name} is the parameter {name} here; write {x.xreplace(self.unambiguous())}"
            for name, x in variables.items()
            if x is not None
        ]

    def meaning(self, name: str, program: Program[Expr] | None) -> Expr | None:
        """Return the meaning of a name on the right; None if it is unknown."""
        if name in self.definitions:
            return self.definitions[name]
        if name in self.parameters:
            return self.parameters[name]
        if program is not None and name in {x.name for x in program.statements}:
            return symbol(name)
        return self.input(name)

    def input(self, name: str) -> Expr | None:
        """A coordinate or its rate (q1, qd_2), an abbreviation (c12), a load's component, time."""
        coordinate, wave = _COORDINATE.fullmatch(name), _WAVE.fullmatch(name)
        if coordinate:
            return self.coordinates().get(f"{coordinate[1]}{int(coordinate[2])}")
        if wave:
            if self.no_angle(name):
                return None
            angles = [self.coordinates().get(f"q{digit}") for digit in wave[2]]
            if None in angles:
                return None
            angle = sympy.Add(*angles)
            return sympy.cos(angle) if wave[1] == "c" else sympy.sin(angle)
        if name == "t" and self.description.relations:
            inputs = self.truth.program("constraints").inputs
            return next((x for array in inputs if array.name == "t" for x in array.symbols), None)
        return self.loads().get(name)

    def no_angle(self, name: str) -> str:
        """The first coordinate in an abbreviation (c12) that is an entry of a quaternion, or ""."""
        wave, coordinates = _WAVE.fullmatch(name), self.coordinates()
        digits = wave[2] if wave else ""
        entries = (f"q{x}" for x in digits if coordinates.get(f"q{x}") in self.quaternion_entries)
        return next(entries, "")

    @cached_property
    def quaternion_entries(self) -> frozenset[Expr]:
        """The coordinates that are entries of quaternions."""
        quaternions = self.truth.quaternions(self.truth.program("inverse_dynamics"))
        return frozenset(x for entries in quaternions for x in entries)

    def loads(self) -> Mapping[str, Expr]:
        """Return the components of all loads: tip_fx and so on."""
        arrays = self.truth.program("inverse_dynamics").inputs
        symbols = (x for array in arrays if array.name == "loads" for x in array.symbols)
        return {x.name: x for x in symbols}

    def coordinates(self) -> Mapping[str, Expr]:
        """Return the symbols of q1, qd1, qdd1, tau1 and so on in the programs."""
        symbols: dict[str, Expr] = {}
        for array in self.truth.program("inverse_dynamics").inputs:
            if array.name in ("q", "qd", "qdd"):
                numbered = enumerate(array.symbols, start=1)
                symbols.update({f"{array.name}{k}": x for k, x in numbered})
        n = sum(name.startswith("qdd") for name in symbols)
        torques = [symbol(f"tau_{k}") for k in range(1, n + 1)]
        if self.parameters.keys() & {x.name for x in torques}:  # the program renames its own
            inputs = self.truth.program("forward_dynamics").inputs
            torques = [x for array in inputs if array.name == "tau" for x in array.symbols]
        symbols.update({f"tau{k}": x for k, x in enumerate(torques, start=1)})
        return symbols


def usual_name(name: str) -> str | None:
    """Return the name used here for a name of other textbooks: theta1, dq1, q1_ddot, C12."""
    match = _OTHER_WORDS.fullmatch(name)
    if match is None:
        wave = re.fullmatch("([CS])(?:os|in)?_?([0-9]+)", name)
        return f"{wave[1].lower()}{wave[2]}" if wave else None
    rates = f"{match['before'] or ''}{match['after'] or ''}{match['between'] or ''}".count("d")
    return f"q{'d' * rates}{match['index'] or match['last']}"
