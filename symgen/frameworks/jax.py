"""Generated functions in JAX: `jax.custom_jvp` around a callback.

The tangent is a product of the Jacobians, which a second callback returns, with the tangents of the
arguments: linear in them, so that JAX transposes it for the reverse mode.  Modules with products
need no Jacobians (`tangent_of`).  `vmap` becomes one call of the batched function.  Results have
the type of the arguments; the generated code computes in float64, which JAX supports after
``jax.config.update("jax_enable_x64", True)``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from symgen.errors import RequestError
from symgen.frameworks.functions import Differentiable, Functions, functions_of

Call = Callable[..., Any]


def functions(
    module: Any, *, loads: bool = False, parameters: bool | Mapping[str, float] = False
) -> Any:
    """Return ``inverse_dynamics(q, qd, qdd)`` and ``forward_dynamics(q, qd, tau)`` for JAX.

    Arrays are (..., n), q (..., nq); batch axes broadcast.  Unit quaternions are normalized first,
    so that derivatives are those by all nq numbers.  With `loads` the fourth argument is
    (..., 6 n_loads), with `parameters` the last is (..., n_parameters); a mapping gives the
    parameters fixed values.  Derivatives are in both modes, by all arguments, under `jit` and
    `vmap`; of second order, too, where the module has ``_jvp``, ``_vjp`` and ``_hvp`` of the
    function.
    """
    try:
        import jax
    except ImportError:
        raise RequestError("symgen.jax needs JAX: pip install jax") from None
    results = functions_of(module, loads, parameters)
    return Functions(module, {name: _wrapped(jax, x) for name, x in results.items()})


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

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def jacobians(*arguments: Any) -> Any:
        batch, dtype = arguments[0].shape[:-1], arguments[0].dtype
        shapes = tuple(
            jax.ShapeDtypeStruct((*batch, function.size, size), dtype) for size in function.sizes
        )
        return callback(function.jacobians, shapes, *arguments)

    @jacobians.defjvp  # type: ignore[untyped-decorator]
    def no_second(*_: Any) -> Any:
        raise RequestError(function.no_second)

    @value.defjvp  # type: ignore[untyped-decorator]
    def tangent(primals: Any, tangents: Any) -> Any:
        if product is not None:
            return value(*primals), product(*primals, *tangents)
        pairs = zip(jacobians(*primals), tangents, strict=True)
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
    each other.  The first is linear in the directions, which `jax.custom_jvp` passes to it.  Their
    derivatives by the arguments are a third one, ``_hvp``: weights times second derivatives times
    directions, symmetric in these and in the result.  `callback(call, shapes, *arguments)` calls
    NumPy.
    """
    from jax.interpreters import ad

    count, made = len(function.sizes), partial(_primitive, jax, callback)
    along = made(f"{function.name}_jvp", function.along, (function.size,), False)
    back = made(f"{function.name}_vjp", function.backwards, function.sizes, True)
    curved = made(f"{function.name}_hvp", function.curved, function.sizes, True)

    def chosen(gradients: Any, operands: Any) -> list[Any]:
        wanted = map(ad.is_undefined_primal, operands)
        return [x if asked else None for x, asked in zip(gradients, wanted, strict=True)]

    def along_transposed(cotangent: Any, *operands: Any) -> list[Any]:
        gradients = back.bind(*operands[:count], ad.instantiate_zeros(cotangent))
        return [*[None] * count, *chosen(gradients, operands[count:])]

    def back_transposed(cotangents: Any, *operands: Any) -> list[Any]:
        directions = map(ad.instantiate_zeros, cotangents)
        return [*[None] * count, along.bind(*operands[:count], *directions)]

    def curved_transposed(cotangents: Any, *operands: Any) -> list[Any]:
        fixed = operands[: count + 1]
        gradients = curved.bind(*fixed, *map(ad.instantiate_zeros, cotangents))
        return [*[None] * (count + 1), *chosen(gradients, operands[count + 1 :])]

    ad.primitive_transposes |= {
        along: along_transposed, back: back_transposed, curved: curved_transposed,
    }  # fmt: skip
    ad.primitive_jvps |= _second_order(jax, function, along, back, curved)
    return along.bind  # type: ignore[no-any-return]


def _second_order(
    jax: Any, function: Differentiable, along: Any, back: Any, curved: Any
) -> dict[Any, Call]:
    """Return the derivatives of the primitives of `tangent_of`, by all operands."""
    from jax.interpreters import ad

    jnp, count, size = jax.numpy, len(function.sizes), function.size

    def checked(tangents: Any) -> list[Any] | None:
        """Return tangents of the arguments; None if all of them are 0."""
        if all(type(x) is ad.Zero for x in tangents):
            return None
        if function.curved is None:
            raise RequestError(function.no_second)
        return list(map(ad.instantiate_zeros, tangents))

    def along_moved(primals: Any, tangents: Any) -> tuple[Any, Any]:
        x, directions = primals[:count], primals[count:]
        change = along.bind(*x, *map(ad.instantiate_zeros, tangents[count:]))
        moved = checked(tangents[:count])
        if moved is not None:  # every entry of the result, weighted alone
            weights = jnp.broadcast_to(
                jnp.expand_dims(jnp.eye(size, dtype=x[0].dtype), range(1, x[0].ndim)),
                (size, *x[0].shape[:-1], size),
            )
            every = [jnp.broadcast_to(y, (size, *y.shape)) for y in (*x, *directions)]
            products = curved.bind(*every[:count], weights, *every[count:])
            pairs = zip(products, moved, strict=True)
            change += sum(jnp.einsum("i...j,...j->...i", H, y) for H, y in pairs)
        return along.bind(*primals), change

    def back_moved(primals: Any, tangents: Any) -> tuple[Any, Any]:
        change = back.bind(*primals[:count], ad.instantiate_zeros(tangents[count]))
        moved = checked(tangents[:count])
        if moved is not None:
            products = curved.bind(*primals, *moved)
            change = [x + y for x, y in zip(change, products, strict=True)]
        return back.bind(*primals), change

    def curved_moved(*_: Any) -> Any:
        raise RequestError(f"{function.name}: derivatives of third order are not available")

    return {along: along_moved, back: back_moved, curved: curved_moved}


def _primitive(
    jax: Any, callback: Call, name: str, call: Call | None, sizes: tuple[int, ...], several: bool
) -> Any:
    """Return a primitive that calls NumPy, with results (..., size), one if not `several`.

    Batches of `vmap` become axes of one call.
    """
    from jax.extend.core import Primitive
    from jax.interpreters import batching, mlir

    primitive = Primitive(name)
    primitive.multiple_results = several

    def shaped(kind: Any, operands: Any) -> Any:
        batch, dtype = operands[0].shape[:-1], operands[0].dtype
        shapes = tuple(kind((*batch, size), dtype) for size in sizes)
        return shapes if several else shapes[0]

    def numbers(*operands: Any) -> Any:
        return callback(call, shaped(jax.ShapeDtypeStruct, operands), *operands)

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
        return results, (0,) * len(results) if several else 0

    primitive.def_impl(numbers)
    primitive.def_abstract_eval(lambda *operands: shaped(jax.core.ShapedArray, operands))
    mlir.register_lowering(primitive, mlir.lower_fun(numbers, multiple_results=several))
    batching.primitive_batchers[primitive] = batched
    return primitive
