"""The torques in parts by composite rigid bodies.

While coordinate k moves alone, all that joint k carries turns with it as one rigid body, about an
axis at rest.  So the force on whatever joint i carries, for a unit of qd_k^2, is that on one rigid
body: S_k x* (I S_k), with the inertia I of the composite of i where i stands beyond k, and of k
where it stands before it.

Notation beyond that of `derivatives` (joint j stands on the path to joint i, or is i itself)

==================  ================  ==========================================================
paper               code              meaning
==================  ================  ==========================================================
--                  Mb_j_i            S_j . t_1, entry of the mass matrix of the bodies
--                  t5_n_i, t5_f_i    S_i x* t_1: force per unit of qd_i^2
--                  D_j_i_i           S_j . t_5, factor of qd_i^2 in the torque of joint j
--                  D_i_j_j           S_i . (S_j x* (I S_j)), factor of qd_j^2 in that of joint i
==================  ================  ==========================================================

Where joints follow others one coordinate turns several axes, and the recursion of `recursion.py`
says what then is felt.
"""

from __future__ import annotations

from dataclasses import replace

from symgen.algebra.interface import S
from symgen.algebra.linear import inner, zero_vector
from symgen.formulations.composite.bodies import Inertia
from symgen.formulations.composite.derivatives import (
    Bodies,
    body_sweep,
    force_sweep,
    unit_force_step,
)
from symgen.formulations.composite.frames import JointAxis, Place
from symgen.formulations.composite.motion import base_sweep
from symgen.formulations.composite.passages import passage_sweep
from symgen.formulations.composite.recursion import torques
from symgen.formulations.composite.spatial import Spatial, let_spatial
from symgen.formulations.shared import square
from symgen.formulations.state import State
from symgen.formulations.torque_parts import RigidParts, by_recursion, write_parts
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "CO-61": "t_5 = S_i x* t_1: force on what joint i carries per unit of qd_i^2",
    "CO-62": "D_jii = S_j . t_5, D_ijj = S_i . (S_j x* (I S_j)): terms in qd_i^2 and qd_j^2",
}


def torque_parts(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """Six outputs, (n,) each."""
    parts = _by_recursion(tree, b, state) if tree.is_coupled else _by_pairs(tree, b, state)
    write_parts(tree, b, state, parts)


def _by_recursion(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> RigidParts[S]:
    weightless = replace(tree, gravity=zero_vector(b.algebra))
    passages = passage_sweep(tree, b, state.q)

    def rigid(given: State[S], gravity: bool) -> list[S]:
        return torques(tree if gravity else weightless, passages, b, given)

    return by_recursion(tree, b, state, rigid)


def _by_pairs(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> RigidParts[S]:
    bodies = body_sweep(tree, b, state)
    places = bodies.places
    M: dict[tuple[int, int], S] = {}
    squares: dict[tuple[int, int], S] = {}
    for i in reversed(places):
        at, inertia = places[i], bodies.composites[i].inertia
        t1 = unit_force_step(at, inertia, b)
        t5 = square_step(at, t1, b)
        for j in tree.path(i):
            M[i, j] = M[j, i] = mass_step(places[j], at, t1, b)
            if i != j:
                squares[j, i], squares[i, j] = squares_step(places[j], at, t5, inertia, b)
    velocity = velocity_torques(tree, bodies, b, state)
    rates = [qd * qd for qd in state.qd]
    centrifugal = [inner(row, rates) for row in square(tree, squares)]
    return RigidParts(
        inertial=[inner(row, state.qdd) for row in square(tree, M)],
        centrifugal=centrifugal,
        coriolis=[v - c for v, c in zip(velocity, centrifugal, strict=True)],
        gravity=gravity_sweep(tree, bodies, b),
        loads=[load_step(at, bodies, b) for at in places.values()],
    )


# -- steps, one pair of joints each: j stands on the path to i, or is i ------------------------


def mass_step(at_j: JointAxis[S], at_i: JointAxis[S], t1: Spatial[S], b: ProgramBuilder[S]) -> S:
    """CO-19: an entry of the mass matrix of the bodies."""
    with b.step("mass matrix", at_i.name):
        return b.let(f"Mb_{at_j.label}_{at_i.label}", at_j.axis.dot(t1), "CO-19")


def squares_step(
    at_j: JointAxis[S],
    at_i: JointAxis[S],
    t5: Spatial[S],
    inertia: Inertia[S],
    b: ProgramBuilder[S],
) -> tuple[S, S]:
    """CO-62: D_jii and D_ijj."""
    j, i = at_j.label, at_i.label
    with b.step("centrifugal", at_i.name):
        before = b.let(f"D_{j}_{i}_{i}", at_j.axis.dot(t5), "CO-62")
        force = at_j.axis.cross_force(inertia.apply(at_j.axis))
        return before, b.let(f"D_{i}_{j}_{j}", at_i.axis.dot(force), "CO-62")


# -- steps, one joint each ---------------------------------------------------------------------


def square_step(at: JointAxis[S], t1: Spatial[S], b: ProgramBuilder[S]) -> Spatial[S]:
    """CO-61"""
    i = at.label
    with b.step("centrifugal", at.name):
        return let_spatial(b, (f"t5_n_{i}", f"t5_f_{i}"), at.axis.cross_force(t1), "CO-61")


def load_step(at: Place[S], bodies: Bodies[S], b: ProgramBuilder[S]) -> S:
    """TP-5: -S_i . [n; F] of all loads beyond joint i."""
    load = bodies.loads.get(at.joint.number)
    if load is None:
        return b.algebra.zero
    with b.step("loads", at.name):
        return b.let(f"loads_{at.label}", -at.axis.dot(load.wrench), "TP-5")


# -- sweeps over the tree ----------------------------------------------------------------------


def velocity_torques(
    tree: KinematicTree[S], bodies: Bodies[S], b: ProgramBuilder[S], state: State[S]
) -> list[S]:
    """CO-16 without accelerations, gravity and loads."""
    weightless = replace(tree, gravity=zero_vector(b.algebra))
    none = (b.algebra.zero,) * tree.n
    with b.variant("_velocity", "velocity"):
        found = force_sweep(weightless, replace(bodies, loads={}), b, state.qd, none)
    return list(found.tau)


def gravity_sweep(tree: KinematicTree[S], bodies: Bodies[S], b: ProgramBuilder[S]) -> list[S]:
    """TP-4: S_i . [h x a; m a] of the composite, a = -g."""
    bases = base_sweep(tree, bodies.places, b)
    torques: list[S] = []
    for j, at in bodies.places.items():
        if at.joint.parent != BASE:
            bases[j] = bases[at.joint.parent]
        inertia = bodies.composites[j].inertia
        with b.step("gravity", at.name):
            weight = Spatial(inertia.h.cross(bases[j]), bases[j] * inertia.m)
            torques.append(b.let(f"gravity_{at.label}", at.axis.dot(weight), "TP-4"))
    return torques
