"""Safe text of the model for comments and docstrings.

Model files are untrusted.  Their text must neither end the comment or docstring that holds it nor
hide the code behind it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping

WIDTH = 90


def plain(text: str) -> str:
    """Put `text` on one line, without control characters (also those of bidirectional text)."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(text.split())


def version(text: str) -> str:
    """Return a version number without characters that no version number contains."""
    return "".join(c for c in text if c.isascii() and (c.isalnum() or c in ".+-_!"))


def comment(text: str) -> str:
    """Escape `text` for a C comment."""
    return text.replace("*/", "* /").replace("/*", "/ *").replace("??/", "? ?/").replace("\\", "/")


def docstring(text: str) -> str:
    """Escape `text` for a Python docstring in triple double quotes."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def c_string(text: str) -> str:
    """Print `text` as string literals of C, one per line."""
    return "\n".join(f'"{_escaped(line)}"' for line in text.splitlines(keepends=True)) or '""'


def _escaped(text: str) -> str:
    words = {"\\": "\\\\", '"': '\\"', "?": "\\?", "\n": "\\n"}
    octal = ("".join(f"\\{byte:03o}" for byte in c.encode()) for c in text)
    return "".join(
        words.get(c) or (c if c.isascii() and c.isprintable() else code)
        for c, code in zip(text, octal, strict=True)
    )


def wrapped(text: str, indent: str = "", hanging: str | None = None) -> str:
    """Wrap `text` in lines of readable length."""
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent if hanging is None else hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def table(rows: Iterable[tuple[str, str]], indent: str = "    ") -> str:
    """Print two columns, the second one wrapped."""
    pairs = list(rows)
    width = max((len(left) for left, _ in pairs), default=0)
    return "\n".join(
        wrapped(right, f"{indent}{left:<{width}}  ", " " * (len(indent) + width + 2)).rstrip()
        if right
        else f"{indent}{left}"
        for left, right in pairs
    )


def notes_table(notes: Mapping[str, str]) -> str:
    """Print the table of equations that labels behind lines refer to."""
    return table((plain(label), plain(text)) for label, text in notes.items())


def indented(text: str, indent: str) -> str:
    """Indent all lines but the first; blank lines stay blank."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(f"{indent}{line}" if line else "" for line in rest)])
