"""Accelerations and their derivatives: M of composite bodies, the bias of the recursion.

The elimination grows with the square of the depth of the tree and articulated bodies do not; for
arms and other trees of few joints on one path this takes fewer operations all the same, for M
without its own factorisation is that cheap.

Derivatives are those of `implicit`.  By q and qd the derivatives of the torques come in two halves
(`derivatives`), and the first serves to find the accelerations: M = d tau/d qdd, and the velocity
torques, which are quadratic in qd, are half of d tau/d qd times qd.  What is missing of the bias
are gravity and loads: gravity accelerates all composites alike, so that joint j feels t_1 of its
composite along it.

Notation: see `recursion`, `mass_matrix`, `derivatives`, `accelerations` and `elimination`; a_0 is
the acceleration of the base, -g.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector
from symgen.algebra.spatial import Spatial
from symgen.formulations import implicit
from symgen.formulations.accelerations import Solution, carried_over, solution_of
from symgen.formulations.composite import mass_matrix
from symgen.formulations.composite.derivatives import FirstHalf, Slopes, first_half, second_half
from symgen.formulations.composite.frames import JointAxis
from symgen.formulations.composite.passages import passage_sweep
from symgen.formulations.composite.recursion import torques
from symgen.formulations.joint_terms import (
    reflected_inertia,
    with_drive_derivatives,
    with_joint_terms,
)
from symgen.formulations.shared import square
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "CO-35": "bias_j: torque of joint j where the free joints have qdd = 0 -- Walker, Orin 1982",
    "CO-36": "bias_j = t_1f . a_0 - S_j . loads + 1/2 sum_i d tau_j/dqd_i qd_i + sum_p M_jp qdd_p: "
    "velocity torques are quadratic in qd",
    "CO-37": "M_ij = d tau_i/d qdd_j, j before i",
}


class Equations(implicit.Equations[S]):
    """Accelerations, torques and their derivatives by composite bodies."""

    @cached_property
    def first(self) -> FirstHalf[S]:
        """The derivatives of the torques that do not depend on accelerations."""
        return first_half(self.tree, self.b, self.state)

    def solution(self, for_derivatives: bool = False) -> Solution[S]:
        """See `implicit.Equations`."""
        tree, b, state = self.tree, self.b, self.state
        if for_derivatives:
            return solution_at(tree, self.first, b, state, self.free)
        passages = passage_sweep(tree, b, state.q)
        with b.variant("", "bias"):
            bias = with_joint_terms(tree, b, state, torques(tree, passages, b, state))
        with b.step("bias"):
            bias = b.rename({f"bias_{j}": x for j, x in enumerate(bias, start=1)}, "CO-35")
        mass = mass_matrix.mass_entries(tree, passages, b, state)
        return solution_of(tree, b, state, bias, mass, self.free)

    def torques(self, qdd: Sequence[S]) -> Sequence[S]:
        """See `implicit.Equations`."""
        state = replace(self.state, qdd=tuple(qdd))
        rigid = torques(self.tree, passage_sweep(self.tree, self.b, state.q), self.b, state)
        return with_joint_terms(self.tree, self.b, state, rigid)

    def slopes(self, held: implicit.Held[S]) -> tuple[implicit.Rows[S], implicit.Rows[S]]:
        """See `implicit.Equations`."""
        tree, b = self.tree, self.b
        second = second_half(tree, self.first, b, self.state.qd, held.qdd)
        rigid = (square(tree, second.by_q), square(tree, self.first.by_qd), square(tree, {}))
        by_q, by_qd, _ = with_drive_derivatives(tree, b, self.state, rigid)
        return by_q, by_qd


FUNCTIONS = implicit.functions(Equations)


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
    forces = mass_matrix.force_sweep(tree, passages, b)
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
