"""What is known of motions and forces before anything is solved: the first, outward sweep.

Notation and equations: see `recursion.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Vector, all_zero, zero_vector
from symgen.algebra.spatial import Spatial
from symgen.algebra.turns import acceleration_matrix
from symgen.formulations.kane.contributions import BodyMoments, Contribution
from symgen.formulations.shared import let_spatial
from symgen.formulations.state import State
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "KANE-4": "omega_k = omega_in + s qd_k, omega_in = C^T omega_p -- Anderson, Hsu 2002 (33)",
    "KANE-5": "alpha_t_k = alpha_in + omega_in x s qd_k + s qdd_k (prescribed), "
    "alpha_in = C^T alpha_t_p -- Anderson, Hsu 2002 (35)",
    "KANE-6": "W_k = alpha_t_k x + omega_k x omega_k x, as a matrix",
    "KANE-7": "a_t_k = a_in + 2 omega_in x t qd_k + t qdd_k (prescribed), "
    "a_in = C^T (a_t_p + W_p gamma^k) -- Anderson, Hsu 2002 (36) with r^k = 0",
    "KANE-8": "a load's force and moment in the axes of body k: (C^k)^T times those in p",
    "KANE-9": "F_1^k: f = loads - (m a_t + W h), n = loads' moments - (h x a_t + int r x W r dm) "
    "-- Anderson, Hsu 2002 (22), (23), (24)",
    "d KANE-9": "d F_1^k -- Anderson, Hsu 2002 (62)",
}


@dataclass(frozen=True)
class Motion(Generic[S]):
    """KANE-4 to KANE-7: what is known of the motion of a body, and of its parent in its axes.

    `omega_in`, `alpha_in` and `a_in` are the motion of the parent's body at k+.
    """

    omega: Vector[S]
    alpha: Vector[S]
    a: Vector[S]
    W: Matrix[S]
    omega_in: Vector[S]
    alpha_in: Vector[S]
    a_in: Vector[S]


Loads = Mapping[int, Spatial[S]]
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
        W = b.let(f"W_{k}", acceleration_matrix(omega, alpha), "KANE-6")
        a_in = b.let(f"a_in_{k}", a_in_part(at, parent, omega_in, alpha_in, b.algebra), "KANE-7")
        a = a_in + omega_in.cross(t * (at.qd + at.qd)) + t * at.qdd
        a = b.let(f"a_t_{k}", a, "KANE-7")
    return Motion(omega, alpha, a, W, omega_in, alpha_in, a_in)


def load_step(
    at: Contribution[S], parent: Loads[S], beyond: Sequence[int], b: ProgramBuilder[S]
) -> dict[int, Spatial[S]]:
    """KANE-8 for the loads on body k and `beyond` it."""
    k = at.joint.number
    found: dict[int, Spatial[S]] = {}
    with b.step("loads", at.joint.name):
        for i in beyond:
            turned = Spatial(at.turned_out(parent[i].angular), at.turned_out(parent[i].linear))
            found[i] = let_spatial(b, (f"n_e_{k}_{i + 1}", f"f_e_{k}_{i + 1}"), turned, "KANE-8")
    return found


def force_step(
    at: Contribution[S], motion: Motion[S], loads: Loads[S], b: ProgramBuilder[S]
) -> Spatial[S]:
    """KANE-9"""
    k = at.joint.number
    with b.step("forces", at.joint.name):
        F_1 = inertia_force(at.body, motion.a, motion.W)
        for i, point in at.points.items():
            load = loads[i]
            F_1 = F_1 + Spatial(load.angular + point.cross(load.linear), load.linear)
        return let_spatial(b, (f"F_1_n_{k}", f"F_1_f_{k}"), F_1, "KANE-9")


# -- parts of steps ----------------------------------------------------------------------------


def a_in_part(
    at: Contribution[S],
    parent: Motion[S],
    omega_in: Vector[S],
    alpha_in: Vector[S],
    algebra: Algebra[S],
) -> Vector[S]:
    """KANE-7: the acceleration of the point of the parent that is at k+."""
    a_in = at.turned_out(parent.a + parent.W.apply(at.u))
    if not all_zero(at.l, algebra):
        a_in = a_in + acceleration_matrix(omega_in, alpha_in).apply(at.l)
    return a_in


def inertia_force(body: BodyMoments[S], a: Vector[S], W: Matrix[S]) -> Spatial[S]:
    """The force of inertia of a body whose points have the accelerations a + W r."""
    moments = W @ body.J
    moment = Vector(
        moments[2, 1] - moments[1, 2], moments[0, 2] - moments[2, 0], moments[1, 0] - moments[0, 1]
    )
    return Spatial(-(body.h.cross(a) + moment), -(a * body.m + W.apply(body.h)))


# -- sweeps over the tree ----------------------------------------------------------------------


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
    given = {i: Spatial(load.moment, load.force) for i, load in enumerate(state.loads)}
    loads: dict[int, Loads[S]] = {BASE: given}
    for k, one in at.items():
        beyond = [i for i, load in enumerate(tree.loads) if k in tree.path(load.body)]
        loads[k] = load_step(one, loads[one.joint.parent], beyond, b)
    return loads
