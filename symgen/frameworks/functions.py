"""Generated functions with derivatives, in one form for every library.

A `Differentiable` maps arguments (..., size) with equal batch axes to one result (..., size), and
has a Jacobian (..., result, argument) by each.  Loads, which have two axes, are flattened to
(..., 6 n_loads).

Libraries take steps from q to any nq numbers, without unit quaternions.  So these are functions of
the normalized q, with derivatives by nq independent numbers: those of the module, in the tangent
space, times `Configuration.tangents`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgen.errors import RequestError
from symgen.runtime.configuration import Configuration, configuration_of
from symgen.support.arrays import Array

STATE = {
    "inverse_dynamics": ("q", "qd", "qdd"),
    "forward_dynamics": ("q", "qd", "tau"),
    "constrained_inverse_dynamics": ("q", "qd", "qdd"),
    "constrained_forward_dynamics": ("q", "qd", "tau"),
}
"""Functions for libraries, with their first three arguments; the latter two of models with loops,
whose multipliers stand between a value and its derivatives."""
NEEDED = (
    "inverse_dynamics_derivatives", "mass_matrix", "bias_forces", "constraint_bias",
    "constraint_rate_derivatives", "constraint_torque_derivatives",
    "constraint_acceleration_derivatives",
)  # fmt: skip
"""Functions that derivatives with loops consist of."""


@dataclass(frozen=True)
class Differentiable:
    """A function with exact first derivatives.

    `value(*arguments)` and `jacobians(*arguments)`, one for each argument; `sizes` are those of the
    arguments, `size` that of the result.  Where the module has products, `along(*arguments,
    *directions)` is the derivative along a direction, and `backwards(*arguments, weights)` the
    gradient of weights . value by each argument; else both are None.  `curved(*arguments, weights,
    *directions)` is the change of that gradient along the directions, or None.
    """

    name: str
    arguments: tuple[str, ...]
    sizes: tuple[int, ...]
    size: int
    value: Callable[..., Array]
    jacobians: Callable[..., tuple[Array, ...]]
    along: Callable[..., Array] | None = None
    backwards: Callable[..., tuple[Array, ...]] | None = None
    curved: Callable[..., tuple[Array, ...]] | None = None

    @property
    def no_second(self) -> str:
        """Message where derivatives of second order are not available."""
        needed = ", ".join(f"{self.name}_{product}" for product in ("jvp", "vjp", "hvp"))
        return (
            f"{self.name}: second derivatives need {needed} (add them to --functions), and joints "
            "without quaternions"
        )

    def batched(self, shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
        """Return the batch axes of arguments of these shapes; `RequestError` if they do not fit."""
        if len(shapes) != len(self.arguments):
            words = ", ".join(self.arguments)
            raise RequestError(f"{self.name} takes {words}; found {len(shapes)} arguments")
        for name, size, shape in zip(self.arguments, self.sizes, shapes, strict=True):
            if not shape or shape[-1] != size:
                raise RequestError(
                    f"{self.name}: {name}: expected shape (..., {size}), found {tuple(shape)}"
                )
        try:
            return np.broadcast_shapes(*(shape[:-1] for shape in shapes))
        except ValueError:
            words = ", ".join(str(tuple(shape)) for shape in shapes)
            raise RequestError(f"{self.name}: batch axes do not fit: {words}") from None


def functions_of(
    module: Any, loads: bool, parameters: bool | Mapping[str, float]
) -> dict[str, Differentiable]:
    """Return the functions of a module.

    With `loads` these are the fourth argument; with `parameters` the runtime parameters are the
    last; a mapping fixes their values instead.
    """
    if loads and not module.n_loads:
        raise RequestError(
            "this robot has no loads; --load LINK adds one, or 'loads:' in a model file"
        )
    if getattr(module, "timed", False):
        raise RequestError(
            "a force of this robot's model mentions the time, t, which these functions do not "
            "take; give it as one of 'loads', with loads=True"
        )
    if parameters and not module.n_parameters:
        raise RequestError(
            "this module has no runtime parameters; name them when it is built: "
            "runtime_parameters='m1,m2'"
        )
    fixed = dict(parameters) if isinstance(parameters, Mapping) else {}
    results = {}
    for name in STATE:
        built = {name, f"{name}_derivatives"} <= set(module.functions)
        if built or (hasattr(module, name) and set(NEEDED) <= set(module.functions)):
            results[name] = _function(module, name, loads, parameters is True, fixed)
    if not results:
        raise RequestError("the module has no derivatives; rebuild it without --functions")
    if "constrained_forward_dynamics" in results and module._timed_relations:
        raise RequestError(
            "a relation of this robot's model mentions the time, t, which these functions do not "
            "take; a drive takes the place of such a relation"
        )
    return results


class Functions:
    """Functions of a module for a library, as attributes."""

    def __init__(self, module: Any, functions: Mapping[str, Any]) -> None:
        self.__dict__.update(functions)
        self._module = module

    def __getattr__(self, name: str) -> Any:
        there = ", ".join(x for x in vars(self) if not x.startswith("_"))
        if name.startswith("_") or hasattr(self._module, name):
            raise AttributeError(f"{name} is not one of the functions for libraries: {there}")
        return getattr(self._module, name)  # whose error says why it is missing


def _function(
    module: Any, name: str, loads: bool, parameters: bool, fixed: Mapping[str, float]
) -> Differentiable:
    arguments = STATE[name] + ("loads",) * loads + ("parameters",) * parameters
    sizes = (module.nq, module.n, module.n)
    sizes += (6 * module.n_loads,) * loads + (module.n_parameters,) * parameters
    space = configuration_of(module)

    def keywords(more: Sequence[Array], prefix: str = "d") -> dict[str, Any]:
        """Return loads and parameters by keyword, or their directions."""
        inputs: dict[str, Any] = {}
        if loads:
            inputs[f"{prefix}loads"] = more[0].reshape(*more[0].shape[:-1], module.n_loads, 6)
        if parameters:
            inputs[f"{prefix}parameters"] = more[-1]
        return inputs

    def options(more: Sequence[Array]) -> dict[str, Any]:
        return ({"parameters": dict(fixed)} if fixed else {}) | keywords(more, "")

    def value(*inputs: Array) -> Array:
        function = getattr(module, name)
        inputs = _normalized(space, inputs)
        result = function(*inputs[:3], **options(inputs[3:]))
        return np.asarray(result[0] if isinstance(result, tuple) else result)

    def jacobians(*inputs: Array) -> tuple[Array, ...]:
        q, inputs = inputs[0], _normalized(space, inputs)
        state, more = inputs[:3], options(inputs[3:])
        derived = getattr(module, f"{name}_derivatives")(*state, **more)
        first = 2 if hasattr(derived, "multipliers") else 1
        results = list(derived[first : first + len(state)])
        if loads:
            by_torques = -results[2] if arguments[2] == "tau" else None
            by_torques = getattr(derived, "dtau_dtree", by_torques)
            results.append(_by_loads(module, inputs, more, by_torques))
        if parameters:
            results.append(getattr(module, f"{name}_parameter_derivatives")(*state, **more))
        if space is not None:
            results[0] = results[0] @ space.tangents(q)
        return tuple(np.asarray(x) for x in results)

    def along(*operands: Array) -> Array:
        q, inputs = operands[0], _normalized(space, operands[: len(arguments)])
        directions = list(operands[len(arguments) :])
        if space is not None:
            directions[0] = (space.tangents(q) @ directions[0][..., np.newaxis])[..., 0]
        more = options(inputs[3:]) | keywords(directions[3:])
        results = getattr(module, f"{name}_jvp")(*inputs[:3], *directions[:3], **more)
        return np.asarray(results[1])

    def backwards(*operands: Array) -> tuple[Array, ...]:
        *first, weights = operands
        q, inputs = first[0], _normalized(space, tuple(first))
        *results, by_loads, by_parameters = getattr(module, f"{name}_vjp")(
            *inputs[:3], weights, **options(inputs[3:])
        )
        if space is not None:
            results[0] = (results[0][..., np.newaxis, :] @ space.tangents(q))[..., 0, :]
        return flattened(results, by_loads, by_parameters)

    def flattened(results: list[Array], by_loads: Array, by_parameters: Array) -> tuple[Array, ...]:
        if loads:
            results.append(by_loads.reshape(*by_loads.shape[:-2], -1))
        return (*results, by_parameters) if parameters else tuple(results)

    def curved(*operands: Array) -> tuple[Array, ...]:
        count = len(arguments)
        inputs, weights, directions = operands[:count], operands[count], operands[-count:]
        more = options(inputs[3:]) | keywords(directions[3:])
        *results, by_loads, by_parameters = getattr(module, f"{name}_hvp")(
            *inputs[:3], weights, *directions[:3], **more
        )
        return flattened(results, by_loads, by_parameters)

    products = {f"{name}_jvp", f"{name}_vjp"} <= set(module.functions)
    return Differentiable(
        name, arguments, sizes, module.n, value, jacobians,
        along if products else None, backwards if products else None,
        curved if module.nq == module.n and f"{name}_hvp" in module.functions else None,
    )  # fmt: skip


def _normalized(space: Configuration | None, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
    """Return the arguments, q first, with quaternions of unit norm."""
    return inputs if space is None else (space.normalize(inputs[0]), *inputs[1:])


def _by_loads(
    module: Any, inputs: tuple[Array, ...], more: Mapping[str, Any], by_torques: Array | None
) -> Array:
    """Return derivatives by loads, flattened, of torques or of what has derivatives by those."""
    parameters = {key: value for key, value in more.items() if key == "parameters"}
    slopes = np.asarray(module.inverse_dynamics_load_derivatives(inputs[0], **parameters))
    slopes = slopes.reshape(*slopes.shape[:-2], -1)
    batch = np.broadcast_shapes(*(x.shape[:-1] for x in inputs))
    slopes = np.broadcast_to(slopes, (*batch, *slopes.shape[-2:]))
    return slopes if by_torques is None else np.asarray(by_torques @ slopes)
