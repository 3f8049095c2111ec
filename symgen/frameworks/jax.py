"""Generated functions in JAX: `jax.custom_jvp` around a callback.

The tangent is a product of the Jacobians, which a second callback returns, with the tangents of the
arguments: linear in them, so that JAX transposes it for the reverse mode.  Where the module has
products no Jacobian is made (`symgen.frameworks.jax_products`).  `vmap` becomes one call of the
batched function.  Results have the type of the arguments; the generated code computes in
float64, which JAX has after ``jax.config.update("jax_enable_x64", True)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from symgen.errors import RequestError
from symgen.frameworks.functions import Differentiable, functions_of
from symgen.frameworks.jax_products import tangent_of


def functions(
    module: Any, *, loads: bool = False, parameters: bool | Mapping[str, float] = False
) -> Any:
    """``inverse_dynamics(q, qd, qdd)`` and ``forward_dynamics(q, qd, tau)`` for JAX.

    Arrays are (..., n), q (..., nq); batch axes broadcast.  Unit quaternions are normalized first,
    so that derivatives are those by all nq numbers.  With `loads` there is a fourth argument
    (..., 6 n_loads), with `parameters` a last one (..., n_parameters), and derivatives with respect
    to them; a mapping gives the parameters fixed values.  Derivatives of first order, in both
    modes; under `jit` and `vmap`.
    """
    try:
        import jax
    except ImportError:
        raise RequestError("symgen.jax needs JAX: pip install jax") from None
    found = functions_of(module, loads, parameters)
    return SimpleNamespace(**{name: _wrapped(jax, one) for name, one in found.items()})


def _wrapped(jax: Any, function: Differentiable) -> Any:
    jnp = jax.numpy

    def callback(call: Any, shapes: Any, *arguments: Any) -> Any:
        def run(*given: Any) -> Any:
            results = call(*(np.asarray(one, dtype=float) for one in given))
            if isinstance(results, tuple):
                return tuple(
                    np.asarray(r, dtype=s.dtype) for r, s in zip(results, shapes, strict=True)
                )
            return np.asarray(results, dtype=shapes.dtype)

        return jax.pure_callback(run, shapes, *arguments, vmap_method="broadcast_all")

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def value(*arguments: Any) -> Any:
        batch, dtype = arguments[0].shape[:-1], arguments[0].dtype
        shape = jax.ShapeDtypeStruct((*batch, function.size), dtype)
        return callback(function.value, shape, *arguments)

    product = None if function.along is None else tangent_of(jax, function, callback)

    @value.defjvp  # type: ignore[untyped-decorator]
    def tangent(primals: Any, tangents: Any) -> Any:
        if product is not None:
            return value(*primals), product(*primals, *tangents)
        batch, dtype = primals[0].shape[:-1], primals[0].dtype
        shapes = tuple(
            jax.ShapeDtypeStruct((*batch, function.size, size), dtype) for size in function.sizes
        )
        jacobians = callback(function.jacobians, shapes, *primals)
        products = (
            jnp.einsum("...ij,...j->...i", jacobian, one)
            for jacobian, one in zip(jacobians, tangents, strict=True)
        )
        return value(*primals), sum(products)

    def call(*arguments: Any) -> Any:
        _check(function, len(arguments))
        given = [jnp.asarray(one) for one in arguments]
        dtype = jnp.result_type(float, *given)
        batch = function.batched([one.shape for one in given])
        return value(
            *(jnp.broadcast_to(one, (*batch, one.shape[-1])).astype(dtype) for one in given)
        )

    call.__name__ = function.name
    call.__doc__ = f"{function.name}({', '.join(function.arguments)}), (..., n)."
    return call


def _check(function: Differentiable, count: int) -> None:
    if count != len(function.arguments):
        words = ", ".join(function.arguments)
        raise RequestError(f"{function.name} takes {words}; found {count} arguments")
