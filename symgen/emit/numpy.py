"""The NumPy backend: readable arithmetic, part of every package, needs no compiler."""

from __future__ import annotations

from symgen.emit.bundle import Extension
from symgen.emit.module import Formulation, Module
from symgen.emit.printing import NUMPY
from symgen.emit.templates import Templates

NAME = "numpy"
LINES_PER_FUNCTION = 20_000
"""Python's compiler is linear in the length of a function, so that long ones are left whole."""

_ANALYTIC = ("abs", "atan2", "sign")


def files(module: Module, templates: Templates) -> dict[str, str]:
    """The folder ``_numpy``: one module of arithmetic per formulation."""
    values = module.values()
    folder = {
        "_numpy/__init__.py": templates.render("numpy/__init__.py", **values),
        "_numpy/_analytic.py": templates.source("numpy/_analytic.py"),
    }
    for formulation in module.formulations:
        folder[f"_numpy/{formulation.name}.py"] = templates.render(
            "numpy/formulation.py",
            **{
                **values,
                "formulation": formulation,
                "kernels": [k.printed(NUMPY, LINES_PER_FUNCTION) for k in formulation.kernels],
                "numpy_functions": _imports(formulation, analytic=False),
                "analytic_functions": _imports(formulation, analytic=True),
            },
        )
    return folder


def extensions(module: Module) -> tuple[Extension, ...]:
    """Nothing to compile."""
    return ()


def _imports(formulation: Formulation, analytic: bool) -> list[str]:
    used = {name for kernel in formulation.kernels for name in kernel.functions}
    return sorted(NUMPY.functions[name] for name in used if (name in _ANALYTIC) == analytic)
