"""The terms of a nonlinear program: rows of constraints, parts of the objective, or both.

The unknowns are x = (c, T, u): control points c (M, n), row by row, the total time, and loads u
at instants where those are unknown.  Each term
knows where its derivatives can be non-zero, so that Jacobian and Hessian are sparse.

    Linear    A x: ends at rest, periodic and mirrored motions
    Rates     A c / T^r: end and via states, limits of velocity, acceleration and jerk
    Time      T
    Effort    integrals of squared accelerations or jerks
    LoadEffort  integrals of squared unknown loads

What is a function of the state at instants is in `symgen.planning.samples`.  Limits of derivatives
are those of the control points of the derivative, which hold between instants, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Entries = tuple[Index, Index]
"""Rows and columns."""


class Iterate:
    """One x, and what terms have computed for it."""

    def __init__(self, x: Array, controls: int, n: int) -> None:
        self.control = x[: controls * n].reshape(controls, n)
        self.T = float(x[controls * n])
        self.loads = x[controls * n + 1 :]
        self.memory: dict[Any, Any] = {}

    def once(self, key: Any, compute: Callable[[], Any]) -> Any:
        """What `compute` returns, computed once for this iterate."""
        if key not in self.memory:
            self.memory[key] = compute()
        return self.memory[key]


class Term(Protocol):
    """Rows of constraints and a part of the objective."""

    name: str
    lower: Array
    upper: Array
    labels: tuple[str, ...]
    axes: bool

    def value(self, at: Iterate) -> Array:
        """The constraints, (rows,)."""

    def jacobian_places(self) -> Entries:
        """Row and unknown of every entry of `jacobian`."""

    def jacobian(self, at: Iterate) -> Array:
        """Their derivatives."""

    def objective(self, at: Iterate) -> float:
        """The part of the objective."""

    def gradient(self, at: Iterate, into: Array) -> None:
        """Add its derivatives by all unknowns."""

    def hessian_places(self) -> Entries:
        """Row and column, row <= column, of every entry of `hessian`."""

    def hessian(self, at: Iterate, weight: float, multipliers: Array) -> Array:
        """Second derivatives of weight * objective + multipliers . constraints."""

    def fault(self, row: int, over: float) -> str:
        """What a message says of a row that is exceeded by `over`."""


@dataclass(frozen=True)
class Sizes:
    """Control points, coordinates, unknown loads; unknowns are numbered as they stand in x."""

    controls: int
    n: int
    loads: int = 0

    @property
    def time(self) -> int:
        """The number of T among the unknowns."""
        return self.controls * self.n

    @property
    def unknowns(self) -> int:
        """How many."""
        return self.time + 1 + self.loads


def none() -> Entries:
    """No entries."""
    return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)


@dataclass
class Constraint:
    """What terms share: without rows, without an objective, unless they say otherwise.

    `labels` are what messages call rows, one after another and again from the first; `axes` says
    that they are axes of the place that `name` names, rather than of what it limits.
    """

    sizes: Sizes
    name: str
    lower: Array
    upper: Array
    labels: tuple[str, ...] = ()
    axes: bool = field(default=False, kw_only=True)

    def fault(self, row: int, over: float) -> str:
        """Of a limit, by how many per cent of it; equations are not met."""
        equation = self.lower[row] == self.upper[row]
        return "not met" if equation else f"exceeded by {percent(over)}"

    def value(self, at: Iterate) -> Array:
        """No rows."""
        return np.zeros(0)

    def jacobian_places(self) -> Entries:
        """None."""
        return none()

    def jacobian(self, at: Iterate) -> Array:
        """None."""
        return np.zeros(0)

    def objective(self, at: Iterate) -> float:
        """None."""
        return 0.0

    def gradient(self, at: Iterate, into: Array) -> None:
        """None."""

    def hessian_places(self) -> Entries:
        """None."""
        return none()

    def hessian(self, at: Iterate, weight: float, multipliers: Array) -> Array:
        """None."""
        return np.zeros(0)


@dataclass
class Linear(Constraint):
    """Sums of coordinates of control points: coefficients[k] of unknown columns[k] in rows[k]."""

    rows: Index = field(default_factory=lambda: none()[0])
    columns: Index = field(default_factory=lambda: none()[0])
    coefficients: Array = field(default_factory=lambda: np.zeros(0))

    def value(self, at: Iterate) -> Array:
        """A c."""
        products = self.coefficients * np.ravel(at.control)[self.columns]
        return np.asarray(np.bincount(self.rows, products, len(self.lower)), dtype=float)

    def jacobian_places(self) -> Entries:
        """Where the coefficients stand."""
        return self.rows, self.columns

    def jacobian(self, at: Iterate) -> Array:
        """The coefficients."""
        return self.coefficients


@dataclass
class Rates(Constraint):
    """A c / T^order for some coordinates, divided by `scale` (j,).

    `matrix` (m, M), `joints` (j,); rows (m, j) flattened.
    """

    matrix: Array = field(default_factory=lambda: np.zeros((0, 0)))
    order: int = 0
    joints: Index = field(default_factory=lambda: none()[0])
    scale: Array = field(default_factory=lambda: np.ones(1))

    def value(self, at: Iterate) -> Array:
        """A c / T^r."""

        def compute() -> Array:
            rates = self.matrix @ at.control[:, self.joints]
            return np.ravel(rates / (self.scale * at.T**self.order))

        return at.once(id(self), compute)  # type: ignore[no-any-return]

    @cached_property
    def _places(self) -> tuple[Index, Index, Index]:
        """Row and column in `matrix` of its non-zero entries, once for every joint, and joint."""
        i, m = np.nonzero(self.matrix)
        k = np.arange(len(self.joints))
        return _product(i, m, k)

    @cached_property
    def _entries(self) -> Array:
        i, m, k = self._places
        return self.matrix[i, m] / np.broadcast_to(self.scale, self.joints.shape)[k]

    def jacobian_places(self) -> Entries:
        """The control points, and T."""
        i, m, k = self._places
        rows = i * len(self.joints) + k
        columns = m * self.sizes.n + self.joints[k]
        if not self.order:
            return rows, columns
        every = np.arange(len(self.lower))
        return (
            np.concatenate([rows, every]),
            np.concatenate([columns, np.full(len(every), self.sizes.time)]),
        )

    def jacobian(self, at: Iterate) -> Array:
        """A / T^r, and -r z / T."""
        entries = self._entries / at.T**self.order
        return (
            np.concatenate([entries, -self.order / at.T * self.value(at)])
            if self.order
            else entries
        )

    def hessian_places(self) -> Entries:
        """T with every control point, and T."""
        if not self.order:
            return none()
        _, columns = self.jacobian_places()
        columns = columns[: len(self._places[0])]
        time = np.full(len(columns) + 1, self.sizes.time)
        return np.append(columns, self.sizes.time), time

    def hessian(self, at: Iterate, weight: float, multipliers: Array) -> Array:
        """-r A / T^(r+1), and r (r+1) z / T^2."""
        if not self.order:
            return np.zeros(0)
        i, _, k = self._places
        r = self.order
        mixed = -r / at.T ** (r + 1) * self._entries * multipliers[i * len(self.joints) + k]
        twice = r * (r + 1) / at.T**2 * float(multipliers @ self.value(at))
        return np.append(mixed, twice)


@dataclass
class Time(Constraint):
    """weight * T."""

    weight: float = 1.0

    def objective(self, at: Iterate) -> float:
        """weight * T."""
        return self.weight * at.T

    def gradient(self, at: Iterate, into: Array) -> None:
        """The weight."""
        into[self.sizes.time] += self.weight


@dataclass
class Effort(Constraint):
    """The integral of sum_j weights_j (d^r q_j / d t^r)^2, with Q = integral of B_r B_r^T ds."""

    order: int = 2
    weights: Array = field(default_factory=lambda: np.zeros(0))
    gram: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def _parts(self, at: Iterate) -> tuple[Array, float, int]:
        """Q c with the weights, the integral with T = 1, and the power of 1 / T."""
        product = self.gram @ at.control * self.weights
        return product, float(np.sum(product * at.control)), 2 * self.order - 1

    def objective(self, at: Iterate) -> float:
        """c . Q c / T^(2 r - 1)."""
        _, whole, power = self._parts(at)
        return whole / at.T**power

    def gradient(self, at: Iterate, into: Array) -> None:
        """2 Q c / T^(2 r - 1), and by T."""
        product, whole, power = self._parts(at)
        into[: self.sizes.time] += 2 * np.ravel(product) / at.T**power
        into[self.sizes.time] -= power * whole / at.T ** (power + 1)

    @cached_property
    def _places(self) -> tuple[Index, Index, Index]:
        i, m = np.nonzero(np.triu(self.gram))
        joints = np.flatnonzero(self.weights)
        return _product(i, m, joints)

    def hessian_places(self) -> Entries:
        """Those of Q, and T with everything."""
        i, m, joint = self._places
        n, time = self.sizes.n, self.sizes.time
        every = np.arange(time + 1)
        return (
            np.concatenate([i * n + joint, every]),
            np.concatenate([m * n + joint, np.full(time + 1, time)]),
        )

    def hessian(self, at: Iterate, weight: float, multipliers: Array) -> Array:
        """2 Q / T^(2 r - 1), and by T."""
        product, whole, power = self._parts(at)
        i, m, joint = self._places
        square = 2 * self.gram[i, m] * self.weights[joint] / at.T**power
        mixed = -2 * power * np.ravel(product) / at.T ** (power + 1)
        twice = power * (power + 1) * whole / at.T ** (power + 2)
        return weight * np.concatenate([square, mixed, [twice]])


@dataclass
class LoadEffort(Constraint):
    """T times sum_k quadrature_k sum_a weights_a u_ka^2: integrals of squared unknown loads."""

    quadrature: Array = field(default_factory=lambda: np.zeros(0))
    weights: Array = field(default_factory=lambda: np.zeros(0))

    @cached_property
    def _factors(self) -> Array:
        return np.multiply.outer(self.quadrature, self.weights).ravel()

    @property
    def _columns(self) -> Index:
        return self.sizes.time + 1 + np.arange(self.sizes.loads)

    def objective(self, at: Iterate) -> float:
        """T u . W u."""
        return at.T * float(self._factors @ at.loads**2)

    def gradient(self, at: Iterate, into: Array) -> None:
        """2 T W u, and by T."""
        into[self._columns] += 2 * at.T * self._factors * at.loads
        into[self.sizes.time] += float(self._factors @ at.loads**2)

    def hessian_places(self) -> Entries:
        """The diagonal, and T with every load."""
        time = np.full(self.sizes.loads, self.sizes.time)
        return (
            np.concatenate([self._columns, time]),
            np.concatenate([self._columns, self._columns]),
        )

    def hessian(self, at: Iterate, weight: float, multipliers: Array) -> Array:
        """2 T W, and 2 W u."""
        factors = 2 * weight * self._factors
        return np.concatenate([at.T * factors, factors * at.loads])


class Fault(NamedTuple):
    """Something that is not met: by how much, relative to its limit, and what messages say."""

    name: str
    over: float
    text: str


def instant(s: float) -> str:
    """A share of the time of a motion, in words."""
    return {0.0: "at the start", 1.0: "at the goal"}.get(s, f"at {100 * s:.0f} % of the time")


def percent(share: float) -> str:
    """Two digits, or those before the point."""
    return f"{100 * share:.2g} %" if share < 1 else f"{100 * share:.0f} %"


def _product(rows: Index, columns: Index, joints: Index) -> tuple[Index, Index, Index]:
    """Every (row, column) with every joint."""
    count = len(joints)
    return np.repeat(rows, count), np.repeat(columns, count), np.tile(joints, len(rows))
