"""Links of a Markdown file or of a built site, and those among them that lead nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FENCED = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]+`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
LOADED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}
"""Attributes that make a browser ask for something, by the name of the element."""


def broken(page: Path) -> list[str]:
    """The links of the Markdown file `page` to files or headings that there are not."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    return [link for link in LINK.findall(CODE.sub("", text)) if not _leads(link, page)]


def _leads(link: str, page: Path) -> bool:
    parts = urlsplit(link)
    if parts.scheme:
        return True  # elsewhere: nobody can tell without a network
    target = page.parent / unquote(parts.path) if parts.path else page
    if not target.exists():
        return False
    return not parts.fragment or parts.fragment in slugs(target)


def slugs(page: Path) -> set[str]:
    """The anchors of the headings of a Markdown file, as GitHub names them."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    return {
        re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in HEADING.findall(text)
    }


class _Page(HTMLParser):
    """What an HTML page links to, what it loads, and the names in it that links may end with."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """See `HTMLParser`."""
        values = {name: value for name, value in attrs if value is not None}
        self.names.update(values[name] for name in ("id", "name") if name in values)
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in LOADED and LOADED[tag] in values:
            self.loaded.append(values[LOADED[tag]])


def site(folder: Path) -> dict[Path, _Page]:
    """The pages of a built site."""
    pages = {}
    for path in sorted(folder.rglob("*.html")):
        pages[path] = _Page()
        pages[path].feed(path.read_text(encoding="utf-8"))
    return pages


def faults(folder: Path) -> Iterator[str]:
    """What is wrong with a built site: links that lead nowhere, loads from elsewhere."""
    pages = site(folder)
    for path, page in pages.items():
        where = path.relative_to(folder)
        for link in (*page.links, *page.loaded):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loaded and parts.scheme != "data":
                    yield f"{where} loads {link}"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                yield f"{where}: {link}: there is no such file"
            elif (
                parts.fragment
                and target in pages
                and link in page.links
                and (unquote(parts.fragment) not in pages[target].names)
            ):
                yield f"{where}: {link}: there is no such heading"
