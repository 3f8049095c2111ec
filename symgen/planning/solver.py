"""The solvers of nonlinear programs: IPOPT of CasADi's wheels, and trust-constr of SciPy.

solve      program, start, choices  ->  outcome, by the solver that was chosen
ready      the solver to use: the one asked for, else IPOPT, else trust-constr
"""

from __future__ import annotations

import importlib.util
import time

import numpy as np
from numpy.typing import NDArray

from symgen.errors import RequestError
from symgen.planning import ipopt, trust_constr
from symgen.planning.program import (
    IPOPT,
    SOLVED,
    TRUST_CONSTR,
    Choices,
    History,
    Interrupted,
    Outcome,
    Program,
    Report,
)

Array = NDArray[np.float64]

_MINIMISE = {IPOPT: ipopt.minimise, TRUST_CONSTR: trust_constr.minimise}
SOLVERS = tuple(_MINIMISE)


def solve(
    program: Program,
    start: Array,
    choices: Choices,
    interrupted: Interrupted,
    report: Report | None = None,
) -> Outcome:
    """Minimise from `start`; `ready` says whether that can be."""
    free, equations = unknowns_and_equations(program)
    if equations > free:
        raise RequestError(
            f"plan: {equations} equations for {free} unknowns: ask for less, or give the profile "
            "more segments; where a joint has no drive, 'method: collocation'"
        )
    history = History(report)
    begun = time.perf_counter()
    inside = np.clip(start, program.lower, program.upper)
    minimise = _MINIMISE[choices.solver]
    x, ended = minimise(program, inside, choices, interrupted, history)
    if ended != SOLVED and history.best is not None:
        x = history.best[1]
    return Outcome(x, ended, tuple(history.steps), time.perf_counter() - begun)


def unknowns_and_equations(program: Program) -> tuple[int, int]:
    """How many unknowns are free, and how many constraints are equations for them."""
    free = int(np.count_nonzero(program.lower < program.upper))
    return free, int(np.count_nonzero(program.lower_rows == program.upper_rows))


def ready(asked: str | None = None, *, exact_hessian: bool = True) -> str:
    """The solver to use; `RequestError` where it, or SciPy, is not installed."""
    if asked is None and not exact_hessian:
        asked = IPOPT
    if asked is not None and asked not in SOLVERS:
        raise RequestError(f"plan: solver: expected {' or '.join(SOLVERS)}, found {asked!r}")
    if importlib.util.find_spec("scipy") is None:
        raise RequestError(
            "planning needs SciPy, and CasADi with IPOPT to be fast: pip install scipy casadi"
        )
    if asked == TRUST_CONSTR:
        if not exact_hessian:
            raise RequestError(f"plan: limited memory is a choice of {IPOPT}, not of {asked}")
        return asked
    if _has_ipopt():
        return IPOPT
    if asked == IPOPT:
        raise RequestError(
            "plan: solver: ipopt needs CasADi's wheel: pip install casadi; without it, "
            f"{TRUST_CONSTR} of SciPy solves the same programs more slowly"
        )
    return TRUST_CONSTR


def _has_ipopt() -> bool:
    try:
        import casadi
    except ImportError:
        return False
    return bool(casadi.has_nlpsol("ipopt"))
