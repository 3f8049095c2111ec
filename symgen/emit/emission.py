"""Emission: from programs to the source files of a package.

    emit : Package, names of backends, user's templates -> SourceBundle
        module      Package -> Module            schedules, names, signatures (once)
        files       Module -> files              of the package, then of every backend
        extensions  Module -> extensions         to be compiled
        beginnings  Module -> text by file       first lines of functions, for messages

A backend is a module with a name and three functions; to add one, write it, its folder of
templates, and one line in `BACKENDS`.

`EarlyKernels` prints kernels as soon as they are derived, so that they are compiled while the next
ones are derived.  With symgen's own templates, the C file of a kernel, without its heading, depends
on the kernel alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from symgen.emit import casadi_c, compiled, cython, javascript, numpy, package, plain_c
from symgen.emit.bundle import Extension, Forms, Library, Package, SourceBundle
from symgen.emit.kernels import Kernel, kernel
from symgen.emit.module import Module, module
from symgen.emit.templates import Templates


class Backend(Protocol):
    """A module of this folder such as `symgen.emit.compiled`."""

    NAME: str

    def files(self, module: Module, templates: Templates) -> dict[str, str]:
        """Return the files of a package."""

    def extensions(self, module: Module) -> tuple[Extension, ...]:
        """Return the extensions to compile."""

    def beginnings(self, module: Module) -> dict[str, dict[str, str]]:
        """Return the first lines of functions in compiled files: see `SourceBundle`."""


BACKENDS: tuple[Backend, ...] = (compiled, cython, numpy)
BACKEND_NAMES = tuple(backend.NAME for backend in BACKENDS)


class EarlyKernels:
    """The kernels of a package whose programs are being derived.

    `kernels` and `bodies` (C files without headings) are kept by formulation and function.
    """

    def __init__(self, package: Package) -> None:
        self.kernels: dict[tuple[str, str], Kernel] = {}
        self.bodies: dict[tuple[str, str], str] = {}
        self._module = module(package)
        self._templates = Templates()
        headers = {name: self._templates.source(name) for name in compiled.VERBATIM}
        self._headers = {**headers, f"c/{self._module.robot}.h": ""}

    def add(self, formulation: str, function: str, forms: Forms) -> SourceBundle | None:
        """Print a kernel that will serve the top level: its C file, and headers.

        None if the kernel is short, or not compiled in all versions.
        """
        package, robot = self._module.package, self._module.robot
        added = kernel(formulation, forms, package.metadata.sizes)
        self.kernels[formulation, function] = added
        name = compiled.source_alone(robot, added)
        guard = compiled.guard(added, True, package.equal)
        if added.paths or not name or guard != compiled.EVERYWHERE:
            return None
        values = {**self._module.values(), "guards": {(formulation, function): guard}}
        text = compiled.body([added], values, self._templates)
        self.bodies[formulation, function] = text
        straight = () if added.rolled else (name,)
        extension = Extension("_compiled", "", (name,), versioned=(name,), straight=straight)
        return SourceBundle(robot, {**self._headers, name: text}, (extension,))


def kernel_files(source: Package, templates: Path | None = None) -> dict[tuple[str, str], str]:
    """Return the C source of each kernel alone, by formulation and function, for measurements."""
    return compiled.alone(module(source), Templates(templates))


def javascript_source(source: Package, kind: str = javascript.MODULE) -> str:
    """Print all functions of a package, derived in straight lines, in JavaScript.

    `kind`: a module to import, or a script for a page, which defines ``symgen``.
    """
    return javascript.source(module(source), Templates(), kind)


def emit(
    source: Package,
    backends: Sequence[str] = ("compiled",),
    templates: Path | None = None,
    begin: Callable[[SourceBundle], None] = lambda compiled: None,
    early: EarlyKernels | None = None,
) -> SourceBundle:
    """Return the source files of `source` for these backends; NumPy is always among them.

    `templates` is a folder whose templates replace those of symgen.  `begin` gets the bundle as
    soon as it holds all files for compilers; the others are printed afterwards.  `early` holds
    kernels of the package that were made before.
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
