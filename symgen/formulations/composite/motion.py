"""Axes of joints, and velocities and accelerations of links, about one point P of each tree.

Names contain a 0, unlike names of quantities in link axes.

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

A tree here is all that hangs off the base by one joint.  P is the origin of the first joint of the
tree that turns, wherever it is: what lies between the base and P never enters, so that a robot far
from the base keeps its digits.  Offsets are added up from P along the tree, never subtracted from
each other as positions in the base.

The basis is that of the base; but where the joint on the base itself turns, the axes behind it:
the same equations hold in axes that turn, as long as nothing is differentiated entry by entry, and
the angle of that joint is left in gravity and loads alone.  The axis of the first and that of the
second joint are constant there.  Where a free body is on the base, they are the axes of that body,
and all columns of its motion subspace are constant.

Notation (p is the parent of joint j; vectors in the axes of the basis)

==================  ============  ==============================================================
paper               code          meaning
==================  ============  ==============================================================
--                  C_r           axes of the basis in base axes, r the joint on the base
--                  A_j           axes of joint j before its motion
--                  R_j           axes after its motion
--                  o_j           P to origin of joint j, before its motion
--                  x_j           P to origin of the axes after its motion
--                  arm_j         x_p -> o_j
Phi_j, S_j          S_w_j, S_v_j  motion per unit of qd_j: angular velocity, velocity at P
==================  ============  ==============================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector, all_zero, identity, zero_vector
from symgen.algebra.spatial import Spatial
from symgen.algebra.turns import acceleration_matrix
from symgen.formulations.shared import let_spatial
from symgen.formulations.state import State
from symgen.kinematics.joint import Joint
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "CO-5": "v_j = v_p + S_j qd_j; v_j = 0 where neither j nor a joint before it turns",
    "CO-6": "Psi'_j = v_p x S_j -- Singh, Russell, Wensing 2022 (IDSVA)",
    "CO-7": "alpha_j = alpha_p + s qdd + Psi'_w qd; a_j = a_p + S_v qdd + (w_p + w_j) x S_v qd; "
    "W_j = alpha x + w x w x",
    "CO-8": "Psi''_j = [W_p s; W_p S_v + a_p x s + 2 u_p x Psi'_w] "
    "-- Singh, Russell, Wensing 2022 (IDSVA), with a_p the acceleration at P",
    "CO-1": "A_j = R_p times the fixed rotation between joints p and j; C_r the axes of the basis",
    "CO-2": "R_j = A_j times the rotation of the motion; 1 where the joint on the base turns",
    "CO-3": "arm_j, x_j = o_j + the translation of the motion, o_j = x_p + arm_j, o_j = 0 at P",
    "CO-4": "S_j = [s; t + o_j x s], s and t its axes of rotation and translation "
    "-- Featherstone 2008",
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
    """Write the velocities of link and axis: CO-5, CO-6."""
    j = at.label
    with b.step("velocities", at.name):
        v = let_spatial(b, (f"w0_{j}", f"u0_{j}"), parent.v + at.axis * qd, "CO-5")
        psi = let_spatial(b, (f"Psi_w_{j}", f"Psi_v_{j}"), parent.v.cross(at.axis), "CO-6")
        return Velocity(v, psi)


def base_step(at: Place[S], gravity: Vector[S], b: ProgramBuilder[S]) -> Vector[S]:
    """CO-7: the acceleration -g that the base is given, in the basis of a tree."""
    with b.step("accelerations", at.name):
        return b.let(f"a_base_{at.label}", at.C.apply_transposed(-gravity), "CO-7")


# -- sweeps over the tree ----------------------------------------------------------------------


def motion_sweep(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> tuple[dict[int, Place[S]], dict[int, Velocity[S]], dict[int, Acceleration[S]]]:
    """Write CO-1 to CO-8 of every joint and link: where they are and how they move."""
    places = place_sweep(tree, b, state.q)
    velocities = velocity_sweep(places, b, state.qd)
    arguments = state.qd, state.qdd, base_sweep(tree, places, b)
    return places, velocities, acceleration_sweep(tree, places, velocities, b, *arguments)


def velocity_sweep(
    places: Mapping[int, Place[S]], b: ProgramBuilder[S], qd: Sequence[S]
) -> dict[int, Velocity[S]]:
    """Write CO-5, CO-6 of every link, parents first; the base is at rest."""
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
    """Write CO-7, CO-8 of every link; `bases` has `base_step` for every joint on the base."""
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
        s, S_v, v, Psi_w = at.axis.angular, at.axis.linear, velocities[j], velocities[j].psi.angular
        with b.step("accelerations", at.name):
            alpha = b.let(f"alpha0_{j}", parent.alpha + s * qdd[j - 1] + Psi_w * qd[j - 1], "CO-7")
            coriolis = (w_p + v.v.angular).cross(S_v * qd[j - 1])
            a = b.let(f"a0_{j}", parent.a + S_v * qdd[j - 1] + coriolis, "CO-7")
            W = b.let(f"W0_{j}", acceleration_matrix(v.v.angular, alpha), "CO-7")
            turning = u_p.cross(Psi_w)
            linear = parent.W.apply(S_v) + parent.a.cross(s) + turning + turning
            dPsi = Spatial(parent.W.apply(s), linear)
            dPsi = let_spatial(b, (f"dPsi_w_{j}", f"dPsi_v_{j}"), dPsi, "CO-8")
        accelerations[j] = Acceleration(alpha, a, W, dPsi)
    return accelerations


def base_sweep(
    tree: KinematicTree[S], places: Mapping[int, Place[S]], b: ProgramBuilder[S]
) -> dict[int, Vector[S]]:
    """`base_step` of every joint on the base."""
    return {
        j: base_step(at, tree.gravity, b) for j, at in places.items() if at.joint.parent == BASE
    }


@dataclass(frozen=True)
class Axes(Generic[S]):
    """CO-1, CO-2: of a joint ahead of its motion and behind it, in the basis of its tree."""

    A: Matrix[S]
    R: Matrix[S]


@dataclass(frozen=True)
class JointAxis(Generic[S]):
    """A joint as others see it: `axis` is S_j; `label` stands for the joint in names, `name` for
    it in headings."""

    label: str
    name: str
    axis: Spatial[S]


@dataclass(frozen=True)
class JointFrame(JointAxis[S]):
    """CO-2, CO-3: and where the axes behind it are."""

    R: Matrix[S]
    x: Vector[S]


@dataclass(frozen=True)
class Place(JointFrame[S]):
    """A joint in its tree.  See the notation of the module; `C` is that of its tree."""

    joint: Joint[S]
    C: Matrix[S]

    def point(self, at: Vector[S]) -> Vector[S]:
        """P -> a point of the link, given in its frame."""
        return self.x + self.R.apply(self.joint.placement.link.apply(at))


# -- steps, one joint each ---------------------------------------------------------------------


def axes_step(
    joint: Joint[S], parent: Axes[S], link: Matrix[S], q: S, b: ProgramBuilder[S]
) -> Axes[S]:
    """CO-1, CO-2; `link` turns from the axes after the parent's motion to its link frame."""
    j = joint.number
    placement, turn, _ = joint.turns(q, b.algebra)
    with b.step("frames", joint.name):
        A = b.let(f"A_{j}", parent.R @ (link @ placement), "CO-1")
        return Axes(A, b.let(f"R_{j}", A @ turn, "CO-2"))


# -- sweeps over the tree ----------------------------------------------------------------------


def place_sweep(
    tree: KinematicTree[S], b: ProgramBuilder[S], q: Sequence[S]
) -> dict[int, Place[S]]:
    """Write CO-1 to CO-4 of every joint, parents first."""
    unit, bases = identity(b.algebra), dict[int, Matrix[S]]()
    axes: dict[int, Axes[S]] = {}
    for joint in tree.joints:
        j, p = joint.number, joint.parent
        if p == BASE:
            posed = any(j == manifold.columns[0] for manifold in tree.manifolds)
            placement, turn, _ = joint.turns(q[j - 1], b.algebra)
            with b.step("frames", joint.name):
                if turns(joint, b):
                    bases[j], axes[j] = b.let(f"C_{j}", placement @ turn, "CO-1"), Axes(unit, unit)
                elif posed:  # the first column of a joint on a manifold slides in axes of the body
                    bases[j] = b.let(f"C_{j}", placement, "CO-1")
                    axes[j] = Axes(unit, b.let(f"R_{j}", turn, "CO-2"))
                else:
                    A = b.let(f"A_{j}", placement, "CO-1")
                    bases[j], axes[j] = unit, Axes(A, b.let(f"R_{j}", A @ turn, "CO-2"))
        else:
            link = tree.joint(p).placement.link.rotation
            axes[j] = axes_step(joint, axes[p], link, q[j - 1], b)
    o, x = point_sweep(tree, axes, b, q)
    places: dict[int, Place[S]] = {}
    for joint in tree.joints:
        j = joint.number
        s, t = joint.axes(b.algebra)
        with b.step("axes", joint.name):
            angular = axes[j].A.apply(s)
            S_j = Spatial(angular, axes[j].A.apply(t) + o[j].cross(angular))
            S_j = let_spatial(b, (f"S_w_{j}", f"S_v_{j}"), S_j, "CO-4")
        C = bases[tree.path(j)[0]]
        places[j] = Place(f"{j}", joint.name, S_j, axes[j].R, x[j], joint, C)
    return places


def point_sweep(
    tree: KinematicTree[S], axes: Mapping[int, Axes[S]], b: ProgramBuilder[S], q: Sequence[S]
) -> tuple[dict[int, Vector[S]], dict[int, Vector[S]]]:
    """CO-3: o_j and x_j, from P first towards the base and then to everything else."""
    arms: dict[int, Vector[S]] = {}
    slides: dict[int, Vector[S]] = {}
    for joint in tree.joints:
        j, p = joint.number, joint.parent
        with b.step("points", joint.name):
            slide = axes[j].R.apply(joint.slide(q[j - 1], b.algebra))
            slides[j] = b.let(f"slide_{j}", slide, "CO-3")
            if p != BASE:
                link, to_joint = tree.joint(p).placement.link, joint.placement.tree.translation
                arms[j] = b.let(f"arm_{j}", axes[p].R.apply(link.apply(to_joint)), "CO-3")
    o: dict[int, Vector[S]] = {}
    x: dict[int, Vector[S]] = {}
    for joint in tree.joints:
        if joint.parent == BASE:
            root = joint.number
            P = next((j for j in tree.carried_by(root) if turns(tree.joint(j), b)), root)
            o[P] = zero_vector(b.algebra)
            for j in reversed(tree.path(P)[:-1]):
                beyond = tree.path(P)[len(tree.path(j))]
                with b.step("points", tree.joint(j).name):
                    x[j] = b.let(f"x_{j}", o[beyond] - arms[beyond], "CO-3")
                    o[j] = b.let(f"o_{j}", x[j] - slides[j], "CO-3")
    for joint in tree.joints:
        j = joint.number
        with b.step("points", joint.name):
            if j not in o:
                o[j] = b.let(f"o_{j}", x[joint.parent] + arms[j], "CO-3")
            if j not in x:
                x[j] = b.let(f"x_{j}", o[j] + slides[j], "CO-3")
    return o, x


def turns(joint: Joint[S], b: ProgramBuilder[S]) -> bool:
    """Whether the joint has an axis of rotation."""
    return not all_zero(joint.axes(b.algebra)[0], b.algebra)
