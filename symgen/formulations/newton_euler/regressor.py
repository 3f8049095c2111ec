"""The regressor: joint torques as a matrix times the inertial parameters of the bodies.

Body j has ten parameters: its mass m, the first moments h = m com and the inertia I about the link
frame's origin.  The force and the moment that its motion needs are linear in them.  By the
principle of virtual power its share of the torque of joint k is the power of both on the velocities
that one unit of qd_k gives it, so that block (k, j) of the matrix is 0 unless joint k carries body
j.

Notation, added to that of `recursion.py`

===========  ======  ===================================================================
code         shape   meaning
===========  ======  ===================================================================
h            3       m com, first moments
I            3x3     inertia about the origin of the link frame, link axes
K_j          3x3     acceleration of a point relative to the origin, per place: a_j + K_j r
n_Ixx_j ...  3       moment about the origin per unit of Ixx ...
Y_k_j_...    scalar  torque of joint k per unit of m, mx, my, mz (h), Ixx, ... of body j
===========  ======  ===================================================================

K_j holds all that the moments n_I need, too: I alpha + omega x I omega has no other products of
omega than those of K_j.

Partial velocities: omega_j and v_j are linear in the velocities of the joints on the way to link j.
Their coefficients, omega_{j,k'} and xdot_{j,k'} of Barman 2020, depend on the coordinates alone;
their names are d_omega_j_dqd_k and d_v_j_dqd_k, in link axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector
from symgen.formulations.newton_euler.recursion import (
    JointFrame,
    Twist,
    frames_sweep,
    motion_sweep,
)
from symgen.formulations.shared import flat, let_derivative
from symgen.formulations.state import LinkMotion, State
from symgen.kinematics.bodies import INERTIAL_PARAMETERS
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder, Results

NOTES = {
    "NE-23": "K_j r = alpha_j x r + omega_j x (omega_j x r)",
    "NE-24": "force m a_j + K_j h, moment about the link's origin h x a_j + I alpha_j "
    "+ omega_j x I omega_j",
    "NE-25": "Y_k_j: (d v_j / d qd_k) . force + (d omega_j / d qd_k) . moment, per parameter",
    "d NE-3": "d omega_j = R_j^T d omega_p; for k = j: omega_j x s by q_j, s by qd_j "
    "-- Barman 2020 (3.9), (3.10), (3.12), (3.13)",
    "d NE-18": "d v_j = R_j^T (d v_p + d omega_p x u) + d omega_j x dx_j; for k = j: "
    "v_j x s + omega_j x e by q_j, e = s x dx_j + t by qd_j "
    "-- Barman 2020 (3.33), (3.34), (3.36), (3.37), (3.39), (3.40)",
}

TENSOR = INERTIAL_PARAMETERS[4:]


@dataclass(frozen=True)
class BodyRegressor(Generic[S]):
    """NE-24, by parameter: what a body's motion needs, link axes."""

    a: Vector[S]
    K: Matrix[S]
    moments: tuple[Vector[S], ...]


def regressor(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """NE-25, (n, 10 n): gravity is in a_0 = -g as in the recursion of the torques."""
    frames = frames_sweep(tree, b, state.q)
    motions = motion_sweep(frames, b, state.qd, state.qdd, -tree.gravity)
    partials = partial_velocity_sweep(frames, b)
    zero = b.algebra.zero
    rows = [[zero] * (10 * tree.n) for _ in range(tree.n)]
    for at in frames:
        j = at.joint.number
        body = body_step(at, motions[j], b)
        for k, partial in partials[j].items():
            first = body.K.apply_transposed(partial.v) + body.a.cross(partial.omega)
            second = (partial.omega.dot(moment) for moment in body.moments)
            shares = (partial.v.dot(body.a), *first, *second)
            with b.step("regressor", at.joint.name):
                rows[k - 1][10 * (j - 1) : 10 * j] = [
                    b.let(f"Y_{k}_{j}_{name}", share, "NE-25")
                    for name, share in zip(INERTIAL_PARAMETERS, shares, strict=True)
                ]
    return {"regressor": flat(rows)}


def body_step(at: JointFrame[S], motion: LinkMotion[S], b: ProgramBuilder[S]) -> BodyRegressor[S]:
    """Write force and moments per unit of the parameters: NE-23, NE-24."""
    j, omega, alpha = at.joint.number, motion.omega, motion.alpha
    with b.step("body regressor", at.joint.name):
        squares = zip("xyz", omega, strict=True)
        xx, yy, zz = (b.let(f"omega_{j}_{i}{i}", x * x, "NE-23") for i, x in squares)
        xy, xz, yz = omega.x * omega.y, omega.x * omega.z, omega.y * omega.z
        rows = (
            (-(yy + zz), xy - alpha.z, xz + alpha.y),
            (xy + alpha.z, -(xx + zz), yz - alpha.x),
            (xz - alpha.y, yz + alpha.x, -(xx + yy)),
        )
        K = b.let(f"K_{j}", Matrix(rows), "NE-23")
        moments = (
            Vector(alpha.x, xz, -xy),
            Vector(-K[2, 0], K[2, 1], xx - yy),
            Vector(-yz, alpha.y, xy),
            Vector(K[1, 0], zz - xx, -K[1, 2]),
            Vector(yy - zz, -K[0, 1], K[0, 2]),
            Vector(yz, -xz, alpha.z),
        )
        pairs = zip(TENSOR, moments, strict=True)
        named = (b.let(f"n_{entry}_{j}", moment, "NE-24") for entry, moment in pairs)
        return BodyRegressor(motion.a, K, tuple(named))


def partial_velocity_sweep(
    frames: Sequence[JointFrame[S]], b: ProgramBuilder[S]
) -> dict[int, dict[int, Twist[S]]]:
    """d NE-3, d NE-18 by qd_k: for every link of `frames`, by joint k on the way to it."""
    partials: dict[int, dict[int, Twist[S]]] = {}
    for at in frames:
        j, columns = at.joint.number, dict[int, Twist[S]]()
        with b.step("forward derivatives", at.joint.name):
            for k, p in partials.get(at.joint.parent, {}).items():
                turned, by = at.R.apply_transposed(p.omega), f"qd_{k}"
                omega = let_derivative(b, f"omega_{j}", turned, by, "d NE-3")
                moved = at.R.apply_transposed(p.v + p.omega.cross(at.u))
                v_in = let_derivative(b, f"v_in_{j}", moved, by, "d NE-18")
                v = let_derivative(b, f"v_{j}", v_in + omega.cross(at.dx), by, "d NE-18")
                columns[k] = Twist(omega, v)
            v = let_derivative(b, f"v_{j}", at.s.cross(at.dx) + at.t, f"qd_{j}", "d NE-18")
        partials[j] = {**columns, j: Twist(at.s, v)}
    return partials
