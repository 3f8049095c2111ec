"""Points and vectors of bodies, which the paper calls natural coordinates, and joint wrenches.

Notation beyond that of `kinematics.py`

======================  ================  ======================================================
paper                   code              meaning
======================  ================  ======================================================
R_i zddot               a_z_i             6x1, acceleration of body i by the accelerations of joints
Vdot_i                  a_i, alpha_i      acceleration of the point of body i at r_i, of its axes
r_k                     x_<name>          a point of a body; its rates are v_<name>, a_<name>
(r_k)_z                 d_x_<name>_dq_j   by the coordinate of a joint that carries it; its rate and
                                          the rate of that are those of v_<name> and a_<name>
rates of w_j, u_j       w_dot_j, ..       and of the point r_J of body j, w_ddot_j their rates
--                      W_i               6x1, force that the parent exerts on body i at r_i
======================  ================  ======================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Transform, Vector, identity, zero_vector
from symgen.formulations.semi_recursive.bodies import accumulated_masses, with_forces
from symgen.formulations.semi_recursive.kinematics import Geometry, System, system_at
from symgen.formulations.semi_recursive.reference_points import ReferencePoint
from symgen.formulations.semi_recursive.spatial import (
    FORCE,
    MOTION,
    Spatial,
    carried,
    let_spatial,
    returned,
    zero_spatial,
)
from symgen.formulations.shared import let_derivative, write_columns, write_frames, write_matrix
from symgen.formulations.state import State
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "SR-29": "a_z_i = B_i a_z_p + b_i qdd_i, Vdot_i = a_z_i + d_sum_i "
    "-- Lopez Varela 2023 (4b), (6)",
    "SR-30": "r_k = o_i + A_i r_k^i, v_k = v_i + omega_i x (r_k - r_i), a_k = a_i + alpha_i x "
    "(r_k - r_i) + omega_i x omega_i x (r_k - r_i) -- Lopez Varela 2023 (52), and its rates",
    "SR-31": "(r_k)_z = w_j x (r_k - r_J) + u_j by z = q_j -- Lopez Varela 2023, table 3",
    "SR-32": "w_dot_j = omega_j x w_j, w_ddot_j = alpha_j x w_j + omega_j x w_dot_j, u_j alike; "
    "r_J moves as a point of body j",
    "SR-33": "(v_k)_z = w_dot_j x (r_k - r_J) + w_j x (v_k - r_J_dot) + u_dot_j: the rate of "
    "(r_k)_z -- Lopez Varela 2023 (48a)",
    "SR-34": "(a_k)_z = w_ddot_j x (r_k - r_J) + 2 w_dot_j x (v_k - r_J_dot) + w_j x "
    "(a_k - r_J_ddot) + u_ddot_j: the rate of (v_k)_z -- Lopez Varela 2023 (48b)",
    "SR-35": "W_i = M_i a_z_i + sum_s B_s^T W_s, less Q_sum_i in the end: what R^T is applied to "
    "-- Lopez Varela 2023 (7)",
    "SR-36": "n of W_i in link axes, about the origin of the joint wrench",
}


RATES = {"v": "dot", "a": "ddot"}


@dataclass(frozen=True)
class Moving(Generic[S]):
    """A point or vector with its first and second rate."""

    x: Vector[S]
    v: Vector[S]
    a: Vector[S]


def forward_kinematics(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """SR-1, SR-2 for every link frame of the file, (n_links, 4, 4)."""
    system = system_at(tree, b, state, point, moving=False)
    poses = [pose_of(system, frame.body) @ frame.pose for frame in tree.frames]
    write_frames(b, [pose.homogeneous(b.algebra) for pose in poses])


def jacobians(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """SR-31, (n_links, 6, n)"""
    system = system_at(tree, b, state, point, moving=False)
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
    write_columns(tree, b, "jacobians", blocks, 6)


def point_motion(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """SR-30: position, velocity, acceleration, 3 x (n_points, 3)."""
    system = system_at(tree, b, state, point)
    points = moving_points(system, accelerations(system))
    for what, part in (("position", "x"), ("velocity", "v"), ("acceleration", "a")):
        write_matrix(b, what, [getattr(moving, part) for moving in points], 3)


def link_motion(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """SR-30 of the origins of all link frames, 2 x (n_links, 6)."""
    system = system_at(tree, b, state, point)
    rates = accelerations(system)
    still = zero_vector(b.algebra)
    velocities: list[tuple[S, ...]] = []
    bends: list[tuple[S, ...]] = []
    for frame in tree.frames:
        i, x = frame.body, pose_of(system, frame.body).apply(frame.pose.translation)
        with b.step("links", frame.name):
            origin = _moving(system, rates, i, x, partial(_named, b, f"link_{frame.name}"))
        omega = system.motions[i].omega if i != BASE else still
        velocities.append((*origin.v, *omega))
        bends.append((*origin.a, *rates[i].angular))
    write_matrix(b, "link_velocities", velocities, 6)
    write_matrix(b, "link_accelerations", bends, 6)


def point_motion_derivatives(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """dx_dq, dv_dq, dv_dqd, da_dq, da_dqd, da_dqdd, 6 x (n_points, 3, n)."""
    system = system_at(tree, b, state, point)
    rates = accelerations(system)
    axes = {j: axis_step(system, rates, at) for j, at in system.geometry.items()}
    blocks: list[dict[int, Moving[S]]] = []
    for place, moving in zip(tree.points, moving_points(system, rates), strict=True):
        with b.step("derivatives of points", place.name):
            path = {j: axes[j] for j in tree.path(place.body)}
            blocks.append({j: slope_step(place.name, moving, j, x, b) for j, x in path.items()})
    x, v, a = (
        [{j: getattr(slope, part) for j, slope in block.items()} for block in blocks]
        for part in ("x", "v", "a")
    )
    twice_v = [{j: slope + slope for j, slope in block.items()} for block in v]
    results = {
        "dx_dq": x, "dv_dq": v, "dv_dqd": x, "da_dq": a, "da_dqd": twice_v, "da_dqdd": x,
    }  # fmt: skip
    for what, columns in results.items():
        write_columns(tree, b, what, columns, 3)


def joint_wrenches(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """SR-35, SR-36: (n, 6)"""
    system = system_at(tree, b, state, point)
    known = with_forces(system, accumulated_masses(system))
    rates, W = joint_accelerations(system), dict[int, Spatial[S]]()
    for i in sorted(system.geometry, reverse=True):
        value = known.bodies[i].M.times(rates[i])
        for s in system.children(i):
            value = value + returned(system.geometry[s].arm, W[s])
        with b.step("wrenches", system.geometry[i].joint.name):
            W[i] = let_spatial(b, f"W_{i}", FORCE, value, "SR-35")
    rows: list[tuple[S, ...]] = []
    for i, at in system.geometry.items():
        joint, total = at.joint, W[i] - known.Q_sum[i]
        origin = at.A.apply(joint.wrench_origin(state.q[i - 1], b.algebra))
        moment = total.angular - (at.places.joint + origin - at.r).cross(total.linear)
        with b.step("wrenches", joint.name):
            f = b.let(f"f_{i}", at.A.apply_transposed(total.linear), "SR-36")
            rows.append((*f, *b.let(f"n_{i}", at.A.apply_transposed(moment), "SR-36")))
    write_matrix(b, "joint_wrenches", rows, 6)


# -- sweeps over the tree ----------------------------------------------------------------------


def joint_accelerations(system: System[S]) -> dict[int, Spatial[S]]:
    """The first half of SR-29, of all bodies."""
    found = {BASE: zero_spatial(system.b.algebra)}
    for i, at in system.geometry.items():
        value = carried(at.arm, found[at.joint.parent])
        for j in system.columns(i):
            value = value + system.geometry[j].b * system.state.qdd[j - 1]
        with system.b.step("acceleration", at.joint.name):
            found[i] = let_spatial(system.b, f"a_z_{i}", MOTION, value, "SR-29")
    return found


def accelerations(system: System[S]) -> dict[int, Spatial[S]]:
    """SR-29 of all bodies and the base."""
    found = joint_accelerations(system)
    for i, at in system.geometry.items():
        value = found[i] + system.motions[i].d_sum
        with system.b.step("acceleration", at.joint.name):
            a = system.b.let(f"a_{i}", value.linear, "SR-29")
            found[i] = Spatial(a, system.b.let(f"alpha_{i}", value.angular, "SR-29"))
    return found


def moving_points(system: System[S], rates: Mapping[int, Spatial[S]]) -> list[Moving[S]]:
    """SR-30 of the model's points."""
    points: list[Moving[S]] = []
    for place in system.tree.points:
        with system.b.step("points", place.name):
            x = pose_of(system, place.body).apply(place.point)
            named = partial(_named, system.b, place.name)
            points.append(_moving(system, rates, place.body, x, named))
    return points


# -- steps -------------------------------------------------------------------------------------


def axis_step(
    system: System[S], rates: Mapping[int, Spatial[S]], at: Geometry[S]
) -> tuple[Moving[S], Moving[S], Moving[S]]:
    """SR-32: w_j, u_j and r_J of one joint with their rates."""
    b, j = system.b, at.joint.number
    omega, alpha = system.motions[j].omega, rates[j].angular
    spin = system.motions[j].spin.angular

    def turning(name: str, x: Vector[S], spins: bool = False) -> Moving[S]:
        v = omega.cross(x)
        if spins:
            v = v + spin
        v = b.let(f"{name}_dot_{j}", v, "SR-32")
        a = alpha.cross(x) + omega.cross(v)
        if spins:
            a = a + omega.cross(spin) + system.turning[j].spin_rate(j, at.A, system.state)
        return Moving(x, v, b.let(f"{name}_ddot_{j}", a, "SR-32"))

    def named(part: str, x: Vector[S]) -> Vector[S]:
        return x if part == "x" else b.let(f"r_J_{RATES[part]}_{j}", x, "SR-32")

    with b.step("rates of axes", at.joint.name):
        w, u = turning("w", at.w, j in system.turning), turning("u", at.u)
        return w, u, _moving(system, rates, j, at.places.joint, named)


def slope_step(
    name: str,
    moving: Moving[S],
    j: int,
    axis: tuple[Moving[S], Moving[S], Moving[S]],
    b: ProgramBuilder[S],
) -> Moving[S]:
    """SR-31, SR-33, SR-34 of one point by the coordinate of joint j."""
    w, u, r_J = axis
    x, v, a = moving.x - r_J.x, moving.v - r_J.v, moving.a - r_J.a
    swing = w.v.cross(v)
    d_x, d_v = w.x.cross(x) + u.x, w.v.cross(x) + w.x.cross(v) + u.v
    d_a = w.a.cross(x) + swing + swing + w.x.cross(a) + u.a
    return Moving(
        let_derivative(b, f"x_{name}", d_x, f"q_{j}", "SR-31"),
        let_derivative(b, f"v_{name}", d_v, f"q_{j}", "SR-33"),
        let_derivative(b, f"a_{name}", d_a, f"q_{j}", "SR-34"),
    )


def _moving(
    system: System[S],
    rates: Mapping[int, Spatial[S]],
    i: int,
    x: Vector[S],
    named: Callable[[str, Vector[S]], Vector[S]],
) -> Moving[S]:
    """SR-30 of the point x of body i."""
    if i == BASE:
        nothing = zero_vector(system.b.algebra)
        return Moving(x, nothing, nothing)
    motion, omega = system.motions[i], system.motions[i].omega
    x = named("x", x)
    arm = x - system.geometry[i].r
    swing = omega.cross(arm)
    v = named("v", motion.V.linear + swing)
    a = rates[i].linear + rates[i].angular.cross(arm) + omega.cross(swing)
    return Moving(x, v, named("a", a))


def _named(b: ProgramBuilder[S], name: str, part: str, x: Vector[S]) -> Vector[S]:
    return b.let(f"{part}_{name}", x, "SR-30")


def pose_of(system: System[S], i: int) -> Transform[S]:
    """Axes and origin of the frame of body i, or of the base."""
    algebra = system.b.algebra
    if i == BASE:
        return Transform(identity(algebra), zero_vector(algebra))
    return Transform(system.geometry[i].A, system.geometry[i].places.origin)
