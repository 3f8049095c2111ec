"""Tables of symbols and equations, from the modules of the formulations themselves.

A module explains its symbols in simple tables of reStructuredText in its docstring, and its labels
(``NE-3``) in a mapping `NOTES`, where what follows `` -- `` is the source.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import import_module

from symgen.formulations import FORMULATIONS, GLOBAL, VARIANTS, formulation_named

BORDER = re.compile(r"^=+(?: +=+)+$")


def cell(text: str) -> str:
    """`text` for a cell of a Markdown table, shown as it is."""
    escaped = re.sub(r"([\\*_|<>\[\]])", r"\\\1", text)
    # what stands between backticks is code, in which nothing is escaped
    parts = escaped.split("`")
    for i in range(1, len(parts), 2):
        parts[i] = re.sub(r"\\([\\*_<>\[\]])", r"\1", parts[i])
    return "`".join(parts)


def code(text: str) -> str:
    """`text` as code in a cell of a Markdown table."""
    return f"`{text}`".replace("|", "\\|") if text else ""


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; its cells are Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def simple_tables(text: str) -> list[list[list[str]]]:
    """The simple tables of `text`: rows of cells.  A row that starts empty continues the last."""
    found: list[list[list[str]]] = []
    lines = text.splitlines()
    borders = [i for i, line in enumerate(lines) if BORDER.match(line.strip())]
    while borders:
        first = borders.pop(0)
        starts = [column.start() for column in re.finditer("=+", lines[first])]
        headed = len(borders) >= 2 and borders[0] == first + 2
        last = borders.pop(1) if headed else borders[0]
        borders.pop(0)
        body = [line for line in lines[first + 1 : last] if not BORDER.match(line.strip())]
        rows: list[list[str]] = []
        for line in body:
            cells = _cells(line, starts)
            if cells[0] or not rows:
                rows.append(cells)
            else:
                pairs = zip(rows[-1], cells, strict=True)
                rows[-1] = [f"{old} {new}".strip() for old, new in pairs]
        found.append(rows)
    return found


def _cells(line: str, starts: Sequence[int]) -> list[str]:
    ends = [*starts[1:], len(line)]
    return [line[start:end].strip() for start, end in zip(starts, ends, strict=True)]


def symbols(module: str) -> str:
    """The notation tables of `module`, those whose head has a column of code."""
    tables = simple_tables(import_module(module).__doc__ or "")
    chosen = [rows for rows in tables if {"code", "symbol"} & set(rows[0])]
    if not chosen:
        raise KeyError(f"{module} has no table of symbols")
    return "\n".join(_symbols(rows) for rows in chosen)


def _symbols(rows: Sequence[Sequence[str]]) -> str:
    head, *body = rows
    names = [name.replace("--", "") or "meaning" for name in head]

    def shown(name: str, text: str) -> str:
        if text == "--":
            return ""
        return code(text) if name == "code" and "`" not in text else cell(text)

    cells = [[shown(*pair) for pair in zip(names, row, strict=True)] for row in body]
    return table(names, cells)


def equations(module: str) -> str:
    """The labels of `module`, or of the formulation that it is the package of.

    A row says what an equation states and where it stands in print.
    """
    notes: Mapping[str, str] | None = getattr(import_module(module), "NOTES", None)
    if notes is None:
        notes = formulation_named(module.rpartition(".")[2]).notes
    rows = []
    for label, note in notes.items():
        equation, _, source = note.partition(" -- ")
        rows.append(
            [code(label).replace("-", "\N{NON-BREAKING HYPHEN}"), cell(equation), cell(source)]
        )
    return table(["label", "equation", "source"], rows)


def overview() -> str:
    """All formulations, as `FORMULATIONS` lists them, then the variants."""
    rows = [
        [code(item.name), cell(item.title), cell(item.source), str(len(item.functions))]
        for item in (*FORMULATIONS, *VARIANTS, *GLOBAL)
    ]
    return table(["name", "what it is", "source", "functions"], rows)
