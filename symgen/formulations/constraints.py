"""What closes the loops of a mechanism: rows that are 0, their rates and derivatives.

A family supplies vectors that are fixed in bodies, and points of them, with their rates by time and
their derivatives by coordinates (`Moving`); the rows are written here, once for all families.

A row of a loop is a product x . y of two such vectors (`symgen.joints.closing`), so that

    c = x . y,   c' = x' . y + x . y',   c'' = x'' . y + 2 x' . y' + x . y'',
    dc/dq_j = dx/dq_j . y + x . dy/dq_j.

A relation is an expression e of coordinates, points and time, x_i for short, and so

    c' = sum_i e_i x_i',   c'' = sum_i e_i x_i'' + sum_ik e_ik x_i' x_k',
    dc/dq_j = sum_i e_i dx_i/dq_j

with the derivatives e_i, e_ik of the expression.  Of Euler parameters p . p - 1 is a row.
Derivatives of c'' and of J^T multipliers are those of the whole program, statement by statement,
unless a family has its own (`symgen.formulations.constraint_slopes`).

=========  =========================  ==========================================================
symbol     code                       meaning
=========  =========================  ==========================================================
c          c_<row>                    a row
J          J_<row>_<j>                its derivative by coordinate j
c', c''    cd_<row>, cdd_<row>        its rates by time
=========  =========================  ==========================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from operator import add
from typing import Any, Protocol

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector, total, zero_vector
from symgen.description.quantities import POINTS, RATES, quantity
from symgen.formulations.constraint_parts import (
    RATE,
    SECOND_RATE,
    VALUE,
    Moving,
    MovingScalar,
    Supplied,
    Wanted,
    quantities,
    relation_row,
)
from symgen.formulations.constraint_slopes import Twice, product
from symgen.formulations.interface import Derivation
from symgen.formulations.shared import by_parameters, let_derivative
from symgen.formulations.state import State
from symgen.kinematics.frames import units
from symgen.kinematics.loops import BASE_AXES, GAP, Loop
from symgen.kinematics.points import BodyPoint
from symgen.kinematics.tree import KinematicTree
from symgen.program.arguments import CONSTRAINT_MULTIPLIERS
from symgen.program.builder import ProgramBuilder
from symgen.program.differentiation import differentiate

NOTES = {
    "LC-1": "a row of a loop: x . y of vectors of both frames",
    "LC-2": "its derivative by a coordinate",
    "LC-3": "its rate by time",
    "LC-4": "its second rate by time",
    "LC-5": "a relation of the model file; e_i, e_ik are derivatives of the expression",
    "LC-6": "J^T multipliers: what the constraints exert on the coordinates",
    "LC-8": "Euler parameters have the norm 1: p . p - 1",
    "LC-9": "derivative of LC-2 and of LC-6 by a coordinate -- Lopez Varela 2023 (39)",
    "LC-10": "derivatives of LC-3 and LC-4 by a coordinate -- Lopez Varela 2023 (38), and its rate",
    "LC-7": "wrench on the second frame: multipliers times what its motion does to the rows",
}

__all__ = ["NOTES", "RATE", "SECOND_RATE", "VALUE", "Moving", "Supplied", "Wanted"]

MULTIPLIERS = CONSTRAINT_MULTIPLIERS.name


Supply = Callable[
    [KinematicTree[Any], ProgramBuilder[Any], State[Any], Sequence[BodyPoint[Any]], Wanted],
    Supplied[Any],
]
"""Writes the steps that ends of loops and these points take, and returns them."""


SIDES = ("first", "second")


class Bodies(Protocol[S]):
    """What is fixed in bodies, as a family has it; 0 is the base."""

    def point(self, name: str, body: int, p: Vector[S]) -> Moving[S]:
        """A point, given in the frame of the body."""

    def direction(self, name: str, body: int, e: Vector[S]) -> Moving[S]:
        """A vector, given in the axes of the body."""


def supplied_by(
    bodies: Bodies[S],
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    points: Sequence[BodyPoint[S]],
) -> Supplied[S]:
    """Ends of all loops, and `points`."""
    origins: dict[tuple[str, int], Moving[S]] = {}
    axes: dict[tuple[str, int], dict[str, Moving[S]]] = {}
    for loop in tree.loops:
        for side, (end, used) in enumerate(loop.ends()):
            label = f"{loop.name}_{SIDES[side]}"
            with b.step("loops", loop.name):
                if loop.has_gap:
                    origins[loop.name, side] = bodies.point(label, end.body, end.origin)
                axes[loop.name, side] = {
                    name: bodies.direction(f"{label}_{name}", end.body, end.axes[name])
                    for name in used
                }
    found: dict[str, Moving[S]] = {}
    for point in points:
        with b.step("points", point.name):
            found[point.name] = bodies.point(point.name, point.body, point.point)
    return Supplied(origins, axes, found)


def with_derivatives_of(supply: Supply) -> dict[str, Derivation]:
    """The same of a family that has derivatives of its own, for `slopes` and `pairs`."""
    return {
        **functions_of(supply),
        "constraint_acceleration_derivatives": partial(_own_slopes, supply=supply),
        "constraint_torque_derivatives": partial(_own_torque_derivatives, supply=supply),
    }


def functions_of(supply: Supply) -> dict[str, Derivation]:
    """The functions of constraints of a family, derivatives being those of its whole programs."""
    return {
        "constraints": partial(_values, supply=supply),
        "constraint_jacobian": partial(_jacobian, supply=supply),
        "loop_wrenches": partial(_wrenches, supply=supply),
        "constraint_rates": partial(_rates, supply=supply),
        "constraint_bias": partial(_bias, supply=supply),
        "constraint_acceleration_derivatives": partial(_acceleration_derivatives, supply=supply),
        "constraint_torque_derivatives": partial(_torque_derivatives, supply=supply),
        "constraint_acceleration_parameter_derivatives": partial(
            by_parameters,
            partial(_accelerations, supply=supply),
            {"constraint_accelerations": "dcdd_dparameters"},
        ),
        "constraint_torque_parameter_derivatives": partial(
            by_parameters,
            partial(_torques, supply=supply),
            {"constraint_torques": "dp_dparameters"},
        ),
    }


def _values(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supply: Supply) -> None:
    rows = _rows(tree, b, state, supply, Wanted(VALUE, False))
    b.output("constraints", (len(rows),), [row.at for row in rows])


def _jacobian(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supply: Supply
) -> None:
    rows = _rows(tree, b, state, supply, Wanted(VALUE, True))
    zero = b.algebra.zero
    dense = [row.by_joint.get(joint.number, zero) for row in rows for joint in tree.joints]
    b.output("constraint_jacobian", (len(rows), tree.n), dense)


def _rates(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supply: Supply) -> None:
    rows = _rows(tree, b, state, supply, Wanted(RATE, False))
    b.output("constraint_rates", (len(rows),), [row.rate for row in rows])


def _bias(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supply: Supply) -> None:
    rows = _rows(tree, b, state, supply, Wanted(SECOND_RATE, False))
    b.output("constraint_bias", (len(rows),), [row.second_rate for row in rows])


def _accelerations(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supply: Supply
) -> None:
    rows = _rows(tree, b, state, supply, Wanted(SECOND_RATE, False))
    b.output("constraint_accelerations", (len(rows),), [row.second_rate for row in rows])


def _acceleration_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supply: Supply
) -> None:
    _accelerations(tree, b, state, supply)
    entries = b.results("constraint_accelerations")
    _differentiated(tree, b, entries, {"q": "dcdd_dq", "qd": "dcdd_dqd"})


def _torques(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supply: Supply) -> None:
    """LC-6"""
    rows = _rows(tree, b, state, supply, Wanted(VALUE, True))
    multipliers = b.declared(MULTIPLIERS).symbols
    torques: list[S] = []
    for joint in tree.joints:
        pairs = zip(rows, multipliers, strict=True)
        terms = [row.by_joint[joint.number] * x for row, x in pairs if joint.number in row.by_joint]
        with b.step("constraint torques", joint.name):
            value = total(terms, b.algebra)
            torques.append(b.let(f"p_{joint.number}", value, "LC-6"))
    b.output("constraint_torques", (tree.n,), torques)


def _torque_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supply: Supply
) -> None:
    _torques(tree, b, state, supply)
    _differentiated(tree, b, b.results("constraint_torques"), {"q": "dp_dq"})


def _own_slopes(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supply: Supply
) -> None:
    """LC-10; by velocities c'' has twice what c' has by coordinates."""
    rows = _rows(tree, b, state, supply, Wanted(SECOND_RATE, True, slopes=True))
    zero, numbers = b.algebra.zero, [joint.number for joint in tree.joints]
    b.output("constraint_accelerations", (len(rows),), [row.second_rate for row in rows])
    by_q = [row.twice.second_rate.get(k, zero) for row in rows for k in numbers]
    by_qd = [row.twice.rate.get(k, zero) for row in rows for k in numbers]
    b.output("dcdd_dq", (len(rows), tree.n), by_q)
    b.output("dcdd_dqd", (len(rows), tree.n), [x + x for x in by_qd])


def _own_torque_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supply: Supply
) -> None:
    """LC-6 with LC-9"""
    rows = _rows(tree, b, state, supply, Wanted(VALUE, True, pairs=True))
    multipliers = b.declared(MULTIPLIERS).symbols
    torques, slopes, numbers = [], [], [joint.number for joint in tree.joints]
    for j in numbers:
        pairs = list(zip(rows, multipliers, strict=True))
        own = [row.by_joint[j] * x for row, x in pairs if j in row.by_joint]
        with b.step("constraint torques", tree.joint(j).name):
            torques.append(b.let(f"p_{j}", total(own, b.algebra), "LC-6"))
            for k in numbers:
                terms = [row.twice.pairs[j, k] * x for row, x in pairs if (j, k) in row.twice.pairs]
                value = total(terms, b.algebra) if terms else b.algebra.zero
                slopes.append(let_derivative(b, f"p_{j}", value, f"q_{k}", "LC-9"))
    b.output("constraint_torques", (tree.n,), torques)
    b.output("dp_dq", (tree.n, tree.n), slopes)


def _differentiated(
    tree: KinematicTree[S], b: ProgramBuilder[S], entries: Sequence[S], results: Mapping[str, str]
) -> None:
    """Derivatives of all that is written by inputs, one column for every joint."""
    inputs = [b.declared(name) for name in results]
    derivatives, zero = differentiate(b, inputs), b.algebra.zero
    rows = [derivatives.of(entry) for entry in entries]
    for k, name in enumerate(results.values()):
        places = range(k * tree.n, (k + 1) * tree.n)
        dense = [row.get(place, zero) for row in rows for place in places]
        b.output(name, (len(rows), tree.n), dense)


def _wrenches(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supply: Supply
) -> None:
    """LC-7: a row x . y gives a turn of y the moment y x x, and a way of the origin the force x."""
    supplied = supply(tree, b, state, (), Wanted(VALUE, False))
    multipliers = iter(b.declared(MULTIPLIERS).symbols)
    none = zero_vector(b.algebra)
    entries: list[S] = []
    for loop in tree.loops:
        first, second = _vectors(loop, b, supplied)
        force, moment = [], []
        for one, other in loop.rows:
            size = next(multipliers)
            if one == other == GAP:
                force.append(first[GAP].at * (size + size))
            elif other == GAP:
                force.append(first[one].at * size)
            else:
                moment.append(second[other].at.cross(first[one].at) * size)
        with b.step("loop wrenches", loop.name):
            parts = (("f", force), ("n", moment))
            for letter, terms in parts:
                whole = reduce(add, terms) if terms else none
                entries += b.let(f"{letter}_{loop.name}", whole, "LC-7")
    b.output("loop_wrenches", (len(tree.loops), 6), entries)


# -------------------------------------------------------------------------------------- rows


def _rows(
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
    first, second = _vectors(loop, b, supplied)
    rows = []
    for (one, other), name in zip(loop.rows, loop.row_names, strict=True):
        with b.step("constraints", loop.name):
            row = _product(first[one], second[other], b, wanted)
            if one == other == GAP:
                row = replace(row, at=row.at - loop.length * loop.length)
            rows.append(_named(name, row, b, wanted, "LC-1"))
    return rows


def _vectors(
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
        second_rate = b.let(f"cdd_{name}", row.second_rate, "LC-4")
    return MovingScalar(at, rate, second_rate, columns)


def _named_slopes(name: str, row: MovingScalar[S], b: ProgramBuilder[S]) -> Twice[S]:
    """LC-10"""
    lines = (("cd", row.twice.rate), ("cdd", row.twice.second_rate))
    rate, second_rate = (
        {k: let_derivative(b, f"{c}_{name}", x, f"q_{k}", "LC-10") for k, x in slopes.items()}
        for c, slopes in lines
    )
    return Twice(rate, second_rate)


def _named_pairs(name: str, row: MovingScalar[S], b: ProgramBuilder[S]) -> Twice[S]:
    """LC-9; both orders are one number, in a line with the larger joint first."""
    found: dict[tuple[int, int], S] = {}
    for (j, k), x in row.twice.pairs.items():
        if j >= k and not b.algebra.is_zero(x):
            line = let_derivative(b, f"J_{name}_{j}", x, f"q_{k}", "LC-9")
            found[j, k] = found[k, j] = line
    return Twice(pairs=found)
