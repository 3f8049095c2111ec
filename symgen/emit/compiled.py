"""The compiled backend: kernels in C99 with a header, and a module of Python around them.

A kernel is printed once, for one sample or several at a time: see ``symgen-real.h`` among the
templates, and ``symgen-loops.h`` for loops over joints.  ``symgen-rows.h`` passes rows of NumPy
arrays to kernels for several samples, and ``<robot>_batch.c`` chooses versions by processor and
distributes long batches to threads.  ``symgen-calls.c`` handles calls from Python, by tables of the
functions.  Files that are the same for every robot have names that no robot can have.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from symgen.emit import wrapper
from symgen.emit.bundle import Extension
from symgen.emit.kernels import Kernel
from symgen.emit.module import Formulation, Module
from symgen.emit.parts import is_long
from symgen.emit.printing import C
from symgen.emit.rolled import RolledKernel
from symgen.emit.templates import Templates

NAME = "compiled"
LINES_PER_PART = 150
"""About 400 operations: longer functions are no faster, and take longer to compile."""

MOST_SLOTS = 2**14
"""Largest workspace of kernels for several samples: for eight of them it takes 1 MiB of a thread's
stack."""

EVERYWHERE = ""
FOR_ONE_SAMPLE = "SYMGEN_WIDTH == 1"
PLAIN = "!defined SYMGEN_VARIANT"
"""Versions that a kernel is compiled in, as a condition of the preprocessor."""

VERBATIM = ("c/symgen-real.h", "c/symgen-loops.h", "c/symgen-rows.h")
"""Templates that are equal for every robot."""


def files(module: Module, templates: Templates) -> dict[str, str]:
    """Return the folder ``c`` and ``_compiled.c``."""
    robot, guards = module.robot, _guards(module)
    values = {**module.values(), **wrapper.values(module), "guards": guards}
    rows = {
        "guarded": [
            (guard, [kernel for kernel in module.kernels if guards[_name(kernel)] == guard])
            for guard in (EVERYWHERE, FOR_ONE_SAMPLE, PLAIN)
            if guard in guards.values()
        ],
        "most_arrays": max(values["most_inputs"], values["most_outputs"]),
    }
    folder = {name: templates.source(name) for name in VERBATIM}
    folder[f"c/{robot}.h"] = templates.render("c/header.h", **values, orders=_orders(module))
    folder[f"c/{robot}_rows.c"] = templates.render("c/rows.c", **values, **rows)
    folder[f"c/{robot}_batch.h"] = templates.render("c/batch.h", **values)
    work = {_name(kernel): kernel.work for kernel in module.kernels}
    packed = {name: work[name] for name in module.packed}
    folder[f"c/{robot}_batch.c"] = templates.render("c/batch.c", **values, work=packed)
    for formulation in module.formulations:
        of_formulation = {**values, "formulation": formulation}
        for name, kernels in _sources(robot, formulation).items():
            folder[name] = _source(kernels, of_formulation, templates, module.bodies)
    folder["_compiled.c"] = templates.render("c/compiled.c", **values)
    folder.update(wrapper.files(module, templates))
    return folder


def alone(module: Module, templates: Templates) -> dict[tuple[str, str], str]:
    """Return the C file of each kernel alone, by formulation and function, without equations."""
    values = {**module.values(), "guards": dict.fromkeys(map(_name, module.kernels), EVERYWHERE)}
    return {
        _name(kernel): _source([kernel], {**values, "formulation": without_notes}, templates)
        for without_notes in (replace(x, notes="") for x in module.formulations)
        for kernel in without_notes.kernels
        if not kernel.paths
    }


def _source(
    kernels: Sequence[Kernel],
    values: Mapping[str, Any],
    templates: Templates,
    bodies: Mapping[tuple[str, str], str] | None = None,
) -> str:
    """Print a C file of straight-line kernels, or of one kernel in loops or in both forms."""
    kernel = kernels[0]
    remark = _IN_LOOPS if kernel.batches_in_loops else _IN_BOTH if kernel.rolled else ""
    heading = templates.render("c/heading.c", **values, remark=remark)
    printed = (bodies or {}).get(_name(kernel))
    return heading + (printed or body(kernels, values, templates))


_IN_LOOPS = "In loops: see symgen-loops.h."
_IN_BOTH = "One sample in loops (see symgen-loops.h), several in a straight line."


def body(kernels: Sequence[Kernel], values: Mapping[str, Any], templates: Templates) -> str:
    """Print a C file without its heading, which lists the equations of the whole formulation."""

    def straight() -> str:
        printed = [kernel.printed(C, LINES_PER_PART) for kernel in kernels]
        return templates.render("c/kernels.c", **{**values, "kernels": printed})

    kernel = kernels[0]
    if kernel.rolled is None:
        return straight()
    printed = RolledKernel(kernel, kernel.rolled).printed(C, LINES_PER_PART)
    looped = templates.render("c/loops.c", **values, printed=printed)
    if kernel.batches_in_loops:
        return looped
    return templates.render("c/forms.c", one=looped, several=straight())


def extensions(module: Module) -> tuple[Extension, ...]:
    """Return the extension module, linked with the kernels."""
    robot, guards = module.robot, _guards(module)
    sources = {n: k for f in module.formulations for n, k in _sources(robot, f).items()}
    rows, chooser = f"c/{robot}_rows.c", f"c/{robot}_batch.c"
    for_versions: dict[str, list[str]] = {EVERYWHERE: [rows], FOR_ONE_SAMPLE: []}
    for name, kernels in sources.items():
        needed = {guards[_name(kernel)] for kernel in kernels}
        widest = next((guard for guard in for_versions if guard in needed), PLAIN)
        if widest != PLAIN:
            for_versions[widest].append(name)
    return (
        Extension(
            name="_compiled",
            source="_compiled.c",
            c_sources=(*sources, rows, chooser, *wrapper.mechanism(module)),
            shared=wrapper.shared_sources(module),
            versioned=tuple(for_versions[EVERYWHERE]),
            versioned_for_one=tuple(for_versions[FOR_ONE_SAMPLE]),
            chooser=chooser,
            straight=tuple(name for name, kernels in sources.items() if kernels[0].rolled is None),
        ),
    )


def sources_of(module: Module, kernels: Collection[Kernel]) -> tuple[str, ...]:
    """Return the C files of these kernels."""
    wanted = {_name(kernel) for kernel in kernels}
    return tuple(
        name
        for formulation in module.formulations
        for name, inside in _sources(module.robot, formulation).items()
        if wanted & {_name(kernel) for kernel in inside}
    )


def _name(kernel: Kernel) -> tuple[str, str]:
    return kernel.formulation, kernel.function.name


def _guards(module: Module) -> dict[tuple[str, str], str]:
    """Return the versions that each kernel is compiled in, by formulation and function."""
    serving = {
        (function.formulation, function.name) for function in (*module.functions, *module.by_link)
    }
    equal = module.package.equal
    return {
        _name(kernel): guard(kernel, _name(kernel) in serving, equal) for kernel in module.kernels
    }


def guard(kernel: Kernel, serves: bool, equal: bool) -> str:
    """Return the versions that a kernel is compiled in.

    Kernels that serve the top level have all versions.  Other formulations (unless the package
    treats them as `equal`) and functions `for_reading` have the plain version alone.
    """
    if not equal and (kernel.function.for_reading or not serves):
        return PLAIN
    slots = (
        RolledKernel(kernel, kernel.rolled).slots
        if kernel.rolled and kernel.batches_in_loops
        else kernel.body.split(LINES_PER_PART).slots
    )
    return EVERYWHERE if slots <= MOST_SLOTS else FOR_ONE_SAMPLE


def _orders(module: Module) -> list[tuple[str, list[str]]]:
    """Return the order of the entries of arrays, with titles, for readers of the header."""
    metadata = module.metadata
    pairs = zip(metadata.parameter_names, metadata.default_parameters, strict=True)
    prescribed = [
        name
        for name, is_prescribed in zip(metadata.coordinate_names, metadata.prescribed, strict=False)
        if is_prescribed
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


def beginnings(module: Module) -> dict[str, dict[str, str]]:
    """Map C files to text in the first line of a function -> ``formulation.function``."""
    return {
        name: {
            beginning: f"{formulation.name}.{kernel.function.name}"
            for kernel in kernels
            for beginning in (
                f"_{formulation.name}_{kernel.function.name})(",
                f"_of_{kernel.function.name}(",
            )
        }
        for formulation in module.formulations
        for name, kernels in _sources(module.robot, formulation).items()
    }


def _sources(robot: str, formulation: Formulation) -> dict[str, list[Kernel]]:
    """Return C files and their kernels: one file per formulation, and one for every kernel that is
    long or in loops, so that these are compiled in parallel."""
    main = f"c/{robot}_{formulation.name}"
    sources: dict[str, list[Kernel]] = {}
    for kernel in formulation.kernels:
        name = source_alone(robot, kernel) or f"{main}.c"
        sources.setdefault(name, []).append(kernel)
    return sources


def source_alone(robot: str, kernel: Kernel) -> str:
    """Return the name of the C file that holds `kernel` alone; "" if it shares a file."""
    is_separate = kernel.rolled or kernel.paths or is_long(kernel.schedule, LINES_PER_PART)
    return f"c/{robot}_{kernel.formulation}_{kernel.function.name}.c" if is_separate else ""
