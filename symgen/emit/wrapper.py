"""Calls of compiled backends from Python: tables of functions, and the C code that reads them."""

from __future__ import annotations

from typing import Any

from symgen.emit.module import Module
from symgen.emit.templates import Templates

OPERATIONS_AT_ONCE = 4_000_000_000
"""Operations of a thread between two checks for Ctrl-C: 0.2 s in vectors, 1 to 2 s otherwise.  A
check takes the interpreter lock and new threads."""

CALLS = (
    "c/python/symgen-calls.h", "c/python/symgen-functions.h", "c/python/symgen-calls.c",
    "c/symgen-results.h",
)  # fmt: skip
MOTIONS = (
    "c/symgen-manifolds.h", "c/symgen-elimination.h", "c/symgen-penalty.h", "c/symgen-mechanism.h",
    "c/symgen-sensitivities.h", "c/symgen-constrained.h", "c/python/symgen-motions.h",
    "c/python/symgen-motions.c",
)  # fmt: skip
"""Templates that are equal for every robot and backend; `MOTIONS` for loops or relations.  Files
that need Python have their own folder: ``c/*.c`` works in any program."""

MECHANISM_CALLS = (
    "inverse_dynamics_derivatives", "constraint_torque_derivatives", "constraints",
    "constraint_jacobian", "constraint_rates", "constraint_bias",
    "constraint_acceleration_derivatives", "constraint_rate_derivatives",
    "inverse_dynamics_parameter_derivatives",
    "constraint_torque_parameter_derivatives", "constraints_parameter_derivatives",
    "constraint_rates_parameter_derivatives", "constraint_acceleration_parameter_derivatives",
    "outputs", "outputs_derivatives", "mass_matrix", "bias_forces",
    "outputs_multiplier_derivatives",
)  # fmt: skip
"""Functions that the C code of mechanisms calls, in the order of ``symgen-mechanism.h``."""
WITHOUT_SENSITIVITIES = 6
"""Number of them that a motion without sensitivities needs."""


def files(module: Module, templates: Templates) -> dict[str, str]:
    """Return the tables of functions, and the C code of calls."""
    facts = {**module.values(), **values(module)}
    shared = (*CALLS, *MOTIONS) if mechanism_calls(module) else CALLS
    files_of_c = {name: templates.source(name) for name in shared}
    files_of_c[f"c/python/{module.robot}_calls.h"] = templates.render("c/python/calls.h", **facts)
    for name in mechanism(module):
        files_of_c[name] = templates.render("c/mechanism.c", **facts)
    return files_of_c


def shared_sources(module: Module) -> tuple[str, ...]:
    """Return the C files that are equal for every robot."""
    shared = (*CALLS, *MOTIONS) if mechanism_calls(module) else CALLS
    return tuple(name for name in shared if name.endswith(".c"))


def mechanism(module: Module) -> tuple[str, ...]:
    """Return the name of the C file with the steps of a mechanism, if the robot is one."""
    return (f"c/{module.robot}_mechanism.c",) if mechanism_calls(module) else ()


def mechanism_calls(module: Module) -> tuple[str, ...]:
    """Return `MECHANISM_CALLS` if those that every motion needs were built."""
    built = {f.name for f in module.signatures}
    return MECHANISM_CALLS if built.issuperset(MECHANISM_CALLS[:WITHOUT_SENSITIVITIES]) else ()


def values(module: Module) -> dict[str, Any]:
    """Return values for templates, such as sizes of tables (at least 1: C has no empty arrays)."""
    functions = module.signatures
    work = {(kernel.formulation, kernel.function.name): kernel.work for kernel in module.kernels}
    every = [*work.values(), *(work[name] for name in module.packed)]
    options = [array.size for f in functions for array in f.options]
    return {
        "most_inputs": max([1, *(len(f.inputs) for f in functions)]),
        "most_outputs": max([1, *(len(f.results) for f in functions)]),
        "most_zeros": max([1, *options]),
        "signature_of": {f.name: f for f in functions},
        "most_samples": [max(8, OPERATIONS_AT_ONCE // max(1, count) // 8 * 8) for count in every],
        "mechanism_calls": mechanism_calls(module),
    }
