"""Derivatives of accelerations in loops: M and d tau/dqd, the accelerations, d tau/dq, then solves.

The order is that of `forward`, the steps are those of `loops`.  M stands in the square
array ``factors``, the derivatives of the torques in ``by_q`` and ``by_qd``.

Columns beyond those of `loops`

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
from dataclasses import replace

from symgen.algebra.interface import S
from symgen.algebra.linear import zero_vector
from symgen.algebra.spatial import Spatial
from symgen.formulations.composite.forward import at_rest
from symgen.formulations.composite.frames import JointAxis, place_sweep
from symgen.formulations.composite.loops import (
    DRIVES,
    axis,
    by_q_of_pair,
    inertial_force,
    psi,
    rates,
    rates_entries,
    rates_of_pair,
    spatial,
    to_q,
    weight,
    write_accelerations,
    write_drives,
    write_loads,
    write_places,
    write_velocities,
)
from symgen.formulations.composite.mass_matrix import force_sweep
from symgen.formulations.composite.motion import (
    Velocity,
    acceleration_sweep,
    base_sweep,
    velocity_sweep,
)
from symgen.formulations.composite.passages import passage_sweep
from symgen.formulations.joint_terms import (
    drive_derivatives,
    reflected_inertia,
    with_joint_terms,
)
from symgen.formulations.loops import Entries, LoopsBuilder, StraightBuilder, entries_of
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder
from symgen.program.loops import (
    Column,
    Factors,
    Inverse,
    Known,
    Product,
    SolveColumn,
    SolveSquare,
)


def forward_dynamics_derivatives(tree: KinematicTree[S], loops: LoopsBuilder[S]) -> None:
    """qdd (n,), dqdd_dq, dqdd_dqd and dqdd_dtau, (n, n) each; all joints are free."""
    with loops.straight() as x:
        loaded = write_state(x.tree, x)
        drives = write_drives(x.tree, drive_derivatives(x.tree, x.b, x.state), x)
        known = write_known_inertias(x.tree, x)

    def answers(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[Column, S]:
        found = rates(b, joint)
        return {**rates_entries(found), **resting(joint, found.t1, loaded)}

    def by_q(b: ProgramBuilder[S], j: Entries[S], i: Entries[S]) -> Mapping[str, tuple[S, S]]:
        return {"by_q": by_q_of_pair(b, j, i, loaded, loops.floats)}

    def forces_by_q(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[Column, S]:
        return to_q(b, joint, loaded, loops.floats)

    loops.towards_base(loops.each_joint(weight))
    loops.each_joint(answers)
    loops.each_pair_both_ways(by_rates)
    loops.solving(Product("by_qd", Column("qd"), Column("moving")))
    if "qdd" in drives:
        loops.on_diagonal("factors", DRIVES["qdd"])
    if known:
        loops.solving(Known("factors", Column("own"), known))
    loops.each_joint(right_side)
    loops.solving(Factors("factors"), SolveColumn("factors", Column("qdd")))
    with loops.straight() as x:
        write_motions(x.tree, x)
    loops.towards_base(loops.each_joint(inertial_force))
    loops.each_joint(forces_by_q)
    loops.each_pair_both_ways(by_q)
    for by in ("q", "qd"):
        if by in drives:
            loops.on_diagonal(f"by_{by}", DRIVES[by])
        loops.solving(SolveSquare("factors", f"by_{by}", f"dqdd_d{by}"))
    loops.solving(Inverse("factors", "dqdd_dtau"))


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
        x.write(j, "qd", x.own.qd[j - 1])
        x.write(j, "given", x.state.tau[j - 1] - drives[j - 1])
    return write_loads(tree, places, x)


def write_known_inertias(tree: KinematicTree[S], x: StraightBuilder[S]) -> tuple[int, ...]:
    """Entries of the diagonal of M that no coordinate has a part in, from the axes of the joints:
    see `forward.mass_entries`.  Says of which joints."""
    passages = passage_sweep(tree, x.b, x.state.q)
    forces = force_sweep(tree, passages, x.b)
    by_q = x.b.algebra.derivatives([q for q in x.state.q if not x.b.algebra.is_zero(q)])
    known: list[int] = []
    for joint in tree.joints:
        own = passages[joint.number].axis.dot(forces[joint.number])
        if not by_q.of(own):
            known.append(joint.number)
            x.write(joint.number, "own", own + reflected_inertia(joint))
    return tuple(known)


def write_motions(tree: KinematicTree[S], x: StraightBuilder[S]) -> None:
    """Accelerations, from those of the joints; what floats, by way of its chain."""
    chained = {j: x.N[j - 1] for base in x.floating for j in base.columns}
    axes: dict[int, JointAxis[S]] = {}
    velocities: dict[int, Velocity[S]] = {}
    for joint in tree.joints:
        known = x.joint(joint.number)
        axes[joint.number] = replace(axis(known), name=joint.name)
        Psi = psi(known)
        if joint.number in chained:
            o = Spatial(zero_vector(x.b.algebra), zero_vector(x.b.algebra))
            carrier = velocities[joint.parent].v if joint.parent != BASE else o
            Psi = carrier.cross(axes[joint.number].axis)
        velocities[joint.number] = Velocity(spatial(known, "w0", "u0"), Psi)
    qdd = [x.joint(j).scalar("qdd") for j in axes]
    bases = {j: x.joint(j).vector("a_base") for j in axes if len(tree.path(j)) == 1}
    rates = x.state.qd, [y - chained[j] if j in chained else y for j, y in enumerate(qdd, start=1)]
    motions = acceleration_sweep(tree, axes, velocities, x.b, *rates, bases)
    write_accelerations(axes, motions, bases, x)
    x.b.output("qdd", (tree.n,), qdd)


# -- one joint, two joints ---------------------------------------------------------------------


def resting(joint: Entries[S], t1: Spatial[S], loaded: bool) -> Mapping[Column, S]:
    """CO-36: gravity and loads."""
    load = spatial(joint, "n0_L", "F0_L") if loaded else None
    return entries_of("rest", at_rest(axis(joint), t1, joint.vector("a_base"), load))


def right_side(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[Column, S]:
    """CO-36: tau - bias; velocity torques are quadratic in qd."""
    moving = joint.scalar("moving") * b.algebra.constant(0.5)
    return entries_of("qdd", joint.scalar("given") - joint.scalar("rest") - moving)


def by_rates(b: ProgramBuilder[S], j: Entries[S], i: Entries[S]) -> Mapping[str, tuple[S, S]]:
    """CO-19, CO-20: joint j carries i, or is i."""
    by_qdd, by_qd_i, by_qd_j = rates_of_pair(b, j, i)
    return {"by_qd": (by_qd_i, by_qd_j), "factors": (by_qdd, by_qdd)}
