"""Second derivatives of the joint torques, contracted with multipliers: the Hessian of
multipliers . tau.

Multipliers are velocities of a virtual motion V, in which joint i moves at the rate lambda_i; then
multipliers . tau is the virtual power of all forces, one number, and its gradient is made of what
the composite of joint i has (sums over the bodies outboard of it)

    by q_i:    p . Psi''_i + 2 b . Psi'_i + f . Omega_i - loads,
    by qd_i:   2 (p . Psi'_i + b . S_i),
    by qdd_i:  p . S_i.

When joint j turns (it carries joint i, or is joint i), all that is outboard of it turns along, and
changes otherwise only because the motion that it inherits does not: V by Omega_j, v by Psi'_j, the
acceleration by Psi''_j - v x Psi'_j.  So a pair of joints costs nine scalar products instead of
the five of the first derivatives, whatever the multipliers are.  The tensors of second derivatives
themselves are in Singh, Russell, Wensing 2024 ("On second-order derivatives of rigid-body
dynamics"); they are never formed here.

Notation, added to that of `motion`, `bodies` and `derivatives` (integrals over the
bodies outboard of joint i, r from P to a particle, v and V its real and virtual velocities)

==================  ======================  ====================================================
symbol              code                    meaning
==================  ======================  ====================================================
lambda_i            multipliers_i           rate of joint i in the virtual motion
V_i                 V_w_i, V_v_i            its spatial velocity
Omega_i             Omega_w_i, Omega_v_i    V_p x S_i
p                   p_n_iC, p0_iC           momentum of the virtual motion
B~                  Bv0_iC                  its Coriolis matrix, tr(K~) 1 - K~; K~ = int V r^T dm
b                   b0_iC                   int v x V dm
y_1                 y1_n_i, y1_f_i          I Omega_i + S_i x* p: force per unit of q_i, at V
y_2                 y2_i                    B^T Omega_i - B~^T Psi'_i + s x b; its lower half is 0
y_3                 y3_i                    -B~^T S_i; its lower half is 0
A_iL                A0_iL                   sum of W N^T + V F^T over the loads, W = V_w, V at r
z                   z_i                     moment of the loads per unit of q_i, at V
H_...               H_q_j_q_i and so on     entries of the Hessian
==================  ======================  ====================================================

Columns of loops, added to those of `loops` (joint i)

==========================  ====================================================================
V_w, V_v; Omega_w, Omega_v  virtual motion
Kv0, p0, b0                 virtual momentum of the body, then of the composite
y1, y2, y3, z               responses of joint i to it; z where the robot has loads
d2_drive_dqd                curvature of friction
==========================  ====================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector, outer, zero_vector
from symgen.algebra.spatial import Moments, Spatial, trace_less, twice_skew_part
from symgen.formulations.composite.bodies import (
    Coriolis,
    LoadSum,
    Momentum,
    coriolis_step,
    load_effects_step,
    momentum_step,
)
from symgen.formulations.composite.derivatives import (
    Composite,
    body_sweep,
    children_of,
    force_by_q_step,
    force_sweep,
    rates_step,
)
from symgen.formulations.composite.motion import JointAxis, Place
from symgen.formulations.composite.rolled import (
    axis,
    composite,
    loads_beyond,
    moments_of,
    of_body,
    psi,
    rate,
    to_q,
    write_kinematics,
)
from symgen.formulations.joint_terms import friction_curvatures, with_diagonal
from symgen.formulations.rolled import Entries, RolledBuilder, StraightBuilder, entries_of
from symgen.formulations.shared import flat, let_spatial, square
from symgen.formulations.state import State, Wrench
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder, Results
from symgen.program.rolled import Column

NOTES = {
    "CO-60": "V_i = V_p + S_i lambda_i and Omega_i = V_p x S_i: the virtual motion",
    "CO-61": "K~ = W x E + U h^T, p = m U + W x h, b = int v x V dm: of one body, of composites",
    "CO-62": "y_1 = I Omega + S x* p, y_2 = B^T Omega - B~^T Psi' + s x b, y_3 = -B~^T S",
    "CO-63": "A = W N^T + V F^T of a load, V at its point; sums over loads outboard of the joint",
    "CO-64": "z = Omega_w x N + L Omega_w + Omega_v x F + (A - tr(A) 1) s",
    "CO-65": "H_qj_qi = Omega_j . t_3 + Psi''_j . y_1 + 2 Psi'_w_j . y_2 - s_j . z",
    "CO-66": "H_qj_qdi = 2 (Omega_j . t_2 + Psi'_w_j . y_3), "
    "H_qi_qdj = 2 (Psi'_j . y_1 + s_j . y_2)",
    "CO-67": "H_qj_qddi = Omega_j . t_1, H_qi_qddj = S_j . y_1",
    "CO-68": "H_qdj_qdi = 2 s_j . y_3; on the diagonal the curvature of friction",
}

BLOCKS = ("q_q", "q_qd", "q_qdd", "qd_qd")
"""Blocks of the Hessian that are not 0 for every robot."""

Blocks = dict[str, dict[tuple[int, int], S]]
"""Map of a block to its entries by (row, column); missing entries are 0."""


@dataclass(frozen=True)
class VirtualMotion(Generic[S]):
    """Virtual motion of a link: CO-60."""

    V: Spatial[S]
    Omega: Spatial[S]


@dataclass(frozen=True)
class VirtualMomentum(Generic[S]):
    """Virtual momentum of a body: CO-61."""

    moving: Momentum[S]
    b: Vector[S]

    def __add__(self, other: VirtualMomentum[S]) -> VirtualMomentum[S]:
        return VirtualMomentum(self.moving + other.moving, self.b + other.b)


@dataclass(frozen=True)
class JointMotion(Generic[S]):
    """How joint j, and what it carries, is displaced: S_j, Psi'_j, Psi''_j, Omega_j."""

    axis: Spatial[S]
    psi: Spatial[S]
    rate: Spatial[S]
    Omega: Spatial[S]


@dataclass(frozen=True)
class Responses(Generic[S]):
    """Responses of joint i to displacements of a joint that carries it: CO-14, CO-15, CO-62,
    and of loads CO-64."""

    t1: Spatial[S]
    t2: Spatial[S]
    t3: Spatial[S]
    y1: Spatial[S]
    y2: Vector[S]
    y3: Vector[S]
    z: Vector[S] | None


def inverse_dynamics_hessian(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """Four blocks, (n, n) each."""
    bodies = body_sweep(tree, b, state)
    forces = force_sweep(tree, bodies, b, state.qd, state.qdd)
    virtual = virtual_sweep(bodies.places, b, state.multipliers)
    momenta: dict[int, VirtualMomentum[S]] = {}
    for i in reversed(bodies.places):
        at, V = bodies.places[i], virtual[i].V
        momentum = virtual_momentum_step(at, bodies.moments[i], bodies.momenta[i], V, b)
        body = reduce(add, (momenta[c] for c in children_of(tree, i)), momentum)
        with b.step("virtual motion", at.name):
            K = b.let(f"Kv0_{i}C", body.moving.K, "CO-61")
            p = b.let(f"p0_{i}C", body.moving.f, "CO-61")
            momenta[i] = VirtualMomentum(Momentum(K, p), b.let(f"b0_{i}C", body.b, "CO-61"))
    loads = load_moment_sweep(tree, bodies.places, bodies.loads, virtual, b, state.loads)
    motions = {
        j: JointMotion(at.axis, bodies.velocities[j].psi, forces.rates[j], virtual[j].Omega)
        for j, at in bodies.places.items()
    }
    entries: Blocks[S] = {block: {} for block in BLOCKS}
    for i in reversed(bodies.places):
        at = bodies.places[i]
        composite, motion = bodies.composites[i], motions[i]
        rates = rates_step(at, motion.psi, composite, b)
        arguments = composite, forces.forces[i], forces.effects.get(i)
        t3 = force_by_q_step(at, motion.psi, motion.rate, *arguments, b)
        answers = virtual_responses_step(at, motion, composite, momenta[i], b)
        responses = Responses(rates.t1, rates.t2, t3, *answers, loads.get(i))
        for j in tree.path(i):
            pair = pair_step(bodies.places[j], motions[j], at, responses, b)
            for block, (ji, ij) in pair.items():
                entries[block][j, i], entries[block][i, j] = ji, ij
    blocks = {block: square(tree, x) for block, x in entries.items()}
    blocks["qd_qd"] = with_diagonal(blocks["qd_qd"], friction_curvatures(tree, b, state))
    return {f"hessian_{block}": flat(rows) for block, rows in blocks.items()}


# -- sweeps over the tree ----------------------------------------------------------------------


def virtual_sweep(
    places: Mapping[int, Place[S]], b: ProgramBuilder[S], multipliers: Sequence[S]
) -> dict[int, VirtualMotion[S]]:
    """Write CO-60 of every link, parents first; the base is at rest."""
    o = zero_vector(b.algebra)
    motions: dict[int, VirtualMotion[S]] = {}
    for j, at in places.items():
        parent = motions[at.joint.parent].V if at.joint.parent != BASE else Spatial(o, o)
        with b.step("virtual motion", at.name):
            moved = parent + at.axis * multipliers[j - 1]
            V = let_spatial(b, (f"V_w_{j}", f"V_v_{j}"), moved, "CO-60")
            names = (f"Omega_w_{j}", f"Omega_v_{j}")
            motions[j] = VirtualMotion(V, let_spatial(b, names, parent.cross(at.axis), "CO-60"))
    return motions


def load_moment_sweep(
    tree: KinematicTree[S],
    places: Mapping[int, Place[S]],
    loads: Mapping[int, LoadSum[S]],
    virtual: Mapping[int, VirtualMotion[S]],
    b: ProgramBuilder[S],
    wrenches: Sequence[Wrench[S]],
) -> dict[int, Vector[S]]:
    """Write CO-63, CO-64 of every joint with loads outboard of it, leaves first."""
    sums: dict[int, Matrix[S]] = {}
    moments: dict[int, Vector[S]] = {}
    for i, at in reversed(list(places.items())):
        parts: list[Matrix[S]] = []
        V, Omega, s = virtual[i].V, virtual[i].Omega, at.axis.angular
        pairs = enumerate(zip(tree.loads, wrenches, strict=True), start=1)
        with b.step("loads", at.name):
            for k, (load, wrench) in ((k, pair) for k, pair in pairs if pair[0].body == i):
                F, N = at.C.apply_transposed(wrench.force), at.C.apply_transposed(wrench.moment)
                moved = V.linear + V.angular.cross(at.point(load.point))
                moved = b.let(f"V0_{i}_{k}", moved, "CO-63")
                A = outer(V.angular, N) + outer(moved, F)
                parts.append(b.let(f"A0_{i}_{k}", A, "CO-63"))
            parts += [sums[c] for c in children_of(tree, i) if c in sums]
            if parts:
                A, load_sum = reduce(add, parts), loads[i]
                sums[i] = A = b.let(f"A0_{i}L", A, "CO-63")
                turned = Omega.angular.cross(load_sum.N) + Omega.linear.cross(load_sum.F)
                z = turned + load_sum.L.apply(Omega.angular) - trace_less(A).apply(s)
                moments[i] = b.let(f"z_{i}", z, "CO-64")
    return moments


# -- steps, one joint each ---------------------------------------------------------------------


def virtual_momentum_step(
    at: JointAxis[S],
    moments: Moments[S],
    momentum: Momentum[S],
    V: Spatial[S],
    b: ProgramBuilder[S],
) -> VirtualMomentum[S]:
    """Write CO-61 of the body; `momentum` is that of its real motion."""
    j, W, U = at.label, V.angular, V.linear
    with b.step("virtual motion", at.name):
        columns = [W.cross(Vector(*column)) for column in moments.E.transposed.rows]
        spin = Matrix([tuple(column) for column in columns]).transposed
        K = b.let(f"Kv0_{j}", spin + outer(U, moments.h), "CO-61")
        p = b.let(f"p0_{j}", U * moments.m + W.cross(moments.h), "CO-61")
        real = Coriolis(trace_less(momentum.K), momentum.f)
        return VirtualMomentum(Momentum(K, p), b.let(f"b0_{j}", real.transposed(V), "CO-61"))


def virtual_responses_step(
    at: JointAxis[S],
    motion: JointMotion[S],
    composite: Composite[S],
    momentum: VirtualMomentum[S],
    b: ProgramBuilder[S],
) -> tuple[Spatial[S], Vector[S], Vector[S]]:
    """CO-62: y_1, y_2, y_3."""
    i, axis, Omega = at.label, motion.axis, motion.Omega
    with b.variant("v"):
        virtual = coriolis_step(at, momentum.moving, b)
    with b.step("answers", at.name):
        spin = b.let(f"p_n_{i}C", twice_skew_part(momentum.moving.K), "CO-61")
        p = Spatial(spin, momentum.moving.f)
        y1 = composite.inertia.apply(Omega) + axis.cross_force(p)
        y2 = composite.coriolis.transposed(Omega) - virtual.transposed(motion.psi)
        y2 = b.let(f"y2_{i}", y2 + axis.angular.cross(momentum.b), "CO-62")
        y3 = b.let(f"y3_{i}", -virtual.transposed(axis), "CO-62")
        return let_spatial(b, (f"y1_n_{i}", f"y1_f_{i}"), y1, "CO-62"), y2, y3


# -- steps, one pair of joints each: j stands on the path to i, or is i ------------------------


def pair_step(
    at_j: JointAxis[S],
    moved: JointMotion[S],
    at_i: JointAxis[S],
    responses: Responses[S],
    b: ProgramBuilder[S],
) -> dict[str, tuple[S, S]]:
    """CO-65 to CO-68: of every block the entries (j, i) and (i, j)."""
    j, i, two = at_j.label, at_i.label, b.algebra.constant(2.0)
    s, psi, Omega = moved.axis.angular, moved.psi, moved.Omega
    with b.step("Hessian", at_i.name):
        by_q = Omega.dot(responses.t3) + moved.rate.dot(responses.y1)
        by_q = by_q + psi.angular.dot(responses.y2) * two
        if responses.z is not None:
            by_q = by_q - s.dot(responses.z)
        q_q = b.let(f"H_q_{j}_q_{i}", by_q, "CO-65")
        carried = (Omega.dot(responses.t2) + psi.angular.dot(responses.y3)) * two
        carried = b.let(f"H_q_{j}_qd_{i}", carried, "CO-66")
        q_qdd = b.let(f"H_q_{j}_qdd_{i}", Omega.dot(responses.t1), "CO-67")
        qd_qd = b.let(f"H_qd_{j}_qd_{i}", s.dot(responses.y3) * two, "CO-68")
        if i == j:
            pair = {"q_qd": (carried, carried), "q_qdd": (q_qdd, q_qdd)}
        else:
            carrying = (psi.dot(responses.y1) + s.dot(responses.y2)) * two
            carrying = b.let(f"H_q_{i}_qd_{j}", carrying, "CO-66")
            across = b.let(f"H_q_{i}_qdd_{j}", moved.axis.dot(responses.y1), "CO-67")
            pair = {"q_qd": (carried, carrying), "q_qdd": (q_qdd, across)}
        return {"q_q": (q_q, q_q), **pair, "qd_qd": (qd_qd, qd_qd)}


CURVATURE = "d2_drive_dqd"


def rolled_hessian(tree: KinematicTree[S], rolled: RolledBuilder[S]) -> None:
    """Four blocks, (n, n) each."""
    with rolled.straight() as x:
        places = write_kinematics(x)
        virtual = virtual_sweep(places, x.b, x.state.multipliers)
        for j, motion in virtual.items():
            x.write(j, "V_w V_v", motion.V)
            x.write(j, "Omega_w Omega_v", motion.Omega)
        loaded = write_loads(tree, places, virtual, x)
        with_friction = write_curvatures(tree, x)

    def answers(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[Column, S]:
        return {**virtual_responses(b, joint), **to_q(b, joint, loaded, rolled.floats)}

    def blocks(b: ProgramBuilder[S], j: Entries[S], i: Entries[S]) -> Mapping[str, tuple[S, S]]:
        pair = pair_step(axis(j), motion_of(j), axis(i), responses_of(i, loaded), b)
        return {f"hessian_{block}": entries for block, entries in pair.items()}

    rolled.towards_base(rolled.each_joint(with_virtual_momentum))
    rolled.each_joint(answers)
    rolled.each_pair_both_ways(blocks)
    if with_friction:
        rolled.on_diagonal("hessian_qd_qd", CURVATURE)


# -- straight phase ----------------------------------------------------------------------------


def write_loads(
    tree: KinematicTree[S],
    places: dict[int, Place[S]],
    virtual: Mapping[int, VirtualMotion[S]],
    x: StraightBuilder[S],
) -> bool:
    """Write the effects of the loads outboard of every joint; return whether there are any."""
    sums = loads_beyond(tree, places, x)
    moments = load_moment_sweep(tree, places, sums, virtual, x.b, x.state.loads)
    for j, load in sums.items():
        x.write(j, "moved", load_effects_step(places[j], load, x.b).moved)
        x.write(j, "z", moments.get(j, zero_vector(x.b.algebra)))
    return bool(sums)


def write_curvatures(tree: KinematicTree[S], x: StraightBuilder[S]) -> bool:
    """Write the curvature of friction on the diagonal; return whether there is any."""
    curvatures = friction_curvatures(tree, x.b, x.state)
    with_friction = not all(map(x.b.algebra.is_zero, curvatures))
    for joint, curvature in zip(tree.joints, curvatures, strict=True):
        if with_friction:
            x.write(joint.number, CURVATURE, curvature)
    return with_friction


# -- one joint ---------------------------------------------------------------------------------


def with_virtual_momentum(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[Column, S]:
    """Write CO-9 to CO-11 and CO-61 of the body"""
    moments = moments_of(b, joint)
    momentum = momentum_step(axis(joint), moments, joint.spatial("w0 u0"), b)
    arguments = moments, momentum, joint.spatial("V_w V_v")
    virtual = virtual_momentum_step(axis(joint), *arguments, b)
    moving = {**entries_of("Kv0", virtual.moving.K), **entries_of("p0", virtual.moving.f)}
    return {**of_body(b, joint), **moving, **entries_of("b0", virtual.b)}


def virtual_responses(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[Column, S]:
    """Write the responses to the virtual motion: CO-14, CO-62."""
    body = composite(b, joint)
    rates = rates_step(axis(joint), psi(joint), body, b)
    moving = Momentum(joint.matrix("Kv0"), joint.vector("p0"))
    momentum = VirtualMomentum(moving, joint.vector("b0"))
    y1, y2, y3 = virtual_responses_step(axis(joint), motion_of(joint), body, momentum, b)
    return {
        **entries_of("t1_n t1_f", rates.t1),
        **entries_of("t2_n t2_f", rates.t2),
        **entries_of("y1_n y1_f", y1),
        **entries_of("y2", y2),
        **entries_of("y3", y3),
    }


# -- what columns hold of a joint --------------------------------------------------------------


def motion_of(joint: Entries[S]) -> JointMotion[S]:
    """S, Psi', Psi'', Omega"""
    axes = joint.spatial("S_w S_v"), psi(joint), rate(joint)
    return JointMotion(*axes, joint.spatial("Omega_w Omega_v"))


def responses_of(joint: Entries[S], loaded: bool) -> Responses[S]:
    """t_1, t_2, t_3, y_1, y_2, y_3, z"""
    return Responses(
        t1=joint.spatial("t1_n t1_f"),
        t2=joint.spatial("t2_n t2_f"),
        t3=joint.spatial("t3_n t3_f"),
        y1=joint.spatial("y1_n y1_f"),
        y2=joint.vector("y2"),
        y3=joint.vector("y3"),
        z=joint.vector("z") if loaded else None,
    )
