"""The functions of a generated module that give accelerations and their sensitivities.

A `Method` returns y and dy of a `Point`, where

    y  = forward_dynamics(q, qd, x)   or, where joints are prescribed, hybrid_dynamics(q, qd, x)
    dy = dy/dq dq + dy/dqd dqd + dy/dx dx + dy/dp

x and y are torque and acceleration of a free joint, acceleration and torque of a prescribed one.
dq, dqd, dx, dy are
``(n, s)``, one column for each sensitivity.  `BySensitivities` has dy from one recursion,
`ByJacobians` from Jacobians and their products; which of the two takes fewer operations depends on
n, s and the number of parameters.  `ClosedByJacobians` is for mechanisms with loops or relations,
by ``constrained_forward_dynamics``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from symgen.errors import RequestError
from symgen.simulation.arguments import Columns, selection
from symgen.support.arrays import Array, Flags
from symgen.support.suggestions import suggestion

Options = dict[str, Array]
Function = Callable[..., Any]

ALONG = "forward_dynamics_sensitivities"


class Point(NamedTuple):
    """Arguments of a method: q (nq,), qd, x (n,), and their sensitivities (n, s)."""

    q: Array
    qd: Array
    x: Array
    dq: Array
    dqd: Array
    dx: Array


class Method:
    """y alone, by one function; the base of the other methods.

    Functions that are `timed` take t by keyword.  `multipliers` (m,) of the last call and their
    derivatives (m, s) are those of mechanisms.
    """

    def __init__(self, functions: Sequence[Function]) -> None:
        self.functions, self.timed = tuple(functions), False
        self.multipliers, self.dmultipliers = np.zeros(0), np.zeros((0, 0))

    def solve(self, at: Point, options: Options) -> tuple[Array, Array | None]:
        """Return y ``(n,)`` and dy ``(n, s)``; the arrays may be those of the last call."""
        (function,) = self.functions
        y = function(at.q, at.qd, at.x, **options)
        if isinstance(y, tuple):  # of a mechanism
            y, self.multipliers = y
        return y, None


class ClosedByJacobians(Method):
    """Accelerations of a mechanism; dy and derivatives of the multipliers from Jacobians.

    Explicit derivatives of multipliers are computed only where outputs mention multipliers.
    """

    def __init__(self, functions: Sequence[Function], columns: Columns) -> None:
        super().__init__(functions)
        self.chosen, self.indices = selection(columns.parameters), selection(columns.indices)

    def solve(self, at: Point, options: Options) -> tuple[Array, Array | None]:
        """Return y and dy."""
        derivatives, *by_parameters = self.functions
        by = derivatives(at.q, at.qd, at.x, **options)
        self.multipliers = by.multipliers
        dy = by.dqdd_dq @ at.dq + by.dqdd_dqd @ at.dqd + by.dqdd_dtau @ at.dx
        by_state = by.dmultipliers_dq @ at.dq + by.dmultipliers_dqd @ at.dqd
        self.dmultipliers = by_state + by.dmultipliers_dtau @ at.dx
        for slope, function in zip((dy, self.dmultipliers), by_parameters, strict=False):
            slope[:, self.indices] += function(at.q, at.qd, at.x, **options)[:, self.chosen]
        return by.qdd, dy


class BySensitivities(Method):
    """One call that takes dq, dqd, dtau of all runtime parameters and returns dqdd of all."""

    def __init__(
        self, functions: Sequence[Function], n: int, n_parameters: int, columns: Columns
    ) -> None:
        super().__init__(functions)
        self.chosen = selection(columns.parameters)
        self.all = np.array_equal(columns.parameters, np.arange(n_parameters))
        # directions of other parameters stay 0, and their results are not used
        self.wide = tuple(np.zeros((n, n_parameters)) for _ in range(3))
        self.results = (np.empty(n), np.empty((n, n_parameters)))

    def solve(self, at: Point, options: Options) -> tuple[Array, Array | None]:
        """Return y and dy."""
        directions: tuple[Array, ...] = at[3:]
        if not self.all:
            for wide, direction in zip(self.wide, directions, strict=True):
                wide[:, self.chosen] = direction
            directions = self.wide
        (function,) = self.functions
        y, dy = function(*at[:3], *directions, **options, out=self.results)
        return y, dy if self.all else dy[:, self.chosen]


class ByJacobians(Method):
    """dy from the Jacobians of y."""

    def __init__(
        self, functions: Sequence[Function], n: int, n_parameters: int, columns: Columns
    ) -> None:
        super().__init__(functions)
        self.chosen, self.indices = selection(columns.parameters), selection(columns.indices)
        self.results = (np.empty(n), *(np.empty((n, n)) for _ in range(3)))
        self.explicit = np.empty((n, n_parameters))

    def solve(self, at: Point, options: Options) -> tuple[Array, Array | None]:
        """Return y and dy."""
        derivatives, *by_parameters = self.functions
        y, dy_dq, dy_dqd, dy_dx = derivatives(*at[:3], **options, out=self.results)
        dy: Array = dy_dq.dot(at.dq) + dy_dqd.dot(at.dqd) + dy_dx.dot(at.dx)
        for function in by_parameters:
            function(*at[:3], **options, out=self.explicit)
            dy[:, self.indices] += self.explicit[:, self.chosen]
        return y, dy


def method_of(module: Any, formulation: str | None, columns: Columns, held: Flags) -> Method:
    """Return the cheapest method that the module has; RequestError names missing functions.

    `held` (n,) says of every coordinate whether its motion is prescribed.
    """
    closed = has_constraints(module)
    method = (_closed if closed else _of_tree)(module, formulation, columns, held)
    method.timed = closed or bool(getattr(module, "timed", False))
    return method


def _of_tree(module: Any, formulation: str | None, columns: Columns, held: Flags) -> Method:
    """Return the method of a robot without loops."""
    functions = module
    if formulation is not None:
        names = tuple(module.formulations)
        if formulation not in names:
            hint = suggestion(formulation, names)
            raise RequestError(f"simulate: formulation: the module has no {formulation!r}; {hint}")
        functions = getattr(module, formulation)
    law = "hybrid_dynamics" if held.any() else "forward_dynamics"
    if not len(columns):
        return Method([function_of(functions, law)])
    jacobians = [f"{law}_derivatives"]
    if columns.indices.size:
        jacobians.append(f"{law}_parameter_derivatives")
    recursive = law == "forward_dynamics" and len(columns.indices) == len(columns)
    choices: list[tuple[str, ...]] = [(ALONG,)] if recursive else []
    choices.append(tuple(jacobians))
    able = [names for names in choices if all(hasattr(functions, name) for name in names)]
    costs = [_operations(module, formulation, names, columns) for names in able]
    if not able:
        _refuse(functions, choices)
    cheapest = able[costs.index(min(costs))]
    called = tuple(function_of(functions, name) for name in cheapest)
    kind = BySensitivities if cheapest == (ALONG,) else ByJacobians
    return kind(called, module.n, int(module.n_parameters), columns)


def has_constraints(module: Any) -> bool:
    """Return whether a module has loops or relations."""
    return bool(getattr(module, "n_constraints", 0))


def _closed(module: Any, formulation: str | None, columns: Columns, held: Flags) -> Method:
    """Return the method of a mechanism; RequestError for options that it does not support yet."""
    if formulation is not None:
        raise RequestError("simulate: formulation: the accelerations of a mechanism have no other")
    if held.any():
        raise RequestError(
            "simulate: prescribed joints are not available yet in models with loops; write the "
            "motion as a relation, such as q.crank - 2*pi*t"
        )
    if not len(columns):
        return Method([function_of(module, "constrained_forward_dynamics")])
    names = ["constrained_forward_dynamics_derivatives"]
    if columns.indices.size:
        names.append("constrained_forward_dynamics_parameter_derivatives")
    if columns.indices.size and getattr(module, "tells_multipliers", False):
        names.append("constraint_multiplier_parameter_derivatives")
    return ClosedByJacobians([function_of(module, name) for name in names], columns)


def formulations_of(module: Any, functions: Iterable[Function]) -> str:
    """Return the formulations whose sub-modules hold these functions, separated by commas.

    The functions of the module itself are those of the fastest formulations.
    """
    names = tuple(getattr(module, "formulations", ()))
    holding = [
        name
        for function in functions
        for name in names
        if any(function is member for member in vars(getattr(module, name)).values())
    ]
    return ", ".join(dict.fromkeys(holding))


def function_of(functions: Any, name: str) -> Function:
    """Return a function of the module; RequestError if it was not built."""
    try:
        function: Function = getattr(functions, name)
    except AttributeError as error:
        raise RequestError(f"simulate needs {name}: {error}") from None
    return function


def _refuse(functions: Any, choices: list[tuple[str, ...]]) -> None:
    """Raise `RequestError` with the module's message about the first missing function."""
    choice = ", or ".join(" and ".join(names) for names in choices)
    missing = next(name for name in choices[0] if not hasattr(functions, name))
    try:
        getattr(functions, missing)
    except AttributeError as error:
        raise RequestError(f"sensitivities need {choice}: {error}") from None


def _operations(
    module: Any, formulation: str | None, names: tuple[str, ...], columns: Columns
) -> int:
    """Return operations per instant, where the module has their counts."""
    counts = getattr(module, "operation_counts", {})
    if formulation is not None:
        counts = {formulation: counts.get(formulation, {})}
    total = 0 if names == (ALONG,) else 6 * module.n**2 * len(columns)
    for name in names:
        sums = [sum(of[name].values()) for of in counts.values() if name in of]
        total += min(sums, default=0)
    return total
