"""Kane's equations with the mass matrix formed: notation and kinematics (Anderson, Hsu 2002).

Velocities travel from the base to the leaves.  Every body has its frame; a vector of body
k is written in the axes of its link frame, and velocities are those of its centre of mass (of a
massless body: of its frame's origin).  The paper treats a chain, where the parent of k is k - 1;
here p is the parent of k in a tree, and c runs over its children.

Notation (a 6-vector is [angular; linear], of a force [moment; force])

======================  ================  ======================================================
paper                   code              meaning
======================  ================  ======================================================
C^k                     C_k               3x3, axes of body k in parent axes
s^k                     s_k               centre of p -> joint k, parent axes
r^k                     r_k               joint k -> centre of k, link axes; with the displacement
                                          of a joint that slides
gamma^k                 gamma_k           s^k + C^k r^k: centre of p -> centre of k, parent axes
k-1 omega_r^k           turn              partial angular velocity of the joint, link axes
k- v_r^k+               slide             partial velocity of the joint, link axes
P_k^k                   P_k_k             6x1, [turn; turn x r^k + slide], link axes
P_r^k                   P_r_k             6x1, partial velocity of body k by joint r, link axes;
                                          its vectors are P_r_k_w and P_r_k_v
S^k                     --                6x6, shifts from the centre of k to that of p
S^k with arrow          shifted_back      S^k C^k; its transpose is `shifted_out`
omega^k                 omega_k           angular velocity
alpha^k, a^k            alpha_k, a_k      accelerations at the given qdd (0 for a free joint); a
                                          of the centre, minus gravity
omega^k-1               omega_in_k        angular velocity of p, in the link axes of k
--                      alpha_own_k       alpha_k minus that of p
--                      a_carried_k       terms of a_k that need a, alpha and omega of p alone,
                                          parent axes
--                      R0_k              3x3, axes of body k in base axes
T_1^k, R_1^k            n_e_k, f_e_k      moment about the centre and force of all loads
I_1^k                   --                6x6, inertia about the centre and mass
--                      H_k               angular momentum about the centre
F_1^k                   F1_k              6x1, loads and inertia at the given qdd; its vectors are
                                          F1_k_n and F1_k_f
======================  ================  ======================================================

Prescribed joints are no unknowns: their velocities and accelerations are in the remainder terms of
omega, alpha and a, as (10) to (13) have it, and so are the velocities of all others.  Gravity is in
the acceleration -g of the base.

Equations are cited as they are right.  In print (19) has the right side of (18) (its own is that of
(26)), (21) is 6x1, the right sides of (23) and (24) are exchanged, r and s are exchanged in (34),
(35) and (36) lack what accelerates a prescribed joint ((12) and (13) have it), and a sign is wrong
in (37).  That r^k contains the displacement of a joint that slides changes nothing in (34) and
(36), because such a joint does not turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Vector, all_zero, identity, zero_vector
from symgen.algebra.spatial import Spatial, zero_spatial
from symgen.formulations.shared import FORCE, MOTION, let_spatial, lettered
from symgen.formulations.state import LinkMotion, State, Wrench
from symgen.kinematics.joint import Joint
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "EK-1": "joint k, on the parent p, turns about turn or slides along slide (the other is 0): "
    "C_k, s_k, r_k, gamma_k = s_k + C_k r_k and P_k_k = [turn; turn x r_k + slide] "
    "-- Anderson, Hsu 2002 (20), (34), figure 1",
    "EK-2": "P_r_k = C_k^T [w; v + w x gamma_k] for [w; v] = P_r_p -- Anderson, Hsu 2002 "
    "(37), (38), (42)",
    "EK-3": "omega_in_k = C_k^T omega_p, omega_k = omega_in_k + turn qd_k "
    "-- Anderson, Hsu 2002 (33)",
    "EK-4": "alpha_own_k = turn qdd_k + omega_in_k x turn qd_k, alpha_k = C_k^T alpha_p + "
    "alpha_own_k -- Anderson, Hsu 2002 (12), (35)",
    "EK-5": "a_carried_k = a_p + alpha_p x gamma_k + omega_p x (omega_p x s_k), "
    "a_k = C_k^T a_carried_k + omega_k x (omega_k x r_k) + alpha_own_k x r_k "
    "+ 2 omega_in_k x slide qd_k + slide qdd_k -- Anderson, Hsu 2002 (13), (36)",
    "EK-6": "R0_k = R0_p C_k, and the loads in link axes: f_e_k = sum R0_k^T f, "
    "n_e_k = sum R0_k^T n + (point - centre) x R0_k^T f",
    "EK-7": "H_k = I_k omega_k, F1_k = [n_e_k - I_k alpha_k - omega_k x H_k; f_e_k - m_k a_k] "
    "-- Anderson, Hsu 2002 (22), (23), (24)",
    "d EK-2": "d P_r_k = dC_k^T [w; v + w x gamma_k] + C_k^T [0; w x d gamma_k] "
    "+ C_k^T [dw; dv + dw x gamma_k] -- Anderson, Hsu 2002 (72), (73)",
}


@dataclass(frozen=True)
class Geometry(Generic[S]):
    """Quantities of joint and body k alone.  See the notation.

    `arms` lead from the centre to the points of the loads on the body, link axes.
    """

    C: Matrix[S]
    s: Vector[S]
    r: Vector[S]
    gamma: Vector[S]
    turn: Vector[S]
    slide: Vector[S]
    axis: Spatial[S]
    mass: S
    inertia: Matrix[S]
    arms: tuple[Vector[S], ...]


@dataclass(frozen=True)
class System(Generic[S]):
    """A robot at a state: all that the sums for M and K are made of, by number of the body.

    `loads` lists the wrenches that act on a body, `rotations` has the R0 of the bodies on the way
    to one, `partial` the P_r^k by (r, k).
    """

    tree: KinematicTree[S]
    b: ProgramBuilder[S]
    state: State[S]
    geometry: Mapping[int, Geometry[S]]
    loads: Mapping[int, tuple[Wrench[S], ...]]
    rotations: Mapping[int, Matrix[S]]
    motions: Mapping[int, LinkMotion[S]]
    partial: Mapping[tuple[int, int], Spatial[S]]
    forces: Mapping[int, Spatial[S]]

    @property
    def joints(self) -> Sequence[Joint[S]]:
        """All joints, parents before children."""
        return self.tree.joints


# -- the shift from body to body ---------------------------------------------------------------


def shifted_out(at: Geometry[S], parent: Spatial[S]) -> Spatial[S]:
    """EK-2: a field of velocities that is `parent` at the centre of p, at the centre of k."""
    moved = parent.linear + parent.angular.cross(at.gamma)
    return Spatial(at.C.apply_transposed(parent.angular), at.C.apply_transposed(moved))


def shifted_back(at: Geometry[S], child: Spatial[S]) -> Spatial[S]:
    """The transpose of `shifted_out`: a moment and force at the centre of k, at that of p."""
    force = at.C.apply(child.linear)
    return Spatial(at.C.apply(child.angular) + at.gamma.cross(force), force)


def momentum(at: Geometry[S], velocity: Spatial[S]) -> Spatial[S]:
    """I_1^k times a velocity."""
    return Spatial(at.inertia.apply(velocity.angular), velocity.linear * at.mass)


def geometry_step(
    joint: Joint[S], center_p: Vector[S], points: Sequence[Vector[S]], q: S, b: ProgramBuilder[S]
) -> Geometry[S]:
    """Write axes and centres: EK-1."""
    k, algebra, body = joint.number, b.algebra, joint.body
    center = body_center(joint, algebra)
    turn, slide = joint.angular_axis(algebra), joint.linear_axis(algebra)
    with b.step("geometry", joint.name):
        C = b.let(f"C_{k}", joint.transform(q, algebra).rotation, "EK-1")
        s = b.let(f"s_{k}", joint.placement.tree.translation - center_p, "EK-1")
        r = b.let(f"r_{k}", joint.origin_to_link(q, algebra) + center, "EK-1")
        gamma = b.let(f"gamma_{k}", s + C.apply(r), "EK-1")
        partial = Spatial(turn, turn.cross(r) + slide)
        partial = let_spatial(b, lettered(f"P_{k}_{k}", MOTION), partial, "EK-1")
    arms = tuple(point - center for point in points)
    return Geometry(C, s, r, gamma, turn, slide, partial, body.mass, body.inertia, arms)


def body_center(joint: Joint[S], algebra: Algebra[S]) -> Vector[S]:
    """Centre of mass in the link frame; of a massless body the origin."""
    return zero_vector(algebra) if algebra.is_zero(joint.body.mass) else joint.body.com


def motion_step(
    joint: Joint[S], at: Geometry[S], p: LinkMotion[S], qd: S, qdd: S, b: ProgramBuilder[S]
) -> LinkMotion[S]:
    """Write the motion of a body: EK-3, EK-4, EK-5."""
    k, C, r = joint.number, at.C, at.r
    with b.step("motion", joint.name):
        omega_in = b.let(f"omega_in_{k}", C.apply_transposed(p.omega), "EK-3")
        omega = b.let(f"omega_{k}", omega_in + at.turn * qd, "EK-3")
        alpha_own = b.let(f"alpha_own_{k}", at.turn * qdd + omega_in.cross(at.turn * qd), "EK-4")
        alpha = b.let(f"alpha_{k}", C.apply_transposed(p.alpha) + alpha_own, "EK-4")
        carried = p.a + p.alpha.cross(at.gamma) + p.omega.cross(p.omega.cross(at.s))
        carried = b.let(f"a_carried_{k}", carried, "EK-5")
        a = C.apply_transposed(carried) + omega.cross(omega.cross(r)) + alpha_own.cross(r)
        a = a + omega_in.cross(at.slide * (qd + qd)) + at.slide * qdd
        return LinkMotion(omega, alpha, b.let(f"a_{k}", a, "EK-5"))


def load_step(
    at: Geometry[S], R0: Matrix[S], loads: Sequence[Wrench[S]], algebra: Algebra[S]
) -> Spatial[S]:
    """EK-6: [n_e; f_e] of all loads on a body."""
    result = zero_spatial(algebra)
    for arm, wrench in zip(at.arms, loads, strict=True):
        force = R0.apply_transposed(wrench.force)
        moment = R0.apply_transposed(wrench.moment) + arm.cross(force)
        result = result + Spatial(moment, force)
    return result


def force_step(
    joint: Joint[S], at: Geometry[S], motion: LinkMotion[S], load: Spatial[S], b: ProgramBuilder[S]
) -> Spatial[S]:
    """Write the force on a body: EK-7."""
    k, omega = joint.number, motion.omega
    with b.step("forces", joint.name):
        n_e = b.let(f"n_e_{k}", load.angular, "EK-6")
        f_e = b.let(f"f_e_{k}", load.linear, "EK-6")
        H = b.let(f"H_{k}", at.inertia.apply(omega), "EK-7")
        spin = at.inertia.apply(motion.alpha) + omega.cross(H)
        F1 = Spatial(n_e - spin, f_e - motion.a * at.mass)
        return let_spatial(b, lettered(f"F1_{k}", FORCE), F1, "EK-7")


# -- sweeps over the tree ----------------------------------------------------------------------


def system_at(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], moving: bool = True
) -> System[S]:
    """Write EK-1 to EK-7 for all bodies; EK-1 and EK-2 alone where nothing is `moving`."""
    loads: dict[int, tuple[Wrench[S], ...]] = {}
    points: dict[int, tuple[Vector[S], ...]] = {}
    for place, wrench in zip(tree.loads, state.loads, strict=True):
        k = place.body
        if k != BASE and not all_zero((*wrench.force, *wrench.moment), b.algebra):
            loads[k] = (*loads.get(k, ()), wrench)
            points[k] = (*points.get(k, ()), place.point)
    centers = {BASE: zero_vector(b.algebra)}
    geometry: dict[int, Geometry[S]] = {}
    for joint, q in zip(tree.joints, state.q, strict=True):
        k = joint.number
        centers[k] = body_center(joint, b.algebra)
        geometry[k] = geometry_step(joint, centers[joint.parent], points.get(k, ()), q, b)
    rotations = rotation_sweep(tree, b, geometry, loads)
    partial: dict[tuple[int, int], Spatial[S]] = {}
    for joint in tree.joints:
        k, p = joint.number, joint.parent
        partial[k, k] = geometry[k].axis
        with b.step("partial velocities", joint.name):
            for r in tree.path(p):
                value = shifted_out(geometry[k], partial[r, p])
                partial[r, k] = let_spatial(b, lettered(f"P_{r}_{k}", MOTION), value, "EK-2")
    still = System(tree, b, state, geometry, loads, rotations, {}, partial, {})
    return force_sweep(still) if moving else still


def rotation_sweep(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    geometry: Mapping[int, Geometry[S]],
    loaded: Mapping[int, tuple[Wrench[S], ...]],
) -> dict[int, Matrix[S]]:
    """EK-6: R0 of the bodies on the way to a load, and of the base."""
    rotations = {BASE: identity(b.algebra)}
    for k in tree.towards(loaded):
        joint = tree.joint(k)
        with b.step("rotations", joint.name):
            rotations[k] = b.let(f"R0_{k}", rotations[joint.parent] @ geometry[k].C, "EK-6")
    return rotations


def force_sweep(still: System[S]) -> System[S]:
    """Write EK-3 to EK-7 for all bodies: the system with its motions and forces."""
    tree, b, state = still.tree, still.b, still.state
    nothing = zero_vector(b.algebra)
    motions = {BASE: LinkMotion(nothing, nothing, -tree.gravity)}
    forces: dict[int, Spatial[S]] = {}
    for joint in tree.joints:
        k, at = joint.number, still.geometry[joint.number]
        qd, qdd = state.qd[k - 1], state.qdd[k - 1]
        motions[k] = motion_step(joint, at, motions[joint.parent], qd, qdd, b)
        load = zero_spatial(b.algebra)
        if k in still.loads:
            load = load_step(at, still.rotations[k], still.loads[k], b.algebra)
        forces[k] = force_step(joint, at, motions[k], load, b)
    return replace(still, motions=motions, forces=forces)
