"""The nonlinear program of a plan: its terms together, as a solver asks for them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from symgen.planning.splines import Profile
from symgen.planning.structure import Pattern, pattern
from symgen.planning.terms import Fault, Iterate, Sizes, Term

Array = NDArray[np.float64]


class Problem:
    """The terms together, as a solver asks for them."""

    def __init__(
        self, profile: Profile, n: int, terms: Sequence[Term], lower: Array, upper: Array
    ) -> None:
        self.profile = profile
        self.sizes = Sizes(profile.controls, n, len(lower) - profile.controls * n - 1)
        self.terms = tuple(terms)
        self.lower, self.upper = lower, upper
        counts = [len(term.lower) for term in self.terms]
        self.starts = np.concatenate([[0], np.cumsum(counts)]).astype(int)
        self.rows = int(self.starts[-1])
        self.lower_rows = np.concatenate([np.zeros(0), *(term.lower for term in self.terms)])
        self.upper_rows = np.concatenate([np.zeros(0), *(term.upper for term in self.terms)])
        self.jacobian_pattern = self._jacobian_pattern()
        self.hessian_pattern = self._hessian_pattern()
        self.evaluations = 0
        self._iterate: tuple[bytes, Iterate] | None = None

    @property
    def unknowns(self) -> int:
        """Length of x."""
        return self.sizes.unknowns

    def _jacobian_pattern(self) -> Pattern:
        places = [term.jacobian_places() for term in self.terms]
        rows = [start + rows for start, (rows, _) in zip(self.starts, places, strict=False)]
        columns = [columns for _, columns in places]
        return pattern((self.rows, self.unknowns), np.concatenate(rows), np.concatenate(columns))

    def _hessian_pattern(self) -> Pattern:
        places = [term.hessian_places() for term in self.terms]
        rows = np.concatenate([rows for rows, _ in places])
        columns = np.concatenate([columns for _, columns in places])
        return pattern((self.unknowns, self.unknowns), rows, columns)

    def iterate(self, x: Array) -> Iterate:
        """What is known about x; the last one is remembered."""
        key = x.tobytes()
        if self._iterate is None or self._iterate[0] != key:
            self.evaluations += 1
            self._iterate = key, Iterate(np.array(x), self.sizes.controls, self.sizes.n)
        return self._iterate[1]

    def objective(self, x: Array) -> float:
        """What is made as small as possible."""
        at = self.iterate(x)
        return float(sum(term.objective(at) for term in self.terms))

    def gradient(self, x: Array) -> Array:
        """(unknowns,)."""
        at, found = self.iterate(x), np.zeros(self.unknowns)
        for term in self.terms:
            term.gradient(at, found)
        return found

    def constraints(self, x: Array) -> Array:
        """(rows,), to be between `lower_rows` and `upper_rows`."""
        at = self.iterate(x)
        return np.concatenate([np.zeros(0), *(term.value(at) for term in self.terms)])

    def jacobian(self, x: Array) -> Array:
        """The entries of `jacobian_pattern`."""
        at = self.iterate(x)
        return self.jacobian_pattern.summed(
            np.concatenate([term.jacobian(at) for term in self.terms])
        )

    def hessian(self, x: Array, weight: float, multipliers: Array) -> Array:
        """The entries of `hessian_pattern`, of weight * objective + multipliers . constraints."""
        at = self.iterate(x)
        parts = [
            term.hessian(at, weight, multipliers[start:end])
            for term, start, end in zip(self.terms, self.starts, self.starts[1:], strict=False)
        ]
        return self.hessian_pattern.summed(np.concatenate(parts))

    def broken(self, x: Array, least: float) -> list[Fault]:
        """Constraints exceeded by more than `least` (scaled), largest first.

        Of rows with one name the worst.
        """
        return [
            Fault(name, over, term.fault(row, over))
            for name, over, term, row in self._worst(x, least)
        ]

    def _worst(self, x: Array, least: float) -> list[tuple[str, float, Term, int]]:
        at, worst = self.iterate(x), dict[str, tuple[float, Term, int]]()
        for term in self.terms:
            g = term.value(at)
            over = np.maximum(np.maximum(term.lower - g, g - term.upper), 0.0)
            for row in np.flatnonzero(over > least):
                name, most = _name(term, int(row)), float(over[row])
                if name not in worst or most > worst[name][0]:
                    worst[name] = most, term, int(row)
        return sorted(
            ((name, *found) for name, found in worst.items()), key=lambda item: (-item[1], item[0])
        )


def _name(term: Term, row: int) -> str:
    """ "torque of elbow", "qd of elbow at via 1"."""
    if not term.labels:
        return term.name
    what, _, where = term.name.partition(" at ")
    label = term.labels[row % len(term.labels)]
    if term.axes:  # of a place
        what, label = label, what
    return f"{what} of {label}" + (f" at {where}" if where else "")
