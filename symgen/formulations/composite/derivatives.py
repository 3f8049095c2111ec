"""Derivatives of the joint torques in closed form (Singh, Russell, Wensing 2022, IDSVA).

q_i moves the composite of all bodies outboard of joint i as one rigid body.  Three forces and one
moment of joint i give the change of its wrench; the motions S_j, Psi'_j and Psi''_j give the effect
of a joint j that carries joint i.  A pair of joints costs five scalar products.

Notation, added to that of `motion` and `bodies` (joint j stands on the path to
joint i, or is i itself; I, B and f are those of the composite of i)

==================  ================  ==========================================================
paper               code              meaning
==================  ================  ==========================================================
t_1                 t1_n_i, t1_f_i    I S_i: force per unit of qdd_i
t_2                 t2_n_i, t2_f_i    B S_i + I Psi'_i: half the force per unit of qd_i
t_3                 t3_n_i, t3_f_i    2 B Psi'_i + I Psi''_i + S_i x* f: force per unit of q_i
t_4                 t4_i              B^T S_i; its lower half is 0
==================  ================  ==========================================================

The paper's formulas let the wrench on a body turn with it.  A load does not, its axes are those of
the base and only its point is carried along: t_3 gets what moving the points does instead of
S_i x* of the loads, and the torque of the loads on joint i differs when a joint before it turns.

The Coriolis matrix C (Echeandia, Wensing 2021) is that of the Christoffel symbols of M.  Velocity
torques are C qd and quadratic in qd, so that C is half of their derivative by qd; F_1, F_2 and F_3
of that paper are t_2, t_1 and t_4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector
from symgen.algebra.spatial import Moments, RigidInertia, Spatial
from symgen.formulations.composite.bodies import (
    Coriolis,
    LoadEffects,
    LoadSum,
    Momentum,
    coriolis_step,
    force_step,
    inertia_step,
    load_effects_step,
    load_sweep,
    moments_step,
    momentum_step,
    own_body,
)
from symgen.formulations.composite.motion import (
    JointAxis,
    Place,
    Velocity,
    acceleration_sweep,
    base_sweep,
    place_sweep,
    velocity_sweep,
)
from symgen.formulations.joint_terms import with_drive_derivatives, with_joint_terms
from symgen.formulations.shared import flat, let_derivative, let_moments, let_spatial, square
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder, Results

NOTES = {
    "CO-14": "t_1 = I S_i, t_4 = B^T S_i, t_2 = B S_i + I Psi'_i "
    "-- Singh, Russell, Wensing 2022 (IDSVA)",
    "CO-15": "t_3 = 2 B Psi'_i + I Psi''_i + S_i x* f; less the moment moved_i of loads "
    "-- Singh, Russell, Wensing 2022 (IDSVA)",
    "CO-16": "tau_i = S_i . (f - loads)",
    "CO-19": "d tau_j/d qdd_i = S_j . t_1, both ways",
    "CO-20": "d tau_j/d qd_i = 2 S_j . t_2; d tau_i/d qd_j = 2 (t_4 . s_j + t_1 . Psi'_j) "
    "-- Singh, Russell, Wensing 2022 (IDSVA)",
    "CO-21": "d tau_j/d q_i = S_j . t_3; d tau_i/d q_j = 2 t_4 . Psi'_w_j + t_1 . Psi''_j "
    "- s_j . kept_i -- Singh, Russell, Wensing 2022 (IDSVA)",
    "CO-43": "C_ji = S_j . t_2, C_ij = t_4 . s_j + t_1 . Psi'_j: half of d tau/d qd "
    "-- Echeandia, Wensing 2021",
}

Slopes = dict[tuple[int, int], S]
"""(j, i) -> derivative of tau_j with respect to joint i; missing ones are 0"""


@dataclass(frozen=True)
class Composite(Generic[S]):
    """CO-13: all that joint i carries, as one rigid body."""

    inertia: RigidInertia[S]
    coriolis: Coriolis[S]


@dataclass(frozen=True)
class Rates(Generic[S]):
    """Responses of joint i that need no accelerations: CO-14."""

    t1: Spatial[S]
    t2: Spatial[S]
    t4: Vector[S]

    def by_carrier(self, axis: Spatial[S]) -> S:
        """Return half the torque of joint j per unit of qd_i, CO-20; `axis` is S_j."""
        return axis.dot(self.t2)

    def of_carrier(self, axis: Spatial[S], psi: Spatial[S]) -> S:
        """Return half the torque of joint i per unit of qd_j, CO-20; `axis` and `psi` are S_j and
        Psi'_j."""
        return self.t4.dot(axis.angular) + self.t1.dot(psi)


@dataclass(frozen=True)
class Bodies(Generic[S]):
    """How all links move and what they weigh, but for accelerations."""

    places: dict[int, Place[S]]
    velocities: Mapping[int, Velocity[S]]
    moments: Mapping[int, Moments[S]]
    momenta: Mapping[int, Momentum[S]]
    composites: Mapping[int, Composite[S]]
    loads: Mapping[int, LoadSum[S]]


@dataclass(frozen=True)
class Forces(Generic[S]):
    """Quantities that depend on accelerations: `rates` are Psi'', `forces` those of inertia on
    composites, `effects` those of the loads outboard of joints that have any, `tau` the torques of
    the bodies."""

    rates: Mapping[int, Spatial[S]]
    forces: Mapping[int, Spatial[S]]
    effects: Mapping[int, LoadEffects[S]]
    tau: Sequence[S]


@dataclass(frozen=True)
class FirstHalf(Generic[S]):
    """All that does not depend on accelerations."""

    bodies: Bodies[S]
    rates: Mapping[int, Rates[S]]
    by_qd: Slopes[S]
    by_qdd: Slopes[S]


@dataclass(frozen=True)
class SecondHalf(Generic[S]):
    """Torques of the rigid bodies, and derivatives by q."""

    tau: Sequence[S]
    by_q: Slopes[S]


def inverse_dynamics_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """tau (n,) and its derivatives with respect to q, qd and qdd, (n, n) each."""
    first = first_half(tree, b, state)
    second = second_half(tree, first, b, state.qd, state.qdd)
    tau = with_joint_terms(tree, b, state, second.tau)
    slopes = [square(tree, x) for x in (second.by_q, first.by_qd, first.by_qdd)]
    matrices = with_drive_derivatives(tree, b, state, (slopes[0], slopes[1], slopes[2]))
    by_argument = zip(("q", "qd", "qdd"), matrices, strict=True)
    return {"tau": tau, **{f"dtau_d{by}": flat(matrix) for by, matrix in by_argument}}


# -- sweeps over the tree ----------------------------------------------------------------------


def first_half(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> FirstHalf[S]:
    """Velocities, composites, and the derivatives by qd and qdd."""
    bodies = body_sweep(tree, b, state)
    places, velocities = bodies.places, bodies.velocities
    rates: dict[int, Rates[S]] = {}
    by_qd: Slopes[S] = {}
    by_qdd: Slopes[S] = {}
    for i in reversed(places):
        at = places[i]
        rates[i] = rates_step(at, velocities[i].psi, bodies.composites[i], b)
        for j in tree.path(i):
            pair = rates_pair_step(places[j], velocities[j].psi, at, rates[i], b)
            by_qdd[j, i] = by_qdd[i, j] = pair[0]  # the mass matrix is symmetric
            by_qd[j, i] = pair[1]
            if i != j:
                by_qd[i, j] = pair[2]
    return FirstHalf(bodies, rates, by_qd, by_qdd)


def second_half(
    tree: KinematicTree[S],
    first: FirstHalf[S],
    b: ProgramBuilder[S],
    qd: Sequence[S],
    qdd: Sequence[S],
) -> SecondHalf[S]:
    """Accelerations, forces, and the derivatives by q."""
    places, velocities = first.bodies.places, first.bodies.velocities
    forces = force_sweep(tree, first.bodies, b, qd, qdd)
    by_q: Slopes[S] = {}
    for i in reversed(places):
        at, effects = places[i], forces.effects.get(i)
        motion = velocities[i].psi, forces.rates[i]
        t3 = force_by_q_step(at, *motion, first.bodies.composites[i], forces.forces[i], effects, b)
        for j in tree.path(i):
            motion = velocities[j].psi, forces.rates[j]
            pair = q_pair_step(places[j], *motion, at, first.rates[i], t3, effects, b)
            by_q[j, i] = pair[0]
            if i != j:
                by_q[i, j] = pair[1]
    return SecondHalf(forces.tau, by_q)


def body_sweep(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Bodies[S]:
    """Velocities from the base outwards, composites from the leaves inwards."""
    places = place_sweep(tree, b, state.q)
    velocities = velocity_sweep(places, b, state.qd)
    moments = {j: moments_step(at, own_body(at.joint, b.algebra), b) for j, at in places.items()}
    momenta = {j: momentum_step(at, moments[j], velocities[j].v, b) for j, at in places.items()}
    sums: dict[int, Moments[S]] = {}
    moving: dict[int, Momentum[S]] = {}
    composites: dict[int, Composite[S]] = {}
    for i in reversed(places):
        at, children = places[i], children_of(tree, i)
        with b.step("composites", at.name):
            body = reduce(add, (sums[c] for c in children), moments[i])
            names = (f"m0_{i}C", f"h0_{i}C", f"E0_{i}C")
            sums[i] = Moments(*let_moments(b, names, (body.m, body.h, body.E), "CO-12"))
            motion = reduce(add, (moving[c] for c in children), momenta[i])
            K, f = b.let(f"K0_{i}C", motion.K, "CO-12"), b.let(f"f0_{i}C", motion.f, "CO-12")
            moving[i] = Momentum(K, f)
        composites[i] = Composite(inertia_step(at, sums[i], b), coriolis_step(at, moving[i], b))
    loads = load_sweep(tree, places, b, state.loads)
    return Bodies(places, velocities, moments, momenta, composites, loads)


def force_sweep(
    tree: KinematicTree[S],
    bodies: Bodies[S],
    b: ProgramBuilder[S],
    qd: Sequence[S],
    qdd: Sequence[S],
) -> Forces[S]:
    """Accelerations from the base outwards, forces from the leaves inwards."""
    places = bodies.places
    bases = base_sweep(tree, places, b)
    motions = acceleration_sweep(tree, places, bodies.velocities, b, qd, qdd, bases)
    forces: dict[int, Spatial[S]] = {}
    effects: dict[int, LoadEffects[S]] = {}
    tau: dict[int, S] = {}
    for i in reversed(places):
        at, load = places[i], bodies.loads.get(i)
        body = force_step(at, bodies.moments[i], motions[i].a, motions[i].W, b)
        force = reduce(add, (forces[c] for c in children_of(tree, i)), body)
        with b.step("composites", at.name):
            forces[i] = let_spatial(b, (f"n0_in_{i}C", f"f0_in_{i}C"), force, "CO-12")
        tau[i] = torque_step(at, forces[i], load.wrench if load else None, b)
        if load:
            effects[i] = load_effects_step(at, load, b)
    rates = {i: motion.rate for i, motion in motions.items()}
    return Forces(rates, forces, effects, [tau[i] for i in places])


def children_of(tree: KinematicTree[S], i: int) -> list[int]:
    """Return the joints that joint i carries directly."""
    return [joint.number for joint in tree.joints if joint.parent == i]


# -- steps, one joint each ---------------------------------------------------------------------


def unit_force_step(at: JointAxis[S], inertia: RigidInertia[S], b: ProgramBuilder[S]) -> Spatial[S]:
    """CO-14: t_1"""
    i = at.label
    with b.step("answers", at.name):
        return let_spatial(b, (f"t1_n_{i}", f"t1_f_{i}"), inertia.apply(at.axis), "CO-14")


def rates_step(
    at: JointAxis[S], psi: Spatial[S], composite: Composite[S], b: ProgramBuilder[S]
) -> Rates[S]:
    """Write t_1, t_2 and t_4: CO-14."""
    i, inertia, coriolis = at.label, composite.inertia, composite.coriolis
    t1 = unit_force_step(at, inertia, b)
    with b.step("answers", at.name):
        t2 = coriolis.apply(at.axis.angular) + inertia.apply(psi)
        t2 = let_spatial(b, (f"t2_n_{i}", f"t2_f_{i}"), t2, "CO-14")
        t4 = b.let(f"t4_{i}", coriolis.transposed(at.axis), "CO-14")
    return Rates(t1, t2, t4)


def force_by_q_step(
    at: JointAxis[S],
    psi: Spatial[S],
    rate: Spatial[S],
    composite: Composite[S],
    force: Spatial[S],
    loads: LoadEffects[S] | None,
    b: ProgramBuilder[S],
) -> Spatial[S]:
    """Write t_3: CO-15."""
    i = at.label
    with b.step("answers", at.name):
        turning = composite.coriolis.apply(psi.angular)
        t3 = composite.inertia.apply(rate) + at.axis.cross_force(force) + turning + turning
        if loads is not None:
            t3 = Spatial(t3.angular - loads.moved, t3.linear)
        return let_spatial(b, (f"t3_n_{i}", f"t3_f_{i}"), t3, "CO-15")


def torque_step(
    at: JointAxis[S], force: Spatial[S], load: Spatial[S] | None, b: ProgramBuilder[S]
) -> S:
    """Write the torque of a joint: CO-16."""
    with b.step("torque", at.name):
        wrench = force - load if load else force
        return b.let(f"tau_{at.label}", at.axis.dot(wrench), "CO-16")


# -- steps, one pair of joints each: j stands on the path to i, or is i ------------------------


def rates_pair_step(
    at_j: JointAxis[S], psi_j: Spatial[S], at_i: JointAxis[S], rates: Rates[S], b: ProgramBuilder[S]
) -> tuple[S, S, S]:
    """CO-19, CO-20: d tau_j/d qdd_i, d tau_j/d qd_i and d tau_i/d qd_j."""
    j, i, two = at_j.label, at_i.label, b.algebra.constant(2.0)
    with b.step("torque derivatives", at_i.name):
        by_qdd = let_derivative(b, f"tau_{j}", at_j.axis.dot(rates.t1), f"qdd_{i}", "CO-19")
        slope = rates.by_carrier(at_j.axis) * two
        by_qd = let_derivative(b, f"tau_{j}", slope, f"qd_{i}", "CO-20")
        if i == j:
            return by_qdd, by_qd, by_qd
        slope = rates.of_carrier(at_j.axis, psi_j) * two
        return by_qdd, by_qd, let_derivative(b, f"tau_{i}", slope, f"qd_{j}", "CO-20")


def q_pair_step(
    at_j: JointAxis[S],
    psi_j: Spatial[S],
    rate_j: Spatial[S],
    at_i: JointAxis[S],
    rates: Rates[S],
    t3: Spatial[S],
    loads: LoadEffects[S] | None,
    b: ProgramBuilder[S],
) -> tuple[S, S]:
    """CO-21: d tau_j/d q_i and d tau_i/d q_j."""
    j, i, two = at_j.label, at_i.label, b.algebra.constant(2.0)
    with b.step("torque derivatives", at_i.name):
        by_q = let_derivative(b, f"tau_{j}", at_j.axis.dot(t3), f"q_{i}", "CO-21")
        if i == j:
            return by_q, by_q
        slope = rates.t4.dot(psi_j.angular) * two + rates.t1.dot(rate_j)
        if loads is not None:
            slope = slope - at_j.axis.angular.dot(loads.kept)
        return by_q, let_derivative(b, f"tau_{i}", slope, f"q_{j}", "CO-21")


def coriolis_matrix(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """(n, n), both triangles; C_ii is 0 where joint i carries no other: M_ii is a constant."""
    bodies = body_sweep(tree, b, state)
    places, velocities = bodies.places, bodies.velocities
    carriers = {joint.parent for joint in tree.joints}
    entries: dict[tuple[int, int], S] = {}
    for i in reversed(places):
        at, path = places[i], tree.path(i)
        rates = rates_step(at, velocities[i].psi, bodies.composites[i], b)
        for j in path if i in carriers else path[:-1]:
            pair = coriolis_pair_step(places[j], velocities[j].psi, at, rates, b)
            entries[j, i], entries[i, j] = pair
    return {"coriolis_matrix": flat(square(tree, entries))}


def coriolis_pair_step(
    at_j: JointAxis[S], psi_j: Spatial[S], at_i: JointAxis[S], rates: Rates[S], b: ProgramBuilder[S]
) -> tuple[S, S]:
    """CO-43: C_ji and C_ij."""
    j, i = at_j.label, at_i.label
    with b.step("coriolis matrix", at_i.name):
        by_qd_i = b.let(f"C_{j}_{i}", rates.by_carrier(at_j.axis), "CO-43")
        if i == j:
            return by_qd_i, by_qd_i
        entry = rates.of_carrier(at_j.axis, psi_j)
        return by_qd_i, b.let(f"C_{i}_{j}", entry, "CO-43")
