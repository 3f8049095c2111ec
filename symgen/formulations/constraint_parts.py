"""What rows of constraints are made of, as families supply it, and rows of relations.

Vectors and points of bodies, and what expressions mention, each with its rates by time and its
derivatives by joints; `symgen.formulations.constraints` has the rows of loops.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector, total
from symgen.description.quantities import AXES, POINTS, RATES, TIME, quantity
from symgen.formulations.state import State
from symgen.kinematics.definitions import WithDefinitions
from symgen.kinematics.scalars import scalar
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

X = TypeVar("X")

VALUE, RATE, SECOND_RATE = range(3)


@dataclass(frozen=True)
class Moving(Generic[X]):
    """A scalar, or a vector in base axes, its first two rates by time and derivatives by joint."""

    at: X
    rate: X
    second_rate: X
    by_joint: Mapping[int, X] = field(default_factory=dict)


@dataclass(frozen=True)
class Wanted:
    """What is asked of a family: rates up to `order`, derivatives by joint."""

    order: int
    by_joint: bool


@dataclass(frozen=True)
class Supplied(Generic[S]):
    """Of every end of a loop its origin and its axes by name; of every point its position."""

    origins: Mapping[tuple[str, int], Moving[Vector[S]]] = field(default_factory=dict)
    axes: Mapping[tuple[str, int], Mapping[str, Moving[Vector[S]]]] = field(default_factory=dict)
    points: Mapping[str, Moving[Vector[S]]] = field(default_factory=dict)


def quantities(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supplied: Supplied[S]
) -> dict[str, Moving[S]]:
    """What relations may mention, by name."""
    zero, one = b.algebra.zero, b.algebra.one
    known = {TIME: Moving(b.declared(TIME).symbols[0], one, zero)}
    for joint in tree.joints:
        k = joint.number - 1
        own = Moving(state.q[k], state.qd[k], state.qdd[k], {joint.number: one})
        known[quantity(RATES[0], joint.name)] = own
    for name, point in supplied.points.items():
        parts = zip(AXES, point.at, point.rate, point.second_rate, strict=True)
        for c, (axis, at, rate, second_rate) in enumerate(parts):
            columns = {j: tuple(column)[c] for j, column in point.by_joint.items()}
            known[quantity(POINTS, name, axis)] = Moving(at, rate, second_rate, columns)
    return known


def relation_row(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    expression: Any,
    known: Mapping[str, Moving[S]],
) -> Moving[S]:
    """LC-5, by the chain rule over what the expression mentions."""
    names = [name for name in expression.names if name in known]
    labels = [f"x_of_{name.replace('.', '_')}" for name in names]
    symbols = [b.algebra.symbol(label) for label in labels]
    stand_ins = dict(zip(names, symbols, strict=True))
    algebra = WithDefinitions(b.algebra, {**tree.definitions, **stand_ins})
    value = scalar(expression, algebra)
    slopes = b.algebra.derivatives(symbols)
    first = slopes.of(value)
    moving = [known[name] for name in names]
    rate = [slope * moving[k].rate for k, slope in first.items()]
    second_rate = [slope * moving[k].second_rate for k, slope in first.items()]
    second_rate += [
        slope * moving[k].rate * moving[i].rate
        for k, row in first.items()
        for i, slope in slopes.of(row).items()
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
    values = {symbol: one.at for symbol, one in zip(symbols, moving, strict=True)}
    at, rate_of, second_of, *slopes_of = b.algebra.replaced(scalars, values)
    return Moving(at, rate_of, second_of, dict(zip(numbers, slopes_of, strict=True)))
