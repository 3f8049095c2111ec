"""What a joint's velocity does to the links that the joint carries.

omega_j and v_j are linear in the velocities of the joints on the way to link j.  Their
coefficients, omega_{j,k'} and xdot_{j,k'} of Barman 2020, depend on the coordinates alone: they say
how joint k moves link j.  The derivatives of positions with respect to q, of velocities with
respect to qd and of accelerations with respect to qdd are made of them, and so is the lever of a
body's inertia force on a joint.

Notation beyond that of `recursion.py`: d_omega_j_dqd_k and d_v_j_dqd_k, in link axes; k stands on
the way from the base to link j, itself included.
"""

from __future__ import annotations

from collections.abc import Sequence

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector
from symgen.formulations.newton_euler.recursion import JointFrame, Twist
from symgen.formulations.shared import let_derivative
from symgen.program.builder import ProgramBuilder

NOTES = {
    "d NE-3": "d omega_j = R_j^T d omega_p; for k = j: omega_j x s by q_j, s by qd_j "
    "-- Barman 2020 (3.9), (3.10), (3.12), (3.13)",
    "d NE-18": "d v_j = R_j^T (d v_p + d omega_p x u) + d omega_j x dx_j; for k = j: "
    "v_j x s + omega_j x e by q_j, e = s x dx_j + t by qd_j "
    "-- Barman 2020 (3.33), (3.34), (3.36), (3.37), (3.39), (3.40)",
}


def partial_velocity_sweep(
    frames: Sequence[JointFrame[S]], b: ProgramBuilder[S]
) -> dict[int, dict[int, Twist[S]]]:
    """d NE-3, d NE-18: for every link of `frames`, by joint on the way to it."""
    partials: dict[int, dict[int, Twist[S]]] = {}
    for at in frames:
        j, here = at.joint.number, {}
        for k, parent in partials.get(at.joint.parent, {}).items():
            omega = d_turning_step(at, parent.omega, f"qd_{k}", b)
            v = d_velocity_step(at, parent.omega, parent.v, omega, f"qd_{k}", b)
            here[k] = Twist(omega, v)
        partials[j] = {**here, j: Twist(at.s, d_own_velocity_step(at, b))}
    return partials


def d_turning_step(
    at: JointFrame[S], d_omega_p: Vector[S], by: str, b: ProgramBuilder[S]
) -> Vector[S]:
    """d NE-3 with respect to q_k or qd_k of a joint k that carries joint j."""
    j = at.joint.number
    with b.step("forward derivatives", at.joint.name):
        return let_derivative(b, f"omega_{j}", at.R.apply_transposed(d_omega_p), by, "d NE-3")


def d_velocity_step(
    at: JointFrame[S],
    d_omega_p: Vector[S],
    d_v_p: Vector[S],
    d_omega: Vector[S],
    by: str,
    b: ProgramBuilder[S],
) -> Vector[S]:
    """d NE-18 with respect to q_k or qd_k of a joint k that carries joint j."""
    j = at.joint.number
    with b.step("forward derivatives", at.joint.name):
        moved = at.R.apply_transposed(d_v_p + d_omega_p.cross(at.u))
        v_in = let_derivative(b, f"v_in_{j}", moved, by, "d NE-18")
        return let_derivative(b, f"v_{j}", v_in + d_omega.cross(at.dx), by, "d NE-18")


def d_own_velocity_step(at: JointFrame[S], b: ProgramBuilder[S]) -> Vector[S]:
    """d NE-18 with respect to qd_j."""
    j = at.joint.number
    with b.step("forward derivatives", at.joint.name):
        return let_derivative(b, f"v_{j}", at.s.cross(at.dx) + at.t, f"qd_{j}", "d NE-18")
