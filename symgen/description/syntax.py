"""Errors of the YAML scanner, in words for people who do not know YAML.

The scanner speaks of flow sequences and block mappings, and stops where it cannot go on, which is
often a line or more behind the mistake.  The lines of the file say more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ruamel.yaml.error import MarkedYAMLError

_NO_SPACE_AFTER_DASH = re.compile(r"\s*-[A-Za-z_]")
_NO_SPACE_AFTER_COLON = re.compile(r"\s*(?:- +)?[A-Za-z_]\w*:[^\s:]")
_NO_COLON = re.compile(r"\s*(?:- +)?[A-Za-z_]\w*(?: +[^\s:]+)?\s*")
_SECOND_COLON = re.compile(r"\s*(?:- +)?[^'\"{\[#:]+:\s+[^'\"{\[#]*?:(?:\s|$)")
_LISTS = (  # what the scanner calls things, and what people see
    ("flow sequence", "list [...]"),
    ("flow mapping", "mapping {...}"),
    ("block collection", "list"),
    ("block sequence", "list"),
    ("block mapping", "mapping"),
    ("quoted scalar", "text in quotes"),
)


def explained(error: MarkedYAMLError, lines: Sequence[str]) -> tuple[int, str]:
    """Line (from 1; 0 where none is known) and message of a syntax error in a file of `lines`."""
    mark = error.problem_mark or error.context_mark
    line = 0 if mark is None else mark.line + 1
    start = 0 if error.context_mark is None else error.context_mark.line + 1
    problem = str(error.problem or error.context or "cannot be parsed")
    if "'\\t'" in problem:
        return line, "malformed YAML: a tab; YAML is indented with spaces"
    if "mapping values are not allowed" in problem:
        return line, f"malformed YAML: {_colon(lines, line)}"
    if "could not find expected ':'" in problem and start:
        return start, f"malformed YAML: {_colon(lines, start + 1)}"
    if "cannot start any token" in problem:
        return line, f"malformed YAML: {problem}; a text that starts with it needs quotes"
    if "end of stream" in problem and "quoted" in str(error.context):
        return start, "malformed YAML: this quote is never closed"
    context = str(error.context or "")
    explanation = _structure(problem, _named(context), start)
    if not explanation and start:
        explanation = f"{problem} ({context} that starts in line {start})"
    return line, f"malformed YAML: {explanation or problem}"


def _colon(lines: Sequence[str], line: int) -> str:
    """A ':' that is one too many, or too few, in a line or in the one before it."""
    here, before = _line(lines, line), _line(lines, line - 1)
    if _SECOND_COLON.match(here):
        return "a second ':' in the line; a text with a ':' needs quotes"
    for number, text in ((line - 1, before), (line, here)):
        if _NO_SPACE_AFTER_DASH.match(text):
            return f"a space is missing after '-' in line {number}"
        if _NO_SPACE_AFTER_COLON.match(text):
            return f"a space is missing after ':' in line {number}"
    if before.strip() and _NO_COLON.fullmatch(before.partition(" #")[0]):
        return f"a ':' is missing in line {line - 1}"
    return (
        "a ':' that no key stands before (texts with a ':' need quotes), or an indentation that "
        "does not fit the line before"
    )


def _line(lines: Sequence[str], number: int) -> str:
    return lines[number - 1] if 0 < number <= len(lines) else ""


def _named(words: str) -> str:
    for theirs, ours in _LISTS:
        if theirs in words:
            return ours
    return ""


def _structure(problem: str, what: str, start: int) -> str:
    """A list or mapping that does not go on, or end, as it should; "" for other problems."""
    whole = f"the {what} that starts in line {start}"
    if not what or not start:
        return ""
    if problem.startswith("expected ',' or"):
        bracket = "]" if "]" in problem else "}"
        return f"a ',' or the closing '{bracket}' is missing before this, in {whole}"
    if "expected <block end>" in problem:
        return (
            f"this does not continue {whole}: entries of one list or mapping begin in the same "
            "column, and nothing follows a text in quotes"
        )
    return ""
