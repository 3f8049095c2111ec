"""The Cython backend: one readable file with typed arithmetic that releases the GIL."""

from __future__ import annotations

from symgen.emit import wrapper
from symgen.emit.bundle import Extension
from symgen.emit.module import Module
from symgen.emit.printing import CYTHON
from symgen.emit.templates import Templates

NAME = "cython"
LINES_PER_PART = 150
"""About 400 operations: longer functions are no faster, and take longer to compile."""


def files(module: Module, templates: Templates) -> dict[str, str]:
    """Return ``_cython.pyx``, and the C code of calls from Python."""
    functions = sorted({name for kernel in module.kernels for name in kernel.functions})
    solves = any(kernel.hidden for kernel in module.kernels)
    formulations = [
        {**vars(x), "kernels": [kernel.printed(CYTHON, LINES_PER_PART) for kernel in x.kernels]}
        for x in module.formulations
    ]
    source = templates.render(
        "cython/cython.pyx",
        **{
            **module.values(),
            **wrapper.values(module),
            "formulations": formulations,
            "functions": functions,
            "math": [CYTHON.functions[name] for name in functions if name != "sign"]
            + ["NAN"] * solves,
            "solves": solves,
        },
    )
    return {"_cython.pyx": source, **wrapper.files(module, templates)}


def extensions(module: Module) -> tuple[Extension, ...]:
    """Return the extension: one Cython file, linked with the C code of calls from Python."""
    steps, shared = wrapper.mechanism(module), wrapper.shared_sources(module)
    return (Extension("_cython", "_cython.pyx", c_sources=steps, shared=shared),)


def beginnings(module: Module) -> dict[str, dict[str, str]]:
    """Map the first lines of functions of ``_cython.pyx`` to ``formulation.function``."""
    names = [(kernel.formulation, kernel.function.name) for kernel in module.kernels]
    return {"_cython.pyx": {f"_{first}_{second}(": f"{first}.{second}" for first, second in names}}
