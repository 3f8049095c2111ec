"""How a joint moves the links that it carries: what derivatives of accelerations are made of.

What lies beyond joint i turns (or slides) with it as one piece.  So link j, written in its own
axes, knows of joint i by three fields of velocities, which are the same for all links beyond i:

- V_i = d(omega, v_G)/dqd_i, the motion per unit of qd_i,
- V_i' = d(omega, v_G)/dq_i, its rate in fixed axes: the motion of the parent crossed with V_i,
- V_i'' = dd(omega, v_G)/dq_i dt, the rate of that.

They start at link i and are carried outwards, without a term of their own at any joint they pass.
All derivatives of accelerations are made of them:

    d alpha/dqdd_i = d omega/dqd_i
    d alpha/dqd_i  = 2 d omega/dq_i - omega x d omega/dqd_i
    d alpha/dq_i   = dd omega/dq_i dt - omega x d omega/dq_i
    d a_G/dqdd_i   = d v_G/dqd_i
    d a_G/dqd_i    = 2 (d v_G/dq_i + d omega/dqd_i x v_G)
    d a_G/dq_i     = dd v_G/dq_i dt + 2 d omega/dq_i x v_G

Notation beyond that of `recursion.py` and `passages.py`: d_(.)_dq_i and d_(.)_dqd_i are derivatives
of the entries in link axes, (.)_{j,i} and (.)_{j,i'} of Barman 2020; dd_(.)_dq_i_dt is the rate of
d_(.)_dq_i in fixed axes, at a fixed point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector
from symgen.formulations.newton_euler.passages import Passage, Velocity
from symgen.formulations.newton_euler.recursion import Motion, Twist, carried
from symgen.formulations.shared import let_derivative
from symgen.kinematics.tree import BASE
from symgen.program.builder import ProgramBuilder

# dNE-3, the derivative of omega_j, stands in `partial_velocities.py`
NOTES = {
    "dNE-31": "d v_G_j/dq_i, d v_G_j/dqd_i: those of p carried over joint j; for i = j "
    "v_origin_j x s + omega_in_j x t + d omega_j/dq_j x rho by q_j, t + s x rho by qd_j "
    "-- Barman 2020 (3.42), (3.43), (3.45), (3.46)",
    "ddNE-3": "dd omega_j/dq_i dt = d alpha_j/dq_i + omega_j x d omega_j/dq_i: that of p carried "
    "over joint j; for i = j alpha_in_j x s + omega_in_j x (omega_in_j x s) "
    "-- Barman 2020 (3.15), (3.16), (3.18), (3.19), (3.21), (3.22)",
    "ddNE-31": "dd v_G_j/dq_i dt = d a_G_j/dq_i - 2 d omega_j/dq_i x v_G_j: that of p carried over "
    "joint j; for i = j a_in_j x s + 2 v_origin_j x d omega_j/dq_j + alpha_in_j x t "
    "+ omega_in_j x (omega_in_j x t) + dd omega_j/dq_j dt x rho "
    "-- Barman 2020 (3.48), (3.49), (3.57), (3.58), (3.60), (3.61)",
}


@dataclass(frozen=True)
class Fields(Generic[S]):
    """V_i and V_i' at the centre of a link, and d a_G/dqd_i: accelerations have no part in them."""

    by_qd: Twist[S]
    by_q: Twist[S]
    a_qd: Vector[S]


@dataclass(frozen=True)
class MotionDerivative(Fields[S]):
    """These, V_i'' and d a_G/dq_i."""

    rate: Twist[S]
    a_q: Vector[S]


def d_motion_sweep(
    passages: Sequence[Passage[S]],
    motions: Mapping[int, Motion[S]],
    velocities: Mapping[int, Velocity[S]],
    b: ProgramBuilder[S],
) -> dict[int, dict[int, MotionDerivative[S]]]:
    """How every link moves with every joint on the way to it: link -> joint -> derivative."""
    d_motions: dict[int, dict[int, MotionDerivative[S]]] = {BASE: {}}
    for passage in passages:
        j, p = passage.at.joint.number, passage.at.joint.parent
        d_parent = d_motions[p]
        d_motions[j] = {
            i: d_motion_step(passage, i, slope, velocities[j], b) for i, slope in d_parent.items()
        }
        d_motions[j][j] = d_own_motion_step(passage, motions[p], velocities[j], b)
    return d_motions


def fields_sweep(
    passages: Sequence[Passage[S]], velocities: Mapping[int, Velocity[S]], b: ProgramBuilder[S]
) -> dict[int, dict[int, Fields[S]]]:
    """What does not depend on accelerations, first: link -> joint -> fields."""
    fields: dict[int, dict[int, Fields[S]]] = {BASE: {}}
    for passage in passages:
        j, p = passage.at.joint.number, passage.at.joint.parent
        fields[j] = {
            i: fields_step(passage, i, parent, velocities[j], b) for i, parent in fields[p].items()
        }
        fields[j][j] = own_fields_step(passage, velocities[j], b)
    return fields


def rates_sweep(
    passages: Sequence[Passage[S]],
    motions: Mapping[int, Motion[S]],
    velocities: Mapping[int, Velocity[S]],
    fields: Mapping[int, Mapping[int, Fields[S]]],
    b: ProgramBuilder[S],
) -> dict[int, dict[int, MotionDerivative[S]]]:
    """And the rest, where the accelerations are known."""
    slopes: dict[int, dict[int, MotionDerivative[S]]] = {BASE: {}}
    for passage in passages:
        j, p = passage.at.joint.number, passage.at.joint.parent
        rates = {i: rate_step(passage, i, slope.rate, b) for i, slope in slopes[p].items()}
        rates[j] = own_rate_step(passage, motions[p], velocities[j], b)
        slopes[j] = {i: with_rate(fields[j][i], rates[i], velocities[j], b) for i in rates}
    return slopes


def d_motion_step(
    passage: Passage[S],
    i: int,
    parent: MotionDerivative[S],
    velocity: Velocity[S],
    b: ProgramBuilder[S],
) -> MotionDerivative[S]:
    """dNE-3, dNE-31, their rates and d a_G for a joint i that carries joint j."""
    fields = fields_step(passage, i, parent, velocity, b)
    return with_rate(fields, rate_step(passage, i, parent.rate, b), velocity, b)


def fields_step(
    passage: Passage[S], i: int, parent: Fields[S], velocity: Velocity[S], b: ProgramBuilder[S]
) -> Fields[S]:
    """dNE-3, dNE-31 and d a_G by qd_i for a joint i that carries joint j."""
    with b.step("forward derivatives", passage.at.joint.name):
        by_qd = _named_twist(passage, passage.out(parent.by_qd), f"qd_{i}", b)
        by_q = _named_twist(passage, passage.out(parent.by_q), f"q_{i}", b)
    a_qd = (by_q.v + by_qd.omega.cross(velocity.link.v)) * b.algebra.constant(2.0)
    return Fields(by_qd, by_q, a_qd)


def rate_step(passage: Passage[S], i: int, parent: Twist[S], b: ProgramBuilder[S]) -> Twist[S]:
    """ddNE-3, ddNE-31 for a joint i that carries joint j."""
    with b.step("forward derivatives", passage.at.joint.name):
        return _named_rate(passage, passage.out(parent), i, b)


def with_rate(
    fields: Fields[S], rate: Twist[S], velocity: Velocity[S], b: ProgramBuilder[S]
) -> MotionDerivative[S]:
    """V_i'' and d a_G by q_i added."""
    a_q = rate.v + fields.by_q.omega.cross(velocity.link.v * b.algebra.constant(2.0))
    return MotionDerivative(fields.by_qd, fields.by_q, fields.a_qd, rate, a_q)


def d_own_motion_step(
    passage: Passage[S], parent: Motion[S], velocity: Velocity[S], b: ProgramBuilder[S]
) -> MotionDerivative[S]:
    """dNE-3, dNE-31, their rates and d a_G for i = j.

    At the joint's origin, in joint axes: the parent's motion there crossed with V_j = (s, t), and
    once more.
    """
    fields = own_fields_step(passage, velocity, b)
    return with_rate(fields, own_rate_step(passage, parent, velocity, b), velocity, b)


def own_fields_step(passage: Passage[S], velocity: Velocity[S], b: ProgramBuilder[S]) -> Fields[S]:
    """dNE-3, dNE-31 and d a_G by qd_j."""
    j, s, t = passage.at.joint.number, passage.s, passage.t
    omega, v = velocity.at_origin.omega, velocity.at_origin.v
    with b.step("forward derivatives", passage.at.joint.name):
        by_qd = _named_twist(passage, passage.own, f"qd_{j}", b)
        slope = Twist(omega.cross(s), v.cross(s) + omega.cross(t))
        by_q = _named_twist(passage, passage.from_origin(slope), f"q_{j}", b)
    return Fields(by_qd, by_q, velocity.link.omega.cross(by_qd.v) * b.algebra.constant(2.0))


def own_rate_step(
    passage: Passage[S], parent: Motion[S], velocity: Velocity[S], b: ProgramBuilder[S]
) -> Twist[S]:
    """ddNE-3, ddNE-31 for i = j."""
    j, s, t, two = passage.at.joint.number, passage.s, passage.t, b.algebra.constant(2.0)
    omega, v = velocity.at_origin.omega, velocity.at_origin.v
    alpha = passage.to_joint_axes(parent.alpha)
    a = passage.to_joint_axes(parent.a + carried(parent, passage.at.u))
    w = omega.cross(s)
    with b.step("forward derivatives", passage.at.joint.name):
        a_q = a.cross(s) + (v * two).cross(w) + alpha.cross(t) + omega.cross(omega.cross(t))
        rate = passage.from_origin(Twist(alpha.cross(s) + omega.cross(w), a_q))
        return _named_rate(passage, rate, j, b)


def _named_twist(passage: Passage[S], twist: Twist[S], by: str, b: ProgramBuilder[S]) -> Twist[S]:
    j = passage.at.joint.number
    omega = let_derivative(b, f"omega_{j}", twist.omega, by, "dNE-3")
    return Twist(omega, let_derivative(b, f"v_G_{j}", twist.v, by, "dNE-31"))


def _named_rate(passage: Passage[S], twist: Twist[S], i: int, b: ProgramBuilder[S]) -> Twist[S]:
    j = passage.at.joint.number
    with b.variant(f"_dq_{i}_dt"):
        omega = b.let(f"dd_omega_{j}", twist.omega, "ddNE-3")
        return Twist(omega, b.let(f"dd_v_G_{j}", twist.v, "ddNE-31"))
