"""Derivatives of the fully recursive forward dynamics, eqs. (62)-(70) of Anderson, Hsu 2002.

Line by line with `recursion.py`, and `motion_derivatives.py` with `motion.py`: the same joints in
the same order, functions with ``d_`` in front, and one derivative for every line, with respect to
one variable.  `variations.py` says what a variable may be and has the derivatives of what a joint
contributes.

What does not change is None and costs nothing: by q_i, what is known of the motion changes from
body i outwards, articulated bodies from the parent of body i inwards, their forces there and from
body i outwards, accelerations everywhere; velocities and torques change no articulated inertia.

Notation beyond that of `recursion.py`: d_(.)_dz is the derivative of the entries by z, in body
axes; change_I_seat_k_dz and change_I_ahead_k_dz are what arrives in the parent as the derivative of
S^k I_left (S^k)^T, changes of S^k included, on its way there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix
from symgen.algebra.turns import UPPER, mirrored
from symgen.formulations.kane.contributions import Contribution
from symgen.formulations.kane.motion import Loads
from symgen.formulations.kane.motion_derivatives import (
    MotionDerivative,
    d_force_step,
    d_load_sweep,
    d_motion_sweep,
)
from symgen.formulations.kane.recursion import (
    Acceleration,
    Articulated,
    Solution,
    body_inertia,
)
from symgen.formulations.kane.spatial import (
    Inertia,
    Pair,
    applied,
    dotted,
    let_inertia,
    let_pair,
    scaled,
    sum_of,
)
from symgen.formulations.kane.variations import (
    Changes,
    Variable,
    Variation,
    changed_effort,
    changed_inertia,
    changed_out,
    unchanged,
    variation,
)
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "dKANE-10": "d I_3^k = d I_1^k + sum_c d(S^c I_left_c (S^c)^T), d I_left = d I_3 - d(U g^T) "
    "-- Anderson, Hsu 2002 (62), (64)",
    "dKANE-11": "d F_3^k = d F_1^k + sum_c d(S^c F_left_c), d F_left = d F_3 - d(g e) "
    "-- Anderson, Hsu 2002 (62), (65)",
    "dKANE-12": "d pivot_k = d P^T U + P^T d U + d rotor, d U = d I_3 P + I_3 d P, "
    "d g = (d U - g d pivot) / pivot -- Anderson, Hsu 2002 (63)",
    "dKANE-13": "d e_k = d P^T F_3 + P^T d F_3 - d resistance_k -- Anderson, Hsu 2002 (65), (67)",
    "dKANE-14": "d qdd_k = d qdd_own - d g^T A_in - g^T d A_in, "
    "d qdd_own = (d e - qdd_own d pivot) / pivot -- Anderson, Hsu 2002 (67), (69)",
    "dKANE-15": "d Abar^k = d A_in + d P qdd_k + P d qdd_k -- Anderson, Hsu 2002 (68), (70)",
    "dKANE-16": "d tau_k = d(U^T A_in - P^T F_3^k + resistance_k) "
    "-- Anderson, Hsu 2002 (56), differentiated",
}


@dataclass(frozen=True)
class ArticulatedDerivative(Generic[S]):
    """dKANE-10 to dKANE-13; None where nothing changes."""

    F_3: Pair[S] | None
    U: Pair[S] | None
    pivot: S | None
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
    d_at: Variation[S],
    body: Articulated[S],
    d_F_1: Pair[S] | None,
    children: Sequence[CarriedDerivative[S]],
    by: Variable[S],
    b: ProgramBuilder[S],
) -> ArticulatedDerivative[S]:
    """dKANE-10 to dKANE-13"""
    k, algebra = at.joint.number, b.algebra
    with b.step("articulated body derivatives", at.joint.name), b.variant(f"_d{by.name}"):
        d_I_3, d_F_3 = None if d_at.body is None else body_inertia(d_at.body, algebra), d_F_1
        for child in children:
            d_I_3, d_F_3 = sum_of([d_I_3, child.I]), sum_of([d_F_3, child.F])
        d_I_3 = _let_inertia(b, f"d_I_3_{k}", d_I_3, "dKANE-10")
        d_F_3 = _let_pair(b, (f"d_F_3_n_{k}", f"d_F_3_f_{k}"), d_F_3, "dKANE-11")
        d_U = sum_of([applied(d_I_3, at.P), applied(body.I_3, d_at.P)])
        d_U = _let_pair(b, (f"d_U_n_{k}", f"d_U_f_{k}"), d_U, "dKANE-12")
        if not at.free:
            return ArticulatedDerivative(d_F_3, d_U, None, None, None, d_I_3, d_F_3)
        d_pivot, d_g = d_pivot_part(at, d_at, body, d_U, b)
        d_e = d_effort_part(at, d_at, body, d_F_3, b)
        d_left_inertia, d_left_force = d_left_part(at, body, d_I_3, d_F_3, d_U, d_g, d_e, b)
        return ArticulatedDerivative(d_F_3, d_U, d_pivot, d_g, d_e, d_left_inertia, d_left_force)


def d_carried_step(
    at: Contribution[S],
    d_at: Variation[S],
    body: Articulated[S],
    d_body: ArticulatedDerivative[S],
    by: Variable[S],
    b: ProgramBuilder[S],
) -> CarriedDerivative[S]:
    """dKANE-10, dKANE-11: what is left of articulated body k, in its parent."""
    d_I, d_F, displacement = d_body.left_inertia, d_body.left_force, d_at.displacement
    if displacement is not None:
        d_I = sum_of([d_I, changed_inertia(displacement, body.left_inertia)])
        d_F = sum_of([d_F, changed_effort(displacement, body.left_force)])
    with b.step("articulated body derivatives", at.joint.name), b.variant(f"_d{by.name}"):
        return CarriedDerivative(
            None if d_I is None else at.back_inertia(d_I, "change_I", "dKANE-10", b),
            None if d_F is None else at.back(d_F),
        )


def d_acceleration_step(
    at: Contribution[S],
    d_at: Variation[S],
    body: Articulated[S],
    d_body: ArticulatedDerivative[S],
    acceleration: Acceleration[S],
    d_parent: Pair[S] | None,
    by: Variable[S],
    b: ProgramBuilder[S],
) -> tuple[Pair[S] | None, S]:
    """dKANE-14 to dKANE-16: d Abar^k, and d qdd_k or d tau_k."""
    k, A_in, zero = at.joint.number, acceleration.A_in, b.algebra.zero
    with b.step("acceleration derivatives", at.joint.name), b.variant(f"_d{by.name}"):
        d_A_in = d_A_in_part(at, d_at, A_in, d_parent)
        d_A_in = _let_pair(b, (f"d_A_in_n_{k}", f"d_A_in_f_{k}"), d_A_in, "dKANE-14")
        if not at.free:
            return d_A_in, d_torque_part(at, d_at, body, d_body, A_in, d_A_in, b)
        d_own = zero if d_body.e is None else d_body.e
        if d_body.pivot is not None:
            d_own = d_own - acceleration.own * d_body.pivot
        d_own = b.let(f"d_qdd_own_{k}", d_own * body.inverse_pivot, "dKANE-14")
        d_fed = sum_of([dotted(d_body.g, A_in), dotted(body.g, d_A_in)])
        d_qdd = b.let(f"d_qdd_{k}", d_own if d_fed is None else d_own - d_fed, "dKANE-14")
        changed = None if b.algebra.is_zero(d_qdd) else d_qdd
        d_A = sum_of([d_A_in, scaled(at.P, changed), scaled(d_at.P, acceleration.result)])
        d_A = _let_pair(b, (f"d_A_n_{k}", f"d_A_f_{k}"), d_A, "dKANE-15")
        return d_A, d_qdd


# -- parts of steps ----------------------------------------------------------------------------


def d_pivot_part(
    at: Contribution[S],
    d_at: Variation[S],
    body: Articulated[S],
    d_U: Pair[S] | None,
    b: ProgramBuilder[S],
) -> tuple[S | None, Pair[S] | None]:
    """dKANE-12: d pivot and d g"""
    k = at.joint.number
    d_pivot = sum_of([dotted(at.P, d_U), dotted(d_at.P, body.U), d_at.rotor])
    assert d_pivot is not None  # the rotor's share is there, be it 0
    if d_U is None and b.algebra.is_zero(d_pivot):
        return None, None
    d_pivot = b.let(f"d_pivot_{k}", d_pivot, "dKANE-12")
    d_g = body.g * -d_pivot if d_U is None else d_U - body.g * d_pivot
    d_g = let_pair(b, (f"d_g_n_{k}", f"d_g_f_{k}"), d_g * body.inverse_pivot, "dKANE-12")
    return d_pivot, d_g


def d_effort_part(
    at: Contribution[S],
    d_at: Variation[S],
    body: Articulated[S],
    d_F_3: Pair[S] | None,
    b: ProgramBuilder[S],
) -> S | None:
    """dKANE-13"""
    d_e = sum_of([dotted(at.P, d_F_3), dotted(d_at.P, body.F_3)])
    d_e = -d_at.resistance if d_e is None else d_e - d_at.resistance
    if d_F_3 is None and b.algebra.is_zero(d_e):
        return None
    return b.let(f"d_e_{at.joint.number}", d_e, "dKANE-13")


def d_left_part(
    at: Contribution[S],
    body: Articulated[S],
    d_I_3: Inertia[S] | None,
    d_F_3: Pair[S] | None,
    d_U: Pair[S] | None,
    d_g: Pair[S] | None,
    d_e: S | None,
    b: ProgramBuilder[S],
) -> tuple[Inertia[S] | None, Pair[S] | None]:
    """dKANE-10, dKANE-11: what is left when the joint is eliminated."""
    k = at.joint.number
    d_left_inertia = d_I_3
    if d_g is not None:
        d_left_inertia = sum_of([d_I_3, d_without(body.U, body.g, d_U, d_g, b.algebra)])
    d_left_inertia = _let_inertia(b, f"d_I_left_{k}", d_left_inertia, "dKANE-10")
    d_fed = sum_of([scaled(d_g, -body.e), None if d_e is None else body.g * -d_e])
    d_left_force = sum_of([d_F_3, d_fed])
    d_left_force = _let_pair(b, (f"d_F_left_n_{k}", f"d_F_left_f_{k}"), d_left_force, "dKANE-11")
    return d_left_inertia, d_left_force


def d_A_in_part(
    at: Contribution[S], d_at: Variation[S], A_in: Pair[S], d_parent: Pair[S] | None
) -> Pair[S] | None:
    """dKANE-14: the change of the parent's acceleration, and of the way from there."""
    d_A_in = None if d_parent is None else at.out(d_parent)
    if d_at.displacement is None:
        return d_A_in
    return sum_of([d_A_in, changed_out(d_at.displacement, A_in)])


def d_torque_part(
    at: Contribution[S],
    d_at: Variation[S],
    body: Articulated[S],
    d_body: ArticulatedDerivative[S],
    A_in: Pair[S],
    d_A_in: Pair[S] | None,
    b: ProgramBuilder[S],
) -> S:
    """dKANE-16"""
    d_tau = sum_of([d_at.resistance, dotted(d_body.U, A_in), dotted(body.U, d_A_in)])
    assert d_tau is not None  # the resistance's share is there, be it 0
    for part in (dotted(d_at.P, body.F_3), dotted(at.P, d_body.F_3)):
        d_tau = d_tau if part is None else d_tau - part
    return b.let(f"d_tau_{at.joint.number}", d_tau, "dKANE-16")


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


def _let_pair(
    b: ProgramBuilder[S], names: tuple[str, str], value: Pair[S] | None, note: str
) -> Pair[S] | None:
    return None if value is None else let_pair(b, names, value, note)


def _let_inertia(
    b: ProgramBuilder[S], name: str, value: Inertia[S] | None, note: str
) -> Inertia[S] | None:
    return None if value is None else let_inertia(b, name, value, note)


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
    still = unchanged(b.algebra.zero)
    changes = {k: variation(at, by, b) if k in touched else still for k, at in solution.at.items()}
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
    """dKANE-9 to dKANE-13, leaves first; nothing is carried to the base."""
    d_bodies: dict[int, ArticulatedDerivative[S]] = {}
    children: dict[int, list[CarriedDerivative[S]]] = {k: [] for k in solution.at}
    for k in reversed(tuple(solution.at)):
        at, d_at, body = solution.at[k], changes[k], solution.bodies[k]
        motion, loads = solution.motions[k], solution.loads[k]
        d_F_1 = d_force_step(at, d_at, motion, d_motions.get(k), loads, d_loads[k], by, b)
        d_bodies[k] = d_articulated_step(at, d_at, body, d_F_1, children[k][::-1], by, b)
        if at.joint.parent != BASE:
            carried = d_carried_step(at, d_at, body, d_bodies[k], by, b)
            children[at.joint.parent].append(carried)
    return d_bodies


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
        at, d_at, d_body = solution.at[k], changes[k], d_bodies[k]
        body, acceleration = solution.bodies[k], solution.accelerations[k]
        parent = stacks[at.joint.parent]
        stacks[k], found[k] = d_acceleration_step(
            at, d_at, body, d_body, acceleration, parent, by, b
        )
    return found
