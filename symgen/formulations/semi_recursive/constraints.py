"""Natural coordinates: points and vectors of bodies, with rates and derivatives by joint.

They include the ends of loops and the points in relations, from which
`symgen.formulations.constraints` computes Phi and its derivatives.  The formulas for a vector are
those for a point without the terms in positions and translations.  Poses and Jacobians of link
frames, motion of points and links, and joint wrenches are written here, too.

Notation, added to that of `kinematics.py`

======================  ================  ======================================================
paper                   code              meaning
======================  ================  ======================================================
r_k                     x_<name>          a point of a body; its rates are v_<name>, a_<name>
(r_k)_z                 d_x_<name>_dq_j   derivative by the coordinate of a joint that moves it; its
                                          first and second rates are those of v_<name>, a_<name>
======================  ================  ======================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Transform, Vector, identity, zero_vector
from symgen.formulations.constraints import (
    RATE,
    SECOND_RATE,
    VALUE,
    Moving,
    Supplied,
    Wanted,
    functions_of,
    supplied_by,
)
from symgen.formulations.interface import Derivation
from symgen.formulations.semi_recursive.bodies import bodies_sweep, forces_sweep
from symgen.formulations.semi_recursive.kinematics import (
    Geometry,
    ReferencePoint,
    System,
    system_at,
)
from symgen.formulations.shared import blocks_of_joints, flat
from symgen.formulations.state import State
from symgen.kinematics.bodies import BodyPoint
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder, Results

NOTES = {
    "SR-39": "u_k = A_i u_k^i, a vector of body i; its rate is omega_i x u_k, its second rate "
    "alpha_i x u_k + omega_i x omega_i x u_k -- Lopez Varela 2023, section 8",
    "SR-40": "(u_k)_z = w_j x u_k by z = q_j -- Lopez Varela 2023, table 3",
    "d SR-39": "(u_k)_x and its rates -- Lopez Varela 2023 (47), (48), (57)",
    "d SR-40": "(u_k)_zz, (u_k)_z rho -- Lopez Varela 2023 (49), (51), section 8.4, table 2",
    "SR-30": "r_k = o_i + A_i r_k^i, v_k = v_i + omega_i x (r_k - r_i), a_k = a_i + alpha_i x "
    "(r_k - r_i) + omega_i x omega_i x (r_k - r_i) -- Lopez Varela 2023 (52), and its rates",
    "SR-31": "(r_k)_z = w_j x (r_k - r_J) + u_j by z = q_j -- Lopez Varela 2023, table 3",
    "SR-36": "f_i, n_i: -Q_sum_i, the forces that R^T projects, in link axes, about the origin of "
    "the joint wrench -- Lopez Varela 2023 (7)",
    "d SR-30": "(r_k)_x, and (v_k)_x, (a_k)_x: its rates -- Lopez Varela 2023 (47), (48), (53)",
    "d SR-31": "(r_k)_zz, (r_k)_z rho -- Lopez Varela 2023 (49), (50), (54), table 2",
}


@dataclass(frozen=True)
class _Bodies(Generic[S]):
    """Points and vectors of the bodies of a robot, with the requested rates and derivatives."""

    system: System[S]
    wanted: Wanted

    def point(self, name: str, body: int, p: Vector[S]) -> Moving[Vector[S]]:
        """Write a point of a body: SR-30, SR-31."""
        b = self.system.b
        rate = second = zero_vector(b.algebra)
        x = b.let(f"x_{name}", pose_of(self.system, body).apply(p), "SR-30")
        if body != BASE and self.wanted.order >= RATE:
            motion, arm = self.system.motions[body], x - self.system.geometry[body].r
            swing = motion.omega.cross(arm)
            rate = b.let(f"v_{name}", motion.V.linear + swing, "SR-30")
            if self.wanted.order >= SECOND_RATE:
                a = motion.V_dot
                relative = a.angular.cross(arm) + motion.omega.cross(swing)
                second = b.let(f"a_{name}", a.linear + relative, "SR-30")
        columns = {
            j: b.let(f"x_{name}_by_{j}", at.w.cross(x - at.places.joint) + at.u, "SR-31")
            for j, at in self.carriers_of(body)
        }
        return Moving(x, rate, second, columns)

    def direction(self, name: str, body: int, e: Vector[S]) -> Moving[Vector[S]]:
        """Write a vector of a body: SR-39, SR-40."""
        b = self.system.b
        rate = second = zero_vector(b.algebra)
        u = b.let(f"u_{name}", pose_of(self.system, body).rotation.apply(e), "SR-39")
        if body != BASE and self.wanted.order >= RATE:
            motion = self.system.motions[body]
            rate = b.let(f"u_dot_{name}", motion.omega.cross(u), "SR-39")
            if self.wanted.order >= SECOND_RATE:
                second_rate = motion.V_dot.angular.cross(u) + motion.omega.cross(rate)
                second = b.let(f"u_ddot_{name}", second_rate, "SR-39")
        columns = {
            j: b.let(f"u_{name}_by_{j}", at.w.cross(u), "SR-40") for j, at in self.carriers_of(body)
        }
        return Moving(u, rate, second, columns)

    def carriers_of(self, body: int) -> Iterator[tuple[int, Geometry[S]]]:
        """Yield the joints that move a body, if derivatives by joint are requested."""
        for j in self.system.tree.path(body) if self.wanted.by_joint else ():
            yield j, self.system.geometry[j]


def supply(
    point: ReferencePoint,
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
    points: Sequence[BodyPoint[S]],
    wanted: Wanted,
) -> Supplied[S]:
    """Write the ends of loops and `points`, with the rates and derivatives in `wanted`."""
    system = system_at(tree, b, state, point, wanted.order)
    return supplied_by(_Bodies(system, wanted), tree, b, points)


def functions(point: ReferencePoint) -> dict[str, Derivation]:
    """Return the constraint functions, with `point` as the reference point of bodies."""
    return functions_of(partial(supply, point))


def forward_kinematics(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """Write the poses of all link frames, (n_links, 4, 4): SR-1, SR-2."""
    system = system_at(tree, b, state, point, VALUE)
    poses = [pose_of(system, frame.body) @ frame.pose for frame in tree.frames]
    return {"forward_kinematics": flat(pose.homogeneous(b.algebra).entries for pose in poses)}


def jacobians(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """Write the Jacobians of all link frames, (n_links, 6, n): SR-31."""
    system = system_at(tree, b, state, point, VALUE)
    blocks: list[dict[int, tuple[S, ...]]] = []
    for frame in tree.frames:
        origin = pose_of(system, frame.body).apply(frame.pose.translation)
        columns: dict[int, tuple[S, ...]] = {}
        with b.step("columns", frame.name):
            for j in tree.path(frame.body):
                at = system.geometry[j]
                linear = at.w.cross(origin - at.places.joint) + at.u
                columns[j] = (*b.let(f"J_{frame.name}_{j}", linear, "SR-31"), *at.w)
        blocks.append(columns)
    return {"jacobians": blocks_of_joints(tree, blocks, 6)}


def point_motion(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """Write position, velocity and acceleration of all points, (n_points, 3) each: SR-30."""
    system = system_at(tree, b, state, point)
    points: list[Moving[Vector[S]]] = []
    for place in tree.points:
        with b.step("points", place.name):
            x = pose_of(system, place.body).apply(place.point)
            points.append(_moving(system, place.body, x, partial(_named, b, place.name)))
    parts = {"position": "at", "velocity": "rate", "acceleration": "second_rate"}
    return {name: flat(getattr(x, part) for x in points) for name, part in parts.items()}


def link_motion(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """Write velocities and accelerations of all link frames, (n_links, 6) each: SR-30."""
    system = system_at(tree, b, state, point)
    velocities: list[tuple[S, ...]] = []
    accelerations: list[tuple[S, ...]] = []
    for frame in tree.frames:
        i, x = frame.body, pose_of(system, frame.body).apply(frame.pose.translation)
        with b.step("links", frame.name):
            origin = _moving(system, i, x, partial(_named, b, f"link_{frame.name}"))
        motion = system.motions[i]
        velocities.append((*origin.rate, *motion.omega))
        accelerations.append((*origin.second_rate, *motion.V_dot.angular))
    return {"link_velocities": flat(velocities), "link_accelerations": flat(accelerations)}


def joint_wrenches(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """Write the joint wrenches, (n, 6): SR-36."""
    system = system_at(tree, b, state, point)
    Q_sum = forces_sweep(system, bodies_sweep(system)).Q_sum
    rows: list[tuple[S, ...]] = []
    for i, at in system.geometry.items():
        joint, total = at.joint, -Q_sum[i]
        origin = at.A.apply(joint.wrench_origin(state.q[i - 1], b.algebra))
        moment = total.angular - (at.places.joint + origin - at.r).cross(total.linear)
        with b.step("wrenches", joint.name):
            f = b.let(f"f_{i}", at.A.apply_transposed(total.linear), "SR-36")
            rows.append((*f, *b.let(f"n_{i}", at.A.apply_transposed(moment), "SR-36")))
    return {"joint_wrenches": flat(rows)}


# -- steps -------------------------------------------------------------------------------------


def _moving(
    system: System[S], i: int, x: Vector[S], named: Callable[[str, Vector[S]], Vector[S]]
) -> Moving[Vector[S]]:
    """Return the motion of the point x of body i: SR-30."""
    if i == BASE:
        zero = zero_vector(system.b.algebra)
        return Moving(x, zero, zero)
    motion = system.motions[i]
    x = named("x", x)
    arm = x - system.geometry[i].r
    swing = motion.omega.cross(arm)
    v = named("v", motion.V.linear + swing)
    a = motion.V_dot.linear + motion.V_dot.angular.cross(arm) + motion.omega.cross(swing)
    return Moving(x, v, named("a", a))


def _named(b: ProgramBuilder[S], name: str, part: str, x: Vector[S]) -> Vector[S]:
    return b.let(f"{part}_{name}", x, "SR-30")


def pose_of(system: System[S], i: int) -> Transform[S]:
    """Return the pose of the frame of body i; the identity for the base."""
    algebra = system.b.algebra
    if i == BASE:
        return Transform(identity(algebra), zero_vector(algebra))
    return Transform(system.geometry[i].A, system.geometry[i].places.origin)
