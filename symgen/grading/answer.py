"""A student's answer: text -> assignments, each of which knows its line.

    # what follows '#' is a remark
    c2 = cos(q2)                                     a definition of the student's own
    M[1,2] = I2 + m2*(l2**2 + L1*l2*c2)              an entry of a result, counted from 1
    tau[1] = ...
    newton_euler.omega_2_z = qd1 + qd2               one step of a recursion

Expressions follow the grammar of model files (`symgen.description.expressions`), so nothing in an
answer is ever evaluated by Python.  A line that ends within parentheses goes on in the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from symgen.description.expressions import Expression, ExpressionError, parse
from symgen.description.wording import shown
from symgen.errors import Fault, ModelError

MAX_BYTES = 256 * 1024
MAX_LINES = 2000
_LONGEST_LABEL = 80
_OF_A_NOTEBOOK = re.compile(r"(?:import|from)\s|%")  # what cells begin with says nothing here
_LEFT = re.compile(
    r"(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)?)"
    r"(?:[ \t]*\[[ \t]*(?P<index>[0-9]{1,9}(?:[ \t]*,[ \t]*[0-9]{1,9})*)[ \t]*\])?"
)


@dataclass(frozen=True)
class Assignment:
    """`name` with 1-based `index` (empty for none) is said to be `value`."""

    name: str
    index: tuple[int, ...]
    value: Expression
    line: int

    @property
    def label(self) -> str:
        """The left side, as it is written; of a very long one the beginning."""
        index = f"[{','.join(map(str, self.index))}]" if self.index else ""
        label = f"{self.name}{index}"
        return label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 3]}..."


def read_answer(text: str, file: str) -> tuple[Assignment, ...]:
    """All assignments; `ModelError` lists every line that cannot be read."""
    assignments, faults = [], []
    for line, statement in _statements(text):
        try:
            assignments.append(_assignment(statement, line))
        except ExpressionError as error:
            faults.append(Fault(file, line, "", str(error)))
    if len(text) > MAX_BYTES or text.count("\n") > MAX_LINES:
        faults = [Fault(file, 0, "", f"longer than {MAX_LINES} lines or 256 KiB; no answer is")]
    elif not assignments and not faults:
        faults = [Fault(file, 0, "", "no answer in it; expected lines such as 'M[1,1] = m1*l1**2'")]
    if faults:
        raise ModelError(faults)
    return tuple(assignments)


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Line and text of every statement; what stands in parentheses may take several lines."""
    if len(text) > MAX_BYTES:
        return
    start, collected = 0, ""
    for number, line in enumerate(text.splitlines(), start=1):
        code = line.partition("#")[0].strip()
        if not code or _OF_A_NOTEBOOK.match(code):
            continue
        start = start if collected else number
        collected = f"{collected} {code}".strip()
        if collected.count("(") <= collected.count(")"):
            yield start, collected
            collected = ""
    if collected:
        yield start, collected


def _assignment(statement: str, line: int) -> Assignment:
    left, equals, right = statement.partition("=")
    match = _LEFT.fullmatch(left.strip())
    if not equals or match is None or right.startswith("="):
        raise ExpressionError(
            f"expected 'NAME = EXPRESSION', such as 'tau[1] = g*m1*l1*cos(q1)', found "
            f"{shown(statement)}"
        )
    if "[" in right:
        raise ExpressionError(
            "'[' stands on the left alone: every entry has a line of its own, such as "
            "'M[1,2] = ...', and an expression that is needed twice has a name, such as 'a = ...'"
        )
    index = match["index"]
    numbers = tuple(map(int, index.split(","))) if index else ()
    return Assignment(match["name"], numbers, parse(right.strip(), dots=True), line)
