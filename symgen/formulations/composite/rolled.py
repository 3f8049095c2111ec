"""The derivatives in closed form, in loops: the steps of `derivatives` for any joint, any pair.

Motions are found from the base outwards, in a straight line.  Each body, each joint and each pair
of joints has one step.

A floating base is one joint of six columns, constant in the body (Singh, Russell, Wensing 2022).
Its parent is at rest, so that Psi' = v_p x S is 0 in derivatives by q, and Psi'' = a_base x S; in
those by qd the rate of S that is meant is that of its own link, v x S, of which half stands for
Psi' + dS/dt over 2.  And S x* f is not there: torques turn with the body.

Columns (joint i, in the notation of `motion`, `bodies` and `derivatives`)

==========================  ====================================================================
R0, x0                      axes and origin after the joint
S_w, S_v; Psi_w, Psi_v;     axis S, and how it moves: Psi', Psi''
dPsi_w, dPsi_v
w0, u0; W0, a0              velocity and acceleration of the link
m, com, E_own               its body, in axes of the joint
m0, h0, E0; K0, f0          moments and momentum of the body, then of the composite
n0_in, f0_in                force of inertia of the body, then of the composite
n0_L, F0_L, moved, kept     loads outboard of the joint and their effects, where the robot has any
t1, t2, t3, t4              what joint i answers
Psi_q; turn_w, turn_v       with floating bases: Psi'_w and S where derivatives by q take them,
                            0 for the columns of such a base
tau, d_drive_dq and so on   torque; its terms from drives, bearings and springs
==========================  ====================================================================

The mass matrix has composites in the basis of the tree, too: there a pair of joints is one scalar
product, whatever joints there are between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector, zero_vector
from symgen.algebra.spatial import Moments, RigidInertia, Spatial
from symgen.formulations.composite.bodies import (
    LoadEffects,
    LoadSum,
    Momentum,
    OwnBody,
    coriolis_step,
    force_step,
    inertia_step,
    load_effects_step,
    load_sweep,
    moments_step,
    momentum_step,
    own_body,
)
from symgen.formulations.composite.derivatives import (
    Composite,
    Rates,
    coriolis_pair_step,
    force_by_q_step,
    q_pair_step,
    rates_pair_step,
    rates_step,
    torque_step,
    unit_force_step,
)
from symgen.formulations.composite.mass_matrix import pair_step
from symgen.formulations.composite.motion import (
    Acceleration,
    JointAxis,
    JointFrame,
    Place,
    Velocity,
    base_sweep,
    motion_sweep,
    place_sweep,
    velocity_sweep,
)
from symgen.formulations.joint_terms import drive_derivatives, reflected_inertia, with_joint_terms
from symgen.formulations.rolled import Entries, RolledBuilder, StraightBuilder, entries_of
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder
from symgen.program.rolled import Column

TURNING = "turn_w turn_v"
"""Columns of S in S x* f: S of the joints that turn forces with them, of floating bases 0."""

DRIVES = {"q": "d_drive_dq", "qd": "d_drive_dqd", "qdd": "d_drive_dqdd"}


def inverse_dynamics_derivatives(tree: KinematicTree[S], rolled: RolledBuilder[S]) -> None:
    """tau (n,) and its derivatives with respect to q, qd and qdd, (n, n) each."""
    floats = rolled.floats
    with rolled.straight() as x:
        places = write_kinematics(x)
        loaded = write_loads(x.tree, places, x)
        drives = write_drives(x.tree, drive_derivatives(x.tree, x.b, x.state), x)

    def answers(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[Column, S]:
        slopes = {**rates_entries(rates(b, joint)), **to_q(b, joint, loaded, floats)}
        return {**torque(b, joint, loaded), **slopes}

    def slopes(b: ProgramBuilder[S], j: Entries[S], i: Entries[S]) -> Mapping[str, tuple[S, S]]:
        by_qdd, by_qd_i, by_qd_j = rates_of_pair(b, j, i)
        by_q = by_q_of_pair(b, j, i, loaded, floats)
        return {"dtau_dq": by_q, "dtau_dqd": (by_qd_i, by_qd_j), "dtau_dqdd": (by_qdd, by_qdd)}

    rolled.towards_base(rolled.each_joint(of_body))
    rolled.each_joint(answers)
    with rolled.straight() as x:
        rigid = [x.joint(j).scalar("tau") for j in places]
        x.b.output("tau", (tree.n,), with_joint_terms(x.tree, x.b, x.state, rigid))
    rolled.each_pair_both_ways(slopes)
    for by in drives:
        rolled.on_diagonal(f"dtau_d{by}", DRIVES[by])


# -- straight phases ---------------------------------------------------------------------------


def write_kinematics(x: StraightBuilder[S]) -> dict[int, Place[S]]:
    """Joints, bodies, velocities and accelerations."""
    places, velocities, motions = motion_sweep(x.tree, x.b, x.state)
    write_places(places, x)
    write_velocities(places, velocities, x)
    falls = base_sweep(x.tree, places, x.b) if x.floating else {}
    write_accelerations(places, motions, falls, x)
    return places


def write_places(places: Mapping[int, Place[S]], x: StraightBuilder[S]) -> None:
    """Axes, frames and bodies."""
    for j, at in places.items():
        write_frame(j, at, x)
        body = own_body(at.joint, x.b.algebra)
        x.write(j, "m", body.mass)
        x.write(j, "com", body.com)
        x.write(j, "E_own", body.E, symmetric=True)
    floating, o = {j for base in x.floating for j in base.columns}, zero_vector(x.b.algebra)
    for j, at in places.items() if x.floating else ():  # axes of floating bases turn, too
        x.write(j, TURNING, Spatial(o, o) if j in floating else at.axis)


def write_frame(j: int, at: JointFrame[S], x: StraightBuilder[S]) -> None:
    """Axis, and frame after the joint."""
    x.write(j, "S_w S_v", at.axis)
    x.write(j, "R0", at.R)
    x.write(j, "x0", at.x)


def write_velocities(
    axes: Mapping[int, JointAxis[S]], velocities: Mapping[int, Velocity[S]], x: StraightBuilder[S]
) -> None:
    """Velocities of links and axes; half of both rates of a floating base."""
    halves = _half_rates(axes, x)
    for j, velocity in velocities.items():
        x.write(j, "w0 u0", velocity.v)
        x.write(j, "Psi_w Psi_v", halves.get(j, velocity.psi))
        if x.floating:
            x.write(j, "Psi_q", zero_vector(x.b.algebra) if j in halves else velocity.psi.angular)


def write_accelerations(
    axes: Mapping[int, JointAxis[S]],
    motions: Mapping[int, Acceleration[S]],
    falls: Mapping[int, Vector[S]],
    x: StraightBuilder[S],
) -> None:
    """Accelerations of links and axes; of a floating base a_base x S.

    `falls` has the acceleration -g of the base, of each floating base by its first joint.
    """
    turned: dict[int, Spatial[S]] = {}
    for base in x.floating:
        a_base, o = falls[base.columns[0]], zero_vector(x.b.algebra)
        for j in base.columns:
            turned[j] = Spatial(o, a_base.cross(axes[j].axis.angular))
    for j, motion in motions.items():
        x.write(j, "W0", motion.W)
        x.write(j, "a0", motion.a)
        x.write(j, "dPsi_w dPsi_v", turned.get(j, motion.rate))


def _half_rates(axes: Mapping[int, JointAxis[S]], x: StraightBuilder[S]) -> dict[int, Spatial[S]]:
    """Half of v x S of the columns of floating bases; v is their own twist, sliding included."""
    halves: dict[int, Spatial[S]] = {}
    half = x.b.algebra.constant(0.5)
    for base in x.floating:
        v = w = zero_vector(x.b.algebra)
        for j in base.columns:
            w = w + axes[j].axis.angular * x.arguments.qd[j - 1]
            if j in base.sliding:
                v = v + axes[j].axis.linear * x.arguments.qd[j - 1]
        for j in base.columns:
            s, t = axes[j].axis.angular, axes[j].axis.linear
            halves[j] = Spatial(w.cross(s) * half, (w.cross(t) + s.cross(v)) * half)
    return halves


def write_loads(tree: KinematicTree[S], places: dict[int, Place[S]], x: StraightBuilder[S]) -> bool:
    """Loads outboard of every joint, and what comes of them; says whether there are any."""
    sums = loads_beyond(tree, places, x)
    for j, load in sums.items():
        effects = load_effects_step(places[j], load, x.b)
        x.write(j, "n0_L F0_L", load.wrench)
        x.write(j, "moved", effects.moved)
        x.write(j, "kept", effects.kept)
    return bool(sums)


def loads_beyond(
    tree: KinematicTree[S], places: dict[int, Place[S]], x: StraightBuilder[S]
) -> dict[int, LoadSum[S]]:
    """Write CO-17 of every joint, 0 where there are none outboard of it; empty where the robot has
    none."""
    sums, o = load_sweep(tree, places, x.b, x.state.loads), zero_vector(x.b.algebra)
    nothing = LoadSum(o, o, o, Matrix([tuple(o)] * 3))
    return {j: sums.get(j, nothing) for j in places} if sums else {}


def write_drives(
    tree: KinematicTree[S], terms: Mapping[str, Sequence[S]], x: StraightBuilder[S]
) -> tuple[str, ...]:
    """Write joint terms on diagonals, by "q", "qd" and "qdd"; return on which."""
    used = [by for by in terms if not all(map(x.b.algebra.is_zero, terms[by]))]
    for by in used:
        for joint, term in zip(tree.joints, terms[by], strict=True):
            x.write(joint.number, DRIVES[by], term)
    return tuple(used)


# -- one joint ---------------------------------------------------------------------------------


def moments_of(b: ProgramBuilder[S], joint: Entries[S]) -> Moments[S]:
    """Write the moments: CO-9 of the body."""
    body = OwnBody(joint.scalar("m"), joint.vector("com"), joint.symmetric("E_own"))
    return moments_step(frame(joint), body, b)


def weight(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[Column, S]:
    """Write CO-9, CO-10 of the body"""
    moments = moments_of(b, joint)
    momentum = momentum_step(axis(joint), moments, joint.spatial("w0 u0"), b)
    moving = {**entries_of("K0", momentum.K), **entries_of("f0", momentum.f)}
    return {**moments_entries(moments), **moving}


def moments_entries(moments: Moments[S]) -> Mapping[Column, S]:
    """Mass, first and second moments"""
    return {
        **entries_of("m0", moments.m),
        **entries_of("h0", moments.h),
        **entries_of("E0", moments.E, symmetric=True),
    }


def of_body(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[Column, S]:
    """Write CO-9, CO-10, CO-11 of the body"""
    return {**weight(b, joint), **inertial_force(b, joint)}


def inertial_force(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[Column, S]:
    """Write the force of inertia: CO-11 of the body."""
    motion = joint.vector("a0"), joint.matrix("W0")
    force = force_step(axis(joint), moments_of(b, joint), *motion, b)
    return entries_of("n0_in f0_in", force)


def torque(b: ProgramBuilder[S], joint: Entries[S], loaded: bool) -> Mapping[Column, S]:
    """Write the torque: CO-16."""
    load = joint.spatial("n0_L F0_L") if loaded else None
    tau = torque_step(axis(joint), joint.spatial("n0_in f0_in"), load, b)
    return entries_of("tau", tau)


def rates(b: ProgramBuilder[S], joint: Entries[S]) -> Rates[S]:
    """Write t_1, t_2 and t_4: CO-14."""
    return rates_step(axis(joint), psi(joint), composite(b, joint), b)


def rates_entries(rates: Rates[S]) -> Mapping[Column, S]:
    """Return the columns of t_1, t_2, t_4."""
    return {
        **entries_of("t1_n t1_f", rates.t1),
        **entries_of("t2_n t2_f", rates.t2),
        **entries_of("t4", rates.t4),
    }


def to_q(b: ProgramBuilder[S], joint: Entries[S], loaded: bool, floats: bool) -> Mapping[Column, S]:
    """Write t_3: CO-15."""
    force = joint.spatial("n0_in f0_in")
    effects = LoadEffects(joint.vector("moved"), zero_vector(b.algebra)) if loaded else None
    arguments = psi_by_q(b, joint, floats), rate(joint), composite(b, joint), force, effects
    at = JointAxis(joint.label, "", joint.spatial(TURNING)) if floats else axis(joint)
    return entries_of("t3_n t3_f", force_by_q_step(at, *arguments, b))


# -- two joints: j carries i, or is i ----------------------------------------------------------


def rates_of_pair(b: ProgramBuilder[S], j: Entries[S], i: Entries[S]) -> tuple[S, S, S]:
    """Write the entries by qdd and qd: CO-19, CO-20."""
    return rates_pair_step(axis(j), psi(j), axis(i), answers_of(i), b)


def by_q_of_pair(
    b: ProgramBuilder[S], j: Entries[S], i: Entries[S], loaded: bool, floats: bool
) -> tuple[S, S]:
    """Write the entries by q: CO-21."""
    motion, t3 = (psi_by_q(b, j, floats), rate(j)), i.spatial("t3_n t3_f")
    effects = LoadEffects(zero_vector(b.algebra), i.vector("kept")) if loaded else None
    return q_pair_step(axis(j), *motion, axis(i), answers_of(i), t3, effects, b)


# -- what columns hold of a joint --------------------------------------------------------------


def axis(joint: Entries[S]) -> JointAxis[S]:
    """S"""
    return JointAxis(joint.label, "", joint.spatial("S_w S_v"))


def frame(joint: Entries[S]) -> JointFrame[S]:
    """S, R and x"""
    S_i = joint.spatial("S_w S_v")
    return JointFrame(joint.label, "", S_i, joint.matrix("R0"), joint.vector("x0"))


def psi(joint: Entries[S]) -> Spatial[S]:
    """Psi'"""
    return joint.spatial("Psi_w Psi_v")


def psi_by_q(b: ProgramBuilder[S], joint: Entries[S], floats: bool) -> Spatial[S]:
    """Psi' in derivatives by q, where its angular half counts alone."""
    return Spatial(joint.vector("Psi_q"), zero_vector(b.algebra)) if floats else psi(joint)


def rate(joint: Entries[S]) -> Spatial[S]:
    """Psi''"""
    return joint.spatial("dPsi_w dPsi_v")


def composite(b: ProgramBuilder[S], joint: Entries[S]) -> Composite[S]:
    """Write CO-13 of all that the joint carries"""
    moving = Momentum(joint.matrix("K0"), joint.vector("f0"))
    return Composite(inertia(b, joint), coriolis_step(axis(joint), moving, b))


def inertia(b: ProgramBuilder[S], joint: Entries[S]) -> RigidInertia[S]:
    """CO-13: its spatial inertia"""
    moments = Moments(joint.scalar("m0"), joint.vector("h0"), joint.symmetric("E0"))
    return inertia_step(axis(joint), moments, b)


def answers_of(joint: Entries[S]) -> Rates[S]:
    """Read t_1, t_2, t_4."""
    t1, t2 = joint.spatial("t1_n t1_f"), joint.spatial("t2_n t2_f")
    return Rates(t1, t2, joint.vector("t4"))


def mass_matrix(tree: KinematicTree[S], rolled: RolledBuilder[S]) -> None:
    """(n, n), both triangles: CO-9, CO-14, CO-27."""
    with rolled.straight() as x:
        write_places(place_sweep(x.tree, x.b, x.state.q), x)
        rotors = {"qdd": [reflected_inertia(joint) for joint in x.tree.joints]}
        drives = write_drives(x.tree, rotors, x)

    def moments(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[Column, S]:
        return moments_entries(moments_of(b, joint))

    def unit_force(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[Column, S]:
        t1 = unit_force_step(axis(joint), inertia(b, joint), b)
        return entries_of("t1_n t1_f", t1)

    def pair(b: ProgramBuilder[S], j: Entries[S], i: Entries[S]) -> Mapping[str, tuple[S, S]]:
        entry = pair_step(axis(j), i.label, i.spatial("t1_n t1_f"), b)
        return {"mass_matrix": (entry, entry)}

    rolled.towards_base(rolled.each_joint(moments))
    rolled.each_joint(unit_force)
    rolled.each_pair_both_ways(pair)
    for by in drives:
        rolled.on_diagonal("mass_matrix", DRIVES[by])


def coriolis_matrix(tree: KinematicTree[S], rolled: RolledBuilder[S]) -> None:
    """(n, n), both triangles: CO-14, CO-43."""
    with rolled.straight() as x:
        places = place_sweep(tree, x.b, x.state.q)
        write_places(places, x)
        write_velocities(places, velocity_sweep(places, x.b, x.state.qd), x)

    def answers(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[Column, S]:
        return rates_entries(rates(b, joint))

    def pair(b: ProgramBuilder[S], j: Entries[S], i: Entries[S]) -> Mapping[str, tuple[S, S]]:
        entries = coriolis_pair_step(axis(j), psi(j), axis(i), answers_of(i), b)
        return {"coriolis_matrix": entries}

    rolled.towards_base(rolled.each_joint(weight))
    rolled.each_joint(answers)
    rolled.each_pair_both_ways(pair)
