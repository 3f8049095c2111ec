"""What the template of the Cython wrapper takes, beside the values of every template."""

from __future__ import annotations

from typing import Any

from symgen.emit.module import Module
from symgen.emit.templates import Templates

OPERATIONS_AT_ONCE = 4_000_000_000
"""What one thread computes before Ctrl-C is looked for: 0.2 s in vectors, a second or two else.  To
look costs a change of hands of the interpreter, and new threads."""


RESULTS = "c/symgen-results.h"
OF_MECHANISMS = ("c/symgen-mechanism.h", "c/symgen-constrained.h")
"""The same for every robot and backend; the second is that of robots with loops or relations."""

MECHANISM_CALLS = (
    "inverse_dynamics_derivatives",
    "constraint_torque_derivatives",
    "constraints",
    "constraint_jacobian",
    "constraint_rates",
    "constraint_bias",
    "constraint_acceleration_derivatives",
    "inverse_dynamics_parameter_derivatives",
    "constraint_torque_parameter_derivatives",
    "constraints_parameter_derivatives",
    "constraint_rates_parameter_derivatives",
    "constraint_acceleration_parameter_derivatives",
    "outputs",
    "outputs_derivatives",
    "mass_matrix",
    "bias_forces",
    "outputs_multiplier_derivatives",
)
"""What functions of mechanisms in C are made of, in the order of ``symgen-mechanism.h``."""
OF_CLOSED = 6, 8
"""Inputs and results of derivatives of accelerations whose loops stay closed."""
WITHOUT_SENSITIVITIES = 6
"""So many of them serve a motion alone."""


def files(module: Module, templates: Templates) -> dict[str, str]:
    """What the wrapper includes."""
    included = (RESULTS, *OF_MECHANISMS) if mechanism_calls(module) else (RESULTS,)
    return {name: templates.source(name) for name in included}


def mechanism_calls(module: Module) -> tuple[str, ...]:
    """`MECHANISM_CALLS` where those that every motion needs were built."""
    built = {f.name for f in module.signatures}
    return MECHANISM_CALLS if built.issuperset(MECHANISM_CALLS[:WITHOUT_SENSITIVITIES]) else ()


def values(module: Module) -> dict[str, Any]:
    """Sizes of the wrapper's tables (at least 1: C has no empty arrays)."""
    functions = module.signatures
    shapes = [shape for f in functions for shape in (*f.input_shapes, *f.result_shapes)]
    options = [array.size for f in functions for array in f.options]
    least_inputs, least_outputs = OF_CLOSED if mechanism_calls(module) else (0, 0)
    return {
        "most_axes": max([1, *map(len, shapes)]),
        "most_inputs": max([1, least_inputs, *(len(f.inputs) for f in functions)]),
        "most_outputs": max([1, least_outputs, *(len(f.results) for f in functions)]),
        "most_zeros": max([1, *options]),
        "number_of_functions": max(1, len(module.kernels) + len(module.packed)),
        "signature_of": {f.name: f for f in functions},
        "most_samples": _most_samples(module),
        "mechanism_calls": mechanism_calls(module),
        "required": {f.name: len(f.arguments) for f in functions},
    }


def _most_samples(module: Module) -> list[int]:
    """By function, packed ones last: a multiple of the samples in a vector."""
    work = {(kernel.formulation, kernel.function.name): kernel.work for kernel in module.kernels}
    every = [*work.values(), *(work[name] for name in module.packed)]
    return [max(8, OPERATIONS_AT_ONCE // max(1, one) // 8 * 8) for one in every]
