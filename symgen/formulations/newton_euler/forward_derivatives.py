"""Derivatives of accelerations by implicit differentiation (Carpentier, Mansard 2018).

With tau(q, qd, qdd) the inverse dynamics and qdd the solution, tau(q, qd, qdd) = tau holds whatever
q, qd and tau are.  So the derivatives of the torques at the solution give those of the
accelerations, by solving with M once more:

    d qdd/dq = -M^-1 d tau/dq,  d qdd/dqd = -M^-1 d tau/dqd,  d qdd/d tau = M^-1

In hybrid dynamics these are the rows of the free joints f, and a prescribed joint p has
d tau_p/dx of the inverse dynamics plus sum_f M_pf d qdd_f/dx.

The sweeps of `derivatives.py` run in two halves, for what does not depend on accelerations serves
to find them: M = d tau/d qdd, and the velocity torques, which are quadratic in qd, are half of
d tau/d qd times qd.  What is missing of the bias are the torques of gravity and loads at rest.

Notation beyond that of `derivatives.py` and `forward.py`

==================  =====================  ======================================================
paper               code                   meaning
==================  =====================  ======================================================
--                  (.)_at_rest            the recursion at qd = 0, qdd = 0
b                   bias_j                 torques with the free joints at qdd = 0
d qdd/dx            d_qdd_f_dx             solutions with M, x = q_i, qd_i or qdd_p
M^-1                inverse_f_g            d qdd_f/d tau_g
d tau_p/dx          d_y_p_dx               of a prescribed joint
==================  =====================  ======================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic

from symgen.algebra.interface import S
from symgen.formulations.interface import State
from symgen.formulations.joint_terms import with_drive_derivatives, with_joint_terms
from symgen.formulations.newton_euler.derivatives import (
    Below,
    Slopes,
    change_step,
    d_torque,
    d_torque_beyond,
    effort_by_q,
    effort_by_qd,
    effort_by_qdd,
)
from symgen.formulations.newton_euler.dynamics import mass_entries
from symgen.formulations.newton_euler.forward import (
    Solution,
    carried_over,
    solution_of,
    write_pivots_of,
)
from symgen.formulations.newton_euler.link_maps import LinkMaps, link_maps
from symgen.formulations.newton_euler.passages import (
    Effort,
    Passage,
    Velocity,
    center_velocity_sweep,
    passage_sweep,
)
from symgen.formulations.newton_euler.recursion import (
    Children,
    JointFrame,
    LoadForces,
    Motion,
    Reaction,
    Turning,
    frames_sweep,
    leaves_first,
    load_sweep,
    motion_sweep,
    reaction_sweep,
    torque_step,
    turning_sweep,
)
from symgen.formulations.newton_euler.velocity_fields import Fields, fields_sweep, rates_sweep
from symgen.formulations.shared import (
    all_joints,
    free_joints,
    let_derivative,
    square,
    write_jacobian,
)
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "NE-37": "bias_j = torque at rest + 1/2 sum_i d tau_j/dqd_i qd_i + sum_p M_jp qdd_p: velocity "
    "torques are quadratic in qd",
    "dNE-36": "d tau_p/dx = (d tau_p/dx of the inverse dynamics) + sum_f M_pf d qdd_f/dx "
    "-- Carpentier, Mansard 2018",
}

SIDES = 2
"""Right sides per joint: by q and by qd."""

Efforts = dict[int, dict[int, Effort[S]]]
"""link -> joint -> derivative of what the parent exerts on the link"""


@dataclass(frozen=True)
class Base(Generic[S]):
    """What torques and their derivatives start from."""

    frames: Sequence[JointFrame[S]]
    turnings: Mapping[int, Turning[S]]
    loads: Mapping[int, LoadForces[S]]


@dataclass(frozen=True)
class FirstHalf(Generic[S]):
    """The derivatives that do not depend on accelerations, of the rigid bodies alone."""

    passages: Sequence[Passage[S]]
    velocities: Mapping[int, Velocity[S]]
    fields: Mapping[int, Mapping[int, Fields[S]]]
    maps: Mapping[int, LinkMaps[S]]
    by_qd: Slopes[S]
    by_qdd: Slopes[S]


@dataclass(frozen=True)
class Recursion(Generic[S]):
    """The recursion at the solution."""

    motions: Mapping[int, Motion[S]]
    reactions: Mapping[int, Reaction[S]]


@dataclass(frozen=True)
class TorqueSlopes(Generic[S]):
    """d tau/dq and d tau/dqd at the solution, with joint terms; both (n, n)."""

    by_q: Sequence[Sequence[S]]
    by_qd: Sequence[Sequence[S]]


def forward_dynamics_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """qdd (n,), dqdd_dq, dqdd_dqd and dqdd_dtau, (n, n) each; all joints are free."""
    _write(tree, b, state, ("qdd", "tau"), all_joints(tree))


def hybrid_dynamics_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """y (n,), dy_dq, dy_dqd and dy_dx, (n, n) each."""
    _write(tree, b, state, ("y", "x"), free_joints(tree))


def _write(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
    names: tuple[str, str],
    free: Sequence[int],
) -> None:
    base = base_of(tree, b, state)
    first = first_half(base, b, state)
    solution = solution_at(tree, base, first, b, state, free)
    solution = replace(solution, factors=solution.factors.with_shortcuts(b, SIDES))
    known = recursion_at(tree, base, solution, b, state)
    slopes = torque_slopes(tree, base, first, known, b, state)
    result, given = names
    b.output(result, (tree.n,), solution.y)
    for by, rows in (("q", slopes.by_q), ("qd", slopes.by_qd)):
        columns = []
        for i in range(1, tree.n + 1):
            column = {j: row[i - 1] for j, row in enumerate(rows, start=1)}
            columns.append(response(tree, solution, b, column, f"{by}_{i}"))
        write_jacobian(tree, b, f"d{result}_d{by}", columns)
    write_jacobian(tree, b, f"d{result}_d{given}", response_to_given(tree, solution, b))
    write_pivots_of(solution, b)


# -- from the torques to the accelerations -----------------------------------------------------


def response(
    tree: KinematicTree[S],
    solution: Solution[S],
    b: ProgramBuilder[S],
    torques: Mapping[int, S],
    by: str,
) -> dict[int, S]:
    """dNE-36: d y/dx by joint, from d tau/dx of the inverse dynamics at the solution."""
    with b.variant(f"_d{by}"):
        rhs = {f: -torques[f] for f in solution.free if f in torques}
        found = solution.factors.solve(b, rhs, "d_qdd")
    y = dict(found)
    for joint in tree.joints:
        p = joint.number
        if p not in solution.free:
            own = torques.get(p, b.algebra.zero)
            value = own + carried_over(solution.mass, p, found, b)
            with b.step("torque derivatives", joint.name):
                y[p] = let_derivative(b, f"y_{p}", value, by, "dNE-36")
    return y


def response_to_given(
    tree: KinematicTree[S], solution: Solution[S], b: ProgramBuilder[S]
) -> list[dict[int, S]]:
    """d y/dx by the columns of x: M^-1, and where joints are prescribed what follows from M.

    d qdd_f/d tau_g is the inverse of M_fg, d tau_p/d qdd_r = M_pr - sum_fg M_pf (M^-1)_fg M_gr is
    symmetric, and d tau_p/d tau_f is -d qdd_f/d qdd_p.
    """
    entries = solution.factors.inverse(b)
    mass, free = solution.mass, solution.free
    prescribed = [joint.number for joint in tree.joints if joint.number not in free]
    for place, p in enumerate(prescribed):
        column = {f: -mass[f, p] for f in free if (f, p) in mass}
        with b.variant(f"_dqdd_{p}"):
            found = solution.factors.solve(b, column, "d_qdd")
        for f, value in found.items():
            entries[f, p], entries[p, f] = value, -value
        for r in prescribed[place:]:
            value = mass.get((r, p), b.algebra.zero) + carried_over(mass, r, found, b)
            with b.step("torque derivatives", tree.joint(r).name):
                value = let_derivative(b, f"y_{r}", value, f"qdd_{p}", "dNE-36")
            entries[r, p] = entries[p, r] = value
    numbers = range(1, tree.n + 1)
    return [{i: entries[i, k] for i in numbers if (i, k) in entries} for k in numbers]


# -- the recursion and its derivatives, in two halves ------------------------------------------


def base_of(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Base[S]:
    """Frames, angular velocities and loads."""
    frames = frames_sweep(tree, b, state.q)
    turnings = turning_sweep(frames, b, state.qd)
    return Base(frames, turnings, load_sweep(tree, frames, b, state.loads))


def first_half(base: Base[S], b: ProgramBuilder[S], state: State[S]) -> FirstHalf[S]:
    """d tau/dqd and d tau/dqdd"""
    passages = passage_sweep(base.frames, b, state.q)
    velocities = center_velocity_sweep(passages, base.turnings, b, state.qd)
    fields = fields_sweep(passages, velocities, b)
    maps = {
        j: link_maps(passage, base.turnings[j].omega, base.loads.get(j), b)
        for j, passage in enumerate(passages, start=1)
    }

    def qd(passage: Passage[S], i: int, below: Below[S]) -> Effort[S]:
        j = passage.at.joint.number
        return effort_by_qd(passage, i, fields[j][i], maps[j], below, b)

    def qdd(passage: Passage[S], i: int, below: Below[S]) -> Effort[S]:
        j = passage.at.joint.number
        return effort_by_qdd(passage, i, fields[j][i], maps[j], below, b)

    by_qd, by_qdd = dict[tuple[int, int], S](), dict[tuple[int, int], S]()
    efforts, inertial = effort_sweep(passages, fields, qd), effort_sweep(passages, fields, qdd)
    for j, passage in enumerate(passages, start=1):
        for i in fields[j]:
            by_qd[j, i] = d_torque(passage, efforts[j][i], f"qd_{i}", b)
            by_qdd[j, i] = by_qdd[i, j] = d_torque(passage, inertial[j][i], f"qdd_{i}", b)
            if i != j:
                V = fields[j][i].by_qd
                by_qd[i, j] = d_torque_beyond(passage, i, V, efforts[j][j], f"qd_{j}", b)
    return FirstHalf(passages, velocities, fields, maps, by_qd, by_qdd)


def effort_sweep(
    passages: Sequence[Passage[S]],
    fields: Mapping[int, Mapping[int, Fields[S]]],
    effort: Callable[[Passage[S], int, Below[S]], Effort[S]],
) -> Efforts[S]:
    """What `effort` makes of the efforts beyond, leaves first: by link and joint on its path."""
    over = {passage.at.joint.number: passage for passage in passages}

    def step(
        at: JointFrame[S], children: Children[S, dict[int, Effort[S]]]
    ) -> dict[int, Effort[S]]:
        j = at.joint.number
        mine = [(over[child.joint.number], efforts) for child, efforts in children]
        return {i: effort(over[j], i, [(c, efforts[i]) for c, efforts in mine]) for i in fields[j]}

    efforts, _ = leaves_first([passage.at for passage in passages], step)
    return efforts


def solution_at(
    tree: KinematicTree[S],
    base: Base[S],
    first: FirstHalf[S],
    b: ProgramBuilder[S],
    state: State[S],
    free: Sequence[int],
) -> Solution[S]:
    """NE-37, and the accelerations."""
    none = (b.algebra.zero,) * tree.n
    with b.variant("_at_rest", "at rest"):
        motions = motion_sweep(base.frames, b, none, none, -tree.gravity)
        reactions = reaction_sweep(base.frames, motions, dict(base.loads), b)
        resting = [torque_step(at, reactions[at.joint.number], b) for at in base.frames]
    half, bias = b.algebra.constant(0.5), []
    given = {p: state.qdd[p - 1] for p in range(1, tree.n + 1) if p not in free}
    for joint, torque in zip(tree.joints, resting, strict=True):
        rates = {i: state.qd[i - 1] for i in range(1, tree.n + 1)}
        moving = carried_over(first.by_qd, joint.number, rates, b) * half
        pushed = carried_over(first.by_qdd, joint.number, given, b)
        with b.step("bias", joint.name):
            bias.append(b.let(f"bias_{joint.number}", torque + moving + pushed, "NE-37"))
    total = with_joint_terms(tree, b, state, bias)
    return solution_of(tree, b, state, total, mass_entries(tree, b, first.by_qdd), free)


def recursion_at(
    tree: KinematicTree[S],
    base: Base[S],
    solution: Solution[S],
    b: ProgramBuilder[S],
    state: State[S],
) -> Recursion[S]:
    """The recursion at the accelerations of the solution."""
    turnings = dict(base.turnings)
    motions = motion_sweep(base.frames, b, state.qd, solution.qdd, -tree.gravity, turnings)
    return Recursion(motions, reaction_sweep(base.frames, motions, dict(base.loads), b))


def torque_slopes(
    tree: KinematicTree[S],
    base: Base[S],
    first: FirstHalf[S],
    known: Recursion[S],
    b: ProgramBuilder[S],
    state: State[S],
) -> TorqueSlopes[S]:
    """The other half, d tau/dq, and joint terms in both."""
    passages, maps = first.passages, first.maps
    slopes = rates_sweep(passages, known.motions, first.velocities, first.fields, b)

    def q(passage: Passage[S], i: int, below: Below[S]) -> Effort[S]:
        j = passage.at.joint.number
        return effort_by_q(passage, i, slopes[j][i], maps[j], below, b)

    efforts, by_q = effort_sweep(passages, first.fields, q), dict[tuple[int, int], S]()
    for j, passage in enumerate(passages, start=1):
        change = change_step(passage, known.reactions[j], efforts[j][j], b)
        for i in slopes[j]:
            by_q[j, i] = d_torque(passage, efforts[j][i], f"q_{i}", b)
            if i != j:
                V = slopes[j][i].by_qd
                by_q[i, j] = d_torque_beyond(passage, i, V, change, f"q_{j}", b)
    rigid = (square(tree, by_q), square(tree, first.by_qd), square(tree, {}))
    with_terms = with_drive_derivatives(tree, b, state, rigid)
    return TorqueSlopes(with_terms[0], with_terms[1])
