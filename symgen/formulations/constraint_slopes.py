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


def less(one: Mapping[K, Vector[S]], other: Mapping[K, Vector[S]]) -> dict[K, Vector[S]]:
    """one - other, where a key that is missing stands for 0."""
    found = dict(one)
    for key, x in other.items():
        found[key] = found[key] - x if key in found else -x
    return found


def product(x: Known[Vector[S]], y: Known[Vector[S]], algebra: Algebra[S]) -> Twice[S]:
    """Of x . y"""
    numbers = sorted({*x.by_joint, *y.by_joint})
    two = algebra.constant(2.0)

    def dot(a: Vector[S] | None, c: Vector[S] | None) -> S:
        return algebra.zero if a is None or c is None else a.dot(c)

    rate: dict[int, S] = {}
    second: dict[int, S] = {}
    for k in numbers:
        (x_k, x_r, x_a), (y_k, y_r, y_a) = (
            (z.by_joint.get(k), z.twice.rate.get(k), z.twice.second_rate.get(k)) for z in (x, y)
        )
        turned = dot(x_r, y.at) + dot(x.rate, y_k), dot(x_k, y.rate) + dot(x.at, y_r)
        rate[k] = turned[0] + turned[1]
        crossed = dot(x_r, y.rate) + dot(x.rate, y_r)
        ends = dot(x_a, y.at) + dot(x.second_rate, y_k), dot(x_k, y.second_rate) + dot(x.at, y_a)
        second[k] = ends[0] + crossed * two + ends[1]
    pairs: dict[Pair, S] = {}
    for j in numbers:
        for k in (k for k in numbers if k <= j):
            own = dot(x.twice.pairs.get((j, k)), y.at) + dot(x.at, y.twice.pairs.get((j, k)))
            mixed = dot(x.by_joint.get(j), y.by_joint.get(k))
            mixed = mixed + dot(x.by_joint.get(k), y.by_joint.get(j))
            pairs[j, k] = pairs[k, j] = own + mixed
    return Twice(rate, second, pairs)


def expression(
    moving: Sequence[Known[S]],
    first: Mapping[int, S],
    slopes: Callable[[S], Mapping[int, S]],
    algebra: Algebra[S],
) -> Twice[S]:
    """Of an expression e of `moving`; `first` are e_i, and `slopes` derives once more."""
    numbers = sorted({k for i in first for k in moving[i].by_joint})
    second = {i: slopes(slope) for i, slope in first.items()}
    third = {(i, m): slopes(x) for i, row in second.items() for m, x in row.items()}

    def added(terms: Sequence[S]) -> S:
        return total(terms, algebra) if terms else algebra.zero

    rate: dict[int, S] = {}
    bend: dict[int, S] = {}
    for k in numbers:
        own = [(e, moving[i].twice) for i, e in first.items()]
        rates = [e * x.rate[k] for e, x in own if k in x.rate]
        bends = [e * x.second_rate[k] for e, x in own if k in x.second_rate]
        for i, row in second.items():
            for m, e in row.items():
                x, y = moving[i], moving[m]
                if k in y.by_joint:
                    rates.append(e * y.by_joint[k] * x.rate)
                    bends.append(e * y.by_joint[k] * x.second_rate)
                if k in x.twice.rate:
                    bends.append(e * x.twice.rate[k] * y.rate)
                if k in y.twice.rate:
                    bends.append(e * x.rate * y.twice.rate[k])
        for (i, m), row in third.items():
            both = moving[i].rate * moving[m].rate
            bends += [
                e * moving[o].by_joint[k] * both for o, e in row.items() if k in moving[o].by_joint
            ]
        rate[k], bend[k] = added(rates), added(bends)
    pairs: dict[Pair, S] = {}
    for j in numbers:
        for k in (k for k in numbers if k <= j):
            terms = [
                e * moving[i].twice.pairs[j, k]
                for i, e in first.items()
                if (j, k) in moving[i].twice.pairs
            ]
            terms += [
                e * moving[m].by_joint[k] * moving[i].by_joint[j]
                for i, row in second.items()
                for m, e in row.items()
                if k in moving[m].by_joint and j in moving[i].by_joint
            ]
            pairs[j, k] = pairs[k, j] = added(terms)
    return Twice(rate, bend, pairs)
