"""Generated functions in PyTorch: `torch.autograd.Function`.

Results have the type and device of the first argument; the generated code computes in float64, on
the CPU.  Backward and forward mode multiply with the analytic Jacobians, which are computed with
the result, unless gradients are off (``torch.no_grad()``).  Where the module has products no
Jacobian is made (`symgen.frameworks.pytorch_products`), and with Hessians times a direction there
are gradients of gradients.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from symgen.errors import RequestError
from symgen.frameworks.functions import Differentiable, functions_of
from symgen.frameworks.pytorch_products import in_front, numbers, tensor, with_products


def functions(
    module: Any, *, loads: bool = False, parameters: bool | Mapping[str, float] = False
) -> Any:
    """``inverse_dynamics(q, qd, qdd)`` and ``forward_dynamics(q, qd, tau)`` for PyTorch.

    Tensors are (..., n), q (..., nq); batch axes broadcast.  Unit quaternions are normalized first,
    so that derivatives are those by all nq numbers.  With `loads` there is a fourth argument
    (..., 6 n_loads), with `parameters` a last one (..., n_parameters), and derivatives with respect
    to them; a mapping gives the parameters fixed values.
    """
    try:
        import torch
    except ImportError:
        raise RequestError("symgen.torch needs PyTorch: pip install torch") from None
    found = functions_of(module, loads, parameters)
    return SimpleNamespace(**{name: _wrapped(torch, one) for name, one in found.items()})


def _wrapped(torch: Any, function: Differentiable) -> Any:
    generated = (
        _with_jacobians(torch, function)
        if function.along is None
        else with_products(torch, function)
    )

    def call(*arguments: Any) -> Any:
        if len(arguments) != len(function.arguments):
            words = ", ".join(function.arguments)
            raise RequestError(f"{function.name} takes {words}; found {len(arguments)} arguments")
        given = [torch.as_tensor(one) for one in arguments]
        batch = function.batched([tuple(one.shape) for one in given])
        given = [one.expand(*batch, one.shape[-1]) for one in given]
        if torch.is_grad_enabled():
            return generated(*given)
        return tensor(torch, function.value(*numbers(given)), given[0])

    call.__name__ = function.name
    call.__doc__ = f"{function.name}({', '.join(function.arguments)}), (..., n)."
    return call


def _with_jacobians(torch: Any, function: Differentiable) -> Any:
    class Generated(torch.autograd.Function):  # type: ignore[misc]
        """Result and Jacobians: in `torch.func`, only `forward` sees numbers."""

        @staticmethod
        def forward(*arguments: Any) -> tuple[Any, ...]:
            given = numbers(arguments)
            found = (function.value(*given), *function.jacobians(*given))
            return tuple(tensor(torch, one, arguments[0]) for one in found)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.mark_non_differentiable(*output[1:])
            ctx.save_for_backward(*output[1:])
            ctx.save_for_forward(*output[1:])

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, gradient: Any, *_: Any) -> tuple[Any, ...]:
            return tuple(
                torch.einsum("...i,...ij->...j", gradient, one) for one in ctx.saved_tensors
            )

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> tuple[Any, ...]:
            products = [
                torch.einsum("...ij,...j->...i", jacobian, one)
                for jacobian, one in zip(ctx.saved_tensors, tangents, strict=True)
                if one is not None
            ]
            return sum(products[1:], products[0]), *(None for _ in tangents)

        @staticmethod
        def vmap(info: Any, in_dims: Any, *arguments: Any) -> tuple[Any, Any]:
            found = Generated.apply(*in_front(info.batch_size, arguments, in_dims))
            return found, (0,) * len(found)

    return lambda *arguments: Generated.apply(*arguments)[0]
