"""Products of derivatives and vectors in PyTorch, and what is common to both ways.

Backward mode calls ``_vjp`` of the module, forward mode ``_jvp``: no Jacobian is made.  The
gradient w . df/dx is a function of its own, of x and of the weights w, linear in w.  So its
derivative is there, too: in reverse, with a cotangent u for the gradient, it is (Hessian of
w . f) u by x, by ``_hvp``, and (df/dx) u by w, by ``_jvp``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgen.errors import RequestError
from symgen.frameworks.functions import Differentiable


def numbers(tensors: Any) -> list[Any]:
    """What NumPy has of tensors, in float64."""
    return [np.asarray(one.detach().cpu().numpy(), dtype=float) for one in tensors]


def tensor(torch: Any, array: Any, like: Any) -> Any:
    """An array of type and device of the tensor `like`."""
    return torch.tensor(np.asarray(array), dtype=like.dtype, device=like.device)


def in_front(size: int, arguments: Any, places: Any) -> list[Any]:
    """The arguments of `vmap`, with its axis of this size in front."""
    return [
        one.expand(size, *one.shape) if at is None else one.movedim(at, 0)
        for one, at in zip(arguments, places, strict=True)
    ]


def with_products(torch: Any, function: Differentiable) -> Callable[..., Any]:
    """``value(*arguments)`` for a function that has products: derivatives in both modes."""
    count = len(function.sizes)

    def along(arguments: Any, directions: Any) -> Any:
        given = numbers([*arguments, *directions])
        return tensor(torch, _called(function.along, given), arguments[0])

    def complete(directions: Any, arguments: Any) -> list[Any]:
        pairs = zip(directions, arguments, strict=True)
        return [torch.zeros_like(like) if one is None else one for one, like in pairs]

    def in_batches(kind: Any) -> Any:
        def vmap(info: Any, places: Any, *arguments: Any) -> tuple[Any, Any]:
            found = kind().apply(*in_front(info.batch_size, arguments, places))
            return found, (0,) * len(found) if isinstance(found, tuple) else 0

        return staticmethod(vmap)

    class Along(torch.autograd.Function):  # type: ignore[misc]
        """(df/dx) times directions, of x and the directions."""

        @staticmethod
        def forward(*both: Any) -> Any:
            return along(both[:count], both[count:])

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, weights: Any) -> tuple[Any, ...]:
            """By the directions the gradient; by x the Hessian times the directions."""
            arguments, directions = ctx.saved_tensors[:count], ctx.saved_tensors[count:]
            by_x: Any = (None,) * count
            if any(ctx.needs_input_grad[:count]):
                by_x = Curved.apply(*arguments, weights, *directions)
            return *by_x, *Gradient.apply(*arguments, weights)

        vmap = in_batches(lambda: Along)

    class Gradient(torch.autograd.Function):  # type: ignore[misc]
        """weights . df/dx, of x and the weights."""

        @staticmethod
        def forward(*both: Any) -> tuple[Any, ...]:
            found = _called(function.backwards, numbers(both))
            return tuple(tensor(torch, one, both[0]) for one in found)

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
            found: list[Any] = [0.0] * count
            if any(one is not None for one in directions):
                full = complete(directions, arguments)
                found = list(Curved.apply(*arguments, weights, *full))
            if change is not None:
                more = Gradient.apply(*arguments, change)
                found = [x + y for x, y in zip(found, more, strict=True)]
            return tuple(found)

        vmap = in_batches(lambda: Gradient)

    class Curved(torch.autograd.Function):  # type: ignore[misc]
        """The Hessian of weights . f times directions, of x, the weights and the directions."""

        @staticmethod
        def forward(*all_of_them: Any) -> tuple[Any, ...]:
            if function.curved is None:
                raise RequestError(
                    f"{function.name}: gradients of gradients need {function.name}_hvp (add it to "
                    "--functions), and joints without quaternions"
                )
            found = function.curved(*numbers(all_of_them))
            return tuple(tensor(torch, one, all_of_them[0]) for one in found)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            """Nothing is kept."""

        @staticmethod
        def backward(ctx: Any, *_: Any) -> tuple[Any, ...]:
            raise RequestError(f"{function.name}: derivatives of third order are not there")

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


def _called(call: Callable[..., Any] | None, given: list[Any]) -> Any:
    assert call is not None  # where there are products there are both
    return call(*given)
