"""What the template of the Cython wrapper takes, beside the values of every template."""

from __future__ import annotations

from typing import Any

from symgen.emit.module import Module
from symgen.emit.templates import Templates

OPERATIONS_AT_ONCE = 4_000_000_000
"""What one thread computes before Ctrl-C is looked for: 0.2 s in vectors, a second or two else.  To
look costs a change of hands of the interpreter, and new threads."""


HEADER = "c/symgen-results.h"
"""The same for every robot and backend."""


def files(templates: Templates) -> dict[str, str]:
    """What the wrapper includes."""
    return {HEADER: templates.source(HEADER)}


def values(module: Module) -> dict[str, Any]:
    """Sizes of the wrapper's tables (at least 1: C has no empty arrays)."""
    functions = module.signatures
    shapes = [shape for f in functions for shape in (*f.input_shapes, *f.result_shapes)]
    options = [array.size for f in functions for array in f.options]
    return {
        "most_axes": max([1, *map(len, shapes)]),
        "most_inputs": max([1, *(len(f.inputs) for f in functions)]),
        "most_outputs": max([1, *(len(f.results) for f in functions)]),
        "most_zeros": max([1, *options]),
        "number_of_functions": max(1, len(module.kernels) + len(module.packed)),
        "signature_of": {f.name: f for f in functions},
        "most_samples": _most_samples(module),
        "required": {f.name: len(f.arguments) for f in functions},
    }


def _most_samples(module: Module) -> list[int]:
    """By function, packed ones last: a multiple of the samples in a vector."""
    work = {(kernel.formulation, kernel.function.name): kernel.work for kernel in module.kernels}
    every = [*work.values(), *(work[name] for name in module.packed)]
    return [max(8, OPERATIONS_AT_ONCE // max(1, one) // 8 * 8) for one in every]
