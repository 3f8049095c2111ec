"""Emission: from programs to the source files of a package.

    emit : Package, names of backends, user's templates -> SourceBundle
        module      Package -> Module            schedules, names, signatures (once)
        files       Module -> files              of the package, then of every backend
        extensions  Module -> extensions         what is to be compiled
        beginnings  Module -> text by file       where its functions begin, for messages

A backend is a module with a name and three functions; to add one, write it, its folder of
templates, and one line in `BACKENDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from symgen.emit import casadi_c, compiled, cython, javascript, numpy, package, plain_c
from symgen.emit.bundle import Extension, Library, Package, SourceBundle
from symgen.emit.early import EarlyKernels
from symgen.emit.module import Module, module
from symgen.emit.templates import Templates


class Backend(Protocol):
    """What a module of this folder offers to be a backend."""

    @property
    def NAME(self) -> str:
        """What users call it."""

    @property
    def files(self) -> _Files:
        """Its files in a package."""

    @property
    def extensions(self) -> _Extensions:
        """What is to be compiled."""

    @property
    def beginnings(self) -> _Beginnings:
        """Where functions begin in what is compiled: see `SourceBundle`."""


class _Files(Protocol):
    def __call__(self, module: Module, templates: Templates) -> dict[str, str]: ...


class _Extensions(Protocol):
    def __call__(self, module: Module) -> tuple[Extension, ...]: ...


class _Beginnings(Protocol):
    def __call__(self, module: Module) -> Mapping[str, Mapping[str, str]]: ...


BACKENDS: tuple[Backend, ...] = (compiled, cython, numpy)
BACKEND_NAMES = tuple(backend.NAME for backend in BACKENDS)


def kernel_files(source: Package, templates: Path | None = None) -> dict[tuple[str, str], str]:
    """Formulation and function -> C source of the kernel alone, to see what it amounts to."""
    return compiled.alone(module(source), Templates(templates))


def javascript_module(source: Package, templates: Path | None = None) -> str:
    """All functions of a package, derived in straight lines, as one module of JavaScript."""
    return javascript.source(module(source), Templates(templates), javascript.MODULE)


def javascript_script(source: Package, templates: Path | None = None) -> str:
    """The same as a script of a page, which is no module: it defines ``symgen``."""
    return javascript.source(module(source), Templates(templates), javascript.SCRIPT)


def emit(
    source: Package,
    backends: Sequence[str] = ("compiled",),
    templates: Path | None = None,
    begin: Callable[[SourceBundle], None] = lambda compiled: None,
    early: EarlyKernels | None = None,
) -> SourceBundle:
    """The source files of `source` for these backends; NumPy is always among them.

    `templates` is a folder whose templates replace those of symgen.  `begin` is given the bundle
    as soon as it has all that a compiler reads: the other files are printed afterwards.  `early`
    has kernels of the package that need not be made again.
    """
    unknown = set(backends) - set(BACKEND_NAMES)
    if unknown:
        raise ValueError(f"no such backend: {', '.join(sorted(unknown))}")
    chosen = [b for b in BACKENDS if b.NAME in backends or b.NAME == numpy.NAME]
    printed = module(source, early.kernels, early.bodies) if early else module(source)
    layout = Templates(templates)
    files: dict[str, str] = {}
    extensions: tuple[Extension, ...] = ()
    libraries: tuple[Library, ...] = ()
    beginnings: dict[str, Mapping[str, str]] = {}
    for backend in chosen:
        if made := backend.extensions(printed):
            files.update(backend.files(printed, layout))
            beginnings.update(backend.beginnings(printed))
            extensions += made
    if source.casadi and compiled in chosen:
        files.update(casadi_c.files(printed, layout))
        libraries = (casadi_c.library(printed),)
    bundle = SourceBundle(
        printed.robot, dict(files), extensions, libraries, beginnings, templates is not None
    )
    begin(bundle)
    if compiled in chosen:
        files.update(plain_c.files(printed, layout))
    for backend in chosen:
        if not backend.extensions(printed):
            files.update(backend.files(printed, layout))
    files.update(package.files(printed, layout))
    return replace(bundle, files={name: files[name] for name in sorted(files)})
