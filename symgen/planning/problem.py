"""Nonlinear programs as sums of terms: rows of constraints, parts of the objective, or both.

The unknowns are x = (c, T, u): control points c (M, n), row by row, the total time, and loads u
at instants where those are unknown.  Each term knows which of its derivatives can be non-zero, so
that Jacobian and Hessian are sparse.

    Linear      A x / T^r: end and via states, limits of velocity, acceleration and jerk, periodic
                and mirrored motions, travel in proportion to the time, friction
    Time        T
    Quadratic   T^r x . Q x: integrals of squared accelerations, jerks and unknown loads
    Sampled     functions of the state at instants (`symgen.planning.samples`)
    Segments, NodeLimits    of direct collocation (`symgen.planning.collocation`)

Limits of derivatives are those of the control points of the derivative, which hold between
instants, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np

from symgen.support.arrays import Array, Index

Entries = tuple[Index, Index]
"""Rows and columns."""

GENTLE = 1e-3
"""Curvature of the search for any motion that keeps its limits."""
_NO_ROWS: Array = np.zeros(0)
_NO_ENTRIES: Entries = np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)


class Fault(NamedTuple):
    """A violated constraint: its name, excess relative to the limit, and message."""

    name: str
    over: float
    text: str


@dataclass(frozen=True)
class Pattern:
    """Positions (rows[k], columns[k]) of a sparse matrix, column by column, without repetition.

    `order` maps entries in the order of their computation to positions: entries at one position are
    added.
    """

    shape: tuple[int, int]
    rows: Index
    columns: Index
    order: Index

    @classmethod
    def of(cls, shape: tuple[int, int], rows: Index, columns: Index) -> Pattern:
        """Return the pattern with entries at these positions."""
        keys, order = np.unique(columns * shape[0] + rows, return_inverse=True)
        return cls(shape, keys % shape[0], keys // shape[0], order.reshape(-1))

    def summed(self, values: Array) -> Array:
        """Return the entries, (len(rows),), from `values` (k,) in the order of computation."""
        size = len(self.rows)
        if len(self.order) == size:  # nothing to add up
            entries = np.empty(size)
            entries[self.order] = values
            return entries
        return np.asarray(np.bincount(self.order, values, size), dtype=float)


class Iterate:
    """An x, and results of terms for it."""

    def __init__(self, x: Array, controls: int, n: int) -> None:
        self.x = x
        self.control = x[: controls * n].reshape(controls, n)
        self.T = float(x[controls * n])
        self.loads = x[controls * n + 1 :]
        self.memory: dict[Any, Any] = {}


Result = TypeVar("Result")


def once(method: Callable[[Any, Iterate], Result]) -> Callable[[Any, Iterate], Result]:
    """Compute a method of an iterate once for each of them."""

    @wraps(method)
    def remembered(self: Any, at: Iterate) -> Result:
        key = id(self), method.__name__
        if key not in at.memory:
            at.memory[key] = method(self, at)
        return at.memory[key]  # type: ignore[no-any-return]

    return remembered


@dataclass(frozen=True)
class Sizes:
    """Control points, coordinates, unknown loads; unknowns are numbered in the order of x."""

    controls: int
    n: int
    loads: int = 0

    @property
    def time(self) -> int:
        """The number of T among the unknowns."""
        return self.controls * self.n

    @property
    def unknowns(self) -> int:
        """Length of x."""
        return self.time + 1 + self.loads


@dataclass
class Term:
    """Rows of constraints between `lower` and `upper`, and a part of the objective.

    The base has neither.  `labels` name rows in messages, repeated in order; with `axes` they are
    axes of the point called `name`, not entries of a quantity.
    """

    sizes: Sizes
    name: str
    lower: Array = field(default_factory=lambda: _NO_ROWS)
    upper: Array = field(default_factory=lambda: _NO_ROWS)
    labels: tuple[str, ...] = ()
    axes: bool = field(default=False, kw_only=True)

    def fault(self, row: int, over: float) -> str:
        """Describe a row that is exceeded by `over`: in per cent, or an equation not met."""
        equation = self.lower[row] == self.upper[row]
        return "not met" if equation else f"exceeded by {percent(over)}"

    def name_of(self, row: int) -> str:
        """ "torque of elbow", "qd of elbow at via 1"."""
        if not self.labels:
            return self.name
        quantity, _, instant = self.name.partition(" at ")
        label = self.labels[row % len(self.labels)]
        name = f"{label} of {quantity}" if self.axes else f"{quantity} of {label}"
        return f"{name} at {instant}" if instant else name

    def value(self, at: Iterate) -> Array:
        """Return the constraints, (rows,)."""
        return _NO_ROWS

    def jacobian_positions(self) -> Entries:
        """Return row and unknown of every entry of `jacobian`."""
        return _NO_ENTRIES

    def jacobian(self, at: Iterate) -> Array:
        """Return entries of the derivatives of the constraints."""
        return _NO_ROWS

    def objective(self, at: Iterate) -> float:
        """Return the part of the objective."""
        return 0.0

    def gradient(self, at: Iterate, into: Array) -> None:
        """Add the derivatives of the objective by all unknowns to `into` (unknowns,)."""

    def hessian_positions(self) -> Entries:
        """Return row and column, row <= column, of every entry of `hessian`."""
        return _NO_ENTRIES

    def hessian(self, at: Iterate, weight: float, multipliers: Array) -> Array:
        """Return second derivatives of weight * objective + multipliers (rows,) . constraints."""
        return _NO_ROWS


class Problem:
    """The program of all terms, for solvers: minimise the objective within limits."""

    def __init__(self, sizes: Sizes, terms: Sequence[Term], lower: Array, upper: Array) -> None:
        self.sizes, self.terms = sizes, tuple(terms)
        self.lower, self.upper = lower, upper
        counts = [len(term.lower) for term in self.terms]
        self.starts = np.concatenate([[0], np.cumsum(counts)]).astype(int)
        self.rows = int(self.starts[-1])
        self.lower_rows = np.concatenate([_NO_ROWS, *(term.lower for term in self.terms)])
        self.upper_rows = np.concatenate([_NO_ROWS, *(term.upper for term in self.terms)])
        positions = [term.jacobian_positions() for term in self.terms]
        self.jacobian_pattern = Pattern.of(
            (self.rows, self.unknowns),
            np.concatenate(
                [at + rows for at, (rows, _) in zip(self.starts, positions, strict=False)]
            ),
            np.concatenate([columns for _, columns in positions]),
        )
        positions = [term.hessian_positions() for term in self.terms]
        rows, columns = (np.concatenate(entries) for entries in zip(*positions, strict=True))
        self.hessian_pattern = Pattern.of((self.unknowns, self.unknowns), rows, columns)
        self.evaluations = 0
        self._iterate: tuple[bytes, Iterate] | None = None

    @property
    def unknowns(self) -> int:
        """Length of x."""
        return self.sizes.unknowns

    def iterate(self, x: Array) -> Iterate:
        """Return the results for x (unknowns,); those of the last one are kept."""
        key = x.tobytes()
        if self._iterate is None or self._iterate[0] != key:
            self.evaluations += 1
            self._iterate = key, Iterate(np.array(x), self.sizes.controls, self.sizes.n)
        return self._iterate[1]

    def objective(self, x: Array) -> float:
        """Return the function to minimise at x (unknowns,)."""
        at = self.iterate(x)
        return float(sum(term.objective(at) for term in self.terms))

    def gradient(self, x: Array) -> Array:
        """Return derivatives of the objective, (unknowns,)."""
        at, gradient = self.iterate(x), np.zeros(self.unknowns)
        for term in self.terms:
            term.gradient(at, gradient)
        return gradient

    def constraints(self, x: Array) -> Array:
        """Return values (rows,) for limits `lower_rows` and `upper_rows`."""
        at = self.iterate(x)
        return np.concatenate([_NO_ROWS, *(term.value(at) for term in self.terms)])

    def jacobian(self, x: Array) -> Array:
        """Return the entries of `jacobian_pattern` at x (unknowns,), (entries,)."""
        at = self.iterate(x)
        entries = [term.jacobian(at) for term in self.terms]
        return self.jacobian_pattern.summed(np.concatenate(entries))

    def hessian(self, x: Array, weight: float, multipliers: Array) -> Array:
        """Return entries of `hessian_pattern`: weight * objective + multipliers (rows,) . rows."""
        at = self.iterate(x)
        parts = [
            term.hessian(at, weight, multipliers[start:end])
            for term, start, end in zip(self.terms, self.starts, self.starts[1:], strict=False)
        ]
        return self.hessian_pattern.summed(np.concatenate(parts))

    def broken(self, x: Array, least: float) -> list[Fault]:
        """Return constraints that x (unknowns,) exceeds by over `least` (scaled), largest first.

        Rows with one name have one fault, that of the largest excess.
        """
        at, worst = self.iterate(x), dict[str, tuple[float, Term, int]]()
        for term in self.terms:
            g = term.value(at)
            over = np.maximum(np.maximum(term.lower - g, g - term.upper), 0.0)
            for row in np.flatnonzero(over > least):
                name, most = term.name_of(int(row)), float(over[row])
                if name not in worst or most > worst[name][0]:
                    worst[name] = most, term, int(row)
        listed = sorted(worst.items(), key=lambda item: (-item[1][0], item[0]))
        return [Fault(name, x, term.fault(row, x)) for name, (x, term, row) in listed]


class Feasible(Problem):
    """The constraints of a program without its objective.

    Its Hessian is `GENTLE` times the identity: without the curvature of constraints, steps are
    those of Gauss and Newton, which get into the limits from far away.
    """

    def __init__(self, problem: Problem) -> None:
        self.__dict__ |= vars(problem)
        every = np.arange(problem.unknowns)
        self.hessian_pattern = Pattern.of((problem.unknowns, problem.unknowns), every, every)

    def objective(self, x: Array) -> float:
        """Return no objective."""
        self.iterate(x)
        return 0.0

    def gradient(self, x: Array) -> Array:
        """Return zeros, (unknowns,)."""
        return np.zeros(self.unknowns)

    def hessian(self, x: Array, weight: float, multipliers: Array) -> Array:
        """Return the diagonal, (unknowns,)."""
        return np.full(self.unknowns, GENTLE)


@dataclass(kw_only=True)
class Linear(Term):
    """Sums of unknowns over T^order: coefficients[k] of unknown columns[k] in rows[k].

    Rows with an order have no coefficient of T.
    """

    rows: Index
    columns: Index
    coefficients: Array
    order: int = 0

    @classmethod
    def of_control_points(
        cls, sizes: Sizes, name: str, sides: tuple[Array, Array], labels: tuple[str, ...],
        matrix: Array, joints: Index, scale: Array | float = 1.0, order: int = 0,
    ) -> Linear:  # fmt: skip
        """Return A c / T^order for some coordinates, divided by `scale` (j,).

        `matrix` is A (m, M), `joints` (j,); rows (m, j) flattened.
        """
        i, k = np.nonzero(matrix)
        count, which = len(joints), np.tile(np.arange(len(joints)), len(i))
        i, k = i.repeat(count), k.repeat(count)
        return cls(
            sizes, name, *sides, labels, rows=i * count + which,
            columns=k * sizes.n + joints[which], order=order,
            coefficients=matrix[i, k] / np.broadcast_to(scale, joints.shape)[which],
        )  # fmt: skip

    @once
    def value(self, at: Iterate) -> Array:
        """Return A x / T^r."""
        products = self.coefficients * at.x[self.columns]
        return np.asarray(np.bincount(self.rows, products, len(self.lower)) / at.T**self.order)

    def jacobian_positions(self) -> Entries:
        """Return the positions of the coefficients, and T in rows with an order."""
        every = np.arange(len(self.lower) if self.order else 0)
        time = np.full(len(every), self.sizes.time)
        return np.concatenate([self.rows, every]), np.concatenate([self.columns, time])

    def jacobian(self, at: Iterate) -> Array:
        """Return A / T^r, and -r z / T."""
        by_time = -self.order / at.T * self.value(at) if self.order else _NO_ROWS
        return np.concatenate([self.coefficients / at.T**self.order, by_time])

    def hessian_positions(self) -> Entries:
        """Return T with every unknown, and T."""
        if not self.order:
            return _NO_ENTRIES
        time = np.full(len(self.columns) + 1, self.sizes.time)
        return np.append(self.columns, self.sizes.time), time

    def hessian(self, at: Iterate, weight: float, multipliers: Array) -> Array:
        """-r A / T^(r+1), and r (r+1) z / T^2: entries of `hessian_positions`, (entries,)."""
        if not self.order:
            return _NO_ROWS
        r = self.order
        mixed = -r / at.T ** (r + 1) * self.coefficients * multipliers[self.rows]
        twice = r * (r + 1) / at.T**2 * float(multipliers @ self.value(at))
        return np.append(mixed, twice)


@dataclass(kw_only=True)
class Time(Term):
    """weight * T."""

    weight: float

    def objective(self, at: Iterate) -> float:
        """Return weight * T."""
        return self.weight * at.T

    def gradient(self, at: Iterate, into: Array) -> None:
        """Add the weight to `into` (unknowns,)."""
        into[self.sizes.time] += self.weight


@dataclass(kw_only=True)
class Quadratic(Term):
    """T^power x . Q x, with Q a symmetric sparse `matrix` (unknowns, unknowns), 0 for T."""

    matrix: Any
    power: int

    @once
    def _parts(self, at: Iterate) -> tuple[Array, float]:
        """Return Q x, and x . Q x."""
        product = self.matrix @ at.x
        return product, float(product @ at.x)

    def objective(self, at: Iterate) -> float:
        """Return T^p x . Q x."""
        return at.T**self.power * self._parts(at)[1]

    def gradient(self, at: Iterate, into: Array) -> None:
        """Add 2 T^p Q x, and the derivative by T, to `into` (unknowns,)."""
        (product, integral), p = self._parts(at), self.power
        into += 2 * at.T**p * product
        into[self.sizes.time] += p * at.T ** (p - 1) * integral

    @cached_property
    def _entries(self) -> tuple[Index, Index, Array, Index]:
        """Rows, columns and entries of the upper triangle of Q, and the unknowns in it."""
        entries = self.matrix.tocoo()
        upper = entries.row <= entries.col
        rows, columns = entries.row[upper], entries.col[upper]
        return rows, columns, entries.data[upper], np.unique(entries.row)

    def hessian_positions(self) -> Entries:
        """Return the entries of Q, and T with every unknown of Q and itself."""
        rows, columns, _, acting = self._entries
        pairs = np.append(acting, self.sizes.time)
        before = np.concatenate([rows, np.minimum(pairs, self.sizes.time)])
        return before, np.concatenate([columns, np.maximum(pairs, self.sizes.time)])

    def hessian(self, at: Iterate, weight: float, multipliers: Array) -> Array:
        """2 T^p Q, and by T: entries of `hessian_positions`, (entries,)."""
        (product, integral), p, T = self._parts(at), self.power, at.T
        *_, entries, acting = self._entries
        mixed = 2 * p * T ** (p - 1) * product[acting]
        twice = p * (p - 1) * T ** (p - 2) * integral
        return weight * np.concatenate([2 * T**p * entries, mixed, [twice]])


def instant(s: float) -> str:
    """Return a share of the time of a motion, in words."""
    return {0.0: "at the start", 1.0: "at the goal"}.get(s, f"at {100 * s:.0f} % of the time")


def percent(share: float) -> str:
    """Return a percentage of two digits, or without decimals."""
    return f"{100 * share:.2g} %" if share < 1 else f"{100 * share:.0f} %"
