"""Ends of loops, by the recursion of `recursion.py`: positions, rates, derivatives by joints.

Notation, added to that of `kinematics.py`: e is a vector that is fixed in link j, e0 in base axes,
and with the axis z0_k and the origin of joint k, de0/dq_k = z0_k x e0 as for the columns of
Jacobians.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Transform, Vector, zero_vector
from symgen.formulations.constraints import (
    RATE,
    SECOND_RATE,
    Moving,
    Supplied,
    Wanted,
    functions_of,
    supplied_by,
)
from symgen.formulations.newton_euler.kinematics import axes_of, origin_velocity_sweep, poses_of
from symgen.formulations.newton_euler.recursion import (
    Twist,
    carried,
    frames_sweep,
    motion_sweep,
)
from symgen.formulations.state import LinkMotion, State
from symgen.kinematics.bodies import BodyPoint
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "NE-45": "e0 = R0_j e, e0' = R0_j (omega_j x e), "
    "e0'' = R0_j (alpha_j x e + omega_j x (omega_j x e))",
    "NE-46": "derivative by a joint: z0_k x e0, for points with the arm from the joint's origin",
}


@dataclass(frozen=True)
class _Bodies(Generic[S]):
    """Poses in the base frame, motions in link axes, and axes of joints in base axes."""

    tree: KinematicTree[S]
    b: ProgramBuilder[S]
    wanted: Wanted
    poses: Mapping[int, Transform[S]]
    velocities: Mapping[int, Twist[S]]
    motions: Mapping[int, LinkMotion[S]]
    joint_axes: Mapping[int, tuple[Vector[S], Vector[S]]]

    def point(self, name: str, body: int, p: Vector[S]) -> Moving[Vector[S]]:
        """NE-22, NE-46: a point of a body."""
        b, R0 = self.b, self.poses[body].rotation
        rate = second = zero_vector(b.algebra)
        at = b.let(f"x0_{name}", self.poses[body].apply(p), "NE-22")
        if self.wanted.order >= RATE and body != BASE:
            twist = self.velocities[body]
            rate = b.let(f"v0_{name}", R0.apply(twist.v + twist.omega.cross(p)), "NE-22")
        if self.wanted.order >= SECOND_RATE and body != BASE:
            motion = self.motions[body]
            second = b.let(f"a0_{name}", R0.apply(motion.a + carried(motion, p)), "NE-22")
        columns = {}
        for j, z, t, origin in self.joints_of(body):
            columns[j] = b.let(f"x0_{name}_by_{j}", t + z.cross(at - origin), "NE-46")
        return Moving(at, rate, second, columns)

    def direction(self, name: str, body: int, e: Vector[S]) -> Moving[Vector[S]]:
        """NE-45, NE-46: a vector that is fixed in a body."""
        b, R0 = self.b, self.poses[body].rotation
        rate = second = zero_vector(b.algebra)
        at = b.let(f"e0_{name}", R0.apply(e), "NE-45")
        if self.wanted.order >= RATE and body != BASE:
            turning = self.velocities[body].omega.cross(e)
            rate = b.let(f"ed0_{name}", R0.apply(turning), "NE-45")
        if self.wanted.order >= SECOND_RATE and body != BASE:
            second = b.let(f"edd0_{name}", R0.apply(carried(self.motions[body], e)), "NE-45")
        columns = {}
        for j, z, _, _ in self.joints_of(body):
            columns[j] = b.let(f"e0_{name}_by_{j}", z.cross(at), "NE-46")
        return Moving(at, rate, second, columns)

    def joints_of(self, body: int) -> Iterator[tuple[int, Vector[S], Vector[S], Vector[S]]]:
        """Return number, axes and origin in the base frame of every joint that moves a body."""
        for j in self.tree.path(body) if self.wanted.by_joint else ():
            joint = self.tree.joint(j)
            origin = self.poses[joint.parent].apply(joint.placement.tree.translation)
            yield j, *self.joint_axes[j], origin


def supply(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
    points: Sequence[BodyPoint[S]],
    wanted: Wanted,
) -> Supplied[S]:
    """Supply vectors and points: see `symgen.formulations.constraints`."""
    carriers = [end.body for loop in tree.loops for end, _ in loop.ends()]
    carriers += [point.body for point in points]
    frames = frames_sweep(tree, b, state.q, carriers)
    motions: dict[int, LinkMotion[S]] = {}
    velocities: dict[int, Twist[S]] = {}
    if wanted.order >= SECOND_RATE:
        motions = motion_sweep(frames, b, state.qd, state.qdd, zero_vector(b.algebra))
    if wanted.order >= RATE:
        velocities = origin_velocity_sweep(frames, b, state.qd, motions or None)
    poses = poses_of(tree, frames, b)
    axes = axes_of((at.joint for at in frames), poses, b) if wanted.by_joint else {}
    bodies = _Bodies(tree, b, wanted, poses, velocities, motions, axes)
    return supplied_by(bodies, tree, b, points)


FUNCTIONS = functions_of(supply)
