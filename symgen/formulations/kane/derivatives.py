"""Derivatives of the fully recursive forward dynamics, eqs. (62)-(70) of Anderson and Hsu 2002.

Line by line with `recursion.py`: the same joints in the same order, functions with ``d_`` in front,
and one derivative for every line, with respect to one variable.  `variations.py` says what a
variable may be and has the derivatives of what a joint contributes.

What does not change is None and costs nothing: by q_i, what is known of the motion changes from
body i outwards, articulated bodies from the parent of body i inwards, their forces there and from
body i outwards, accelerations everywhere; velocities and torques change no articulated inertia.

Notation beyond that of `recursion.py`: d_(.)_dx is the derivative of the entries, in body axes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix
from symgen.formulations.kane.contributions import Contribution
from symgen.formulations.kane.motion_derivatives import (
    MotionDerivative,
    d_force_step,
    d_load_sweep,
    d_motion_sweep,
)
from symgen.formulations.kane.recursion import (
    Acceleration,
    Articulated,
    Loads,
    Solution,
    body_inertia,
)
from symgen.formulations.kane.spatial import (
    UPPER,
    Inertia,
    Pair,
    let_inertia,
    let_pair,
    mirrored,
    sum_of,
)
from symgen.formulations.kane.variations import (
    Changes,
    Variable,
    Variation,
    changed_effort,
    changed_inertia,
    changed_out,
    variation,
)
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "dKANE-10": "d I_3^k = d I_1^k + sum_c d(S^c (I_3^c - U_c g_c^T) (S^c)^T) "
    "-- Anderson and Hsu 2002 (62), (64)",
    "dKANE-11": "d F_3^k = d F_1^k + sum_c d(S^c (F_3^c - g_c e_c)) "
    "-- Anderson and Hsu 2002 (62), (65)",
    "dKANE-12": "d M_kk = d P^T U + P^T d U + d rotor, d U = d I_3 P + I_3 d P, "
    "d g = (d U - g d M) / M -- Anderson and Hsu 2002 (63)",
    "dKANE-13": "d e_k = d P^T F_3 + P^T d F_3 - d drive_k -- Anderson and Hsu 2002 (65), (67)",
    "dKANE-14": "d qdd_k = (d e - (e / M) d M) / M - d g^T A_in - g^T d A_in "
    "-- Anderson and Hsu 2002 (67), (69)",
    "dKANE-15": "d Abar^k = d A_in + d P qdd_k + P d qdd_k -- Anderson and Hsu 2002 (68), (70)",
    "dKANE-16": "d tau_k = d(U^T Abar^k - P^T F_3^k + drive_k) "
    "-- Anderson and Hsu 2002 (56), differentiated",
}


@dataclass(frozen=True)
class ArticulatedDerivative(Generic[S]):
    """dKANE-10 to dKANE-13; None where nothing changes."""

    F_3: Pair[S] | None
    U: Pair[S] | None
    M: S | None
    g: Pair[S] | None
    e: S | None
    left_inertia: Inertia[S] | None
    left_force: Pair[S] | None


@dataclass(frozen=True)
class CarriedDerivative(Generic[S]):
    """What one child adds to the derivatives of the articulated body of its parent."""

    I: Inertia[S] | None  # noqa: E741
    F: Pair[S] | None


# -- steps, one joint each ---------------------------------------------------------------------


def d_articulated_step(
    at: Contribution[S],
    d_at: Variation[S] | None,
    body: Articulated[S],
    d_F_1: Pair[S] | None,
    children: Sequence[CarriedDerivative[S]],
    by: Variable[S],
    b: ProgramBuilder[S],
) -> ArticulatedDerivative[S] | None:
    """dKANE-10 to dKANE-13"""
    k, algebra = at.joint.number, b.algebra
    d_I_1 = None
    if d_at is not None and d_at.body is not None:
        d_I_1 = body_inertia(d_at.body, algebra)
    d_I_3 = sum_of([d_I_1, *(child.I for child in children)])
    d_F_3 = sum_of([d_F_1, *(child.F for child in children)])
    if d_at is None and d_I_3 is None and d_F_3 is None:
        return None
    with b.step("articulated body derivatives", at.joint.name), b.variant(f"_d{by.name}"):
        if d_I_3 is not None:
            d_I_3 = let_inertia(b, f"d_I_3_{k}", d_I_3, "dKANE-10")
        if d_F_3 is not None:
            d_F_3 = let_pair(b, (f"d_F_3_n_{k}", f"d_F_3_f_{k}"), d_F_3, "dKANE-11")
        d_P = None if d_at is None else d_at.P
        d_U = sum_of(
            [
                None if d_I_3 is None else d_I_3.apply(at.P),
                None if d_P is None else body.I_3.apply(d_P),
            ]
        )
        if d_U is not None:
            d_U = let_pair(b, (f"d_U_n_{k}", f"d_U_f_{k}"), d_U, "dKANE-12")
        if not at.free:
            return ArticulatedDerivative(d_F_3, d_U, None, None, None, d_I_3, d_F_3)
        d_M, d_g = _d_pivot(at, d_at, body, d_U, b)
        d_e = _d_effort(at, d_at, body, d_F_3, b)
        d_left_inertia = None
        if d_I_3 is not None or d_g is not None:
            d_left_inertia = sum_of([d_I_3, d_without(body.U, body.g, d_U, d_g, algebra)])
        if d_left_inertia is not None:
            d_left_inertia = let_inertia(b, f"d_I_left_{k}", d_left_inertia, "dKANE-10")
        terms = [d_F_3, None if d_g is None else d_g * -body.e]
        d_left_force = sum_of([*terms, None if d_e is None else body.g * -d_e])
        if d_left_force is not None:
            names = (f"d_F_left_n_{k}", f"d_F_left_f_{k}")
            d_left_force = let_pair(b, names, d_left_force, "dKANE-11")
    return ArticulatedDerivative(d_F_3, d_U, d_M, d_g, d_e, d_left_inertia, d_left_force)


def _d_pivot(
    at: Contribution[S],
    d_at: Variation[S] | None,
    body: Articulated[S],
    d_U: Pair[S] | None,
    b: ProgramBuilder[S],
) -> tuple[S | None, Pair[S] | None]:
    """dKANE-12: d M_kk and d g"""
    k, d_M = at.joint.number, b.algebra.zero
    if d_U is not None:
        d_M = d_M + at.P.dot(d_U)
    if d_at is not None:
        d_M = d_M + d_at.rotor
        if d_at.P is not None:
            d_M = d_M + d_at.P.dot(body.U)
    if d_U is None and b.algebra.is_zero(d_M):
        return None, None
    d_M = b.let(f"d_M_{k}", d_M, "dKANE-12")
    change = body.g * -d_M if d_U is None else d_U - body.g * d_M
    d_g = let_pair(b, (f"d_g_n_{k}", f"d_g_f_{k}"), change * body.reciprocal, "dKANE-12")
    return d_M, d_g


def _d_effort(
    at: Contribution[S],
    d_at: Variation[S] | None,
    body: Articulated[S],
    d_F_3: Pair[S] | None,
    b: ProgramBuilder[S],
) -> S | None:
    """dKANE-13"""
    d_e = b.algebra.zero
    if d_F_3 is not None:
        d_e = d_e + at.P.dot(d_F_3)
    if d_at is not None:
        if d_at.P is not None:
            d_e = d_e + d_at.P.dot(body.F_3)
        d_e = d_e - d_at.drive
    if d_F_3 is None and b.algebra.is_zero(d_e):
        return None
    return b.let(f"d_e_{at.joint.number}", d_e, "dKANE-13")


def d_carried_step(
    at: Contribution[S],
    d_at: Variation[S] | None,
    body: Articulated[S],
    d_body: ArticulatedDerivative[S] | None,
    by: Variable[S],
    b: ProgramBuilder[S],
) -> CarriedDerivative[S]:
    """dKANE-10, dKANE-11: what is left of articulated body k, in its parent."""
    shift = None if d_at is None else d_at.shift
    d_I = sum_of(
        [
            None if d_body is None else d_body.left_inertia,
            None if shift is None else changed_inertia(shift, body.left_inertia),
        ]
    )
    d_F = sum_of(
        [
            None if d_body is None else d_body.left_force,
            None if shift is None else changed_effort(shift, body.left_force),
        ]
    )
    with b.step("articulated body derivatives", at.joint.name), b.variant(f"_d{by.name}"):
        return CarriedDerivative(
            None if d_I is None else at.back_inertia(d_I, "change_I", "dKANE-10", b),
            None if d_F is None else at.back(d_F),
        )


def d_acceleration_step(
    at: Contribution[S],
    d_at: Variation[S] | None,
    body: Articulated[S],
    d_body: ArticulatedDerivative[S] | None,
    acceleration: Acceleration[S],
    d_parent: Pair[S] | None,
    by: Variable[S],
    b: ProgramBuilder[S],
) -> tuple[Pair[S] | None, S]:
    """dKANE-14 to dKANE-16: d Abar^k, and d qdd_k or d tau_k."""
    k, zero = at.joint.number, b.algebra.zero
    shift = None if d_at is None else d_at.shift
    d_P = None if d_at is None else d_at.P
    out = acceleration.A_in
    d_A = sum_of(
        [
            None if d_parent is None else at.out(d_parent),
            None if shift is None else changed_out(shift, out),
        ]
    )
    with b.step("acceleration derivatives", at.joint.name), b.variant(f"_d{by.name}"):
        if d_A is not None:
            d_A = let_pair(b, (f"d_A_in_n_{k}", f"d_A_in_f_{k}"), d_A, "dKANE-14")
        if not at.free:
            d_tau = zero if d_at is None else d_at.drive
            if d_A is not None:
                d_tau = d_tau + body.U.dot(d_A)
            if d_body is not None and d_body.U is not None:
                d_tau = d_tau + d_body.U.dot(out)
            if d_body is not None and d_body.F_3 is not None:
                d_tau = d_tau - at.P.dot(d_body.F_3)
            if d_P is not None:
                d_tau = d_tau - d_P.dot(body.F_3)
            return d_A, b.let(f"d_tau_{k}", d_tau, "dKANE-16")
        d_qdd = zero
        if d_body is not None:
            d_e = zero if d_body.e is None else d_body.e
            if d_body.M is not None:
                d_e = d_e - acceleration.own * d_body.M
            d_qdd = d_e * body.reciprocal
            if d_body.g is not None:
                d_qdd = d_qdd - d_body.g.dot(out)
        if d_A is not None:
            d_qdd = d_qdd - body.g.dot(d_A)
        d_qdd = b.let(f"d_qdd_{k}", d_qdd, "dKANE-14")
        own = None if b.algebra.is_zero(d_qdd) else at.P * d_qdd
        d_A = sum_of([d_A, own, None if d_P is None else d_P * acceleration.result])
        if d_A is not None:
            d_A = let_pair(b, (f"d_A_n_{k}", f"d_A_f_{k}"), d_A, "dKANE-15")
    return d_A, d_qdd


# -- parts of steps ----------------------------------------------------------------------------


def d_without(
    U: Pair[S], g: Pair[S], d_U: Pair[S] | None, d_g: Pair[S] | None, algebra: Algebra[S]
) -> Inertia[S]:
    """Derivative of -U g^T, which is symmetric."""
    none = (algebra.zero,) * 6
    x, y = U.entries, g.entries
    d_x = none if d_U is None else d_U.entries
    d_y = none if d_g is None else d_g.entries
    unit = [algebra.is_zero(part - algebra.one) for part in y]

    def entry(i: int, k: int) -> S:
        i, k = (k, i) if unit[i] else (i, k)
        return -(d_x[i] * y[k] + x[i] * d_y[k])

    return Inertia(
        mirrored({(i, k): entry(i, k) for i, k in UPPER}),
        Matrix([[entry(i, k + 3) for k in range(3)] for i in range(3)]),
        mirrored({(i, k): entry(i + 3, k + 3) for i, k in UPPER}),
    )


# -- sweeps over the tree ----------------------------------------------------------------------


def d_solve(
    tree: KinematicTree[S],
    solution: Solution[S],
    touched: Collection[int],
    by: Variable[S],
    b: ProgramBuilder[S],
    wanted: int | None = None,
) -> dict[int, S]:
    """Derivatives of the results by one variable: outward, inward, outward.

    `touched` are the joints whose contributions the variable changes; results beyond the joint
    `wanted` are left out.
    """
    changes = {k: variation(solution.at[k], by, b) for k in touched}
    d_motions = d_motion_sweep(tree, solution, changes, by, b)
    d_loads = d_load_sweep(solution, changes, by, b)
    d_bodies = d_articulated_sweep(solution, changes, d_motions, d_loads, by, b)
    last = tree.n if wanted is None else wanted
    joints = tree.towards(range(1, last + 1))
    return d_acceleration_sweep(solution, changes, d_bodies, joints, by, b)


def d_articulated_sweep(
    solution: Solution[S],
    changes: Changes[S],
    d_motions: Mapping[int, MotionDerivative[S]],
    d_loads: Mapping[int, Loads[S]],
    by: Variable[S],
    b: ProgramBuilder[S],
) -> dict[int, ArticulatedDerivative[S]]:
    """dKANE-9 to dKANE-13 for the articulated bodies that change, leaves first."""
    found: dict[int, ArticulatedDerivative[S]] = {}
    children: dict[int, list[CarriedDerivative[S]]] = {k: [] for k in solution.at}
    for k in reversed(tuple(solution.at)):
        at, d_at, body = solution.at[k], changes.get(k), solution.bodies[k]
        motion, d_motion, loads = solution.motions[k], d_motions.get(k), solution.loads[k]
        d_F_1 = d_force_step(at, d_at, motion, d_motion, loads, d_loads.get(k), by, b)
        d_body = d_articulated_step(at, d_at, body, d_F_1, children[k][::-1], by, b)
        if d_body is not None:
            found[k] = d_body
        if at.joint.parent != BASE and (d_at is not None or d_body is not None):
            children[at.joint.parent].append(d_carried_step(at, d_at, body, d_body, by, b))
    return found


def d_acceleration_sweep(
    solution: Solution[S],
    changes: Changes[S],
    d_bodies: Mapping[int, ArticulatedDerivative[S]],
    joints: Iterable[int],
    by: Variable[S],
    b: ProgramBuilder[S],
) -> dict[int, S]:
    """dKANE-14 to dKANE-16 for `joints`, parents first."""
    stacks: dict[int, Pair[S] | None] = {BASE: None}
    found: dict[int, S] = {}
    for k in joints:
        at, d_at, d_body = solution.at[k], changes.get(k), d_bodies.get(k)
        body, acceleration = solution.bodies[k], solution.accelerations[k]
        parent = stacks[at.joint.parent]
        stacks[k], found[k] = d_acceleration_step(
            at, d_at, body, d_body, acceleration, parent, by, b
        )
    return found
