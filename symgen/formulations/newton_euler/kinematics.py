"""Poses, motion and energies of links, and motion of points that are fixed in links.

Notation, added to that of `recursion.py`: x0_j is the origin of link frame j in the base frame, v_j
and v_G_j the velocities of that origin and of the centre of mass in link axes (x_j, xdot_j and
xdot_Gj of Barman 2020).
P is a point of the model and p its place in the frame of its link j; x0_P is its position, v_P and
a_P are its velocity and acceleration in link axes, v0_P and a0_P in base axes.  The recursion of
the accelerations starts from rest, without gravity, and has the joints on the way from the base to
a point alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Transform, Vector, total, zero_vector
from symgen.formulations.joint_terms import rotor_energy, spring_energy
from symgen.formulations.newton_euler.recursion import (
    JointFrame,
    Twist,
    carried,
    frames_sweep,
    motion_sweep,
    rotation_sweep,
    turning_step,
)
from symgen.formulations.shared import blocks_of_joints, flat
from symgen.formulations.state import LinkMotion, State
from symgen.kinematics.bodies import BodyPoint
from symgen.kinematics.joint import Joint
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder, Results

NOTES = {
    "NE-17": "x0_j = x0_p + R0_p u + R0_j dx_j -- Barman 2020 (3.23), (3.26), turned to base axes",
    "NE-18": "v_j = R_j^T (v_p + omega_p x u) + omega_j x dx_j + t qd_j, v_G_j = v_j "
    "+ omega_j x com -- Barman 2020 (3.32), (3.35), (3.38), (3.41), (3.44)",
    "NE-19": "energies of a link: twice the kinetic one m v_G . v_G + omega . H, and -m g . x_G",
    "NE-21": "column of a Jacobian: the axis, and its moment about the frame's origin",
    "NE-22": "x0_P = x0_j + R0_j p, v_P = v_j + omega_j x p, "
    "a_P = a_j + alpha_j x p + omega_j x (omega_j x p); v0_P = R0_j v_P, a0_P = R0_j a_P",
    "d NE-22": "d v0_P, d a0_P -- Barman 2020 (3.63)",
    "NE-42": "v0, w0, a0, alpha0 of a link frame: NE-22 of its origin, R0_j omega_j, R0_j alpha_j",
}


def kinetic_energy(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Write the kinetic energy: NE-10, NE-18, NE-19."""
    frames = frames_sweep(tree, b, state.q)
    velocities = origin_velocity_sweep(frames, b, state.qd)
    return {"kinetic_energy": [kinetic_energy_of(tree, frames, velocities, b, state)]}


def kinetic_energy_of(
    tree: KinematicTree[S],
    frames: Sequence[JointFrame[S]],
    velocities: Mapping[int, Twist[S]],
    b: ProgramBuilder[S],
    state: State[S],
) -> S:
    """NE-10, NE-18, NE-19: of all links and rotors."""
    energies: list[S] = []
    for at in frames:
        j, body = at.joint.number, at.joint.body
        omega, v = velocities[j].omega, velocities[j].v
        with b.step("energy", at.joint.name):
            v_G = b.let(f"v_G_{j}", v + omega.cross(body.com), "NE-18")
            H = b.let(f"H_{j}", body.inertia.apply(omega), "NE-10")
            twice = v_G.dot(v_G) * body.mass + omega.dot(H)
            energies.append(b.let(f"twice_T_{j}", twice, "NE-19"))
    bodies = total(energies, b.algebra) * b.algebra.constant(0.5)
    return bodies + rotor_energy(tree, b, state)


def origin_velocity_sweep(
    frames: Sequence[JointFrame[S]],
    b: ProgramBuilder[S],
    qd: Sequence[S],
    motions: Mapping[int, LinkMotion[S]] | None = None,
) -> dict[int, Twist[S]]:
    """NE-2, NE-3, NE-18: velocities of the links' origins; `motions` where omega is known."""
    velocities = {BASE: Twist(zero_vector(b.algebra), zero_vector(b.algebra))}
    for at in frames:
        j, parent, rate = at.joint.number, velocities[at.joint.parent], qd[at.joint.number - 1]
        turning = motions[j] if motions else turning_step(at, parent.omega, rate, b)
        omega = turning.omega
        velocities[j] = velocity_step(at, parent, omega, rate, b)
    return velocities


def velocity_step(
    at: JointFrame[S], parent: Twist[S], omega: Vector[S], qd: S, b: ProgramBuilder[S]
) -> Twist[S]:
    """NE-18: velocity of a link's origin, link axes."""
    j = at.joint.number
    with b.step("forward", at.joint.name):
        moved = at.R.apply_transposed(parent.v + parent.omega.cross(at.u))
        v_in = b.let(f"v_in_{j}", moved, "NE-18")
        return Twist(omega, b.let(f"v_{j}", v_in + omega.cross(at.dx) + at.t * qd, "NE-18"))


def potential_energy(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Write U: NE-19."""
    poses = pose_sweep(tree, b, state.q)
    return {"potential_energy": [potential_energy_of(tree, poses, b, state)]}


def potential_energy_of(
    tree: KinematicTree[S], poses: Mapping[int, Transform[S]], b: ProgramBuilder[S], state: State[S]
) -> S:
    """NE-19: of all links and springs."""
    energies: list[S] = []
    for joint in tree.joints:
        with b.step("energy", joint.name):
            height = -tree.gravity.dot(poses[joint.number].apply(joint.body.com))
            energies.append(b.let(f"U_{joint.number}", height * joint.body.mass, "NE-19"))
    springs = spring_energy(tree, b, state)
    return total(energies, b.algebra) + springs


def pose_sweep(
    tree: KinematicTree[S], b: ProgramBuilder[S], q: Sequence[S]
) -> dict[int, Transform[S]]:
    """NE-9, NE-17: poses of all links in the base frame."""
    return poses_of(tree, frames_sweep(tree, b, q), b)


def poses_of(
    tree: KinematicTree[S], frames: Sequence[JointFrame[S]], b: ProgramBuilder[S]
) -> dict[int, Transform[S]]:
    """NE-9, NE-17: poses in the base frame of the links of `frames` and of the base."""
    rotations = rotation_sweep(tree, frames, b, {at.joint.number for at in frames})
    poses = {BASE: Transform(rotations[BASE], zero_vector(b.algebra))}
    for at in frames:
        j, parent = at.joint.number, poses[at.joint.parent]
        with b.step("positions", at.joint.name):
            x0 = parent.apply(at.u) + rotations[j].apply(at.dx)
            poses[j] = Transform(rotations[j], b.let(f"x0_{j}", x0, "NE-17"))
    return poses


def forward_kinematics(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Pose of every link frame of the file."""
    poses = pose_sweep(tree, b, state.q)
    frames = [poses[frame.body] @ frame.pose for frame in tree.frames]
    return {"forward_kinematics": flat(frame.homogeneous(b.algebra).entries for frame in frames)}


def jacobians(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Write the Jacobians of link frames, (n_links, 6, n): NE-21."""
    poses = pose_sweep(tree, b, state.q)
    axes = axes_of(tree.joints, poses, b)
    blocks: list[dict[int, tuple[S, ...]]] = []
    for frame in tree.frames:
        origin = (poses[frame.body] @ frame.pose).translation
        on_path: dict[int, tuple[S, ...]] = {}
        with b.step("columns", frame.name):
            for j in tree.path(frame.body):
                z, t = axes[j]
                joint = tree.joint(j)
                arm = origin - poses[joint.parent].apply(joint.placement.tree.translation)
                linear = b.let(f"J_{frame.name}_{j}", t + z.cross(arm), "NE-21")
                on_path[j] = (*linear, *z)
        blocks.append(on_path)
    return {"jacobians": blocks_of_joints(tree, blocks, 6)}


def axes_of(
    joints: Iterable[Joint[S]], poses: Mapping[int, Transform[S]], b: ProgramBuilder[S]
) -> dict[int, tuple[Vector[S], Vector[S]]]:
    """NE-21: axes of rotation and of translation in the base frame, by joint."""
    axes: dict[int, tuple[Vector[S], Vector[S]]] = {}
    for joint in joints:
        j, R0 = joint.number, poses[joint.number].rotation
        with b.step("axes", joint.name):
            z = b.let(f"z0_{j}", R0.apply(joint.angular_axis(b.algebra)), "NE-21")
            axes[j] = z, b.let(f"t0_{j}", R0.apply(joint.linear_axis(b.algebra)), "NE-21")
    return axes


@dataclass(frozen=True)
class PointMotion(Generic[S]):
    """Position in the base frame; velocity and acceleration in the axes of the point's link."""

    x0: Vector[S]
    v: Vector[S]
    a: Vector[S]


def point_motion(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """NE-22, base axes: ``position``, ``velocity``, ``acceleration``, each (n_points, 3)."""
    frames = frames_sweep(tree, b, state.q, [point.body for point in tree.points])
    motions = motion_sweep(frames, b, state.qd, state.qdd, zero_vector(b.algebra))
    velocities = origin_velocity_sweep(frames, b, state.qd, motions)
    poses = poses_of(tree, frames, b)
    rows: list[tuple[Vector[S], Vector[S], Vector[S]]] = []
    for point in tree.points:
        link = point.body
        motion = point_step(point, poses[link], velocities[link].v, motions[link], b)
        rows.append(base_step(point, poses[link], motion, b))
    names = ("position", "velocity", "acceleration")
    return {name: flat(row[i] for row in rows) for i, name in enumerate(names)}


def link_motion(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """NE-42, base axes: ``link_velocities``, ``link_accelerations``, each (n_links, 6)."""
    frames = frames_sweep(tree, b, state.q, [frame.body for frame in tree.frames])
    motions = motion_sweep(frames, b, state.qd, state.qdd, zero_vector(b.algebra))
    velocities = origin_velocity_sweep(frames, b, state.qd, motions)
    rotations = rotation_sweep(tree, frames, b, {frame.body for frame in tree.frames})
    rates: list[S] = []
    accelerations: list[S] = []
    for frame in tree.frames:
        j, p, name = frame.body, frame.pose.translation, frame.name
        motion, R0 = motions[j], rotations[j]
        with b.step("links", name):
            v = velocities[j].v + motion.omega.cross(p)
            rates += b.let(f"v0_link_{name}", R0.apply(v), "NE-42")
            rates += b.let(f"w0_link_{name}", R0.apply(motion.omega), "NE-42")
            accelerations += b.let(
                f"a0_link_{name}", R0.apply(motion.a + carried(motion, p)), "NE-42"
            )
            accelerations += b.let(f"alpha0_link_{name}", R0.apply(motion.alpha), "NE-42")
    return {"link_velocities": rates, "link_accelerations": accelerations}


def point_step(
    point: BodyPoint[S],
    pose: Transform[S],
    v: Vector[S],
    motion: LinkMotion[S],
    b: ProgramBuilder[S],
    order: int = 2,
) -> PointMotion[S]:
    """NE-22, up to the velocity for order 1, the position for order 0; higher rates are 0."""
    P, p = point.name, point.point
    v_P = a_P = zero_vector(b.algebra)
    with b.step("points", P):
        x0_P = b.let(f"x0_{P}", pose.apply(p), "NE-22")
        if order > 0:
            v_P = b.let(f"v_{P}", v + motion.omega.cross(p), "NE-22")
        if order > 1:
            a_P = b.let(f"a_{P}", motion.a + carried(motion, p), "NE-22")
    return PointMotion(x0_P, v_P, a_P)


def base_step(
    point: BodyPoint[S], pose: Transform[S], motion: PointMotion[S], b: ProgramBuilder[S]
) -> tuple[Vector[S], Vector[S], Vector[S]]:
    """NE-22: position, velocity and acceleration in base axes."""
    P, R0 = point.name, pose.rotation
    with b.step("points", P):
        v0 = b.let(f"v0_{P}", R0.apply(motion.v), "NE-22")
        return motion.x0, v0, b.let(f"a0_{P}", R0.apply(motion.a), "NE-22")
