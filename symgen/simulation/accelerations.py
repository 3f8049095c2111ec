"""The functions of a generated module that give accelerations and their sensitivities.

Four ways, one interface: ``solve(t, q, qd, x, dq, dqd, dx)`` returns y and dy, where

    y  = forward_dynamics(q, qd, x)   or, where joints are prescribed, hybrid_dynamics(q, qd, x)
    dy = dy/dq dq + dy/dqd dqd + dy/dx dx + dy/dp

x is what is given of every coordinate and y what is not: torque and acceleration of a free joint,
acceleration and torque of a prescribed one.  dq, dqd, dx, dy are ``(n, s)``, one column for each
sensitivity.  `BySensitivities` has dy from one recursion, `ByJacobians` from Jacobians and their
products; which of the two takes fewer operations depends on n, s and the number of parameters.
`Closed` is the way of mechanisms with loops or relations, by ``constrained_forward_dynamics``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from symgen.errors import RequestError
from symgen.simulation.arguments import Array, Columns, selection
from symgen.support.suggestions import suggestion

Options = dict[str, Array]
Solution = tuple[Array, Array | None]
Function = Callable[..., Any]

ALONG = "forward_dynamics_sensitivities"


class Way(Protocol):
    """One of the four ways."""

    functions: tuple[Function, ...]
    """What it calls."""

    def solve(
        self, t: float, q: Array, qd: Array, x: Array, dq: Array, dqd: Array, dx: Array,
        options: Options,
    ) -> Solution:  # fmt: skip
        """y ``(n,)`` and dy ``(n, s)``; the arrays may be those of the last call."""
        ...


def way_to_accelerations(
    module: Any, formulation: str | None, columns: Columns, held: NDArray[np.bool_]
) -> Way:
    """The cheapest way that the module has; RequestError names what is missing.

    `held` says of every coordinate whether its motion is prescribed.
    """
    if has_constraints(module):
        return _closed(module, formulation, columns, held)
    way = _of_tree(module, formulation, columns, held)
    return Timed(way) if getattr(module, "timed", False) else way


def _of_tree(
    module: Any, formulation: str | None, columns: Columns, held: NDArray[np.bool_]
) -> Way:
    """That of a robot without loops."""
    functions = module if formulation is None else formulation_of(module, formulation)
    law = "hybrid_dynamics" if held.any() else "forward_dynamics"
    if not len(columns):
        return Plain(function_of(functions, law))
    jacobians = [f"{law}_derivatives"]
    if columns.places.size:
        jacobians.append(f"{law}_parameter_derivatives")
    recursive = law == "forward_dynamics" and len(columns.places) == len(columns)
    ways: list[tuple[str, ...]] = [(ALONG,)] if recursive else []
    ways.append(tuple(jacobians))
    able = [names for names in ways if all(hasattr(functions, name) for name in names)]
    costs = [_operations(module, formulation, names, columns) for names in able]
    if not able:
        _refuse(functions, ways)
    cheapest = able[costs.index(min(costs))]
    found = tuple(function_of(functions, name) for name in cheapest)
    if cheapest == (ALONG,):
        return BySensitivities(found[0], module.n, int(module.n_parameters), columns)
    return ByJacobians(found, module.n, int(module.n_parameters), columns)


def has_constraints(module: Any) -> bool:
    """Whether it is that of a mechanism with loops or relations."""
    return bool(getattr(module, "n_constraints", 0))


def _closed(module: Any, formulation: str | None, columns: Columns, held: NDArray[np.bool_]) -> Way:
    """That of a mechanism; RequestError for what it cannot do yet."""
    asked = (
        (formulation is not None, "formulation: the accelerations of a mechanism have no other"),
        (bool(held.any()), "prescribed joints are not available yet in models with loops; write "
         "the motion as a relation, such as q.crank - 2*pi*t"),
    )  # fmt: skip
    for wrong, message in asked:
        if wrong:
            raise RequestError(f"simulate: {message}")
    if not len(columns):
        return Closed(function_of(module, "constrained_forward_dynamics"))
    names = ["constrained_forward_dynamics_derivatives"]
    if columns.places.size:
        names.append("constrained_forward_dynamics_parameter_derivatives")
    if columns.places.size and getattr(module, "tells_multipliers", False):
        names.append("constraint_multiplier_parameter_derivatives")
    return ClosedByJacobians([function_of(module, name) for name in names], columns)


def formulation_of(module: Any, name: str) -> Any:
    """The sub-module of a formulation."""
    names = tuple(module.formulations)
    if name not in names:
        raise RequestError(
            f"simulate: formulation: the module has no {name!r}; {suggestion(name, names)}"
        )
    return getattr(module, name)


def formulations_of(module: Any, functions: Iterable[Function]) -> str:
    """The formulations whose sub-modules hold these functions, separated by commas.

    The functions of the module itself are those of the fastest formulations.
    """
    names = tuple(getattr(module, "formulations", ()))
    found = [
        name
        for function in functions
        for name in names
        if any(function is member for member in vars(getattr(module, name)).values())
    ]
    return ", ".join(dict.fromkeys(found))


def function_of(functions: Any, name: str) -> Function:
    """A function of the module; RequestError if it was not built."""
    try:
        found: Function = getattr(functions, name)
    except AttributeError as error:
        raise RequestError(f"simulate needs {name}: {error}") from None
    return found


def _refuse(functions: Any, ways: list[tuple[str, ...]]) -> None:
    """RequestError in the words of the module about the first function that is missing."""
    choice = ", or ".join(" and ".join(names) for names in ways)
    missing = next(name for name in ways[0] if not hasattr(functions, name))
    try:
        getattr(functions, missing)
    except AttributeError as error:
        raise RequestError(f"sensitivities need {choice}: {error}") from None


def _operations(
    module: Any, formulation: str | None, names: tuple[str, ...], columns: Columns
) -> int:
    """Operations per instant, as far as the module counts them."""
    counts = getattr(module, "operation_counts", {})
    if formulation is not None:
        counts = {formulation: counts.get(formulation, {})}
    total = 0 if names == (ALONG,) else 6 * module.n**2 * len(columns)
    for name in names:
        found = [sum(of[name].values()) for of in counts.values() if name in of]
        total += min(found, default=0)
    return total


class Plain:
    """Without sensitivities."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.functions: tuple[Function, ...] = (function,)

    def solve(
        self, t: float, q: Array, qd: Array, x: Array, dq: Array, dqd: Array, dx: Array,
        options: Options,
    ) -> Solution:  # fmt: skip
        """y alone."""
        return self.function(q, qd, x, **options), None


class Timed:
    """A way whose functions take the time by keyword, because forces of the model mention it."""

    def __init__(self, way: Way) -> None:
        self.way, self.functions = way, way.functions

    def solve(
        self, t: float, q: Array, qd: Array, x: Array, dq: Array, dqd: Array, dx: Array,
        options: Options,
    ) -> Solution:  # fmt: skip
        """y and dy."""
        return self.way.solve(t, q, qd, x, dq, dqd, dx, {**options, "t": np.asarray(t)})


class Closed:
    """The tree with its loops closed, without sensitivities.

    `multipliers` (m,) are those of the last call.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.functions: tuple[Function, ...] = (function,)
        self.multipliers, self.dmultipliers = np.zeros(0), np.zeros((0, 0))

    def solve(
        self, t: float, q: Array, qd: Array, x: Array, dq: Array, dqd: Array, dx: Array,
        options: Options,
    ) -> Solution:  # fmt: skip
        """y alone."""
        found = self.function(q, qd, x, t=t, **options)
        self.multipliers = found.multipliers
        return found.qdd, None


class ClosedByJacobians:
    """The same with dy from the Jacobians of y, and the derivatives (m, s) of the multipliers.

    Of these the explicit part is there only where outputs mention multipliers.
    """

    def __init__(self, functions: Sequence[Function], columns: Columns) -> None:
        self.functions = tuple(functions)
        self.multipliers, self.dmultipliers = np.zeros(0), np.zeros((0, 0))
        self.chosen, self.places = selection(columns.parameters), selection(columns.places)

    def solve(
        self, t: float, q: Array, qd: Array, x: Array, dq: Array, dqd: Array, dx: Array,
        options: Options,
    ) -> Solution:  # fmt: skip
        """y and dy."""
        derivatives, *by_parameters = self.functions
        found = derivatives(q, qd, x, t=t, **options)
        self.multipliers = found.multipliers
        dy = found.dqdd_dq @ dq + found.dqdd_dqd @ dqd + found.dqdd_dtau @ dx
        moved = found.dmultipliers_dq @ dq + found.dmultipliers_dqd @ dqd
        self.dmultipliers = moved + found.dmultipliers_dtau @ dx
        for slope, function in zip((dy, self.dmultipliers), by_parameters, strict=False):
            slope[:, self.places] += function(q, qd, x, t=t, **options)[:, self.chosen]
        return found.qdd, dy


class BySensitivities:
    """One call that takes dq, dqd, dtau of all runtime parameters and returns dqdd of all."""

    def __init__(self, function: Function, n: int, n_parameters: int, columns: Columns) -> None:
        self.function = function
        self.functions: tuple[Function, ...] = (function,)
        self.chosen = selection(columns.parameters)
        self.all = np.array_equal(columns.parameters, np.arange(n_parameters))
        # parameters that were not asked for keep a direction of their own, which is not used
        self.wide = tuple(np.zeros((n, n_parameters)) for _ in range(3))
        self.results = (np.empty(n), np.empty((n, n_parameters)))

    def solve(
        self, t: float, q: Array, qd: Array, x: Array, dq: Array, dqd: Array, dx: Array,
        options: Options,
    ) -> Solution:  # fmt: skip
        """y and dy."""
        directions: tuple[Array, ...] = (dq, dqd, dx)
        if not self.all:
            for wide, given in zip(self.wide, directions, strict=True):
                wide[:, self.chosen] = given
            directions = self.wide
        y, dy = self.function(q, qd, x, *directions, **options, out=self.results)
        return y, dy if self.all else dy[:, self.chosen]


class ByJacobians:
    """dy from the Jacobians of y."""

    def __init__(
        self, functions: tuple[Function, ...], n: int, n_parameters: int, columns: Columns
    ) -> None:
        self.functions, self.derivatives = functions, functions[0]
        self.by_parameters = functions[1] if len(functions) > 1 else None
        self.chosen, self.places = selection(columns.parameters), selection(columns.places)
        self.results = (np.empty(n), *(np.empty((n, n)) for _ in range(3)))
        self.explicit = np.empty((n, n_parameters))

    def solve(
        self, t: float, q: Array, qd: Array, x: Array, dq: Array, dqd: Array, dx: Array,
        options: Options,
    ) -> Solution:  # fmt: skip
        """y and dy."""
        y, dy_dq, dy_dqd, dy_dx = self.derivatives(q, qd, x, **options, out=self.results)
        dy: Array = dy_dq.dot(dq) + dy_dqd.dot(dqd) + dy_dx.dot(dx)
        if self.by_parameters is not None:
            self.by_parameters(q, qd, x, **options, out=self.explicit)
            dy[:, self.places] += self.explicit[:, self.chosen]
        return y, dy
