"""The motion of points that are fixed in links and its derivatives, in base axes throughout.

The position of a point is the sum of the offsets on the way to it, its velocity and acceleration
that of their rates.

A unit of qd_j gives a point Q outboard of joint j the velocity V_jQ, the field of S_j (`motion`) at
Q. All derivatives are V_jQ and its rates, as derivatives by q_j and by time commute:

    dx/dq_j = dv/dqd_j = da/dqdd_j = V
    dv/dq_j = da/dqd_j / 2         = V'
    da/dq_j                        = V''

In terms of `motion` V' is the field of Psi'_j at Q plus s_j x v_Q, and V'' the field of Psi''_j
plus 2 Psi'_w x v_Q + s_j x a_Q, where the base does not accelerate against gravity.  Fewer
operations are needed about the joint's own origin: there V = t + s x r has two constant vectors of
the parent in it and the lever r to the point, and V' and V'' follow by the product rule.  A lever
is that of the next joint and what lies in between, so that nothing far away is ever subtracted.

The axes are those of the base from the start: to turn three vectors for every point and joint at
the end would cost more than the axes after the first joint save.

Notation, added to that of `motion` (p is the parent of joint j, i the next joint on the way to Q;
d and dd behind a name mark the first and second rate)

==================  =======================  ===================================================
paper               code                     meaning
==================  =======================  ===================================================
Phi_j               s_j, t_j                 axes of rotation and of translation
w_j, alpha_j        w0_j, alpha0_j           angular velocity and acceleration of link j
--                  slide_j                  o_j -> x_j
--                  arm_j, arm_Q             x_p -> o_j; x_j -> Q
--                  r_j_Q                    o_j -> Q
--                  x0_j, x0_Q               origin of the base -> x_j, Q
==================  =======================  ===================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Transform, Vector, all_zero, identity, zero_vector
from symgen.formulations.composite.motion import Axes, axes_step
from symgen.formulations.shared import blocks_of_joints, flat, let_derivative
from symgen.formulations.state import State
from symgen.kinematics.bodies import BodyPoint
from symgen.kinematics.frames import identity_transform
from symgen.kinematics.joint import Joint
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder, Results

NOTES = {
    "CO-38": "c' = w_p x c, c'' = alpha_p x c + w_p x c' of a vector that is constant in link p: "
    "s_j, t_j, arm_j, arm_Q; rates of a multiple of an axis are multiples of its rates",
    "CO-39": "w_j = w_p + s qd, alpha_j = alpha_p + s qdd + s' qd",
    "CO-40": "slide_j = t (q + offset); r_jQ = slide_j + arm_i + r_iQ, for the last joint "
    "slide_j + arm_Q; first and second rates of both",
    "CO-41": "dx/dq_j = V = t + s x r, dv/dq_j = V' = t' + s' x r + s x r', "
    "da/dq_j = V'' = t'' + s'' x r + 2 s' x r' + s x r'', da/dqd_j = 2 V' "
    "-- Singh, Russell, Wensing 2022 (IDSVA), their Psi, Psi', Psi'' as fields at the point",
    "CO-69": "d tau_j/d[force; moment] = -[V; s]_j of a load in base axes: virtual power",
    "CO-42": "x0_j = x0_p + arm_j + slide_j, x0_Q = x0_j + arm_Q; v0_Q, a0_Q are its rates",
}


@dataclass(frozen=True)
class Moving(Generic[S]):
    """A vector in base axes, its first and its second rate."""

    x: Vector[S]
    xd: Vector[S]
    xdd: Vector[S]

    def __add__(self, other: Moving[S]) -> Moving[S]:
        return Moving(self.x + other.x, self.xd + other.xd, self.xdd + other.xdd)

    def __mul__(self, factor: S) -> Moving[S]:
        """Times a constant."""
        return Moving(self.x * factor, self.xd * factor, self.xdd * factor)


@dataclass(frozen=True)
class Direction(Generic[S]):
    """An axis of rotation that is fixed in a link: `axis` in its axes after the joint."""

    axis: Vector[S]
    s: Moving[S]

    def factor(self, c: Vector[S], b: ProgramBuilder[S]) -> S | None:
        """Return the factor between c and the axis; None where c is no multiple of it by
        structure."""
        if all_zero(self.axis, b.algebra) or not all_zero(c.cross(self.axis), b.algebra):
            return None
        return c.dot(self.axis)


@dataclass(frozen=True)
class Link(Generic[S]):
    """A link as what it carries sees it: CO-2, CO-39.

    `frame` is the link frame in the axes after the joint, `joint_axis` its axis.
    """

    axes: Axes[S]
    w: Vector[S]
    alpha: Vector[S]
    frame: Transform[S]
    joint_axis: Direction[S]


@dataclass(frozen=True)
class Mount(Generic[S]):
    """A joint on its parent: CO-38, CO-40."""

    joint: Joint[S]
    s: Moving[S]
    t: Moving[S]
    slide: Moving[S]
    arm: Moving[S]


@dataclass(frozen=True)
class DPoint(Generic[S]):
    """CO-41 of one point and one joint, base axes."""

    x_q: Vector[S]
    v_q: Vector[S]
    a_q: Vector[S]
    a_qd: Vector[S]


SLOPES = {
    "dx_dq": "x_q",
    "dv_dq": "v_q",
    "dv_dqd": "x_q",
    "da_dq": "a_q",
    "da_dqd": "a_qd",
    "da_dqdd": "x_q",
}
"""Output -> what it is made of."""


def point_motion(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """position, velocity, acceleration, each (n_points, 3), base axes."""
    links, mounts = mount_sweep(tree, b, state)
    origins = {BASE: _at_rest(b)}
    for j, at in mounts.items():
        with b.step("points", at.joint.name):
            x = (origins[at.joint.parent] + at.arm) + at.slide
            origins[j] = let_moving(b, ("x0", f"{j}"), x, "CO-42")
    points = [point_step(point, links[point.body], origins, b) for point in tree.points]
    parts = {"position": "x", "velocity": "xd", "acceleration": "xdd"}
    return {name: flat(getattr(x, part) for x in points) for name, part in parts.items()}


def point_motion_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """dx_dq, dv_dq, dv_dqd, da_dq, da_dqd, da_dqdd, each (n_points, 3, n), base axes."""
    links, mounts = mount_sweep(tree, b, state)
    rows = [d_point_sweep(tree, links, mounts, point, b) for point in tree.points]

    def blocks(slope: str) -> list[dict[int, Vector[S]]]:
        return [{j: getattr(d_point, slope) for j, d_point in row.items()} for row in rows]

    return {name: blocks_of_joints(tree, blocks(x), 3) for name, x in SLOPES.items()}


def inverse_dynamics_load_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """dtau_dloads, (n, n_loads, 6), loads in base axes: CO-69."""
    loaded = replace(tree, points=tree.loads)
    links, mounts = mount_sweep(loaded, b, state)
    rows = [d_point_sweep(loaded, links, mounts, load, b) for load in loaded.points]
    zero = zero_vector(b.algebra)
    entries: list[S] = []
    for joint in tree.joints:
        j = joint.number
        with b.step("torques by loads", joint.name):
            for load, row in zip(tree.loads, rows, strict=True):
                pair = (row[j].x_q, mounts[j].s.x) if j in row else (zero, zero)
                for name, part in zip(("force", "moment"), pair, strict=True):
                    entries += [*b.let(f"tau_{j}_by_{name}_{load.name}", -part, "CO-69")]
    return {"dtau_dloads": entries}


# -- sweeps over the tree ----------------------------------------------------------------------


def mount_sweep(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> tuple[dict[int, Link[S]], dict[int, Mount[S]]]:
    """Write CO-1, CO-2, CO-38 to CO-40 of every joint on the way to a point, parents first."""
    unit, o = identity(b.algebra), zero_vector(b.algebra)
    still = Direction(o, _at_rest(b))
    links = {BASE: Link(Axes(unit, unit), o, o, identity_transform(b.algebra), still)}
    mounts: dict[int, Mount[S]] = {}
    for j in tree.towards(point.body for point in tree.points):
        joint, q, qd, qdd = tree.joint(j), state.q[j - 1], state.qd[j - 1], state.qdd[j - 1]
        parent, axis = links[joint.parent], joint.axes(b.algebra)
        axes = axes_step(joint, parent.axes, parent.frame.rotation, q, b)
        placement = parent.frame @ joint.placement.tree
        turn = placement.rotation
        with b.step("axes", joint.name):
            s, t = (
                _carried(parent, (name, f"{j}"), turn.apply(c), axes.A.apply(c), (), b)
                for name, c in zip("st", axis, strict=True)
            )
        x = q + joint.placement.offset
        slide = Moving(t.x * x, t.xd * x + t.x * qd, t.xdd * x + t.xd * (qd + qd) + t.x * qdd)
        with b.step("points", joint.name):
            slide = let_moving(b, ("slide", f"{j}"), slide, "CO-40")
            c = placement.translation  # it may lie along the joint's own axis: modified DH rows
            next_axis = Direction(placement.rotation.apply(axis[0]), s)
            arm = _carried(parent, ("arm", f"{j}"), c, parent.axes.R.apply(c), [next_axis], b)
        mounts[j] = Mount(joint, s, t, slide, arm)
        with b.step("turning", joint.name):
            w = b.let(f"w0_{j}", parent.w + s.x * qd, "CO-39")
            alpha = b.let(f"alpha0_{j}", parent.alpha + s.x * qdd + s.xd * qd, "CO-39")
        links[j] = Link(axes, w, alpha, joint.placement.link, Direction(axis[0], s))
    return links, mounts


def d_point_sweep(
    tree: KinematicTree[S],
    links: Mapping[int, Link[S]],
    mounts: Mapping[int, Mount[S]],
    point: BodyPoint[S],
    b: ProgramBuilder[S],
) -> dict[int, DPoint[S]]:
    """Write CO-40, CO-41 of a point, by joint on the way to it; a point of the base stays."""
    d_points, two = dict[int, DPoint[S]](), b.algebra.constant(2.0)
    if point.body == BASE:
        return d_points
    arm, lever = point_arm_step(point, links[point.body], b), _at_rest(b)
    for j in reversed(tree.path(point.body)):
        at, P = mounts[j], point.name
        s, t = at.s, at.t
        with b.step("levers", P):
            r = lever = let_moving(b, ("r", f"{j}_{P}"), (at.slide + arm) + lever, "CO-40")
        rate = t.xd + s.xd.cross(r.x) + s.x.cross(r.xd)
        second = t.xdd + s.xdd.cross(r.x) + (s.xd * two).cross(r.xd) + s.x.cross(r.xdd)
        with b.step("point derivatives", P):
            x_q = let_derivative(b, f"x0_{P}", t.x + s.x.cross(r.x), f"q_{j}", "CO-41")
            v_q = let_derivative(b, f"v0_{P}", rate, f"q_{j}", "CO-41")
            a_q = let_derivative(b, f"a0_{P}", second, f"q_{j}", "CO-41")
            a_qd = let_derivative(b, f"a0_{P}", v_q * two, f"qd_{j}", "CO-41")
        d_points[j] = DPoint(x_q, v_q, a_q, a_qd)
        arm = at.arm
    return d_points


def _at_rest(b: ProgramBuilder[S]) -> Moving[S]:
    o = zero_vector(b.algebra)
    return Moving(o, o, o)


# -- steps, one point, or one point and one joint each -----------------------------------------


def point_arm_step(point: BodyPoint[S], link: Link[S], b: ProgramBuilder[S]) -> Moving[S]:
    """CO-38: arm_Q."""
    c = link.frame.apply(point.point)
    with b.step("points", point.name):
        return _carried(link, ("arm", point.name), c, link.axes.R.apply(c), (), b)


def point_step(
    point: BodyPoint[S], link: Link[S], origins: Mapping[int, Moving[S]], b: ProgramBuilder[S]
) -> Moving[S]:
    """CO-42: x0_Q and its rates, the velocity and the acceleration."""
    moving, P = origins[point.body] + point_arm_step(point, link, b), point.name
    with b.step("points", P):
        x0 = b.let(f"x0_{P}", moving.x, "CO-42")
        v0 = b.let(f"v0_{P}", moving.xd, "CO-42")
        return Moving(x0, v0, b.let(f"a0_{P}", moving.xdd, "CO-42"))


# -- names -------------------------------------------------------------------------------------


def let_moving(
    b: ProgramBuilder[S], name: tuple[str, str], value: Moving[S], note: str
) -> Moving[S]:
    """Name a vector and its rates: ``r_2``, ``rd_2``, ``rdd_2`` for ``("r", "2")``."""
    what, whose = name
    x = b.let(f"{what}_{whose}", value.x, note)
    xd = b.let(f"{what}d_{whose}", value.xd, note)
    return Moving(x, xd, b.let(f"{what}dd_{whose}", value.xdd, note))


def _carried(
    link: Link[S],
    name: tuple[str, str],
    c: Vector[S],
    x: Vector[S],
    directions: Sequence[Direction[S]],
    b: ProgramBuilder[S],
) -> Moving[S]:
    """CO-38 of a vector that is fixed in a link, c in the axes after its joint, x in base axes.

    `directions` are further axes, fixed in the link.
    """
    for direction in (link.joint_axis, *directions):
        if (factor := direction.factor(c, b)) is not None:
            return let_moving(b, name, direction.s * factor, "CO-38")
    what, whose = name
    x = b.let(f"{what}_{whose}", x, "CO-38")
    xd = b.let(f"{what}d_{whose}", link.w.cross(x), "CO-38")
    xdd = b.let(f"{what}dd_{whose}", link.alpha.cross(x) + link.w.cross(xd), "CO-38")
    return Moving(x, xd, xdd)
