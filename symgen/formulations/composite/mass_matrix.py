"""The mass matrix by composite rigid bodies (Featherstone 2008, section 6.2).

The composite body beyond joint i is put together in the axes of the joint, where the force that
accelerates it by one unit of qdd_i is a column of its inertia; that force is carried back from
joint to joint, and every joint on the way feels it along its own axis.

Notation (p is the parent of joint j; bodies and forces in the axes behind the motion of joint j,
about their origin; c are the joints on link j)

==================  ==================  ========================================================
paper               code                meaning
==================  ==================  ========================================================
iX_p                Q_j, B_j            turn of the motion, fixed turn from joint p to joint j
--                  l_j, d_j            origin of joint j -> origin behind its motion; origin
                                        behind the motion of p -> origin of joint j, axes of p
S                   s, t                axes of rotation and of translation
I^c                 m_jC, h_jC, E_jC    mass, first and second moments of the composite body
F                   n_i_j, f_i_j        force that moves the composite of joint i, as joint j has
                                        it
H                   M_i_j               entries of the mass matrix
==================  ==================  ========================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector
from symgen.algebra.turns import UPPER, Turn, mirrored, turn_of
from symgen.formulations.composite.bodies import Moments
from symgen.formulations.composite.spatial import Spatial, let_spatial, trace_less
from symgen.formulations.interface import State
from symgen.formulations.joint_terms import reflected_inertia
from symgen.formulations.shared import let_symmetric, square, write_matrix
from symgen.kinematics.bodies import second_moments
from symgen.kinematics.frames import identity_transform
from symgen.kinematics.joint import Joint
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "CRB-1": "Q_j, l_j of the motion of joint j; B_j, d_j between joints p and j",
    "CRB-2": "I^c_j = I_j + sum_c of I^c_c carried to joint j, as mass, first and second moments "
    "-- Featherstone 2008 (6.14)",
    "CRB-3": "F_j = I^c_j S_j: force s x h + m t, moment J s + h x t with J = tr(E) 1 - E "
    "-- Featherstone 2008 (6.19)",
    "CRB-4": "F_i carried from joint j to its parent -- Featherstone 2008 (6.20)",
    "CRB-5": "M_ij = S_j . F_i; M_ii with the rotor: + G^2 I_r -- Featherstone 2008 (6.21)",
}

Entries = dict[tuple[int, int], S]
"""Entries of a matrix by pair of joints; what is left out is 0."""


@dataclass(frozen=True)
class Passage(Generic[S]):
    """CRB-1: between joint p and joint j."""

    joint: Joint[S]
    Q: Turn[S]
    B: Turn[S]
    l: Vector[S]  # noqa: E741
    d: Vector[S]


def mass_matrix(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """(n, n), both triangles."""
    entries = mass_entries(tree, passage_sweep(tree, b, state.q), b)
    write_matrix(b, "mass_matrix", square(tree, entries), tree.n)


# -- steps, one joint each ---------------------------------------------------------------------


def passage_step(tree: KinematicTree[S], joint: Joint[S], q: S, b: ProgramBuilder[S]) -> Passage[S]:
    """CRB-1"""
    j, algebra = joint.number, b.algebra
    link = identity_transform(algebra)
    if joint.parent != BASE:
        link = tree.joint(joint.parent).placement.link
    seat = link @ joint.placement.tree
    turn = joint.turns(q, algebra)[1]
    with b.step("frames", joint.name):
        return Passage(
            joint=joint,
            Q=_named(b.let(f"Q_{j}", turn, "CRB-1"), turn_of(turn, algebra)),
            B=_named(b.let(f"B_{j}", seat.rotation, "CRB-1"), turn_of(seat.rotation, algebra)),
            l=b.let(f"l_{j}", joint.slide(q, algebra), "CRB-1"),
            d=b.let(f"d_{j}", seat.translation, "CRB-1"),
        )


def own_moments(joint: Joint[S], b: ProgramBuilder[S]) -> Moments[S]:
    """The body's own moments in the axes behind the motion: constant."""
    j, link, body = joint.number, joint.placement.link, joint.body
    with b.step("bodies", joint.name):
        c = link.apply(body.com)
        h = b.let(f"h_{j}", c * body.mass, "CRB-2")
        E = turn_of(link.rotation, b.algebra).symmetric(second_moments(body.inertia, b.algebra))
        lever, first = tuple(c), tuple(h)
        E = mirrored({(i, k): E[i, k] + lever[i] * first[k] for i, k in UPPER})
        return Moments(body.mass, h, let_symmetric(b, f"E_{j}", E, "CRB-2"))


def composite_step(
    joint: Joint[S], own: Moments[S], children: Sequence[Moments[S]], b: ProgramBuilder[S]
) -> Moments[S]:
    """CRB-2: the sum."""
    with b.step("composites", joint.name):
        for child in children:
            own = own + child
        return _let_moments(own, f"{joint.number}C", b)


def moments_back_step(at: Passage[S], body: Moments[S], b: ProgramBuilder[S]) -> Moments[S]:
    """CRB-2: the composite of joint j, as its parent has it."""
    j = at.joint.number
    with b.step("composites", at.joint.name):
        body = _moved(body, at.l)
        body = Moments(body.m, at.Q.apply(body.h), at.Q.symmetric(body.E))
        body = _let_moments(body, f"{j}C_seat", b)
        body = Moments(body.m, at.B.apply(body.h), at.B.symmetric(body.E))
        return _moved(_let_moments(body, f"{j}C_ahead", b), at.d)


def force_step(joint: Joint[S], body: Moments[S], b: ProgramBuilder[S]) -> Spatial[S]:
    """CRB-3"""
    i = joint.number
    s, t = joint.axes(b.algebra)
    with b.step("forces", joint.name):
        moment = trace_less(body.E).apply(s) + body.h.cross(t)
        force = Spatial(moment, t * body.m + s.cross(body.h))
        return let_spatial(b, (f"n_{i}_{i}", f"f_{i}_{i}"), force, "CRB-3")


def force_back_step(at: Passage[S], i: int, force: Spatial[S], b: ProgramBuilder[S]) -> Spatial[S]:
    """CRB-4: F_i from joint j to its parent."""
    n, f = force.angular + at.l.cross(force.linear), force.linear
    n, f = (at.B.apply(at.Q.apply(x)) for x in (n, f))
    p = at.joint.parent
    with b.step("forces", at.joint.name):
        f = b.let(f"f_{i}_{p}", f, "CRB-4")
        return Spatial(b.let(f"n_{i}_{p}", n + at.d.cross(f), "CRB-4"), f)


def entry_step(joint: Joint[S], i: int, force: Spatial[S], b: ProgramBuilder[S]) -> S:
    """CRB-5: what joint j feels of F_i."""
    j = joint.number
    s, t = joint.axes(b.algebra)
    with b.step("mass matrix", joint.name):
        entry = s.dot(force.angular) + t.dot(force.linear)
        if i == j:
            entry = entry + reflected_inertia(joint)
        return b.let(f"M_{i}_{j}", entry, "CRB-5")


# -- sweeps over the tree ----------------------------------------------------------------------


def passage_sweep(
    tree: KinematicTree[S], b: ProgramBuilder[S], q: Sequence[S]
) -> dict[int, Passage[S]]:
    """CRB-1 of every joint."""
    return {j.number: passage_step(tree, j, x, b) for j, x in zip(tree.joints, q, strict=True)}


def mass_entries(
    tree: KinematicTree[S], passages: Mapping[int, Passage[S]], b: ProgramBuilder[S]
) -> Entries[S]:
    """CRB-2 to CRB-5, leaves first: both triangles, with the rotors."""
    children: dict[int, list[Moments[S]]] = {j: [] for j in passages}
    entries: Entries[S] = {}
    for joint in reversed(tree.joints):
        i = joint.number
        own = own_moments(joint, b)
        body = composite_step(joint, own, children[i][::-1], b)
        force = force_step(joint, body, b)
        for j in reversed(tree.path(i)):
            at = passages[j]
            entries[i, j] = entries[j, i] = entry_step(at.joint, i, force, b)
            if at.joint.parent != BASE:
                force = force_back_step(at, i, force, b)
        if joint.parent != BASE:
            children[joint.parent].append(moments_back_step(passages[i], body, b))
    return entries


# -- parts of steps ----------------------------------------------------------------------------


def _named(named: Matrix[S], found: Turn[S]) -> Turn[S]:
    """A turn with named entries; its structure shows in what the names stand for."""
    return Turn(named, found.plane, found.trivial)


def _moved(body: Moments[S], r: Vector[S]) -> Moments[S]:
    """About the point that r starts from."""
    h = body.h + r * body.m
    before, after, lever = tuple(body.h), tuple(h), tuple(r)
    E = {(i, k): body.E[i, k] + before[i] * lever[k] + lever[i] * after[k] for i, k in UPPER}
    return Moments(body.m, h, mirrored(E))


def _let_moments(body: Moments[S], name: str, b: ProgramBuilder[S]) -> Moments[S]:
    m = b.let(f"m_{name}", body.m, "CRB-2")
    h = b.let(f"h_{name}", body.h, "CRB-2")
    return Moments(m, h, let_symmetric(b, f"E_{name}", body.E, "CRB-2"))
