"""``python -m manual.tables`` writes into the pages of `docs` what the code knows better.

A page holds lines such as ``<!-- made: commands -->`` and
``<!-- notation: symgen.formulations.kane.recursion -->``; what the code says stands between them
and ``<!-- end -->``.  It is part of the repository, so that the pages are whole wherever they are
read, and a test holds it equal to what this writes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from manual import commands, formats, model_file, module, notation, python

DOCS = Path(__file__).parents[1] / "docs"

MADE: dict[str, Callable[[], str]] = {
    "commands": commands.markdown,
    "formats": formats.markdown,
    "model file": model_file.markdown,
    "functions": module.functions,
    "metadata": module.metadata,
    "python": python.markdown,
    "formulations": notation.overview,
}
"""What ``<!-- made: NAME -->`` stands for."""

PLACE = re.compile(
    r"^<!-- (made|notation|equations): (.+?) -->$(\n.*?^<!-- end -->$)?", re.MULTILINE | re.DOTALL
)


def filled(markdown: str) -> str:
    """`markdown` with the tables that its comments ask for; KeyError where there is no such one."""

    def made(place: re.Match[str]) -> str:
        kind, name = place[1], place[2]
        return f"<!-- {kind}: {name} -->\n\n{table(kind, name).strip()}\n\n<!-- end -->"

    return PLACE.sub(made, markdown)


def table(kind: str, name: str) -> str:
    """What a comment stands for."""
    if kind == "made":
        return MADE[name]()
    return {"notation": notation.symbols, "equations": notation.equations}[kind](name)


def main() -> None:
    """Write every page that is not as it should be."""
    for page in sorted(DOCS.rglob("*.md")):
        before = page.read_text(encoding="utf-8")
        after = filled(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(page.relative_to(DOCS.parent))


if __name__ == "__main__":
    main()
