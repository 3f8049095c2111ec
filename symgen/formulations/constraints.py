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
    "d LC-1": "Phi_rho, with what lengths depend on -- Lopez Varela 2023, section 7.3",
    "d LC-2": "Phi_zz = (Phi_qq q_z) q_z + Phi_q q_zz by coordinates, "
    "Phi_z rho = (Phi_qq q_rho) q_z + Phi_q q_z rho by parameters, q the natural coordinates "
    "-- Lopez Varela 2023 (39), (41), (42)",
    "d LC-3": "derivatives of the rate: by coordinates the rate of Phi_z -- Lopez Varela 2023 "
    "(38), (43)",
    "d LC-4": "derivatives of the second rate: by coordinates the second rate of Phi_z "
    "-- Lopez Varela 2023 (18), (46)",
    "d LC-6": "Phi_zz^T multipliers, Phi_z rho^T multipliers -- Lopez Varela 2023 (14c), (14d)",
    "LC-7": "wrench on the second frame: multipliers times what its motion does to the rows",
}

__all__ = ["NOTES", "RATE", "SECOND_RATE", "VALUE", "Moving", "Supplied", "Wanted"]

MULTIPLIERS = CONSTRAINT_MULTIPLIERS.name


SIDES = ("first", "second")


class Bodies(Protocol[S]):
    """What is fixed in bodies, as a family has it; 0 is the base."""

    def point(self, name: str, body: int, p: Vector[S]) -> Moving[Vector[S]]:
        """A point, given in the frame of the body."""

    def direction(self, name: str, body: int, e: Vector[S]) -> Moving[Vector[S]]:
        """A vector, given in the axes of the body."""


def supplied_by(
    bodies: Bodies[S],
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    points: Sequence[BodyPoint[S]],
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
    found: dict[str, Moving[Vector[S]]] = {}
    for point in points:
        with b.step("points", point.name):
            found[point.name] = bodies.point(point.name, point.body, point.point)
    return Supplied(origins, axes, found)


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
