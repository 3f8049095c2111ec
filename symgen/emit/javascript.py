"""JavaScript: a package as one module that browsers and Node run as it is.

A package of Python computes by C, Cython or NumPy; this module stands by itself.  It has one object
for every formulation, with the functions that were derived; each takes arrays of numbers for one
sample and returns its results by name, as flat arrays, entries row by row.  Programs in loops are
not printed: derive with the form `symgen.options.STRAIGHT`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from symgen.emit.bundle import ModuleMetadata
from symgen.emit.kernels import Array, Kernel
from symgen.emit.module import Module, PublicFunction
from symgen.emit.printing import JAVASCRIPT
from symgen.emit.templates import Templates
from symgen.program.arguments import PARAMETERS

LINES_PER_FUNCTION = 2000
"""Engines compile functions one by one, and give up on very long ones."""


MODULE, SCRIPT = "module.mjs", "script.js"
"""Templates: what can be imported, and what a page without a server can run."""


def source(module: Module, templates: Templates, kind: str = MODULE) -> str:
    """Return the text of the module; ValueError where a function is derived in loops alone."""
    formulations = [
        {
            "name": formulation.name,
            "notes": formulation.notes,
            "kernels": [
                _printed(*pair)
                for pair in zip(formulation.functions, formulation.kernels, strict=True)
                if not pair[1].paths
            ],
        }
        for formulation in module.formulations
    ]
    return templates.render(
        f"javascript/{kind}",
        **{**module.values(), "formulations": formulations, "facts": _facts(module)},
    )


def _printed(function: PublicFunction, kernel: Kernel) -> Mapping[str, Any]:
    """Return values of the template for a function."""
    printed = kernel.printed(JAVASCRIPT, LINES_PER_FUNCTION)
    needed = {array.name for array in function.arguments}
    return {
        "kernel": kernel,
        "parts": printed.parts,
        "slots": printed.slots,
        "required": [array.name for array in kernel.inputs if array.name in needed],
        "optional": [_optional(array) for array in kernel.inputs if array.name not in needed],
    }


def _optional(array: Array) -> str:
    """Return a named argument with its default."""
    value = f"new Float64Array({array.size})"
    if array.name == PARAMETERS.name:
        value = "robot.default_parameters"
    return f"{array.name} = {value}"


def _configuration(metadata: ModuleMetadata) -> dict[str, Any]:
    """Return joints on manifolds: kind, first entry of q, first velocity of each."""
    if not metadata.quaternions:
        return {}
    return {
        "nq": metadata.nq,
        "position_names": metadata.position_names,
        "quaternions": metadata.quaternions,
    }


def _facts(module: Module) -> str:
    """Return facts of the robot as JSON, which is JavaScript, too."""
    metadata = module.metadata
    facts = {
        "name": module.robot,
        "n": metadata.n,
        "coordinate_names": metadata.coordinate_names,
        **_configuration(metadata),
        "link_names": metadata.link_names,
        "load_names": metadata.load_names,
        "parameter_names": metadata.parameter_names,
        "default_parameters": metadata.default_parameters,
        "limits": [asdict(limits) for limits in metadata.limits],
        "model_hash": metadata.model_hash,
    }
    return json.dumps(facts, indent=2, ensure_ascii=True)
