"""Derivatives of all that is accumulated, by a coordinate or by a parameter.

What differs is how the kinematics of a body depends on the variable x: `by_coordinates.py` and
`by_parameters.py` say it, as a `BodySlope` of every body that it moves.  From there on the rules of
the product are the same, line by line those of `kinematics.py` and `bodies.py`.  The paper writes
them out twice: K_i^Sigma of (25) to (30) is -(Q_i^Sigma)_z, and (33) to (35) is (Q_i^Sigma)_rho.

Notation beyond that of `bodies.py`

======================  ================  ======================================================
paper                   code              meaning
======================  ================  ======================================================
(.)_z, (.)_rho          d_(.)_dx          derivatives with respect to one coordinate or parameter x
in (30b), (32c)         T_i               3x3, -m (h~ + omega~ c~): t_x = T_i omega_x + ..
in (29c), (32c)         N_i               3x3, omega~ J_G - (J_G omega)~
======================  ================  ======================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector, skew, zero_vector
from symgen.formulations.semi_recursive.bodies import Accumulated, Body, Inertial
from symgen.formulations.semi_recursive.kinematics import Geometry, Motion, System
from symgen.formulations.semi_recursive.spatial import (
    FORCE,
    MOTION,
    Mass,
    Spatial,
    carried,
    carried_slope,
    let_mass_slope,
    let_spatial_slope,
    moved_slope,
    returned,
    returned_slope,
    second_moment,
    zero_mass,
    zero_spatial,
)
from symgen.formulations.shared import let_derivative
from symgen.kinematics.tree import BASE
from symgen.program.builder import ProgramBuilder

NOTES = {
    "SR-20": "T_i = -m (h_i x + omega_i x c_i x), N_i = omega_i x J_G - (J_G omega_i) x: what "
    "omega_x does to t_i and to omega_i x J_G omega_i -- Lopez Varela 2023 (29c), (30b), (32c)",
    "dSR-3": "(arm_i)_x = (r_p)_x - (r_i)_x: all of (B_i)_x -- Lopez Varela 2023 (60), (62)",
    "dSR-5": "(b_i_j)_x = (B_i)_x b_p_j + B_i (b_p_j)_x -- Lopez Varela 2023, after (20)",
    "dSR-7": "(arm_dot_i)_x = (v_p)_x - (v_i)_x: all of (Bdot_i)_x; (b_dot_i)_x = (omega_i)_x x "
    "b_i + omega_i x (b_i)_x -- Lopez Varela 2023 (59), (61), (63), (64)",
    "dSR-8": "(d_i)_x = [arm_dot_i x (omega_p)_x - omega_p x (arm_dot_i)_x; 0] + (b_dot_i)_x qd_i, "
    "by qd_i also + b_dot_i -- Lopez Varela 2023 (65), (68)",
    "dSR-9": "(d_sum_i)_x = (d_i)_x + (B_i)_x d_sum_p + B_i (d_sum_p)_x "
    "-- Lopez Varela 2023 (67), (69)",
    "dSR-12": "(M_i)_x = [[m_x I, -(m c)_x x], [(m c)_x x, (J_G)_x - (m c x c x)_x]] "
    "-- Lopez Varela 2023 (76), (77)",
    "dSR-13": "(t_i)_x = T_i (omega_i)_x + m omega_i x omega_i x (c_i)_x + m_x omega_i x h_i "
    "-- Lopez Varela 2023 (30b), (35)",
    "dSR-14": "(Q_I)_x = [-(t_i)_x; -N_i (omega_i)_x - omega_i x (J_G)_x omega_i - (c_i)_x x t_i "
    "- c_i x (t_i)_x] -- Lopez Varela 2023 (29c), (32c), (34c)",
    "dSR-15": "(Q_E)_x = sum [f_x; (r_j - r_i)_x x f + (r_j - r_i) x f_x]; of forces only m g has "
    "an f_x -- Lopez Varela 2023 (29b), (34b)",
    "dSR-16": "(M_sum_i)_x = (M_i)_x + sum_s (B_s^T M_sum_s B_s)_x -- Lopez Varela 2023 (21)",
    "dSR-17": "(Q_sum_i)_x = (Q_E + Q_I)_x - (M_i)_x d_sum_i - M_i (d_sum_i)_x "
    "+ sum_s (B_s^T (Q_sum_s)_x + (B_s^T)_x Q_sum_s) -- Lopez Varela 2023 (25b), (31b), (33b)",
    "dSR-18": "(M_i_j)_x = (P_i)_x . b_i_j + P_i . (b_i_j)_x, (P_i)_x = (M_sum_i)_x b_i "
    "+ M_sum_i (b_i)_x -- Lopez Varela 2023 (20)",
    "dSR-19": "(Q_i)_x = b_i^T (Q_sum_i)_x + (b_i^T)_x Q_sum_i -- Lopez Varela 2023 (25a), (31a), "
    "(33a)",
}


@dataclass(frozen=True)
class BodySlope(Generic[S]):
    """How a body depends on x: `omega`, `v`, `b`, `arm` and so on are derivatives.

    `m`, `J_G`, `c` and `arms` are those of mass, inertia, of r_G - r_i and of the arms of loads,
    `weight` is that of m g.  What a variable leaves alone is 0.
    """

    b: Spatial[S]
    arm: Vector[S]
    omega: Vector[S]
    v: Vector[S]
    c: Vector[S]
    J_G: Matrix[S]
    arms: Sequence[Vector[S]]
    m: S
    weight: Vector[S]
    spin: Spatial[S] | None = None
    """Of an Euler parameter, what its b_i has in the rate beside omega_i~ b_i."""


@dataclass(frozen=True)
class Variable(Generic[S]):
    """One variable x, called `by`, and what it does.

    `bodies` are those that it moves or changes, parents before children; `pairs` are the entries
    M_{i,j} that may depend on it, j before or at i.  `rate` is the number of the joint whose
    velocity it is, 0 if it is none.
    """

    by: str
    bodies: Mapping[int, BodySlope[S]]
    pairs: Sequence[tuple[int, int]] = ()
    rate: int = 0


@dataclass(frozen=True)
class Responses(Generic[S]):
    """SR-20 of one body, which serves every variable."""

    T: Matrix[S]
    N: Matrix[S]


@dataclass(frozen=True)
class Slopes(Generic[S]):
    """Derivatives by one variable: of M_{i,j}, j before or at i, and of Q_i; the others are 0."""

    entries: Mapping[tuple[int, int], S]
    Q: Mapping[int, S]


# -- steps, one body each ----------------------------------------------------------------------


def responses_step(
    at: Geometry[S], body: Body[S], forces: Inertial[S], motion: Motion[S], b: ProgramBuilder[S]
) -> Responses[S]:
    """SR-20"""
    i, algebra = at.joint.number, b.algebra
    turning = skew(motion.omega, algebra)
    spin = skew(body.J_G.apply(motion.omega), algebra)
    swing = (skew(forces.h, algebra) + turning @ skew(body.c, algebra)) * -body.m
    with b.step("responses", at.joint.name):
        T = b.let(f"T_{i}", swing, "SR-20")
        return Responses(T, b.let(f"N_{i}", turning @ body.J_G - spin, "SR-20"))


def d_mass_step(i: int, body: Body[S], d: BodySlope[S], by: str, b: ProgramBuilder[S]) -> Mass[S]:
    """dSR-12"""
    twice = b.algebra.constant(2.0) * body.m
    about = d.J_G + second_moment(body.c, d.c, b.algebra) * twice
    about = about + second_moment(body.c, body.c, b.algebra) * d.m
    value = Mass(d.m, d.c * body.m + body.c * d.m, about)
    return let_mass_slope(b, (f"m_{i}", f"mc_{i}", f"J_{i}"), value, by, "dSR-12")


def d_motion_step(
    system: System[S], i: int, parent: tuple[Spatial[S], Spatial[S]], x: Variable[S]
) -> Spatial[S]:
    """dSR-7 to dSR-9: (d_sum_i)_x, from (V_p)_x and (d_sum_p)_x in `parent`."""
    b, algebra, at, here = system.b, system.b.algebra, system.geometry[i], system.motions[i]
    p, by, d = system.motions[at.joint.parent], x.by, x.bodies[i]
    d_V, d_before = parent
    d_arm_dot = zero_vector(algebra) if at.joint.parent == BASE else d_V.linear - d.v
    d_arm_dot = let_derivative(b, f"arm_dot_{i}", d_arm_dot, by, "dSR-7")
    value = carried_slope(here.arm_dot, d_V, algebra) + carried_slope(d_arm_dot, p.V, algebra)
    for j in system.columns(i):
        d_b_dot = system.geometry[j].b.turned(d.omega) + x.bodies[j].b.turned(here.omega)
        if (spin := x.bodies[j].spin) is not None:
            d_b_dot = d_b_dot + spin
        d_b_dot = let_spatial_slope(b, f"b_dot_{j}", MOTION, d_b_dot, by, "dSR-7")
        rate = algebra.one if x.rate == j else algebra.zero
        value = value + d_b_dot * system.state.qd[j - 1] + system.motions[j].b_dot * rate
    value = let_spatial_slope(b, f"d_{i}", MOTION, value, by, "dSR-8")
    value = value + carried_slope(d.arm, p.d_sum, algebra) + carried(at.arm, d_before)
    return let_spatial_slope(b, f"d_sum_{i}", MOTION, value, by, "dSR-9")


def d_force_step(
    system: System[S],
    i: int,
    known: Accumulated[S],
    response: Responses[S],
    d: BodySlope[S],
    by: str,
) -> Spatial[S]:
    """dSR-13 to dSR-15: (Q_E + Q_I)_x"""
    b, body, omega = system.b, known.bodies[i], system.motions[i].omega
    forces = known.inertial[i]
    d_t = response.T.apply(d.omega) + omega.cross(omega.cross(d.c)) * body.m
    d_t = let_derivative(b, f"t_{i}", d_t + omega.cross(forces.h) * d.m, by, "dSR-13")
    d_n = response.N.apply(d.omega) + omega.cross(d.J_G.apply(omega))
    d_n = -d_n - d.c.cross(forces.t) - body.c.cross(d_t)
    inertial = let_spatial_slope(b, f"Q_I_{i}", FORCE, Spatial(-d_t, d_n), by, "dSR-14")
    moment = d.c.cross(body.weight) + body.c.cross(d.weight)
    for d_arm, load in zip(d.arms, body.loads, strict=True):
        moment = moment + d_arm.cross(load.wrench.force)
    external = Spatial(d.weight, moment)
    return inertial + let_spatial_slope(b, f"Q_E_{i}", FORCE, external, by, "dSR-15")


# -- sweeps over the tree ----------------------------------------------------------------------


def responses_sweep(system: System[S], known: Accumulated[S]) -> dict[int, Responses[S]]:
    """SR-20 of all bodies."""
    return {
        i: responses_step(at, known.bodies[i], known.inertial[i], system.motions[i], system.b)
        for i, at in system.geometry.items()
    }


def d_accumulated(
    system: System[S],
    known: Accumulated[S],
    responses: Mapping[int, Responses[S]],
    x: Variable[S],
) -> Slopes[S]:
    """The derivatives of the mass matrix and of the forces by one variable."""
    d_own: dict[int, Mass[S]] = {}
    for i, d in x.bodies.items():
        with system.b.step("derivatives of bodies", system.geometry[i].joint.name):
            d_own[i] = d_mass_step(i, known.bodies[i], d, x.by, system.b)
    entries = d_mass_matrix(system, known, d_own, x)
    return Slopes(entries, d_forces(system, known, responses, d_own, x))


def d_mass_matrix(
    system: System[S], known: Accumulated[S], d_own: Mapping[int, Mass[S]], x: Variable[S]
) -> dict[tuple[int, int], S]:
    """dSR-5, dSR-16 and dSR-18 for the pairs of `x`."""
    if not x.pairs:
        return {}
    b, at = system.b, system.geometry
    d_sum = d_sums_of_masses(system, known, d_own, x)
    d_R, d_P = d_columns(system, x), dict[int, Spatial[S]]()
    entries: dict[tuple[int, int], S] = {}
    for i, j in x.pairs:
        with b.step("derivatives of the mass matrix", at[i].joint.name):
            if i not in d_P:
                value = d_sum[i].times(at[i].b)
                if i in x.bodies:
                    value = value + known.M_sum[i].times(x.bodies[i].b)
                d_P[i] = let_spatial_slope(b, f"P_{i}", FORCE, value, x.by, "dSR-18")
            entry = d_P[i].dot(at[i].R[j])
            if (i, j) in d_R:
                entry = entry + known.P[i].dot(d_R[i, j])
            entries[i, j] = let_derivative(b, f"M_{i}_{j}", entry, x.by, "dSR-18")
    return entries


def d_sums_of_masses(
    system: System[S], known: Accumulated[S], d_own: Mapping[int, Mass[S]], x: Variable[S]
) -> dict[int, Mass[S]]:
    """dSR-16 of all bodies that carry one that `x` moves."""
    b, algebra = system.b, system.b.algebra
    nothing = zero_vector(algebra)
    d_sum: dict[int, Mass[S]] = {}
    for i in reversed(system.tree.towards(x.bodies)):
        value = d_own.get(i) or zero_mass(algebra)
        for s in filter(d_sum.__contains__, system.children(i)):
            arm, d_arm = system.geometry[s].arm, x.bodies[s].arm if s in x.bodies else nothing
            value = value + moved_slope(arm, d_arm, known.M_sum[s], d_sum[s], algebra)
        with b.step("derivatives of masses", system.geometry[i].joint.name):
            names = (f"m_sum_{i}", f"mc_sum_{i}", f"J_sum_{i}")
            d_sum[i] = let_mass_slope(b, names, value, x.by, "dSR-16")
    return d_sum


def d_columns(system: System[S], x: Variable[S]) -> dict[tuple[int, int], Spatial[S]]:
    """dSR-5: the (b_{i,j})_x that the pairs of `x` need, of the bodies that it moves."""
    b, wanted = system.b, set(x.pairs)
    d_R: dict[tuple[int, int], Spatial[S]] = {}
    for i, d in x.bodies.items():
        at = system.geometry[i]
        with b.step("derivatives of geometry", at.joint.name):
            for j in at.R:
                if (i, j) not in wanted:
                    continue
                if i == j:
                    d_R[i, i] = d.b
                    continue
                p = at.joint.parent
                value = carried_slope(d.arm, system.geometry[p].R[j], b.algebra)
                if (p, j) in d_R:
                    value = value + carried(at.arm, d_R[p, j])
                d_R[i, j] = let_spatial_slope(b, f"b_{i}_{j}", MOTION, value, x.by, "dSR-5")
    return d_R


def d_forces(
    system: System[S],
    known: Accumulated[S],
    responses: Mapping[int, Responses[S]],
    d_own: Mapping[int, Mass[S]],
    x: Variable[S],
) -> dict[int, S]:
    """dSR-7 to dSR-9, dSR-13 to dSR-15, dSR-17 and dSR-19: (Q_i)_x by body."""
    b, algebra, geometry = system.b, system.b.algebra, system.geometry
    d_acceleration = d_motion_sweep(system, x)
    d_sum: dict[int, Spatial[S]] = {}
    for i in reversed(system.tree.towards(x.bodies)):
        joint, value = geometry[i].joint, zero_spatial(algebra)
        with b.step("derivatives of forces", joint.name):
            if i in x.bodies:
                value = d_force_step(system, i, known, responses[i], x.bodies[i], x.by)
                value = value - d_own[i].times(system.motions[i].d_sum)
                value = value - known.bodies[i].M.times(d_acceleration[i])
            for s in filter(d_sum.__contains__, system.children(i)):
                value = value + returned(geometry[s].arm, d_sum[s])
                if s in x.bodies:
                    value = value + returned_slope(x.bodies[s].arm, known.Q_sum[s], algebra)
            d_sum[i] = let_spatial_slope(b, f"Q_sum_{i}", FORCE, value, x.by, "dSR-17")
    d_Q: dict[int, S] = {}
    for i, d_total in d_sum.items():
        entry = geometry[i].b.dot(d_total)
        if i in x.bodies:
            entry = entry + x.bodies[i].b.dot(known.Q_sum[i])
        with b.step("derivatives of forces", geometry[i].joint.name):
            d_Q[i] = let_derivative(b, f"Q_{i}", entry, x.by, "dSR-19")
    return d_Q


def d_motion_sweep(system: System[S], x: Variable[S]) -> dict[int, Spatial[S]]:
    """dSR-7 to dSR-9: (d_sum_i)_x of the bodies that `x` moves."""
    algebra = system.b.algebra
    still = zero_spatial(algebra)
    d_sum: dict[int, Spatial[S]] = {}
    for i in x.bodies:
        joint, before = system.geometry[i].joint, x.bodies.get(system.geometry[i].joint.parent)
        if not system.columns(i):
            d_sum[i] = d_sum[joint.parent]
            continue
        d_V = Spatial(before.v, before.omega) if before else still
        given = d_V, d_sum.get(joint.parent, still)
        with system.b.step("derivatives of motion", joint.name):
            d_sum[i] = d_motion_step(system, i, given, x)
    return d_sum
