"""The compiled backend: kernels in plain C99 with a header, and a Cython wrapper."""

from __future__ import annotations

from symgen.emit import wrapper
from symgen.emit.bundle import Extension
from symgen.emit.module import Module
from symgen.emit.printing import C
from symgen.emit.templates import Templates

NAME = "compiled"
LINES_PER_PART = 500
"""Some 1500 operations: longer functions gain nothing and cost a compiler more than linear time."""


def files(module: Module, templates: Templates) -> dict[str, str]:
    """The folder ``c`` and ``_compiled.pyx``."""
    robot, values = module.robot, module.values()
    folder = {f"c/{robot}.h": templates.render("c/header.h", **values)}
    for formulation in module.formulations:
        kernels = [kernel.printed(C, LINES_PER_PART) for kernel in formulation.kernels]
        functions = {name for kernel in formulation.kernels for name in kernel.functions}
        folder[f"c/{robot}_{formulation.name}.c"] = templates.render(
            "c/kernels.c",
            **{
                **values,
                "formulation": formulation,
                "kernels": kernels,
                "functions": sorted(functions),
                "math": bool(functions - {"sign"}),
                "parted": any(len(kernel.parts) > 1 for kernel in kernels),
            },
        )
    folder["_compiled.pyx"] = templates.render(
        "c/compiled.pyx", **{**values, **wrapper.values(module)}
    )
    return folder


def extensions(module: Module) -> tuple[Extension, ...]:
    """The wrapper, linked with the kernels."""
    sources = tuple(f"c/{module.robot}_{f.name}.c" for f in module.formulations)
    return (Extension("_compiled", "_compiled.pyx", sources),)
