"""Constraints of a mechanism: rows that are 0, their rates and derivatives, for all formulations.

A formulation supplies vectors and points that are fixed in bodies, with their rates by time and
their derivatives by coordinates (`Moving`); the rows are written here.

A row of a loop is a product x . y of two such vectors (`symgen.joints.closing`), so that

    c = x . y,   c' = x' . y + x . y',   c'' = x'' . y + 2 x' . y' + x . y'',
    dc/dq_j = dx/dq_j . y + x . dy/dq_j.

A relation is an expression e of coordinates, points and time, x_i for short, and so

    c' = sum_i e_i x_i',   c'' = sum_i e_i x_i'' + sum_ik e_ik x_i' x_k',
    dc/dq_j = sum_i e_i dx_i/dq_j

with the derivatives e_i, e_ik of the expression.  Of Euler parameters p . p - 1 is a row.

A relation of velocities is an expression r that is linear in the rates v_i of some of these (a
nonholonomic constraint).  It is a rate that is not that of a constraint of positions:

    c = 0,   c' = r,   c'' = r' = sum_i r_i x_i' + sum_i (dr/dv_i) v_i',
    column j of J = dr/dqd_j = sum_i (dr/dv_i) dx_i/dq_j

Derivatives of c'' and of J^T multipliers, and all by parameters, are those of these lines.

=========  =========================  ==========================================================
symbol     code                       meaning
=========  =========================  ==========================================================
c          c_<row>                    a row
J          J_<row>_<j>                its derivative by coordinate j
c', c''    cd_<row>, cdd_<row>        its rates by time
=========  =========================  ==========================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from operator import add
from typing import Any, Generic, Protocol, TypeVar

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Vector, total, zero_vector
from symgen.description.quantities import AXES, POINTS, RATES, TIME, is_velocity, quantity
from symgen.formulations.interface import Derivation
from symgen.formulations.state import State
from symgen.kinematics.bodies import BodyPoint
from symgen.kinematics.frames import units
from symgen.kinematics.loops import BASE_AXES, GAP, Loop
from symgen.kinematics.scalars import scalar, with_definitions
from symgen.kinematics.tree import KinematicTree
from symgen.program.arguments import CONSTRAINT_MULTIPLIERS
from symgen.program.builder import ProgramBuilder, Results

NOTES = {
    "LC-1": "a row of a loop: x . y of vectors of both frames",
    "LC-2": "its derivative by a coordinate",
    "LC-3": "its time derivative",
    "LC-4": "its second time derivative",
    "LC-5": "a relation of the model file; e_i, e_ik are derivatives of the expression",
    "LC-9": "a relation of velocities; its column in J is its derivative by a velocity",
    "LC-10": "products of unit vectors, and rows of joints, of natural coordinates",
    "LC-6": "J^T multipliers: generalized forces of the constraints",
    "LC-8": "Euler parameters have the norm 1: p . p - 1",
    "d LC-1": "Phi_rho, with what lengths depend on -- Lopez Varela 2023, section 7.3",
    "d LC-2": "Phi_zz = (Phi_qq q_z) q_z + Phi_q q_zz by coordinates, "
    "Phi_z rho = (Phi_qq q_rho) q_z + Phi_q q_z rho by parameters, q the natural coordinates "
    "-- Lopez Varela 2023 (39), (41), (42)",
    "d LC-3": "derivatives of the rate: by coordinates the rate of Phi_z -- Lopez Varela 2023 "
    "(38), (43)",
    "d LC-4": "derivatives of the second rate: by coordinates the second rate of Phi_z "
    "-- Lopez Varela 2023 (18), (46)",
    "d LC-6": "Phi_zz^T multipliers, Phi_z rho^T multipliers -- Lopez Varela 2023 (14c), (14d)",
    "LC-7": "wrench on the second frame: multipliers times derivatives of the rows by its motion",
}

MULTIPLIERS = CONSTRAINT_MULTIPLIERS.name


X = TypeVar("X")

VALUE, RATE, SECOND_RATE = range(3)


@dataclass(frozen=True)
class Moving(Generic[X]):
    """A scalar, or a vector in base axes, its first two rates by time and derivatives by joint."""

    at: X
    rate: X
    second_rate: X
    by_joint: Mapping[int, X] = field(default_factory=dict)

    def mapped(self, change: Callable[[X], X]) -> Moving[X]:
        """Return what a constant linear function makes of it."""
        columns = {j: change(column) for j, column in self.by_joint.items()}
        return Moving(change(self.at), change(self.rate), change(self.second_rate), columns)


@dataclass(frozen=True)
class Wanted:
    """Request to a formulation: rates up to `order`, derivatives by joint."""

    order: int
    by_joint: bool


@dataclass(frozen=True)
class Supplied(Generic[S]):
    """Origins and axes by name of the ends of loops, positions of points, rows of coordinates."""

    origins: Mapping[tuple[str, int], Moving[Vector[S]]] = field(default_factory=dict)
    axes: Mapping[tuple[str, int], Mapping[str, Moving[Vector[S]]]] = field(default_factory=dict)
    points: Mapping[str, Moving[Vector[S]]] = field(default_factory=dict)
    rows: Iterable[tuple[str, Moving[S]]] = ()


SIDES = ("first", "second")


Supply = Callable[
    [KinematicTree[Any], ProgramBuilder[Any], State[Any], Sequence[BodyPoint[Any]], Wanted],
    Supplied[Any],
]
"""Write the ends of loops and these points, and return them."""


class Bodies(Protocol[S]):
    """Vectors and points that are fixed in bodies, as a formulation has them; 0 is the base."""

    def point(self, name: str, body: int, p: Vector[S]) -> Moving[Vector[S]]:
        """Return a point, given in the frame of the body."""

    def direction(self, name: str, body: int, e: Vector[S]) -> Moving[Vector[S]]:
        """Return a vector, given in the axes of the body."""


def supplied_by(
    bodies: Bodies[S], tree: KinematicTree[S], b: ProgramBuilder[S], points: Sequence[BodyPoint[S]]
) -> Supplied[S]:
    """Ends of all loops, and `points`."""
    origins: dict[tuple[str, int], Moving[Vector[S]]] = {}
    axes: dict[tuple[str, int], dict[str, Moving[Vector[S]]]] = {}
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
    positions: dict[str, Moving[Vector[S]]] = {}
    for point in points:
        with b.step("points", point.name):
            positions[point.name] = bodies.point(point.name, point.body, point.point)
    return Supplied(origins, axes, positions)


def functions_of(supply: Supply) -> dict[str, Derivation]:
    """Return the functions of constraints of a family, but derivatives."""
    return {
        **{name: partial(_rates, supply=supply, results=x) for name, x in _OF_ROWS.items()},
        "constraint_jacobian": partial(_jacobian, supply=supply),
        "loop_wrenches": partial(_wrenches, supply=supply),
        "constraint_torques": partial(_torques, supply=supply),
    }


_OF_ROWS = {
    "constraints": {"constraints": VALUE},
    "constraint_rates": {"constraint_rates": RATE},
    "constraint_bias": {"constraint_bias": SECOND_RATE},
    "constraint_accelerations": {
        "constraint_rates": RATE, "constraint_accelerations": SECOND_RATE,
    },
}  # fmt: skip
"""Maps a function to the order of the rate that each of its results holds."""


def _rates(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
    supply: Supply,
    results: Mapping[str, int],
) -> Results[S]:
    wanted = Wanted(max(results.values()), False)
    rows = constraint_rows(tree, b, state, supply, wanted)
    return {
        name: [(row.at, row.rate, row.second_rate)[order] for row in rows]
        for name, order in results.items()
    }


def _jacobian(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supply: Supply
) -> Results[S]:
    rows = constraint_rows(tree, b, state, supply, Wanted(VALUE, True))
    zero = b.algebra.zero
    dense = [row.by_joint.get(joint.number, zero) for row in rows for joint in tree.joints]
    return {"constraint_jacobian": dense}


def _torques(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supply: Supply
) -> Results[S]:
    """Write J^T multipliers, (n,): LC-6."""
    rows = constraint_rows(tree, b, state, supply, Wanted(VALUE, True))
    multipliers = b.declared(MULTIPLIERS).symbols
    torques: list[S] = []
    for joint in tree.joints:
        pairs = zip(rows, multipliers, strict=True)
        terms = [row.by_joint[joint.number] * x for row, x in pairs if joint.number in row.by_joint]
        with b.step("constraint torques", joint.name):
            value = total(terms, b.algebra)
            torques.append(b.let(f"p_{joint.number}", value, "LC-6"))
    return {"constraint_torques": torques}


def _wrenches(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supply: Supply
) -> Results[S]:
    """LC-7: a row x . y gives a turn of y the moment y x x, and a way of the origin the force x."""
    supplied = supply(tree, b, state, (), Wanted(VALUE, False))
    multipliers = iter(b.declared(MULTIPLIERS).symbols)
    none = zero_vector(b.algebra)
    entries: list[S] = []
    for loop in tree.loops:
        first, second = loop_vectors(loop, b, supplied)
        force, moment = [], []
        for x, y in loop.rows:
            size = next(multipliers)
            if x == y == GAP:
                force.append(first[GAP].at * (size + size))
            elif y == GAP:
                force.append(first[x].at * size)
            else:
                moment.append(second[y].at.cross(first[x].at) * size)
        with b.step("loop wrenches", loop.name):
            parts = (("f", force), ("n", moment))
            for letter, terms in parts:
                wrench = reduce(add, terms) if terms else none
                entries += b.let(f"{letter}_{loop.name}", wrench, "LC-7")
    return {"loop_wrenches": entries}


def constraint_rows(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supply: Supply, wanted: Wanted
) -> list[Moving[S]]:
    """Write all rows, in the order of `constraint_names`, up to the requested rates."""
    names = {name for relation in tree.relations for name in relation.expression.names}
    mentioned = {name.split(".")[1] for name in names if name.startswith(f"{POINTS}.")}
    points = [point for point in tree.points if point.name in mentioned]
    supplied = supply(tree, b, state, points, wanted)
    rows: list[Moving[S]] = []
    for loop in tree.loops:
        rows += _loop_rows(loop, b, supplied, wanted)
    moving = quantities(tree, b, state, supplied)
    for relation in tree.relations:
        with b.step("constraints", relation.name):
            row = relation_row(tree, b, relation.expression, moving)
            notes = ["LC-5", "LC-3", "LC-2"]
            if relation.is_of_velocities:
                row = Moving(b.algebra.zero, row.at, row.rate, row.by_joint)
                notes = ["LC-9"] * 3
            rows.append(_named(relation.name, row, b, wanted, *notes))
    for joint in tree.euler_parameters:
        four = [moving[quantity(RATES[0], tree.joint(k).name)] for k in joint.members]
        with b.step("constraints", joint.name):
            rows.append(_named(f"{joint.name}_norm", _norm_row(four, b), b, wanted, "LC-8"))
    for name, row in supplied.rows:
        with b.step("constraints", name):
            rows.append(_named(name, row, b, wanted, "LC-10"))
    return rows


def _norm_row(four: Sequence[Moving[S]], b: ProgramBuilder[S]) -> Moving[S]:
    """Return the row of a norm: LC-8."""
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
    """Write the rows of a loop: LC-1 to LC-4."""
    first, second = loop_vectors(loop, b, supplied)
    rows = []
    for (x, y), name in zip(loop.rows, loop.row_names, strict=True):
        with b.step("constraints", loop.name):
            row = product(first[x], second[y], b.algebra)
            if x == y == GAP:
                row = replace(row, at=row.at - loop.length * loop.length)
            rows.append(_named(name, row, b, wanted, "LC-1"))
    return rows


def loop_vectors(
    loop: Loop[S], b: ProgramBuilder[S], supplied: Supplied[S]
) -> tuple[dict[str, Moving[Vector[S]]], dict[str, Moving[Vector[S]]]]:
    """Return the vectors in the rows, by name: of the first frame, and of the second."""
    zero = zero_vector(b.algebra)
    shared = {
        name: Moving(unit, zero, zero)
        for name, unit in zip(BASE_AXES, units(b.algebra), strict=True)
    }
    if loop.has_gap:
        shared[GAP] = difference(supplied.origins[loop.name, 1], supplied.origins[loop.name, 0])
    first, second = (supplied.axes[loop.name, side] for side in range(2))
    return {**shared, **first}, {**shared, **second}


def difference(x: Moving[Vector[S]], y: Moving[Vector[S]]) -> Moving[Vector[S]]:
    """x - y; a derivative that is missing is 0."""
    columns = dict(x.by_joint)
    for j, column in y.by_joint.items():
        columns[j] = columns[j] - column if j in columns else -column
    return Moving(x.at - y.at, x.rate - y.rate, x.second_rate - y.second_rate, columns)


def product(x: Moving[Vector[S]], y: Moving[Vector[S]], algebra: Algebra[S]) -> Moving[S]:
    """x . y"""
    columns: dict[int, S] = {}
    for j in sorted({*x.by_joint, *y.by_joint}):
        terms = []
        if j in x.by_joint:
            terms.append(x.by_joint[j].dot(y.at))
        if j in y.by_joint:
            terms.append(x.at.dot(y.by_joint[j]))
        columns[j] = total(terms, algebra)
    twice = algebra.constant(2.0)
    return Moving(
        x.at.dot(y.at),
        x.rate.dot(y.at) + x.at.dot(y.rate),
        x.second_rate.dot(y.at) + x.rate.dot(y.rate) * twice + x.at.dot(y.second_rate),
        columns,
    )


def _named(
    name: str, row: Moving[S], b: ProgramBuilder[S], wanted: Wanted, note: str,
    note_of_rate: str = "LC-3", note_of_columns: str = "LC-2",
) -> Moving[S]:  # fmt: skip
    """Write the requested parts of a row; the others are 0."""
    at = rate = second_rate = b.algebra.zero
    columns: dict[int, S] = {}
    if wanted.by_joint:
        for j, column in row.by_joint.items():
            if not b.algebra.is_zero(column):
                columns[j] = b.let(f"J_{name}_{j}", column, note_of_columns)
    elif wanted.order == VALUE:
        at = b.let(f"c_{name}", row.at, note)
    elif wanted.order == RATE:
        rate = b.let(f"cd_{name}", row.rate, note_of_rate)
    else:
        rate = b.let(f"cd_{name}", row.rate, note_of_rate)
        second_rate = b.let(f"cdd_{name}", row.second_rate, "LC-4")
    return Moving(at, rate, second_rate, columns)


def quantities(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supplied: Supplied[S]
) -> dict[str, Moving[S]]:
    """Return the quantities that relations may mention, by name."""
    zero, unit = b.algebra.zero, b.algebra.one
    moving = {TIME: Moving(b.declared(TIME).symbols[0], unit, zero)}
    for joint in tree.joints:
        k = joint.number - 1
        coordinate = Moving(state.q[k], state.qd[k], state.qdd[k], {joint.number: unit})
        moving[quantity(RATES[0], joint.name)] = coordinate
        moving[quantity(RATES[1], joint.name)] = _velocity(coordinate, zero)
    for name, point in supplied.points.items():
        parts = zip(AXES, point.at, point.rate, point.second_rate, strict=True)
        for c, (axis, at, rate, second_rate) in enumerate(parts):
            columns = {j: tuple(column)[c] for j, column in point.by_joint.items()}
            place = Moving(at, rate, second_rate, columns)
            moving[quantity(POINTS, name, axis)] = place
            moving[quantity(POINTS, name, f"v{axis}")] = _velocity(place, zero)
    return moving


def _velocity(place: Moving[S], zero: S) -> Moving[S]:
    """Return the rate of a quantity, with its derivatives by velocities; its second rate is 0."""
    return Moving(place.rate, place.second_rate, zero, place.by_joint)


def relation_row(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    expression: Any,
    quantities: Mapping[str, Moving[S]],
) -> Moving[S]:
    """LC-5, by the chain rule over what the expression mentions.

    Columns are derivatives by coordinates, or by velocities where the expression contains these.
    """
    names = [name for name in expression.names if name in quantities]
    leading = [k for k, name in enumerate(names) if is_velocity(name)] or range(len(names))
    labels = [f"x_of_{name.replace('.', '_')}" for name in names]
    symbols = [b.algebra.symbol(label) for label in labels]
    stand_ins = dict(zip(names, symbols, strict=True))
    algebra = with_definitions(b.algebra, {**tree.definitions, **stand_ins})
    value = scalar(expression, algebra)
    slopes = b.algebra.derivatives(symbols)
    first = slopes.of(value)
    moving = [quantities[name] for name in names]
    rate = [slope * moving[k].rate for k, slope in first.items()]
    second_rate = [slope * moving[k].second_rate for k, slope in first.items()]
    second_rate += [
        slope * moving[k].rate * moving[i].rate
        for k, row in first.items()
        for i, slope in slopes.of(row).items()
    ]
    columns: dict[int, list[S]] = {}
    for k in filter(first.__contains__, leading):
        for j, column in moving[k].by_joint.items():
            columns.setdefault(j, []).append(first[k] * column)
    zero = b.algebra.zero
    numbers = sorted(columns)
    scalars = [
        value,
        total(rate, b.algebra) if rate else zero,
        total(second_rate, b.algebra) if second_rate else zero,
        *(total(columns[j], b.algebra) for j in numbers),
    ]
    values = {symbol: x.at for symbol, x in zip(symbols, moving, strict=True)}
    at, rate_of, second_of, *slopes_of = b.algebra.replaced(scalars, values)
    return Moving(at, rate_of, second_of, dict(zip(numbers, slopes_of, strict=True)))
