"""Position, velocity and acceleration of points that are fixed in links, and of link frames.

Notation beyond that of `recursion.py` and `kinematics.py`: P is a point of the model and p its
place in the frame of its link j; x0_P is its position, v_P and a_P are its velocity and
acceleration in link axes, v0_P and a0_P in base axes.  The recursion of the
accelerations starts from rest, without gravity.

Only the joints on the way from the base to a point take part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Transform, Vector, zero_vector
from symgen.formulations.newton_euler.kinematics import origin_velocity_sweep, poses_of
from symgen.formulations.newton_euler.recursion import (
    Motion,
    carried,
    frames_sweep,
    motion_sweep,
    rotation_sweep,
)
from symgen.formulations.state import State
from symgen.kinematics.points import BodyPoint
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "NE-22": "x0_P = x0_j + R0_j p, v_P = v_j + omega_j x p, "
    "a_P = a_j + alpha_j x p + omega_j x (omega_j x p); v0_P = R0_j v_P, a0_P = R0_j a_P",
    "d NE-22": "d v0_P, d a0_P -- Barman 2020 (3.63)",
    "NE-42": "v0, w0, a0, alpha0 of a link frame: NE-22 of its origin, R0_j omega_j, R0_j alpha_j",
}


@dataclass(frozen=True)
class PointMotion(Generic[S]):
    """Position in the base frame; velocity and acceleration in the axes of the point's link."""

    x0: Vector[S]
    v: Vector[S]
    a: Vector[S]


def point_motion(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """NE-22, base axes: ``position``, ``velocity``, ``acceleration``, each (n_points, 3)."""
    frames = frames_sweep(tree, b, state.q, [point.body for point in tree.points])
    motions = motion_sweep(frames, b, state.qd, state.qdd, zero_vector(b.algebra))
    velocities = origin_velocity_sweep(frames, b, state.qd, motions)
    poses = poses_of(tree, frames, b)
    rows: list[tuple[Vector[S], Vector[S], Vector[S]]] = []
    for point in tree.points:
        link = point.body
        here = point_step(point, poses[link], velocities[link].v, motions[link], b)
        rows.append(base_step(point, poses[link], here, b))
    for i, name in enumerate(("position", "velocity", "acceleration")):
        b.output(name, (len(rows), 3), [part for row in rows for part in row[i]])


def link_motion(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """NE-42, base axes: ``link_velocities``, ``link_accelerations``, each (n_links, 6)."""
    frames = frames_sweep(tree, b, state.q, [frame.body for frame in tree.frames])
    motions = motion_sweep(frames, b, state.qd, state.qdd, zero_vector(b.algebra))
    velocities = origin_velocity_sweep(frames, b, state.qd, motions)
    rotations = rotation_sweep(tree, frames, b, {frame.body for frame in tree.frames})
    rates: list[S] = []
    accelerations: list[S] = []
    for frame in tree.frames:
        j, p, name = frame.body, frame.pose.translation, frame.name
        here, R0 = motions[j], rotations[j]
        with b.step("links", name):
            v = velocities[j].v + here.omega.cross(p)
            rates += b.let(f"v0_link_{name}", R0.apply(v), "NE-42")
            rates += b.let(f"w0_link_{name}", R0.apply(here.omega), "NE-42")
            accelerations += b.let(f"a0_link_{name}", R0.apply(here.a + carried(here, p)), "NE-42")
            accelerations += b.let(f"alpha0_link_{name}", R0.apply(here.alpha), "NE-42")
    b.output("link_velocities", (len(tree.frames), 6), rates)
    b.output("link_accelerations", (len(tree.frames), 6), accelerations)


def point_step(
    point: BodyPoint[S],
    pose: Transform[S],
    v: Vector[S],
    motion: Motion[S],
    b: ProgramBuilder[S],
    order: int = 2,
) -> PointMotion[S]:
    """NE-22, up to the velocity for order 1, the position for order 0; what is beyond is 0."""
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
    point: BodyPoint[S], pose: Transform[S], here: PointMotion[S], b: ProgramBuilder[S]
) -> tuple[Vector[S], Vector[S], Vector[S]]:
    """NE-22: position, velocity and acceleration in base axes."""
    P, R0 = point.name, pose.rotation
    with b.step("points", P):
        v0 = b.let(f"v0_{P}", R0.apply(here.v), "NE-22")
        return here.x0, v0, b.let(f"a0_{P}", R0.apply(here.a), "NE-22")
