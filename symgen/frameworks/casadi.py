"""Generated functions in CasADi: callbacks with exact Jacobians.

A `casadi.Function` calls a callback; CasADi differentiates through it by the Jacobian, a second
callback.  (`eval` is CasADi's name for the method that it calls.)  Arguments are columns; `map`
makes functions of matrices of them.
"""

from __future__ import annotations

from collections.abc import Mapping
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

    def vectors(arguments: Any) -> list[Any]:
        return [np.asarray(argument.full()).ravel() for argument in arguments]

    class Base(casadi.Callback):  # type: ignore[misc]
        def __init__(self, name: str, options: Any) -> None:
            super().__init__()
            self.construct(name, options)

        def get_n_in(self) -> int:
            return len(function.sizes)

        def get_name_in(self, number: int) -> str:
            return function.arguments[number]

        def get_sparsity_in(self, number: int) -> Any:
            return casadi.Sparsity.dense(function.sizes[number], 1)

    class Slopes(Base):
        def get_n_in(self) -> int:
            return len(function.sizes) + 1

        def get_name_in(self, number: int) -> str:
            return (*function.arguments, "result")[number]

        def get_n_out(self) -> int:
            return len(function.sizes)

        def get_sparsity_in(self, number: int) -> Any:
            return casadi.Sparsity.dense((*function.sizes, function.size)[number], 1)

        def get_sparsity_out(self, number: int) -> Any:
            return casadi.Sparsity.dense(function.size, function.sizes[number])

        def eval(self, arguments: Any) -> list[Any]:
            return [casadi.DM(x) for x in function.jacobians(*vectors(arguments)[:-1])]

    class Value(Base):
        def get_n_out(self) -> int:
            return 1

        def get_sparsity_out(self, number: int) -> Any:
            return casadi.Sparsity.dense(function.size, 1)

        def eval(self, arguments: Any) -> list[Any]:
            return [casadi.DM(function.value(*vectors(arguments)))]

        def has_jacobian(self) -> bool:
            return True

        def get_jacobian(self, name: str, inputs: Any, outputs: Any, options: Any) -> Any:
            self.slopes = Slopes(name, options)  # must live as long as this callback
            return self.slopes

    return Value(function.name, {})
