"""The recursion of a function as text: its notation, and one line for every statement.

The notation is read from docstrings of the formulation: the ``Notation`` paragraph of the module
that derives the function, after those to which it refers.
"""

from __future__ import annotations

import inspect
import itertools
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from symgen.algebra.blackboard import with_decimals
from symgen.algebra.sympy_algebra import symbol
from symgen.deriving.symbolic import SymbolicDynamics
from symgen.formulations import Formulation, accelerations
from symgen.formulations.direct import Direct
from symgen.formulations.implicit import Implicit
from symgen.program.functions import visible_outputs
from symgen.program.products import PRODUCTS
from symgen.program.program import Output, Program, Step
from symgen.showing.typesetting import (
    Inputs,
    aligned,
    assignment,
    comment,
    indexed,
    inputs_of,
    latex,
)

_RULE = "==="  # first and last line of tables
_REFERENCE = re.compile(r"`(\w+)(?:\.py)?`")


def step_by_step(dynamics: SymbolicDynamics, function: str, style: str) -> str:
    """Write the recursion: a line per statement, grouped by step, with its equations."""
    program = dynamics.program(function)
    title = f"{dynamics.formulation.title} ({dynamics.formulation.source}): {function}"
    names = [line.name for step in program.steps for line in step.statements]
    legend = [title, "", *occurring(notation(dynamics.formulation, function), names)]
    legend += [f"  {label}: {text}" for label, text in program.notes.items()]
    legend += [
        "  (labels between these are of terms that are 0 here, and of other functions)"
    ] * bool(program.notes)
    if style == "latex":
        return _steps_in_latex(program, legend)
    mark = comment(style)
    lines = [f"{mark}{line}".rstrip() for line in legend]
    for step in program.steps:
        lines += ["", f"{mark}{heading_of(step)}"]
        for statement in step.statements:
            value = with_decimals(statement.value)
            if mark:
                text = assignment(statement.name, value, style)
                lines.append(f"{text}  {mark}{statement.note}")
            else:
                lines.append(f"  {statement.name} = {value}    [{statement.note}]")
    return "\n".join([*lines, "", *(f"{mark}{row}" for row in result_lines(program))])


def _steps_in_latex(program: Program[Any], legend: Sequence[str]) -> str:
    """Return the recursion as align* environments, one per step, with \\tag for the equation."""
    lines = [f"% {line}".rstrip() for line in legend]
    inputs = inputs_of(program)
    for step in program.steps:
        rows = [rf"{x} &= {y} \tag{{{note}}}" for note, x, y in in_latex(step, inputs)]
        lines += ["", f"% {heading_of(step)}", aligned(rows)]
    return "\n".join([*lines, "", *(f"% {row}" for row in result_lines(program))])


def in_latex(step: Step[Any], inputs: Inputs) -> Iterator[tuple[str, str, str]]:
    """Yield the equation label, name and value of every statement, the last two in LaTeX."""
    for line in step.statements:
        value = latex(with_decimals(line.value), inputs)
        yield line.note, latex(symbol(line.name), inputs), value


def heading_of(step: Step[Any]) -> str:
    """Return the kind of a step, and its joint."""
    return f"{step.kind}, {step.joint}" if step.joint else step.kind


def result_lines(program: Program[Any]) -> list[str]:
    """Return the results in terms of the statements, matrices row by row."""
    return [line for x in visible_outputs(program) for line in _result(x).splitlines()]


def _result(output: Output[Any]) -> str:
    entries = [str(with_decimals(entry)) for entry in output.entries]
    if not output.shape:
        return f"{output.name} = {entries[0]}"
    if not entries:
        return f"{output.name} has no entries"
    leading, (height, width) = output.shape[:-2], (1, *output.shape)[-2:]
    size = height * width
    return "\n".join(
        _matrix(indexed(output.name, index), entries[i * size : (i + 1) * size], width)
        for i, index in enumerate(itertools.product(*map(range, leading)))
    )


def _matrix(label: str, entries: Sequence[str], width: int) -> str:
    rows = ["[" + ", ".join(entries[i : i + width]) + "]" for i in range(0, len(entries), width)]
    separator = ",\n" + " " * (len(label) + 4)
    body = separator.join(rows)
    return f"{label} = {body}" if len(rows) == 1 else f"{label} = [{body}]"


def notation(formulation: Formulation, function: str) -> list[str]:
    """Return the notation of the recursion of `function`, with a blank line last.

    It is empty where docstrings are stripped, or where a formulation has none.
    """
    modules = [_module_of(derivation) for derivation in formulation.functions.values()]
    paragraphs: dict[str, list[str]] = {}
    for module in _neighbours(modules):
        paragraph = _notation_in(module)
        if paragraph and not _references(paragraph):
            paragraphs[module] = paragraph
    product = PRODUCTS.get(function)
    written = function if product is None else product.of
    derivation = formulation.functions[written]
    _collect(_module_of(derivation), paragraphs)
    if isinstance(derivation, Implicit):
        _collect(accelerations.__name__, paragraphs, _RULE)
    return [line for paragraph in paragraphs.values() for line in (*paragraph, "")]


def occurring(lines: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return tables of a notation with a symbol among `names` of statements, with their headings.

    References of headings to other tables are left out.
    """
    kept: list[str] = []
    heading: list[str] = []
    text = " ".join(names)
    for is_blank, block in itertools.groupby(lines, key=lambda line: not line.strip()):
        rows = list(block)
        if is_blank:
            continue
        if not rows[0].startswith(_RULE):
            kept += [*heading, *([""] if heading else [])]
            heading = [re.sub(r"^(Notation), added to that .*", r"\1, added", row) for row in rows]
            continue
        code = re.split(r"\s{2,}", rows[1].strip()).index("code")
        start, end = list(re.finditer("=+", rows[0]))[code].span()
        symbols = re.findall(r"\w+", " ".join(row[start:end] for row in rows[3:-1]))
        if any(re.search(_pattern(symbol), text) for symbol in symbols):
            kept += [*heading, *([""] if heading else []), *rows, ""]
        heading = []
    return kept + heading


def _pattern(symbol: str) -> str:
    """Return a pattern of the names of a symbol: ``omega_j`` of ``omega_1_z``."""
    first, *indices = symbol.split("_")
    parts = (r"\d+" if len(x) == 1 and x.islower() else re.escape(x) for x in indices)
    return r"\b" + "_".join([re.escape(first), *parts]) + r"(\b|_)"


def _collect(module: str, entries: dict[str, list[str]], *marks: str) -> None:
    """Add the notation of `module`, after that of the modules that it refers to."""
    if module in entries:
        return
    paragraph = entries[module] = _notation_in(module, *marks)
    folder = module.rpartition(".")[0]
    for name in _references(paragraph):
        for place in (f"{folder}.{name}", f"{folder.rpartition('.')[0]}.{name}"):
            if place in sys.modules:
                _collect(place, entries, _RULE)  # a reference may be a table only
                break
    entries[module] = entries.pop(module)  # the last one


def _module_of(derivation: Callable[..., Any]) -> str:
    while isinstance(derivation, partial | Direct | Implicit):
        if isinstance(derivation, partial):
            derivation = derivation.keywords.get("rigid", derivation.func)
        else:
            derivation = derivation.source
    return str(derivation.__module__)


def _neighbours(modules: Sequence[str]) -> Iterator[str]:
    """Yield loaded modules in the folders of `modules`, by name."""
    folders = {module.rpartition(".")[0] for module in modules} - {""}
    yield from sorted(name for name in sys.modules if name.rpartition(".")[0] in folders)


def _notation_in(module: str, *marks: str) -> list[str]:
    """Return the paragraphs of a docstring that begin with ``Notation``, with their tables.

    Without any, return those that begin with one of `marks`.
    """
    lines = (inspect.getdoc(sys.modules[module]) or "").splitlines()
    for mark in ("Notation", *marks):
        paragraphs: list[str] = []
        end = 0
        for start in (i for i, line in enumerate(lines) if line.startswith(mark)):
            if start < end:
                continue
            end = _end_of_paragraph(lines, start)
            has_table = "".join(lines[end + 1 : end + 2]).startswith(_RULE)
            heading = [f"Notation of `{module.rpartition('.')[2]}`", ""] if mark == _RULE else []
            end = _end_of_paragraph(lines, end + 1) if has_table else end
            paragraphs += [*([""] if paragraphs else heading), *lines[start:end]]
        if paragraphs:
            return paragraphs
    return []


def _end_of_paragraph(lines: Sequence[str], start: int) -> int:
    return next((i for i in range(start, len(lines)) if not lines[i].strip()), len(lines))


def _references(paragraph: Sequence[str]) -> list[str]:
    """Return the modules that the first lines of a paragraph refer to."""
    sentence = itertools.takewhile(lambda line: line.strip(), paragraph)
    return _REFERENCE.findall(" ".join(sentence))
