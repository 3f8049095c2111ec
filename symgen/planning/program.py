"""What a solver takes and gives: programs, choices, iterates, outcomes, Ctrl-C.

Ctrl-C stops a solver.  The best iterate is kept: the one of the smallest objective among those
that keep all limits, else that of the smallest violation.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from symgen.planning.structure import Pattern

Array = NDArray[np.float64]

TOLERANCE = 1e-9
"""Of limits and of optimality, both scaled."""
MOST_ITERATIONS = 1000
IPOPT, TRUST_CONSTR = "ipopt", "trust-constr"
SOLVED, STOPPED, INFEASIBLE, UNFINISHED = "solved", "stopped", "infeasible", "unfinished"
EXCEEDED = "exceeded"
"""The status of a plan that keeps its limits at its instants, and not between them."""


class Program(Protocol):
    """A nonlinear program: minimise the objective, with limits of unknowns and constraints."""

    rows: int
    lower: Array
    upper: Array
    lower_rows: Array
    upper_rows: Array
    jacobian_pattern: Pattern
    hessian_pattern: Pattern

    @property
    def unknowns(self) -> int:
        """Length of x."""

    def objective(self, x: Array) -> float:
        """What is minimised."""

    def gradient(self, x: Array) -> Array:
        """Its derivatives."""

    def constraints(self, x: Array) -> Array:
        """Between `lower_rows` and `upper_rows`."""

    def jacobian(self, x: Array) -> Array:
        """Entries of `jacobian_pattern`."""

    def hessian(self, x: Array, weight: float, multipliers: Array) -> Array:
        """Entries of `hessian_pattern`."""


@dataclass(frozen=True)
class Step:
    """An iterate, as the solver reports it."""

    number: int
    objective: float
    violation: float


Report = Callable[[Step], None]


@dataclass
class History:
    """Iterates so far, and the best of them; `violation` is scaled as the solver's constraints."""

    report: Report | None
    steps: list[Step] = field(default_factory=list)
    best: tuple[tuple[float, float], Array] | None = None

    def add(self, x: Array, objective: float, violation: float) -> None:
        """Note an iterate."""
        step = Step(len(self.steps), objective, violation)
        self.steps.append(step)
        kept = violation <= 1e-6
        rank = (0.0, objective) if kept else (violation, objective)
        if self.best is None or rank < self.best[0]:
            self.best = rank, np.array(x)
        if self.report is not None:
            self.report(step)


@dataclass(frozen=True)
class Outcome:
    """What a solver found: x, how it ended, the iterates on the way."""

    x: Array
    ended: str
    steps: tuple[Step, ...]
    seconds: float


@dataclass(frozen=True)
class Choices:
    """What a user may choose about a solver."""

    tolerance: float = TOLERANCE
    most_iterations: int = MOST_ITERATIONS
    exact: bool = True
    """The exact Hessian; else a limited-memory approximation (L-BFGS)."""
    mu: float | None = None
    """The barrier parameter to begin with; a small one where the start is near an optimum."""
    solver: str = IPOPT


class Interrupted:
    """Whether Ctrl-C was pressed; a second one ends the program as usual."""

    def __init__(self) -> None:
        self.pressed = False

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Hear Ctrl-C rather than be ended by it; in threads that cannot, nothing happens."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.getsignal(signal.SIGINT)
        if not callable(before):  # ignored, as under nohup
            yield
            return

        def note(_number: int, _frame: Any) -> None:
            self.pressed = True
            signal.signal(signal.SIGINT, before)

        signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


def violation(program: Program, x: Array, g: Array) -> float:
    """How far limits are exceeded at worst, in units of the constraints."""
    over = (program.lower_rows - g, g - program.upper_rows, program.lower - x, x - program.upper)
    return float(max(0.0, *(np.max(part, initial=0.0) for part in over)))
