"""Rows of constraints, out of what a family supplies: see `symgen.formulations.constraints`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector, total, zero_vector
from symgen.description.quantities import POINTS, RATES, quantity
from symgen.formulations.constraint_parts import (
    RATE,
    VALUE,
    Moving,
    Supplied,
    Wanted,
    quantities,
    relation_row,
)
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
) -> list[Moving[S]]:
    """All rows, in the order of `constraint_names`, as far as they are wanted."""
    names = {name for relation in tree.relations for name in relation.expression.names}
    mentioned = {name.split(".")[1] for name in names if name.startswith(f"{POINTS}.")}
    points = [point for point in tree.points if point.name in mentioned]
    supplied = supply(tree, b, state, points, wanted)
    rows: list[Moving[S]] = []
    for loop in tree.loops:
        rows += _loop_rows(loop, b, supplied, wanted)
    known = quantities(tree, b, state, supplied)
    for relation in tree.relations:
        with b.step("constraints", relation.name):
            row = relation_row(tree, b, relation.expression, known)
            rows.append(_named(relation.name, row, b, wanted, "LC-5"))
    for joint in tree.euler_parameters:
        four = [known[quantity(RATES[0], tree.joint(k).name)] for k in joint.members]
        with b.step("constraints", joint.name):
            rows.append(_named(f"{joint.name}_norm", _norm_row(four, b), b, wanted, "LC-8"))
    return rows


def _norm_row(four: Sequence[Moving[S]], b: ProgramBuilder[S]) -> Moving[S]:
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
    return Moving(at - b.algebra.one, rate * two, second_rate * two, columns)


def _loop_rows(
    loop: Loop[S], b: ProgramBuilder[S], supplied: Supplied[S], wanted: Wanted
) -> list[Moving[S]]:
    """LC-1 to LC-4"""
    first, second = loop_vectors(loop, b, supplied)
    rows = []
    for (one, other), name in zip(loop.rows, loop.row_names, strict=True):
        with b.step("constraints", loop.name):
            row = _product(first[one], second[other], b)
            if one == other == GAP:
                row = replace(row, at=row.at - loop.length * loop.length)
            rows.append(_named(name, row, b, wanted, "LC-1"))
    return rows


def loop_vectors(
    loop: Loop[S], b: ProgramBuilder[S], supplied: Supplied[S]
) -> tuple[dict[str, Moving[Vector[S]]], dict[str, Moving[Vector[S]]]]:
    """The vectors that rows are about, by name: of the first frame, and of the second."""
    zero = zero_vector(b.algebra)
    shared = {
        name: Moving(unit, zero, zero)
        for name, unit in zip(BASE_AXES, units(b.algebra), strict=True)
    }
    if loop.has_gap:
        shared[GAP] = _less(supplied.origins[loop.name, 1], supplied.origins[loop.name, 0])
    first, second = (supplied.axes[loop.name, side] for side in range(2))
    return {**shared, **first}, {**shared, **second}


def _less(x: Moving[Vector[S]], y: Moving[Vector[S]]) -> Moving[Vector[S]]:
    """x - y; a derivative that is missing is 0."""
    columns = dict(x.by_joint)
    for j, column in y.by_joint.items():
        columns[j] = columns[j] - column if j in columns else -column
    return Moving(x.at - y.at, x.rate - y.rate, x.second_rate - y.second_rate, columns)


def _product(x: Moving[Vector[S]], y: Moving[Vector[S]], b: ProgramBuilder[S]) -> Moving[S]:
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
    return Moving(
        x.at.dot(y.at),
        x.rate.dot(y.at) + x.at.dot(y.rate),
        x.second_rate.dot(y.at) + x.rate.dot(y.rate) * twice + x.at.dot(y.second_rate),
        columns,
    )


def _named(name: str, row: Moving[S], b: ProgramBuilder[S], wanted: Wanted, note: str) -> Moving[S]:
    """The row as statements, as far as it is wanted; what is not is 0."""
    at = rate = second_rate = b.algebra.zero
    columns: dict[int, S] = {}
    if wanted.by_joint:
        for j, column in row.by_joint.items():
            if not b.algebra.is_zero(column):
                columns[j] = b.let(f"J_{name}_{j}", column, "LC-2")
    elif wanted.order == VALUE:
        at = b.let(f"c_{name}", row.at, note)
    elif wanted.order == RATE:
        rate = b.let(f"cd_{name}", row.rate, "LC-3")
    else:
        rate = b.let(f"cd_{name}", row.rate, "LC-3")
        second_rate = b.let(f"cdd_{name}", row.second_rate, "LC-4")
    return Moving(at, rate, second_rate, columns)
