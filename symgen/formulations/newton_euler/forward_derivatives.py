"""Derivatives of accelerations by implicit differentiation (Carpentier, Mansard 2018).

The sweeps of `derivatives.py` run in two halves, for what does not depend on accelerations serves
to find them: M = d tau/d qdd, and the velocity torques, which are quadratic in qd, are half of
d tau/d qd times qd.  What is missing of the bias are the torques of gravity and loads at rest.

Notation beyond that of `derivatives.py` and `accelerations`

==================  =====================  ======================================================
paper               code                   meaning
==================  =====================  ======================================================
--                  (.)_at_rest            the recursion at qd = 0, qdd = 0
b                   bias_j                 torques with the free joints at qdd = 0
==================  =====================  ======================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.formulations.accelerations import (
    Solution,
    carried_over,
    solution_of,
    write_responses,
)
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
    square,
)
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "NE-37": "bias_j = torque at rest + 1/2 sum_i d tau_j/dqd_i qd_i + sum_p M_jp qdd_p: velocity "
    "torques are quadratic in qd",
}

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
    solution = solution_at(tree, base, first, b, state, free).with_shortcuts(b)
    known = recursion_at(tree, base, solution.qdd, b, state)
    slopes = torque_slopes(tree, base, first, known, b, state)
    write_responses(tree, b, solution, names, (slopes.by_q, slopes.by_qd))


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
    qdd: Sequence[S],
    b: ProgramBuilder[S],
    state: State[S],
) -> Recursion[S]:
    """The recursion at the accelerations `qdd`."""
    turnings = dict(base.turnings)
    motions = motion_sweep(base.frames, b, state.qd, qdd, -tree.gravity, turnings)
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
