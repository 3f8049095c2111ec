"""Joint torques by the Newton-Euler recursion, in the form that takes the fewest operations.

Two things distinguish it from the recursion of Luh, Walker, Paul (1980).  Axes and points are those
of `passages`: what is carried from link to link has the few entries of a DH row, and levers and
inertias are constants.  And the accelerations of all particles of a link are one matrix, W_j, that
gives the next joint's acceleration, the force and the moment: with second moments E_j instead of
the inertia tensor the moment of inertia is the skew part of W_j E_j, as in the recursion of kane.

Notation, added to that of `passages` (p is the parent of joint j; all in the axes of joint j, about
the origin after its motion)

==================  ==================  ========================================================
paper               code                meaning
==================  ==================  ========================================================
omega_j             w_j                 angular velocity; w_in_j: of the parent
omegadot_j          alpha_j             angular acceleration; alpha_in_j: of the parent
vdot_j              a_j                 acceleration of the origin, minus gravity; a_in_j: of the
                                        point of the parent there
--                  W_j                 alpha x + w x w x: a particle at r has a_j + W_j r
--                  F_e_j_k, N_e_j_k    force and moment of load k in the axes of joint j
f_j, n_j            n_j, f_j            moment about the origin and force exerted by the parent
==================  ==================  ========================================================

Torques in parts come from one recursion for each part.  Composite bodies would give the centrifugal
terms of short chains in fewer operations, as the force S_k x* (I S_k) for each pair of joints, but
about one point for all of a tree.  The Coriolis terms, which are the remainder, would then keep the
rounding errors of both ways where links are long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector, all_zero, zero_vector
from symgen.algebra.spatial import Spatial
from symgen.algebra.turns import acceleration_matrix
from symgen.formulations.composite.passages import Passage, passage_sweep
from symgen.formulations.shared import let_spatial
from symgen.formulations.state import State
from symgen.formulations.torques import Run, weightless
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "CO-28": "w_in = the parent's w in axes of j, w_j = w_in + s qd -- Luh, Walker, Paul 1980",
    "CO-29": "alpha_in likewise, alpha_j = alpha_in + s qdd + w_in x s qd "
    "-- Luh, Walker, Paul 1980",
    "CO-30": "W_j = alpha_j x + w_j x w_j x, as a matrix",
    "CO-31": "a_in = a_p + W_p d_j in axes of j, + W_in l_j; a_j = a_in + 2 w_in x t qd + t qdd "
    "-- Luh, Walker, Paul 1980",
    "CO-32": "a load's force and moment in axes of j",
    "CO-33": "[n; f]_j = [skew part of W E + h x a; m a + W h] - loads + sum_c [n; f]_c in "
    "axes of j -- Luh, Walker, Paul 1980",
    "CO-34": "tau_j = s . n_j + t . f_j -- Luh, Walker, Paul 1980",
}


@dataclass(frozen=True)
class LinkMotion(Generic[S]):
    """Motion of a link: CO-28 to CO-31."""

    w: Vector[S]
    alpha: Vector[S]
    a: Vector[S]
    W: Matrix[S]


Loads = Mapping[int, Spatial[S]]
"""position of a load -> [moment; force] in the axes of a joint"""


def rigid(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Run:
    """See `symgen.formulations.torques.Rigid`."""
    passages = passage_sweep(tree, b, state.q)
    return lambda at, gravity: torques(tree if gravity else weightless(tree), passages, b, at)


# -- sweeps over the tree ----------------------------------------------------------------------


def torques(
    tree: KinematicTree[S],
    passages: Mapping[int, Passage[S]],
    b: ProgramBuilder[S],
    state: State[S],
) -> list[S]:
    """Write the recursion, and return the rigid-body torque of every joint."""
    o, zero = zero_vector(b.algebra), b.algebra.zero
    still = LinkMotion(o, o, -tree.gravity, Matrix([(zero,) * 3] * 3))
    motions = {BASE: still}
    wrenches = {
        k: Spatial(wrench.moment, wrench.force)
        for k, (load, wrench) in enumerate(zip(tree.loads, state.loads, strict=True))
        if load.body != BASE and not all_zero((*wrench.force, *wrench.moment), b.algebra)
    }
    loads: dict[int, Loads[S]] = {BASE: wrenches}
    for j, at in passages.items():
        p, rates = at.joint.parent, (state.qd[j - 1], state.qdd[j - 1])
        motions[j] = motion_step(at, motions[p], *rates, b)
        beyond = [k for k in loads[p] if j in tree.path(tree.loads[k].body)]
        loads[j] = load_step(at, loads[p], beyond, b)
    children: dict[int, list[Spatial[S]]] = {j: [] for j in passages}
    tau: dict[int, S] = {}
    for joint in reversed(tree.joints):
        j, at = joint.number, passages[joint.number]
        on_link = {k: load for k, load in loads[j].items() if tree.loads[k].body == j}
        acting = [(tree.loads[k].point, load) for k, load in on_link.items()]
        force = force_step(at, motions[j], acting, children[j][::-1], b)
        tau[j] = torque_step(at, force, b)
        if joint.parent != BASE:
            children[joint.parent].append(force_back_step(at, force, b))
    return [tau[joint.number] for joint in tree.joints]


# -- steps, one joint each ---------------------------------------------------------------------


def motion_step(
    at: Passage[S], parent: LinkMotion[S], qd: S, qdd: S, b: ProgramBuilder[S]
) -> LinkMotion[S]:
    """Write the motion of a link: CO-28 to CO-31."""
    j, s, t = at.joint.number, at.axis.angular, at.axis.linear
    with b.step("forward", at.joint.name):
        w_in = b.let(f"w_in_{j}", at.out(parent.w), "CO-28")
        w = b.let(f"w_{j}", w_in + s * qd, "CO-28")
        alpha_in = b.let(f"alpha_in_{j}", at.out(parent.alpha), "CO-29")
        alpha = b.let(f"alpha_{j}", alpha_in + s * qdd + w_in.cross(s * qd), "CO-29")
        W = b.let(f"W_{j}", acceleration_matrix(w, alpha), "CO-30")
        a_in = at.out(parent.a + parent.W.apply(at.d))
        if not all_zero(at.l, b.algebra):
            a_in = a_in + acceleration_matrix(w_in, alpha_in).apply(at.l)
        a_in = b.let(f"a_in_{j}", a_in, "CO-31")
        a = b.let(f"a_{j}", a_in + w_in.cross(t * (qd + qd)) + t * qdd, "CO-31")
    return LinkMotion(w, alpha, a, W)


def load_step(
    at: Passage[S], parent: Loads[S], beyond: Sequence[int], b: ProgramBuilder[S]
) -> dict[int, Spatial[S]]:
    """Write CO-32 of the loads on link j and the links `beyond` it."""
    j = at.joint.number
    turned_loads: dict[int, Spatial[S]] = {}
    with b.step("loads", at.joint.name):
        for k in beyond:
            turned = Spatial(at.out(parent[k].angular), at.out(parent[k].linear))
            names = (f"N_e_{j}_{k + 1}", f"F_e_{j}_{k + 1}")
            turned_loads[k] = let_spatial(b, names, turned, "CO-32")
    return turned_loads


def force_step(
    at: Passage[S],
    motion: LinkMotion[S],
    loads: Sequence[tuple[Vector[S], Spatial[S]]],
    children: Sequence[Spatial[S]],
    b: ProgramBuilder[S],
) -> Spatial[S]:
    """CO-33; `loads` come with their points in the link frame, `children` are carried back."""
    j = at.joint.number
    with b.step("backward", at.joint.name):
        force = at.body.force(motion.a, motion.W)
        for point, load in loads:
            moment = load.angular + at.point(point).cross(load.linear)
            force = force - Spatial(moment, load.linear)
        for child in children:
            force = force + child
        return let_spatial(b, (f"n_{j}", f"f_{j}"), force, "CO-33")


def force_back_step(at: Passage[S], force: Spatial[S], b: ProgramBuilder[S]) -> Spatial[S]:
    """Write the wrench that joint j exerts on its parent, in its axes: CO-33."""
    j, p = at.joint.number, at.joint.parent
    with b.step("backward", at.joint.name):
        names = (f"n_{p}_from_{j}", f"f_{p}_from_{j}")
        return let_spatial(b, names, at.force_back(force), "CO-33")


def torque_step(at: Passage[S], force: Spatial[S], b: ProgramBuilder[S]) -> S:
    """Write the torque: CO-34."""
    with b.step("torque", at.joint.name):
        return b.let(f"tau_{at.joint.number}", at.axis.dot(force), "CO-34")
