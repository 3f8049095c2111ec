"""Search and rendering of templates.

A template shows the shape of a generated file; Python code prints the expressions.  A user's folder
is searched first, so that any template can be replaced.  An undefined name in a template is an
error, and so is a file in that folder that nothing would use.

jinja2 compiles templates to Python, which takes longer than rendering most of them: the code of
symgen's templates can be stored (`compiled`) and loaded by other processes (`use_compiled`).
"""

from __future__ import annotations

import marshal
import os
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from types import CodeType
from typing import Any

import jinja2
from jinja2 import meta
from jinja2.bccache import Bucket

from symgen.emit import text
from symgen.errors import RequestError
from symgen.support.suggestions import nearest

SUFFIX = ".jinja"
BESIDE_BUILDS = ("javascript/", "report/", "sdist/")
"""Folders of templates that packages do not depend on."""

NO_TEMPLATES = (".md", ".txt", ".orig", ".rej", "~")
"""Suffixes of files that are ignored in a user's folder of templates."""

MOST_FILES = 1000
"""Largest number of files in a folder of templates: more would be a home folder or a disk."""


class Templates:
    """The templates of symgen, and those in `directory` that replace them."""

    def __init__(self, directory: Path | None = None) -> None:
        self._folders: list[Traversable] = [_shipped()]
        if directory is not None:
            if not directory.is_dir():
                raise NotADirectoryError(f"no folder of templates: {directory}")
            self._folders.insert(0, directory)

    def render(self, name: str, **values: Any) -> str:
        """Render the template `name`; RequestError names its faults and their lines."""
        try:
            return self._environment.get_template(name + SUFFIX).render(values)
        except jinja2.TemplateSyntaxError as error:
            raise _wrong_syntax(error) from error
        except _FAULTS as error:
            place = _place(error) or f"template {name}{SUFFIX}"
            raise RequestError(f"{place}: {type(error).__name__}: {error}") from error

    def references(self, name: str) -> set[str | None]:
        """Return the templates that `name` includes or imports; None stands for a computed name.

        RequestError where its syntax is wrong.
        """
        try:
            tree = self._environment.parse(self.source(name), name)
            return set(meta.find_referenced_templates(tree))
        except jinja2.TemplateSyntaxError as error:
            raise _wrong_syntax(error) from error

    def source(self, name: str) -> str:
        """Return the text of the file `name`."""
        for folder in self._folders:
            file = folder.joinpath(*name.split("/"))
            if file.is_file():
                return file.read_text(encoding="utf-8")
        raise FileNotFoundError(f"no template {name}")

    def names(self) -> list[str]:
        """Return the names of all templates."""
        return sorted({name for folder in self._folders for name in _names(folder)})

    def sources(self) -> dict[str, str]:
        """Return the templates that a build depends on, by name."""
        kept = (name for name in self.names() if not name.startswith(BESIDE_BUILDS))
        return {name: self.source(name) for name in kept}

    @cached_property
    def _environment(self) -> jinja2.Environment:
        return _shipped_alone() if len(self._folders) == 1 else self._new_environment()

    def _new_environment(self) -> jinja2.Environment:
        environment = jinja2.Environment(
            loader=jinja2.FunctionLoader(self._load),
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            autoescape=lambda name: name is not None and name.endswith(f".html{SUFFIX}"),
        )
        environment.filters.update(
            c_string=text.c_string,
            comment=text.comment,
            doc=text.docstring,
            indented=text.indented,
            literal=repr,
        )
        return environment

    def _load(self, name: str) -> tuple[str, str, None] | None:
        try:
            return self.source(name), name, None
        except FileNotFoundError:
            return None


_FAULTS = (
    jinja2.TemplateError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError,
    ValueError,
)  # fmt: skip
"""Errors that a faulty template raises."""


def own_templates(directory: Path) -> Mapping[str, str]:
    """Return the texts of a user's templates by name, after checking that each of them is used.

    RequestError for a template that symgen does not know and no other template includes, for wrong
    syntax, for a folder without templates, or with too many files.
    """
    if not os.path.isdir(directory):  # never raises
        raise RequestError(f"there is no folder of templates {str(directory)!r}")
    try:
        texts = {name: _text(directory, name) for name in _own_names(directory)}
    except OSError as error:
        raise RequestError(f"templates in {directory}: {error}") from error
    shipped = Templates().names()
    if not texts.keys() & shipped:
        near = next(filter(None, (nearest(name, shipped) for name in texts)), None)
        hint = f"; did you mean {near!r}?" if near else ""
        raise RequestError(
            f"{directory} holds no template of symgen's, such as 'numpy/formulation.py.jinja'{hint}"
        )
    layout = Templates(directory)
    used = [layout.references(name) for name in texts if name.endswith(SUFFIX)]
    included = {name for names in used for name in names}
    for name in texts:
        if name not in shipped and name not in included and None not in included:
            near = nearest(name, shipped)
            hint = f"; did you mean {near!r}?" if near else ", and no other one includes it"
            raise RequestError(f"{directory / name}: symgen has no such template{hint}")
    return texts


def _own_names(directory: Path) -> Iterator[str]:
    """Yield the names of regular files in a folder; links are followed, cycles avoided."""
    waiting, seen, count = [directory], set(), 0
    while waiting:
        folder = waiting.pop()
        real = os.path.realpath(folder)
        if real in seen:
            continue
        seen.add(real)
        for entry in sorted(folder.iterdir()):
            count += 1
            if count > MOST_FILES:
                raise RequestError(f"{directory} holds more than {MOST_FILES} files: no templates")
            if entry.name.startswith((".", "__pycache__")) or entry.name.endswith(NO_TEMPLATES):
                continue
            if entry.is_dir():
                waiting.append(entry)
            elif entry.is_file():
                yield entry.relative_to(directory).as_posix()


def _text(directory: Path, name: str) -> str:
    try:
        return (directory / name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise RequestError(f"template {directory / name}: not UTF-8") from None


def _wrong_syntax(error: jinja2.TemplateSyntaxError) -> RequestError:
    return RequestError(f"template {error.name}, line {error.lineno}: {error.message}")


def _place(error: BaseException) -> str | None:
    """Return the template and line of an error, from its traceback."""
    place, step = None, error.__traceback__
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if file.endswith(SUFFIX):
            place = f"template {file}, line {step.tb_lineno}"
        step = step.tb_next
    return place


class _Compiled(jinja2.BytecodeCache):
    """Compiled templates by name and digest of the text; `is_new` if some were added."""

    def __init__(self) -> None:
        self.code: dict[tuple[str, str], CodeType] = {}
        self.is_new = False

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self.code.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        if bucket.code is not None:
            self.code[bucket.key, bucket.checksum] = bucket.code
            self.is_new = True


_COMPILED = _Compiled()


def use_compiled(data: bytes) -> None:
    """Load code that `compiled` returned to a process with the same symgen, Python and jinja2."""
    _COMPILED.code = {**marshal.loads(data), **_COMPILED.code}


def compiled() -> bytes | None:
    """Return the code of symgen's templates, compiled here or loaded; None if none is new."""
    if not _COMPILED.is_new:
        return None
    _COMPILED.is_new = False
    return marshal.dumps(_COMPILED.code)


@lru_cache(1)
def _shipped_alone() -> jinja2.Environment:
    """Make the shared environment of symgen's templates."""
    environment = Templates()._new_environment()
    environment.bytecode_cache = _COMPILED
    return environment


def _shipped() -> Traversable:
    """Return the folder of templates: inside the wheel, or at the top of a source tree."""
    package = resources.files("symgen")
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
        elif prefix and entry.name.endswith((SUFFIX, ".py", ".c", ".h", ".js", ".css")):
            yield prefix + entry.name  # files without a folder are no templates
