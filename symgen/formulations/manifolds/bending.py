"""Second derivatives of springs of joints on manifolds, with all digits at rest.

`tangent` has the way x = theta v / s, which is differentiated once without loss.  Twice, theta / s
is a difference of what is far larger where s is small.  Here it is a series.  With p = n
tan(theta / 4), the modified Rodrigues parameters of the shorter way from rest,

    p = v sign(w) / (|(v, w)| + |w|),    u = p.p <= 1,    x = 4 g(u) p,    g(u) = atan(|p|) / |p|,

and an angle is halved by c = sqrt(1 + u), u <- u / (1 + c)^2, after which g is 2 g / (1 + c) (the
formula of the tangent of half an angle).  Two halvings leave u <= 0.04, where the alternating
series of g ends below 2^-60.  In the tangent space (Schaub, Junkins 1996)

    dp/de_k = (c u_k + p x u_k + p p_k) / 2,    c = (1 - u) / 2,

so that along the exponential, symmetric in k and l,

    d2p = sym (dp_l x u_k + p_k dp_l + dp_l,k p - (1 + u) p_l u_k / 4) / 2,
    du_k = (1 + u) p_k / 2,    d2u_kl = (1 + u) (2 p_k p_l + c [k = l]) / 4.

Where numbers are exact, g is what `tangent` says and follows 2 u g' = 1 / (1 + u) - g; all is
analytic, so that the shorter way may stand for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Vector
from symgen.algebra.rounding import GUARD
from symgen.formulations.manifolds.tangent import Stretch
from symgen.kinematics.frames import units

HALVINGS = 2
TERMS = 13
"""Number of terms of the series: (1/25)^13 / 27 is below 2^-60."""


@dataclass(frozen=True)
class Jet(Generic[S]):
    """A function of u and its first two derivatives."""

    value: S
    first: S
    second: S

    def __add__(self, other: Jet[S]) -> Jet[S]:
        return Jet(self.value + other.value, self.first + other.first, self.second + other.second)

    def __mul__(self, other: Jet[S]) -> Jet[S]:
        mixed = self.first * other.first
        return Jet(
            self.value * other.value,
            self.first * other.value + self.value * other.first,
            self.second * other.value + mixed + mixed + self.value * other.second,
        )

    def __truediv__(self, other: Jet[S]) -> Jet[S]:
        value = self.value / other.value
        first = (self.first - value * other.first) / other.value
        mixed = first * other.first
        second = (self.second - mixed - mixed - value * other.second) / other.value
        return Jet(value, first, second)

    def root(self, algebra: Algebra[S]) -> Jet[S]:
        """Its square root."""
        value, half = algebra.function("sqrt", self.value), algebra.constant(0.5)
        first = half * self.first / value
        return Jet(value, first, (half * self.second - first * first) / value)


def arc(u: S, algebra: Algebra[S]) -> Jet[S]:
    """g and its derivatives, for u from 0 to 1."""

    def constant(value: float) -> Jet[S]:
        return Jet(algebra.constant(value), algebra.zero, algebra.zero)

    unit, product = constant(1.0), constant(1.0)
    x = Jet(u, algebra.one, algebra.zero)
    for _ in range(HALVINGS):
        below = unit + (unit + x).root(algebra)
        product, x = product * below, x / (below * below)
    series = constant(0.0)
    for k in reversed(range(TERMS)):
        series = constant((-1.0) ** k / (2 * k + 1)) + series * x
    return constant(2.0**HALVINGS) * series / product


def exact_arc(u: S, g: S, algebra: Algebra[S]) -> Jet[S]:
    """g with its derivatives, which are 0/0 at rest."""
    slope, two = algebra.one / (algebra.one + u), algebra.constant(2.0)
    first = (slope - g) / (two * u)
    return Jet(g, first, -(slope * slope + algebra.constant(3.0) * first) / (two * u))


@dataclass(frozen=True)
class Bend(Generic[S]):
    """The turn of a spring; see the module.  `p` has the same components in link and rest axes."""

    algebra: Algebra[S]
    p: Vector[S]
    u: S
    g: Jet[S]

    @classmethod
    def of(cls, stretch: Stretch[S]) -> Bend[S]:
        """Return the curvature of a stretched spring; a turn of just half of one has one sign."""
        algebra, v, w = stretch.algebra, stretch.v, stretch.w
        size = algebra.function("sqrt", v.dot(v) + w * w)
        if algebra.is_exact:
            p = v * (algebra.one / (size + w))
            quarter = algebra.constant(0.25) * stretch.ratio * (size + w)
            return cls(algebra, p, p.dot(p), exact_arc(p.dot(p), quarter, algebra))
        side = algebra.function("sign", w + algebra.constant(GUARD))
        p = v * (side / (size + side * w))
        return cls(algebra, p, p.dot(p), arc(p.dot(p), algebra))

    @property
    def turn(self) -> Vector[S]:
        """x"""
        return self.p * (self.algebra.constant(4.0) * self.g.value)

    @cached_property
    def slopes(self) -> list[Vector[S]]:
        """[k]: dp/de_k"""
        half, p = self.algebra.constant(0.5), self.p
        c = half * (self.algebra.one - self.u)
        return [
            (unit * c + p.cross(unit) + p * share) * half
            for unit, share in zip(units(self.algebra), p, strict=True)
        ]

    def curvature(self, weights: Vector[S]) -> list[list[S]]:
        """[k][l]: d2(weights . x) along the exponential."""
        algebra = self.algebra
        four, half, quarter = (algebra.constant(x) for x in (4.0, 0.5, 0.25))
        g, p, shares = self.g, weights.dot(self.p), list(self.p)
        wide = algebra.one + self.u
        dp = [weights.dot(x) for x in self.slopes]
        du = [half * wide * share for share in shares]
        rows = []
        for k in range(3):
            row = []
            for i in range(3):
                d2p = half * (self._twice(weights, k, i) + self._twice(weights, i, k))
                d2u = half * wide * shares[k] * shares[i]
                if i == k:
                    d2u = d2u + quarter * wide * half * (algebra.one - self.u)
                mixed = du[k] * dp[i] + du[i] * dp[k] + d2u * p
                row.append(four * (g.value * d2p + g.first * mixed + g.second * du[k] * du[i] * p))
            rows.append(row)
        return rows

    def _twice(self, weights: Vector[S], k: int, i: int) -> S:
        """weights . d(dp/de_k)/de_i"""
        half, quarter = self.algebra.constant(0.5), self.algebra.constant(0.25)
        unit, moved, shares = units(self.algebra)[k], self.slopes[i], list(self.p)
        second = moved.cross(unit) + moved * shares[k] + self.p * list(moved)[k]
        second = second - unit * (quarter * (self.algebra.one + self.u) * shares[i])
        return half * weights.dot(second)


def smooth_entries(stretch: Stretch[S]) -> list[S]:
    """x by column, as `Stretch.entries`, but for derivatives of any order."""
    if stretch.algebra.is_exact:
        return stretch.entries
    turn = [*Bend.of(stretch).turn]
    return turn if stretch.travel is None else [*stretch.travel, *turn]


def curvature(stretch: Stretch[S], weights: Sequence[S]) -> list[list[S]]:
    """Second derivatives of weights . x, by columns of the joint, along the exponential."""
    turned = Bend.of(stretch).curvature(Vector(*weights[-3:]))
    if stretch.travel is None:
        return turned
    half, zero, force = stretch.algebra.constant(0.5), stretch.algebra.zero, Vector(*weights[:3])
    axes = units(stretch.algebra)
    slides = [[half * force.dot(v.cross(w)) for w in axes] for v in axes]
    for k, unit in enumerate(axes):
        for i, axis in enumerate(axes):
            travel = stretch.travel.cross(axis).cross(unit) + stretch.travel.cross(unit).cross(axis)
            turned[k][i] = turned[k][i] + half * force.dot(travel)
    across = [list(column) for column in zip(*slides, strict=True)]
    return [
        *([zero] * 3 + row for row in slides),
        *(row + turn for row, turn in zip(across, turned, strict=True)),
    ]
