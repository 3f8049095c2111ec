"""Distribution of a built package: installation in this environment, wheels, sources.

The default name is that of the robot with ``_dynamics``, to avoid clashes: ``import arm`` might be
anything.
"""

from __future__ import annotations

import keyword
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from symgen.description import read
from symgen.description.names import illegal_name
from symgen.emit.templates import Templates
from symgen.errors import RequestError
from symgen.options import BuildOptions
from symgen.pipeline.build_report import BuildReport
from symgen.pipeline.building import build, run
from symgen.support.journal import Journal
from symgen.toolchain.files import check_writable, file_system_errors, write_atomically
from symgen.toolchain.wheels import check_free, editable, install, packed, source, version_named


@dataclass(frozen=True)
class Distribution:
    """A wheel or source distribution in `file`, which is imported as `module`."""

    file: Path
    module: str
    report: BuildReport
    loads: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return its contents as plain data."""
        return {
            "file": str(self.file),
            "module": self.module,
            "functions": list(self.report.function_names),
            "formulations": list(self.report.formulations),
            "backends": list(self.report.backends),
            "runtime_parameters": list(self.report.runtime_parameters),
            "loads": list(self.loads),
        }


def build_installed(
    path: str | Path, options: BuildOptions, name: str | None, journal: Journal
) -> BuildReport:
    """Build the model file `path` and install the package, editable, in this environment.

    Raises the errors of `build`, and `RequestError` for an illegal name, or that of another module,
    before anything is built.
    """
    module = _module_name(path, name)
    check_free(module)
    report = build(path, options, journal)
    install(editable(report.folder, module))
    return replace(report, installed_as=module)


def write_wheel(
    path: str | Path,
    options: BuildOptions,
    folder: Path,
    name: str | None,
    version: str | None,
    journal: Journal,
    *,
    as_source: bool = False,
) -> Distribution:
    """Build the model file `path` (in the cache) and write a wheel of it into `folder`.

    `folder` is made if need be.  `as_source` gives a source distribution, which pip compiles at its
    installation.
    """
    module = _module_name(path, name)
    wanted = None if version is None else version_named(version)
    if folder.exists() and not folder.is_dir():
        raise RequestError(f"{folder} is no folder; choose another one with --out")
    built = run(path, options, journal)
    report = built.report
    if as_source:
        setup = Templates(options.templates).source("sdist/setup.py")
        archive = source(report.folder, module, setup, wanted)
    else:
        archive = packed(report.folder, module, wanted)
    target = folder / archive.file_name
    with file_system_errors(f"write {target}"):
        folder.mkdir(parents=True, exist_ok=True)
        check_writable(target)
        write_atomically(target, archive.content)
    loads = tuple(load.name for load in built.description.loads)
    return Distribution(target, module, report, loads)


def _module_name(path: str | Path, name: str | None) -> str:
    """Return `name`, or the default; RequestError if no module can have that name."""
    if name is None:
        return f"{read(path).name}_dynamics"
    problem = illegal_name(name)
    if problem is None and (keyword.issoftkeyword(name) or name in sys.stdlib_module_names):
        problem = f"{name!r} is a name of Python's own; choose another"
    if problem is not None:
        raise RequestError(f"--name: {problem}")
    return name
