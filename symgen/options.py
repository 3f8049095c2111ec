"""Options of a build.  The command line and `symgen.load` fill in the same dataclass."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from symgen.errors import RequestError
from symgen.support.suggestions import suggestion

DEFAULT, ALL = "default", "all"
NONE = "none"
BACKENDS = ("compiled", "cython", "numpy", ALL)
AUTO, STRAIGHT, LOOPS = "auto", "straight", "loops"
FORMS = (AUTO, STRAIGHT, LOOPS)
ONE_IN_LOOPS = "loops for one sample"
"""Form, in reports, of a kernel with loops for one sample and straight-line code for several."""
NATIVE, PORTABLE, BASELINE = "native", "portable", "baseline"
FLAGS = (NATIVE, PORTABLE, BASELINE)
"""Processors of binaries: this one; all of its architecture, with the best instructions of the one
that runs them; all, with instructions that every one has."""
LARGEST_READING_ROBOT = 3
"""Largest number of coordinates for which all formulations are built by default, for reading."""


@dataclass(frozen=True)
class ReadOptions:
    """Options of reading a model file in another format.

    With `without_loops` the constraints and tendons of an MJCF file, and the joints that close
    loops in an SDF file, are left out.  With `floating_base` the root link of a URDF or SDF
    robot moves freely, instead of being the base.  With `angles` free bodies and balls of URDF,
    SDF and MJCF have three angles instead of quaternions.  `packages` are names of packages with
    their folders, for ``package://``, ``model://`` and ``$(find ...)``; `arguments` names and
    values of the arguments of a xacro file.
    """

    without_loops: bool = False
    packages: tuple[tuple[str, str], ...] = ()
    arguments: tuple[tuple[str, str], ...] = ()
    angles: bool = False
    floating_base: bool = False

    @classmethod
    def of(
        cls,
        without_loops: bool = False,
        packages: Mapping[str, str | Path] | None = None,
        arguments: Mapping[str, object] | None = None,
        angles: bool = False,
        floating_base: bool = False,
    ) -> ReadOptions:
        """Make options from Python values; a bool of `arguments` becomes ``true`` or ``false``."""
        values = {
            name: str(x).lower() if isinstance(x, bool) else str(x)
            for name, x in (arguments or {}).items()
        }
        folders = {name: os.fspath(x) for name, x in (packages or {}).items()}
        pairs = tuple(folders.items()), tuple(values.items())
        return cls(without_loops, *pairs, angles, floating_base)


UNCHANGED = ReadOptions()
"""The default options of reading a file."""


@dataclass(frozen=True)
class BuildOptions:
    """Options of a build, with the names of `symgen build`.

    `formulations` and `functions` are ``("all",)``, or names, which may include ``"default"``.
    `backend` None means compiled code if there is a compiler, else NumPy.  `out` is the parent of
    the package folder; None for the user's cache.  `runtime_parameters` are ``("all",)``,
    ``("none",)`` or names of parameters that become arguments.  For `flags` see `FLAGS`.  `form`
    selects straight-line code, loops if a formulation has them, or either by size.  A `thorough`
    build is validated by all formulations; else large functions by one besides the built ones.
    With `equal`, all formulations are compiled for several samples at a time, so that times can be
    compared.  With `plain_c`, readable C is written for robots of any size; with `casadi`, a
    library for CasADi's C interface is built, too.  `loads` and `points` are added to those of the
    model: see `symgen.description.additions`.  `reading` holds options of reading the file.
    """

    formulations: tuple[str, ...] = (DEFAULT,)
    functions: tuple[str, ...] = (DEFAULT,)
    backend: str | None = None
    runtime_parameters: tuple[str, ...] = (NONE,)
    flags: str = NATIVE
    form: str = AUTO
    templates: Path | None = None
    force: bool = False
    out: Path | None = None
    thorough: bool = False
    equal: bool = False
    plain_c: bool = False
    casadi: bool = False
    loads: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    reading: ReadOptions = UNCHANGED

    def __post_init__(self) -> None:
        for kind, value, choices in (
            ("backend is", self.backend, BACKENDS),
            ("flags are", self.flags, FLAGS),
            ("form is", self.form, FORMS),
        ):
            if value is not None and value not in choices:
                raise RequestError(f"no {kind} called {value!r}; {suggestion(value, choices)}")
        if self.templates is not None and not os.path.isdir(self.templates):
            raise RequestError(f"there is no folder of templates {str(self.templates)!r}")


class LoadOptions(TypedDict, total=False):
    """The options of `symgen.load`: those of a build, as keywords."""

    formulations: str | Iterable[str] | None
    functions: str | Iterable[str] | None
    backend: str | None
    runtime_parameters: str | Iterable[str] | None
    flags: str | None
    form: str | None
    templates: str | Path | None
    force: bool | None
    out: str | Path | None
    thorough: bool | None
    equal: bool | None
    plain_c: bool | None
    casadi: bool | None
    loads: str | Iterable[str] | None
    points: str | Iterable[str] | None
    without_loops: bool | None
    packages: Mapping[str, str | Path] | None
    arguments: Mapping[str, object] | None
    angles: bool | None
    floating_base: bool | None


def names(value: str | Iterable[str]) -> tuple[str, ...]:
    """Return names from ``"a,b"`` or a list; RequestError for an empty one."""
    parts = value.split(",") if isinstance(value, str) else list(value)
    result = tuple(part.strip() for part in parts)
    if not all(result) or not result:
        raise RequestError(f"expected one name or more, separated by commas; found {value!r}")
    return tuple(dict.fromkeys(result))
