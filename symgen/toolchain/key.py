"""Build keys: digests of everything that a build depends on.

The build key decides whether a package is up to date.  It covers symgen's own sources and
templates, so that an edited checkout rebuilds.  The digest of an extension covers only the inputs
of its compiler, so that equal sources are compiled once.  Neither enters a generated source file:
those are the same on every machine.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import Cython
import numpy as np

from symgen.emit.bundle import TO_READ, Extension, SourceBundle
from symgen.toolchain.compiler import PLAIN_OPTIONS, WRAPPER_OPTIONS, Compiler, python_abi
from symgen.version import __version__

HEADER_SUFFIXES = (".h", ".pxd", ".pxi")
"""Suffixes of files that any extension of a package may include."""

NAME_DIGITS = 12
"""Hexadecimal digits of a digest in the name of an extension module."""

LIBRARIES = ("sympy", "jinja2", "numpy", "cython")
"""Libraries whose version can affect generated code."""

IGNORED_FOLDERS = frozenset({"__pycache__"})


def digest_of(*parts: str | bytes) -> str:
    """Return one digest of all `parts`, boundaries included."""
    total = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        total.update(f"{len(content)}:".encode())
        total.update(content)
    return total.hexdigest()


def own_folders() -> tuple[Path, ...]:
    """Return the folders of symgen's sources and templates, installed or in a checkout."""
    sources = Path(__file__).resolve().parents[1]
    installed = sources / "templates"
    return (sources,) if installed.is_dir() else (sources, sources.parent / "templates")


def folders_digest(folders: tuple[Path, ...]) -> str:
    """Return a digest of the names and contents of all files below `folders`."""
    parts: list[str | bytes] = []
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            relative = path.relative_to(folder)
            if path.is_file() and not IGNORED_FOLDERS.intersection(relative.parts):
                parts += [relative.as_posix(), path.read_bytes()]
    return digest_of(*parts)


def toolchain_key(compiler: Compiler | None, flags: str) -> str:
    """Return the digest of symgen, its libraries and the compiler, for validation stamps."""
    binary = _binary_identity(compiler, flags) if compiler else python_abi()
    libraries = [version(name) for name in LIBRARIES]
    return digest_of(__version__, _own_digest(own_folders()), binary, *libraries)


@functools.cache
def _own_digest(folders: tuple[Path, ...]) -> str:
    """Return the digest of symgen itself, computed once per process."""
    return folders_digest(folders)


def templates_key() -> str:
    """Return the digest under which the compiled templates of this Python are cached."""
    return digest_of("templates", importlib.util.MAGIC_NUMBER, toolchain_key(None, ""))


def build_key(
    model: str,
    options: Mapping[str, object],
    compiler: Compiler | None,
    flags: str,
    templates: Mapping[str, str] | None = None,
) -> str:
    """Return the digest of everything that a build of `model` depends on.

    `model` is the text of the model, or its digest, `options` the options of the build as JSON
    data, `templates` the user's templates by name.
    """
    text = json.dumps(options, sort_keys=True, separators=(",", ":"))
    texts = [part for item in sorted((templates or {}).items()) for part in item]
    own_templates = digest_of(*texts) if texts else ""
    return digest_of(model, text, toolchain_key(compiler, flags), own_templates)


def extension_inputs(bundle: SourceBundle, extension: Extension) -> dict[str, str]:
    """Return the files that the compiler of `extension` can read, sorted by path."""
    named = {extension.source, *extension.c_sources, *extension.shared}
    headers = {
        path
        for path in bundle.files
        if path.endswith(HEADER_SUFFIXES) and not path.startswith(f"{TO_READ}/")
    }
    return {path: bundle.files[path] for path in sorted(named | headers)}


def extension_digest(
    bundle: SourceBundle, extension: Extension, compiler: Compiler, flags: str
) -> str:
    """Return the digest under which the binary of `extension` is cached."""
    inputs = extension_inputs(bundle, extension)
    versions = [extension.versioned, extension.versioned_for_one, extension.straight]
    named = [extension.name, extension.source, extension.c_sources, extension.shared]
    listed = json.dumps([*named, *versions])
    texts = [text for item in inputs.items() for text in item]
    if extension.versioned:
        texts += [repr(version) for version in compiler.versions(flags)]
    return digest_of(listed, Cython.__version__, _binary_identity(compiler, flags), *texts)


def object_digest(bundle: SourceBundle, source: str, compiler: Compiler, flags: str) -> str:
    """Return the digest under which the object file of a shared C file is cached.

    It includes shared headers alone, which have names that no robot can have.
    """
    names = [name for name in sorted(bundle.files) if name.endswith(HEADER_SUFFIXES)]
    headers = [name for name in names if name.rpartition("/")[2].startswith("symgen-")]
    texts = [text for name in headers for text in (name, bundle.files[name])]
    identity = _binary_identity(compiler, flags)
    return digest_of("object", identity, source, bundle.files[source], *texts)


def extension_module(extension: Extension, digest: str) -> str:
    """Return the name of a module, with a digest, so that a changed module is never mixed up with
    the loaded one."""
    return f"{extension.name}_{digest[:NAME_DIGITS]}"


def _binary_identity(compiler: Compiler, flags: str) -> str:
    numpy_major = np.__version__.partition(".")[0]
    kernels = (*compiler.kernel_options, *compiler.straight_options, *PLAIN_OPTIONS)
    options = (*compiler.options(flags), *kernels, *WRAPPER_OPTIONS)
    identity = (*compiler.command, compiler.version, compiler.processor(flags), *options)
    return digest_of(*identity, python_abi(), numpy_major)
