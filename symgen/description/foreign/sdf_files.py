"""The files of an SDF model: the one that is named, and those that it includes.

What a file includes is looked for in the folder of the first file, and in packages (`packages`);
nothing outside of them is opened, and nothing is fetched.  Of a folder the file is read that its
`model.config` names, or `model.sdf`.

Limits: 100 files, 16 levels of inclusion, 100,000 elements of all of them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from symgen.description.foreign.packages import find, own_package, searched
from symgen.description.foreign.xml import (
    MAX_ELEMENTS,
    Element,
    Faults,
    line_of,
    read_xml,
    stop,
)
from symgen.description.reading import load, written
from symgen.description.wording import in_line, shown
from symgen.options import ReadOptions

MOST_FILES = 100
MOST_LEVELS = 16
OLDEST, NEWEST = (1, 3), (1, 12)
_VERSION = re.compile(r"(\d{1,3})\.(\d{1,3})")
Tell = Callable[[Element, str, str], None]
"""Takes a fault or a warning: an element, what messages call it, the message."""


@dataclass(frozen=True)
class Source:
    """An <sdf> element: its file's number, the version of the format, how deep it is included."""

    root: Element
    version: tuple[int, int]
    number: int = 0
    level: int = 0


@dataclass
class Files:
    """The files that have been read, in the order of their numbers."""

    names: list[str]
    reading: ReadOptions
    faults: Faults = field(init=False)
    folders: list[str] = field(init=False)
    elements: int = 0

    def __post_init__(self) -> None:
        self.faults = Faults(self.names[0], self.names)
        first = os.path.realpath(self.names[0])
        self.folders = [os.path.dirname(first), own_package(first)]

    def first(self, root: Element) -> Source:
        """The file that the user named."""
        return self._checked(Source(root, self._version(root)))

    def included(self, include: Element, source: Source, tell: Tell) -> Source | None:
        """The file that an <include> names; None where it cannot be read, which `tell` is told."""
        element = include.first("uri")
        uri = "" if element is None else element.text
        if not uri:
            tell(include, "include", "an <include> needs <uri>model://NAME</uri> or a file")
            return None
        if source.level >= MOST_LEVELS or len(self.names) >= MOST_FILES:
            what = f"{MOST_LEVELS} levels" if source.level >= MOST_LEVELS else f"{MOST_FILES} files"
            file, line = written(self.names, include.line)
            raise stop(file, line, f"more than {what} of includes; does a file include itself?")
        path = self._path(uri, include, source, tell)
        if path is None:
            return None
        number = len(self.names)
        self.names.append(path)
        root = read_xml(load(path, "an SDF file"), path, number)
        if root.tag != "sdf":
            raise stop(path, line_of(root), f"expected <sdf>, found the element {shown(root.tag)}")
        return self._checked(Source(root, self._version(root), number, source.level + 1))

    def _checked(self, source: Source) -> Source:
        waiting = [source.root]
        while waiting:
            self.elements += 1
            waiting += waiting.pop().children
        if self.elements > MAX_ELEMENTS:
            message = f"more than {MAX_ELEMENTS} elements in all files; no robot is that large"
            raise stop(self.names[source.number], 0, message)
        return source

    def _version(self, root: Element) -> tuple[int, int]:
        words = root.attributes.get("version", "")
        match = _VERSION.fullmatch(words.strip())
        version = (int(match[1]), int(match[2])) if match else NEWEST
        if not match:
            message = f'<sdf> needs a version, as in <sdf version="1.9">; found {shown(words)}'
            self.faults.add(root, "sdf", message)
        elif not OLDEST <= version < (2, 0):
            message = f"version {words} is not read, 1.3 to 1.12 are; gz sdf -p FILE writes a newer"
            self.faults.add(root, "sdf", message)
        return version

    # -- where they lie ----------------------------------------------------------------------------

    def _path(self, uri: str, include: Element, source: Source, tell: Tell) -> str | None:
        """The file of a URI, inside one of the folders that may be read."""
        scheme, colon, rest = uri.partition("://")
        folder_of_file = os.path.dirname(os.path.realpath(self.names[source.number]))
        if colon and scheme in ("model", "package"):
            name, _, inside = rest.partition("/")
            folder = find(name, dict(self.reading.packages), self._searched())
            if folder is None:
                message = (
                    f"there is no package {shown(name)} in the folders above this file; name its "
                    f"folder: --package {in_line(name)}=FOLDER (in Python packages=)"
                )
                tell(include, "include", message)
                return None
            self.folders.append(os.path.realpath(folder))
            path = os.path.join(folder, inside)
        elif colon and scheme != "file":
            tell(include, "include", f"{shown(uri)}: nothing is fetched; save it here")
            return None
        else:
            path = os.path.join(folder_of_file, rest if colon else uri)
        return self._inside(path, uri, include, tell)

    def _searched(self) -> list[str]:
        return searched(self.names[0], dict(os.environ))

    def _inside(self, path: str, uri: str, include: Element, tell: Tell) -> str | None:
        try:
            real = os.path.realpath(path)
            if os.path.isdir(real):
                real = os.path.realpath(_model_in(Path(real)))
        except (OSError, ValueError):  # a null byte, or a name that is too long
            real = ""
        if not any(Path(real).is_relative_to(folder) for folder in self.folders):
            message = (
                f"{shown(uri)} lies outside the folder of the model; only files in it and in "
                "packages are included (--package NAME=FOLDER)"
            )
            tell(include, "include", message)
            return None
        if not os.path.isfile(real):
            tell(include, "include", f"there is no file {shown(uri)}")
            return None
        return os.path.relpath(real) if Path(real).is_relative_to(os.getcwd()) else real


def _model_in(folder: Path) -> Path:
    """The SDF file of a model's folder: the newest that its `model.config` names."""
    config = folder / "model.config"
    if config.is_file():
        root = read_xml(load(config, "a model.config"), str(config))
        names = [x for x in root.all("sdf") if x.text]
        if names:
            newest = max(names, key=lambda x: _number(x.attributes.get("version", "")))
            return folder / newest.text
    return folder / "model.sdf"


def _number(version: str) -> tuple[int, int]:
    match = _VERSION.fullmatch(version.strip())
    return (int(match[1]), int(match[2])) if match else (0, 0)
