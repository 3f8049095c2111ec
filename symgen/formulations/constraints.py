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
Derivatives of c'' and of J^T multipliers, and all by parameters, are those of the whole program,
statement by statement, unless a family has its own (`symgen.formulations.constraint_slopes`).

=========  =========================  ==========================================================
symbol     code                       meaning
=========  =========================  ==========================================================
c          c_<row>                    a row
J          J_<row>_<j>                its derivative by coordinate j
c', c''    cd_<row>, cdd_<row>        its rates by time
=========  =========================  ==========================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from operator import add
from typing import Protocol

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector, total, zero_vector
from symgen.formulations.constraint_parts import (
    RATE,
    SECOND_RATE,
    VALUE,
    Moving,
    Supplied,
    Wanted,
)
from symgen.formulations.constraint_rows import Supply, constraint_rows, loop_vectors
from symgen.formulations.interface import Derivation
from symgen.formulations.shared import let_derivative
from symgen.formulations.state import State
from symgen.kinematics.loops import GAP
from symgen.kinematics.points import BodyPoint
from symgen.kinematics.tree import KinematicTree
from symgen.program.arguments import CONSTRAINT_MULTIPLIERS
from symgen.program.builder import ProgramBuilder

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
    "LC-11": "derivative of LC-1 or LC-5 by a parameter -- Lopez Varela 2023, section 7.3",
    "LC-12": "derivatives of LC-3 and LC-4 by a parameter -- Lopez Varela 2023 (43), (46)",
    "LC-13": "derivative of LC-2 and of LC-6 by a parameter -- Lopez Varela 2023 (41), (42)",
    "LC-7": "wrench on the second frame: multipliers times what its motion does to the rows",
}

__all__ = ["NOTES", "RATE", "SECOND_RATE", "VALUE", "Moving", "Supplied", "Wanted"]

MULTIPLIERS = CONSTRAINT_MULTIPLIERS.name


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
    """The same of a family that has derivatives of its own, for `slopes`, `pairs`, `parameters`."""
    by_order = {
        "constraints_parameter_derivatives": (VALUE, "dc_dparameters"),
        "constraint_rates_parameter_derivatives": (RATE, "dcd_dparameters"),
        "constraint_acceleration_parameter_derivatives": (SECOND_RATE, "dcdd_dparameters"),
    }
    return {
        **functions_of(supply),
        **{
            name: partial(_own_by_parameters, supply=supply, order=order, result=result)
            for name, (order, result) in by_order.items()
        },
        "constraint_torque_parameter_derivatives": partial(
            _own_torques_by_parameters, supply=supply
        ),
        "constraint_acceleration_derivatives": partial(_own_slopes, supply=supply),
        "constraint_torque_derivatives": partial(_own_torque_derivatives, supply=supply),
    }


def functions_of(supply: Supply) -> dict[str, Derivation]:
    """Return the functions of constraints of a family, but derivatives."""
    return {
        "constraints": partial(_values, supply=supply),
        "constraint_jacobian": partial(_jacobian, supply=supply),
        "loop_wrenches": partial(_wrenches, supply=supply),
        "constraint_rates": partial(_rates, supply=supply),
        "constraint_bias": partial(_bias, supply=supply),
        "constraint_accelerations": partial(_accelerations, supply=supply),
        "constraint_torques": partial(_torques, supply=supply),
    }


def _values(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supply: Supply) -> None:
    rows = constraint_rows(tree, b, state, supply, Wanted(VALUE, False))
    b.output("constraints", (len(rows),), [row.at for row in rows])


def _jacobian(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supply: Supply
) -> None:
    rows = constraint_rows(tree, b, state, supply, Wanted(VALUE, True))
    zero = b.algebra.zero
    dense = [row.by_joint.get(joint.number, zero) for row in rows for joint in tree.joints]
    b.output("constraint_jacobian", (len(rows), tree.n), dense)


def _rates(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supply: Supply) -> None:
    rows = constraint_rows(tree, b, state, supply, Wanted(RATE, False))
    b.output("constraint_rates", (len(rows),), [row.rate for row in rows])


def _bias(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supply: Supply) -> None:
    rows = constraint_rows(tree, b, state, supply, Wanted(SECOND_RATE, False))
    b.output("constraint_bias", (len(rows),), [row.second_rate for row in rows])


def _accelerations(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supply: Supply
) -> None:
    rows = constraint_rows(tree, b, state, supply, Wanted(SECOND_RATE, False))
    b.output("constraint_rates", (len(rows),), [row.rate for row in rows])
    b.output("constraint_accelerations", (len(rows),), [row.second_rate for row in rows])


def _torques(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supply: Supply) -> None:
    """LC-6"""
    rows = constraint_rows(tree, b, state, supply, Wanted(VALUE, True))
    multipliers = b.declared(MULTIPLIERS).symbols
    torques: list[S] = []
    for joint in tree.joints:
        pairs = zip(rows, multipliers, strict=True)
        terms = [row.by_joint[joint.number] * x for row, x in pairs if joint.number in row.by_joint]
        with b.step("constraint torques", joint.name):
            value = total(terms, b.algebra)
            torques.append(b.let(f"p_{joint.number}", value, "LC-6"))
    b.output("constraint_torques", (tree.n,), torques)


def _own_slopes(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supply: Supply
) -> None:
    """LC-10; by velocities c'' has twice what c' has by coordinates."""
    rows = constraint_rows(tree, b, state, supply, Wanted(SECOND_RATE, True, slopes=True))
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
    rows = constraint_rows(tree, b, state, supply, Wanted(VALUE, True, pairs=True))
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


def _own_by_parameters(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
    supply: Supply,
    order: int,
    result: str,
) -> None:
    """LC-11 or LC-12"""
    names = tree.runtime_parameters
    rows = constraint_rows(tree, b, state, supply, Wanted(order, False, parameters=names))
    columns = [[row.by_parameter[k] for k in range(len(names))] for row in rows]
    parts = [(x.at, x.rate, x.second_rate)[order] for row in columns for x in row]
    entries = [b.algebra.zero if x is None else x for x in parts]
    b.output(result, (len(rows), len(names)), entries)


def _own_torques_by_parameters(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supply: Supply
) -> None:
    """LC-6 with LC-13"""
    names = tree.runtime_parameters
    rows = constraint_rows(tree, b, state, supply, Wanted(VALUE, True, parameters=names))
    pairs = list(zip(rows, b.declared(MULTIPLIERS).symbols, strict=True))
    entries: list[S] = []
    for joint in tree.joints:
        j = joint.number
        with b.step("constraint torques", joint.name):
            own = [row.by_joint[j] * x for row, x in pairs if j in row.by_joint]
            b.let(f"p_{j}", total(own, b.algebra), "LC-6")
            for place, by in enumerate(names):
                slopes = [(row.by_parameter[place].by_joint, x) for row, x in pairs]
                terms = [columns[j] * x for columns, x in slopes if j in columns]
                value = total(terms, b.algebra) if terms else b.algebra.zero
                entries.append(let_derivative(b, f"p_{j}", value, by, "LC-13"))
    b.output("dp_dparameters", (tree.n, len(names)), entries)


def _wrenches(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], supply: Supply
) -> None:
    """LC-7: a row x . y gives a turn of y the moment y x x, and a way of the origin the force x."""
    supplied = supply(tree, b, state, (), Wanted(VALUE, False))
    multipliers = iter(b.declared(MULTIPLIERS).symbols)
    none = zero_vector(b.algebra)
    entries: list[S] = []
    for loop in tree.loops:
        first, second = loop_vectors(loop, b, supplied)
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
