"""Derivatives of the motion of points, by direct differentiation of `motion.py` (Barman 2020).

Line beside line with `recursion.py`, `kinematics.py` and `motion.py`: the functions bear their
names with ``d_`` in front, and ``dNE-5`` is the derivative of ``NE-5``.  Only the joints on the way
to a point have derivatives.  (`derivatives.py`, which needs accelerations only as a part of forces,
rearranges these lines.)

Notation beyond that of `motion.py` and `partial_velocities.py`

====================  =============  ==========================================================
paper                 code           meaning
====================  =============  ==========================================================
(.)_{j,i}             d_(.)_dq_k     derivative of the entries in link axes with respect to q_k
(.)_{j,i'}            d_(.)_dqd_k    with respect to qd_k
(.)_{j,i''}           d_(.)_dqdd_k   with respect to qdd_k
====================  =============  ==========================================================

Four things save work without changing a result:

- R_j turns about s: d(R_j^T w)/d q_j = (R_j^T w) x s and, in base axes, d(R0_j w)/d q_k =
  R0_j (d omega_j / d qd_k x w).  No derivative of a rotation matrix is ever written.
- For k = j the terms of the thesis add up: a link's own coordinate turns its axes and moves its
  origin, but changes neither omega_j nor alpha_j themselves.
- A position moves with q_k as it moves in time with qd_k: d x0_P / d q_k = d v0_P / d qd_k, which
  is what (3.24), (3.25), (3.27), (3.28) amount to in base axes.
- Accelerations depend on qdd as velocities do on qd: d a0_P / d qdd_k = d v0_P / d qd_k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector, zero_vector
from symgen.formulations.newton_euler.kinematics import origin_velocity_sweep, poses_of
from symgen.formulations.newton_euler.motion import PointMotion, point_step
from symgen.formulations.newton_euler.partial_velocities import (
    d_own_velocity_step,
    d_turning_step,
    d_velocity_step,
)
from symgen.formulations.newton_euler.recursion import (
    JointFrame,
    Motion,
    Twist,
    carried,
    frames_sweep,
    motion_sweep,
)
from symgen.formulations.shared import let_derivative, write_columns
from symgen.formulations.state import State
from symgen.kinematics.points import BodyPoint
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "dNE-4": "d alpha_in_j = R_j^T d alpha_p -- Barman 2020 (3.15), (3.16)",
    "dNE-5": "d alpha_j = d alpha_in_j + d omega_j x s qd_j; for k = j: alpha_j x s by q_j, "
    "omega_j x s by qd_j -- Barman 2020 (3.18), (3.21), (3.22)",
    "dNE-6": "d a_in_j = R_j^T (d a_p + d(alpha_p x u + omega_p x (omega_p x u))) "
    "-- Barman 2020 (3.48), (3.49)",
    "dNE-7": "d a_j = d a_in_j + d(alpha_j x dx_j + omega_j x (omega_j x dx_j)) "
    "+ 2 d omega_j x t qd_j; for k = j: a_j x s + alpha_j x e + omega_j x (omega_j x e) with "
    "e = s x dx_j + t by q_j, also 2 omega_j x t by qd_j "
    "-- Barman 2020 (3.51), (3.52), (3.54), (3.55)",
    "dNE-22": "d v0_P = R0_j (d v_j + d omega_j x p), by q_k also + d omega_j / d qd_k x v_P; "
    "d a0_P alike -- Barman 2020 (3.63)",
}


@dataclass(frozen=True)
class DMotion(Generic[S]):
    """Derivatives of a link's motion with respect to one q_k or qd_k, entries in link axes."""

    omega: Vector[S]
    alpha: Vector[S]
    a: Vector[S]


@dataclass(frozen=True)
class DPoint(Generic[S]):
    """Derivatives of a point's motion with respect to q_k and qd_k, base axes."""

    v_q: Vector[S]
    v_qd: Vector[S]
    a_q: Vector[S]
    a_qd: Vector[S]


SLOPES = {
    "dx_dq": "v_qd",
    "dv_dq": "v_q",
    "dv_dqd": "v_qd",
    "da_dq": "a_q",
    "da_dqd": "a_qd",
    "da_dqdd": "v_qd",
}
"""Output -> what it is made of."""

DMotions = dict[int, tuple[DMotion[S], DMotion[S]]]
"""joint k on the way to a link -> derivatives with respect to q_k and to qd_k"""

DVelocities = dict[int, tuple[Vector[S], Vector[S]]]
"""The same of the velocity of the link's origin."""


def point_motion_derivatives(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """dNE-22, base axes: dx_dq, dv_dq, dv_dqd, da_dq, da_dqd, da_dqdd, each (n_points, 3, n)."""
    frames = frames_sweep(tree, b, state.q, [point.body for point in tree.points])
    motions = motion_sweep(frames, b, state.qd, state.qdd, zero_vector(b.algebra))
    velocities = origin_velocity_sweep(frames, b, state.qd, motions)
    poses = poses_of(tree, frames, b)
    d_motions = d_motion_sweep(frames, motions, b, state.qd)
    d_velocities = d_velocity_sweep(frames, motions, velocities, d_motions, b)
    rows: list[dict[int, DPoint[S]]] = []
    for point in tree.points:
        link, R0 = point.body, poses[point.body].rotation
        motion = motions[link]
        here = point_step(point, poses[link], velocities[link].v, motion, b)
        rows.append(
            {
                k: d_point_step(point, R0, motion, here, k, d_motion, d_velocities[link][k], b)
                for k, d_motion in d_motions[link].items()
            }
        )
    for name, slope in SLOPES.items():
        blocks = [{k: getattr(d_point, slope) for k, d_point in row.items()} for row in rows]
        write_columns(tree, b, name, blocks, 3)


# -- sweeps over the tree ----------------------------------------------------------------------


def d_motion_sweep(
    frames: Sequence[JointFrame[S]],
    motions: dict[int, Motion[S]],
    b: ProgramBuilder[S],
    qd: Sequence[S],
) -> dict[int, DMotions[S]]:
    """dNE-3 to dNE-7: how the motion of every link of `frames` depends on q and qd."""
    d_motions: dict[int, DMotions[S]] = {BASE: {}}
    for at in frames:
        j, p, rate = at.joint.number, at.joint.parent, qd[at.joint.number - 1]
        d_motions[j] = {
            k: (
                d_motion_step(at, motions[p], by_q, motions[j], rate, f"q_{k}", b),
                d_motion_step(at, motions[p], by_qd, motions[j], rate, f"qd_{k}", b),
            )
            for k, (by_q, by_qd) in d_motions[p].items()
        }
        d_motions[j][j] = d_own_motion_step(at, motions[j], rate, b)
    return d_motions


def d_velocity_sweep(
    frames: Sequence[JointFrame[S]],
    motions: dict[int, Motion[S]],
    velocities: dict[int, Twist[S]],
    d_motions: dict[int, DMotions[S]],
    b: ProgramBuilder[S],
) -> dict[int, DVelocities[S]]:
    """dNE-18: the same for the velocities of the links' origins."""
    d_velocities: dict[int, DVelocities[S]] = {BASE: {}}
    for at in frames:
        j, p = at.joint.number, at.joint.parent
        d_velocities[j] = {}
        for k, (v_q, v_qd) in d_velocities[p].items():
            (p_q, p_qd), (w_q, w_qd) = d_motions[p][k], d_motions[j][k]
            d_velocities[j][k] = (
                d_velocity_step(at, p_q.omega, v_q, w_q.omega, f"q_{k}", b),
                d_velocity_step(at, p_qd.omega, v_qd, w_qd.omega, f"qd_{k}", b),
            )
        v_qd = d_own_velocity_step(at, b)
        v_q = d_velocity_by_q_step(at, motions[j].omega, velocities[j].v, v_qd, b)
        d_velocities[j][j] = v_q, v_qd
    return d_velocities


# -- steps, one pair of joints each ------------------------------------------------------------


def d_motion_step(
    at: JointFrame[S],
    parent: Motion[S],
    d_parent: DMotion[S],
    motion: Motion[S],
    qd: S,
    by: str,
    b: ProgramBuilder[S],
) -> DMotion[S]:
    """dNE-3 to dNE-7 with respect to q_k or qd_k of a joint k that carries joint j."""
    j, R, dx = at.joint.number, at.R, at.dx
    omega = d_turning_step(at, d_parent.omega, by, b)
    with b.step("forward derivatives", at.joint.name):
        turned = R.apply_transposed(d_parent.alpha)
        alpha_p = let_derivative(b, f"alpha_in_{j}", turned, by, "dNE-4")
        alpha = let_derivative(b, f"alpha_{j}", alpha_p + omega.cross(at.s * qd), by, "dNE-5")
        origin = d_parent.a + d_carried(parent, d_parent.omega, d_parent.alpha, at.u)
        origin = let_derivative(b, f"a_origin_{j}", origin, by, "dNE-6")
        a_p = let_derivative(b, f"a_in_{j}", R.apply_transposed(origin), by, "dNE-6")
        sliding = omega.cross(at.t * (qd + qd))
        a = a_p + d_carried(motion, omega, alpha, dx) + sliding
        return DMotion(omega, alpha, let_derivative(b, f"a_{j}", a, by, "dNE-7"))


def d_own_motion_step(
    at: JointFrame[S], motion: Motion[S], qd: S, b: ProgramBuilder[S]
) -> tuple[DMotion[S], DMotion[S]]:
    """dNE-3 to dNE-7 with respect to q_j and qd_j."""
    j, s, t, dx = at.joint.number, at.s, at.t, at.dx
    q_j, qd_j = f"q_{j}", f"qd_{j}"
    with b.step("forward derivatives", at.joint.name):
        turning = motion.a.cross(s) + carried(motion, s.cross(dx) + t)
        by_q = DMotion(
            let_derivative(b, f"omega_{j}", motion.omega.cross(s), q_j, "dNE-3"),
            let_derivative(b, f"alpha_{j}", motion.alpha.cross(s), q_j, "dNE-5"),
            let_derivative(b, f"a_{j}", turning, q_j, "dNE-7"),
        )
        alpha = let_derivative(b, f"alpha_{j}", motion.omega.cross(s), qd_j, "dNE-5")
        sliding = s.cross(t * (qd + qd)) + motion.omega.cross(t + t)
        a = d_carried(motion, s, alpha, dx) + sliding
        return by_q, DMotion(s, alpha, let_derivative(b, f"a_{j}", a, qd_j, "dNE-7"))


def d_velocity_by_q_step(
    at: JointFrame[S], omega: Vector[S], v: Vector[S], v_qd: Vector[S], b: ProgramBuilder[S]
) -> Vector[S]:
    """dNE-18 with respect to q_j."""
    j = at.joint.number
    with b.step("forward derivatives", at.joint.name):
        turned = v.cross(at.s) + omega.cross(v_qd)
        return let_derivative(b, f"v_{j}", turned, f"q_{j}", "dNE-18")


def d_point_step(
    point: BodyPoint[S],
    R0: Matrix[S],
    motion: Motion[S],
    here: PointMotion[S],
    k: int,
    d_motion: tuple[DMotion[S], DMotion[S]],
    d_velocity: tuple[Vector[S], Vector[S]],
    b: ProgramBuilder[S],
) -> DPoint[S]:
    """dNE-22 with respect to q_k and qd_k; R0 turns with q_k as the link does with qd_k."""
    p, v, a = point.point, f"v0_{point.name}", f"a0_{point.name}"
    (by_q, by_qd), (v_q, v_qd) = d_motion, d_velocity
    with b.step("point derivatives", point.name):
        v_q = v_q + by_q.omega.cross(p) + by_qd.omega.cross(here.v)
        v_qd = v_qd + by_qd.omega.cross(p)
        a_q = by_q.a + d_carried(motion, by_q.omega, by_q.alpha, p) + by_qd.omega.cross(here.a)
        a_qd = by_qd.a + d_carried(motion, by_qd.omega, by_qd.alpha, p)
        return DPoint(
            v_q=let_derivative(b, v, R0.apply(v_q), f"q_{k}", "dNE-22"),
            v_qd=let_derivative(b, v, R0.apply(v_qd), f"qd_{k}", "dNE-22"),
            a_q=let_derivative(b, a, R0.apply(a_q), f"q_{k}", "dNE-22"),
            a_qd=let_derivative(b, a, R0.apply(a_qd), f"qd_{k}", "dNE-22"),
        )


def d_carried(motion: Motion[S], d_omega: Vector[S], d_alpha: Vector[S], r: Vector[S]) -> Vector[S]:
    """Derivative of `carried` for a constant r."""
    return (
        d_alpha.cross(r)
        + d_omega.cross(motion.omega.cross(r))
        + motion.omega.cross(d_omega.cross(r))
    )
