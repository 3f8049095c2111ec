"""The derivatives of joint wrenches in loops: the steps of `wrenches` for any joint, any pair.

Columns beyond those of `loops` (joint i, in the notation of `wrenches`)

==========================  ====================================================================
turn, lever; rides          link frame behind the joint and point of the moment: see `link_of`,
                            `rides`
L0                          loads beyond the joint, where the robot has any, with n0_L and F0_L
R_link, p                   link frame and point in the basis
n_w, f_w; n_own, f_own      wrench, and what it changes by because the link turns
t1, t2, t3                  what joint i answers; t2 is doubled here
mC, hC, fC                  mass, first moments, twice the momentum of the composite
c_w, J_w, B_w, L_w          moments per unit of motion
==========================  ====================================================================
"""

from __future__ import annotations

from collections.abc import Mapping

from symgen.algebra.interface import S
from symgen.algebra.linear import zero_vector
from symgen.formulations.composite.frames import Place
from symgen.formulations.composite.loads import LoadSum, load_effects_step
from symgen.formulations.composite.loops import (
    axis,
    composite,
    frame,
    loads_beyond,
    of_body,
    psi,
    rate,
    spatial,
    spatial_entries,
    write_kinematics,
    write_spatial,
)
from symgen.formulations.composite.wrenches import (
    ARRAYS,
    LinkFrame,
    Motion,
    Response,
    Slopes,
    Turning,
    before_step,
    beyond_step,
    changes_step,
    entries,
    felt_force,
    link_frame_step,
    link_of,
    own_step,
    response_step,
    rides,
    wrench_step,
)
from symgen.formulations.loops import Entries, LoopsBuilder, StraightBuilder, entries_of
from symgen.formulations.shared import write_matrix
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder
from symgen.program.loops import Column

CHANGES = (("t3_n", "t3_f"), ("t2_n", "t2_f"), ("t1_n", "t1_f"))
"""Columns of `changes_step`."""


def joint_wrench_derivatives(tree: KinematicTree[S], loops: LoopsBuilder[S]) -> None:
    """[f n] of every joint, (n, 6), and its derivatives by q, qd and qdd, (n, 6, n) each."""
    with loops.straight() as x:
        places = write_kinematics(x)
        write_links(places, x)
        loaded = write_loads(tree, places, x)

    def of_joint(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[Column, S]:
        return {**wrench(b, joint, loaded), **response(b, joint, loaded)}

    def beyond(b: ProgramBuilder[S], i: Entries[S], j: Entries[S]) -> Mapping[str, tuple[S, ...]]:
        changes = spatial(j, *CHANGES[0]), spatial(j, *CHANGES[1]), spatial(j, *CHANGES[2])
        return by_array(beyond_step(axis(j), changes, axis(i), link_frame(i), None, b))

    def before(b: ProgramBuilder[S], i: Entries[S], j: Entries[S]) -> Mapping[str, tuple[S, ...]]:
        known = link_frame(i), response_of(i, loaded)
        return by_array(before_step(axis(i), *known, axis(j), motion(j), b))

    loops.towards_base(loops.each_joint(of_body))
    loops.each_joint(of_joint)
    with loops.straight() as x:
        rows = [entries(spatial(x.joint(j), "n_w", "f_w")) for j in places]
        write_matrix(x.b, "joint_wrenches", rows, 6)
    loops.each_pair(beyond, before)
    loops.on_diagonal("dw_dq", "f_own", "n_own")


# -- straight phases ---------------------------------------------------------------------------


def write_links(places: Mapping[int, Place[S]], x: StraightBuilder[S]) -> None:
    """Where the links are behind their joints."""
    for j, at in places.items():
        turn, lever = link_of(at.joint, x.state.q[j - 1], x.b.algebra)
        x.write(j, "turn", turn)
        x.write(j, "lever", lever)
        x.write(j, "rides", rides(at.joint, x.b.algebra))


def write_loads(tree: KinematicTree[S], places: dict[int, Place[S]], x: StraightBuilder[S]) -> bool:
    """Loads beyond every joint; says whether there are any."""
    sums = loads_beyond(tree, places, x)
    for j, load in sums.items():
        write_spatial(x, j, ("n0_L", "F0_L"), load.wrench)
        x.write(j, "L0", load.L)
    return bool(sums)


# -- one joint ---------------------------------------------------------------------------------


def wrench(b: ProgramBuilder[S], joint: Entries[S], loaded: bool) -> Mapping[Column, S]:
    """CO-14, CO-15, CO-50, CO-51"""
    at, loads = axis(joint), loads_of(b, joint, loaded)
    link = placed_link(b, joint)
    force = spatial(joint, "n0_in", "f0_in")
    felt = felt_force(force, loads)
    effects = load_effects_step(at, loads, b) if loads else None
    changes = changes_step(at, motion(joint), composite(b, joint), force, effects, b)
    own = own_step(at, joint.scalar("rides"), link, felt, b)
    found = {**entries_of("R_link", link.R), **entries_of("p", link.p)}
    for stems, change in zip(CHANGES, changes, strict=True):
        found |= spatial_entries(stems, change)
    found |= spatial_entries(("n_w", "f_w"), wrench_step(at, link, felt, b))
    return found | spatial_entries(("n_own", "f_own"), own)


def response(b: ProgramBuilder[S], joint: Entries[S], loaded: bool) -> Mapping[Column, S]:
    """CO-52"""
    at, loads = axis(joint), loads_of(b, joint, loaded)
    found = response_step(at, placed_link(b, joint), composite(b, joint), loads, b)
    turned = entries_of("L_w", found.loads.M) if found.loads else {}
    return {
        **entries_of("mC", found.m),
        **entries_of("hC", found.inertia.f),
        **entries_of("fC", found.coriolis.f),
        **entries_of("c_w", found.c),
        **entries_of("J_w", found.inertia.M),
        **entries_of("B_w", found.coriolis.M),
        **turned,
    }


def placed_link(b: ProgramBuilder[S], joint: Entries[S]) -> LinkFrame[S]:
    """CO-50"""
    return link_frame_step(frame(joint), joint.matrix("turn"), joint.vector("lever"), b)


# -- what columns hold of a joint --------------------------------------------------------------


def loads_of(b: ProgramBuilder[S], joint: Entries[S], loaded: bool) -> LoadSum[S] | None:
    """Loads beyond the joint; their pure moments are not asked for."""
    if not loaded:
        return None
    force, moment = joint.vector("F0_L"), joint.vector("n0_L")
    return LoadSum(force, zero_vector(b.algebra), moment, joint.matrix("L0"))


def motion(joint: Entries[S]) -> Motion[S]:
    """S, Psi', Psi''"""
    return Motion(axis(joint).axis, psi(joint), rate(joint))


def link_frame(joint: Entries[S]) -> LinkFrame[S]:
    """CO-50"""
    return LinkFrame(joint.matrix("R_link"), joint.vector("p"))


def response_of(joint: Entries[S], loaded: bool) -> Response[S]:
    """CO-52"""
    loads = Turning(joint.matrix("L_w"), joint.vector("F0_L")) if loaded else None
    inertia = Turning(joint.matrix("J_w"), joint.vector("hC"))
    coriolis = Turning(joint.matrix("B_w"), joint.vector("fC"))
    return Response(joint.scalar("mC"), joint.matrix("c_w"), inertia, coriolis, loads)


def by_array(slopes: Slopes[S]) -> Mapping[str, tuple[S, ...]]:
    """[f n] by array."""
    return {name: entries(slope) for name, slope in zip(ARRAYS, slopes, strict=True)}
