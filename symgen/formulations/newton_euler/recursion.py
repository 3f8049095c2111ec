"""Recursive Newton-Euler dynamics with 3x3 rotations (Barman 2020).

Velocities and accelerations travel from the base to the leaves, forces and moments back; unless
stated otherwise a vector of link j is written in the axes of link frame j.

Notation (p is the parent of joint j, c runs over its children; every symbol is a 3-vector but for
the 3x3 rotations and the scalar tau)

==================  ============================  ==============================================
paper               code                          meaning
==================  ============================  ==============================================
R_j                 R_j                           link axes j in parent link axes
0R_j                R0_j                          link axes j in base axes
Delta x_j           dx_j                          joint origin -> link origin
Delta x_Gj          dx_j + com                    joint origin -> centre of mass
--                  u                             parent link origin -> joint origin, parent axes
R_j^T e_z           s, t                          axis of rotation, axis of translation
omega_j             omega_j                       angular velocity of link j
j omega_{j-1}       omega_in_j                    omega_p in axes of link j; likewise alpha_in, a_in
omegadot_j          alpha_j                       angular acceleration
xddot_j             a_j                           acceleration of the link origin, minus gravity
--                  a_origin_j                    that of the joint origin, parent axes
xddot_Gj            a_G_j                         that of the centre of mass
H_j                 H_j                           angular momentum about the centre of mass
F_Gj, tau_Gj        F_G_j, n_G_j                  inertia force and moment
0F^e_k, 0tau^e_k    f_e_j_k, n_e_j_k              load k on link j, exerted by the environment
F_jp, tau_jp        f_j, n_j                      exerted by p on link j, moment at the joint origin
R_{j+1} F_(j+1)p    f_j_from_c                    f_c in the axes of link j
--                  o_j                           joint origin -> point of the moment of the joint
                                                  wrench, link axes; 0 for a standard row, dx_j
                                                  otherwise
tau_jp              n_o_j                         moment that the joint transmits, about that point
tau_j               tau_j                         torque (N m) or force (N) of the joint
==================  ============================  ==============================================

Joint wrenches are the reactions, with the moment about the joint's origin of the model format.
Rotor, damping, friction and spring act within the joint and have no part in them.

`NOTES` maps the labels of the statements to the equations; where the printed one is wrong the
corrected one is meant (Delta x_j, which the thesis never defines, is R_j^T times (2.11)).

Differences from the thesis, to the same result:

- Its joints leave from the parent's link origin; here u admits modified DH rows, free origins and
  links behind fixed joints.  For a standard row on a moving link u is 0.
- It adds -m_j 0R_j^T g to every link; here the recursion starts from a_0 = -g, so that gravity
  needs no rotation to the base (Luh, Walker, Paul 1980).
- The acceleration of the centre of mass is that of the link origin plus what the centre does
  relative to it, and moments are summed about the link origin and moved to the joint once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector, all_zero, identity, zero_vector
from symgen.formulations.shared import flat
from symgen.formulations.state import LinkMotion, State, Wrench
from symgen.formulations.torques import Run
from symgen.kinematics.joint import Joint
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder, Results

NOTES = {
    "NE-1": "R_j and dx_j of the joint -- Barman 2020 (2.10), (2.11)",
    "NE-2": "omega_in_j = R_j^T omega_p -- Barman 2020 (3.8)",
    "NE-3": "omega_j = omega_in_j + s qd_j -- Barman 2020 (3.5), (3.11)",
    "NE-4": "alpha_in_j = R_j^T alpha_p -- Barman 2020 (3.14)",
    "NE-5": "alpha_j = alpha_in_j + s qdd_j + omega_in_j x s qd_j -- Barman 2020 (3.17), (3.20)",
    "NE-6": "a_in_j = R_j^T (a_p + alpha_p x u + omega_p x (omega_p x u)) -- Barman 2020 (3.47)",
    "NE-7": "a_j = a_in_j + alpha_j x dx_j + omega_j x (omega_j x dx_j) + 2 omega_j x t qd_j "
    "+ t qdd_j -- Barman 2020 (3.50), (3.53)",
    "NE-8": "a_G_j = a_j + alpha_j x com + omega_j x (omega_j x com) -- Barman 2020 (3.56), (3.59)",
    "NE-9": "R0_j = R0_p R_j -- Barman 2020 (3.62)",
    "NE-10": "H_j = I_j omega_j -- Barman 2020 (3.64)",
    "NE-11": "F_G_j = m_j a_G_j, gravity being in a_0 = -g -- Barman 2020 (3.67)",
    "NE-12": "n_G_j = I_j alpha_j + omega_j x H_j -- Barman 2020 (3.69)",
    "NE-13": "f_e = R0_j^T F^e, n_e = R0_j^T tau^e -- Barman 2020 (3.76), (3.88)",
    "NE-14": "f_j = F_G_j - sum f_e + sum_c R_c f_c -- Barman 2020 (3.72), (3.74), (3.78)",
    "NE-15": "n_j = n_G_j + (dx_j + com) x F_G_j - sum (n_e + (dx_j + r) x f_e) "
    "+ sum_c (R_c n_c + (dx_j + u_c) x R_c f_c), r the point of the load "
    "-- Barman 2020 (3.80), (3.82), (3.84), (3.86), (3.88), (3.90)",
    "NE-33": "n_o_j = n_j - o_j x f_j",
    "NE-16": "tau_j = s . n_j + t . f_j -- Barman 2020 (3.92), (3.94)",
    "d NE-4": "d alpha_in_j -- Barman 2020 (3.15), (3.16)",
    "d NE-5": "d alpha_j -- Barman 2020 (3.18), (3.19), (3.21), (3.22)",
    "d NE-6": "d a_in_j -- Barman 2020 (3.48), (3.49)",
    "d NE-7": "d a_j -- Barman 2020 (3.51), (3.52), (3.54), (3.55)",
    "d NE-8": "d a_G_j -- Barman 2020 (3.57), (3.58), (3.60), (3.61)",
    "d NE-10": "d H_j -- Barman 2020 (3.65), (3.66)",
    "d NE-11": "d F_G_j -- Barman 2020 (3.68)",
    "d NE-12": "d n_G_j -- Barman 2020 (3.70), (3.71)",
    "d NE-13": "d f_e, d n_e: the loads turn against link j -- Barman 2020 (3.77), (3.89)",
    "d NE-14": "d f_j -- Barman 2020 (3.73), (3.75), (3.79)",
    "d NE-15": "d n_j -- Barman 2020 (3.81), (3.83), (3.85), (3.87), (3.89), (3.91)",
    "d NE-16": "d tau_j -- Barman 2020 (3.93), (3.95)",
}


@dataclass(frozen=True)
class JointFrame(Generic[S]):
    """NE-1: quantities of a joint at a given q.  See the notation of the module."""

    joint: Joint[S]
    R: Matrix[S]
    u: Vector[S]
    dx: Vector[S]
    s: Vector[S]
    t: Vector[S]


@dataclass(frozen=True)
class Turning(Generic[S]):
    """Angular velocity of a link, and that of its parent, both in the axes of the link."""

    omega_in: Vector[S]
    omega: Vector[S]


@dataclass(frozen=True)
class Twist(Generic[S]):
    """Angular velocity of a link and velocity of one of its points, or derivatives, link axes.

    The point is the origin of the link's frame, or where the code says so its centre of mass.
    """

    omega: Vector[S]
    v: Vector[S]


@dataclass(frozen=True)
class LoadForces(Generic[S]):
    """NE-13: the sum of the loads on a link, force and moment about its origin, link axes."""

    f: Vector[S]
    n: Vector[S]


@dataclass(frozen=True)
class Reaction(Generic[S]):
    """Force and moment that the parent exerts on a link at its joint's origin, link axes."""

    f: Vector[S]
    n: Vector[S]


T = TypeVar("T")

Children = Sequence[tuple[JointFrame[S], T]]
"""The joints on one link, with something that was computed for each."""


# -- steps, one joint each ---------------------------------------------------------------------


def turning_step(at: JointFrame[S], omega_p: Vector[S], qd: S, b: ProgramBuilder[S]) -> Turning[S]:
    """Write the angular velocity: NE-2, NE-3."""
    j = at.joint.number
    with b.step("forward", at.joint.name):
        omega_in = b.let(f"omega_in_{j}", at.R.apply_transposed(omega_p), "NE-2")
        return Turning(omega_in, b.let(f"omega_{j}", omega_in + at.s * qd, "NE-3"))


def motion_step(
    at: JointFrame[S],
    parent: LinkMotion[S],
    turning: Turning[S],
    qd: S,
    qdd: S,
    b: ProgramBuilder[S],
) -> LinkMotion[S]:
    """Write the accelerations: NE-4 to NE-7."""
    j, R, dx = at.joint.number, at.R, at.dx
    omega_p, omega = turning.omega_in, turning.omega
    with b.step("forward", at.joint.name):
        alpha_p = b.let(f"alpha_in_{j}", R.apply_transposed(parent.alpha), "NE-4")
        alpha = b.let(f"alpha_{j}", alpha_p + at.s * qdd + omega_p.cross(at.s * qd), "NE-5")
        origin = b.let(f"a_origin_{j}", parent.a + carried(parent, at.u), "NE-6")
        a_p = b.let(f"a_in_{j}", R.apply_transposed(origin), "NE-6")
        sliding = omega.cross(at.t * (qd + qd)) + at.t * qdd
        motion = LinkMotion(omega, alpha, a_p)
        return LinkMotion(
            omega, alpha, b.let(f"a_{j}", a_p + carried(motion, dx) + sliding, "NE-7")
        )


def reaction_step(
    at: JointFrame[S],
    motion: LinkMotion[S],
    load: LoadForces[S],
    children: Children[S, Reaction[S]],
    b: ProgramBuilder[S],
) -> Reaction[S]:
    """NE-8, NE-10 to NE-12, NE-14, NE-15"""
    j, body = at.joint.number, at.joint.body
    with b.step("backward", at.joint.name):
        a_G = b.let(f"a_G_{j}", motion.a + carried(motion, body.com), "NE-8")
        H = b.let(f"H_{j}", body.inertia.apply(motion.omega), "NE-10")
        F_G = b.let(f"F_G_{j}", a_G * body.mass, "NE-11")
        spin = body.inertia.apply(motion.alpha) + motion.omega.cross(H)
        n_G = b.let(f"n_G_{j}", spin, "NE-12")
        f = F_G - load.f
        n = n_G + body.com.cross(F_G) - load.n  # about the link origin; moved to the joint below
        for child, reaction in children:
            f_c = b.let(f"f_{j}_from_{child.joint.number}", child.R.apply(reaction.f), "NE-14")
            f = f + f_c
            n = n + child.R.apply(reaction.n) + child.u.cross(f_c)
        f = b.let(f"f_{j}", f, "NE-14")
        return Reaction(f, b.let(f"n_{j}", n + at.dx.cross(f), "NE-15"))


def torque_step(at: JointFrame[S], reaction: Reaction[S], b: ProgramBuilder[S]) -> S:
    """Write the torque: NE-16."""
    with b.step("torque", at.joint.name):
        torque = at.s.dot(reaction.n) + at.t.dot(reaction.f)
        return b.let(f"tau_{at.joint.number}", torque, "NE-16")


def carried(motion: LinkMotion[S], r: Vector[S]) -> Vector[S]:
    """Acceleration of the point at r relative to the origin: alpha x r + omega x (omega x r)."""
    return motion.alpha.cross(r) + motion.omega.cross(motion.omega.cross(r))


# -- sweeps over the tree ----------------------------------------------------------------------


def frames_sweep(
    tree: KinematicTree[S], b: ProgramBuilder[S], q: Sequence[S], links: Iterable[int] | None = None
) -> list[JointFrame[S]]:
    """Write NE-1 for the joints on the way to `links`, or all of them, parents before children."""
    wanted = range(1, tree.n + 1) if links is None else links
    algebra, frames = b.algebra, list[JointFrame[S]]()
    for j in tree.towards(wanted):
        joint, x = tree.joint(j), q[j - 1]
        s, t = joint.angular_axis(algebra), joint.linear_axis(algebra)
        with b.step("frames", joint.name):
            R = b.let(f"R_{j}", joint.transform(x, algebra).rotation, "NE-1")
            dx = b.let(f"dx_{j}", joint.origin_to_link(x, algebra), "NE-1")
        frames.append(JointFrame(joint, R, joint.placement.tree.translation, dx, s, t))
    return frames


def motion_sweep(
    frames: Sequence[JointFrame[S]],
    b: ProgramBuilder[S],
    qd: Sequence[S],
    qdd: Sequence[S],
    base: Vector[S],
) -> dict[int, LinkMotion[S]]:
    """Motion of every link; `base` is the acceleration of the base (-g)."""
    motions = {BASE: LinkMotion(zero_vector(b.algebra), zero_vector(b.algebra), base)}
    for at in frames:
        j, i, parent = at.joint.number, at.joint.number - 1, motions[at.joint.parent]
        turning = turning_step(at, parent.omega, qd[i], b)
        motions[j] = motion_step(at, parent, turning, qd[i], qdd[i], b)
    return motions


def rotation_sweep(
    tree: KinematicTree[S], frames: Sequence[JointFrame[S]], b: ProgramBuilder[S], wanted: set[int]
) -> dict[int, Matrix[S]]:
    """Write NE-9 for the links in `wanted` and those on the way to them."""
    needed = tree.towards(wanted)
    rotations = {BASE: identity(b.algebra)}
    for at in frames:
        j = at.joint.number
        if j in needed:
            with b.step("rotations", at.joint.name):
                rotations[j] = b.let(f"R0_{j}", rotations[at.joint.parent] @ at.R, "NE-9")
    return rotations


def load_sweep(
    tree: KinematicTree[S],
    frames: Sequence[JointFrame[S]],
    b: ProgramBuilder[S],
    loads: Sequence[Wrench[S]],
) -> dict[int, LoadForces[S]]:
    """Write NE-13 for every loaded link."""
    by_link: dict[int, list[tuple[Vector[S], Wrench[S]]]] = {}
    for place, wrench in zip(tree.loads, loads, strict=True):
        if place.body != BASE and not all_zero((*wrench.force, *wrench.moment), b.algebra):
            by_link.setdefault(place.body, []).append((place.point, wrench))
    rotations = rotation_sweep(tree, frames, b, set(by_link))
    sums: dict[int, LoadForces[S]] = {}
    for j in sorted(by_link):
        f = n = zero_vector(b.algebra)
        with b.step("loads", tree.joint(j).name):
            for k, (point, wrench) in enumerate(by_link[j], start=1):
                f_e = b.let(f"f_e_{j}_{k}", rotations[j].apply_transposed(wrench.force), "NE-13")
                n_e = b.let(f"n_e_{j}_{k}", rotations[j].apply_transposed(wrench.moment), "NE-13")
                f, n = f + f_e, n + n_e + point.cross(f_e)
        sums[j] = LoadForces(f, n)
    return sums


def reaction_sweep(
    frames: Sequence[JointFrame[S]],
    motions: dict[int, LinkMotion[S]],
    loads: dict[int, LoadForces[S]],
    b: ProgramBuilder[S],
) -> dict[int, Reaction[S]]:
    """Reactions of all joints, leaves first."""
    nothing = LoadForces(zero_vector(b.algebra), zero_vector(b.algebra))

    def step(at: JointFrame[S], children: Children[S, Reaction[S]]) -> Reaction[S]:
        j = at.joint.number
        return reaction_step(at, motions[j], loads.get(j, nothing), children, b)

    reactions, _ = leaves_first(frames, step)
    return reactions


def leaves_first(
    frames: Sequence[JointFrame[S]], step: Callable[[JointFrame[S], Children[S, T]], T]
) -> tuple[dict[int, T], Children[S, T]]:
    """Results of `step`, which gets those of the children: by joint, and those on the base."""
    results: dict[int, T] = {}
    children: dict[int, list[tuple[JointFrame[S], T]]] = {}
    for at in reversed(frames):
        j = at.joint.number
        results[j] = step(at, children.get(j, [])[::-1])
        children.setdefault(at.joint.parent, []).append((at, results[j]))
    return results, children.get(BASE, [])[::-1]


def torques(
    tree: KinematicTree[S],
    frames: Sequence[JointFrame[S]],
    b: ProgramBuilder[S],
    state: State[S],
    base: Vector[S],
) -> list[S]:
    """Write the recursion, and return tau of every joint."""
    motions = motion_sweep(frames, b, state.qd, state.qdd, base)
    loads = load_sweep(tree, frames, b, state.loads)
    reactions = reaction_sweep(frames, motions, loads, b)
    return [torque_step(at, reactions[at.joint.number], b) for at in frames]


def rigid(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Run:
    """See `symgen.formulations.torques.Rigid`."""
    frames, still = frames_sweep(tree, b, state.q), zero_vector(b.algebra)
    return lambda at, gravity: torques(tree, frames, b, at, -tree.gravity if gravity else still)


def joint_wrenches(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """[f n_o] of every joint, (n, 6)."""
    frames = frames_sweep(tree, b, state.q)
    motions = motion_sweep(frames, b, state.qd, state.qdd, -tree.gravity)
    loads = load_sweep(tree, frames, b, state.loads)
    reactions = reaction_sweep(frames, motions, loads, b)
    rows = [wrench_step(at, state.q, reactions[at.joint.number], b) for at in frames]
    return {"joint_wrenches": flat(rows)}


def wrench_step(
    at: JointFrame[S], q: Sequence[S], reaction: Reaction[S], b: ProgramBuilder[S]
) -> tuple[S, ...]:
    """Write the wrench about the joint origin: NE-33."""
    joint = at.joint
    o = joint.wrench_origin(q[joint.number - 1], b.algebra)
    with b.step("wrenches", joint.name):
        n_o = b.let(f"n_o_{joint.number}", reaction.n - o.cross(reaction.f), "NE-33")
    return (*reaction.f, *n_o)
