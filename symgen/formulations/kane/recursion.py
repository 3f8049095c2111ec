"""Forward dynamics by Kane's method, fully recursive: the articulated bodies of Anderson, Hsu 2002.

Outward go velocities and what is known of the accelerations, inward the equations of motion, each
solved for the acceleration of its joint and eliminated, outward again the accelerations.  The mass
matrix is never formed.  A stack of the paper is a `Pair`; a vector or stack of body k is written in
the basis of body k, which `contributions.py` places at the joint point k+.

Notation (p is the parent of body k, c runs over its children)

===================  ==================  ===========================================================
paper                code                meaning
===================  ==================  ===========================================================
C^k                  E_k Q_k             basis k in the axes of p, 3x3, in two turns
gamma^k              u_k, l_k            reference point of p -> that of k, parent and body axes
S^k, with a bar      at.back, at.out     6x6 shift with change of basis; its transpose
P_k^k                P = [s; t]          partial velocity of body k by qd_k, 6
omega^k              omega_k             angular velocity, 3
--                   omega_in_k          that of p in basis k; alpha_in, a_in, A_in alike
A_t^k                alpha_t_k, a_t_k    acceleration as far as it is known: all but that of the
                                         free joints' qdd; gravity as an acceleration of the base
--                   K_k                 3x3, K r = alpha_t x r + omega x (omega x r)
I^{k/k*}, M^k        m_k, h_k, J_k       mass, first and second moments about the reference point
I_1^k                I_1                 6x6 inertia of body k
F_1^k                F_1_n_k, F_1_f_k    loads less what is known of the inertia forces, 6
I_3^k, F_3^k         I_3_k, F_3_n_k, ..  articulated-body inertia, 6x6, and force, 6
I_3^k P_k^k          U_n_k, U_f_k        6
M_kk                 M_k                 pivot of joint k, rotor included
--                   g_n_k, g_f_k        U / M_kk, 6
(P_k^k)^T F_3^k      e_k                 effort on joint k, less what its drive takes
Abar^k               A_n_k, A_f_k        acceleration by the free joints' qdd
qdd_k                qdd_k, tau_k        tau_k where the motion is prescribed
===================  ==================  ===========================================================

What differs from the paper, to the same result: trees, hence sums over the children; rotors, which
resist the acceleration of their own joint only and stand in M_kk alone; drives and springs, which
are subtracted from the joint's effort; and prescribed joints, which are not eliminated, for what
they do to the acceleration is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Vector, all_zero, diagonal, skew, zero_vector
from symgen.formulations.interface import State
from symgen.formulations.kane.contributions import BodyMoments, Contribution
from symgen.formulations.kane.spatial import (
    UPPER,
    Inertia,
    Pair,
    let_inertia,
    let_pair,
    mirrored,
)
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "KANE-4": "omega_k = omega_in + s qd_k, omega_in = C^T omega_p -- Anderson and Hsu 2002 (33)",
    "KANE-5": "alpha_t_k = alpha_in + omega_in x s qd_k + s qdd_k (prescribed), "
    "alpha_in = C^T alpha_t_p -- Anderson and Hsu 2002 (35)",
    "KANE-6": "K_k = alpha_t_k x + omega_k x omega_k x, as a matrix",
    "KANE-7": "a_t_k = a_in + 2 omega_in x t qd_k + t qdd_k (prescribed), "
    "a_in = C^T (a_t_p + K_p gamma^k) -- Anderson and Hsu 2002 (36) with r^k = 0",
    "KANE-8": "a load's force and moment in the axes of body k: (C^k)^T times those in p",
    "KANE-9": "F_1^k: f = loads - (m a_t + K h), n = loads' moments - (h x a_t + int r x K r dm) "
    "-- Anderson and Hsu 2002 (23), (24), (26)",
    "KANE-10": "I_3^k = I_1^k + sum_c S^c (I_3^c - U_c g_c^T) (S^c)^T, g_c U_c^T left out where "
    "joint c is prescribed -- Anderson and Hsu 2002 (57)",
    "KANE-11": "F_3^k = F_1^k + sum_c S^c (F_3^c - g_c e_c) -- Anderson and Hsu 2002 (58)",
    "KANE-12": "M_kk = P^T U_k + rotor, U_k = I_3^k P, g_k = U_k / M_kk "
    "-- Anderson and Hsu 2002 (59)",
    "KANE-13": "e_k = P^T F_3^k - drive_k -- Anderson and Hsu 2002 (58), (60)",
    "KANE-14": "qdd_k = e_k / M_kk - g_k^T A_in, A_in = (S^k)^T Abar^p "
    "-- Anderson and Hsu 2002 (60)",
    "KANE-15": "Abar^k = A_in + P qdd_k; = A_in where joint k is prescribed "
    "-- Anderson and Hsu 2002 (61)",
    "KANE-16": "tau_k = U_k^T Abar^k - P^T F_3^k + drive_k: joint k is prescribed "
    "-- Anderson and Hsu 2002 (56)",
}


@dataclass(frozen=True)
class Motion(Generic[S]):
    """KANE-4 to KANE-7: what is known of the motion of a body, and of its parent in its axes.

    `omega_in`, `alpha_in` and `a_in` are the motion of the parent's body at k+.
    """

    omega: Vector[S]
    alpha: Vector[S]
    a: Vector[S]
    K: Matrix[S]
    omega_in: Vector[S]
    alpha_in: Vector[S]
    a_in: Vector[S]


@dataclass(frozen=True)
class Articulated(Generic[S]):
    """KANE-10 to KANE-13: the articulated body k, and what is left of it for its parent.

    `M`, `reciprocal`, `g` and `e` only where the joint is free.
    """

    I_3: Inertia[S]
    F_3: Pair[S]
    U: Pair[S]
    M: S
    reciprocal: S
    g: Pair[S]
    e: S
    left_inertia: Inertia[S]
    left_force: Pair[S]


@dataclass(frozen=True)
class Acceleration(Generic[S]):
    """KANE-14 to KANE-16; `result` is qdd_k, or tau_k of a prescribed joint, `own` e_k / M_kk."""

    A_in: Pair[S]
    A: Pair[S]
    own: S
    result: S


@dataclass(frozen=True)
class Carried(Generic[S]):
    """What one child adds to the articulated body of its parent, parent axes."""

    I: Inertia[S]  # noqa: E741
    F: Pair[S]


Loads = Mapping[int, Pair[S]]
"""position of a load -> [moment; force] in body axes"""


# -- steps, one joint each ---------------------------------------------------------------------


def motion_step(at: Contribution[S], parent: Motion[S], b: ProgramBuilder[S]) -> Motion[S]:
    """KANE-4 to KANE-7"""
    k, s, t = at.joint.number, at.P.angular, at.P.linear
    with b.step("known motion", at.joint.name):
        omega_in = b.let(f"omega_in_{k}", at.turned_out(parent.omega), "KANE-4")
        omega = b.let(f"omega_{k}", omega_in + s * at.qd, "KANE-4")
        alpha_in = b.let(f"alpha_in_{k}", at.turned_out(parent.alpha), "KANE-5")
        alpha = alpha_in + omega_in.cross(s * at.qd) + s * at.qdd
        alpha = b.let(f"alpha_t_{k}", alpha, "KANE-5")
        K = spin(omega, alpha)
        K = b.let(f"K_{k}", K, "KANE-6")
        a_in = at.turned_out(parent.a + parent.K.apply(at.u))
        if not all_zero(at.l, b.algebra):
            a_in = a_in + spin(omega_in, alpha_in).apply(at.l)
        a_in = b.let(f"a_in_{k}", a_in, "KANE-7")
        a = a_in + omega_in.cross(t * (at.qd + at.qd)) + t * at.qdd
        a = b.let(f"a_t_{k}", a, "KANE-7")
    return Motion(omega, alpha, a, K, omega_in, alpha_in, a_in)


def load_step(
    at: Contribution[S], parent: Loads[S], beyond: Sequence[int], b: ProgramBuilder[S]
) -> dict[int, Pair[S]]:
    """KANE-8 for the loads on body k and `beyond` it."""
    k = at.joint.number
    found: dict[int, Pair[S]] = {}
    with b.step("loads", at.joint.name):
        for i in beyond:
            turned = Pair(at.turned_out(parent[i].angular), at.turned_out(parent[i].linear))
            found[i] = let_pair(b, (f"n_e_{k}_{i + 1}", f"f_e_{k}_{i + 1}"), turned, "KANE-8")
    return found


def force_step(
    at: Contribution[S], motion: Motion[S], loads: Loads[S], b: ProgramBuilder[S]
) -> Pair[S]:
    """KANE-9"""
    k = at.joint.number
    with b.step("forces", at.joint.name):
        F_1 = inertia_force(at.body, motion.a, motion.K)
        for i, point in at.points.items():
            load = loads[i]
            F_1 = F_1 + Pair(load.angular + point.cross(load.linear), load.linear)
        return let_pair(b, (f"F_1_n_{k}", f"F_1_f_{k}"), F_1, "KANE-9")


def articulated_step(
    at: Contribution[S],
    F_1: Pair[S],
    children: Sequence[Carried[S]],
    b: ProgramBuilder[S],
) -> Articulated[S]:
    """KANE-10 to KANE-13"""
    k, P, algebra = at.joint.number, at.P, b.algebra
    with b.step("articulated bodies", at.joint.name):
        I_3, F_3 = body_inertia(at.body, algebra), F_1
        for child in children:
            I_3, F_3 = I_3 + child.I, F_3 + child.F
        I_3 = let_inertia(b, f"I_3_{k}", I_3, "KANE-10")
        F_3 = let_pair(b, (f"F_3_n_{k}", f"F_3_f_{k}"), F_3, "KANE-11")
        U = let_pair(b, (f"U_n_{k}", f"U_f_{k}"), I_3.apply(P), "KANE-12")
        if not at.free:
            zero = algebra.zero
            return Articulated(I_3, F_3, U, zero, zero, P, zero, I_3, F_3)
        M = b.let(f"M_{k}", P.dot(U) + at.rotor, "KANE-12")
        reciprocal = b.let(f"M_inverse_{k}", algebra.one / M, "KANE-12")
        g = let_pair(b, (f"g_n_{k}", f"g_f_{k}"), U * reciprocal, "KANE-12")
        e = b.let(f"e_{k}", P.dot(F_3) - at.drive, "KANE-13")
        left_inertia = let_inertia(b, f"I_left_{k}", I_3 + without(U, g, algebra), "KANE-10")
        left_force = let_pair(b, (f"F_left_n_{k}", f"F_left_f_{k}"), F_3 - g * e, "KANE-11")
        return Articulated(I_3, F_3, U, M, reciprocal, g, e, left_inertia, left_force)


def carried_step(at: Contribution[S], body: Articulated[S], b: ProgramBuilder[S]) -> Carried[S]:
    """KANE-10, KANE-11: what is left of articulated body k, in its parent."""
    with b.step("articulated bodies", at.joint.name):
        return Carried(
            at.back_inertia(body.left_inertia, "I", "KANE-10", b), at.back(body.left_force)
        )


def acceleration_step(
    at: Contribution[S], body: Articulated[S], parent: Pair[S], b: ProgramBuilder[S]
) -> Acceleration[S]:
    """KANE-14 to KANE-16"""
    k = at.joint.number
    with b.step("accelerations", at.joint.name):
        A_in = let_pair(b, (f"A_in_n_{k}", f"A_in_f_{k}"), at.out(parent), "KANE-14")
        if not at.free:
            tau = body.U.dot(A_in) - at.P.dot(body.F_3) + at.drive
            return Acceleration(A_in, A_in, b.algebra.zero, b.let(f"tau_{k}", tau, "KANE-16"))
        own = b.let(f"qdd_own_{k}", body.e * body.reciprocal, "KANE-14")
        qdd = b.let(f"qdd_{k}", own - body.g.dot(A_in), "KANE-14")
        A = let_pair(b, (f"A_n_{k}", f"A_f_{k}"), A_in + at.P * qdd, "KANE-15")
        return Acceleration(A_in, A, own, qdd)


# -- parts of steps ----------------------------------------------------------------------------


def spin(omega: Vector[S], alpha: Vector[S]) -> Matrix[S]:
    """The matrix of alpha x + omega x omega x."""
    xx, yy, zz = omega.x * omega.x, omega.y * omega.y, omega.z * omega.z
    xy, xz, yz = omega.x * omega.y, omega.x * omega.z, omega.y * omega.z
    return Matrix(
        [
            (-(yy + zz), xy - alpha.z, xz + alpha.y),
            (xy + alpha.z, -(xx + zz), yz - alpha.x),
            (xz - alpha.y, yz + alpha.x, -(xx + yy)),
        ]
    )


def inertia_force(body: BodyMoments[S], a: Vector[S], K: Matrix[S]) -> Pair[S]:
    """The force of inertia of a body whose points have the accelerations a + K r."""
    moments = K @ body.J
    moment = Vector(
        moments[2, 1] - moments[1, 2], moments[0, 2] - moments[2, 0], moments[1, 0] - moments[0, 1]
    )
    return Pair(-(body.h.cross(a) + moment), -(a * body.m + K.apply(body.h)))


def body_inertia(body: BodyMoments[S], algebra: Algebra[S]) -> Inertia[S]:
    """I_1: 6x6 inertia about the reference point."""
    J, m = body.J, body.m
    trace = J[0, 0] + J[1, 1] + J[2, 2]
    A = diagonal(Vector(trace, trace, trace), algebra) - J
    return Inertia(A, skew(body.h, algebra), diagonal(Vector(m, m, m), algebra))


def without(U: Pair[S], g: Pair[S], algebra: Algebra[S]) -> Inertia[S]:
    """-U g^T, symmetric for g = U / M."""
    x, y = U.entries, g.entries
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


@dataclass(frozen=True)
class Solution(Generic[S]):
    """All that the recursion found, by the number of the joint."""

    at: Mapping[int, Contribution[S]]
    motions: Mapping[int, Motion[S]]
    loads: Mapping[int, Loads[S]]
    bodies: Mapping[int, Articulated[S]]
    accelerations: Mapping[int, Acceleration[S]]

    @property
    def results(self) -> list[S]:
        """qdd of the free joints, tau of the prescribed ones."""
        return [acceleration.result for acceleration in self.accelerations.values()]

    @property
    def pivots(self) -> list[S]:
        """M_kk of the free joints."""
        return [self.bodies[k].M for k, at in self.at.items() if at.free]


def solve(
    tree: KinematicTree[S],
    contributions: Sequence[Contribution[S]],
    b: ProgramBuilder[S],
    state: State[S],
) -> Solution[S]:
    """The whole recursion: outward, inward, outward."""
    at = {one.joint.number: one for one in contributions}
    motions = motion_sweep(at, b, -tree.gravity)
    loads = load_sweep(tree, at, b, state)
    bodies = articulated_sweep(at, motions, loads, b)
    return Solution(at, motions, loads, bodies, acceleration_sweep(at, bodies, b))


def motion_sweep(
    at: Mapping[int, Contribution[S]], b: ProgramBuilder[S], base: Vector[S]
) -> dict[int, Motion[S]]:
    """KANE-4 to KANE-7, parents first; `base` is the acceleration given to the base (-g)."""
    o, zero = zero_vector(b.algebra), b.algebra.zero
    still = Matrix([(zero,) * 3] * 3)
    motions = {BASE: Motion(o, o, base, still, o, o, base)}
    for k, one in at.items():
        motions[k] = motion_step(one, motions[one.joint.parent], b)
    return motions


def load_sweep(
    tree: KinematicTree[S],
    at: Mapping[int, Contribution[S]],
    b: ProgramBuilder[S],
    state: State[S],
) -> dict[int, Loads[S]]:
    """KANE-8 for every body on the way to a load."""
    given = {i: Pair(load.moment, load.force) for i, load in enumerate(state.loads)}
    loads: dict[int, Loads[S]] = {BASE: given}
    for k, one in at.items():
        beyond = [i for i, load in enumerate(tree.loads) if k in tree.path(load.body)]
        loads[k] = load_step(one, loads[one.joint.parent], beyond, b)
    return loads


def articulated_sweep(
    at: Mapping[int, Contribution[S]],
    motions: Mapping[int, Motion[S]],
    loads: Mapping[int, Loads[S]],
    b: ProgramBuilder[S],
) -> dict[int, Articulated[S]]:
    """KANE-9 to KANE-13, leaves first; nothing is carried to the base."""
    bodies: dict[int, Articulated[S]] = {}
    children: dict[int, list[Carried[S]]] = {k: [] for k in at}
    for k in reversed(tuple(at)):
        F_1 = force_step(at[k], motions[k], loads[k], b)
        bodies[k] = articulated_step(at[k], F_1, children[k][::-1], b)
        if at[k].joint.parent != BASE:
            children[at[k].joint.parent].append(carried_step(at[k], bodies[k], b))
    return bodies


def acceleration_sweep(
    at: Mapping[int, Contribution[S]], bodies: Mapping[int, Articulated[S]], b: ProgramBuilder[S]
) -> dict[int, Acceleration[S]]:
    """KANE-14 to KANE-16, parents first."""
    o = zero_vector(b.algebra)
    stacks = {BASE: Pair(o, o)}
    found: dict[int, Acceleration[S]] = {}
    for k, one in at.items():
        found[k] = acceleration_step(one, bodies[k], stacks[one.joint.parent], b)
        stacks[k] = found[k].A
    return found
