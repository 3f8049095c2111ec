"""The integrator: `Solver` is what was asked of it, checked; `integrate` runs it and checks again.

Integrators of scipy are given only what they can work with, because several of them run forever
otherwise (no tolerance at all, say).  Some of them return what is not finite as if nothing were
wrong, and others stop at it with an error of their own; `Motion.lost` tells which it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from symgen.errors import RequestError
from symgen.simulation.arguments import Array, meant, numbers
from symgen.simulation.motion import Motion

METHODS = ("DOP853", "RK45", "RK23", "Radau", "BDF", "LSODA")


@dataclass(frozen=True)
class Solver:
    """The options of `scipy.integrate.solve_ivp`, under its names."""

    method: str
    rtol: float
    atol: float
    first_step: float | None
    max_step: float


def checked_solver(
    method: Any, rtol: Any, atol: Any, first_step: Any, max_step: Any, t: Array
) -> Solver:
    """The options for an integration over the times `t`; RequestError for what makes no sense."""
    if not isinstance(method, str) or method not in METHODS:
        raise RequestError(f"simulate: no method is called {method!r}{meant(method, METHODS)}")
    duration = float(t[-1] - t[0])
    step = None
    if first_step is not None:
        words = f"positive, at most {duration:g} s from the first to the last"
        step = _number("first_step", first_step, lambda h: 0 < h <= duration, words)
    return Solver(
        method,
        _number("rtol", rtol, lambda x: 0 < x < np.inf, "positive and finite"),
        _number("atol", atol, lambda x: 0 <= x < np.inf, "at least 0 and finite"),
        step,
        _number("max_step", max_step, lambda h: h > 0, "positive"),
    )


def integrate(
    solve_ivp: Any, motion: Motion, t: Array, start: Array, solver: Solver
) -> tuple[Array, int]:
    """The vector at all times, (m, ...), and how often its slope was asked for."""
    if not start.size:
        return np.tile(start, (len(t), 1)), 0
    if not (solver.atol + solver.rtol * np.abs(start) > 0).all():
        raise RequestError(
            "simulate: atol: 0 leaves no tolerance to what is 0 at the start; give a positive one"
        )
    try:
        found = solve_ivp(motion.slope, (t[0], t[-1]), start, t_eval=t, **asdict(solver))
    except ValueError as error:
        if motion.lost is None:
            raise  # from a function of the user
        reason = str(error)
    else:
        if found.success and np.isfinite(found.y).all():
            return np.ascontiguousarray(found.y.T), int(found.nfev)
        reason = "the result is not finite." if found.success else found.message
    where = f"{reason} {motion.state()}"
    if motion.lost is not None:
        where = f"the motion is not finite at {motion.lost} ({reason.rstrip('.')})"
    raise RequestError(f"simulate: {solver.method}: {where}")


def _number(name: str, value: Any, sound: Callable[[float], bool], words: str) -> float:
    found = float(numbers(name, value, ()))
    if not sound(found):
        raise RequestError(f"simulate: {name}: expected a number that is {words}; got {found:g}")
    return found
