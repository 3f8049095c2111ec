"""Semi-recursive dynamics: notation and kinematics (Lopez Varela, Dopico, Luaces 2023).

Velocities travel from the base to the leaves, masses and forces back; in the end they give
M qdd = Q, referred to the joints.  Every vector is written in base axes.  Each body has a reference
point r_i, of which `reference_points` says what it may be: the equations hold for any.

Notation (p is the parent of body i, s runs over its children, j and k over the joints from the base
to body i; x~ is the matrix of x x (.); a 6-vector is [linear; angular], of a force [force; moment])

======================  ================  ======================================================
paper                   code              meaning
======================  ================  ======================================================
z_i                     q_i               coordinate of joint i; zdot and z with two dots alike
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
d_i                     d_i               6x1, what joint i adds to the acceleration without zddot
d_i^Sigma               d_sum_i           6x1, acceleration of body i without zddot: Rdot_i zdot
Rdot_i                  b_dot_i_j         6x1, rates of b_{i,j}
======================  ================  ======================================================

Equations are cited as they are right; docs/theory/semi_recursive.md lists where they are not in
print.  A joint of one coordinate has a constant axis in either body, so that w_j, u_j and r_i - r_j
turn with body i, and bdot_i = omega_i~ b_i; for a point of space this is the rate at the point of
the body that passes.

Euler parameters are four such joints in a row, of which the first moves the body by all four and
the others nothing: B_i and A_i^p of these are identities, and all of them share R_i, V_i and d_i.
Their axes w_i turn about the body, too: see `turning.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector, identity, zero_vector
from symgen.formulations.semi_recursive.reference_points import Places, ReferencePoint
from symgen.formulations.semi_recursive.spatial import (
    MOTION,
    Spatial,
    carried,
    carried_slope,
    let_spatial,
    zero_spatial,
)
from symgen.formulations.semi_recursive.turning import Axes, axes_of, posed
from symgen.formulations.state import State
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
    "SR-9": "d_sum_i = d_i + B_i d_sum_p -- Lopez Varela 2023 (24)",
    "SR-10": "b_dot_i_j = Bdot_i b_p_j + B_i b_dot_p_j, b_dot_i_i = b_dot_i: the columns "
    "of Rdot_i -- Lopez Varela 2023 (5), (6)",
}


@dataclass(frozen=True)
class Geometry(Generic[S]):
    """SR-1 to SR-5 of one body; `R` holds b_{i,j} by joint.  See the notation of the module."""

    joint: Joint[S]
    A: Matrix[S]
    places: Places[S]
    w: Vector[S]
    u: Vector[S]
    r: Vector[S]
    arm: Vector[S]
    b: Spatial[S]
    R: Mapping[int, Spatial[S]]


@dataclass(frozen=True)
class Motion(Generic[S]):
    """SR-6 to SR-9 of one body."""

    V: Spatial[S]
    arm_dot: Vector[S]
    b_dot: Spatial[S]
    d_sum: Spatial[S]
    spin: Spatial[S]
    """Of an Euler parameter, what the rate of b_i has beside omega_i~ b_i."""

    @property
    def omega(self) -> Vector[S]:
        """Angular velocity of the body."""
        return self.V.angular


@dataclass(frozen=True)
class System(Generic[S]):
    """A robot at a state: geometry and motion of every body, the base among them."""

    tree: KinematicTree[S]
    b: ProgramBuilder[S]
    point: ReferencePoint
    state: State[S]
    geometry: Mapping[int, Geometry[S]]
    motions: Mapping[int, Motion[S]] = field(default_factory=dict)
    turning: Mapping[int, Axes[S]] = field(default_factory=dict)
    """Of every joint that is an Euler parameter the axes of its four."""

    @property
    def joints(self) -> Sequence[Joint[S]]:
        """All joints, parents before children."""
        return self.tree.joints

    def columns(self, i: int) -> tuple[int, ...]:
        """The joints that move body i on its parent."""
        axes = self.turning.get(i)
        if axes is None:
            return (i,)
        return axes.members if i == axes.members[0] else ()

    def together(self, i: int) -> tuple[int, ...]:
        """The joints that move body i together with joint i."""
        return self.turning[i].members if i in self.turning else (i,)

    def children(self, i: int) -> Sequence[int]:
        """Numbers of the bodies that body i carries directly."""
        return self._children[i - 1]

    def about_joint(self, j: int, w: Vector[S]) -> Spatial[S]:
        """The motion at r_j of a turn w about the point of joint j."""
        at = self.geometry[j]
        return Spatial(w.cross(at.r - at.places.joint), w)

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
    """SR-1 to SR-5; `axes` are those of the Euler parameters that the joint is one of."""
    i, algebra = joint.number, b.algebra
    A_p, o_p, r_p = identity(algebra), zero_vector(algebra), None
    if parent is not None:
        A_p, o_p, r_p = parent.A, parent.places.origin, parent.r
    seat, pose = joint.placement.tree, joint.transform(q, algebra)
    with b.step("geometry", joint.name):
        A = b.let(f"A_{i}", A_p @ pose.rotation, "SR-1")
        axis = joint.angular_axis(algebra) if axes is None else axes.axis(i)
        w = b.let(f"w_{i}", A.apply(axis), "SR-1")
        u = b.let(f"u_{i}", A.apply(joint.linear_axis(algebra)), "SR-1")
        origin = b.let(f"o_{i}", o_p + A_p.apply(pose.translation), "SR-2")
        on_axis = b.let(f"r_J_{i}", o_p + A_p.apply(seat.translation), "SR-2")
        centre = b.let(f"r_G_{i}", origin + A.apply(joint.body.com), "SR-2")
        places = Places(on_axis, origin, centre)
        r = point.of(places, algebra)
        arm = b.let(f"arm_{i}", zero_vector(algebra) if r_p is None else r_p - r, "SR-3")
        own = Spatial(w.cross(r - on_axis) + u, w)
        own = let_spatial(b, f"b_{i}", MOTION, own, "SR-4")
        R = {j: carried(arm, column) for j, column in (parent.R if parent else {}).items()}
        R = {j: let_spatial(b, f"b_{i}_{j}", MOTION, x, "SR-5") for j, x in R.items()}
    return Geometry(joint, A, places, w, u, r, arm, own, {**R, i: own})


def motion_step(system: System[S], i: int, parent: Motion[S]) -> dict[int, Motion[S]]:
    """SR-6 to SR-9 of body i, and of those that the same joints move"""
    b, algebra, at, qd = system.b, system.b.algebra, system.geometry[i], system.state.qd
    columns = {j: system.geometry[j].b for j in system.columns(i)}
    with b.step("motion", at.joint.name):
        V = carried(at.arm, parent.V)
        for j, column in columns.items():
            V = V + column * qd[j - 1]
        V = Spatial(b.let(f"v_{i}", V.linear, "SR-6"), b.let(f"omega_{i}", V.angular, "SR-6"))
        arm_dot = zero_vector(algebra)
        if at.joint.parent != BASE:  # B_i acts on nothing where the parent does not move
            arm_dot = b.let(f"arm_dot_{i}", parent.V.linear - V.linear, "SR-7")
        d, still = carried_slope(arm_dot, parent.V, algebra), zero_spatial(algebra)
        rates, spins = dict[int, Spatial[S]](), dict[int, Spatial[S]]()
        for j, column in columns.items():
            rate = column.turned(V.angular)
            if j in system.turning:
                spins[j] = system.about_joint(j, system.turning[j].spin(j, at.A))
                rate = rate + spins[j]
            rates[j] = let_spatial(b, f"b_dot_{j}", MOTION, rate, "SR-7")
            d = d + rates[j] * qd[j - 1]
        d = let_spatial(b, f"d_{i}", MOTION, d, "SR-8")
        d_sum = let_spatial(b, f"d_sum_{i}", MOTION, d + carried(at.arm, parent.d_sum), "SR-9")
    return {
        j: Motion(V, arm_dot if j == i else still.linear, rate, d_sum, spins.get(j, still))
        for j, rate in rates.items()
    }


def rates_step(
    system: System[S],
    i: int,
    parent: Mapping[int, Spatial[S]],
    before: Mapping[int, Spatial[S]],
) -> dict[int, Spatial[S]]:
    """SR-10; `parent` and `before` are R and Rdot of the parent."""
    b, at, here = system.b, system.geometry[i], system.motions[i]
    rates: dict[int, Spatial[S]] = {}
    with b.step("motion", at.joint.name):
        for j, column in before.items():
            rate = carried_slope(here.arm_dot, parent[j], b.algebra) + carried(at.arm, column)
            rates[j] = let_spatial(b, f"b_dot_{i}_{j}", MOTION, rate, "SR-10")
    return {**rates, **{j: system.motions[j].b_dot for j in system.columns(i)}}


# -- sweeps over the tree ----------------------------------------------------------------------


def system_at(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
    point: ReferencePoint,
    moving: bool = True,
) -> System[S]:
    """SR-1 to SR-5, and where it is `moving` SR-6 to SR-9."""
    turning = axes_of(tree, b, state, moving)
    tree = posed(tree, turning)
    geometry: dict[int, Geometry[S]] = {}
    for joint in tree.joints:
        i, parent, axes = joint.number, geometry.get(joint.parent), turning.get(joint.number)
        geometry[i] = geometry_step(tree, joint, parent, state.q[i - 1], point, b, axes)
        for j in axes.members if axes and i == axes.members[-1] else ():
            geometry[j] = replace(geometry[j], R=geometry[i].R)
    system = System(tree, b, point, state, geometry, turning=turning)
    return replace(system, motions=motion_sweep(system)) if moving else system


def motion_sweep(system: System[S]) -> dict[int, Motion[S]]:
    """SR-6 to SR-9 of all bodies."""
    none = zero_spatial(system.b.algebra)
    motions = {BASE: Motion(none, none.linear, none, none, none)}
    for i, at in system.geometry.items():
        if system.columns(i):
            motions |= motion_step(system, i, motions[at.joint.parent])
    return motions


def rates_sweep(system: System[S]) -> dict[int, dict[int, Spatial[S]]]:
    """SR-10 of all bodies: Rdot_i, by body and joint."""
    rates: dict[int, dict[int, Spatial[S]]] = {BASE: {}}
    for i, at in system.geometry.items():
        p = at.joint.parent
        if not system.columns(i):
            rates[i] = rates[p]
            continue
        R = system.geometry[p].R if p != BASE else {}
        rates[i] = rates_step(system, i, R, rates[p])
    return rates
