"""The extension of Sphinx: formulas become MathML, and the site loads nothing from elsewhere."""

from __future__ import annotations

import re
from typing import Any

TITLED = re.compile(r'^```(\w+) title="(.+?)"$', re.MULTILINE)
MARKS = re.compile(r"^<!-- (?:(?:made|notation|equations): .+?|end) -->$", re.MULTILINE)
"""Where `manual.tables` writes."""


def captioned(markdown: str) -> str:
    """`markdown` with the titles of fenced blocks as Sphinx wants them."""
    return TITLED.sub(r"```{code-block} \1\n:caption: \2", markdown)


def _read(_app: object, _page: str, source: list[str]) -> None:
    source[0] = MARKS.sub("", captioned(source[0]))


def _reachable(_app: object, _page: str, _template: str, context: dict[str, Any], _: Any) -> None:
    """What scrolls can be reached with keys, and headings of the sidebar say their level."""
    if "body" in context:
        body = context["body"].replace("<pre>", '<pre tabindex="0">')
        context["body"] = body.replace(
            '<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'
        )
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace(
        ' role="heading"', ' role="heading" aria-level="2"'
    )


def setup(app: Any) -> dict[str, bool]:
    """Sphinx: announce what this extension does."""
    from manual import mathematics  # what it needs is needed by the site alone

    app.connect("source-read", _read)
    app.connect("html-page-context", _reachable, priority=900)  # after the theme
    app.add_html_math_renderer("mathml", (mathematics.inline, None), (mathematics.block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
