"""Derivatives of what is known: motions, loads and forces, by one variable.

Line by line with the outward half of `recursion.py`, see `derivatives.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Vector, all_zero, zero_vector
from symgen.formulations.kane.contributions import Contribution
from symgen.formulations.kane.recursion import Loads, Motion, Solution, inertia_force
from symgen.formulations.kane.spatial import Pair, let_pair, sum_of
from symgen.formulations.kane.variations import Changes, Variable, Variation
from symgen.formulations.shared import let_derivative
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "dKANE-4": "d omega_k = d omega_in + d(s qd_k), d omega_in = C^T d omega_p + C^T_{,x} omega_p "
    "-- Anderson and Hsu 2002 (33), differentiated",
    "dKANE-5": "d alpha_t_k -- Anderson and Hsu 2002 (35), differentiated",
    "dKANE-6": "d K_k = d alpha_t_k x + d omega_k x omega_k x + omega_k x d omega_k x",
    "dKANE-7": "d a_t_k -- Anderson and Hsu 2002 (36), differentiated",
    "dKANE-8": "a load turns against the body: C^T d(.) + C^T_{,x} (.)",
    "dKANE-9": "d F_1^k -- Anderson and Hsu 2002 (23), (24), differentiated; (62)",
}


@dataclass(frozen=True)
class MotionDerivative(Generic[S]):
    """dKANE-4 to dKANE-7"""

    omega: Vector[S]
    alpha: Vector[S]
    a: Vector[S]
    K: Matrix[S]


# -- steps, one joint each ---------------------------------------------------------------------


def d_motion_step(
    at: Contribution[S],
    d_at: Variation[S] | None,
    motion: Motion[S],
    d_parent: MotionDerivative[S],
    by: Variable[S],
    b: ProgramBuilder[S],
) -> MotionDerivative[S]:
    """dKANE-4 to dKANE-7"""
    k, s, t = at.joint.number, at.P.angular, at.P.linear
    two_qd = at.qd + at.qd
    with b.step("known motion derivatives", at.joint.name):
        d_omega_in = at.turned_out(d_parent.omega)
        d_alpha_in = at.turned_out(d_parent.alpha)
        d_a_in = at.turned_out(d_parent.a + d_parent.K.apply(at.u))
        if not all_zero(at.l, b.algebra):
            d_a_in = d_a_in + d_spin(motion.omega_in, d_omega_in, d_alpha_in).apply(at.l)
        if d_at is not None and d_at.shift is not None:
            c, d = d_at.shift.angular, d_at.shift.linear
            carried = motion.alpha_in.cross(d) + motion.omega_in.cross(motion.omega_in.cross(d))
            d_omega_in = d_omega_in + motion.omega_in.cross(c)
            d_alpha_in = d_alpha_in + motion.alpha_in.cross(c)
            d_a_in = d_a_in + motion.a_in.cross(c) + carried
        d_omega_in = let_derivative(b, f"omega_in_{k}", d_omega_in, by.name, "dKANE-4")
        d_omega = d_omega_in
        d_alpha = d_alpha_in + d_omega_in.cross(s * at.qd)
        d_a = d_a_in + d_omega_in.cross(t * two_qd)
        if d_at is not None:
            d_s, d_t = _rate(at.P, d_at, at.qd, d_at.qd)
            d_omega = d_omega + d_s
            d_alpha = d_alpha + motion.omega_in.cross(d_s)
            d_a = d_a + motion.omega_in.cross(d_t + d_t)
            d_s, d_t = _rate(at.P, d_at, at.qdd, d_at.qdd)
            d_alpha, d_a = d_alpha + d_s, d_a + d_t
        d_omega = let_derivative(b, f"omega_{k}", d_omega, by.name, "dKANE-4")
        d_alpha = let_derivative(b, f"alpha_t_{k}", d_alpha, by.name, "dKANE-5")
        d_K = d_spin(motion.omega, d_omega, d_alpha)
        d_K = let_derivative(b, f"K_{k}", d_K, by.name, "dKANE-6")
        d_a = let_derivative(b, f"a_t_{k}", d_a, by.name, "dKANE-7")
    return MotionDerivative(d_omega, d_alpha, d_a, d_K)


def _rate(P: Pair[S], d_at: Variation[S], rate: S, d_rate: S) -> tuple[Vector[S], Vector[S]]:
    """d(s rate), d(t rate)"""
    change = P * d_rate
    if d_at.P is not None:
        change = change + d_at.P * rate
    return change.angular, change.linear


def d_load_step(
    at: Contribution[S],
    d_at: Variation[S] | None,
    loads: Loads[S],
    d_parent: Loads[S] | None,
    by: Variable[S],
    b: ProgramBuilder[S],
) -> dict[int, Pair[S]] | None:
    """dKANE-8"""
    shift = None if d_at is None else d_at.shift
    if not loads or (d_parent is None and shift is None):
        return None
    k = at.joint.number
    found: dict[int, Pair[S]] = {}
    with b.step("load derivatives", at.joint.name):
        for i, load in loads.items():
            terms: list[Pair[S] | None] = []
            if d_parent is not None:
                moment, force = d_parent[i].angular, d_parent[i].linear
                terms.append(Pair(at.turned_out(moment), at.turned_out(force)))
            if shift is not None:
                c = shift.angular
                terms.append(Pair(load.angular.cross(c), load.linear.cross(c)))
            names = (f"d_n_e_{k}_{i + 1}", f"d_f_e_{k}_{i + 1}")
            d_load = sum_of(terms)
            assert d_load is not None
            with b.variant(f"_d{by.name}"):
                found[i] = let_pair(b, names, d_load, "dKANE-8")
    return found


def d_force_step(
    at: Contribution[S],
    d_at: Variation[S] | None,
    motion: Motion[S],
    d_motion: MotionDerivative[S] | None,
    loads: Loads[S],
    d_loads: Loads[S] | None,
    by: Variable[S],
    b: ProgramBuilder[S],
) -> Pair[S] | None:
    """dKANE-9"""
    terms: list[Pair[S] | None] = []
    if d_motion is not None:
        terms.append(inertia_force(at.body, d_motion.a, d_motion.K))
    if d_at is not None and d_at.body is not None:
        terms.append(inertia_force(d_at.body, motion.a, motion.K))
    for i, point in at.points.items():
        force = loads[i].linear
        if d_loads is not None:
            d_load = d_loads[i]
            terms.append(Pair(d_load.angular + point.cross(d_load.linear), d_load.linear))
        if d_at is not None:
            terms.append(Pair(d_at.points[i].cross(force), zero_vector(b.algebra)))
    d_F_1 = sum_of(terms)
    if d_F_1 is None:
        return None
    k = at.joint.number
    with b.step("force derivatives", at.joint.name), b.variant(f"_d{by.name}"):
        return let_pair(b, (f"d_F_1_n_{k}", f"d_F_1_f_{k}"), d_F_1, "dKANE-9")


def d_spin(omega: Vector[S], d_omega: Vector[S], d_alpha: Vector[S]) -> Matrix[S]:
    """Derivative of the matrix of alpha x + omega x omega x."""
    x, y, z = (part * d_part for part, d_part in zip(omega, d_omega, strict=True))
    xy = omega.x * d_omega.y + omega.y * d_omega.x
    xz = omega.x * d_omega.z + omega.z * d_omega.x
    yz = omega.y * d_omega.z + omega.z * d_omega.y
    yy_zz, xx_zz, xx_yy = y + z, x + z, x + y
    return Matrix(
        [
            (-(yy_zz + yy_zz), xy - d_alpha.z, xz + d_alpha.y),
            (xy + d_alpha.z, -(xx_zz + xx_zz), yz - d_alpha.x),
            (xz - d_alpha.y, yz + d_alpha.x, -(xx_yy + xx_yy)),
        ]
    )


# -- sweeps over the tree ----------------------------------------------------------------------


def d_motion_sweep(
    tree: KinematicTree[S],
    solution: Solution[S],
    changes: Changes[S],
    by: Variable[S],
    b: ProgramBuilder[S],
) -> dict[int, MotionDerivative[S]]:
    """dKANE-4 to dKANE-7 for the bodies whose motion changes, parents first."""
    o, zero = zero_vector(b.algebra), b.algebra.zero
    still = MotionDerivative(o, o, o, Matrix([(zero,) * 3] * 3))
    found: dict[int, MotionDerivative[S]] = {}
    d_gravity = by.of_vector(tree.gravity)
    if not all_zero(d_gravity, b.algebra):
        found[BASE] = MotionDerivative(o, o, -d_gravity, still.K)
    for k, at in solution.at.items():
        p, d_at = at.joint.parent, changes.get(k)
        moving = d_at is not None and _moves(d_at, b.algebra)
        if p in found or moving:
            motion = solution.motions[k]
            found[k] = d_motion_step(at, d_at, motion, found.get(p, still), by, b)
    return found


def _moves(d_at: Variation[S], algebra: Algebra[S]) -> bool:
    """Whether the change of a contribution changes the motion of its body."""
    rates = all_zero((d_at.qd, d_at.qdd), algebra)
    return d_at.shift is not None or d_at.P is not None or not rates


def d_load_sweep(
    solution: Solution[S], changes: Changes[S], by: Variable[S], b: ProgramBuilder[S]
) -> dict[int, Loads[S]]:
    """dKANE-8 for the bodies on the way to a load that turns."""
    found: dict[int, Loads[S]] = {}
    for k, at in solution.at.items():
        d_parent = found.get(at.joint.parent)
        d_loads = d_load_step(at, changes.get(k), solution.loads[k], d_parent, by, b)
        if d_loads is not None:
            found[k] = d_loads
    return found
