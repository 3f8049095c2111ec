"""What rows of constraints are made of, as families supply it, and rows of relations.

Vectors and points of bodies, and what expressions mention, each with its rates by time and its
derivatives by joints; `symgen.formulations.constraints` has the rows of loops.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector, total
from symgen.description.quantities import AXES, POINTS, RATES, TIME, quantity
from symgen.formulations.constraint_slopes import K, Slope, Twice, difference, less
from symgen.formulations.constraint_slopes import expression as of_expression
from symgen.formulations.state import State
from symgen.kinematics.definitions import WithDefinitions
from symgen.kinematics.scalars import scalar
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

VALUE, RATE, SECOND_RATE = range(3)


@dataclass(frozen=True)
class Moving(Generic[S]):
    """A vector in base axes, its first two rates by time, its derivatives by joint and by place of
    a runtime parameter, where these are wanted."""

    at: Vector[S]
    rate: Vector[S]
    second_rate: Vector[S]
    by_joint: Mapping[int, Vector[S]]
    twice: Twice[Vector[S]] = field(default_factory=Twice)
    by_parameter: Mapping[int, Slope[Vector[S]]] = field(default_factory=dict)

    def __sub__(self, other: Moving[S]) -> Moving[S]:
        one, two = self.twice, other.twice
        places, nothing = sorted({*self.by_parameter, *other.by_parameter}), Slope[Vector[S]]()
        return Moving(
            self.at - other.at,
            self.rate - other.rate,
            self.second_rate - other.second_rate,
            less(self.by_joint, other.by_joint),
            Twice(
                less(one.rate, two.rate),
                less(one.second_rate, two.second_rate),
                less(one.pairs, two.pairs),
            ),
            {
                k: difference(self.by_parameter.get(k, nothing), other.by_parameter.get(k, nothing))
                for k in places
            },
        )


@dataclass(frozen=True)
class MovingScalar(Generic[S]):
    """The same of a scalar."""

    at: S
    rate: S
    second_rate: S
    by_joint: Mapping[int, S]
    twice: Twice[S] = field(default_factory=Twice)
    by_parameter: Mapping[int, Slope[S]] = field(default_factory=dict)


@dataclass(frozen=True)
class Wanted:
    """What is asked of a family: rates up to `order`, derivatives by joint; `slopes` of the rates,
    and `pairs`, of the derivatives by joint, of a family that has them.

    Of the same family all that is asked for by the `parameters`, names of runtime parameters.
    """

    order: int
    by_joint: bool
    slopes: bool = False
    pairs: bool = False
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True)
class Supplied(Generic[S]):
    """Of every end of a loop its origin and its axes by name; of every point its position."""

    origins: Mapping[tuple[str, int], Moving[S]] = field(default_factory=dict)
    axes: Mapping[tuple[str, int], Mapping[str, Moving[S]]] = field(default_factory=dict)
    points: Mapping[str, Moving[S]] = field(default_factory=dict)


def quantities(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supplied: Supplied[S]
) -> dict[str, MovingScalar[S]]:
    """What relations may mention, by name."""
    zero, one = b.algebra.zero, b.algebra.one
    t = b.declared(TIME).symbols[0]
    known = {TIME: MovingScalar(t, one, zero, {})}
    for joint in tree.joints:
        k = joint.number - 1
        own = MovingScalar(state.q[k], state.qd[k], state.qdd[k], {joint.number: one})
        known[quantity(RATES[0], joint.name)] = own
    for name, point in supplied.points.items():
        parts = zip(AXES, point.at, point.rate, point.second_rate, strict=True)
        for c, (axis, at, rate, second_rate) in enumerate(parts):
            columns = {j: tuple(column)[c] for j, column in point.by_joint.items()}
            twice = point.twice.of_each(partial(_entry, c))
            by_parameter = {k: _of_entry(c, slope) for k, slope in point.by_parameter.items()}
            row = MovingScalar(at, rate, second_rate, columns, twice, by_parameter)
            known[quantity(POINTS, name, axis)] = row
    return known


def _replaced(b: ProgramBuilder[S], values: Mapping[S, S], found: Mapping[K, S]) -> dict[K, S]:
    """The same with what relations mention in place of the symbols for it."""
    return dict(zip(found, b.algebra.replaced(list(found.values()), values), strict=True))


def _slope_replaced(b: ProgramBuilder[S], values: Mapping[S, S], slope: Slope[S]) -> Slope[S]:
    parts = (slope.at, slope.rate, slope.second_rate)
    found = iter(b.algebra.replaced([x for x in parts if x is not None], values))
    at, rate, second_rate = (None if x is None else next(found) for x in parts)
    return Slope(at, rate, second_rate, _replaced(b, values, slope.by_joint))


def _of_entry(place: int, slope: Slope[Vector[S]]) -> Slope[S]:
    def part(x: Vector[S] | None) -> S | None:
        return None if x is None else _entry(place, x)

    by_joint = {j: _entry(place, x) for j, x in slope.by_joint.items()}
    return Slope(part(slope.at), part(slope.rate), part(slope.second_rate), by_joint)


def _parameters(b: ProgramBuilder[S], names: tuple[str, ...]) -> dict[S, MovingScalar[S]]:
    """Runtime parameters as what expressions mention: constant in time, by their symbols."""
    zero, one = b.algebra.zero, b.algebra.one
    symbols = [b.algebra.symbol(name) for name in names]
    return {
        x: MovingScalar(x, zero, zero, {}, by_parameter={place: Slope(one)})
        for place, x in enumerate(symbols)
    }


def _entry(place: int, vector: Vector[S]) -> S:
    return tuple(vector)[place]


def relation_row(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    expression: Any,
    known: Mapping[str, MovingScalar[S]],
    wanted: Wanted,
) -> MovingScalar[S]:
    """LC-5, by the chain rule over what the expression mentions."""
    names = [name for name in expression.names if name in known]
    labels = [f"x_of_{name.replace('.', '_')}" for name in names]
    symbols = [b.algebra.symbol(label) for label in labels]
    stand_ins = dict(zip(names, symbols, strict=True))
    algebra = WithDefinitions(b.algebra, {**tree.definitions, **stand_ins})
    value = scalar(expression, algebra)
    given = _parameters(b, wanted.parameters)
    slopes = b.algebra.derivatives([*symbols, *given])
    first = slopes.of(value)
    second = {k: slopes.of(slope) for k, slope in first.items()}
    mentioned = [known[name] for name in names]
    moving = [*mentioned, *given.values()]
    rate = [slope * moving[k].rate for k, slope in first.items()]
    second_rate = [slope * moving[k].second_rate for k, slope in first.items()]
    second_rate += [
        slope * moving[k].rate * moving[i].rate
        for k, row in second.items()
        for i, slope in row.items()
    ]
    columns: dict[int, list[S]] = {}
    for k, slope in first.items():
        for j, column in moving[k].by_joint.items():
            columns.setdefault(j, []).append(slope * column)
    zero = b.algebra.zero
    numbers = sorted(columns)
    scalars = [
        value,
        total(rate, b.algebra) if rate else zero,
        total(second_rate, b.algebra) if second_rate else zero,
        *(total(columns[j], b.algebra) for j in numbers),
    ]
    values = {symbol: one.at for symbol, one in zip(symbols, mentioned, strict=True)}
    at, rate_of, second_of, *slopes_of = b.algebra.replaced(scalars, values)
    twice: Twice[S] = Twice()
    if wanted.slopes or wanted.pairs:
        found = of_expression(moving, first, slopes.of, b.algebra).twice()
        replaced = partial(_replaced, b, values)
        twice = Twice(replaced(found.rate), replaced(found.second_rate), replaced(found.pairs))
    by_parameter: dict[int, Slope[S]] = {}
    if given:
        by = of_expression(moving, first, slopes.of, b.algebra).by_parameters()
        by_parameter = {place: _slope_replaced(b, values, slope) for place, slope in by.items()}
    columns_of = dict(zip(numbers, slopes_of, strict=True))
    return MovingScalar(at, rate_of, second_of, columns_of, twice, by_parameter)
