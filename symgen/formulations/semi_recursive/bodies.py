"""Masses and forces of every body at its reference point, and what is accumulated from them.

Notation, added to that of `kinematics.py`

======================  ================  ======================================================
paper                   code              meaning
======================  ================  ======================================================
J_i^G                   J_G_i             inertia about the centre of mass, base axes
--                      c_i               r_G - r_i
M_i                     mc_i, J_i         mass matrix [[m I, -mc~], [mc~, J]] about r_i, m the mass
h, t                    h_i, t_i          omega~ c; m omega~ h
Q_i^(I)                 Q_I_i             force of inertia that depends on velocities: Q_I_i_f and
                                          Q_I_i_n
f_j, n_j                weight_i          external force and couple: m g at r_G, and the loads
r_j - r_i               arm_i_e           from r_i to the point of load e
Q_i^(e)                 Q_E_i             all external forces
M_i^Sigma               m_sum_i,          mass matrix of all that body i carries, as one
                        mc_sum_i, J_sum_i
Q_i^Sigma               Q_sum_i           forces on all that body i carries, less M Vdot of it
M_i^Sigma b_i           P_i               6x1, momentum of what joint i carries for its velocity 1
M_{i,j}                 M_i_j             entry of the mass matrix, j before or at i
Q_i^d                   --                -tau_i where zddot = 0
======================  ================  ======================================================

A force of (22b) acts with its moment about the reference point, [f; n + (r_j - r_i)~ f]; n is a
couple.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector, zero_vector
from symgen.algebra.spatial import RigidInertia, Spatial
from symgen.formulations.semi_recursive.kinematics import (
    Geometry,
    System,
    let_mass,
    returned,
)
from symgen.formulations.shared import FORCE, let_spatial, let_symmetric, lettered
from symgen.formulations.state import Wrench

NOTES = {
    "SR-11": "c_i = r_G - r_i, J_G = A_i J_G^i A_i^T -- Lopez Varela 2023, after (35)",
    "SR-12": "M_i = D_i^T [[m I, 0], [0, J_G]] D_i, D_i = [[I, -c_i x], [0, I]]: mc_i = m c_i, "
    "J_i = J_G - m c_i x c_i x -- Lopez Varela 2023 (75)",
    "SR-13": "h_i = omega_i x c_i, t_i = m omega_i x h_i -- Lopez Varela 2023 (30a), (30c)",
    "SR-14": "Q_I = [-t_i; -omega_i x J_G omega_i - c_i x t_i] -- Lopez Varela 2023 (22c)",
    "SR-15": "Q_E = sum [f; n + (r_j - r_i) x f]; gravity is m g at r_G -- Lopez Varela 2023 (22b)",
    "SR-16": "M_sum_i = M_i + sum_s B_s^T M_sum_s B_s -- Lopez Varela 2023 (21)",
    "SR-17": "Q_sum_i = Q_E + Q_I - M_i Vdot_i + sum_s B_s^T Q_sum_s; Vdot_i is d_sum_i where "
    "qdd = 0 -- Lopez Varela 2023 (22a), (23b)",
    "SR-18": "P_i = M_sum_i b_i, M_i_j = P_i . b_i_j -- Lopez Varela 2023, before (20)",
    "SR-19": "tau_i = -b_i^T Q_sum_i: M qdd - Q, and -Q_i where qdd = 0 "
    "-- Lopez Varela 2023 (7), (8), (23a)",
    "d SR-11": "(c_i)_x = (r_G)_x - (r_i)_x, (J_G)_x -- Lopez Varela 2023 (26), (55), (57)",
    "d SR-12": "(M_i)_x -- Lopez Varela 2023 (76), (77)",
    "d SR-13": "(h_i)_x, (t_i)_x -- Lopez Varela 2023 (30b), (35)",
    "d SR-14": "(Q_I)_x -- Lopez Varela 2023 (29c), (32c), (34c), (78c), (79c), (81b), (82c)",
    "d SR-15": "(Q_E)_x -- Lopez Varela 2023 (29b), (32b), (34b), (78b), (79b)",
    "d SR-17": "(Q_sum_i)_x: -K_sum_i, -C_sum_i where qdd = 0 "
    "-- Lopez Varela 2023 (25b), (31b), (33b), (80b), (83)",
    "d SR-19": "(tau_i)_z = (M_z qdd + K)_i, (tau_i)_zdot = C_i, (tau_i)_rho = "
    "(M_rho qdd - Q_rho)_i -- Lopez Varela 2023 (14a), (14c), (14d), (20), (25a), (31a), (33a)",
}


@dataclass(frozen=True)
class Load(Generic[S]):
    """One of the model's loads, `number` from 1, at `arm` from the reference point of its body."""

    number: int
    point: Vector[S]
    arm: Vector[S]
    wrench: Wrench[S]


@dataclass(frozen=True)
class Body(Generic[S]):
    """SR-11, SR-12: mass and inertia of one body, its weight and loads."""

    m: S
    c: Vector[S]
    J_G: Matrix[S]
    M: RigidInertia[S]
    weight: Vector[S]
    loads: Sequence[Load[S]]


@dataclass(frozen=True)
class Inertial(Generic[S]):
    """Inertia and bias of a body: SR-13, SR-14."""

    h: Vector[S]
    t: Vector[S]
    Q: Spatial[S]


@dataclass(frozen=True)
class Masses(Generic[S]):
    """SR-16 and SR-18, by body; `entries` holds M_{i,j} for j before or at i."""

    M_sum: Mapping[int, RigidInertia[S]]
    P: Mapping[int, Spatial[S]]
    entries: Mapping[tuple[int, int], S]


@dataclass(frozen=True)
class Forces(Generic[S]):
    """SR-13 to SR-17, by body."""

    inertial: Mapping[int, Inertial[S]]
    external: Mapping[int, Spatial[S]]
    Q_sum: Mapping[int, Spatial[S]]


# -- steps, one body each ----------------------------------------------------------------------


def body_step(system: System[S], at: Geometry[S]) -> Body[S]:
    """SR-11, SR-12, and weight and arms of SR-15"""
    i, b, body = at.joint.number, system.b, at.joint.body
    with b.step("bodies", at.joint.name):
        c = b.let(f"c_{i}", at.places.centre - at.r, "SR-11")
        turned = at.A @ body.inertia @ at.A.transposed
        J_G = let_symmetric(b, f"J_G_{i}", turned, "SR-11")
        central = RigidInertia(body.mass, zero_vector(b.algebra), J_G)
        M = let_mass(b, (f"m_{i}", f"mc_{i}", f"J_{i}"), central.moved(c), "SR-12")
        weight = b.let(f"weight_{i}", system.tree.gravity * M.m, "SR-15")
    loads: list[Load[S]] = []
    pairs = zip(system.tree.loads, system.state.loads, strict=True)
    for e, (load, wrench) in enumerate(pairs, start=1):
        if load.body == i:
            arm = at.places.origin - at.r + at.A.apply(load.point)
            with b.step("loads", at.joint.name):
                loads.append(Load(e, load.point, b.let(f"arm_{i}_{e}", arm, "SR-15"), wrench))
    return Body(M.m, c, J_G, M, weight, loads)


# -- sweeps over the tree ----------------------------------------------------------------------


def bodies_sweep(system: System[S]) -> dict[int, Body[S]]:
    """Write SR-11, SR-12 of all bodies."""
    return {i: body_step(system, at) for i, at in system.geometry.items()}


def masses_sweep(
    system: System[S], bodies: Mapping[int, Body[S]], R: Mapping[int, Mapping[int, Spatial[S]]]
) -> Masses[S]:
    """SR-16 and SR-18; `R` are the columns of SR-5."""
    b = system.b
    M_sum: dict[int, RigidInertia[S]] = {}
    for i in sorted(bodies, reverse=True):
        M = bodies[i].M
        for s in system.children(i):
            M = M + M_sum[s].moved(-system.geometry[s].arm)
        with b.step("accumulation", system.geometry[i].joint.name):
            M_sum[i] = let_mass(b, (f"m_sum_{i}", f"mc_sum_{i}", f"J_sum_{i}"), M, "SR-16")
    P: dict[int, Spatial[S]] = {}
    entries: dict[tuple[int, int], S] = {}
    for i, at in system.geometry.items():
        with b.step("mass matrix", at.joint.name):
            P[i] = let_spatial(b, lettered(f"P_{i}", FORCE), M_sum[i].apply(at.b), "SR-18")
            for j in system.tree.path(i):
                entries[i, j] = b.let(f"M_{i}_{j}", P[i].dot(R[i][j]), "SR-18")
    return Masses(M_sum, P, entries)


def forces_sweep(system: System[S], bodies: Mapping[int, Body[S]]) -> Forces[S]:
    """SR-13 to SR-15 and SR-17."""
    b = system.b
    inertial: dict[int, Inertial[S]] = {}
    external: dict[int, Spatial[S]] = {}
    Q_sum: dict[int, Spatial[S]] = {}
    for i in sorted(bodies, reverse=True):
        at, body, motion = system.geometry[i], bodies[i], system.motions[i]
        omega = motion.omega
        with b.step("forces", at.joint.name):
            h = b.let(f"h_{i}", omega.cross(body.c), "SR-13")
            t = b.let(f"t_{i}", omega.cross(h) * body.m, "SR-13")
            spin = -omega.cross(body.J_G.apply(omega)) - body.c.cross(t)
            Q_I = let_spatial(b, lettered(f"Q_I_{i}", FORCE), Spatial(spin, -t), "SR-14")
            force, moment = body.weight, body.c.cross(body.weight)
            for load in body.loads:
                force = force + load.wrench.force
                moment = moment + load.wrench.moment + load.arm.cross(load.wrench.force)
            Q_E = let_spatial(b, lettered(f"Q_E_{i}", FORCE), Spatial(moment, force), "SR-15")
        inertial[i], external[i] = Inertial(h, t, Q_I), Q_E
        total = Q_E + Q_I - body.M.apply(motion.V_dot)
        for s in system.children(i):
            total = total + returned(system.geometry[s].arm, Q_sum[s])
        with b.step("accumulation", at.joint.name):
            Q_sum[i] = let_spatial(b, lettered(f"Q_sum_{i}", FORCE), total, "SR-17")
    return Forces(inertial, external, Q_sum)


def torques(system: System[S], forces: Forces[S], name: str = "tau") -> list[S]:
    """SR-19, one entry per joint, without joint terms."""
    tau: list[S] = []
    for i, at in system.geometry.items():
        with system.b.step("torques", at.joint.name):
            tau.append(system.b.let(f"{name}_{i}", -at.b.dot(forces.Q_sum[i]), "SR-19"))
    return tau
