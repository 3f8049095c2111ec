"""Forward dynamics by Kane's method, fully recursive: the articulated bodies of Anderson, Hsu 2002.

An outward sweep computes velocities and known accelerations.  An inward sweep solves each equation
of motion for the acceleration of its joint and eliminates it.  A second outward sweep computes the
accelerations.  The mass
matrix is never formed.  A stack of the paper is a `Spatial`; a vector or stack of body k is written
in the basis of body k, which `contributions.py` places at the joint point k+.

Notation (p is the parent of body k, c runs over its children)

===================  ==================  ===========================================================
paper                code                meaning
===================  ==================  ===========================================================
C^k                  E_k Q_k             basis k in the axes of p, 3x3, as two rotations
gamma^k              u_k, l_k            reference point of p to that of k, parent and body axes
S^k with an arrow    at.back, at.out     6x6 shift with change of basis, here just S^k; its
                                         transpose
P_k^k                P = [s; t]          partial velocity of body k by qd_k, 6
omega^k              omega_k             angular velocity, 3
--                   omega_in_k          omega of p in basis k; likewise alpha_in, a_in, A_in
A_t^k                alpha_t_k, a_t_k    acceleration without the terms in qdd of the free
                                         joints; gravity as an acceleration of the base
--                   W_k                 3x3, W r = alpha_t x r + omega x (omega x r)
I^{k/k*}, M^k        m_k, h_k, J_k       mass, first and second moments about the reference point
R_1^k, T_1^k         f_e_k_i, n_e_k_i    force and moment of load i, in basis k
I_1^k                I_1                 6x6 inertia of body k
F_1^k                F_1_n_k, F_1_f_k    loads less the known part of the inertia forces, 6
I_3^k, F_3^k         I_3_k, F_3_n_k, ..  articulated-body inertia, 6x6, and force, 6
I_3^k P_k^k          U_n_k, U_f_k        6
M_kk                 pivot_k             pivot of joint k, rotor included
1 / M_kk             inverse_pivot_k
--                   g_n_k, g_f_k        U / M_kk, 6
--                   resistance_k        damping, friction and spring of the joint, less tau_k
(P_k^k)^T F_3^k      e_k                 effort on joint k, less resistance_k
--                   I_left_k, F_left_..  I_3, F_3 after elimination of joint k
--                   I_seat_k            I_left about and in the joint frame
--                   I_ahead_k           I_seat_k in the axes of p
Abar^k               A_n_k, A_f_k        acceleration due to qdd of the free joints
--                   qdd_own_k           e_k / M_kk: qdd_k if Abar^p were 0
qdd_k                qdd_k, tau_k        tau_k where the motion is prescribed
M_kk of (25)         M_diagonal_k        diagonal of the mass matrix, rotor included: see `dynamics`
--                   m_composite_k, ..   m, h, J of all bodies from k outwards; m_seat_k and
                                         m_ahead_k in the frames of I_seat and I_ahead
===================  ==================  ===========================================================

I_3_k_nn, I_3_k_nf and I_3_k_ff are the blocks of a 6x6 inertia: they map angular (n) and linear (f)
accelerations to moments (n) and forces (f).

Differences from the paper that do not change the result: trees, hence sums over the children; rotor
inertias, which occur in M_kk only; friction and springs, which are subtracted from the joint's
effort; and prescribed joints, which are not eliminated, as their accelerations are known.

Equations are cited as they are right.  In print the right sides of (23) and (24) are exchanged;
(35) and (36) have no derivatives of omega_t and v_t, the relative velocities of a prescribed joint,
which are s qdd_k and t qdd_k here; and (66) and (67) have F_1 instead of F_3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Vector, diagonal, skew
from symgen.algebra.spatial import Moments, Spatial, trace_less, zero_spatial
from symgen.algebra.turns import UPPER, mirrored
from symgen.formulations.kane.contributions import (
    BodyMotion,
    Contribution,
    Inertia,
    Loads,
    force_step,
    let_inertia,
    load_sweep,
    motion_sweep,
)
from symgen.formulations.shared import let_spatial
from symgen.formulations.state import NoSolutionError, State
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "KANE-10": "I_3^k = I_1^k + sum_c S^c I_left_c (S^c)^T, I_left_k = I_3^k - U_k g_k^T; "
    "= I_3^k where joint k is prescribed -- Anderson, Hsu 2002 (57)",
    "KANE-11": "F_3^k = F_1^k + sum_c S^c F_left_c, F_left_k = F_3^k - g_k e_k; "
    "= F_3^k where joint k is prescribed -- Anderson, Hsu 2002 (58)",
    "KANE-12": "pivot_k = P^T U_k + rotor, inverse_pivot_k = 1 / pivot_k, U_k = I_3^k P, "
    "g_k = U_k / pivot_k -- Anderson, Hsu 2002 (59)",
    "KANE-13": "e_k = P^T F_3^k - resistance_k -- Anderson, Hsu 2002 (58), (60)",
    "KANE-14": "qdd_k = qdd_own_k - g_k^T A_in, qdd_own_k = e_k / pivot_k, "
    "A_in = (S^k)^T Abar^p -- Anderson, Hsu 2002 (60)",
    "KANE-15": "Abar^k = A_in + P qdd_k; = A_in where joint k is prescribed "
    "-- Anderson, Hsu 2002 (61)",
    "KANE-16": "tau_k = U_k^T A_in - P^T F_3^k + resistance_k: joint k is prescribed "
    "-- Anderson, Hsu 2002 (56)",
    "d KANE-10": "d I_3^k = d I_1^k + sum_c d(S^c I_left_c (S^c)^T), d I_left = d I_3 - d(U g^T) "
    "-- Anderson, Hsu 2002 (62), (64)",
    "d KANE-11": "d F_3^k = d F_1^k + sum_c d(S^c F_left_c), d F_left = d F_3 - d(g e) "
    "-- Anderson, Hsu 2002 (62), (65)",
    "d KANE-12": "d pivot_k = d(P^T U) + d rotor, d U = d(I_3 P), d g = (d U - g d pivot) / pivot "
    "-- Anderson, Hsu 2002 (63)",
    "d KANE-13": "d e_k = d(P^T F_3) - d resistance_k -- Anderson, Hsu 2002 (65), (67)",
    "d KANE-14": "d qdd_k = d qdd_own - d(g^T A_in), d qdd_own = (d e - qdd_own d pivot) / pivot "
    "-- Anderson, Hsu 2002 (67), (69)",
    "d KANE-15": "d Abar^k = d A_in + d(P qdd_k) -- Anderson, Hsu 2002 (68), (70)",
}


@dataclass(frozen=True)
class Articulated(Generic[S]):
    """KANE-10 to KANE-13: the articulated body k, with what is left of it without joint k.

    `pivot`, `inverse_pivot`, `g` and `e` only where the joint is free.
    """

    F_3: Spatial[S]
    U: Spatial[S]
    pivot: S
    inverse_pivot: S
    g: Spatial[S]
    e: S
    left_inertia: Inertia[S]
    left_force: Spatial[S]


Carried = tuple[Inertia[S], Spatial[S]]
"""The part of one child in the articulated body of its parent, parent axes."""


# -- steps, one joint each ---------------------------------------------------------------------


def articulated_step(
    at: Contribution[S], F_1: Spatial[S], children: Sequence[Carried[S]], b: ProgramBuilder[S]
) -> Articulated[S]:
    """Write the articulated body: KANE-10 to KANE-13."""
    k, P, algebra = at.joint.number, at.P, b.algebra
    with b.step("articulated bodies", at.joint.name):
        I_3, F_3 = body_inertia(at.body, algebra), F_1
        for child in children:
            I_3, F_3 = I_3 + child[0], F_3 + child[1]
        I_3 = let_inertia(b, f"I_3_{k}", I_3, "KANE-10")
        F_3 = let_spatial(b, (f"F_3_n_{k}", f"F_3_f_{k}"), F_3, "KANE-11")
        U = let_spatial(b, (f"U_n_{k}", f"U_f_{k}"), I_3.apply(P), "KANE-12")
        if not at.free:
            zero = algebra.zero
            return Articulated(F_3, U, zero, zero, P, zero, I_3, F_3)
        pivot = b.let(f"pivot_{k}", P.dot(U) + at.rotor, "KANE-12")
        if algebra.is_zero(pivot):
            raise NoSolutionError(f"joint {k} has no inertia: its pivot is 0")
        inverse_pivot = b.let(f"inverse_pivot_{k}", algebra.one / pivot, "KANE-12")
        g = let_spatial(b, (f"g_n_{k}", f"g_f_{k}"), U * inverse_pivot, "KANE-12")
        e = b.let(f"e_{k}", P.dot(F_3) - at.resistance, "KANE-13")
        left_inertia = let_inertia(b, f"I_left_{k}", I_3 + without(U, g, algebra), "KANE-10")
        left_force = let_spatial(b, (f"F_left_n_{k}", f"F_left_f_{k}"), F_3 - g * e, "KANE-11")
        return Articulated(F_3, U, pivot, inverse_pivot, g, e, left_inertia, left_force)


# -- parts of steps ----------------------------------------------------------------------------


def body_inertia(body: Moments[S], algebra: Algebra[S]) -> Inertia[S]:
    """I_1: 6x6 inertia about the reference point."""
    m = body.m
    return Inertia(trace_less(body.E), skew(body.h, algebra), diagonal(Vector(m, m, m), algebra))


def without(U: Spatial[S], g: Spatial[S], algebra: Algebra[S]) -> Inertia[S]:
    """-U g^T, symmetric for g = U / pivot."""
    x, y = tuple(U), tuple(g)
    unit = [algebra.is_zero(part - algebra.one) for part in y]

    def entry(i: int, k: int) -> S:
        i, k = (k, i) if unit[i] else (i, k)  # a factor that is 1 is not multiplied by
        return -(x[i] * y[k])

    return Inertia(
        mirrored({(i, k): entry(i, k) for i, k in UPPER}),
        Matrix([[entry(i, k + 3) for k in range(3)] for i in range(3)]),
        mirrored({(i, k): entry(i + 3, k + 3) for i, k in UPPER}),
    )


# -- sweeps over the tree ----------------------------------------------------------------------


def solve(
    tree: KinematicTree[S],
    at: Mapping[int, Contribution[S]],
    b: ProgramBuilder[S],
    state: State[S],
) -> tuple[list[S], list[S]]:
    """Write the recursion: outward, inward, outward.

    Returns qdd of the free joints and tau of the prescribed ones, and M_kk of the free joints.
    """
    motions = motion_sweep(at, b, -tree.gravity)
    loads = load_sweep(tree, at, b, state)
    bodies = articulated_sweep(at, motions, loads, b)
    results = acceleration_sweep(at, bodies, b)
    return results, [bodies[k].pivot for k, body in at.items() if body.free]


def articulated_sweep(
    at: Mapping[int, Contribution[S]],
    motions: Mapping[int, BodyMotion[S]],
    loads: Mapping[int, Loads[S]],
    b: ProgramBuilder[S],
) -> dict[int, Articulated[S]]:
    """KANE-9 to KANE-13, leaves first; nothing is carried to the base."""
    bodies: dict[int, Articulated[S]] = {}
    children: dict[int, list[Carried[S]]] = {k: [] for k in at}
    for k in reversed(tuple(at)):
        F_1 = force_step(at[k], motions[k], loads[k], b)
        body = bodies[k] = articulated_step(at[k], F_1, children[k][::-1], b)
        if at[k].joint.parent != BASE:
            with b.step("articulated bodies", at[k].joint.name):
                inertia = at[k].back_inertia(body.left_inertia, "I", "KANE-10", b)
                carried = inertia, at[k].back(body.left_force)
            children[at[k].joint.parent].append(carried)
    return bodies


def acceleration_sweep(
    at: Mapping[int, Contribution[S]], bodies: Mapping[int, Articulated[S]], b: ProgramBuilder[S]
) -> list[S]:
    """KANE-14 to KANE-16, parents first: qdd of the free joints, tau of the prescribed ones."""
    A = {BASE: zero_spatial(b.algebra)}
    results: list[S] = []
    for k, joint in at.items():
        body = bodies[k]
        with b.step("accelerations", joint.joint.name):
            parent = joint.out(A[joint.joint.parent])
            A_in = let_spatial(b, (f"A_in_n_{k}", f"A_in_f_{k}"), parent, "KANE-14")
            if not joint.free:
                A[k], tau = A_in, body.U.dot(A_in) - joint.P.dot(body.F_3) + joint.resistance
                results.append(b.let(f"tau_{k}", tau, "KANE-16"))
                continue
            own_rate = b.let(f"qdd_own_{k}", body.e * body.inverse_pivot, "KANE-14")
            qdd = b.let(f"qdd_{k}", own_rate - body.g.dot(A_in), "KANE-14")
            A[k] = let_spatial(b, (f"A_n_{k}", f"A_f_{k}"), A_in + joint.P * qdd, "KANE-15")
            results.append(qdd)
    return results
