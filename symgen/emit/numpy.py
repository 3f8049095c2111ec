"""The NumPy backend: readable arithmetic without a compiler, in every package."""

from __future__ import annotations

from symgen.emit.bundle import Extension
from symgen.emit.kernels import Kernel, PrintedKernel
from symgen.emit.module import Formulation, Module
from symgen.emit.printing import NUMPY
from symgen.emit.rolled import PrintedRolled, RolledKernel
from symgen.emit.templates import Templates

NAME = "numpy"
LINES_PER_FUNCTION = 20_000
"""Python compiles long functions in linear time, so that few are split."""

_ANALYTIC = ("abs", "atan2", "sign")


def files(module: Module, templates: Templates) -> dict[str, str]:
    """Return the folder ``_numpy``: one module of arithmetic per formulation."""
    values = module.values()
    folder = {
        "_numpy/__init__.py": templates.render("numpy/__init__.py", **values),
        "_numpy/_analytic.py": templates.source("numpy/_analytic.py"),
    }
    if any(_in_loops(kernel) for kernel in module.kernels):
        folder["_numpy/_loops.py"] = templates.source("numpy/_loops.py")
    for formulation in module.formulations:
        kernels = [_printed(kernel) for kernel in formulation.kernels]
        folder[f"_numpy/{formulation.name}.py"] = templates.render(
            "numpy/formulation.py",
            **{
                **values,
                "formulation": formulation,
                "kernels": kernels,
                "loops": next((k.loops for k in kernels if isinstance(k, PrintedRolled)), None),
                "numpy_functions": _imports(formulation, analytic=False),
                "analytic_functions": _imports(formulation, analytic=True),
            },
        )
    return folder


def extensions(module: Module) -> tuple[Extension, ...]:
    """Return none: nothing is compiled."""
    return ()


def beginnings(module: Module) -> dict[str, dict[str, str]]:
    """Return none: nothing is compiled."""
    return {}


def _in_loops(kernel: Kernel) -> bool:
    return kernel.batches_in_loops or kernel.line is None


def _printed(kernel: Kernel) -> PrintedKernel | PrintedRolled:
    if kernel.rolled is None or not _in_loops(kernel):
        return kernel.printed(NUMPY, LINES_PER_FUNCTION)
    return RolledKernel(kernel, kernel.rolled, padded=False).printed(NUMPY, LINES_PER_FUNCTION)


def _imports(formulation: Formulation, analytic: bool) -> list[str]:
    used = {name for kernel in formulation.kernels for name in kernel.functions}
    return sorted(NUMPY.functions[name] for name in used if (name in _ANALYTIC) == analytic)
