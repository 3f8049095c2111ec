"""Derivatives of accelerations by parameters: `implicit` over this recursion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from symgen.algebra.interface import S
from symgen.formulations import implicit
from symgen.formulations.joint_terms import with_joint_terms
from symgen.formulations.newton_euler.forward import solved
from symgen.formulations.newton_euler.forward_derivatives import (
    base_of,
    first_half,
    recursion_at,
    solution_at,
    torque_slopes,
)
from symgen.formulations.newton_euler.recursion import frames_sweep, torques
from symgen.formulations.shared import all_joints, free_joints
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder


def forward_dynamics_parameter_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """dqdd_dparameters, (n, n_parameters), at fixed q, qd and tau; all joints are free."""
    _write(tree, b, state, "qdd", all_joints(tree))


def hybrid_dynamics_parameter_derivatives(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """dy_dparameters, (n, n_parameters), at fixed q, qd and x."""
    _write(tree, b, state, "y", free_joints(tree))


def forward_dynamics_sensitivities(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """qdd (n,) and dqdd, (n, n_parameters), its total derivative where q, qd and tau vary."""
    base = base_of(tree, b, state)
    first = first_half(base, b, state)
    solve = partial(solution_at, tree, base, first, b, state, all_joints(tree))

    def slopes(qdd: Sequence[S]) -> tuple[Sequence[Sequence[S]], Sequence[Sequence[S]]]:
        known = recursion_at(tree, base, qdd, b, state)
        by = torque_slopes(tree, base, first, known, b, state)
        return by.by_q, by.by_qd

    implicit.write_sensitivities(tree, b, solve, _torques(tree, b, state), slopes)


def _write(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
    result: str,
    free: Sequence[int],
) -> None:
    frames = frames_sweep(tree, b, state.q)
    solve = partial(solved, tree, frames, b, state, free, "_bias")
    implicit.write_parameter_derivatives(tree, b, result, solve, _torques(tree, b, state))


def _torques(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> implicit.Torques:
    """The recursion at accelerations that are held."""

    def written(qdd: Sequence[S]) -> list[S]:
        here = replace(state, qdd=tuple(qdd))
        with b.variant("_held", "torques"):
            rigid = torques(tree, frames_sweep(tree, b, state.q), b, here, -tree.gravity)
            return with_joint_terms(tree, b, here, rigid)

    return written
