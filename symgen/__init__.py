"""symgen: symbolic code generation for multibody dynamics.

robot = symgen.load("robot.yaml")              # a compiled, validated module
model = symgen.read("robot.yaml")              # the checked description
dyn   = symgen.derive(model, "newton_euler")   # the SymPy view of a formulation
motion = symgen.simulate(robot, q0, qd0, t)    # integrated, with sensitivities where asked
symgen.animate(robot, motion, "motion.html")   # a page that plays it
plan   = symgen.plan(robot, "task.yaml")       # an optimal motion
f      = symgen.jax(robot)                     # for JAX; symgen.torch, symgen.casadi likewise
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from symgen.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Unpack

    from symgen.deriving.symbolic import SymbolicDynamics
    from symgen.description.model import RobotDescription
    from symgen.frameworks.casadi import functions as casadi
    from symgen.frameworks.jax import functions as jax
    from symgen.frameworks.pytorch import functions as torch
    from symgen.grading import Verdict
    from symgen.options import LoadOptions
    from symgen.page.animation import animate
    from symgen.planning.plan import plan
    from symgen.robot import Robot
    from symgen.simulation import simulate
    from symgen.support.journal import Progress

__all__ = [
    "Robot", "__version__", "animate", "casadi", "derive", "grade", "jax", "load", "plan", "read",
    "simulate", "torch",
]  # fmt: skip


_FRAMEWORKS = {"jax": "jax", "torch": "pytorch", "casadi": "casadi"}


def read(
    path: str | Path,
    *,
    without_loops: bool = False,
    packages: Mapping[str, str | Path] | None = None,
    arguments: Mapping[str, object] | None = None,
    angles: bool = False,
    floating_base: bool = False,
) -> RobotDescription:
    """The checked description in the model file `path`; `symgen.errors.ModelError` lists faults.

    With `without_loops` an MJCF or SDF file is read as the open tree, without what closes loops.
    `packages` are folders by name, for ``package://``, ``model://`` and ``$(find ...)`` in files;
    `arguments` are those of a xacro file.  Free bodies and balls of other formats have quaternions;
    with `angles` three angles, about z, y and x.  With `floating_base` the root link of a URDF or
    SDF robot moves freely, instead of being the base.
    """
    from symgen import description
    from symgen.options import ReadOptions

    return description.read(
        path, ReadOptions.of(without_loops, packages, arguments, angles, floating_base)
    )


def load(
    path: str | Path, *, progress: Progress | None = None, **options: Unpack[LoadOptions]
) -> Robot:
    """The generated module of the model file `path`, built when needed (cached per user).

    `options` are those of `symgen build`, as keywords: `formulations`, `functions` (names
    separated by commas, or a list), `runtime_parameters` (names, ``"all"`` or ``"none"``),
    `backend`, `flags`, `form`, `templates`, `force`, `plain_c`, `casadi`; `loads` and `points`,
    each ``LINK`` or ``LINK:x,y,z``; `without_loops`, `packages` and `arguments` (see `read`); and
    `out`, the folder to build into instead of the cache.  `progress(what, done, total)` hears how
    far a build is; `total` is 0 where it is not known.

    The module is named by its build (`symgen.loaded`), so that its functions can be pickled: other
    processes of this user find the same build in the cache.  A UserWarning names parts of the
    model file that symgen leaves out, or takes for a slip.
    """
    import warnings

    from symgen import loaded
    from symgen.errors import RequestError
    from symgen.options import BuildOptions, LoadOptions, ReadOptions, names
    from symgen.pipeline.building import build
    from symgen.support.journal import Journal, silent
    from symgen.support.suggestions import suggestion

    given: dict[str, Any] = {**options}
    known = ["progress", *LoadOptions.__annotations__]
    for key in given:
        if key not in known:
            raise RequestError(f"load() has no option {key!r}; {suggestion(key, known)}")
    for key in ("formulations", "functions", "runtime_parameters"):
        if key in given:
            given[key] = names(given[key])
    for key in ("loads", "points"):
        if key in given:
            given[key] = (given[key],) if isinstance(given[key], str) else tuple(given[key])
    for key in ("out", "templates"):
        if given.get(key) is not None:
            given[key] = Path(given[key])
    reading = {key: given.pop(key) for key in ReadOptions.__annotations__ if key in given}
    chosen = BuildOptions(reading=ReadOptions.of(**reading), **given)
    report = build(path, chosen, Journal(progress or silent))
    for notice in report.notices:
        if notice.startswith("warning: "):
            warnings.warn(notice.removeprefix("warning: "), stacklevel=2)
    return cast("Robot", loaded.load(report.folder))


def derive(model: RobotDescription | str | Path, formulation: str) -> SymbolicDynamics:
    """The functions of `model` by one formulation, as SymPy expressions with named parameters.

    `model` is what `read` returned, or the path of a model file.
    """
    from symgen.deriving.symbolic import derive_symbolically

    description = read(model) if isinstance(model, str | Path) else model
    return derive_symbolically(description, formulation)


def grade(
    model: RobotDescription | str | Path,
    answer: str,
    file: str = "answer",
    *,
    progress: Progress | None = None,
) -> Verdict:
    """Compare a student's `answer` (the text of a file or cell) with the truth about `model`.

    Lines are such as ``M[1,2] = I2 + m2*l2**2``; see `symgen.grading.answer`.  `file` is what
    messages call it.  `progress(what, done, total)` hears of every line before it is graded.
    Raises `symgen.errors.ModelError` for lines that cannot be understood.
    """
    from symgen import grading
    from symgen.support.journal import silent

    description = read(model) if isinstance(model, str | Path) else model
    return grading.grade(description, answer, file, progress or silent)


if not TYPE_CHECKING:  # it would allow any name

    def __getattr__(name: str) -> Any:
        """Import a name when it is asked for: `simulate` needs NumPy, the rest does without.

        It is the function itself, so that ``help`` and ``inspect.signature`` show what it takes.
        """
        if name == "simulate":
            from symgen.simulation import simulate

            return simulate
        if name == "animate":
            from symgen.page.animation import animate

            return animate
        if name in _FRAMEWORKS:
            return import_module(f"symgen.frameworks.{_FRAMEWORKS[name]}").functions
        if name == "plan":
            from symgen.planning.plan import plan

            return plan
        if name == "Robot":
            from symgen.robot import Robot

            return Robot
        if name == "errors":
            return import_module("symgen.errors")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_hint(name)}")

    def _hint(name: str) -> str:
        from difflib import get_close_matches

        if name == "build":
            return "; symgen.load(FILE) builds a module and imports it"
        near = get_close_matches(name, __all__, 1)
        return f"; did you mean {near[0]!r}?" if near else ""


def __dir__() -> list[str]:
    return sorted([*__all__, "errors"])
