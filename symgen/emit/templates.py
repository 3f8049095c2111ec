"""The templates: where they are, and how they are filled.

A template shows the shape of a file of the generated package; Python decides what there is to say
and prints the expressions.  A folder of the user's is searched first, so any template can be
replaced without touching Python.  An undefined name in a template is an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import jinja2

import symgen
from symgen.emit import text
from symgen.errors import RequestError

SUFFIX = ".jinja"
BESIDE_BUILDS = ("javascript/", "report/")
"""Folders of what no package holds: a package is up to date whatever they say."""


class Templates:
    """The templates of symgen and, before them, those in the folder `directory`."""

    def __init__(self, directory: Path | None = None) -> None:
        self._folders: list[Traversable] = [_shipped()]
        if directory is not None:
            if not directory.is_dir():
                raise NotADirectoryError(f"no folder of templates: {directory}")
            self._folders.insert(0, directory)

    def render(self, name: str, **values: Any) -> str:
        """The template `name`, filled; RequestError says what is wrong with it, and where."""
        try:
            return self._environment.get_template(name + SUFFIX).render(values)
        except jinja2.TemplateSyntaxError as error:
            raise RequestError(f"template {error.name}, line {error.lineno}: {error}") from error
        except (jinja2.TemplateError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise RequestError(
                f"template {name}{SUFFIX}: {type(error).__name__}: {error}"
            ) from error

    def source(self, name: str) -> str:
        """The text of the file `name` as it stands."""
        for folder in self._folders:
            file = folder.joinpath(*name.split("/"))
            if file.is_file():
                return file.read_text(encoding="utf-8")
        raise FileNotFoundError(f"no template {name}")

    def sources(self) -> dict[str, str]:
        """Every template that may be used, by name: what a build depends on."""
        names = {name for folder in self._folders for name in _names(folder)}
        names.discard("__init__.py")  # it makes a package of the folder, and is no template
        kept = (name for name in sorted(names) if not name.startswith(BESIDE_BUILDS))
        return {name: self.source(name) for name in kept}

    @cached_property
    def _environment(self) -> jinja2.Environment:
        environment = jinja2.Environment(
            loader=jinja2.FunctionLoader(self._load),
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            autoescape=_is_page,
        )
        environment.filters.update(
            comment=text.comment, doc=text.docstring, indented=text.indented, literal=repr
        )
        return environment

    def _load(self, name: str) -> tuple[str, str, None] | None:
        try:
            return self.source(name), name, None
        except FileNotFoundError:
            return None


def _is_page(name: str | None) -> bool:
    """Whether a template makes HTML: then text that comes from users is escaped."""
    return name is not None and name.endswith(f".html{SUFFIX}")


def _shipped() -> Traversable:
    """The folder of templates: inside the wheel, or at the top of a source tree."""
    package = resources.files(symgen)
    inside = package.joinpath("templates")
    if inside.is_dir():
        return inside
    try:
        return resources.files("symgen.templates")
    except ModuleNotFoundError:
        return Path(str(package)).parent / "templates"


def _names(folder: Traversable, prefix: str = "") -> Iterator[str]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() and not entry.name.startswith((".", "__")):
            yield from _names(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith((SUFFIX, ".py", ".h")):
            yield prefix + entry.name
