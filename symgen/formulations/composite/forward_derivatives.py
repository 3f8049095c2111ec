"""Derivatives of accelerations by implicit differentiation (Carpentier, Mansard 2018).

By parameters they are found by `implicit`.  By q and qd the derivatives of the torques come in two
halves (`derivatives`), and the first serves to find the accelerations: M = d tau/d qdd, and the
velocity torques, which are quadratic in qd, are half of d tau/d qd times qd.  What is missing of
the bias are gravity and loads: gravity accelerates all composites alike, so that joint j feels t_1
of its composite along it.

Notation: see `derivatives` and `accelerations`; a_0 is the acceleration of the base, -g.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector
from symgen.formulations import implicit
from symgen.formulations.accelerations import (
    Solution,
    carried_over,
    solution_of,
    write_responses,
)
from symgen.formulations.composite.derivatives import FirstHalf, Slopes, first_half, second_half
from symgen.formulations.composite.forward import solved
from symgen.formulations.composite.frames import JointAxis
from symgen.formulations.composite.mass_matrix import force_sweep
from symgen.formulations.composite.passages import passage_sweep
from symgen.formulations.composite.recursion import torques
from symgen.formulations.composite.spatial import Spatial
from symgen.formulations.joint_terms import (
    reflected_inertia,
    with_drive_derivatives,
    with_joint_terms,
)
from symgen.formulations.shared import all_joints, free_joints, square
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "CO-36": "bias_j = t_1f . a_0 - S_j . loads + 1/2 sum_i d tau_j/dqd_i qd_i + sum_p M_jp qdd_p: "
    "velocity torques are quadratic in qd",
    "CO-37": "M_ij = d tau_i/d qdd_j, j before i",
}


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


def forward_dynamics_parameter_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """dqdd_dparameters, (n, n_parameters), at fixed q, qd and tau; all joints are free."""
    implicit.write_parameter_derivatives(
        tree, b, "qdd", _solve(tree, b, state, all_joints(tree)), _torques(tree, b, state)
    )


def hybrid_dynamics_parameter_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """dy_dparameters, (n, n_parameters), at fixed q, qd and x."""
    implicit.write_parameter_derivatives(
        tree, b, "y", _solve(tree, b, state, free_joints(tree)), _torques(tree, b, state)
    )


def forward_dynamics_sensitivities(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """qdd (n,) and dqdd, (n, n_parameters), its total derivative where q, qd and tau vary."""
    solve, slopes = _solve(tree, b, state, all_joints(tree)), None
    if not implicit.has_few_parameters(tree):
        first = first_half(tree, b, state)
        solve = partial(solution_at, tree, first, b, state, all_joints(tree))
        slopes = partial(_slopes, tree, first, b, state)
    implicit.write_sensitivities(tree, b, solve, _torques(tree, b, state), slopes)


def _write(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
    names: tuple[str, str],
    free: Sequence[int],
) -> None:
    first = first_half(tree, b, state)
    solution = solution_at(tree, first, b, state, free).with_shortcuts(b)
    write_responses(tree, b, solution, names, _slopes(tree, first, b, state, solution.qdd))


def _slopes(
    tree: KinematicTree[S],
    first: FirstHalf[S],
    b: ProgramBuilder[S],
    state: State[S],
    qdd: Sequence[S],
) -> tuple[list[list[S]], list[list[S]]]:
    """d tau/dq and d tau/dqd at the accelerations `qdd`, with joint terms."""
    second = second_half(tree, first, b, state.qd, qdd)
    rigid = (square(tree, second.by_q), square(tree, first.by_qd), square(tree, {}))
    by_q, by_qd, _ = with_drive_derivatives(tree, b, state, rigid)
    return by_q, by_qd


def _solve(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], free: Sequence[int]
) -> implicit.Solve:
    return partial(solved, tree, b, state, free)


def _torques(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> implicit.Torques:
    """The recursion at accelerations that are held."""

    def written(qdd: Sequence[S]) -> list[S]:
        here = replace(state, qdd=tuple(qdd))
        with b.variant("_held", "torques"):
            rigid = torques(tree, passage_sweep(tree, b, state.q), b, here)
            return with_joint_terms(tree, b, here, rigid)

    return written


def solution_at(
    tree: KinematicTree[S],
    first: FirstHalf[S],
    b: ProgramBuilder[S],
    state: State[S],
    free: Sequence[int],
) -> Solution[S]:
    """CO-36, CO-37, and the accelerations."""
    half, bias = b.algebra.constant(0.5), []
    rates = {i: state.qd[i - 1] for i in range(1, tree.n + 1)}
    given = {p: state.qdd[p - 1] for p in range(1, tree.n + 1) if p not in free}
    for j, at in first.bodies.places.items():
        with b.step("bias", at.joint.name):
            a_0 = b.let(f"a_base_{j}", at.C.apply_transposed(-tree.gravity), "CO-7")
            load = first.bodies.loads.get(j)
            torque = at_rest(at, first.rates[j].t1, a_0, load.wrench if load else None)
            moving = carried_over(first.by_qd, j, rates, b) * half
            pushed = carried_over(first.by_qdd, j, given, b)
            bias.append(b.let(f"bias_{j}", torque + moving + pushed, "CO-36"))
    total = with_joint_terms(tree, b, state, bias)
    mass = mass_entries(tree, first.by_qdd, b, state)
    return solution_of(tree, b, state, total, mass, free)


def at_rest(at: JointAxis[S], t1: Spatial[S], a_0: Vector[S], load: Spatial[S] | None) -> S:
    """CO-36: what joint j feels of gravity and loads."""
    torque = t1.linear.dot(a_0)
    return torque - at.axis.dot(load) if load else torque


def mass_entries(
    tree: KinematicTree[S],
    rigid: Mapping[tuple[int, int], S],
    b: ProgramBuilder[S],
    state: State[S],
) -> Slopes[S]:
    """CO-37: both triangles under their names, with the rotors.

    An entry of the diagonal that no coordinate has a part in is taken from the axes of the joints:
    there it is a constant, or shows as 0 where it is 0 by structure.  The pivot of a joint that
    turns nothing but mass on its axis is then 0, and not a rounding error.
    """
    entries: Slopes[S] = dict(rigid)
    passages = passage_sweep(tree, b, state.q)
    forces = force_sweep(tree, passages, b)
    by_q = b.algebra.derivatives(b.declared("q").symbols)
    for joint in tree.joints:
        i, before, at = joint.number, tree.path(joint.number)[:-1], passages[joint.number]
        alone = at.axis.dot(forces[i])
        own = (rigid[i, i] if by_q.of(alone) else alone) + reflected_inertia(joint)
        with b.step("mass matrix", joint.name):
            row = {**{f"M_{i}_{j}": rigid[i, j] for j in before}, f"M_{i}_{i}": own}
            for j, entry in zip((*before, i), b.rename(row, "CO-37"), strict=True):
                entries[i, j] = entries[j, i] = entry
    return entries
