"""The manifest of a package folder: the files that symgen wrote there.

``manifest.json`` lists the generated sources with their digests and is the same on every machine.
``build.json`` holds machine-dependent data: the binaries, the build key, the model file, and a
report of the build (operations of every function, sizes, omissions).
``.installing.json`` exists only while files are being replaced; it lists the old and
the new files, so that the next build can clean up after an interrupted one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from symgen.toolchain.files import digest, file_digest, relative_path

MANIFEST_FILE = "manifest.json"
BUILD_FILE = "build.json"
JOURNAL_FILE = ".installing.json"
GENERATOR = "symgen"
_LISTS = ("runtime_parameters", "loads", "points")
"""Fields of `Manifest` that are lists of names."""


@dataclass(frozen=True)
class Manifest:
    """The files of an installed package, by path relative to its folder, with their digests."""

    package: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)
    binaries: Mapping[str, str] = field(default_factory=dict)
    build_key: str | None = None
    origin: str = ""
    """The model file that the package was built from, as an absolute path; empty if unknown."""
    runtime_parameters: tuple[str, ...] = ()
    """The parameters of the model that the package takes as arguments."""
    loads: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    """Names of its loads and points, from the model and the command line."""
    made: Mapping[str, object] = field(default_factory=dict)
    """Report of the build as plain data."""
    unfinished: tuple[str, ...] = ()
    """Files that an interrupted build may have left; empty after a finished one."""

    @property
    def derived(self) -> list[tuple[str, str]]:
        """Return formulation and name of every generated function."""
        rows = self.made.get("functions")
        rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        return [(str(row.get("formulation")), str(row.get("function"))) for row in rows]

    @property
    def files(self) -> dict[str, str]:
        """Digests of sources and binaries by path."""
        return {**self.sources, **self.binaries}

    def owned(self) -> set[str]:
        """Return the files that symgen may replace or remove."""
        metadata = {MANIFEST_FILE, BUILD_FILE, JOURNAL_FILE}
        return {*self.sources, *self.binaries, *self.unfinished, *metadata}

    def is_intact(self, folder: Path) -> bool:
        """Return whether the build finished and all its files are unchanged."""
        if self.unfinished or self.build_key is None:
            return False
        return all(file_digest(folder / name) == expected for name, expected in self.files.items())

    def manifest_text(self) -> str:
        """Return the text of ``manifest.json``."""
        return _text({"generator": GENERATOR, "package": self.package, "files": self.sources})

    def build_text(self) -> str:
        """Return the text of ``build.json``."""
        facts = {name: getattr(self, name) for name in ("build_key", "origin", "made", *_LISTS)}
        return _text({"generator": GENERATOR, "files": self.binaries, **facts})


def journal_text(files: set[str]) -> str:
    """Return the text of ``.installing.json``."""
    return _text({"generator": GENERATOR, "files": dict.fromkeys(sorted(files), "")})


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest of a package folder; None if symgen wrote none."""
    manifest = _read(folder / MANIFEST_FILE)
    journal = _read(folder / JOURNAL_FILE)
    if manifest is None and journal is None:
        return None
    build = _read(folder / BUILD_FILE) or {}
    key, made = build.get("build_key"), build.get("made")
    return Manifest(
        package=str((manifest or {}).get("package", folder.name)),
        sources=_files(manifest),
        binaries=_files(build),
        build_key=key if isinstance(key, str) else None,
        origin=str(build.get("origin", "")),
        **{name: _names(build.get(name)) for name in _LISTS},
        made=made if isinstance(made, dict) else {},
        unfinished=(JOURNAL_FILE, *_files(journal)) if journal is not None else (),
    )


def identity(folder: Path) -> str | None:
    """Return 32 hexadecimal digits that identify a build; None for a folder without one."""
    try:
        contents = [(folder / name).read_bytes() for name in (MANIFEST_FILE, BUILD_FILE)]
    except OSError:
        return None
    return digest(b"\n".join(contents))[:32]


def _read(path: Path) -> dict[str, object] | None:
    """Return the content of a JSON file that symgen wrote; None for any other file."""
    if path.is_symlink() or not path.is_file():  # opening a named pipe would block
        return None
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or content.get("generator") != GENERATOR:
        return None
    return content


def _files(content: Mapping[str, object] | None) -> dict[str, str]:
    """Return digests of the listed files by path; {} if a path leaves the folder."""
    files = (content or {}).get("files")
    if not isinstance(files, dict):
        return {}
    try:
        return {str(relative_path(name)): str(value) for name, value in files.items()}
    except ValueError:
        return {}


def _names(value: object) -> tuple[str, ...]:
    """Return `value` as names if it is a list; () otherwise."""
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _text(content: Mapping[str, object]) -> str:
    return json.dumps(content, indent=2, sort_keys=True) + "\n"
