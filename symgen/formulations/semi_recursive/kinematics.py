"""Semi-recursive dynamics: notation and kinematics (Lopez Varela, Dopico, Luaces 2023).

Velocities travel from the base to the leaves, masses and forces back; in the end they give
M qdd = Q, referred to the joints.  Every vector is written in base axes.  Each body has a reference
point r_i, a `ReferencePoint`: the equations hold for any.

Notation (p is the parent of body i, s runs over its children, j and k over the joints from the base
to body i; x~ is the matrix of x x (.); a 6-vector is [linear; angular], of a force [force; moment])

======================  ================  ======================================================
paper                   code              meaning
======================  ================  ======================================================
z_i                     q_i               coordinate of joint i; likewise zdot, z with two dots
A_i                     A_i               3x3, axes of body i in base axes
r_j                     r_J_i             point on the axis of joint i
w_j, u_j                w_i, u_i          axis of rotation, axis of translation; the other is 0, but
                                          a screw has both
--                      o_i               origin of the link frame
r_G^i                   r_G_i             centre of mass
r_i                     --                reference point
r_{i-1} - r_i           arm_i             from the reference point of i to that of p: all of B_i
B_i                     carried           6x6, [[I, arm_i~], [0, I]]; its transpose is `returned`
b_i                     b_i               6x1, velocity of body i by joint i: b_i_v, b_i_w
b_{i,j}                 b_i_j             6x1, velocity of body i by joint j: the columns of R_i
V_i                     v_i, omega_i      velocity of the point of body i at r_i, and of its axes
Bdot_i                  arm_dot_i         [[0, arm_dot_i~], [0, 0]]
bdot_i                  b_dot_i           rate of b_i
d_i                     d_i               6x1, acceleration added by joint i at zddot = 0
Vdot_i                  a_i, alpha_i      acceleration of the point of body i at r_i, of its axes
d_i^Sigma               --                6x1, the same where zddot = 0: Rdot_i zdot
======================  ================  ======================================================

Equations are cited as they are right; docs/theory/semi_recursive.md lists where they are not in
print.  A joint of one coordinate has a constant axis in either body, so that w_j, u_j and r_i - r_j
turn with body i, and bdot_i = omega_i~ b_i; for a point of space this is the rate at the point of
the body that passes.

Euler parameters are four such joints in a row, of which the first moves the body by all four and
the others nothing: B_i and A_i^p of these are identities, and all of them share R_i, V_i and d_i.
Their axes w_i turn about the body, too: see below.

A reference point may be fixed in its body; then it moves with it.  Or it
is a point of space, of which at every instant another point of the body passes: velocities are
those of that point of the body, while the position stays (the paper's r_i, for which (r_i)_z is not
the derivative of its velocity with respect to zdot).

The paper calls RTdyn0 the choice of the centres of mass: mass matrices of bodies are block diagonal
then.  RTdyn1 is that of the origin of the base: there every B_i is the identity, and what is
accumulated are plain sums.

Euler parameters have axes that are not fixed in a body (tables 5, 6 and 11).  The columns of b_i
are those of joints of one coordinate, b_l = [w_l x (r_i - r_J); w_l], with

    w_l = A_i wbar_l(p),   bdot_i zdot_i = omega x (b_i zdot_i) - c b_i zdot_i

for the four together, c being 0 of what turns with the body alone;
`symgen.kinematics.euler_parameters` has wbar_l and c.

======================  ================  ======================================================
paper                   code              meaning
======================  ================  ======================================================
A_i^p                   R_<name>_ij       attitude of p / |p|
--                      wbar_l            2 G(p) e_l / |p|^2, link axes: columns of 2 E
--                      c_<name>          2 p . pdot / |p|^2
bdot_i zdot_i           swing_i           6x1, of the four together
======================  ================  ======================================================

The mass matrix of a rigid body, or of several that move as one, is [[m I, -mc~], [mc~, J]] about
any point: a `RigidInertia` holds its mass, first moment and inertia, in base axes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Transform, Vector, identity, zero_vector
from symgen.algebra.spatial import RigidInertia, Spatial, zero_spatial
from symgen.formulations.constraints import SECOND_RATE, VALUE
from symgen.formulations.shared import MOTION, let_moments, let_spatial, lettered
from symgen.formulations.state import State
from symgen.kinematics.euler_parameters import EulerParameters, Turning
from symgen.kinematics.joint import Joint
from symgen.kinematics.topology import topology
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "SR-1": "A_i = A_p A_i^p; axes w_i, u_i of the joint -- Lopez Varela 2023, before (55), "
    "table 11",
    "SR-2": "r_J = o_p + A_p r_J^p, o_i = o_p + A_p o_i^p, r_G = o_i + A_i r_G^i "
    "-- Lopez Varela 2023 (52)",
    "SR-3": "arm_i = r_p - r_i, the reference points: B_i = [[I, arm_i x], [0, I]] "
    "-- Lopez Varela 2023 (4c)",
    "SR-4": "b_i = [w_i x (r_i - r_J) + u_i; w_i] -- Lopez Varela 2023, table 11",
    "SR-5": "b_i_j = B_i b_p_j, b_i_i = b_i: the columns of R_i -- Lopez Varela 2023 (5)",
    "SR-6": "V_i = B_i V_p + b_i qd_i -- Lopez Varela 2023 (4a)",
    "SR-7": "arm_dot_i = v_p - v_i, b_dot_i = omega_i x b_i -- Lopez Varela 2023 (4d), (59)",
    "SR-8": "d_i = Bdot_i V_p + b_dot_i qd_i = [arm_dot_i x omega_p; 0] + b_dot_i qd_i "
    "-- Lopez Varela 2023 (4e)",
    "SR-9": "Vdot_i = B_i Vdot_p + b_i qdd_i + d_i: a_i, alpha_i; d_sum_i where qdd = 0 "
    "-- Lopez Varela 2023 (4b), (24)",
    "d SR-1": "(A_i)_z = w_j x A_i by z = q_j, (A_i)_rho; (w_i)_z = w_j x w_i, u_i alike "
    "-- Lopez Varela 2023 (55), (56), (57), table 5",
    "d SR-2": "(r_k)_z = w_j x (r_k - r_J) + u_j by z = q_j, (r_k)_rho "
    "-- Lopez Varela 2023 (26), (53), table 3",
    "d SR-3": "(arm_i)_x = (r_p)_x - (r_i)_x: all of (B_i)_x -- Lopez Varela 2023 (60), (62)",
    "d SR-4": "(b_i)_z -- Lopez Varela 2023, tables 6, 12 and 13; (b_i)_rho, section 9.4",
    "d SR-6": "(v_i)_x, (omega_i)_x -- Lopez Varela 2023 (27), (28), (36)",
    "d SR-7": "(arm_dot_i)_x: all of (Bdot_i)_x; (b_dot_i)_x "
    "-- Lopez Varela 2023 (59), (61), (63), (64)",
    "d SR-8": "(d_i)_x -- Lopez Varela 2023 (65), (68)",
    "d SR-9": "(Vdot_i)_x, (d_sum_i)_x where qdd = 0 -- Lopez Varela 2023 (67), (69)",
    "SR-41": "A_i^p of p / |p|; wbar_l = 2 G(p) e_l / |p|^2, as table 5 and 2 E of table 11 have "
    "them where |p| = 1 -- Lopez Varela 2023, tables 5 and 11",
    "SR-42": "bdot_i zdot_i = omega x (b_i zdot_i) - c b_i zdot_i, c = 2 p . pdot / |p|^2 "
    "-- Lopez Varela 2023 (4e)",
    "d SR-41": "(A_i^p)_z, (wbar_l)_z by z = q_k, both of one joint: (w_l)_z has A_i (wbar_l)_z in "
    "addition to w_k x w_l -- Lopez Varela 2023, tables 5, 6, 12 and 13",
    "d SR-42": "(bdot_i)_z zdot_i -- Lopez Varela 2023 (59)",
}


@dataclass(frozen=True)
class Geometry(Generic[S]):
    """SR-1 to SR-4 of one body.  See the notation of the module."""

    joint: Joint[S]
    A: Matrix[S]
    places: Places[S]
    w: Vector[S]
    u: Vector[S]
    r: Vector[S]
    arm: Vector[S]
    b: Spatial[S]


@dataclass(frozen=True)
class SpatialMotion(Generic[S]):
    """SR-6 to SR-9 of one body; for `b_dot` Euler parameters have SR-42."""

    V: Spatial[S]
    arm_dot: Vector[S]
    b_dot: Spatial[S]
    d: Spatial[S]
    V_dot: Spatial[S]

    @property
    def omega(self) -> Vector[S]:
        """Angular velocity of the body."""
        return self.V.angular


@dataclass(frozen=True)
class System(Generic[S]):
    """A robot at a state: geometry of every body, its motion up to rates of this `order`."""

    tree: KinematicTree[S]
    b: ProgramBuilder[S]
    point: ReferencePoint
    state: State[S]
    order: int
    geometry: Mapping[int, Geometry[S]]
    motions: Mapping[int, SpatialMotion[S]] = field(default_factory=dict)
    turning: Mapping[int, Axes[S]] = field(default_factory=dict)
    """Axes of the four of every joint that is an Euler parameter."""

    def columns(self, i: int) -> tuple[int, ...]:
        """Return the joints that move body i on its parent."""
        axes = self.turning.get(i)
        if axes is None:
            return (i,)
        return axes.members if i == axes.members[0] else ()

    def children(self, i: int) -> Sequence[int]:
        """Numbers of the bodies that body i carries directly."""
        return self._children[i - 1]

    @cached_property
    def _children(self) -> tuple[tuple[int, ...], ...]:
        return topology(self.tree).children


# -- steps, one joint each ---------------------------------------------------------------------


def geometry_step(
    tree: KinematicTree[S],
    joint: Joint[S],
    parent: Geometry[S] | None,
    q: S,
    point: ReferencePoint,
    b: ProgramBuilder[S],
    axes: Axes[S] | None = None,
) -> Geometry[S]:
    """SR-1 to SR-4; `axes` are those of the Euler parameters that the joint is one of."""
    i, algebra = joint.number, b.algebra
    A_p, o_p, r_p = identity(algebra), zero_vector(algebra), None
    if parent is not None:
        A_p, o_p, r_p = parent.A, parent.places.origin, parent.r
    placement, pose = joint.placement.tree, joint.transform(q, algebra)
    with b.step("geometry", joint.name):
        A = b.let(f"A_{i}", A_p @ pose.rotation, "SR-1")
        axis = joint.angular_axis(algebra) if axes is None else axes.axis(i)
        w = b.let(f"w_{i}", A.apply(axis), "SR-1")
        u = b.let(f"u_{i}", A.apply(joint.linear_axis(algebra)), "SR-1")
        origin = b.let(f"o_{i}", o_p + A_p.apply(pose.translation), "SR-2")
        on_axis = b.let(f"r_J_{i}", o_p + A_p.apply(placement.translation), "SR-2")
        centre = b.let(f"r_G_{i}", origin + A.apply(joint.body.com), "SR-2")
        places = Places(on_axis, origin, centre)
        r = point.of(places, algebra)
        arm = b.let(f"arm_{i}", zero_vector(algebra) if r_p is None else r_p - r, "SR-3")
        column = Spatial(w, w.cross(r - on_axis) + u)
        column = let_spatial(b, lettered(f"b_{i}", MOTION), column, "SR-4")
    return Geometry(joint, A, places, w, u, r, arm, column)


def motion_step(system: System[S], i: int, parent: SpatialMotion[S]) -> dict[int, SpatialMotion[S]]:
    """Write SR-6 to SR-9 of body i, and of those that the same joints move"""
    b, algebra, at, state = system.b, system.b.algebra, system.geometry[i], system.state
    columns = {j: system.geometry[j].b for j in system.columns(i)}
    none = zero_spatial(algebra)
    rate = added = none
    for j, column in columns.items():
        rate, added = rate + column * state.qd[j - 1], added + column * state.qdd[j - 1]
    with b.step("motion", at.joint.name):
        V = carried(at.arm, parent.V) + rate
        V = let_spatial(b, (f"omega_{i}", f"v_{i}"), V, "SR-6")
        if system.order < SECOND_RATE:
            return dict.fromkeys(columns, SpatialMotion(V, none.linear, none, none, none))
        arm_dot = none.linear
        if at.joint.parent != BASE:  # B_i acts on nothing where the parent does not move
            arm_dot = b.let(f"arm_dot_{i}", parent.V.linear - V.linear, "SR-7")
        b_dot = none
        if i in system.turning:
            swing = rate.turned(V.angular) - rate * system.turning[i].stretch()
            swing = let_spatial(b, lettered(f"swing_{i}", MOTION), swing, "SR-42")
        else:
            b_dot = let_spatial(b, lettered(f"b_dot_{i}", MOTION), at.b.turned(V.angular), "SR-7")
            swing = b_dot * state.qd[i - 1]
        d = Spatial(none.angular, arm_dot.cross(parent.V.angular)) + swing  # Bdot_i of the parent
        d = let_spatial(b, lettered(f"d_{i}", MOTION), d, "SR-8")
        V_dot = carried(at.arm, parent.V_dot) + added + d
        a = b.let(f"a_{i}", V_dot.linear, "SR-9")
        V_dot = Spatial(b.let(f"alpha_{i}", V_dot.angular, "SR-9"), a)
    return dict.fromkeys(columns, SpatialMotion(V, arm_dot, b_dot, d, V_dot))


# -- sweeps over the tree ----------------------------------------------------------------------


def system_at(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
    point: ReferencePoint,
    order: int = SECOND_RATE,
) -> System[S]:
    """Write SR-1 to SR-4, SR-6 for velocities and up to SR-9 for accelerations."""
    turning = axes_of(tree, b, state, order > VALUE)
    tree = posed(tree, turning)
    geometry: dict[int, Geometry[S]] = {}
    for joint in tree.joints:
        i, parent, axes = joint.number, geometry.get(joint.parent), turning.get(joint.number)
        geometry[i] = geometry_step(tree, joint, parent, state.q[i - 1], point, b, axes)
    system = System(tree, b, point, state, order, geometry, turning=turning)
    return replace(system, motions=motion_sweep(system)) if order > VALUE else system


def motion_sweep(system: System[S]) -> dict[int, SpatialMotion[S]]:
    """Write SR-6 to SR-9 of all bodies and the base."""
    none = zero_spatial(system.b.algebra)
    motions = {BASE: SpatialMotion(none, none.linear, none, none, none)}
    for i, at in system.geometry.items():
        if system.columns(i):
            motions |= motion_step(system, i, motions[at.joint.parent])
    return motions


def columns_sweep(system: System[S]) -> dict[int, dict[int, Spatial[S]]]:
    """Write SR-5 of all bodies: R_i, by body and joint."""
    R: dict[int, dict[int, Spatial[S]]] = {BASE: {}}
    for i, at in system.geometry.items():
        before = R[at.joint.parent]
        with system.b.step("columns", at.joint.name):
            columns = {
                j: let_spatial(system.b, lettered(f"b_{i}_{j}", MOTION), carried(at.arm, x), "SR-5")
                for j, x in before.items()
            }
        R[i] = {**columns, i: at.b}
    return R


@dataclass(frozen=True)
class Places(Generic[S]):
    """Positions of a body, base axes (m).

    `joint` is the point r_j on the axis of its joint, `origin` that of the link's frame, `centre`
    the centre of mass r_G.
    """

    joint: Vector[S]
    origin: Vector[S]
    centre: Vector[S]


@dataclass(frozen=True)
class ReferencePoint:
    """Where the motion of a body is described: `of` finds r_i from `Places`."""

    name: str
    title: str
    of: Callable[[Places[Any], Algebra[Any]], Vector[Any]]


LINK_ORIGIN = ReferencePoint(
    "link_origin", "origins of the link frames", lambda places, algebra: places.origin
)
RTDYN0 = ReferencePoint("rtdyn0", "centres of mass (RTdyn0)", lambda places, algebra: places.centre)
RTDYN1 = ReferencePoint(
    "rtdyn1", "origin of the base (RTdyn1)", lambda places, algebra: zero_vector(algebra)
)


@dataclass(frozen=True)
class Axes(Generic[S]):
    """One joint's: its attitude, and wbar_l by number of joint."""

    joint: EulerParameters[S]
    turning: Turning[S]
    rotation: Matrix[S]
    wbar: Mapping[int, Vector[S]]
    b: ProgramBuilder[S]

    @property
    def members(self) -> tuple[int, ...]:
        """The numbers of the four joints."""
        return self.joint.members

    def axis(self, number: int) -> Vector[S]:
        """wbar_l"""
        return self.wbar[number]

    def stretch(self) -> S:
        """Return c: SR-42."""
        return self.b.let(f"c_{self.joint.name}", self.turning.c, "SR-42")


def axes_of(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], moving: bool
) -> dict[int, Axes[S]]:
    """SR-41, by number of joint."""
    by_joint: dict[int, Axes[S]] = {}
    for joint in tree.euler_parameters:
        still = (b.algebra.zero,) * len(joint.members)
        rate = joint.of(state.qd) if moving else still
        turning = Turning(joint.of(state.q), rate, b.algebra)
        with b.step("geometry", joint.name):
            rotation = b.let(f"R_{joint.name}", turning.rotation, "SR-41")
            wbar = {
                number: b.let(f"wbar_{number}", axis, "SR-41")
                for number, axis in zip(joint.members, turning.axes, strict=True)
            }
        axes = Axes(joint, turning, rotation, wbar, b)
        by_joint |= dict.fromkeys(joint.members, axes)
    return by_joint


def posed(tree: KinematicTree[S], turning: Mapping[int, Axes[S]]) -> KinematicTree[S]:
    """The tree with the attitudes, and one centre of mass for the four bodies of each joint."""
    if not turning:
        return tree
    joints = list(tree.joints)
    for axes in turning.values():
        first, last = axes.members[0] - 1, axes.members[-1] - 1
        at = joints[first].placement
        turn = Transform(axes.rotation, zero_vector(tree.algebra))
        placement = tree.joints[first].placement.tree @ turn
        joints[first] = replace(joints[first], placement=replace(at, tree=placement))
        for k in range(first, last):
            body = replace(joints[k].body, com=joints[last].body.com)
            joints[k] = replace(joints[k], body=body)
    return replace(tree, joints=tuple(joints))


# -- B_i and its rate: `arm` is r_p - r_i, p the parent of i ------------------------------


def carried(arm: Vector[S], x: Spatial[S]) -> Spatial[S]:
    """B_i times a motion of the parent."""
    return Spatial(x.angular, x.linear + arm.cross(x.angular))


def returned(arm: Vector[S], force: Spatial[S]) -> Spatial[S]:
    """Return B_i^T times a force on body i: the force on its parent."""
    return Spatial(force.angular - arm.cross(force.linear), force.linear)


# -- names -------------------------------------------------------------------------------------


def let_mass(
    b: ProgramBuilder[S], names: tuple[str, str, str], x: RigidInertia[S], note: str
) -> RigidInertia[S]:
    """Name mass, first moment and inertia."""
    return RigidInertia(*let_moments(b, names, (x.m, x.h, x.J), note))
