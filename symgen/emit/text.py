"""Text of the model on its way into comments and docstrings.

A model file is data from a stranger.  Its text is shown, never run: no text may end the
comment or the docstring that it stands in, nor hide what stands behind it.
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
    """Return a version number, clear of whatever no version number contains."""
    return "".join(c for c in text if c.isascii() and (c.isalnum() or c in ".+-_!"))


def comment(text: str) -> str:
    """Return `text` for the inside of a C comment."""
    return text.replace("*/", "* /").replace("/*", "/ *").replace("??/", "? ?/").replace("\\", "/")


def docstring(text: str) -> str:
    """Return `text` for the inside of a Python docstring in triple double quotes."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def c_string(text: str) -> str:
    """Return `text` as string literals of C, one for every line of it."""
    return "\n".join(f'"{_escaped(line)}"' for line in text.splitlines(keepends=True)) or '""'


def _escaped(text: str) -> str:
    words = {"\\": "\\\\", '"': '\\"', "?": "\\?", "\n": "\\n"}
    octal = ("".join(f"\\{byte:03o}" for byte in c.encode()) for c in text)
    return "".join(
        words.get(c) or (c if c.isascii() and c.isprintable() else code)
        for c, code in zip(text, octal, strict=True)
    )


def wrapped(text: str, indent: str = "", hanging: str | None = None) -> str:
    """Return `text` in lines of readable length."""
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
    """Return the equations that the remarks behind lines refer to."""
    return table((plain(label), plain(text)) for label, text in notes.items())


def indented(text: str, indent: str) -> str:
    """Return `text` with every line but the first indented, blank lines left blank."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(f"{indent}{line}" if line else "" for line in rest)])
