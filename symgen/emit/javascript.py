"""JavaScript: all functions of a package as one module for browsers and Node.

The module has an object for every formulation, with the derived functions; each takes arrays of
numbers for one sample and returns its results by name, as flat arrays in row-major order.  Programs
in loops are not printed: derive with the form `symgen.options.STRAIGHT`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from symgen.emit.kernels import Array, Kernel
from symgen.emit.module import Module, PublicFunction
from symgen.emit.printing import JAVASCRIPT
from symgen.emit.templates import Templates
from symgen.program.arguments import PARAMETERS

LINES_PER_FUNCTION = 2000
"""Engines compile functions one by one, and give up on very long ones."""

MODULE, SCRIPT = "module.mjs", "script.js"
"""Templates of a module to import, and of a script for pages without a server."""


def source(module: Module, templates: Templates, kind: str = MODULE) -> str:
    """Print the module; ValueError for a function that is derived in loops alone."""
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
    """Print a named argument with its default."""
    is_model = array.name == PARAMETERS.name
    default = "robot.default_parameters" if is_model else f"new Float64Array({array.size})"
    return f"{array.name} = {default}"


_FACTS = (
    "n", "coordinate_names", "nq", "position_names", "quaternions", "link_names", "load_names",
    "parameter_names", "default_parameters", "limits", "model_hash",
)  # fmt: skip
_OF_MANIFOLDS = ("nq", "position_names", "quaternions")
"""Facts of robots with joints on manifolds alone."""


def _facts(module: Module) -> str:
    """Print facts of the robot as JSON, which is JavaScript, too."""
    metadata = module.metadata
    names = [name for name in _FACTS if metadata.quaternions or name not in _OF_MANIFOLDS]
    facts = {"name": module.robot, **{name: getattr(metadata, name) for name in names}}
    return json.dumps(facts, indent=2, ensure_ascii=True, default=asdict)
