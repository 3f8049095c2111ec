"""Derivatives of what is known: motions, loads and forces, by one variable.

Line by line with `motion.py`, see `derivatives.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Vector, all_zero, zero_vector
from symgen.formulations.kane.contributions import Contribution
from symgen.formulations.kane.motion import Loads, Motion, inertia_force
from symgen.formulations.kane.recursion import Solution
from symgen.formulations.kane.spatial import Pair, let_pair, sum_of
from symgen.formulations.kane.variations import Changes, Variable, Variation, changed_vector
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "dKANE-4": "d omega_k = d omega_in + d(s qd_k), d omega_in = C^T d omega_p + C^T_{,z} omega_p "
    "-- Anderson, Hsu 2002 (33), differentiated",
    "dKANE-5": "d alpha_t_k = d alpha_in + d(omega_in x s qd_k) + d(s qdd_k) "
    "-- Anderson, Hsu 2002 (35), differentiated",
    "dKANE-6": "d W_k = d alpha_t_k x + d omega_k x omega_k x + omega_k x d omega_k x",
    "dKANE-7": "d a_t_k = d a_in + 2 d(omega_in x t qd_k) + d(t qdd_k) "
    "-- Anderson, Hsu 2002 (36), differentiated",
    "dKANE-8": "a load turns against the body: C^T d(.) + C^T_{,z} (.)",
    "dKANE-9": "d F_1^k -- Anderson, Hsu 2002 (22), (23), (24), differentiated; (62)",
}


@dataclass(frozen=True)
class MotionDerivative(Generic[S]):
    """dKANE-4 to dKANE-7"""

    omega: Vector[S]
    alpha: Vector[S]
    a: Vector[S]
    W: Matrix[S]


# -- steps, one joint each ---------------------------------------------------------------------


def d_motion_step(
    at: Contribution[S],
    d_at: Variation[S],
    motion: Motion[S],
    d_parent: MotionDerivative[S],
    by: Variable[S],
    b: ProgramBuilder[S],
) -> MotionDerivative[S]:
    """dKANE-4 to dKANE-7"""
    k, s, t = at.joint.number, at.P.angular, at.P.linear
    d_s_qd, d_t_qd = d_rate_part(at, d_at, at.qd, d_at.qd)
    d_s_qdd, d_t_qdd = d_rate_part(at, d_at, at.qdd, d_at.qdd)
    with b.step("known motion derivatives", at.joint.name), b.variant(f"_d{by.name}"):
        d_omega_in = d_turned_out(at, d_at, motion.omega_in, d_parent.omega)
        d_omega_in = b.let(f"d_omega_in_{k}", d_omega_in, "dKANE-4")
        d_omega = b.let(f"d_omega_{k}", d_omega_in + d_s_qd, "dKANE-4")
        d_alpha_in = d_turned_out(at, d_at, motion.alpha_in, d_parent.alpha)
        d_alpha_in = b.let(f"d_alpha_in_{k}", d_alpha_in, "dKANE-5")
        d_alpha = d_alpha_in + d_omega_in.cross(s * at.qd)
        d_alpha = d_alpha + motion.omega_in.cross(d_s_qd) + d_s_qdd
        d_alpha = b.let(f"d_alpha_t_{k}", d_alpha, "dKANE-5")
        d_W = d_acceleration_matrix(motion.omega, d_omega, d_alpha)
        d_W = b.let(f"d_W_{k}", d_W, "dKANE-6")
        d_a_in = b.let(f"d_a_in_{k}", d_a_in_part(at, d_at, motion, d_parent, b.algebra), "dKANE-7")
        d_a = d_a_in + d_omega_in.cross(t * (at.qd + at.qd))
        d_a = d_a + motion.omega_in.cross(d_t_qd + d_t_qd) + d_t_qdd
        d_a = b.let(f"d_a_t_{k}", d_a, "dKANE-7")
    return MotionDerivative(d_omega, d_alpha, d_a, d_W)


def d_load_step(
    at: Contribution[S],
    d_at: Variation[S],
    loads: Loads[S],
    d_parent: Loads[S],
    by: Variable[S],
    b: ProgramBuilder[S],
) -> dict[int, Pair[S]]:
    """dKANE-8; loads that do not turn are left out."""
    k, by_displacement = at.joint.number, d_at.displacement
    found: dict[int, Pair[S]] = {}
    with b.step("load derivatives", at.joint.name), b.variant(f"_d{by.name}"):
        for i, load in loads.items():
            if i not in d_parent and by_displacement is None:
                continue
            o = zero_vector(b.algebra)
            d_load = d_parent.get(i, Pair(o, o))
            turned = Pair(
                d_turned_out(at, d_at, load.angular, d_load.angular),
                d_turned_out(at, d_at, load.linear, d_load.linear),
            )
            found[i] = let_pair(b, (f"d_n_e_{k}_{i + 1}", f"d_f_e_{k}_{i + 1}"), turned, "dKANE-8")
    return found


def d_force_step(
    at: Contribution[S],
    d_at: Variation[S],
    motion: Motion[S],
    d_motion: MotionDerivative[S] | None,
    loads: Loads[S],
    d_loads: Loads[S],
    by: Variable[S],
    b: ProgramBuilder[S],
) -> Pair[S] | None:
    """dKANE-9"""
    k = at.joint.number
    terms: list[Pair[S]] = []
    if d_motion is not None:
        terms.append(inertia_force(at.body, d_motion.a, d_motion.W))
    if d_at.body is not None:
        terms.append(inertia_force(d_at.body, motion.a, motion.W))
    for i, point in at.points.items():
        if i in d_loads:
            load = d_loads[i]
            terms.append(Pair(load.angular + point.cross(load.linear), load.linear))
        if i in d_at.points:
            terms.append(Pair(d_at.points[i].cross(loads[i].linear), zero_vector(b.algebra)))
    d_F_1 = sum_of(terms)
    if d_F_1 is None:
        return None
    with b.step("force derivatives", at.joint.name), b.variant(f"_d{by.name}"):
        return let_pair(b, (f"d_F_1_n_{k}", f"d_F_1_f_{k}"), d_F_1, "dKANE-9")


# -- parts of steps ----------------------------------------------------------------------------


def d_turned_out(
    at: Contribution[S], d_at: Variation[S], turned: Vector[S], d_parent: Vector[S]
) -> Vector[S]:
    """Derivative of a vector of the parent in the axes of body k, where it is `turned`."""
    found = at.turned_out(d_parent)
    if d_at.displacement is None:
        return found
    return found + changed_vector(d_at.displacement, turned)


def d_rate_part(
    at: Contribution[S], d_at: Variation[S], rate: S, d_rate: S
) -> tuple[Vector[S], Vector[S]]:
    """d(s rate), d(t rate)"""
    change = at.P * d_rate
    if d_at.P is not None:
        change = change + d_at.P * rate
    return change.angular, change.linear


def d_a_in_part(
    at: Contribution[S],
    d_at: Variation[S],
    motion: Motion[S],
    d_parent: MotionDerivative[S],
    algebra: Algebra[S],
) -> Vector[S]:
    """dKANE-7: the changes of the parent's motion first, then those of C and gamma."""
    d_a_in = at.turned_out(d_parent.a + d_parent.W.apply(at.u))
    if not all_zero(at.l, algebra):
        d_omega, d_alpha = at.turned_out(d_parent.omega), at.turned_out(d_parent.alpha)
        d_a_in = d_a_in + d_acceleration_matrix(motion.omega_in, d_omega, d_alpha).apply(at.l)
    if d_at.displacement is None:
        return d_a_in
    omega, shift = motion.omega_in, d_at.displacement.linear
    carried = motion.alpha_in.cross(shift) + omega.cross(omega.cross(shift))
    return d_a_in + (changed_vector(d_at.displacement, motion.a_in) + carried)


def d_acceleration_matrix(omega: Vector[S], d_omega: Vector[S], d_alpha: Vector[S]) -> Matrix[S]:
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
        found[BASE] = MotionDerivative(o, o, -d_gravity, still.W)
    for k, at in solution.at.items():
        p, d_at = at.joint.parent, changes[k]
        if p in found or _moves(d_at, b.algebra):
            motion = solution.motions[k]
            found[k] = d_motion_step(at, d_at, motion, found.get(p, still), by, b)
    return found


def _moves(d_at: Variation[S], algebra: Algebra[S]) -> bool:
    """Whether the change of a contribution changes the motion of its body."""
    rates = all_zero((d_at.qd, d_at.qdd), algebra)
    return d_at.displacement is not None or d_at.P is not None or not rates


def d_load_sweep(
    solution: Solution[S], changes: Changes[S], by: Variable[S], b: ProgramBuilder[S]
) -> dict[int, Loads[S]]:
    """dKANE-8 for every body on the way to a load."""
    found: dict[int, Loads[S]] = {BASE: {}}
    for k, at in solution.at.items():
        found[k] = d_load_step(at, changes[k], solution.loads[k], found[at.joint.parent], by, b)
    return found
