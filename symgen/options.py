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
"""Form, in reports, of a kernel that computes several samples at a time in a straight line."""
NATIVE, PORTABLE, BASELINE = "native", "portable", "baseline"
FLAGS = (NATIVE, PORTABLE, BASELINE)
"""For which processors binaries are: this very one; every one of its architecture, with all that
the one they run on has; or with what all of them have."""
LARGEST_READING_ROBOT = 3
"""Up to this many coordinates every formulation is built by default: there they are for reading."""


@dataclass(frozen=True)
class ReadOptions:
    """How a model file in another format is read.

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
        """From what Python gives; a bool of `arguments` is written as xacro does, ``true``."""
        values = {
            name: str(x).lower() if isinstance(x, bool) else str(x)
            for name, x in (arguments or {}).items()
        }
        folders = {name: os.fspath(x) for name, x in (packages or {}).items()}
        given = tuple(folders.items()), tuple(values.items())
        return cls(without_loops, *given, angles, floating_base)


AS_IT_IS = ReadOptions()
"""A file by its own, and all of it."""


@dataclass(frozen=True)
class BuildOptions:
    """Options of a build, as `symgen build` names them.

    `formulations` and `functions` are ``("all",)``, or names, ``"default"`` among them.  `backend`
    is None for compiled code where there is a compiler and NumPy elsewhere. `out` is the folder
    that the package folder goes into; None for the user's cache. `runtime_parameters` are
    ``("all",)``, ``("none",)`` or names of parameters of the model that become arguments. `flags`
    says for which processors binaries are: see `FLAGS`. `form` is how kernels are written: in a
    straight line, in loops where a formulation has them, or by size. A `thorough` build is
    validated by every formulation; else large functions are left to one beside what is built. With
    `equal` every formulation is compiled as the one that serves the top level is, for several
    samples at a time, too: so that times can be compared. With `plain_c` C to be read is written
    whatever the size of the robot; with `casadi` a library for CasADi's C interface is built beside
    the compiled module. `loads` and `points` are added to those of the model: see
    `symgen.description.additions`. `reading` is how its file is read.
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
    reading: ReadOptions = AS_IT_IS

    def __post_init__(self) -> None:
        for what, value, known in (
            ("backend is", self.backend, BACKENDS),
            ("flags are", self.flags, FLAGS),
            ("form is", self.form, FORMS),
        ):
            if value is not None and value not in known:
                raise RequestError(f"no {what} called {value!r}; {suggestion(value, known)}")
        if self.templates is not None and not os.path.isdir(self.templates):
            raise RequestError(f"there is no folder of templates {str(self.templates)!r}")


class LoadOptions(TypedDict, total=False):
    """The options of `symgen.load`: those of a build, as keywords."""

    formulations: str | Iterable[str]
    functions: str | Iterable[str]
    backend: str | None
    runtime_parameters: str | Iterable[str]
    flags: str
    form: str
    templates: str | Path | None
    force: bool
    out: str | Path | None
    thorough: bool
    equal: bool
    plain_c: bool
    casadi: bool
    loads: str | Iterable[str]
    points: str | Iterable[str]
    without_loops: bool
    packages: Mapping[str, str | Path] | None
    arguments: Mapping[str, object] | None
    angles: bool
    floating_base: bool


def names(value: str | Iterable[str]) -> tuple[str, ...]:
    """Names from ``"a,b"`` or from a list of them; RequestError for an empty one."""
    parts = value.split(",") if isinstance(value, str) else list(value)
    result = tuple(part.strip() for part in parts)
    if not all(result) or not result:
        raise RequestError(f"an empty name in {value!r}")
    return tuple(dict.fromkeys(result))
