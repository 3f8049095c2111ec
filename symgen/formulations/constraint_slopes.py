"""Rows of constraints twice: what a family with derivatives of its own makes of them.

Of a vector or point x of a body and coordinates j, k the family supplies x_j, x_jk and the
derivatives x'_k, x''_k of its rates.  Of a row c = x . y

    c_jk = x_jk . y + x_j . y_k + x_k . y_j + x . y_jk,
    c'_k = x'_k . y + x' . y_k + x_k . y' + x . y'_k,
    c''_k = x''_k . y + x'' . y_k + 2 (x'_k . y' + x' . y'_k) + x_k . y'' + x . y''_k,

of an expression e of x_i, with its derivatives e_i, e_il, e_ilm

    c_jk = sum e_i x_i,jk + sum e_il x_l,k x_i,j
    c'_k = sum e_i x_i'_k + sum e_il x_l,k x_i'
    c''_k = sum e_i x_i''_k + sum e_il (x_l,k x_i'' + x_i'_k x_l' + x_i' x_l'_k)
            + sum e_ilm x_m,k x_i' x_l'.

In the paper's words: (39), and (38) with its rate, Phi_q and Phi_qq being y and what e has.
By velocities c'' has 2 c'_k.

A parameter k is such a variable, too, by which lengths of loops and expressions may have a
derivative of their own: an expression has it as one of the x_i, constant in time.  Then c_k is
Phi_rho, c'_k and c''_k are those of (43) and (46), and c_jk is (41) with (42).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Vector, total

X = TypeVar("X", covariant=True)
K = TypeVar("K", int, tuple[int, int])
Pair = tuple[int, int]


@dataclass(frozen=True)
class Twice(Generic[X]):
    """Derivatives by joints of the rates of something, and of its own derivatives.

    `pairs` holds both orders.
    """

    rate: Mapping[int, X] = field(default_factory=dict)
    second_rate: Mapping[int, X] = field(default_factory=dict)
    pairs: Mapping[Pair, X] = field(default_factory=dict)

    def of_each(self, part: Callable[[X], S]) -> Twice[S]:
        """The same of a part of it."""
        return Twice(
            {k: part(x) for k, x in self.rate.items()},
            {k: part(x) for k, x in self.second_rate.items()},
            {pair: part(x) for pair, x in self.pairs.items()},
        )


@dataclass(frozen=True)
class Slope(Generic[X]):
    """Derivatives by one variable: of something, of its rates, of its derivatives by joints.

    What is None, or is missing, is 0.
    """

    at: X | None = None
    rate: X | None = None
    second_rate: X | None = None
    by_joint: Mapping[int, X] = field(default_factory=dict)


class Known(Protocol[X]):
    """Something with its rates, its derivatives by joints, and what is above."""

    @property
    def at(self) -> X:
        """Itself."""

    @property
    def rate(self) -> X:
        """By time."""

    @property
    def second_rate(self) -> X:
        """By time twice."""

    @property
    def by_joint(self) -> Mapping[int, X]:
        """By the coordinates of joints."""

    @property
    def twice(self) -> Twice[X]:
        """See there."""

    @property
    def by_parameter(self) -> Mapping[int, Slope[X]]:
        """By runtime parameters, which count from 0."""


def less(one: Mapping[K, Vector[S]], other: Mapping[K, Vector[S]]) -> dict[K, Vector[S]]:
    """one - other, where a key that is missing stands for 0."""
    found = dict(one)
    for key, x in other.items():
        found[key] = found[key] - x if key in found else -x
    return found


def difference(one: Slope[Vector[S]], other: Slope[Vector[S]]) -> Slope[Vector[S]]:
    """one - other"""

    def part(x: Vector[S] | None, y: Vector[S] | None) -> Vector[S] | None:
        if x is None or y is None:
            return x if y is None else -y
        return x - y

    return Slope(
        part(one.at, other.at),
        part(one.rate, other.rate),
        part(one.second_rate, other.second_rate),
        less(one.by_joint, other.by_joint),
    )


# -- products ----------------------------------------------------------------------------------


def product(x: Known[Vector[S]], y: Known[Vector[S]], algebra: Algebra[S]) -> Twice[S]:
    """Of x . y"""
    numbers = sorted({*x.by_joint, *y.by_joint})
    rate: dict[int, S] = {}
    second: dict[int, S] = {}
    for k in numbers:
        rate[k], second[k] = _rates_of_product(x, y, _by(x, k), _by(y, k), algebra)
    pairs: dict[Pair, S] = {}
    for j in numbers:
        for k in (k for k in numbers if k <= j):
            own = _dot(x.twice.pairs.get((j, k)), y.at, algebra)
            own = own + _dot(x.at, y.twice.pairs.get((j, k)), algebra)
            mixed = _dot(x.by_joint.get(j), y.by_joint.get(k), algebra)
            mixed = mixed + _dot(x.by_joint.get(k), y.by_joint.get(j), algebra)
            pairs[j, k] = pairs[k, j] = own + mixed
    return Twice(rate, second, pairs)


def product_by_parameters(
    x: Known[Vector[S]], y: Known[Vector[S]], algebra: Algebra[S]
) -> dict[int, Slope[S]]:
    """Of x . y"""
    found: dict[int, Slope[S]] = {}
    for place in sorted({*x.by_parameter, *y.by_parameter}):
        dx, dy = x.by_parameter.get(place, Slope()), y.by_parameter.get(place, Slope())
        at = _dot(dx.at, y.at, algebra) + _dot(x.at, dy.at, algebra)
        rate, second = _rates_of_product(x, y, dx, dy, algebra)
        by_joint: dict[int, S] = {}
        for j in sorted({*x.by_joint, *y.by_joint}):
            first = _dot(dx.by_joint.get(j), y.at, algebra)
            first = first + _dot(x.by_joint.get(j), dy.at, algebra)
            last = _dot(dx.at, y.by_joint.get(j), algebra)
            by_joint[j] = first + (last + _dot(x.at, dy.by_joint.get(j), algebra))
        found[place] = Slope(at, rate, second, by_joint)
    return found


def _rates_of_product(
    x: Known[Vector[S]],
    y: Known[Vector[S]],
    dx: Slope[Vector[S]],
    dy: Slope[Vector[S]],
    algebra: Algebra[S],
) -> tuple[S, S]:
    """c'_k and c''_k"""

    def dot(a: Vector[S] | None, c: Vector[S] | None) -> S:
        return _dot(a, c, algebra)

    turned = dot(dx.rate, y.at) + dot(x.rate, dy.at), dot(dx.at, y.rate) + dot(x.at, dy.rate)
    crossed = dot(dx.rate, y.rate) + dot(x.rate, dy.rate)
    first = dot(dx.second_rate, y.at) + dot(x.second_rate, dy.at)
    last = dot(dx.at, y.second_rate) + dot(x.at, dy.second_rate)
    return turned[0] + turned[1], first + crossed * algebra.constant(2.0) + last


def _dot(a: Vector[S] | None, c: Vector[S] | None, algebra: Algebra[S]) -> S:
    return algebra.zero if a is None or c is None else a.dot(c)


def _by(x: Known[X], k: int) -> Slope[X]:
    """By joint k."""
    return Slope(x.by_joint.get(k), x.twice.rate.get(k), x.twice.second_rate.get(k))


# -- expressions -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Expression(Generic[S]):
    """An expression e of `moving`; `first` are e_i, `second` e_il, `third` e_ilm by (i, l)."""

    moving: Sequence[Known[S]]
    first: Mapping[int, S]
    second: Mapping[int, Mapping[int, S]]
    third: Mapping[Pair, Mapping[int, S]]
    algebra: Algebra[S]

    def twice(self) -> Twice[S]:
        """By joints."""
        moving = self.moving
        numbers = sorted({k for i in self.first for k in moving[i].by_joint})
        rate: dict[int, S] = {}
        bend: dict[int, S] = {}
        for k in numbers:
            rate[k], bend[k] = self._rates([_by(x, k) for x in moving])
        pairs: dict[Pair, S] = {}
        for j in numbers:
            for k in (k for k in numbers if k <= j):
                own = {i: moving[i].twice.pairs.get((j, k)) for i in self.first}
                by_k = [x.by_joint.get(k) for x in moving]
                pairs[j, k] = pairs[k, j] = self._mixed(j, own, by_k)
        return Twice(rate, bend, pairs)

    def by_parameters(self) -> dict[int, Slope[S]]:
        """By parameters; what depends on one is among `moving`."""
        numbers = sorted({k for i in self.first for k in self.moving[i].by_joint})
        found: dict[int, Slope[S]] = {}
        for place in sorted({k for i in self.first for k in self.moving[i].by_parameter}):
            slopes = [x.by_parameter.get(place, Slope()) for x in self.moving]
            at = [slopes[i].at for i in self.first]
            pairs = zip(self.first.values(), at, strict=True)
            terms = [e * x for e, x in pairs if x is not None]
            by_joint = {
                j: self._mixed(
                    j,
                    {i: slopes[i].by_joint.get(j) for i in self.first},
                    [x.at for x in slopes],
                )
                for j in numbers
            }
            found[place] = Slope(self._added(terms), *self._rates(slopes), by_joint)
        return found

    def _rates(self, slopes: Sequence[Slope[S]]) -> tuple[S, S]:
        """c'_k and c''_k; `slopes` are those of `moving` by k."""
        own = [(e, slopes[i]) for i, e in self.first.items()]
        rates = [e * x.rate for e, x in own if x.rate is not None]
        bends = [e * x.second_rate for e, x in own if x.second_rate is not None]
        for i, row in self.second.items():
            for m, e in row.items():
                x, y, dx, dy = self.moving[i], self.moving[m], slopes[i], slopes[m]
                if dy.at is not None:
                    rates.append(e * dy.at * x.rate)
                    bends.append(e * dy.at * x.second_rate)
                if dx.rate is not None:
                    bends.append(e * dx.rate * y.rate)
                if dy.rate is not None:
                    bends.append(e * x.rate * dy.rate)
        for (i, m), row in self.third.items():
            both = self.moving[i].rate * self.moving[m].rate
            steps = ((e, slopes[o].at) for o, e in row.items())
            bends += [e * step * both for e, step in steps if step is not None]
        return self._added(rates), self._added(bends)

    def _mixed(self, j: int, own: Mapping[int, S | None], by_k: Sequence[S | None]) -> S:
        """c_jk; `own` are x_i,jk and `by_k` x_l,k"""
        steps = ((self.first[i], x) for i, x in own.items())
        terms = [e * x for e, x in steps if x is not None]
        for i, row in self.second.items():
            by_j = self.moving[i].by_joint.get(j)
            steps = ((e, by_k[m]) for m, e in row.items())
            terms += [e * x * by_j for e, x in steps if x is not None and by_j is not None]
        return self._added(terms)

    def _added(self, terms: Sequence[S]) -> S:
        return total(terms, self.algebra) if terms else self.algebra.zero


def expression(
    moving: Sequence[Known[S]],
    first: Mapping[int, S],
    slopes: Callable[[S], Mapping[int, S]],
    algebra: Algebra[S],
) -> Expression[S]:
    """`first` are e_i, and `slopes` derives once more."""
    second = {i: slopes(slope) for i, slope in first.items()}
    third = {(i, m): slopes(x) for i, row in second.items() for m, x in row.items()}
    return Expression(moving, first, second, third, algebra)
