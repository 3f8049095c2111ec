"""The mass matrix by composite rigid bodies (Featherstone 2008, section 6.2).

The composite body outboard of joint i is put together in the axes of the joints (`passages`), where
the force that accelerates it by one unit of qdd_i is a column of its inertia.  Then either that
force is carried back from joint to joint, and its part along the axis of every joint on the way is
an entry, or it is written once in the basis of the tree (`motion`), where a pair of joints is one
scalar product. The first costs about 20 products per pair of joints in general, 8 to 12 between
quarter turns; the second 6 per pair and 57 per joint.  `carried_back_is_cheaper` counts both: for a
general chain the second is the cheaper one from 9 joints on.

Notation, added to that of `passages` and `motion`

==================  ==================  ========================================================
paper               code                meaning
==================  ==================  ========================================================
I^c                 m_jC, h_jC, E_jC    mass, first and second moments of the composite body
F                   n_i_j, f_i_j        force that accelerates the composite of joint i at
                                        qdd_i = 1, in the axes and about the origin of joint j
--                  n_i_P, f_i_P        that force about P, in the basis of the tree
H                   M_i_j               entries of the mass matrix
==================  ==================  ========================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symgen.algebra.interface import S
from symgen.algebra.spatial import Moments, Spatial, trace_less
from symgen.formulations.composite.motion import JointAxis, place_sweep
from symgen.formulations.composite.passages import Passage, passage_sweep
from symgen.formulations.joint_terms import reflected_inertia
from symgen.formulations.shared import by_quarter_turns, flat, let_moments, let_spatial, square
from symgen.formulations.state import State
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder, Results

NOTES = {
    "CO-24": "I^c_j = I_j + sum_c of I^c_c carried to joint j, as mass, first and second moments "
    "-- Featherstone 2008, section 6.2",
    "CO-25": "F_j = I^c_j S_j: force s x h + m t, moment J s + h x t with J = tr(E) 1 - E "
    "-- Featherstone 2008, section 6.2",
    "CO-26": "F_i about the origin of the parent of joint j, in its axes, or about P "
    "-- Featherstone 2008, section 6.2",
    "CO-27": "M_ij = S_j . F_i; M_ii plus G^2 I_r of the rotor -- Featherstone 2008, section 6.2",
}

Entries = dict[tuple[int, int], S]
"""Entries of a matrix by pair of joints; missing ones are 0."""

PLANE, ANY = 8, 18
"""Products of turning two vectors, in a coordinate plane or in any way."""

PLACED, PAIR = 57, 6
"""Products of a joint that is written in the basis, and of a pair there."""


def mass_matrix(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Write the mass matrix, (n, n), both triangles."""
    entries = mass_entries(tree, passage_sweep(tree, b, state.q), b, state)
    return {"mass_matrix": flat(square(tree, entries))}


# -- sweeps over the tree ----------------------------------------------------------------------


def mass_entries(
    tree: KinematicTree[S],
    passages: Mapping[int, Passage[S]],
    b: ProgramBuilder[S],
    state: State[S],
) -> Entries[S]:
    """CO-24 to CO-27: both triangles, with the rotors."""
    forces, entries = force_sweep(tree, passages, b), dict[tuple[int, int], S]()
    if carried_back_is_cheaper(passages, b):  # CO-26, CO-27 from joint to joint
        for i, force in forces.items():
            for j in reversed(tree.path(i)):
                at = passages[j]
                entries[i, j] = entries[j, i] = entry_step(at, i, force, b)
                if at.joint.parent != BASE:
                    force = force_back_step(at, i, force, b)
        return entries
    places = place_sweep(tree, b, state.q)
    for i, force in forces.items():  # CO-26, CO-27 in the basis of the tree
        entries[i, i] = entry_step(passages[i], i, force, b)
        with b.step("forces", places[i].name):
            f = b.let(f"f_{i}_P", places[i].R.apply(force.linear), "CO-26")
            n = places[i].R.apply(force.angular) + places[i].x.cross(f)
            about_P = Spatial(b.let(f"n_{i}_P", n, "CO-26"), f)
        for j in tree.path(i)[:-1]:
            entries[i, j] = entries[j, i] = pair_step(places[j], f"{i}", about_P, b)
    return entries


def force_sweep(
    tree: KinematicTree[S], passages: Mapping[int, Passage[S]], b: ProgramBuilder[S]
) -> dict[int, Spatial[S]]:
    """CO-24, CO-25, leaves first: F_i of every joint in its own axes."""
    children: dict[int, list[Moments[S]]] = {j: [] for j in passages}
    forces: dict[int, Spatial[S]] = {}
    for joint in reversed(tree.joints):
        i, at = joint.number, passages[joint.number]
        body = composite_step(at, children[i][::-1], b)
        forces[i] = force_step(at, body, b)
        if joint.parent != BASE:
            children[joint.parent].append(moments_back_step(at, body, b))
    return forces


def carried_back_is_cheaper(passages: Mapping[int, Passage[S]], b: ProgramBuilder[S]) -> bool:
    """Whether forces are carried back from joint to joint: counts products, roughly."""
    carried, placed, depths, costs = 0, 0, {BASE: 0}, {BASE: 0}
    for j, at in passages.items():
        p = at.joint.parent
        depths[j], costs[j] = depths[p] + 1, 0
        if p != BASE:
            costs[j] = costs[p] + passage_cost(at, b)  # of all passages from joint j to the base
        carried += costs[j]
        placed += PAIR * (depths[j] - 1) + PLACED
    return carried <= placed


def passage_cost(at: Passage[S], b: ProgramBuilder[S]) -> int:
    """Products of carrying a force over a passage."""
    turns = 0 if at.Q.trivial else PLANE if at.Q.plane else ANY
    if not by_quarter_turns(at.B.matrix, b.algebra):
        turns += PLANE if at.B.plane else ANY
    levers = [*at.l, *at.d]
    return turns + 2 * sum(not b.algebra.is_zero(entry) for entry in levers)


# -- steps, one joint each ---------------------------------------------------------------------


def composite_step(
    at: Passage[S], children: Sequence[Moments[S]], b: ProgramBuilder[S]
) -> Moments[S]:
    """Write the sum of composites: CO-24."""
    body = at.body
    with b.step("composites", at.joint.name):
        for child in children:
            body = body + child
        return _let_moments(body, f"{at.joint.number}C", b)


def moments_back_step(at: Passage[S], body: Moments[S], b: ProgramBuilder[S]) -> Moments[S]:
    """Write the composite of joint j in the axes of its parent: CO-24."""
    j = at.joint.number
    with b.step("composites", at.joint.name):
        body = _let_moments(body.moved(at.l).turned(at.Q), f"{j}C_seat", b)
        return _let_moments(body.turned(at.B), f"{j}C_ahead", b).moved(at.d)


def force_step(at: Passage[S], body: Moments[S], b: ProgramBuilder[S]) -> Spatial[S]:
    """Write the force per unit acceleration: CO-25."""
    i, s, t = at.joint.number, at.axis.angular, at.axis.linear
    with b.step("forces", at.joint.name):
        moment = trace_less(body.E).apply(s) + body.h.cross(t)
        force = Spatial(moment, t * body.m + s.cross(body.h))
        return let_spatial(b, (f"n_{i}_{i}", f"f_{i}_{i}"), force, "CO-25")


def force_back_step(at: Passage[S], i: int, force: Spatial[S], b: ProgramBuilder[S]) -> Spatial[S]:
    """Write F_i in the axes of the parent of joint j: CO-26."""
    p = at.joint.parent
    with b.step("forces", at.joint.name):
        return let_spatial(b, (f"n_{i}_{p}", f"f_{i}_{p}"), at.force_back(force), "CO-26")


def entry_step(at: Passage[S], i: int, force: Spatial[S], b: ProgramBuilder[S]) -> S:
    """Write the torque of F_i on joint j: CO-27."""
    j = at.joint.number
    with b.step("mass matrix", at.joint.name):
        entry = at.axis.dot(force)
        if i == j:
            entry = entry + reflected_inertia(at.joint)
        return b.let(f"M_{i}_{j}", entry, "CO-27")


def pair_step(at_j: JointAxis[S], i: str, force: Spatial[S], b: ProgramBuilder[S]) -> S:
    """Write the torque of F_i on joint j, both in the basis: CO-27."""
    with b.step("mass matrix", at_j.name):
        return b.let(f"M_{i}_{at_j.label}", at_j.axis.dot(force), "CO-27")


def _let_moments(body: Moments[S], name: str, b: ProgramBuilder[S]) -> Moments[S]:
    names = (f"m_{name}", f"h_{name}", f"E_{name}")
    return Moments(*let_moments(b, names, (body.m, body.h, body.E), "CO-24"))
