"""Recursive Lagrangian dynamics with 4x4 transforms on open trees.

Sources: Xiang, Arora, Abdel-Malek 2009 for the recursion and its sensitivities on a chain, and the
open-tree paper (recursive Lagrangian sensitivity of open-tree systems) for trees and several loads.
Poses and their first two time derivatives travel from the base to the leaves; what inertia, weight
and loads amount to travels back.

Notation (p is the parent of joint j, c runs over its children; base axes unless stated otherwise)

=========  =========  =========  =====  =========================================================
Xiang      open tree  code       shape  meaning
=========  =========  =========  =====  =========================================================
--         --         U_j        4x4    joint frame j in the parent's link frame, constant
T_j        A_i        T_j        4x4    link frame j in joint frame j
--         Z          Z_j        4x4    generator of the joint, constant: dT_j/dq_j = Z_j T_j
z_0        w_0        z_j        4x1    axis of rotation in joint frame j, 0 for a translation
A_j        T_i        A_j        4x4    pose of link frame j in the base frame
B_j, C_j   S_i, R_i   B_j, C_j   4x4    its first and second time derivative
A_{j-1}    T_p        A_in_j     4x4    A_p U_j, joint frame j in the base; likewise B_in_j, C_in_j
--         --         B_at_j     4x4    B_j T_j^-1; likewise C_at_j
--         --         P          4x4    A_in_j Z_j = (dA_j/dq_j) T_j^-1
I_j        J_i        I_j        4x4    pseudo-inertia of link j about its frame's origin
D_j        H_i        D_j        4x4    sum of r a^T dm over all that link j carries, and itself:
                                        r in link axes, a the acceleration in base axes
E_j        E_i        E_j        4x1    sum of r dm over the same
F_i        F_i        F_load_j   4x1    point of the load in link frame j, one for every load
G_i        G_i        G_j        4x1    sum of the moments of the loads
T_j D_j    A_i H_i    TD_j       4x4    D_j in joint frame j; likewise TE_j, TF_load_j
tau_j      Q_i        tau_j             torque (N m) or force (N) of the joint
=========  =========  =========  =====  =========================================================

`NOTES` maps the labels of the statements to the equations; where the printed one is wrong the
corrected one is meant: every child brings its own T_c to the sums over children, F is one column
for every load, and gravity and loads carry minus signs because g is the acceleration of gravity
and the environment exerts the loads on the links.

Differences from the papers, to the same result:

- Their joints act about the parent's z axis; here U_j, constant, stands in between.  For a standard
  DH row it is the identity, and A_in_j is A_p.
- Time derivatives of T_j are Z_j T_j qd_j, as the open-tree paper has it, so that (13) and (14) of
  Xiang become one product with T_j each.
- tau_j needs dA_j/dq_j D_j = P (T_j D_j) only, and T_j D_j is what the parent adds up anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import (
    Matrix,
    Vector,
    all_zero,
    inner,
    matrix_sum,
    skew_vector,
    total,
    trace_of_product,
)
from symgen.formulations.state import State, Wrench
from symgen.formulations.torques import Run, weightless
from symgen.kinematics.bodies import BodyPoint
from symgen.kinematics.joint import Joint
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "RL-1": "U_j and T_j of the joint -- Xiang 2009 (1); dT_j/dq_j = Z_j T_j -- open-tree paper, "
    "after (4)",
    "RL-2": "A_j = A_in_j T_j, A_in_j = A_p U_j -- Xiang 2009 (12), open-tree paper (5)",
    "RL-3": "B_j = B_at_j T_j, B_at_j = B_in_j + A_in_j Z_j qd_j, B_in_j = B_p U_j "
    "-- Xiang 2009 (13), open-tree paper (5)",
    "RL-4": "C_j = C_at_j T_j, C_at_j = C_in_j + (B_in_j + B_at_j) Z_j qd_j + A_in_j Z_j qdd_j, "
    "C_in_j = C_p U_j -- Xiang 2009 (14), open-tree paper (5)",
    "RL-5": "D_j = I_j C_j^T + sum_c U_c T_c D_c -- Xiang 2009 (17), (37b)",
    "RL-6": "E_j = m_j r_j + sum_c U_c T_c E_c -- Xiang 2009 (18), (37b)",
    "RL-7": "F_j = r_load on the loaded link, sum_c U_c T_c F_c below it -- Xiang 2009 (19), (37b)",
    "RL-8": "G_j = sum of own moments + sum_c G_c -- Xiang 2009 (20), (37b)",
    "RL-9": "tau_j = tr(P TD_j) - g . P TE_j - sum_loads f . P TF_j - G_j . A_in_j z_j, "
    "P = A_in_j Z_j -- Xiang 2009 (16), open-tree paper (9)",
    "d RL-2": "dA_j/dq_k = dA_p/dq_k U_j T_j, for k = j A_in_j dT_j/dq_j -- Xiang 2009 (21)",
    "d RL-3": "dB_j -- Xiang 2009 (22), (23)",
    "d RL-4": "dC_j -- Xiang 2009 (24)-(26)",
    "d RL-5": "dD_j = I_j dC_j^T + sum_c U_c dTD_c, dTD_c = T_c dD_c + dT_c D_c "
    "-- Xiang 2009 (27)-(29), open-tree paper (13), (14)",
    "d RL-6": "dE_j = sum_c U_c dTE_c, dTE_c = T_c dE_c + dT_c E_c -- Xiang 2009 (30)",
    "d RL-7": "dF_j = sum_c U_c dTF_c, dTF_c = T_c dF_c + dT_c F_c -- Xiang 2009 (31)",
    "d RL-9": "dtau_j = tr(dP TD_j + P dTD_j) - g . (dP TE_j + P dTE_j) "
    "- sum_loads f . (dP TF_j + P dTF_j) - G_j . dA_in_j z_j -- Xiang 2009 (33)-(35)",
}


@dataclass(frozen=True)
class JointFrame(Generic[S]):
    """RL-1: quantities of a joint at a given q.  See the notation of the module."""

    joint: Joint[S]
    U: Matrix[S]
    T: Matrix[S]
    Z: Matrix[S]
    z: Matrix[S]


@dataclass(frozen=True)
class Position(Generic[S]):
    """Pose of a link: RL-2."""

    A_in: Matrix[S]
    A: Matrix[S]


@dataclass(frozen=True)
class Velocity(Generic[S]):
    """Rate of a pose: RL-3."""

    B_in: Matrix[S]
    B_at: Matrix[S]
    B: Matrix[S]


@dataclass(frozen=True)
class Pull(Generic[S]):
    """A load that acts: RL-7 of its point by joint (TF_load_j), and its force, (4, 1)."""

    name: str
    TF: Mapping[int, Matrix[S]]
    force: Matrix[S]


@dataclass(frozen=True)
class Recursion(Generic[S]):
    """All that RL-1 to RL-8 compute at one state, by joint; what vanishes is left out."""

    frames: Sequence[JointFrame[S]]
    positions: Mapping[int, Position[S]]
    g: Matrix[S]
    TD: Mapping[int, Matrix[S]]
    TE: Mapping[int, Matrix[S]]
    pulls: Sequence[Pull[S]]
    G: Mapping[int, Matrix[S]]


# -- steps, one joint each ---------------------------------------------------------------------


def torque_step(at: JointFrame[S], recursion: Recursion[S], b: ProgramBuilder[S]) -> S:
    """Write the torque: RL-9."""
    j = at.joint.number
    A_in = recursion.positions[j].A_in
    P = A_in @ at.Z
    terms: list[S] = []
    if j in recursion.TD:
        terms.append(trace_of_product(P, recursion.TD[j]))
    if j in recursion.TE:
        terms.append(-dot(recursion.g, P @ recursion.TE[j]))
    terms += [-dot(pull.force, P @ pull.TF[j]) for pull in recursion.pulls if j in pull.TF]
    if j in recursion.G:
        terms.append(-dot(recursion.G[j], A_in @ at.z))
    with b.step("torque", at.joint.name):
        return b.let(f"tau_{j}", total(terms, b.algebra), "RL-9")


# -- sweeps over the tree ----------------------------------------------------------------------


def frames_sweep(
    tree: KinematicTree[S], b: ProgramBuilder[S], q: Sequence[S], links: Iterable[int] | None = None
) -> list[JointFrame[S]]:
    """Write RL-1 for the joints on the way to `links`, or all of them, parents before children."""
    wanted, algebra = range(1, tree.n + 1) if links is None else links, b.algebra
    frames: list[JointFrame[S]] = []
    for j in tree.towards(wanted):
        joint = tree.joint(j)
        with b.step("joints", joint.name):
            U = b.let(f"U_{j}", joint.placement.tree.homogeneous(algebra), "RL-1")
            T = b.let(f"T_{j}", joint.pose_in_joint(q[j - 1], algebra).homogeneous(algebra), "RL-1")
            Z = b.let(f"Z_{j}", joint.generator(algebra), "RL-1")
        frames.append(JointFrame(joint, U, T, Z, z=column(skew_vector(Z), algebra.zero)))
    return frames


def position_sweep(frames: Sequence[JointFrame[S]], b: ProgramBuilder[S]) -> dict[int, Position[S]]:
    """RL-2; A_0 is the identity."""
    positions = {BASE: Position(identity(b.algebra), identity(b.algebra))}
    for at in frames:
        j, parent = at.joint.number, positions[at.joint.parent]
        with b.step("positions", at.joint.name):
            A_in = b.let(f"A_in_{j}", parent.A @ at.U, "RL-2")
            positions[j] = Position(A_in, b.let(f"A_{j}", A_in @ at.T, "RL-2"))
    return positions


def velocity_sweep(
    frames: Sequence[JointFrame[S]],
    positions: Mapping[int, Position[S]],
    b: ProgramBuilder[S],
    qd: Sequence[S],
) -> dict[int, Velocity[S]]:
    """RL-3; B_0 is 0."""
    still = zeros(b.algebra)
    velocities = {BASE: Velocity(still, still, still)}
    for at in frames:
        j, parent = at.joint.number, velocities[at.joint.parent]
        with b.step("velocities", at.joint.name):
            B_in = b.let(f"B_in_{j}", parent.B @ at.U, "RL-3")
            B_at = b.let(f"B_at_{j}", B_in + positions[j].A_in @ at.Z * qd[j - 1], "RL-3")
            velocities[j] = Velocity(B_in, B_at, b.let(f"B_{j}", B_at @ at.T, "RL-3"))
    return velocities


def acceleration_sweep(
    frames: Sequence[JointFrame[S]],
    positions: Mapping[int, Position[S]],
    velocities: Mapping[int, Velocity[S]],
    b: ProgramBuilder[S],
    state: State[S],
) -> dict[int, Matrix[S]]:
    """C_j of RL-4; C_0 is 0."""
    accelerations = {BASE: zeros(b.algebra)}
    for at in frames:
        j, parent = at.joint.number, accelerations[at.joint.parent]
        A_in, B_in, B_at = positions[j].A_in, velocities[j].B_in, velocities[j].B_at
        with b.step("accelerations", at.joint.name):
            C_in = b.let(f"C_in_{j}", parent @ at.U, "RL-4")
            C_at = C_in + (B_in + B_at) @ at.Z * state.qd[j - 1] + A_in @ at.Z * state.qdd[j - 1]
            C_at = b.let(f"C_at_{j}", C_at, "RL-4")
            accelerations[j] = b.let(f"C_{j}", C_at @ at.T, "RL-4")
    return accelerations


def carried_sweep(
    name: str,
    frames: Sequence[JointFrame[S]],
    links: Mapping[int, Matrix[S]],
    b: ProgramBuilder[S],
    note: str,
) -> dict[int, Matrix[S]]:
    """X_j = own_j + sum_c U_c T_c X_c, leaves first: T_j X_j of the links where anything is.

    The sums over all links next to the base are filed under `BASE`, in base axes.
    """
    passed: dict[int, Matrix[S]] = {}
    terms = {j: [matrix] for j, matrix in links.items() if not all_zero(matrix.entries, b.algebra)}
    for at in reversed(frames):
        j = at.joint.number
        if j in terms:
            with b.step("backward", at.joint.name):
                X = b.let(f"{name}_{j}", matrix_sum(terms[j]), note)
                passed[j] = b.let(f"T{name}_{j}", at.T @ X, note)
            terms.setdefault(at.joint.parent, []).append(at.U @ passed[j])
    return passed | ({BASE: matrix_sum(terms[BASE])} if BASE in terms else {})


def inertia_sweep(frames: Sequence[JointFrame[S]], b: ProgramBuilder[S]) -> dict[int, Matrix[S]]:
    """I_j of every link, by RL-5."""
    inertias: dict[int, Matrix[S]] = {}
    for at in frames:
        with b.step("inertia", at.joint.name):
            inertia = at.joint.body.pseudo_inertia(b.algebra)
            inertias[at.joint.number] = b.let(f"I_{at.joint.number}", inertia, "RL-5")
    return inertias


def momentum_rate_sweep(
    frames: Sequence[JointFrame[S]], accelerations: Mapping[int, Matrix[S]], b: ProgramBuilder[S]
) -> dict[int, Matrix[S]]:
    """RL-5: TD_j of every link."""
    inertias = inertia_sweep(frames, b)
    forces = {j: inertias[j] @ accelerations[j].transposed for j in inertias}
    return carried_sweep("D", frames, forces, b, "RL-5")


def weight_sweep(frames: Sequence[JointFrame[S]], b: ProgramBuilder[S]) -> dict[int, Matrix[S]]:
    """RL-6: TE_j of every link."""
    bodies = {at.joint.number: at.joint.body for at in frames}
    moments = {j: column(body.moments, body.mass) for j, body in bodies.items()}
    return carried_sweep("E", frames, moments, b, "RL-6")


def load_sweep(
    tree: KinematicTree[S],
    frames: Sequence[JointFrame[S]],
    b: ProgramBuilder[S],
    loads: Sequence[Wrench[S]],
) -> tuple[list[Pull[S]], dict[int, Matrix[S]]]:
    """Write RL-7 for every force that acts, and RL-8."""
    pulls: list[Pull[S]] = []
    moments: dict[int, list[Matrix[S]]] = {}
    for place, wrench in zip(tree.loads, loads, strict=True):
        force, moment = (column(v, b.algebra.zero) for v in (wrench.force, wrench.moment))
        if place.body != BASE and not all_zero(force.entries, b.algebra):
            pulls.append(Pull(place.name, point_sweep(place, frames, b), force))
        if place.body != BASE and not all_zero(moment.entries, b.algebra):
            moments.setdefault(place.body, []).append(moment)
    sums: dict[int, Matrix[S]] = {}
    for at in reversed(frames):
        j = at.joint.number
        if j in moments:
            with b.step("backward", at.joint.name):
                sums[j] = b.let(f"G_{j}", matrix_sum(moments[j]), "RL-8")
            moments.setdefault(at.joint.parent, []).append(sums[j])
    return pulls, sums


def point_sweep(
    place: BodyPoint[S], frames: Sequence[JointFrame[S]], b: ProgramBuilder[S]
) -> dict[int, Matrix[S]]:
    """RL-7: TF_load_j of the joints that carry the point of a load."""
    points = {place.body: column(place.point, b.algebra.one)}
    return carried_sweep(f"F_{place.name}", frames, points, b, "RL-7")


def rigid(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Run:
    """See `symgen.formulations.torques.Rigid`."""
    frames = frames_sweep(tree, b, state.q)
    return lambda at, gravity: torques(
        recursion(tree if gravity else weightless(tree), frames, b, at), b
    )


def recursion(
    tree: KinematicTree[S], frames: Sequence[JointFrame[S]], b: ProgramBuilder[S], state: State[S]
) -> Recursion[S]:
    """Write the recursion of a state: RL-2 to RL-8."""
    positions = position_sweep(frames, b)
    velocities = velocity_sweep(frames, positions, b, state.qd)
    accelerations = acceleration_sweep(frames, positions, velocities, b, state)
    TD = momentum_rate_sweep(frames, accelerations, b)
    TE = weight_sweep(frames, b)
    pulls, G = load_sweep(tree, frames, b, state.loads)
    g = column(tree.gravity, b.algebra.zero)
    return Recursion(frames, positions, g, TD, TE, pulls, G)


def torques(swept: Recursion[S], b: ProgramBuilder[S]) -> list[S]:
    """Write RL-9 for every joint."""
    return [torque_step(at, swept, b) for at in swept.frames]


def identity(algebra: Algebra[S]) -> Matrix[S]:
    """Return the 4x4 identity."""
    zero, unit = algebra.zero, algebra.one
    return Matrix([[unit if i == k else zero for k in range(4)] for i in range(4)])


def zeros(algebra: Algebra[S]) -> Matrix[S]:
    """Return the 4x4 zero matrix."""
    return Matrix([[algebra.zero] * 4] * 4)


def column(v: Vector[S], last: S) -> Matrix[S]:
    """[v; last]: last is 1 for a point and 0 for a direction."""
    return Matrix([[part] for part in (*v, last)])


def first_three(x: Matrix[S]) -> Vector[S]:
    """Return the Cartesian part of a 4x1 column."""
    return Vector(*(row[0] for row in x.rows[:3]))


def dot(x: Matrix[S], y: Matrix[S]) -> S:
    """x^T y of two columns."""
    return inner(x.entries, y.entries)
