"""Accelerations and their derivatives: M of composite bodies, the bias of the recursion.

The elimination grows with the square of the depth of the tree and articulated bodies do not; for
arms and other trees of few joints on one path this takes fewer operations all the same, for M
without its own factorisation is that cheap.

Derivatives are those of `implicit`.  By q and qd the derivatives of the torques come in two halves
(`derivatives`), and the first serves to find the accelerations: M = d tau/d qdd, and the velocity
torques, which are quadratic in qd, are half of d tau/d qd times qd.  The rest of the bias is
gravity and loads: gravity accelerates all composites alike, so that their torque on joint j is t_1
of its composite along it.

Notation: see `recursion`, `mass_matrix`, `derivatives` and `accelerations`; a_0 is the acceleration
of the base, -g.

In loops the order is the same: M and d tau/dqd, the accelerations, d tau/dq, then solves.  M stands
in the square array ``factors``, the derivatives of the torques in ``by_q`` and ``by_qd``.

Columns, added to those of `loops`

==================  ============================================================================
a_base              acceleration -g of the base, in the basis of the joint's tree
qd, given           rate; given torque less what drives add at rest
rest, moving        torque of gravity and loads; twice that of velocities
own                 entry of the diagonal of M, where no coordinate has a part in it
qdd                 right side tau - bias, then the acceleration
==================  ============================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector, zero_vector
from symgen.algebra.spatial import Spatial
from symgen.formulations import implicit
from symgen.formulations.accelerations import Solution, carried_over, solution_of
from symgen.formulations.composite import mass_matrix
from symgen.formulations.composite.derivatives import FirstHalf, Slopes, first_half, second_half
from symgen.formulations.composite.mass_matrix import force_sweep
from symgen.formulations.composite.motion import (
    JointAxis,
    Velocity,
    acceleration_sweep,
    base_sweep,
    place_sweep,
    velocity_sweep,
)
from symgen.formulations.composite.passages import passage_sweep
from symgen.formulations.composite.recursion import rigid, torques
from symgen.formulations.composite.rolled import (
    DRIVES,
    axis,
    by_q_of_pair,
    inertial_force,
    psi,
    rates,
    rates_entries,
    rates_of_pair,
    to_q,
    weight,
    write_accelerations,
    write_drives,
    write_loads,
    write_places,
    write_velocities,
)
from symgen.formulations.joint_terms import (
    drive_derivatives,
    reflected_inertia,
    with_drive_derivatives,
    with_joint_terms,
)
from symgen.formulations.rolled import Entries, RolledBuilder, StraightBuilder, entries_of
from symgen.formulations.shared import square
from symgen.formulations.state import State
from symgen.formulations.torques import Equations as ByTorques
from symgen.formulations.torques import Rigid
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder
from symgen.program.rolled import (
    Column,
    Factors,
    Inverse,
    Product,
    SetDiagonal,
    SolveColumn,
    SolveSquare,
)

NOTES = {
    "CO-35": "bias_j: torque of joint j where the free joints have qdd = 0 -- Walker, Orin 1982",
    "CO-36": "bias_j = t_1f . a_0 - S_j . loads + 1/2 sum_i d tau_j/dqd_i qd_i + sum_p M_jp qdd_p: "
    "velocity torques are quadratic in qd",
    "CO-37": "M_ij = d tau_i/d qdd_j, j before i",
}


@dataclass(frozen=True)
class Equations(ByTorques[S]):
    """Accelerations, torques and their derivatives by composite bodies."""

    rigid: Rigid = rigid

    @cached_property
    def first(self) -> FirstHalf[S]:
        """The derivatives of the torques that do not depend on accelerations."""
        return first_half(self.tree, self.b, self.state)

    def solution(self, for_derivatives: bool = False) -> Solution[S]:
        """See `implicit.Equations`."""
        tree, b, state = self.tree, self.b, self.state
        if for_derivatives:
            return self._by_first_half()
        passages = passage_sweep(tree, b, state.q)
        with b.variant("", "bias"):
            bias = with_joint_terms(tree, b, state, torques(tree, passages, b, state))
        with b.step("bias"):
            bias = b.rename({f"bias_{j}": x for j, x in enumerate(bias, start=1)}, "CO-35")
        mass = mass_matrix.mass_entries(tree, passages, b, state)
        return solution_of(tree, b, state, bias, mass, self.free)

    def _by_first_half(self) -> Solution[S]:
        """CO-36, CO-37, and the accelerations."""
        tree, b, state, first = self.tree, self.b, self.state, self.first
        half, bias = b.algebra.constant(0.5), []
        rates = {i: state.qd[i - 1] for i in range(1, tree.n + 1)}
        prescribed = {p: state.qdd[p - 1] for p in range(1, tree.n + 1) if p not in self.free}
        for j, at in first.bodies.places.items():
            with b.step("bias", at.joint.name):
                a_0 = b.let(f"a_base_{j}", at.C.apply_transposed(-tree.gravity), "CO-7")
                load = first.bodies.loads.get(j)
                torque = at_rest(at, first.rates[j].t1, a_0, load.wrench if load else None)
                moving = carried_over(first.by_qd, j, rates, b) * half
                pushed = carried_over(first.by_qdd, j, prescribed, b)
                bias.append(b.let(f"bias_{j}", torque + moving + pushed, "CO-36"))
        total = with_joint_terms(tree, b, state, bias)
        mass = mass_entries(tree, first.by_qdd, b, state)
        return solution_of(tree, b, state, total, mass, self.free)

    def slopes(self, held: implicit.Held[S]) -> tuple[implicit.Rows[S], implicit.Rows[S]]:
        """See `implicit.Equations`."""
        tree, b = self.tree, self.b
        second = second_half(tree, self.first, b, self.state.qd, held.qdd)
        rigid = (square(tree, second.by_q), square(tree, self.first.by_qd), square(tree, {}))
        by_q, by_qd, _ = with_drive_derivatives(tree, b, self.state, rigid)
        return by_q, by_qd


FUNCTIONS = implicit.functions(Equations)


def at_rest(at: JointAxis[S], t1: Spatial[S], a_0: Vector[S], load: Spatial[S] | None) -> S:
    """Return the torque of gravity and loads on joint j: CO-36."""
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
        by_axis = at.axis.dot(forces[i])
        diagonal = (rigid[i, i] if by_q.of(by_axis) else by_axis) + reflected_inertia(joint)
        with b.step("mass matrix", joint.name):
            row = {**{f"M_{i}_{j}": rigid[i, j] for j in before}, f"M_{i}_{i}": diagonal}
            for j, entry in zip((*before, i), b.rename(row, "CO-37"), strict=True):
                entries[i, j] = entries[j, i] = entry
    return entries


def forward_dynamics_derivatives(tree: KinematicTree[S], rolled: RolledBuilder[S]) -> None:
    """qdd (n,), dqdd_dq, dqdd_dqd and dqdd_dtau, (n, n) each; all joints are free."""
    with rolled.straight() as x:
        loaded = write_state(x.tree, x)
        drives = write_drives(x.tree, drive_derivatives(x.tree, x.b, x.state), x)
        constants = write_known_inertias(x.tree, x)

    def answers(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[Column, S]:
        columns = rates(b, joint)
        return {**rates_entries(columns), **resting(joint, columns.t1, loaded)}

    def by_q(b: ProgramBuilder[S], j: Entries[S], i: Entries[S]) -> Mapping[str, tuple[S, S]]:
        return {"by_q": by_q_of_pair(b, j, i, loaded, rolled.floats)}

    def forces_by_q(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[Column, S]:
        return to_q(b, joint, loaded, rolled.floats)

    def by_rates(b: ProgramBuilder[S], j: Entries[S], i: Entries[S]) -> Mapping[str, tuple[S, S]]:
        by_qdd, by_qd_i, by_qd_j = rates_of_pair(b, j, i)
        return {"by_qd": (by_qd_i, by_qd_j), "factors": (by_qdd, by_qdd)}

    def right_side(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[Column, S]:
        moving = joint.scalar("moving") * b.algebra.constant(0.5)
        return entries_of("qdd", joint.scalar("given") - joint.scalar("rest") - moving)

    rolled.towards_base(rolled.each_joint(weight))
    rolled.each_joint(answers)
    rolled.each_pair_both_ways(by_rates)
    rolled.solving(Product("by_qd", Column("qd"), Column("moving")))
    if "qdd" in drives:
        rolled.on_diagonal("factors", DRIVES["qdd"])
    if constants:
        rolled.solving(SetDiagonal("factors", Column("own"), constants))
    rolled.each_joint(right_side)
    rolled.solving(Factors("factors"), SolveColumn("factors", Column("qdd")))
    with rolled.straight() as x:
        write_motions(x.tree, x)
    rolled.towards_base(rolled.each_joint(inertial_force))
    rolled.each_joint(forces_by_q)
    rolled.each_pair_both_ways(by_q)
    for by in ("q", "qd"):
        if by in drives:
            rolled.on_diagonal(f"by_{by}", DRIVES[by])
        rolled.solving(SolveSquare("factors", f"by_{by}", f"dqdd_d{by}"))
    rolled.solving(Inverse("factors", "dqdd_dtau"))


# -- straight phases ---------------------------------------------------------------------------


def write_state(tree: KinematicTree[S], x: StraightBuilder[S]) -> bool:
    """All that needs no accelerations; says whether there are loads."""
    places = place_sweep(tree, x.b, x.state.q)
    bases = base_sweep(tree, places, x.b)
    write_places(places, x)
    write_velocities(places, velocity_sweep(places, x.b, x.state.qd), x)
    nothing = [x.b.algebra.zero] * tree.n
    unaccelerated = replace(x.state, qdd=tuple(nothing))
    drives = with_joint_terms(tree, x.b, unaccelerated, nothing)
    for j in places:
        x.write(j, "a_base", bases[tree.path(j)[0]])
        x.write(j, "qd", x.arguments.qd[j - 1])
        x.write(j, "given", x.state.tau[j - 1] - drives[j - 1])
    return write_loads(tree, places, x)


def write_known_inertias(tree: KinematicTree[S], x: StraightBuilder[S]) -> tuple[int, ...]:
    """Entries of the diagonal of M that no coordinate has a part in, from the axes of the joints:
    see `forward.mass_entries`.  Says of which joints."""
    passages = passage_sweep(tree, x.b, x.state.q)
    forces = force_sweep(tree, passages, x.b)
    by_q = x.b.algebra.derivatives([q for q in x.state.q if not x.b.algebra.is_zero(q)])
    constants: list[int] = []
    for joint in tree.joints:
        diagonal = passages[joint.number].axis.dot(forces[joint.number])
        if not by_q.of(diagonal):
            constants.append(joint.number)
            x.write(joint.number, "own", diagonal + reflected_inertia(joint))
    return tuple(constants)


def write_motions(tree: KinematicTree[S], x: StraightBuilder[S]) -> None:
    """Accelerations, from those of the joints; what floats, by way of its chain."""
    chained = {j: x.N[j - 1] for base in x.floating for j in base.columns}
    axes: dict[int, JointAxis[S]] = {}
    velocities: dict[int, Velocity[S]] = {}
    for joint in tree.joints:
        columns = x.joint(joint.number)
        axes[joint.number] = replace(axis(columns), name=joint.name)
        Psi = psi(columns)
        if joint.number in chained:
            o = Spatial(zero_vector(x.b.algebra), zero_vector(x.b.algebra))
            carrier = velocities[joint.parent].v if joint.parent != BASE else o
            Psi = carrier.cross(axes[joint.number].axis)
        velocities[joint.number] = Velocity(columns.spatial("w0 u0"), Psi)
    qdd = [x.joint(j).scalar("qdd") for j in axes]
    bases = {j: x.joint(j).vector("a_base") for j in axes if len(tree.path(j)) == 1}
    rates = x.state.qd, [y - chained[j] if j in chained else y for j, y in enumerate(qdd, start=1)]
    motions = acceleration_sweep(tree, axes, velocities, x.b, *rates, bases)
    write_accelerations(axes, motions, bases, x)
    x.b.output("qdd", (tree.n,), qdd)


# -- one joint, two joints ---------------------------------------------------------------------


def resting(joint: Entries[S], t1: Spatial[S], loaded: bool) -> Mapping[Column, S]:
    """CO-36: gravity and loads."""
    load = joint.spatial("n0_L F0_L") if loaded else None
    return entries_of("rest", at_rest(axis(joint), t1, joint.vector("a_base"), load))
