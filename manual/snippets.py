"""Run what a page shows: ``python -m manual.snippets PAGE``, in an empty folder.

The fenced blocks of the page are taken in order.

- one with a title (```` ```yaml title="arm.yaml" ````) is written to the file of that name
- ``sh`` is run, line by line, and must succeed, or end as a comment before it says:
  ``<!-- exit: 3 -->``
- ``python`` is run; all of a page share their names
- ``text`` after one that ran, with prose in between or not, is what it must have printed; ``...``
  stands for anything, and blanks and empty lines do not count
- ``<!-- not run: WHY -->`` before a block leaves it alone; blocks of other languages are pictures

Pages are trusted: nothing here is meant for pages of others.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path
from typing import Any

FENCE = re.compile(r'^```(?P<language>\w*)(?: title="(?P<title>[\w./-]+)")?$')
MARK = re.compile(r"^<!-- (?P<key>not run|exit): (?P<value>.+) -->$")


@dataclass(frozen=True)
class Block:
    """A fenced block: its text, the line of the page that it starts on, and what is said of it."""

    language: str
    title: str
    text: str
    line: int
    marks: dict[str, str]
    expected: str | None = None

    @property
    def runs(self) -> bool:
        """Whether it is run."""
        return not self.title and self.language in ("sh", "python") and "not run" not in self.marks


class PageError(Exception):
    """A block that does not do what the page says."""


def blocks(page: str) -> list[Block]:
    """The blocks of the text of a page; each that runs with the output that the page shows."""
    found = list(_fenced(page.splitlines()))
    joined = []
    for block, following in zip(found, [*found[1:], None], strict=True):
        shown = following is not None and following.language == "text" and not following.title
        if block.runs and shown and following is not None and "not run" not in following.marks:
            block = Block(**{**vars(block), "expected": following.text})
        joined.append(block)
    return joined


def _fenced(lines: Sequence[str]) -> Iterator[Block]:
    start, opening = 0, None
    for number, line in enumerate(lines, start=1):
        if opening is None:
            if opening := FENCE.match(line):
                start = number
        elif line == "```":
            text = "\n".join(lines[start : number - 1]) + "\n"
            title, language = opening["title"] or "", opening["language"]
            yield Block(language, title, text, start, _marks(lines[: start - 1]))
            opening = None
    if opening is not None:
        raise ValueError(f"line {start}: the block does not end")


def _marks(before: Sequence[str]) -> dict[str, str]:
    """The comments straight before a block."""
    found = {}
    for line in reversed(before):
        if not (mark := MARK.match(line)):
            break
        found[mark["key"]] = mark["value"]
    return found


def perform(page: Path) -> int:
    """Run the blocks of `page` in the current folder; return how many ran.

    Raises `PageError` at the first that does not do what the page says.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    ran = 0
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.title and "not run" not in block.marks:
            Path(block.title).parent.mkdir(parents=True, exist_ok=True)
            Path(block.title).write_text(block.text, encoding="utf-8")
        if not block.runs:
            continue
        where = f"{page.name}:{block.line}"
        got = _shell(block, where) if block.language == "sh" else _python(block, where, names)
        ran += 1
        if block.expected is not None and not _same(block.expected, got):
            raise PageError(f"{where}: the page shows\n{block.expected}\nit printed\n{got}")
    return ran


def _shell(block: Block, where: str) -> str:
    command = ["bash", "-e", "-o", "pipefail", "-c", block.text]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wanted = int(block.marks.get("exit", "0"))
    if done.returncode != wanted:
        said = done.stdout + done.stderr
        raise PageError(
            f"{where}: ended with {done.returncode}, not {wanted}\n{block.text}\n{said}"
        )
    return done.stdout


def _python(block: Block, where: str, names: dict[str, Any]) -> str:
    printed = io.StringIO()
    try:
        with redirect_stdout(printed):
            exec(compile(block.text, where, "exec"), names)
    except Exception as error:
        raise PageError(f"{where}: {traceback.format_exc()}\n{block.text}") from error
    return printed.getvalue()


def _same(wanted: str, got: str) -> bool:
    pair = ["\n".join(filter(str.strip, text.splitlines())) + "\n" for text in (wanted, got)]
    return OutputChecker().check_output(*pair, ELLIPSIS | NORMALIZE_WHITESPACE)


def main() -> None:
    """Perform the page that the command line names."""
    try:
        ran = perform(Path(sys.argv[1]))
    except PageError as failure:
        sys.exit(str(failure))
    print(f"{ran} blocks ran")


if __name__ == "__main__":
    main()
