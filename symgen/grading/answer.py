"""A student's answer: text -> assignments with their lines.

    # what follows '#' is a remark
    c2 = cos(q2)                                     a definition of the student's own
    M[1,2] = I2 + m2*(l2**2 + L1*l2*c2)              an entry of a result, counted from 1
    tau[1] = ...
    tau[1] = M[1,1]*qdd1 + ...                       on the right: an entry answered before
    newton_euler.omega_2_z = qd1 + qd2               one step of a recursion

M(1,2) and := are read likewise.  Expressions follow the grammar of model files
(`symgen.description.expressions`), so nothing in an answer is ever evaluated by Python.  A line
that ends within parentheses continues in the next one, unless that one begins with ``NAME =`` or
``NAME[..] =``: then a parenthesis is not closed.  Lines without '=', such as the name of the
student, are not read, unless they begin like a part of a formula.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from os.path import isfile

from symgen.description.expressions import ARITIES, Expression, ExpressionError, parse
from symgen.description.reading import load
from symgen.description.wording import in_line, shown
from symgen.errors import Fault, RequestError

MAX_BYTES = 256 * 1024
MAX_LINES = 2000
_LONGEST_LABEL = 80
_OF_A_NOTEBOOK = re.compile(r"(?:import|from)\s|%")  # lines of notebook cells, ignored
ENTRY_PREFIX = "given."
"""Prefix of the names of entries that were answered before; not the name of a formulation."""
_ENCODED = re.compile(r"given\.(?P<name>\w+?)(?P<index>(?:_[0-9]+)+)\b")
_INDEX = r"[ \t]*(?P<index>[0-9]{1,9}(?:[ \t]*,[ \t]*[0-9]{1,9})*)[ \t]*"
_ENTRY = re.compile(rf"(?P<name>[A-Za-z_][A-Za-z0-9_]*)[ \t]*\[{_INDEX}\]")
_LEFT = re.compile(
    r"(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)?)"
    rf"(?:[ \t]*\[{_INDEX}\])?"
)
_FILE_NAME = re.compile(r"[^\n=]+\.[A-Za-z]\w*")
_BEGINNING = re.compile(rf"{_LEFT.pattern}[ \t]*:?=(?!=)")
"""The beginning of an assignment."""
_ROUND = re.compile(rf"\b(?!(?:{'|'.join(ARITIES)})\()([A-Za-z_]\w*)\({_INDEX}\)")
"""An entry with round brackets: M(1,2)."""
_FORMULA = re.compile(rf"{_ENTRY.pattern}|[-+*/(][ \t]*[\w(]|.*\\")
"""A line that is a part of a formula, or LaTeX."""


@dataclass(frozen=True)
class Assignment:
    """An assignment of `value` to `name` with 1-based `index` (empty for none)."""

    name: str
    index: tuple[int, ...]
    value: Expression
    line: int
    has_carets: bool = False
    """Whether powers are written with ^."""

    @property
    def entry(self) -> str:
        """The name of an entry on the right of later lines."""
        return _name_of(self.name, self.index)

    @property
    def label(self) -> str:
        """The left side as written, truncated if very long."""
        return _label(self.name, self.index)


def read_answer(text: str, file: str) -> tuple[tuple[Assignment, ...], list[Fault], list[str]]:
    """Read assignments; list faults and lines that are not read.  No assignment is a fault."""
    if len(text) > MAX_BYTES or text.count("\n") > MAX_LINES:
        message = f"longer than {MAX_LINES} lines or 256 KiB; no answer is"
        return (), [Fault(file, 0, "", message)], []
    assignments: list[Assignment] = []
    faults: list[Fault] = []
    unread: list[str] = []
    for line, statement in _statements(text):
        if "=" not in statement and not _FORMULA.match(statement):
            unread.append(f"line {line}: {in_line(statement)}")
            continue
        try:
            assignments.append(_assignment(statement, line))
        except ExpressionError as error:
            left = _BEGINNING.match(statement)
            label = _label(left["name"], _numbers(left["index"])) if left else ""
            faults.append(Fault(file, line, label, str(error)))
    if not assignments and not faults:
        none = "no answer in it; expected lines such as 'M[1,1] = m1*l1**2'"
        faults.append(Fault(file, 0, "", none))
    return tuple(assignments), faults, unread


def text_of(answer: str | PathLike[str]) -> str:
    """Return the text of an answer: of the file for a path, else `answer` itself.

    Raises:
        RequestError: `answer` is neither, or a line that is the name of a file.
        ModelError: the file cannot be read.
    """
    if isinstance(answer, PathLike):
        return decoded(load(answer, "an answer such as answer.txt"))
    if not isinstance(answer, str):
        raise RequestError(f"expected the text of an answer, found {type(answer).__name__}")
    if _FILE_NAME.fullmatch(answer) or isfile(answer):
        raise RequestError(
            f"expected the text of an answer, found the file name {shown(answer)}; give the file "
            f"as pathlib.Path({shown(answer)})"
        )
    return answer


def decoded(content: bytes) -> str:
    """Return the text of an answer in a file."""
    return content.decode("utf-8-sig", errors="replace")


def check_order(model: str, text: str) -> None:
    """Raise `RequestError` where `text`, that of the file `model`, is an answer."""
    first = next(_statements(text), (0, ""))[1]
    if _BEGINNING.match(first):
        raise RequestError(
            f"{model}: this is an answer; MODEL comes first, then ANSWER: symgen grade MODEL ANSWER"
        )


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of every statement; open parentheses continue on the next line."""
    start, collected = 0, ""
    for number, line in enumerate(text.splitlines(), start=1):
        code = line.partition("#")[0].strip()
        if not code or _OF_A_NOTEBOOK.match(code):
            continue
        code = _ROUND.sub(r"\1[\2]", code) if "=" in code or collected else code
        if collected and _BEGINNING.match(code):
            yield start, collected
            collected = ""
        start = start if collected else number
        collected = f"{collected} {code}".strip()
        if collected.count("(") <= collected.count(")"):
            yield start, collected
            collected = ""
    if collected:
        yield start, collected


def _assignment(statement: str, line: int) -> Assignment:
    if "\\" in statement or "_{" in statement:
        raise ExpressionError("this looks like LaTeX; write M[1,1] = m1*l1**2/3 + ...")
    left, equals, right = statement.partition("=")
    match = _LEFT.fullmatch(left.removesuffix(":").strip())
    if not equals or match is None or right.startswith("="):
        hint = "; an answer has a single =" * right.startswith("=")
        raise ExpressionError(
            f"expected 'NAME = EXPRESSION', such as 'tau[1] = g*m1*l1*cos(q1)', found "
            f"{shown(statement)}{hint}"
        )
    has_carets = "^" in right
    right = _ENTRY.sub(lambda entry: _name_of(entry["name"], _numbers(entry["index"])), right)
    if "[" in right:
        raise ExpressionError(
            "'[' stands behind the name of an entry alone, such as M[1,2]: every entry has a line "
            "of its own, and an expression that is needed twice a name, such as 'a = ...'"
        )
    right = right.strip().replace("^", "**")
    try:
        value = parse(right, dots=True)
    except ExpressionError as error:
        column = error.column and not has_carets and len(as_written(right[: error.column - 1])) + 1
        raise ExpressionError(as_written(error.message), column) from None
    return Assignment(match["name"], _numbers(match["index"]), value, line, has_carets)


def _label(name: str, index: tuple[int, ...]) -> str:
    """A left side as written, truncated if very long."""
    label = f"{name}[{','.join(map(str, index))}]" if index else name
    return label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 3]}..."


def _name_of(name: str, index: tuple[int, ...]) -> str:
    """Encode M[1,2] on the right as a name with a reserved prefix: the grammar has no brackets."""
    return f"{ENTRY_PREFIX}{name}_{'_'.join(map(str, index))}"


def _numbers(index: str | None) -> tuple[int, ...]:
    return tuple(map(int, index.split(","))) if index else ()


def as_written(text: str) -> str:
    """Decode the names of entries in `text`: M[1,2]."""
    return _ENCODED.sub(lambda x: f"{x['name']}[{x['index'][1:].replace('_', ',')}]", text)
