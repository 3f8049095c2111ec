"""Products of derivatives and vectors as primitives of JAX, which are transposes of each other.

Forward mode calls ``_jvp`` of the module, reverse mode ``_vjp``: no Jacobian is made.  The first
primitive is linear in the directions, which `jax.custom_jvp` hands to it, and says what its
transpose is; batches of `vmap` become axes of one call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symgen.frameworks.functions import Differentiable

Call = Callable[..., Any]


def tangent_of(jax: Any, function: Differentiable, callback: Call) -> Call:
    """``tangent(*arguments, *directions)``, for functions that have products.

    `callback(call, shapes, *arguments)` calls NumPy.
    """
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir

    count = len(function.sizes)
    along, back = Primitive(f"{function.name}_jvp"), Primitive(f"{function.name}_vjp")
    back.multiple_results = True

    def along_in_numbers(*both: Any) -> Any:
        shape = jax.ShapeDtypeStruct((*both[0].shape[:-1], function.size), both[0].dtype)
        return callback(function.along, shape, *both)

    def back_in_numbers(*both: Any) -> Any:
        batch, dtype = both[0].shape[:-1], both[0].dtype
        shapes = tuple(jax.ShapeDtypeStruct((*batch, size), dtype) for size in function.sizes)
        return callback(function.backwards, shapes, *both)

    def shape_along(*both: Any) -> Any:
        return jax.core.ShapedArray((*both[0].shape[:-1], function.size), both[0].dtype)

    def shapes_back(*both: Any) -> Any:
        batch, dtype = both[0].shape[:-1], both[0].dtype
        return [jax.core.ShapedArray((*batch, size), dtype) for size in function.sizes]

    def transposed(cotangent: Any, *both: Any) -> list[Any]:
        none: list[Any] = [None] * count
        if type(cotangent) is ad.Zero:
            return none + [ad.Zero(x.aval) if ad.is_undefined_primal(x) else None
                           for x in both[count:]]  # fmt: skip
        gradients = back.bind(*both[:count], cotangent)
        wanted = map(ad.is_undefined_primal, both[count:])
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
            found = primitive.bind(*moved)
            return found, (0,) * len(found) if primitive.multiple_results else 0

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
