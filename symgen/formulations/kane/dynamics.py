"""Forward and hybrid dynamics, from the recursion.

In forward dynamics all joints are free, in hybrid dynamics those that are not marked prescribed.

Pivots are compared with the diagonal of the mass matrix.  The bodies outboard of a joint move with
it as one, so its entry is the moment of inertia of that composite body about the joint's axis:
mass, first and second moments, added up from the leaves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from symgen.algebra.interface import S
from symgen.algebra.spatial import Moments, trace_less
from symgen.formulations.kane.contributions import Contribution, contributions
from symgen.formulations.kane.recursion import solve
from symgen.formulations.shared import all_joints, let_moments, pivot_results
from symgen.formulations.state import State
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder, Results


def forward_dynamics(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """qdd (n,)"""
    return _solved(tree, b, state, "qdd", ())


def hybrid_dynamics(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """y (n,): qdd of the free joints, tau of the prescribed ones."""
    return _solved(tree, b, state, "y", [j.number for j in tree.joints if j.prescribed])


def _solved(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
    result: str,
    prescribed: Sequence[int],
) -> Results[S]:
    at = contributions(tree, b, state, prescribed)
    values, pivots = solve(tree, at, b, state)
    return {result: values, **pivot_results(pivots, diagonal_sweep(at, b))}


def torques(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """tau (n,) at the accelerations of the state: the motion of every joint is prescribed."""
    state = replace(state, tau=(b.algebra.zero,) * tree.n)
    at = contributions(tree, b, state, all_joints(tree))
    return {"tau": solve(tree, at, b, state)[0]}


NOTES = {
    "KANE-17": "m, h and J of all bodies from k outwards, about k+: those of body k and of its "
    "children, each from its own point at the lever r by h + m r and J + h r^T + r (h + m r)^T",
    "KANE-18": "diagonal entry of M: s . (tr(J) - J) s + 2 t . (s x h) + m t . t + rotor "
    "-- Anderson, Hsu 2002 (25)",
}


def diagonal_sweep(at: Mapping[int, Contribution[S]], b: ProgramBuilder[S]) -> list[S]:
    """KANE-17, KANE-18: the entries of the free joints."""
    children: dict[int, list[Moments[S]]] = {k: [] for k in at}
    entries: dict[int, S] = {}
    for k in reversed(tuple(at)):
        composite = composite_step(at[k], children[k][::-1], b)
        if at[k].free:
            s, t, two = at[k].P.angular, at[k].P.linear, b.algebra.constant(2.0)
            with b.step("composite bodies", at[k].joint.name):
                entry = s.dot(trace_less(composite.E).apply(s))
                entry = entry + t.dot(s.cross(composite.h)) * two + composite.m * t.dot(t)
                entries[k] = b.let(f"M_diagonal_{k}", entry + at[k].rotor, "KANE-18")
        if at[k].joint.parent != BASE:
            children[at[k].joint.parent].append(moments_back_step(at[k], composite, b))
    return [entries[k] for k in sorted(entries)]


def composite_step(
    at: Contribution[S], children: list[Moments[S]], b: ProgramBuilder[S]
) -> Moments[S]:
    """KANE-17: the sum."""
    body = at.body
    with b.step("composite bodies", at.joint.name):
        for child in children:
            body = body + child
        return _named(body, f"composite_{at.joint.number}", b)


def moments_back_step(at: Contribution[S], body: Moments[S], b: ProgramBuilder[S]) -> Moments[S]:
    """KANE-17: about the reference point of the parent, in its axes."""
    k = at.joint.number
    with b.step("composite bodies", at.joint.name):
        body = _named(body.moved(at.l).turned(at.Q), f"seat_{k}", b)
        return _named(body.turned(at.E), f"ahead_{k}", b).moved(at.u)


def _named(body: Moments[S], name: str, b: ProgramBuilder[S]) -> Moments[S]:
    names = (f"m_{name}", f"h_{name}", f"J_{name}")
    return Moments(*let_moments(b, names, (body.m, body.h, body.E), "KANE-17"))
