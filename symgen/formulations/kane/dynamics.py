"""Forward and hybrid dynamics, from the recursion.

In forward dynamics all joints are free, in hybrid dynamics those that are not marked prescribed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from symgen.algebra.interface import S
from symgen.formulations.kane.contributions import contributions
from symgen.formulations.kane.diagonal import diagonal_sweep
from symgen.formulations.kane.recursion import Solution, solve
from symgen.formulations.shared import write_pivots
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder


def forward_dynamics(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """qdd (n,)"""
    solution = _solved(tree, b, state, ())
    b.output("qdd", (tree.n,), solution.results)
    write_pivots(b, solution.pivots, diagonal_sweep(solution.at, b))


def torques(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """tau (n,) at the accelerations of the state: the motion of every joint is prescribed."""
    state = replace(state, tau=(b.algebra.zero,) * tree.n)
    solution = _solved(tree, b, state, [joint.number for joint in tree.joints])
    b.output("tau", (tree.n,), solution.results)


def hybrid_dynamics(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """y (n,): qdd of the free joints, tau of the prescribed ones."""
    prescribed = [joint.number for joint in tree.joints if joint.prescribed]
    solution = _solved(tree, b, state, prescribed)
    b.output("y", (tree.n,), solution.results)
    write_pivots(b, solution.pivots, diagonal_sweep(solution.at, b))


def _solved(
    tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S], prescribed: Sequence[int]
) -> Solution[S]:
    return solve(tree, contributions(tree, b, state, prescribed), b, state)
