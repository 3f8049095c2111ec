"""Centre of mass of all moving bodies, its Jacobian, momentum about it, and its matrix and rate.

All bodies that a joint carries are one rigid body for it: sums over them travel from the leaves to
the base, as the forces of `recursion.py` do.  Links that are fixed to the base are part of the
base.  Rotors have no share: as everywhere, they add an inertia to their joint and nothing to the
motion of the bodies.

Notation, added to that of `recursion.py` and `kinematics.py`

======  ====================================================================================
code    meaning
======  ====================================================================================
M       mass of all moving bodies
w_j     mass of body j as a fraction of M
W_j     that of all bodies that joint j carries
h_j     their first moments about the joint's origin, per M, link axes
x0_C    centre of mass, base frame
r_C     centre of mass seen from the hub, base axes
P_j     linear momentum of what joint j carries, link axes
L_j     its angular momentum about the joint's origin, link axes
P_0     linear momentum of everything, base axes
L_0     its angular momentum about the hub, base axes
L_C     the same about the centre of mass
======  ====================================================================================

Fractions of the mass are numbers as soon as the masses are, so that no division is left where
parameters become numbers.  Joints that carry nothing take no part.  A robot without mass has no
centre of mass; the base origin stands for it.

The trunk is the joints that carry all bodies: one for an arm, six for a robot that floats.  The
hub is the origin of the last one; where several joints on the base carry bodies, that of the
first.  Moments are summed about the hub, so that the distance from the base costs no digits.

The centroidal momentum matrix (Orin, Goswami 2008) has a column for every joint: the momentum of
the bodies that it carries, as one rigid body, when it alone moves at the rate 1.  The rate of the
momentum is the sum of all inertia forces, which `recursion.py` carries to the base.

Notation of the matrix and its rate

========  ==================================================================================
code      meaning
========  ==================================================================================
m_jC      mass of all that joint j carries
mc_jC     its first moments about the joint's origin, link axes
I_jC      its inertia about the joint's origin, link axes
from_C_k  from the centre of mass to the joint's origin, base axes
I_C       inertia of everything about its centre of mass, base axes
A_P_k     linear momentum per unit of qd_k, base axes
A_L_k     angular momentum about the centre of mass per unit of qd_k, base axes
========  ==================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector, all_zero, total, zero_vector
from symgen.algebra.spatial import RigidInertia
from symgen.formulations.newton_euler.kinematics import origin_velocity_sweep
from symgen.formulations.newton_euler.recursion import (
    Children,
    JointFrame,
    LoadForces,
    Twist,
    frames_sweep,
    leaves_first,
    motion_sweep,
    reaction_step,
    rotation_sweep,
)
from symgen.formulations.shared import flat
from symgen.formulations.state import State
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder, Results

NOTES = {
    "NE-26": "w_j = m_j / M, W_j = w_j + sum_c W_c",
    "NE-27": "h_j = w_j com + sum_c (R_c h_c + W_c u_c) + W_j dx_j; for the base it is x0_C, "
    "for the hub r_C",
    "NE-28": "d x0_C / d q_k = R0_k (s x h_k + W_k t)",
    "NE-29": "P_j = m_j v_G_j + sum_c R_c P_c, "
    "L_j = H_j + com x m_j v_G_j + sum_c (R_c L_c + u_c x R_c P_c) + dx_j x P_j; "
    "L_C = L_0 - r_C x P_0 with 0 for the hub",
    "NE-39": "m_jC, mc_jC, I_jC: sums of the body and of what its children carry, turned by R_c "
    "and moved by u_c, about the link's origin; moved by dx_j to the joint's; r_C and I_C of the "
    "whole; from_C_k = from_C_p + R0_p (dx_p + u_k), -r_C at the hub",
    "NE-40": "A_P_k = R0_k (t m + s x mc), A_L_k = R0_k (I s + mc x t) + from_C_k x A_P_k "
    "-- Orin, Goswami 2008",
    "NE-41": "dP/dt = f_0, dL_C/dt = n_0 - r_C x f_0 of the reactions at the hub, g = 0",
    "NE-43": "of the trunk, which moves everything as one body: "
    "A_P_k = m (R0_k t + from_C_k x s0), A_L_k = I_C s0, s0 = R0_k s",
}


@dataclass(frozen=True)
class Carried(Generic[S]):
    """Mass of what a joint carries, and its first moments about the joint's origin, per M."""

    W: S
    h: Vector[S]


@dataclass(frozen=True)
class Momentum(Generic[S]):
    """Momentum of what a joint carries, the angular one about the joint's origin, link axes."""

    P: Vector[S]
    L: Vector[S]


def center_of_mass(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Write the centre of mass, (3,): NE-26, NE-27."""
    frames = frames_sweep(tree, b, state.q, heavy_links(tree))
    x0_C, _ = mass_sweep(tree, frames, b)
    return {"center_of_mass": tuple(x0_C)}


def center_of_mass_jacobian(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """Write the Jacobian of the centre of mass, (3, n): NE-28."""
    frames = frames_sweep(tree, b, state.q, heavy_links(tree))
    _, carried = mass_sweep(tree, frames, b)
    rotations = rotation_sweep(tree, frames, b, {at.joint.number for at in frames})
    columns = [zero_vector(b.algebra) for _ in range(tree.n)]
    for at in frames:
        k = at.joint.number
        with b.step("columns", at.joint.name):
            moved = at.s.cross(carried[k].h) + at.t * carried[k].W
            columns[k - 1] = b.let(f"J_C_{k}", rotations[k].apply(moved), "NE-28")
    rows = [[getattr(column, axis) for column in columns] for axis in "xyz"]
    return {"center_of_mass_jacobian": flat(rows)}


def centroidal_momentum(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """Write the centroidal momentum, (6,): NE-29."""
    frames = frames_sweep(tree, b, state.q, body_links(tree))
    hanging = seated(tree, frames, b)
    r_C, _ = mass_sweep(tree, hanging, b, "r_C")
    velocities = origin_velocity_sweep(frames, b, state.qd)
    _, on_base = leaves_first(
        hanging, lambda at, children: momentum_step(at, velocities[at.joint.number], children, b)
    )
    with b.step("momentum"):
        momentum = _momenta_behind(BASE, on_base, b)
        P, L = b.let("P_0", momentum.P, "NE-29"), b.let("L_0", momentum.L, "NE-29")
        L_C = b.let("L_C", L - r_C.cross(P), "NE-29")
    return {"centroidal_momentum": [*P, *L_C]}


# -- steps, one joint each ---------------------------------------------------------------------


def momentum_step(
    at: JointFrame[S], velocity: Twist[S], children: Children[S, Momentum[S]], b: ProgramBuilder[S]
) -> Momentum[S]:
    """Write the momentum of a link: NE-10, NE-18, NE-29."""
    j, body, omega, v = at.joint.number, at.joint.body, velocity.omega, velocity.v
    with b.step("backward", at.joint.name):
        v_G = b.let(f"v_G_{j}", v + omega.cross(body.com), "NE-18")
        H = b.let(f"H_{j}", body.inertia.apply(omega), "NE-10")
        behind = _momenta_behind(j, children, b)
        P_G = b.let(f"P_G_{j}", v_G * body.mass, "NE-29")
        P = b.let(f"P_{j}", P_G + behind.P, "NE-29")
        L = H + body.com.cross(P_G) + behind.L + at.dx.cross(P)
        return Momentum(P, b.let(f"L_{j}", L, "NE-29"))


def _masses_behind(children: Children[S, Carried[S]], b: ProgramBuilder[S]) -> Carried[S]:
    """Sum the masses that the joints on one link carry, about the link's origin, in its axes."""
    W, h = b.algebra.zero, zero_vector(b.algebra)
    for child, carried in children:
        W = W + carried.W
        h = h + child.R.apply(carried.h) + child.u * carried.W
    return Carried(W, h)


def _momenta_behind(
    j: int, children: Children[S, Momentum[S]], b: ProgramBuilder[S]
) -> Momentum[S]:
    """Sum their momenta in the same way; to be called in a step."""
    P, L = zero_vector(b.algebra), zero_vector(b.algebra)
    for child, carried in children:
        P_c = b.let(f"P_{j}_from_{child.joint.number}", child.R.apply(carried.P), "NE-29")
        P = P + P_c
        L = L + child.R.apply(carried.L) + child.u.cross(P_c)
    return Momentum(P, L)


# -- sweeps over the tree ----------------------------------------------------------------------


def mass_sweep(
    tree: KinematicTree[S],
    frames: Sequence[JointFrame[S]],
    b: ProgramBuilder[S],
    center: str = "x0_C",
) -> tuple[Vector[S], dict[int, Carried[S]]]:
    """NE-26, NE-27: the centre of mass, and what every joint of `frames` carries."""
    if tree.massless:
        return zero_vector(b.algebra), {}
    with b.step("masses"):
        masses = {j: tree.joint(j).body.mass for j in heavy_links(tree)}
        M = b.let("M", total([*masses.values()], b.algebra), "NE-26")
        w = {j: b.let(f"w_{j}", mass / M, "NE-26") for j, mass in masses.items()}

    def step(at: JointFrame[S], children: Children[S, Carried[S]]) -> Carried[S]:
        j, behind = at.joint.number, _masses_behind(children, b)
        with b.step("backward", at.joint.name):
            W = b.let(f"W_{j}", w.get(j, b.algebra.zero) + behind.W, "NE-26")
            h = at.joint.body.com * w.get(j, b.algebra.zero) + behind.h + at.dx * W
            return Carried(W, b.let(f"h_{j}", h, "NE-27"))

    carried, on_base = leaves_first(frames, step)
    with b.step("centre of mass"):
        return b.let(center, _masses_behind(on_base, b).h, "NE-27"), carried


def trunk_of(tree: KinematicTree[S], frames: Sequence[JointFrame[S]]) -> list[JointFrame[S]]:
    """Return the joints that carry all bodies, from the base on: see the module."""
    paths = [tree.path(link) for link in body_links(tree)]
    return [at for at in frames if all(at.joint.number in path for path in paths)]


def seated(
    tree: KinematicTree[S],
    frames: Sequence[JointFrame[S]],
    b: ProgramBuilder[S],
    rotations: Mapping[int, Matrix[S]] | None = None,
) -> list[JointFrame[S]]:
    """`frames` as if the hub were the base origin: the last joint of the trunk comes first.

    `rotations` is the result of `rotation_sweep` where that is known.
    """
    trunk = trunk_of(tree, frames)
    if not trunk:
        hub = next((at.u for at in frames), zero_vector(b.algebra))
        return [replace(at, u=at.u - hub) if at.joint.parent == BASE else at for at in frames]
    last = trunk[-1]
    end, joint = last.joint.number, replace(last.joint, parent=BASE)
    rotations = rotations or rotation_sweep(tree, frames, b, {end})
    first = replace(last, joint=joint, R=rotations[end], u=zero_vector(b.algebra))
    return [first, *frames[len(trunk) :]]


def body_links(tree: KinematicTree[S]) -> list[int]:
    """Links whose body has mass or inertia, by structure."""
    turning = (j for j in tree.joints if not all_zero(j.body.inertia.entries, tree.algebra))
    return sorted({*heavy_links(tree), *(joint.number for joint in turning)})


def heavy_links(tree: KinematicTree[S]) -> list[int]:
    """Links whose body has mass, by structure; none where all masses have the value 0."""
    if tree.massless:
        return []
    return [j.number for j in tree.joints if not tree.algebra.is_zero(j.body.mass)]


def centroidal_momentum_matrix(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """Write the centroidal momentum matrix, (6, n): NE-40."""
    frames = frames_sweep(tree, b, state.q, body_links(tree))
    rotations = rotation_sweep(tree, frames, b, {at.joint.number for at in frames})
    hanging = seated(tree, frames, b, rotations)
    composites, on_seat = leaves_first(
        hanging, lambda at, children: composite_step(at, children, b)
    )
    m, r_C = b.algebra.zero, zero_vector(b.algebra)
    for at, composite in on_seat if not tree.massless else ():
        m, r_C = m + composite.m, r_C + at.R.apply(composite.h) + at.u * composite.m
    with b.step("centre of mass"):
        r_C = b.let("r_C", r_C if tree.massless else r_C * (b.algebra.one / m), "NE-39")
    arms = arm_sweep(tree, frames, rotations, r_C, b)
    columns: list[tuple[S, ...]] = [(b.algebra.zero,) * 6] * tree.n
    for at in hanging:
        k = at.joint.number
        R0, carried = rotations[k], composites[k]
        with b.step("columns", at.joint.name):
            P = at.t * carried.m + at.s.cross(carried.h)
            P0 = b.let(f"A_P_{k}", R0.apply(P), "NE-40")
            L = carried.J.apply(at.s) + carried.h.cross(at.t)
            L0 = b.let(f"A_L_{k}", R0.apply(L) + arms[k].cross(P0), "NE-40")
        columns[k - 1] = (*P0, *L0)
    trunk = trunk_of(tree, frames)
    if len(trunk) > 1:
        at, composite = on_seat[0]
        inertia = composite.turned(at.R).moved(-r_C)
        with b.step("centre of mass"):
            inertia = replace(inertia, J=b.let("I_C", inertia.J, "NE-39"))
        for at in trunk[:-1]:
            k = at.joint.number
            with b.step("columns", at.joint.name):
                s0 = b.let(f"s0_{k}", rotations[k].apply(at.s), "NE-43")
                P0 = (rotations[k].apply(at.t) + arms[k].cross(s0)) * inertia.m
                P0 = b.let(f"A_P_{k}", P0, "NE-43")
                columns[k - 1] = (*P0, *b.let(f"A_L_{k}", inertia.J.apply(s0), "NE-43"))
    rows = [[column[row] for column in columns] for row in range(6)]
    return {"centroidal_momentum_matrix": flat(rows)}


def centroidal_momentum_rate(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """Write the rate of the centroidal momentum, (6,): NE-41."""
    frames = frames_sweep(tree, b, state.q, body_links(tree))
    hanging = seated(tree, frames, b)
    r_C, _ = mass_sweep(tree, hanging, b, "r_C")
    still = zero_vector(b.algebra)
    with b.variant("_free", "without gravity and loads"):
        motions = motion_sweep(frames, b, state.qd, state.qdd, still)
        unloaded = LoadForces(still, still)
        _, on_seat = leaves_first(
            hanging,
            lambda at, children: reaction_step(at, motions[at.joint.number], unloaded, children, b),
        )
    f, n = zero_vector(b.algebra), zero_vector(b.algebra)
    with b.step("momentum"):
        for at, reaction in on_seat:
            f_c = b.let(f"f_0_from_{at.joint.number}", at.R.apply(reaction.f), "NE-41")
            f, n = f + f_c, n + at.R.apply(reaction.n) + at.u.cross(f_c)
        f, n = b.let("f_0", f, "NE-41"), b.let("n_0", n, "NE-41")
        about_C = b.let("dL_C", n - r_C.cross(f), "NE-41")
    return {"centroidal_momentum_rate": [*f, *about_C]}


# -- steps, one joint each ---------------------------------------------------------------------


def composite_step(
    at: JointFrame[S], children: Children[S, RigidInertia[S]], b: ProgramBuilder[S]
) -> RigidInertia[S]:
    """Write the composite body of a joint: NE-39."""
    j, body = at.joint.number, at.joint.body
    with b.step("backward", at.joint.name):
        inertia = RigidInertia(body.mass, zero_vector(b.algebra), body.inertia).moved(body.com)
        for child, carried in children:
            inertia = inertia + carried.turned(child.R).moved(child.u)
        inertia = inertia.moved(at.dx)
        return RigidInertia(
            b.let(f"m_{j}C", inertia.m, "NE-39"),
            b.let(f"mc_{j}C", inertia.h, "NE-39"),
            b.let(f"I_{j}C", inertia.J, "NE-39"),
        )


# -- sweeps over the tree ----------------------------------------------------------------------


def arm_sweep(
    tree: KinematicTree[S],
    frames: Sequence[JointFrame[S]],
    rotations: Mapping[int, Matrix[S]],
    r_C: Vector[S],
    b: ProgramBuilder[S],
) -> dict[int, Vector[S]]:
    """NE-39: from the centre of mass to the origins of the joints of `frames`, base axes.

    They are summed from the hub outward, and from it along the trunk to the base.
    """
    by_number = {at.joint.number: at for at in frames}
    arms: dict[int, Vector[S]] = {}

    def step(at: JointFrame[S]) -> Vector[S]:
        """From the origin of the parent joint to that of this one."""
        p = at.joint.parent
        return rotations[p].apply(by_number[p].dx + at.u)

    for at in seated(tree, frames, b, rotations):
        k, p = at.joint.number, at.joint.parent
        with b.step("arms", at.joint.name):
            arms[k] = b.let(f"from_C_{k}", at.u - r_C if p == BASE else arms[p] + step(at), "NE-39")
    for at in reversed(trunk_of(tree, frames)[1:]):
        k, p = at.joint.number, at.joint.parent
        with b.step("arms", by_number[p].joint.name):
            arms[p] = b.let(f"from_C_{p}", arms[k] - step(at), "NE-39")
    return arms
