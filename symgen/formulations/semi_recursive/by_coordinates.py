"""How the kinematics depends on coordinates and velocities, from the columns of R and Rdot.

Joint k turns and displaces as one body all that it carries: a vector fixed there changes by
[0 I] R_i x (.), a point of the body by the velocity that R_i gives it.  A reference point that is
fixed in space lags behind by [I 0] R_i: where the printed formulas give it its own (r_i)_z, they
have (r_i)_z - [I 0] R_i in common, which is 0 for a point of the body.
"""

from __future__ import annotations

from collections.abc import Mapping

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector, skew, zero_vector
from symgen.formulations.semi_recursive.bodies import Accumulated
from symgen.formulations.semi_recursive.kinematics import System
from symgen.formulations.semi_recursive.slopes import BodySlope, Variable
from symgen.formulations.semi_recursive.spatial import (
    MOTION,
    Spatial,
    let_spatial_slope,
    let_symmetric_slope,
    zero_mass,
    zero_spatial,
)
from symgen.formulations.shared import let_derivative
from symgen.kinematics.tree import BASE

NOTES = {
    "dSR-4": "(b_i)_z = a x b_i, both parts, + [w_i x slip_i; 0], a = [0 I] R_i, "
    "slip_i = (r_i)_z - [I 0] R_i -- Lopez Varela 2023, tables 6, 12 and 13",
    "dSR-6": "(omega_i)_z = [0 I] Rdot_i - omega_i x [0 I] R_i, (v_i)_z = [I 0] Rdot_i "
    "+ omega_i x slip_i -- Lopez Varela 2023 (27), (28), (63), (64)",
    "dSR-11": "(c_i)_z = a x c_i - slip_i, (J_G)_z = a x J_G - J_G a x "
    "-- Lopez Varela 2023 (26), (55), (56)",
    "dSR-41": "(wbar_l)_z by z = q_k, both of one joint: (w_l)_z has A_i (wbar_l)_z in addition to "
    "a x w_l -- Lopez Varela 2023, tables 6, 12 and 13",
    "dSR-42": "(s_l)_z = a x s_l + A_i (wbar_l')_z, (s_l)_zdot = A_i (wbar_l)_z; what is beside "
    "a x s_l within one joint alone -- Lopez Varela 2023 (59)",
}

Rates = Mapping[int, Mapping[int, Spatial[S]]]
"""Rdot_i by body and joint."""


def by_coordinate(system: System[S], known: Accumulated[S], rates: Rates[S], k: int) -> Variable[S]:
    """What z_k does.

    M_{i,j} does not depend on it where joint k carries j: it moves both bodies as one.  It may
    where both are Euler parameters of one joint.
    """
    tree, together = system.tree, system.together(k)
    moved = tree.carried_by(together[0])
    bodies = {i: coordinate_step(system, known, rates, i, k) for i in moved}
    rows = [(i, j) for i in tree.towards(bodies) for j in tree.path(i)]
    pairs = tuple(
        (i, j) for i, j in rows if k not in tree.path(j) or (j in together and k in system.turning)
    )
    return Variable(f"q_{k}", bodies, pairs)


def by_velocity(system: System[S], known: Accumulated[S], k: int) -> Variable[S]:
    """What zdot_k does: V_i is linear in it."""
    algebra = system.b.algebra
    nothing, none = zero_vector(algebra), zero_spatial(algebra)
    bodies: dict[int, BodySlope[S]] = {}
    for i in system.tree.carried_by(system.together(k)[0]):
        column = system.geometry[i].R[k]
        spin = _spin_by_velocity(system, i, k) if i in system.turning else None
        bodies[i] = BodySlope(
            b=none,
            arm=nothing,
            omega=column.angular,
            v=column.linear,
            c=nothing,
            J_G=zero_mass(algebra).J,
            arms=[nothing for _ in known.bodies[i].loads],
            m=algebra.zero,
            weight=nothing,
            spin=spin,
        )
    return Variable(f"qd_{k}", bodies, rate=k)


def coordinate_step(
    system: System[S], known: Accumulated[S], rates: Rates[S], i: int, k: int
) -> BodySlope[S]:
    """dSR-3, dSR-4, dSR-6, dSR-11 and the arms of dSR-15, of one body by z_k."""
    b, algebra, by = system.b, system.b.algebra, f"q_{k}"
    at, body, omega = system.geometry[i], known.bodies[i], system.motions[i].omega
    a, rate = at.R[k].angular, rates[i][k]
    slip, turning = _slip(system, i, k), skew(a, algebra)
    with b.step("derivatives of geometry", at.joint.name):
        d_arm = let_derivative(b, f"arm_{i}", _d_arm(system, i, k), by, "dSR-3")
        d_b = at.b.turned(a) + Spatial(at.w.cross(slip), zero_vector(algebra))
        if i in system.turning:
            d_b = _turning_axis(system, i, k, d_b)
        d_b = let_spatial_slope(b, f"b_{i}", MOTION, d_b, by, "dSR-4")
        d_c = let_derivative(b, f"c_{i}", a.cross(body.c) - slip, by, "dSR-11")
        d_J = turning @ body.J_G - body.J_G @ turning
        d_J = let_symmetric_slope(b, f"J_G_{i}", d_J, by, "dSR-11")
        d_arms = [
            let_derivative(b, f"arm_{i}_{load.number}", a.cross(load.arm) - slip, by, "dSR-15")
            for load in body.loads
        ]
    with b.step("derivatives of motion", at.joint.name):
        d_omega = let_derivative(b, f"omega_{i}", rate.angular - omega.cross(a), by, "dSR-6")
        d_v = let_derivative(b, f"v_{i}", rate.linear + omega.cross(slip), by, "dSR-6")
        spin = _spin_by_coordinate(system, i, k) if i in system.turning else None
    nothing = zero_vector(algebra)
    return BodySlope(d_b, d_arm, d_omega, d_v, d_c, d_J, d_arms, algebra.zero, nothing, spin)


def _turning_axis(system: System[S], i: int, k: int, d_b: Spatial[S]) -> Spatial[S]:
    """(b_i)_z of an Euler parameter by z_k, of which d_b is the part that turns with the body."""
    if k not in system.together(i):
        return d_b
    at, slope = system.geometry[i], system.turning[i].by_place(i, k)
    slope = let_derivative(system.b, f"wbar_{i}", slope, f"q_{k}", "dSR-41")
    return d_b + system.about_joint(i, at.A.apply(slope))


def _spin_by_coordinate(system: System[S], i: int, k: int) -> Spatial[S]:
    """How z_k changes what the rate of an Euler parameter's b_i has beside omega_i~ b_i."""
    at, s, a = system.geometry[i], system.motions[i].spin.angular, system.geometry[i].R[k].angular
    d_s = a.cross(s)
    if k in system.together(i):
        d_s = d_s + at.A.apply(system.turning[i].spin_by_place(i, k))
    d_s = let_derivative(system.b, f"s_{i}", d_s, f"q_{k}", "dSR-42")
    d_arm = a.cross(at.r - at.places.joint) + _slip(system, i, k)
    lag = Spatial(s.cross(d_arm), zero_vector(system.b.algebra))
    return system.about_joint(i, d_s) + lag


def _spin_by_velocity(system: System[S], i: int, k: int) -> Spatial[S]:
    """The same by zdot_k."""
    if k not in system.together(i):
        return zero_spatial(system.b.algebra)
    with system.b.step("derivatives of motion", system.geometry[i].joint.name):
        d_s = system.geometry[i].A.apply(system.turning[i].by_place(i, k))
        d_s = let_derivative(system.b, f"s_{i}", d_s, f"qd_{k}", "dSR-42")
    return system.about_joint(i, d_s)


def _slip(system: System[S], i: int, k: int) -> Vector[S]:
    """(r_i)_z - [I 0] R_i by z_k"""
    return system.point.slip(system.geometry[i].R[k].linear, system.b.algebra)


def _d_arm(system: System[S], i: int, k: int) -> Vector[S]:
    """(r_p)_z - (r_i)_z by z_k; 0 on the base, whose B_i acts on nothing."""
    at, p = system.geometry[i], system.geometry[i].joint.parent
    if p == BASE or not system.columns(i):
        return zero_vector(system.b.algebra)
    change = -at.R[k].linear - _slip(system, i, k)
    if k not in system.columns(i):
        change = change + system.geometry[p].R[k].linear + _slip(system, p, k)
    return change
