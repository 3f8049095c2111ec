"""Calling a program without emitting it: the reference for everything that is emitted.

Numbers may be floats, complex numbers or arrays with batch axes in front, as in generated modules.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symgen.algebra.evaluation import evaluate
from symgen.algebra.nodes import Scalar
from symgen.program.program import Program


def call(program: Program[Scalar], arguments: Mapping[str, ArrayLike]) -> tuple[NDArray[Any], ...]:
    """Return the outputs of `program`, batch axes of all arguments broadcast mutually.

    `arguments` maps the names of inputs to arrays of shape ``(..., *input.shape)``; inputs that are
    left out are 0.
    """
    values: dict[str, Any] = {}
    batch: tuple[int, ...] = ()
    kind: Any = np.float64
    for array in program.inputs:
        value = np.asanyarray(arguments.get(array.name, np.zeros(array.shape)))
        kind = np.result_type(kind, value)
        core = len(array.shape)
        batch = np.broadcast_shapes(batch, value.shape[: value.ndim - core])
        flat = value.reshape((*value.shape[: value.ndim - core], len(array.symbols)))
        for k, name in enumerate(array.symbol_names):
            values[name] = flat[..., k]
    results = iter(evaluate(program.results, values))
    outputs = []
    for output in program.outputs:
        result = np.empty((*batch, len(output.entries)), dtype=kind)
        for k in range(len(output.entries)):
            result[..., k] = next(results)
        outputs.append(result.reshape((*batch, *output.shape)))
    return tuple(outputs)
