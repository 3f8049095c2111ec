"""Generated functions in JAX: `jax.custom_jvp` around a callback.

The tangent is a product of the Jacobians, which a second callback returns, with the tangents of the
arguments: linear in them, so that JAX transposes it for the reverse mode.  Modules with products
need no Jacobians (`tangent_of`).  `vmap` becomes one call of the batched function.  Results have
the type of the arguments; the generated code computes in float64, which JAX supports after
``jax.config.update("jax_enable_x64", True)``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from symgen.errors import RequestError
from symgen.frameworks.functions import Differentiable, functions_of

Call = Callable[..., Any]


def functions(
    module: Any, *, loads: bool = False, parameters: bool | Mapping[str, float] = False
) -> Any:
    """Return ``inverse_dynamics(q, qd, qdd)`` and ``forward_dynamics(q, qd, tau)`` for JAX.

    Arrays are (..., n), q (..., nq); batch axes broadcast.  Unit quaternions are normalized first,
    so that derivatives are those by all nq numbers.  With `loads` the fourth argument is
    (..., 6 n_loads), with `parameters` the last is (..., n_parameters); a mapping gives the
    parameters fixed values.  Derivatives are of first order, in both modes, by all arguments; under
    `jit` and `vmap`.
    """
    try:
        import jax
    except ImportError:
        raise RequestError("symgen.jax needs JAX: pip install jax") from None
    results = functions_of(module, loads, parameters)
    return SimpleNamespace(**{name: _wrapped(jax, x) for name, x in results.items()})


def _wrapped(jax: Any, function: Differentiable) -> Any:
    jnp = jax.numpy

    def callback(call: Any, shapes: Any, *arguments: Any) -> Any:
        def run(*inputs: Any) -> Any:
            results = call(*(np.asarray(x, dtype=float) for x in inputs))
            return jax.tree.map(lambda x, shape: np.asarray(x, dtype=shape.dtype), results, shapes)

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
        pairs = zip(jacobians, tangents, strict=True)
        return value(*primals), sum(jnp.einsum("...ij,...j->...i", J, x) for J, x in pairs)

    def call(*arguments: Any) -> Any:
        inputs = [jnp.asarray(x) for x in arguments]
        dtype = jnp.result_type(float, *inputs)
        batch = function.batched([x.shape for x in inputs])
        return value(*(jnp.broadcast_to(x, (*batch, x.shape[-1])).astype(dtype) for x in inputs))

    call.__name__ = function.name
    call.__doc__ = f"{function.name}({', '.join(function.arguments)}), (..., n)."
    return call


def tangent_of(jax: Any, function: Differentiable, callback: Call) -> Call:
    """Return ``tangent(*arguments, *directions)``, for functions with products.

    Forward mode calls ``_jvp`` of the module, reverse mode ``_vjp``: two primitives, transposes of
    each other.  The first is linear in the directions, which `jax.custom_jvp` passes to it; batches
    of `vmap` become axes of one call.  `callback(call, shapes, *arguments)` calls NumPy.
    """
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir

    count = len(function.sizes)
    along, back = Primitive(f"{function.name}_jvp"), Primitive(f"{function.name}_vjp")
    back.multiple_results = True

    def along_in_numbers(*operands: Any) -> Any:
        shape = jax.ShapeDtypeStruct((*operands[0].shape[:-1], function.size), operands[0].dtype)
        return callback(function.along, shape, *operands)

    def back_in_numbers(*operands: Any) -> Any:
        batch, dtype = operands[0].shape[:-1], operands[0].dtype
        shapes = tuple(jax.ShapeDtypeStruct((*batch, size), dtype) for size in function.sizes)
        return callback(function.backwards, shapes, *operands)

    def shape_along(*operands: Any) -> Any:
        return jax.core.ShapedArray((*operands[0].shape[:-1], function.size), operands[0].dtype)

    def shapes_back(*operands: Any) -> Any:
        batch, dtype = operands[0].shape[:-1], operands[0].dtype
        return [jax.core.ShapedArray((*batch, size), dtype) for size in function.sizes]

    def transposed(cotangent: Any, *operands: Any) -> list[Any]:
        none: list[Any] = [None] * count
        if type(cotangent) is ad.Zero:
            return none + [ad.Zero(x.aval) if ad.is_undefined_primal(x) else None
                           for x in operands[count:]]  # fmt: skip
        gradients = back.bind(*operands[:count], cotangent)
        wanted = map(ad.is_undefined_primal, operands[count:])
        return none + [x if asked else None for x, asked in zip(gradients, wanted, strict=True)]

    def in_batches(primitive: Any) -> Call:
        def batched(arguments: Any, places: Any) -> tuple[Any, Any]:
            pairs = list(zip(arguments, places, strict=True))
            size = next(x.shape[place] for x, place in pairs if place is not None)
            moved = [
                jax.numpy.broadcast_to(x, (size, *x.shape))
                if place is None
                else jax.numpy.moveaxis(x, place, 0)
                for x, place in pairs
            ]
            results = primitive.bind(*moved)
            return results, (0,) * len(results) if primitive.multiple_results else 0

        return batched

    for primitive, numbers, shapes in (
        (along, along_in_numbers, shape_along),
        (back, back_in_numbers, shapes_back),
    ):
        several = primitive.multiple_results
        primitive.def_impl(numbers)
        primitive.def_abstract_eval(shapes)
        mlir.register_lowering(primitive, mlir.lower_fun(numbers, multiple_results=several))
        batching.primitive_batchers[primitive] = in_batches(primitive)
    ad.primitive_transposes[along] = transposed
    return along.bind  # type: ignore[no-any-return]
