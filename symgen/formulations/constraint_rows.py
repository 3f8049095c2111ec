"""Rows of constraints, out of what a family supplies: see `symgen.formulations.constraints`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from symgen.algebra.interface import S
from symgen.algebra.linear import total, zero_vector
from symgen.description.quantities import POINTS, RATES, quantity
from symgen.formulations.constraint_parts import (
    RATE,
    VALUE,
    Moving,
    MovingScalar,
    Supplied,
    Wanted,
    quantities,
    relation_row,
)
from symgen.formulations.constraint_slopes import (
    Slope,
    Twice,
    product,
    product_by_parameters,
)
from symgen.formulations.shared import let_derivative
from symgen.formulations.state import State
from symgen.kinematics.frames import units
from symgen.kinematics.loops import BASE_AXES, GAP, Loop
from symgen.kinematics.points import BodyPoint
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

Supply = Callable[
    [KinematicTree[Any], ProgramBuilder[Any], State[Any], Sequence[BodyPoint[Any]], Wanted],
    Supplied[Any],
]
"""Writes the steps that ends of loops and these points take, and returns them."""


def constraint_rows(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
    supply: Supply,
    wanted: Wanted,
) -> list[MovingScalar[S]]:
    """All rows, in the order of `constraint_names`, as far as they are wanted."""
    names = {name for relation in tree.relations for name in relation.expression.names}
    mentioned = {name.split(".")[1] for name in names if name.startswith(f"{POINTS}.")}
    points = [point for point in tree.points if point.name in mentioned]
    supplied = supply(tree, b, state, points, wanted)
    rows: list[MovingScalar[S]] = []
    for loop in tree.loops:
        rows += _loop_rows(loop, b, supplied, wanted)
    known = quantities(tree, b, state, supplied)
    for relation in tree.relations:
        with b.step("constraints", relation.name):
            row = relation_row(tree, b, relation.expression, known, wanted)
            rows.append(_named(relation.name, row, b, wanted, "LC-5"))
    for joint in tree.euler_parameters:
        four = [known[quantity(RATES[0], tree.joint(k).name)] for k in joint.members]
        with b.step("constraints", joint.name):
            rows.append(_named(f"{joint.name}_norm", _norm_row(four, b), b, wanted, "LC-8"))
    return rows


def _norm_row(four: Sequence[MovingScalar[S]], b: ProgramBuilder[S]) -> MovingScalar[S]:
    """LC-8"""
    two = b.algebra.constant(2.0)
    at, rate, second_rate = (
        total(terms, b.algebra)
        for terms in (
            [x.at * x.at for x in four],
            [x.at * x.rate for x in four],
            [x.rate * x.rate + x.at * x.second_rate for x in four],
        )
    )
    columns = {j: x.at * two for x in four for j in x.by_joint}
    twice = Twice(
        {j: x.rate * two for x in four for j in x.by_joint},
        {j: x.second_rate * two for x in four for j in x.by_joint},
        {(j, j): two for x in four for j in x.by_joint},
    )
    return MovingScalar(at - b.algebra.one, rate * two, second_rate * two, columns, twice)


def _loop_rows(
    loop: Loop[S], b: ProgramBuilder[S], supplied: Supplied[S], wanted: Wanted
) -> list[MovingScalar[S]]:
    """LC-1 to LC-4"""
    first, second = loop_vectors(loop, b, supplied)
    rows = []
    for (one, other), name in zip(loop.rows, loop.row_names, strict=True):
        with b.step("constraints", loop.name):
            row = _product(first[one], second[other], b, wanted)
            if one == other == GAP:
                row = _less_length(row, loop.length, b, wanted)
            rows.append(_named(name, row, b, wanted, "LC-1"))
    return rows


def _less_length(
    row: MovingScalar[S], length: S, b: ProgramBuilder[S], wanted: Wanted
) -> MovingScalar[S]:
    """x . x - length^2"""
    by_parameter = dict(row.by_parameter)
    slopes = b.algebra.derivatives([b.algebra.symbol(name) for name in wanted.parameters])
    for place, slope in slopes.of(length).items():
        own = by_parameter.get(place, Slope(b.algebra.zero))
        square = length * slope + length * slope
        by_parameter[place] = replace(own, at=-square if own.at is None else own.at - square)
    return replace(row, at=row.at - length * length, by_parameter=by_parameter)


def loop_vectors(
    loop: Loop[S], b: ProgramBuilder[S], supplied: Supplied[S]
) -> tuple[dict[str, Moving[S]], dict[str, Moving[S]]]:
    """The vectors that rows are about, by name: of the first frame, and of the second."""
    zero = zero_vector(b.algebra)
    shared = {
        name: Moving(unit, zero, zero, {})
        for name, unit in zip(BASE_AXES, units(b.algebra), strict=True)
    }
    if loop.has_gap:
        shared[GAP] = supplied.origins[loop.name, 1] - supplied.origins[loop.name, 0]
    first, second = (supplied.axes[loop.name, side] for side in range(2))
    return {**shared, **first}, {**shared, **second}


def _product(x: Moving[S], y: Moving[S], b: ProgramBuilder[S], wanted: Wanted) -> MovingScalar[S]:
    """x . y"""
    columns: dict[int, S] = {}
    for j in sorted({*x.by_joint, *y.by_joint}):
        terms = []
        if j in x.by_joint:
            terms.append(x.by_joint[j].dot(y.at))
        if j in y.by_joint:
            terms.append(x.at.dot(y.by_joint[j]))
        columns[j] = total(terms, b.algebra)
    twice = b.algebra.constant(2.0)
    return MovingScalar(
        x.at.dot(y.at),
        x.rate.dot(y.at) + x.at.dot(y.rate),
        x.second_rate.dot(y.at) + x.rate.dot(y.rate) * twice + x.at.dot(y.second_rate),
        columns,
        product(x, y, b.algebra) if wanted.slopes or wanted.pairs else Twice(),
        product_by_parameters(x, y, b.algebra) if wanted.parameters else {},
    )


def _named(
    name: str, row: MovingScalar[S], b: ProgramBuilder[S], wanted: Wanted, note: str
) -> MovingScalar[S]:
    """The row as statements, as far as it is wanted; what is not is 0."""
    at = rate = second_rate = b.algebra.zero
    columns: dict[int, S] = {}
    if wanted.slopes:
        b.let(f"cd_{name}", row.rate, "LC-3")
        second_rate = b.let(f"cdd_{name}", row.second_rate, "LC-4")
        return MovingScalar(at, rate, second_rate, columns, _named_slopes(name, row, b))
    if wanted.by_joint:
        for j, column in row.by_joint.items():
            if not b.algebra.is_zero(column):
                columns[j] = b.let(f"J_{name}_{j}", column, "LC-2")
        if wanted.pairs:
            return MovingScalar(at, rate, second_rate, columns, _named_pairs(name, row, b))
    elif wanted.order == VALUE:
        at = b.let(f"c_{name}", row.at, note)
    elif wanted.order == RATE:
        rate = b.let(f"cd_{name}", row.rate, "LC-3")
    else:
        rate = b.let(f"cd_{name}", row.rate, "LC-3")
        second_rate = b.let(f"cdd_{name}", row.second_rate, "LC-4")
    by_parameter = _named_by_parameters(name, row, b, wanted)
    return MovingScalar(at, rate, second_rate, columns, by_parameter=by_parameter)


def _named_slopes(name: str, row: MovingScalar[S], b: ProgramBuilder[S]) -> Twice[S]:
    """LC-10"""
    lines = (("cd", row.twice.rate), ("cdd", row.twice.second_rate))
    rate, second_rate = (
        {k: let_derivative(b, f"{c}_{name}", x, f"q_{k}", "LC-10") for k, x in slopes.items()}
        for c, slopes in lines
    )
    return Twice(rate, second_rate)


def _named_by_parameters(
    name: str, row: MovingScalar[S], b: ProgramBuilder[S], wanted: Wanted
) -> dict[int, Slope[S]]:
    """LC-11 to LC-13 of what is wanted, for every parameter."""
    found: dict[int, Slope[S]] = {}
    for place, by in enumerate(wanted.parameters):
        slope = row.by_parameter.get(place, Slope())

        def line(label: str, x: S | None, note: str, by: str = by) -> S | None:
            return None if x is None else let_derivative(b, label, x, by, note)

        if wanted.by_joint:
            columns = {j: x for j, x in slope.by_joint.items() if not b.algebra.is_zero(x)}
            lines = {
                j: let_derivative(b, f"J_{name}_{j}", x, by, "LC-13") for j, x in columns.items()
            }
            found[place] = Slope(by_joint=lines)
        elif wanted.order == VALUE:
            found[place] = Slope(at=line(f"c_{name}", slope.at, "LC-11"))
        elif wanted.order == RATE:
            found[place] = Slope(rate=line(f"cd_{name}", slope.rate, "LC-12"))
        else:
            second = line(f"cdd_{name}", slope.second_rate, "LC-12")
            found[place] = Slope(second_rate=second)
    return found


def _named_pairs(name: str, row: MovingScalar[S], b: ProgramBuilder[S]) -> Twice[S]:
    """LC-9; both orders are one number, in a line with the larger joint first."""
    found: dict[tuple[int, int], S] = {}
    for (j, k), x in row.twice.pairs.items():
        if j >= k and not b.algebra.is_zero(x):
            line = let_derivative(b, f"J_{name}_{j}", x, f"q_{k}", "LC-9")
            found[j, k] = found[k, j] = line
    return Twice(pairs=found)
