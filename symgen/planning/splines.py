"""Uniform clamped B-splines of all coordinates, and their values at instants.

A profile of degree p with N pieces of equal length has M = N + p control points per coordinate.
On s in [0, 1], with t = s T,

    q = B0(s) c,   qd = B1(s) c / T,   qdd = B2(s) c / T^2,   jerk = B3(s) c / T^3

(Xiang 2009, eqs. (39)-(42)), where row k of B_r holds the r-th derivatives of the p + 1 basis
functions that are not 0 at s_k.  The knots scale with T, so that derivatives with respect to them
are those with respect to T.  `scipy.interpolate.BSpline` evaluates the basis.

The r-th derivative is a spline as well, whose control points are differences of those of q: where
they keep a limit, the derivative keeps it at every instant (`differences`).

A segment is one piece, unless cuts are closed at instants within segments: then it has a knot at
each of these, and the coordinates that are not `dependent` stay one polynomial over the segment
(`symgen.planning.cuts`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from symgen.support.arrays import Array, Flags, Index

ROUNDING = 1e-14
"""Largest rounding error of basis functions, in units of the largest."""


@dataclass(frozen=True)
class Local:
    """Basis functions at K instants: p + 1 of them, from `first[k]` on, are not 0 at s_k.

    `values[r, k]` are their r-th derivatives with respect to s, (4, K, p + 1).
    """

    first: Index
    values: Array

    def of(self, control: Array, order: int) -> Array:
        """Return this derivative of the spline with the control points (M, n), (K, n)."""
        return np.asarray((self.values[order][:, None, :] @ control[self.columns])[:, 0])

    def state(self, control: Array, T: float, orders: int) -> Array:
        """Return the first derivatives by t of the spline, from the 0th on, (K, orders, n)."""
        basis = self.values[:orders].transpose(1, 0, 2)
        return np.asarray(basis @ control[self.columns] / T ** np.arange(float(orders))[:, None])

    @cached_property
    def columns(self) -> Index:
        """The control points that act at each instant, (K, p + 1)."""
        return self.first[:, None] + np.arange(self.values.shape[2])

    def acting(self, orders: int) -> Flags:
        """Return which act on derivatives below this order, (K, p + 1): one less at a knot."""
        return np.asarray((self.values[:orders] != 0).any(axis=0))


@dataclass(frozen=True)
class Profile:
    """Space of splines of a `degree` with `segments` of `within` pieces each."""

    degree: int
    segments: int
    within: int = 1
    dependent: tuple[int, ...] = ()
    """Coordinates with knots within segments."""

    @property
    def pieces(self) -> int:
        """Number of polynomials between successive knots."""
        return self.segments * self.within

    @property
    def controls(self) -> int:
        """Control points per coordinate."""
        return self.pieces + self.degree

    @cached_property
    def knots(self) -> Array:
        """Knots, with repeated ends: the first and last control points are the ends."""
        return np.pad(np.linspace(0.0, 1.0, self.pieces + 1), self.degree, mode="edge")

    @cached_property
    def greville(self) -> Array:
        """Abscissas in [0, 1] of the control points: means of p knots, (M,)."""
        p = self.degree
        return np.array([self.knots[i + 1 : i + p + 1].mean() for i in range(self.controls)])

    def at(self, s: Array) -> Local:
        """Return the basis at instants s (k,) in [0, 1]."""
        from scipy.interpolate import BSpline

        p = self.degree
        last = len(self.knots) - p - 2
        first = np.clip(np.searchsorted(self.knots, s, side="right") - 1, p, last) - p
        every = BSpline(self.knots, np.eye(self.controls), p)
        rows, columns = np.arange(len(s))[:, None], first[:, None] + np.arange(p + 1)
        values = np.zeros((4, len(s), p + 1))
        for order in range(min(3, p) + 1):
            basis = every(s, nu=order)[rows, columns]
            basis[np.abs(basis) <= ROUNDING * np.abs(basis).max(initial=0.0)] = 0.0
            values[order] = basis
        return Local(first, values)

    def differences(self, order: int) -> Array:
        """Return the map of control points to those of a derivative, (M - order, M)."""
        matrix = np.eye(self.controls)
        knots, p = self.knots, self.degree
        for _ in range(order):
            spans = knots[p + 1 : p + matrix.shape[0]] - knots[1 : matrix.shape[0]]
            matrix = p * np.diff(matrix, axis=0) / spans[:, None]
            knots, p = knots[1:-1], p - 1
        return matrix

    def jumps(self) -> Array:
        """Return the map of control points to jumps of the p-th derivative within segments."""
        inner = np.arange(1, self.pieces)
        jumps = np.diff(self.differences(self.degree), axis=0)
        return np.asarray(jumps[inner % self.within != 0])

    def gram(self, order: int) -> Array:
        """Integrate products of r-th derivatives of basis functions over s, (M, M)."""
        points, weights = np.polynomial.legendre.leggauss(self.degree + 1)
        h = 1.0 / self.pieces
        s = np.ravel(h * (np.arange(self.pieces)[:, None] + (points + 1) / 2))
        local = self.at(s)
        rows = np.zeros((len(s), self.controls))
        columns = local.first[:, None] + np.arange(self.degree + 1)
        rows[np.arange(len(s))[:, None], columns] = local.values[order]
        return rows.T @ (np.tile(weights * h / 2, self.pieces)[:, None] * rows)

    def refined(self, control: Array, finer: Profile) -> Array:
        """Return control points (M', n) on finer knots that include these; `control` is (M, n)."""
        from scipy.interpolate import BSpline

        t, p = finer.knots, finer.degree
        collocation = BSpline.design_matrix(finer.greville, t, p)
        values = BSpline(self.knots, control, self.degree)(finer.greville)
        return np.linalg.solve(collocation.toarray(), values)

    def straight(self, start: Array, end: Array) -> Array:
        """Return control points of a motion on a line that starts and ends at rest, (M, n)."""
        share = self.greville**2 * (3 - 2 * self.greville)
        share[:2], share[-2:] = 0.0, 1.0
        return start + np.outer(share, end - start)
