"""The compiled backend: kernels in plain C99 with a header, and a Cython wrapper."""

from __future__ import annotations

from symgen.emit import wrapper
from symgen.emit.bundle import Extension
from symgen.emit.kernels import Kernel
from symgen.emit.module import Formulation, Module
from symgen.emit.parts import is_long
from symgen.emit.printing import C
from symgen.emit.templates import Templates

NAME = "compiled"
LINES_PER_PART = 500
"""Some 1500 operations: longer functions gain nothing and cost a compiler more than linear time."""


def files(module: Module, templates: Templates) -> dict[str, str]:
    """The folder ``c`` and ``_compiled.pyx``."""
    robot, values = module.robot, module.values()
    header = {**values, "orders": _orders(module)}
    folder = {f"c/{robot}.h": templates.render("c/header.h", **header)}
    for formulation in module.formulations:
        for name, kernels in _sources(robot, formulation).items():
            functions = {function for kernel in kernels for function in kernel.functions}
            folder[name] = templates.render(
                "c/kernels.c",
                **{
                    **values,
                    "formulation": formulation,
                    "kernels": [kernel.printed(C, LINES_PER_PART) for kernel in kernels],
                    "functions": sorted(functions),
                    "solves": any(kernel.hidden for kernel in kernels),
                    "math": bool(functions - {"sign"} or any(k.hidden for k in kernels)),
                    "parted": any(is_long(kernel.schedule, LINES_PER_PART) for kernel in kernels),
                },
            )
    folder["_compiled.pyx"] = templates.render(
        "c/compiled.pyx", **{**values, **wrapper.values(module)}
    )
    return folder


def extensions(module: Module) -> tuple[Extension, ...]:
    """The wrapper, linked with the kernels."""
    sources = tuple(name for f in module.formulations for name in _sources(module.robot, f))
    return (Extension("_compiled", "_compiled.pyx", sources),)


def _orders(module: Module) -> list[tuple[str, list[str]]]:
    """What a reader of the header must know of the other arrays: titles and entries in order."""
    metadata = module.metadata
    pairs = zip(metadata.parameter_names, metadata.default_parameters, strict=True)
    prescribed = [
        name
        for name, given in zip(metadata.coordinate_names, metadata.prescribed, strict=False)
        if given
    ]
    orders = [
        ("links:", list(metadata.link_names)),
        ("loads:", list(metadata.load_names)),
        ("points:", list(metadata.point_names)),
        ("outputs:", list(metadata.output_names)),
        ("parameters, with their values in the model:", [f"{n} = {x!r}" for n, x in pairs]),
        ("coordinates whose motion is prescribed in hybrid dynamics:", prescribed),
    ]
    return [(title, entries) for title, entries in orders if entries]


def _sources(robot: str, formulation: Formulation) -> dict[str, list[Kernel]]:
    """C files and their kernels: one per formulation to read, and one for every long kernel, so
    that long ones are compiled side by side."""
    main = f"c/{robot}_{formulation.name}"
    sources: dict[str, list[Kernel]] = {}
    for kernel in formulation.kernels:
        long = is_long(kernel.schedule, LINES_PER_PART)
        name = f"{main}_{kernel.function.name}.c" if long else f"{main}.c"
        sources.setdefault(name, []).append(kernel)
    return sources
