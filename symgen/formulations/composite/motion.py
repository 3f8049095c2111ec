"""Velocities and accelerations of the links about P, in the basis of the tree.

Names have a 0 in them that what is written in link axes has not.

Velocities leave out the rates of joints that slide where none before them turns: seen from axes
that slide along, forces and their derivatives are the same.  Accelerations leave out nothing.

Notation (p is the parent of joint j)

==================  ===================  =======================================================
paper               code                 meaning
==================  ===================  =======================================================
v_j                 w0_j, u0_j           spatial velocity: angular velocity, velocity at P
--                  alpha0_j             angular acceleration
--                  a0_j                 acceleration of the particle at P, minus gravity; the
                                         linear half of the paper's a_j is a_j - w_j x u_j
--                  W0_j                 alpha x + w x w x: a particle at r has a_j + W_j r
Psi'_j              Psi_w_j, Psi_v_j     v_p x S_j = dS_j/dt
Psi''_j             dPsi_w_j, dPsi_v_j   a_p x S_j + v_p x Psi'_j
==================  ===================  =======================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector, zero_vector
from symgen.algebra.spatial import Spatial
from symgen.algebra.turns import acceleration_matrix
from symgen.formulations.composite.frames import JointAxis, Place, place_sweep, turns
from symgen.formulations.shared import let_spatial
from symgen.formulations.state import State
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "CO-5": "v_j = v_p + S_j qd_j; v_j = 0 where neither j nor a joint before it turns",
    "CO-6": "Psi'_j = v_p x S_j -- Singh, Russell, Wensing 2022 (IDSVA)",
    "CO-7": "alpha_j = alpha_p + s qdd + Psi'_w qd; a_j = a_p + S_v qdd + (w_p + w_j) x S_v qd; "
    "W_j = alpha x + w x w x",
    "CO-8": "Psi''_j = [W_p s; W_p S_v + a_p x s + 2 u_p x Psi'_w] "
    "-- Singh, Russell, Wensing 2022 (IDSVA), with a_p the acceleration at P",
}


@dataclass(frozen=True)
class Velocity(Generic[S]):
    """CO-5, CO-6: of a link; `psi` is Psi'_j of its joint."""

    v: Spatial[S]
    psi: Spatial[S]


@dataclass(frozen=True)
class Acceleration(Generic[S]):
    """CO-7, CO-8: of a link; `rate` is Psi''_j of its joint."""

    alpha: Vector[S]
    a: Vector[S]
    W: Matrix[S]
    rate: Spatial[S]


# -- steps, one joint each ---------------------------------------------------------------------


def velocity_step(
    at: JointAxis[S], parent: Velocity[S], qd: S, b: ProgramBuilder[S]
) -> Velocity[S]:
    """CO-5, CO-6"""
    j = at.label
    with b.step("velocities", at.name):
        v = let_spatial(b, (f"w0_{j}", f"u0_{j}"), parent.v + at.axis * qd, "CO-5")
        psi = let_spatial(b, (f"Psi_w_{j}", f"Psi_v_{j}"), parent.v.cross(at.axis), "CO-6")
        return Velocity(v, psi)


def acceleration_step(
    at: JointAxis[S],
    parent: Acceleration[S],
    w_p: Vector[S],
    u_p: Vector[S],
    v: Velocity[S],
    qd: S,
    qdd: S,
    b: ProgramBuilder[S],
) -> Acceleration[S]:
    """CO-7, CO-8"""
    j, s, S_v, Psi_w = at.label, at.axis.angular, at.axis.linear, v.psi.angular
    with b.step("accelerations", at.name):
        alpha = b.let(f"alpha0_{j}", parent.alpha + s * qdd + Psi_w * qd, "CO-7")
        coriolis = (w_p + v.v.angular).cross(S_v * qd)
        a = b.let(f"a0_{j}", parent.a + S_v * qdd + coriolis, "CO-7")
        W = b.let(f"W0_{j}", acceleration_matrix(v.v.angular, alpha), "CO-7")
        turning = u_p.cross(Psi_w)
        linear = parent.W.apply(S_v) + parent.a.cross(s) + turning + turning
        dPsi = Spatial(parent.W.apply(s), linear)
        dPsi = let_spatial(b, (f"dPsi_w_{j}", f"dPsi_v_{j}"), dPsi, "CO-8")
        return Acceleration(alpha, a, W, dPsi)


def base_step(at: Place[S], gravity: Vector[S], b: ProgramBuilder[S]) -> Vector[S]:
    """CO-7: the acceleration -g that the base is given, in the basis of a tree."""
    with b.step("accelerations", at.name):
        return b.let(f"a_base_{at.label}", at.C.apply_transposed(-gravity), "CO-7")


# -- sweeps over the tree ----------------------------------------------------------------------


def motion_sweep(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> tuple[dict[int, Place[S]], dict[int, Velocity[S]], dict[int, Acceleration[S]]]:
    """CO-1 to CO-8 of every joint and link: where they are and how they move."""
    places = place_sweep(tree, b, state.q)
    velocities = velocity_sweep(places, b, state.qd)
    given = state.qd, state.qdd, base_sweep(tree, places, b)
    return places, velocities, acceleration_sweep(tree, places, velocities, b, *given)


def velocity_sweep(
    places: Mapping[int, Place[S]], b: ProgramBuilder[S], qd: Sequence[S]
) -> dict[int, Velocity[S]]:
    """CO-5, CO-6 of every link, parents first; the base is at rest."""
    o = Spatial(zero_vector(b.algebra), zero_vector(b.algebra))
    still = Velocity(o, o)
    velocities: dict[int, Velocity[S]] = {}
    turning: set[int] = set()
    for j, at in places.items():
        if at.joint.parent in turning or turns(at.joint, b):
            turning.add(j)
        parent = velocities.get(at.joint.parent, still)
        rate = qd[j - 1] if j in turning else b.algebra.zero
        velocities[j] = velocity_step(at, parent, rate, b)
    return velocities


def acceleration_sweep(
    tree: KinematicTree[S],
    axes: Mapping[int, JointAxis[S]],
    velocities: Mapping[int, Velocity[S]],
    b: ProgramBuilder[S],
    qd: Sequence[S],
    qdd: Sequence[S],
    bases: Mapping[int, Vector[S]],
) -> dict[int, Acceleration[S]]:
    """CO-7, CO-8 of every link; `bases` has `base_step` for every joint on the base."""
    o, zero = zero_vector(b.algebra), b.algebra.zero
    accelerations: dict[int, Acceleration[S]] = {}
    for j, at in axes.items():
        p = tree.joint(j).parent
        if p == BASE:
            none = Matrix([(zero,) * 3] * 3)
            parent = Acceleration(o, bases[j], none, Spatial(o, o))
            w_p = u_p = o
        else:
            parent, v_p = accelerations[p], velocities[p].v
            w_p, u_p = v_p.angular, v_p.linear
        rates = qd[j - 1], qdd[j - 1]
        accelerations[j] = acceleration_step(at, parent, w_p, u_p, velocities[j], *rates, b)
    return accelerations


def base_sweep(
    tree: KinematicTree[S], places: Mapping[int, Place[S]], b: ProgramBuilder[S]
) -> dict[int, Vector[S]]:
    """`base_step` of every joint on the base."""
    return {
        j: base_step(at, tree.gravity, b) for j, at in places.items() if at.joint.parent == BASE
    }
