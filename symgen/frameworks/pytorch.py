"""Generated functions in PyTorch: `torch.autograd.Function`.

Results have the type and device of the first argument; the generated code computes in float64, on
the CPU.  Backward and forward mode multiply with the analytic Jacobians, which are computed with
the result, unless gradients are off (``torch.no_grad()``).  Modules with products need no Jacobian
(`with_products`), and modules with Hessians times a direction have gradients of gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from symgen.errors import RequestError
from symgen.frameworks.functions import Differentiable, Functions, functions_of


def functions(
    module: Any, *, loads: bool = False, parameters: bool | Mapping[str, float] = False
) -> Any:
    """Return ``inverse_dynamics(q, qd, qdd)`` and ``forward_dynamics(q, qd, tau)`` for PyTorch.

    Tensors are (..., n), q (..., nq); batch axes broadcast.  Unit quaternions are normalized first,
    so that derivatives are those by all nq numbers.  With `loads` the fourth argument is
    (..., 6 n_loads), with `parameters` the last is (..., n_parameters), with derivatives by all
    arguments; a mapping gives the parameters fixed values.
    """
    try:
        import torch
    except ImportError:
        raise RequestError("symgen.torch needs PyTorch: pip install torch") from None
    results = functions_of(module, loads, parameters)
    return Functions(module, {name: _wrapped(torch, x) for name, x in results.items()})


def _wrapped(torch: Any, function: Differentiable) -> Any:
    generated = (_with_jacobians if function.along is None else with_products)(torch, function)

    def call(*arguments: Any) -> Any:
        inputs = [torch.as_tensor(x) for x in arguments]
        batch = function.batched([tuple(x.shape) for x in inputs])
        inputs = [x.expand(*batch, x.shape[-1]) for x in inputs]
        if torch.is_grad_enabled():
            return generated(*inputs)
        return tensor(torch, function.value(*numbers(inputs)), inputs[0])

    call.__name__ = function.name
    call.__doc__ = f"{function.name}({', '.join(function.arguments)}), (..., n)."
    return call


def _with_jacobians(torch: Any, function: Differentiable) -> Any:
    class Generated(torch.autograd.Function):  # type: ignore[misc]
        """Result and Jacobians; in `torch.func` only `forward` has numbers."""

        @staticmethod
        def forward(*arguments: Any) -> tuple[Any, ...]:
            inputs = numbers(arguments)
            results = (function.value(*inputs), *function.jacobians(*inputs))
            return tuple(tensor(torch, x, arguments[0]) for x in results)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.mark_non_differentiable(*output[1:])
            ctx.save_for_backward(*output[1:])
            ctx.save_for_forward(*output[1:])

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, gradient: Any, *_: Any) -> tuple[Any, ...]:
            return tuple(torch.einsum("...i,...ij->...j", gradient, x) for x in ctx.saved_tensors)

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> tuple[Any, ...]:
            products = [
                torch.einsum("...ij,...j->...i", jacobian, x)
                for jacobian, x in zip(ctx.saved_tensors, tangents, strict=True)
                if x is not None
            ]
            return sum(products[1:], products[0]), *(None for _ in tangents)

        @staticmethod
        def vmap(info: Any, in_dims: Any, *arguments: Any) -> tuple[Any, Any]:
            results = Generated.apply(*in_front(info.batch_size, arguments, in_dims))
            return results, (0,) * len(results)

    return lambda *arguments: Generated.apply(*arguments)[0]


def numbers(tensors: Any) -> list[Any]:
    """Return tensors as NumPy arrays of float64."""
    return [np.asarray(x.detach().cpu().numpy(), dtype=float) for x in tensors]


def tensor(torch: Any, array: Any, like: Any) -> Any:
    """Return an array as a tensor with the type and device of `like`."""
    return torch.tensor(np.asarray(array), dtype=like.dtype, device=like.device)


def in_front(size: int, arguments: Any, places: Any) -> list[Any]:
    """Return the arguments of `vmap` with its axis of this size in front."""
    return [
        x.expand(size, *x.shape) if at is None else x.movedim(at, 0)
        for x, at in zip(arguments, places, strict=True)
    ]


def with_products(torch: Any, function: Differentiable) -> Callable[..., Any]:
    """Return ``value(*arguments)`` for a function with products, differentiable in both modes.

    Backward mode calls ``_vjp`` of the module, forward mode ``_jvp``, without Jacobians.  The
    gradient w . df/dx is a function of x and of the weights w, linear in w, and differentiable as
    well: in reverse, with a cotangent u for the gradient, its derivative is (Hessian of w . f) u by
    x, by ``_hvp``, and (df/dx) u by w, by ``_jvp``.
    """
    count = len(function.sizes)

    def along(arguments: Any, directions: Any) -> Any:
        inputs = numbers([*arguments, *directions])
        return tensor(torch, _called(function.along, inputs), arguments[0])

    def complete(directions: Any, arguments: Any) -> list[Any]:
        pairs = zip(directions, arguments, strict=True)
        return [torch.zeros_like(like) if x is None else x for x, like in pairs]

    def in_batches(kind: Any) -> Any:
        def vmap(info: Any, places: Any, *arguments: Any) -> tuple[Any, Any]:
            results = kind().apply(*in_front(info.batch_size, arguments, places))
            return results, (0,) * len(results) if isinstance(results, tuple) else 0

        return staticmethod(vmap)

    class Along(torch.autograd.Function):  # type: ignore[misc]
        """(df/dx) times directions, of x and the directions."""

        @staticmethod
        def forward(*operands: Any) -> Any:
            return along(operands[:count], operands[count:])

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, weights: Any) -> tuple[Any, ...]:
            """Return the gradient by the directions; by x the Hessian times the directions."""
            arguments, directions = ctx.saved_tensors[:count], ctx.saved_tensors[count:]
            by_x: Any = (None,) * count
            if any(ctx.needs_input_grad[:count]):
                by_x = Curved.apply(*arguments, weights, *directions)
            return *by_x, *Gradient.apply(*arguments, weights)

        vmap = in_batches(lambda: Along)

    class Gradient(torch.autograd.Function):  # type: ignore[misc]
        """weights . df/dx, of x and the weights."""

        @staticmethod
        def forward(*operands: Any) -> tuple[Any, ...]:
            results = _called(function.backwards, numbers(operands))
            return tuple(tensor(torch, x, operands[0]) for x in results)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, *directions: Any) -> tuple[Any, ...]:
            *arguments, weights = ctx.saved_tensors
            full = complete(directions, arguments)
            by_x: Any = (None,) * count
            if any(ctx.needs_input_grad[:count]):
                by_x = Curved.apply(*arguments, weights, *full)
            return *by_x, Along.apply(*arguments, *full)

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> tuple[Any, ...]:
            *arguments, weights = ctx.saved_tensors
            *directions, change = tangents
            results: list[Any] = [0.0] * count
            if any(x is not None for x in directions):
                full = complete(directions, arguments)
                results = list(Curved.apply(*arguments, weights, *full))
            if change is not None:
                more = Gradient.apply(*arguments, change)
                results = [x + y for x, y in zip(results, more, strict=True)]
            return tuple(results)

        vmap = in_batches(lambda: Gradient)

    class Curved(torch.autograd.Function):  # type: ignore[misc]
        """The Hessian of weights . f times directions, of x, the weights and the directions."""

        @staticmethod
        def forward(*operands: Any) -> tuple[Any, ...]:
            if function.curved is None:
                raise RequestError(function.no_second)
            results = function.curved(*numbers(operands))
            return tuple(tensor(torch, x, operands[0]) for x in results)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            """Save nothing: derivatives of third order are not available."""

        @staticmethod
        def backward(ctx: Any, *_: Any) -> tuple[Any, ...]:
            raise RequestError(f"{function.name}: derivatives of third order are not available")

        vmap = in_batches(lambda: Curved)

    class Value(torch.autograd.Function):  # type: ignore[misc]
        """f(x)"""

        @staticmethod
        def forward(*arguments: Any) -> Any:
            return tensor(torch, function.value(*numbers(arguments)), arguments[0])

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, weights: Any) -> tuple[Any, ...]:
            return tuple(Gradient.apply(*ctx.saved_tensors, weights))

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            return Along.apply(*ctx.saved_tensors, *complete(tangents, ctx.saved_tensors))

        vmap = in_batches(lambda: Value)

    return lambda *arguments: Value.apply(*arguments)


def _called(call: Callable[..., Any] | None, inputs: list[Any]) -> Any:
    assert call is not None  # where there are products there are both
    return call(*inputs)
