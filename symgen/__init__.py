"""symgen: symbolic code generation for multibody dynamics.

robot = symgen.load("robot.yaml")              # a compiled, validated module
model = symgen.read("robot.yaml")              # the checked description
dyn   = symgen.derive(model, "newton_euler")   # the SymPy view of a formulation
motion = symgen.simulate(robot, q0, qd0, t)    # integrated, with sensitivities where asked
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from symgen.version import __version__

if TYPE_CHECKING:
    from symgen.deriving.symbolic import SymbolicDynamics
    from symgen.description.model import RobotDescription
    from symgen.grading import Verdict
    from symgen.simulation import simulate

__all__ = ["__version__", "derive", "grade", "load", "read", "simulate"]


def read(path: str | Path) -> RobotDescription:
    """The checked description in the model file `path`; `symgen.errors.ModelError` lists faults."""
    from symgen import description

    return description.read(path)


def load(path: str | Path, **options: Any) -> ModuleType:
    """The generated module of the model file `path`, built when needed (cached per user).

    `options` are those of `symgen build`, as keywords: `formulations`, `functions` (names
    separated by commas, or a list), `runtime_parameters` (names, ``"all"`` or ``"none"``),
    `backend`, `flags`, `form`, `templates`, `force`; and `out`, the folder to build into instead of
    the cache.
    """
    from dataclasses import fields

    from symgen.errors import RequestError
    from symgen.options import BuildOptions, names
    from symgen.pipeline.building import build
    from symgen.support.suggestions import suggestion
    from symgen.toolchain.loading import load_package

    known = [field.name for field in fields(BuildOptions)]
    for key in options:
        if key not in known:
            raise RequestError(f"load() has no option {key!r}; {suggestion(key, known)}")
    for key in ("formulations", "functions", "runtime_parameters"):
        if key in options:
            options[key] = names(options[key])
    for key in ("out", "templates"):
        if options.get(key) is not None:
            options[key] = Path(options[key])
    return load_package(build(path, BuildOptions(**options)).folder)


def derive(model: RobotDescription | str | Path, formulation: str) -> SymbolicDynamics:
    """The functions of `model` by one formulation, as SymPy expressions with named parameters.

    `model` is what `read` returned, or the path of a model file.
    """
    from symgen.deriving.symbolic import derive_symbolically

    description = read(model) if isinstance(model, str | Path) else model
    return derive_symbolically(description, formulation)


def grade(model: RobotDescription | str | Path, answer: str, file: str = "answer") -> Verdict:
    """Compare a student's `answer` (the text of a file or cell) with the truth about `model`.

    Lines are such as ``M[1,2] = I2 + m2*l2**2``; see `symgen.grading.answer`.  `file` is what
    messages call it.  Raises `symgen.errors.ModelError` for lines that cannot be understood.
    """
    from symgen import grading

    description = read(model) if isinstance(model, str | Path) else model
    return grading.grade(description, answer, file)


if not TYPE_CHECKING:  # it would allow any name

    def __getattr__(name: str) -> Any:
        """`simulate`, imported when it is asked for: it needs NumPy, which the rest does without.

        It is the function itself, so that ``help`` and ``inspect.signature`` show what it takes.
        """
        if name != "simulate":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from symgen.simulation import simulate

        return simulate


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
