"""Position, velocity and acceleration of points that are fixed in links.

Notation beyond that of `recursion.py` and `kinematics.py`: P is a point of the model and p its
place in the frame of its link j; x0_P is its position, v_P and a_P are its velocity and
acceleration in link axes, v0_P and a0_P in base axes.  The recursion of the
accelerations starts from rest, without gravity.

Only the joints on the way from the base to a point take part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Transform, Vector, zero_vector
from symgen.formulations.interface import State
from symgen.formulations.newton_euler.kinematics import frames_towards, poses_of, velocity_step
from symgen.formulations.newton_euler.recursion import JointFrame, Motion, carried, motion_sweep
from symgen.kinematics.tree import BASE, BodyPoint, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "NE-22": "x0_P = x0_j + R0_j p, v_P = v_j + omega_j x p, "
    "a_P = a_j + alpha_j x p + omega_j x (omega_j x p); v0_P = R0_j v_P, a0_P = R0_j a_P",
}


@dataclass(frozen=True)
class PointMotion(Generic[S]):
    """Position in the base frame; velocity and acceleration in the axes of the point's link."""

    x0: Vector[S]
    v: Vector[S]
    a: Vector[S]


def point_motion(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """NE-22, base axes: ``position``, ``velocity``, ``acceleration``, each (n_points, 3)."""
    frames = frames_towards(tree, (point.body for point in tree.points), b, state.q)
    motions = motion_sweep(frames, b, state.qd, state.qdd, zero_vector(b.algebra))
    velocities = velocity_sweep(frames, motions, b, state.qd)
    poses = poses_of(tree, frames, b)
    rows: list[tuple[Vector[S], Vector[S], Vector[S]]] = []
    for point in tree.points:
        link, R0 = point.body, poses[point.body].rotation
        here = point_step(point, poses[link], velocities[link], motions[link], b)
        with b.step("points", point.name):
            v0 = b.let(f"v0_{point.name}", R0.apply(here.v), "NE-22")
            a0 = b.let(f"a0_{point.name}", R0.apply(here.a), "NE-22")
        rows.append((here.x0, v0, a0))
    for i, name in enumerate(("position", "velocity", "acceleration")):
        b.output(name, (len(rows), 3), [part for row in rows for part in row[i]])


def velocity_sweep(
    frames: Sequence[JointFrame[S]],
    motions: dict[int, Motion[S]],
    b: ProgramBuilder[S],
    qd: Sequence[S],
) -> dict[int, Vector[S]]:
    """NE-18: velocities of the links' origins, link axes."""
    velocities = {BASE: zero_vector(b.algebra)}
    for at in frames:
        j, p = at.joint.number, at.joint.parent
        omega_p, omega = motions[p].omega, motions[j].omega
        velocities[j] = velocity_step(at, omega_p, velocities[p], omega, qd[j - 1], b)
    return velocities


def point_step(
    point: BodyPoint[S], pose: Transform[S], v: Vector[S], motion: Motion[S], b: ProgramBuilder[S]
) -> PointMotion[S]:
    """NE-22"""
    P, p = point.name, point.point
    with b.step("points", P):
        return PointMotion(
            x0=b.let(f"x0_{P}", pose.apply(p), "NE-22"),
            v=b.let(f"v_{P}", v + motion.omega.cross(p), "NE-22"),
            a=b.let(f"a_{P}", motion.a + carried(motion, p), "NE-22"),
        )
