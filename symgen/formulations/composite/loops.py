"""The derivatives in closed form, in loops: the steps of `derivatives` for any joint, any pair.

What needs the tree runs straight on: motions from the base outwards, composites from the leaves
inwards.  What one joint answers to its composite, and what two joints feel of each other, is said
once.

Columns (joint i, in the notation of `frames`, `motion`, `bodies`, `loads` and `derivatives`)

==========================  ====================================================================
S_w, S_v; Psi_w, Psi_v;     axis S, and how it moves: Psi', Psi''
dPsi_w, dPsi_v
m0C, h0C, J0C; B0C, f0C     inertia and Coriolis matrix of the composite
n0_inC, f0_inC              force of inertia on the composite
moved, kept                 effects of loads, where the robot has any
t1, t2, t3, t4              what joint i answers
d_drive_dq and so on        what drives, bearings and springs add
==========================  ====================================================================
"""

from __future__ import annotations

from collections.abc import Mapping

from symgen.algebra.interface import S
from symgen.algebra.linear import zero_vector
from symgen.formulations.composite.bodies import Coriolis, Inertia
from symgen.formulations.composite.derivatives import (
    Bodies,
    Composite,
    Forces,
    Rates,
    body_sweep,
    force_by_q_step,
    force_sweep,
    q_pair_step,
    rates_pair_step,
    rates_step,
)
from symgen.formulations.composite.frames import JointAxis
from symgen.formulations.composite.loads import LoadEffects
from symgen.formulations.composite.spatial import Spatial
from symgen.formulations.joint_terms import drive_derivatives, with_joint_terms
from symgen.formulations.loops import Entries, LoopsBuilder, StraightBuilder, Value
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

DRIVES = {"q": "d_drive_dq", "qd": "d_drive_dqd", "qdd": "d_drive_dqdd"}


def inverse_dynamics_derivatives(tree: KinematicTree[S], loops: LoopsBuilder[S]) -> None:
    """tau (n,) and its derivatives with respect to q, qd and qdd, (n, n) each."""
    with loops.straight() as x:
        bodies = body_sweep(tree, x.b, x.state)
        found = force_sweep(tree, bodies, x.b, x.state.qd, x.state.qdd)
        x.b.output("tau", (tree.n,), with_joint_terms(tree, x.b, x.state, found.tau))
        write_bodies(bodies, x)
        write_forces(bodies, found, x)
        drives = write_drives(tree, x)
    loaded = bool(found.effects)

    def answers(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[str, Value[S]]:
        return {**rates(b, joint), **forces_by_q(b, joint, loaded)}

    def beyond(b: ProgramBuilder[S], j: Entries[S], i: Entries[S]) -> Mapping[str, S]:
        pair = (j, "r"), (i, "c")
        (by_qdd, by_qd, _), (by_q, _) = rates_of_pair(b, *pair), by_q_of_pair(b, *pair, loaded)
        return {"dtau_dq": by_q, "dtau_dqd": by_qd, "dtau_dqdd": by_qdd}

    def before(b: ProgramBuilder[S], i: Entries[S], j: Entries[S]) -> Mapping[str, S]:
        pair = (j, "c"), (i, "r")
        (by_qdd, _, by_qd), (_, by_q) = rates_of_pair(b, *pair), by_q_of_pair(b, *pair, loaded)
        return {"dtau_dq": by_q, "dtau_dqd": by_qd, "dtau_dqdd": by_qdd}

    loops.each_joint(answers)
    loops.each_pair(beyond, before)
    for by in drives:
        loops.on_diagonal(f"dtau_d{by}", DRIVES[by])


# -- straight phases ---------------------------------------------------------------------------


def write_bodies(bodies: Bodies[S], x: StraightBuilder[S]) -> None:
    """Axes and composites."""
    for j, at in bodies.places.items():
        inertia, coriolis = bodies.composites[j].inertia, bodies.composites[j].coriolis
        write_spatial(x, j, ("S_w", "S_v"), at.axis)
        write_spatial(x, j, ("Psi_w", "Psi_v"), bodies.velocities[j].psi)
        x.write(j, "m0C", inertia.m)
        x.write(j, "h0C", inertia.h)
        x.write(j, "J0C", inertia.J, symmetric=True)
        x.write(j, "B0C", coriolis.B)
        x.write(j, "f0C", coriolis.f)


def write_forces(bodies: Bodies[S], found: Forces[S], x: StraightBuilder[S]) -> None:
    """What accelerations and loads bring in."""
    nothing = zero_vector(x.b.algebra)
    none = LoadEffects(nothing, nothing)
    for j in bodies.places:
        write_spatial(x, j, ("dPsi_w", "dPsi_v"), found.rates[j])
        write_spatial(x, j, ("n0_inC", "f0_inC"), found.forces[j])
        if found.effects:
            effects = found.effects.get(j, none)
            x.write(j, "moved", effects.moved)
            x.write(j, "kept", effects.kept)


def write_drives(tree: KinematicTree[S], x: StraightBuilder[S]) -> tuple[str, ...]:
    """What the joints' own terms add on the diagonals; says to which of them."""
    terms = drive_derivatives(tree, x.b, x.state)
    used = [by for by in terms if not all(map(x.b.algebra.is_zero, terms[by]))]
    for by in used:
        for joint, term in zip(tree.joints, terms[by], strict=True):
            x.write(joint.number, DRIVES[by], term)
    return tuple(used)


def write_spatial(x: StraightBuilder[S], j: int, stems: tuple[str, str], value: Spatial[S]) -> None:
    """Both halves."""
    x.write(j, stems[0], value.angular)
    x.write(j, stems[1], value.linear)


# -- one joint ---------------------------------------------------------------------------------


def rates(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[str, Value[S]]:
    """CO-14"""
    found = rates_step(axis(joint, "i"), psi(joint), composite(joint), b)
    t1, t2 = found.t1, found.t2
    return {
        "t1_n": t1.angular, "t1_f": t1.linear, "t2_n": t2.angular, "t2_f": t2.linear,
        "t4": found.t4,
    }  # fmt: skip


def forces_by_q(b: ProgramBuilder[S], joint: Entries[S], loaded: bool) -> Mapping[str, Value[S]]:
    """CO-15"""
    force = spatial(joint, "n0_inC", "f0_inC")
    effects = LoadEffects(joint.vector("moved"), zero_vector(b.algebra)) if loaded else None
    motion = psi(joint), rate(joint)
    t3 = force_by_q_step(axis(joint, "i"), *motion, composite(joint), force, effects, b)
    return {"t3_n": t3.angular, "t3_f": t3.linear}


# -- two joints: j carries i, or is i ----------------------------------------------------------


def rates_of_pair(
    b: ProgramBuilder[S], j: tuple[Entries[S], str], i: tuple[Entries[S], str]
) -> tuple[S, S, S]:
    """CO-19, CO-20"""
    return rates_pair_step(axis(*j), psi(j[0]), axis(*i), answers_of(i[0]), b)


def by_q_of_pair(
    b: ProgramBuilder[S], j: tuple[Entries[S], str], i: tuple[Entries[S], str], loaded: bool
) -> tuple[S, S]:
    """CO-21"""
    motion, t3 = (psi(j[0]), rate(j[0])), spatial(i[0], "t3_n", "t3_f")
    effects = LoadEffects(zero_vector(b.algebra), i[0].vector("kept")) if loaded else None
    return q_pair_step(axis(*j), *motion, axis(*i), answers_of(i[0]), t3, effects, b)


# -- what columns hold of a joint --------------------------------------------------------------


def axis(joint: Entries[S], label: str) -> JointAxis[S]:
    """S"""
    return JointAxis(label, "", spatial(joint, "S_w", "S_v"))


def psi(joint: Entries[S]) -> Spatial[S]:
    """Psi'"""
    return spatial(joint, "Psi_w", "Psi_v")


def rate(joint: Entries[S]) -> Spatial[S]:
    """Psi''"""
    return spatial(joint, "dPsi_w", "dPsi_v")


def composite(joint: Entries[S]) -> Composite[S]:
    """All that the joint carries."""
    inertia = Inertia(joint.scalar("m0C"), joint.vector("h0C"), joint.symmetric("J0C"))
    return Composite(inertia, Coriolis(joint.matrix("B0C"), joint.vector("f0C")))


def answers_of(joint: Entries[S]) -> Rates[S]:
    """t_1, t_2, t_4"""
    t1, t2 = spatial(joint, "t1_n", "t1_f"), spatial(joint, "t2_n", "t2_f")
    return Rates(t1, t2, joint.vector("t4"))


def spatial(joint: Entries[S], angular: str, linear: str) -> Spatial[S]:
    """Both halves."""
    return Spatial(joint.vector(angular), joint.vector(linear))
