"""symgen: symbolic code generation for multibody dynamics.

robot = symgen.load("robot.yaml")              # a compiled, validated module
model = symgen.read("robot.yaml")              # the checked description
dyn   = symgen.derive(model, "newton_euler")   # the SymPy view of a formulation
motion = symgen.simulate(robot, q0, qd0, t)    # integrated, with sensitivities where asked
rest   = symgen.equilibrium(robot)             # where forces are balanced, with derivatives
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
    from symgen.simulation.equilibrium import equilibrium
    from symgen.simulation.natural_states import to_joints, to_natural
    from symgen.support.journal import Progress

__all__ = [
    "Robot", "__version__", "animate", "casadi", "derive", "equilibrium", "grade", "jax", "load",
    "plan", "read", "simulate", "to_joints", "to_natural", "torch",
]  # fmt: skip


_LAZY = {
    "Robot": ("robot", "Robot"), "animate": ("page.animation", "animate"),
    "casadi": ("frameworks.casadi", "functions"),
    "equilibrium": ("simulation.equilibrium", "equilibrium"),
    "jax": ("frameworks.jax", "functions"), "plan": ("planning.plan", "plan"),
    "to_joints": ("simulation.natural_states", "to_joints"),
    "to_natural": ("simulation.natural_states", "to_natural"),
    "simulate": ("simulation", "simulate"), "torch": ("frameworks.pytorch", "functions"),
}  # fmt: skip
"""Module and attribute of names that are imported at their first use."""


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

    With `without_loops`, constraints of an MJCF or SDF file that close loops are left out.
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
    """Return the generated module of the model file `path`, built if need be (cached per user).

    `options` are those of `symgen build`, as keywords: `formulations`, `functions` (names
    separated by commas, or a list), `runtime_parameters` (names, ``"all"`` or ``"none"``),
    `backend`, `flags`, `form`, `templates`, `force`, `plain_c`, `casadi`; `loads` and `points`,
    each ``LINK`` or ``LINK:x,y,z``; `without_loops`, `packages` and `arguments` (see `read`); and
    `out`, the folder to build into instead of the cache.  None is the default of each.
    `progress(stage, done, total)` is called during the build; `total` is 0 if it is unknown.

    The module is named by its build (`symgen.loaded`), so that its functions can be pickled: other
    processes of this user load the same build from the cache.  A UserWarning names parts of the
    model file that symgen leaves out, or that look like mistakes.
    """
    import warnings

    from symgen import loaded
    from symgen.errors import RequestError
    from symgen.options import NONE, BuildOptions, LoadOptions, ReadOptions, names
    from symgen.pipeline.building import build
    from symgen.support.journal import Journal, silent
    from symgen.support.suggestions import suggestion

    legal = ["progress", *LoadOptions.__annotations__]
    for key in options:
        if key not in legal:
            raise RequestError(f"load() has no option {key!r}; {suggestion(key, legal)}")
    values: dict[str, Any] = {key: x for key, x in options.items() if x is not None}
    for key, value in values.items():
        if key in ("formulations", "functions", "runtime_parameters"):
            is_none = key == "runtime_parameters" and value in ((), [])
            values[key] = names(NONE if is_none else cast("str", value))
        elif key in ("loads", "points"):
            values[key] = (value,) if isinstance(value, str) else tuple(cast("list[str]", value))
        elif key in ("out", "templates"):
            values[key] = Path(cast("str", value))
    reading = {key: values.pop(key) for key in ReadOptions.__annotations__ if key in values}
    chosen = BuildOptions(reading=ReadOptions.of(**reading), **values)
    report = build(path, chosen, Journal(progress or silent))
    for notice in report.notices:
        if notice.startswith("warning: "):
            warnings.warn(notice.removeprefix("warning: "), stacklevel=2)
    return cast("Robot", loaded.load(report.folder))


def derive(model: RobotDescription | str | Path, formulation: str) -> SymbolicDynamics:
    """Derive the functions of `model` by one formulation, as SymPy expressions with parameters.

    `model` is a result of `read`, or the path of a model file.
    """
    from symgen.deriving.symbolic import derive_symbolically

    return derive_symbolically(_description(model), formulation)


def grade(
    model: RobotDescription | str | Path,
    answer: str | Path,
    file: str = "answer",
    *,
    progress: Progress | None = None,
) -> Verdict:
    """Grade a student's `answer` (a text, or the `pathlib.Path` of a file) about `model`.

    Lines are such as ``M[1,2] = I2 + m2*l2**2``; see `symgen.grading.answer`.  `file` names the
    answer in messages.  `progress(line, done, total)` is called before each line is graded.
    Raises `symgen.errors.ModelError` for faults of the model file and files that cannot be read,
    `symgen.errors.RequestError` where the text is a file name.
    """
    from symgen import grading
    from symgen.grading.answer import text_of
    from symgen.support.journal import silent

    return grading.grade(_description(model), text_of(answer), file, progress or silent)


def _description(model: RobotDescription | str | Path) -> RobotDescription:
    """Return a description, read from a model file unless it is read already."""
    from symgen import description
    from symgen.errors import RequestError

    if isinstance(model, description.RobotDescription):
        return model
    if isinstance(model, str | Path):
        return read(model)
    raise RequestError(
        f"expected a model file or a result of symgen.read, found {type(model).__name__}"
    )


if not TYPE_CHECKING:  # it would allow any name

    def __getattr__(name: str) -> Any:
        """Import a name at its first use.

        Functions are returned themselves, so that ``help`` and ``inspect.signature`` work.
        """
        if name in _LAZY:
            module, attribute = _LAZY[name]
            return getattr(import_module(f"symgen.{module}"), attribute)
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
