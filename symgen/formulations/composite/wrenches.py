"""Derivatives of the wrenches that joints transmit, in closed form.

The wrench in joint i is what moves the composite of i.  A joint j outboard of i, or i itself,
changes it by t_3, 2 t_2, t_1 of joint j, whatever i is.  A joint j that carries i turns link and
composite together: seen from the link, the wrench changes only by what the motion of j does to
velocities and accelerations: 2 B Psi'_j + I Psi''_j, 2 (B S_j + I Psi'_j), I S_j.  Loads keep their
axes and so turn back by s_j in those of the link.

Notation, added to that of `motion`, `bodies` and `derivatives` (I, B, m, h and f are those of the
composite of i, L, F and n those of the loads outboard of it; matrices lead from the basis to link
axes)

==================  ==================  ========================================================
paper               code                meaning
==================  ==================  ========================================================
--                  R_link_i            axes of link frame i
--                  p_i                 P -> point that the moment in joint i refers to
i_X*                `LinkFrame.wrench`  a force about P in axes of link i, moment about p_i
--                  f_w_i, n_w_i        the wrench in joint i: force and moment, axes of link i
--                  f_own_i, n_own_i    what it changes by per unit of q_i because the link turns
i_X* I              J_w_i, c_w_i        R_link^T (J + h p^T - (p . h) 1), R_link^T (h - m p) x:
                                        moment about p_i per unit of motion at P
2 i_X* B            B_w_i               2 R_link^T (B + f p^T - (p . f) 1)
--                  L_w_i               the same of -(L + n x) and F: moment of loads turning back
==================  ==================  ========================================================

The formulas are those of Singh, Russell, Wensing 2022 (IDSVA) for the spatial force on a composite,
of which the torque takes the part along S_i.

Columns of loops, added to those of `loops` (joint i)

==========================  ====================================================================
turn, lever; rides          link frame after the joint and point of the moment: see `link_of`,
                            `rides`
L0                          loads outboard of the joint, where the robot has any, with n0_L and F0_L
R_link, p                   link frame and point in the basis
n_w, f_w; n_own, f_own      wrench, and what it changes by because the link turns
t1, t2, t3                  what joint i answers; t2 is doubled here
mC, hC, fC                  mass, first moments, twice the momentum of the composite
c_w, J_w, B_w, L_w          moments per unit of motion
==========================  ====================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Vector, all_zero, diagonal, outer, skew, zero_vector
from symgen.algebra.spatial import Spatial
from symgen.formulations.composite.bodies import LoadEffects, LoadSum, load_effects_step
from symgen.formulations.composite.derivatives import (
    Composite,
    body_sweep,
    force_by_q_step,
    force_sweep,
    rates_step,
)
from symgen.formulations.composite.motion import JointAxis, JointFrame, Place
from symgen.formulations.composite.rolled import (
    axis,
    composite,
    frame,
    loads_beyond,
    of_body,
    psi,
    rate,
    write_kinematics,
)
from symgen.formulations.rolled import Entries, RolledBuilder, StraightBuilder, entries_of
from symgen.formulations.shared import blocks_of_joints, flat, let_derivative, let_spatial
from symgen.formulations.state import State
from symgen.kinematics.joint import Joint
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder, Results
from symgen.program.rolled import Column

NOTES = {
    "CO-50": "R_link_i = R_i times the fixed rotation after the motion; p_i = x_i + R_i times the "
    "lever to the point of the moment",
    "CO-51": "[f_w; n_w] = i_X* (f - loads); [f_own; n_own] = -i_X* (S_i x* (f - loads)), 0 where "
    "the joint slides and p_i stays",
    "CO-52": "J_w = R_link^T (J + h p^T - (p . h) 1), c_w = R_link^T (h - m p) x, B_w = 2 R_link^T "
    "(B + f p^T - (p . f) 1), L_w = R_link^T (F p^T - (p . F) 1 - L - n x)",
    "CO-53": "d w_i = i_X* t_3 by q_j, and own_i if j = i; i_X* 2 t_2 by qd_j; i_X* t_1 by qdd_j",
    "CO-54": "d w_i = i_X* (2 B Psi'_j + I Psi''_j) + L_w s_j by q_j; 2 i_X* "
    "(B S_j + I Psi'_j) by qd_j; i_X* I S_j by qdd_j -- Singh, Russell, Wensing 2022 (IDSVA)",
}

Slopes = tuple[Spatial[S], Spatial[S], Spatial[S]]
"""Slopes of a force or a wrench by q, qd and qdd of one joint."""

ARRAYS = ("dw_dq", "dw_dqd", "dw_dqdd")
"""The results in the order of `Slopes`."""


@dataclass(frozen=True)
class LinkFrame(Generic[S]):
    """CO-50: axes and point of a wrench; `R` turns from link axes to the basis, `p` is from P."""

    R: Matrix[S]
    p: Vector[S]

    def wrench(self, force: Spatial[S]) -> Spatial[S]:
        """Return a force about P in link axes, its moment about p."""
        moment = force.angular - self.p.cross(force.linear)
        return Spatial(self.R.apply_transposed(moment), self.R.apply_transposed(force.linear))

    def sliding(self, c: Vector[S]) -> Matrix[S]:
        """R^T (c x)"""
        return Matrix([tuple(Vector(*axis).cross(c)) for axis in self.R.transposed.rows])

    def turning(self, M: Matrix[S], f: Vector[S], algebra: Algebra[S]) -> Matrix[S]:
        """R^T (M + f p^T - (p . f) 1): moment about p where M s is that about P, s x f the force"""
        dot = self.p.dot(f)
        lever = outer(f, self.p) - diagonal(Vector(dot, dot, dot), algebra)
        return self.R.transposed @ (M + lever)


@dataclass(frozen=True)
class JointColumns(Generic[S]):
    """S_j, Psi'_j and Psi''_j of a joint."""

    axis: Spatial[S]
    psi: Spatial[S]
    rate: Spatial[S]


@dataclass(frozen=True)
class Turning(Generic[S]):
    """Response to an angular motion s: the moment M s, in link axes about p, and the force s x f,
    in the basis."""

    M: Matrix[S]
    f: Vector[S]

    def apply(self, angular: Vector[S]) -> Spatial[S]:
        """Moment and force."""
        return Spatial(self.M.apply(angular), angular.cross(self.f))


@dataclass(frozen=True)
class Response(Generic[S]):
    """Responses of joint i to joints that carry it, CO-52: `inertia` I, `coriolis` 2 B, `loads` as
    they turn back, if there are any."""

    m: S
    c: Matrix[S]
    inertia: Turning[S]
    coriolis: Turning[S]
    loads: Turning[S] | None

    def apply(self, motion: Spatial[S]) -> Spatial[S]:
        """I times a motion."""
        slid = Spatial(self.c.apply(motion.linear), motion.linear * self.m)
        return slid + self.inertia.apply(motion.angular)


def joint_wrench_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Results[S]:
    """[f n] of every joint, (n, 6), and its derivatives by q, qd and qdd, (n, 6, n) each."""
    bodies = body_sweep(tree, b, state)
    forces = force_sweep(tree, bodies, b, state.qd, state.qdd)
    frames = {
        j: link_frame_step(at, *link_of(at.joint, state.q[j - 1], b.algebra), b)
        for j, at in bodies.places.items()
    }
    net = {j: reaction_with_loads(forces.forces[j], bodies.loads.get(j)) for j in frames}
    wrenches = {j: wrench_step(bodies.places[j], frames[j], net[j], b) for j in frames}
    places, velocities = bodies.places, bodies.velocities
    motions = {
        j: JointColumns(at.axis, velocities[j].psi, forces.rates[j]) for j, at in places.items()
    }
    slopes: dict[int, dict[int, Slopes[S]]] = {i: {} for i in places}
    for k in reversed(places):
        at, composite, load = places[k], bodies.composites[k], bodies.loads.get(k)
        t = changes_step(at, motions[k], composite, forces.forces[k], forces.effects.get(k), b)
        turned = own_step(at, rides(at.joint, b.algebra), frames[k], net[k], b)
        response = response_step(at, frames[k], composite, load, b)
        for j in tree.path(k):
            slopes[j][k] = beyond_step(at, t, places[j], frames[j], turned if j == k else None, b)
            if j != k:
                slopes[k][j] = before_step(at, frames[k], response, places[j], motions[j], b)
    results: dict[str, Sequence[S]] = {"joint_wrenches": flat(map(entries, wrenches.values()))}
    for place, name in enumerate(ARRAYS):
        blocks = ({j: entries(x[place]) for j, x in block.items()} for block in slopes.values())
        results[name] = blocks_of_joints(tree, blocks, 6)
    return results


# -- steps, one joint each ---------------------------------------------------------------------


def link_of(joint: Joint[S], q: S, algebra: Algebra[S]) -> tuple[Matrix[S], Vector[S]]:
    """Turn from the axes after the motion to the link frame, and lever from their origin to the
    point of the moment, in those axes."""
    link = joint.placement.link
    if joint.placement.origin_stays:
        return link.rotation, -joint.slide(q, algebra)
    return link.rotation, link.translation


def rides(joint: Joint[S], algebra: Algebra[S]) -> S:
    """1 where the point of the wrench moves with the joint or lies on its axis, 0 where it stays
    behind a joint that slides."""
    slides = all_zero(joint.axes(algebra)[0], algebra)
    return algebra.zero if joint.placement.origin_stays and slides else algebra.one


def link_frame_step(
    at: JointFrame[S], turn: Matrix[S], lever: Vector[S], b: ProgramBuilder[S]
) -> LinkFrame[S]:
    """Write the link frame: CO-50."""
    i = at.label
    with b.step("link frames", at.name):
        R = b.let(f"R_link_{i}", at.R @ turn, "CO-50")
        return LinkFrame(R, b.let(f"p_{i}", at.x + at.R.apply(lever), "CO-50"))


def reaction_with_loads(force: Spatial[S], loads: LoadSum[S] | None) -> Spatial[S]:
    """Return the force of inertia less the loads outboard of the joint."""
    return force - loads.wrench if loads else force


def wrench_step(
    at: JointAxis[S], frame: LinkFrame[S], force: Spatial[S], b: ProgramBuilder[S]
) -> Spatial[S]:
    """Write the wrench: CO-51."""
    i = at.label
    with b.step("wrenches", at.name):
        return let_spatial(b, (f"n_w_{i}", f"f_w_{i}"), frame.wrench(force), "CO-51")


def own_step(
    at: JointAxis[S], rides: S, frame: LinkFrame[S], force: Spatial[S], b: ProgramBuilder[S]
) -> Spatial[S]:
    """CO-51; `rides` as in `rides`."""
    i = at.label
    with b.step("wrenches", at.name):
        turned = frame.wrench((at.axis * rides).cross_force(force))
        change = Spatial(-turned.angular, -turned.linear)
        return let_spatial(b, (f"n_own_{i}", f"f_own_{i}"), change, "CO-51")


def changes_step(
    at: JointAxis[S],
    motion: JointColumns[S],
    composite: Composite[S],
    force: Spatial[S],
    loads: LoadEffects[S] | None,
    b: ProgramBuilder[S],
) -> Slopes[S]:
    """CO-14, CO-15: of the force on all that the joint carries, t_3, 2 t_2 and t_1."""
    rates = rates_step(at, motion.psi, composite, b)
    t3 = force_by_q_step(at, motion.psi, motion.rate, composite, force, loads, b)
    return t3, rates.t2 + rates.t2, rates.t1


def response_step(
    at: JointAxis[S],
    frame: LinkFrame[S],
    composite: Composite[S],
    loads: LoadSum[S] | None,
    b: ProgramBuilder[S],
) -> Response[S]:
    """Write the responses: CO-52."""
    i, body, algebra = at.label, composite.inertia, b.algebra
    B, f = composite.coriolis.B, composite.coriolis.f

    def turning(name: str, M: Matrix[S], f: Vector[S]) -> Turning[S]:
        return Turning(b.let(f"{name}_{i}", frame.turning(M, f, algebra), "CO-52"), f)

    with b.step("responses", at.name):
        c = b.let(f"c_w_{i}", frame.sliding(body.h - frame.p * body.m), "CO-52")
        inertia = turning("J_w", body.J, body.h)
        coriolis = turning("B_w", B + B, f + f)
        if loads is None:
            return Response(body.m, c, inertia, coriolis, None)
        back = skew(-loads.n, algebra) - loads.L
        return Response(body.m, c, inertia, coriolis, turning("L_w", back, loads.F))


# -- steps, one pair of joints each ------------------------------------------------------------


def beyond_step(
    at_j: JointAxis[S],
    changes: Slopes[S],
    at_i: JointAxis[S],
    frame: LinkFrame[S],
    turned: Spatial[S] | None,
    b: ProgramBuilder[S],
) -> Slopes[S]:
    """CO-53: of the wrench in i by a joint j that it carries; by itself, with its `turned`."""
    with b.step("wrench derivatives", at_i.name):
        by_q, by_qd, by_qdd = (frame.wrench(change) for change in changes)
        by_q = by_q if turned is None else by_q + turned
        return named((by_q, by_qd, by_qdd), at_i, at_j, "CO-53", b)


def before_step(
    at_i: JointAxis[S],
    frame: LinkFrame[S],
    response: Response[S],
    at_j: JointAxis[S],
    motion: JointColumns[S],
    b: ProgramBuilder[S],
) -> Slopes[S]:
    """CO-54: of the wrench in i by a joint j that carries it."""
    S_j, psi, rate = motion.axis, motion.psi, motion.rate
    by_qd = response.apply(psi + psi) + response.coriolis.apply(S_j.angular)
    by_q = response.apply(rate) + response.coriolis.apply(psi.angular)
    if response.loads is not None:
        by_q = by_q + response.loads.apply(S_j.angular)

    def in_link_axes(x: Spatial[S]) -> Spatial[S]:
        return Spatial(x.angular, frame.R.apply_transposed(x.linear))

    with b.step("wrench derivatives", at_i.name):
        slopes = in_link_axes(by_q), in_link_axes(by_qd), in_link_axes(response.apply(S_j))
        return named(slopes, at_i, at_j, "CO-54", b)


def named(
    slopes: Slopes[S], at_i: JointAxis[S], at_j: JointAxis[S], note: str, b: ProgramBuilder[S]
) -> Slopes[S]:
    """Name the derivatives of the wrench in i by joint j."""
    i, j = at_i.label, at_j.label

    def let(slope: Spatial[S], by: str) -> Spatial[S]:
        moment = let_derivative(b, f"n_w_{i}", slope.angular, by, note)
        return Spatial(moment, let_derivative(b, f"f_w_{i}", slope.linear, by, note))

    by_q, by_qd, by_qdd = slopes
    return let(by_q, f"q_{j}"), let(by_qd, f"qd_{j}"), let(by_qdd, f"qdd_{j}")


def entries(wrench: Spatial[S]) -> tuple[S, ...]:
    """[f n]"""
    return (*wrench.linear, *wrench.angular)


CHANGES = ("t3_n t3_f", "t2_n t2_f", "t1_n t1_f")
"""Columns of `changes_step`."""


def rolled_wrench_derivatives(tree: KinematicTree[S], rolled: RolledBuilder[S]) -> None:
    """[f n] of every joint, (n, 6), and its derivatives by q, qd and qdd, (n, 6, n) each."""
    with rolled.straight() as x:
        places = write_kinematics(x)
        for j, at in places.items():
            turn, lever = link_of(at.joint, x.state.q[j - 1], x.b.algebra)
            x.write(j, "turn", turn)
            x.write(j, "lever", lever)
            x.write(j, "rides", rides(at.joint, x.b.algebra))
        loaded = write_loads(tree, places, x)

    def of_joint(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[Column, S]:
        return {**wrench(b, joint, loaded), **response(b, joint, loaded)}

    def beyond(b: ProgramBuilder[S], i: Entries[S], j: Entries[S]) -> Mapping[str, tuple[S, ...]]:
        changes = j.spatial(CHANGES[0]), j.spatial(CHANGES[1]), j.spatial(CHANGES[2])
        return by_array(beyond_step(axis(j), changes, axis(i), link_frame(i), None, b))

    def before(b: ProgramBuilder[S], i: Entries[S], j: Entries[S]) -> Mapping[str, tuple[S, ...]]:
        arguments = link_frame(i), response_of(i, loaded)
        return by_array(before_step(axis(i), *arguments, axis(j), motion(j), b))

    rolled.towards_base(rolled.each_joint(of_body))
    rolled.each_joint(of_joint)
    with rolled.straight() as x:
        rows = [entries(x.joint(j).spatial("n_w f_w")) for j in places]
        x.b.output("joint_wrenches", (len(rows), 6), flat(rows))
    rolled.each_pair(beyond, before)
    rolled.on_diagonal("dw_dq", "f_own", "n_own")


# -- straight phases ---------------------------------------------------------------------------


def write_loads(tree: KinematicTree[S], places: dict[int, Place[S]], x: StraightBuilder[S]) -> bool:
    """Loads outboard of every joint; says whether there are any."""
    sums = loads_beyond(tree, places, x)
    for j, load in sums.items():
        x.write(j, "n0_L F0_L", load.wrench)
        x.write(j, "L0", load.L)
    return bool(sums)


# -- one joint ---------------------------------------------------------------------------------


def wrench(b: ProgramBuilder[S], joint: Entries[S], loaded: bool) -> Mapping[Column, S]:
    """CO-14, CO-15, CO-50, CO-51"""
    at, loads = axis(joint), loads_of(b, joint, loaded)
    link = placed_link(b, joint)
    force = joint.spatial("n0_in f0_in")
    net = reaction_with_loads(force, loads)
    effects = load_effects_step(at, loads, b) if loads else None
    changes = changes_step(at, motion(joint), composite(b, joint), force, effects, b)
    turned = own_step(at, joint.scalar("rides"), link, net, b)
    columns = {**entries_of("R_link", link.R), **entries_of("p", link.p)}
    for stems, change in zip(CHANGES, changes, strict=True):
        columns |= entries_of(stems, change)
    columns |= entries_of("n_w f_w", wrench_step(at, link, net, b))
    return columns | entries_of("n_own f_own", turned)


def response(b: ProgramBuilder[S], joint: Entries[S], loaded: bool) -> Mapping[Column, S]:
    """Write the responses: CO-52."""
    at, loads = axis(joint), loads_of(b, joint, loaded)
    responses = response_step(at, placed_link(b, joint), composite(b, joint), loads, b)
    turned = entries_of("L_w", responses.loads.M) if responses.loads else {}
    return {
        **entries_of("mC", responses.m),
        **entries_of("hC", responses.inertia.f),
        **entries_of("fC", responses.coriolis.f),
        **entries_of("c_w", responses.c),
        **entries_of("J_w", responses.inertia.M),
        **entries_of("B_w", responses.coriolis.M),
        **turned,
    }


def placed_link(b: ProgramBuilder[S], joint: Entries[S]) -> LinkFrame[S]:
    """Write the link frame: CO-50."""
    return link_frame_step(frame(joint), joint.matrix("turn"), joint.vector("lever"), b)


# -- what columns hold of a joint --------------------------------------------------------------


def loads_of(b: ProgramBuilder[S], joint: Entries[S], loaded: bool) -> LoadSum[S] | None:
    """Loads outboard of the joint; their pure moments are not asked for."""
    if not loaded:
        return None
    force, moment = joint.vector("F0_L"), joint.vector("n0_L")
    return LoadSum(force, zero_vector(b.algebra), moment, joint.matrix("L0"))


def motion(joint: Entries[S]) -> JointColumns[S]:
    """S, Psi', Psi''"""
    return JointColumns(axis(joint).axis, psi(joint), rate(joint))


def link_frame(joint: Entries[S]) -> LinkFrame[S]:
    """Read the link frame: CO-50."""
    return LinkFrame(joint.matrix("R_link"), joint.vector("p"))


def response_of(joint: Entries[S], loaded: bool) -> Response[S]:
    """Read the responses: CO-52."""
    loads = Turning(joint.matrix("L_w"), joint.vector("F0_L")) if loaded else None
    inertia = Turning(joint.matrix("J_w"), joint.vector("hC"))
    coriolis = Turning(joint.matrix("B_w"), joint.vector("fC"))
    return Response(joint.scalar("mC"), joint.matrix("c_w"), inertia, coriolis, loads)


def by_array(slopes: Slopes[S]) -> Mapping[str, tuple[S, ...]]:
    """[f n] by array."""
    return {name: entries(slope) for name, slope in zip(ARRAYS, slopes, strict=True)}
