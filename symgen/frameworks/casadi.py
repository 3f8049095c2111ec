"""Generated functions in CasADi: callbacks with exact Jacobians.

A `casadi.Function` calls a callback; CasADi differentiates through it by the Jacobian, a second
callback.  (`eval` is CasADi's name for the method that it calls.)  Arguments are columns; `map`
makes functions of matrices of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from symgen.errors import RequestError
from symgen.frameworks.functions import Differentiable, Functions, functions_of


def functions(
    module: Any, *, loads: bool = False, parameters: bool | Mapping[str, float] = False
) -> Any:
    """Return ``inverse_dynamics(q, qd, qdd)`` and ``forward_dynamics(q, qd, tau)`` for CasADi.

    Arguments are columns of n entries, q of nq, numbers or MX symbols.  Unit quaternions are
    normalized first, so that derivatives are those by all nq numbers.  With `loads` a fourth
    argument has 6 n_loads entries, with `parameters` the last has n_parameters entries; a mapping
    gives the parameters fixed values.
    """
    try:
        import casadi
    except ImportError:
        raise RequestError("symgen.casadi needs CasADi: pip install casadi") from None
    differentiable = functions_of(module, loads, parameters)
    return Functions(module, {name: _function(casadi, x) for name, x in differentiable.items()})


def _function(casadi: Any, function: Differentiable) -> Any:
    """Make the callback of a function, which keeps that of its Jacobian alive."""
    inputs = dict(zip(function.arguments, function.sizes, strict=True))

    def slopes(name: str, options: Any) -> Any:
        """Make the callback of the Jacobian, which takes the result as well."""
        shapes = [(function.size, size) for size in function.sizes]
        every = {**inputs, "result": function.size}
        return _callback(
            casadi, name, options, every, shapes, lambda *x: function.jacobians(*x[:-1])
        )

    shape = function.size, 1
    return _callback(
        casadi, function.name, {}, inputs, [shape], lambda *x: [function.value(*x)], slopes
    )


def _callback(
    casadi: Any, name: str, options: Any, inputs: Mapping[str, int],
    shapes: Sequence[tuple[int, int]], run: Callable[..., Iterable[Any]],
    slopes: Callable[[str, Any], Any] | None = None,
) -> Any:  # fmt: skip
    """Make a callback of columns, whose sizes are `inputs`, with results of these shapes."""
    names, sizes = tuple(inputs), tuple(inputs.values())

    class Callback(casadi.Callback):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.construct(name, options)

        def get_n_in(self) -> int:
            return len(names)

        def get_name_in(self, number: int) -> str:
            return names[number]

        def get_sparsity_in(self, number: int) -> Any:
            return casadi.Sparsity.dense(sizes[number], 1)

        def get_n_out(self) -> int:
            return len(shapes)

        def get_sparsity_out(self, number: int) -> Any:
            return casadi.Sparsity.dense(*shapes[number])

        def eval(self, arguments: Any) -> list[Any]:
            columns = (np.asarray(argument.full()).ravel() for argument in arguments)
            return [casadi.DM(x) for x in run(*columns)]

        def has_jacobian(self) -> bool:
            return slopes is not None

        def get_jacobian(self, name: str, inputs: Any, outputs: Any, options: Any) -> Any:
            assert slopes is not None
            self.slopes = slopes(name, options)  # must live as long as this callback
            return self.slopes

    return Callback()
