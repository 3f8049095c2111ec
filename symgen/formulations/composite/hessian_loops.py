"""Second derivatives of the torques in loops: the steps of `hessian` for any joint, any pair.

Columns beyond those of `loops` (joint i, in the notation of `hessian`)

==========================  ====================================================================
V_w, V_v; Omega_w, Omega_v  virtual motion
Kv0, p0, b0                 virtual momentum of the body, then of the composite
y1, y2, y3, z               what joint i answers to it; z where the robot has loads
d2_drive_dqd                curvature of friction
==========================  ====================================================================
"""

from __future__ import annotations

from collections.abc import Mapping

from symgen.algebra.interface import S
from symgen.algebra.linear import zero_vector
from symgen.formulations.composite.bodies import Momentum, momentum_step
from symgen.formulations.composite.derivatives import rates_step
from symgen.formulations.composite.frames import Place
from symgen.formulations.composite.hessian import (
    JointMotion,
    Responses,
    VirtualMomentum,
    VirtualMotion,
    load_moment_sweep,
    pair_step,
    virtual_momentum_step,
    virtual_responses_step,
    virtual_sweep,
)
from symgen.formulations.composite.loads import load_effects_step
from symgen.formulations.composite.loops import (
    axis,
    composite,
    loads_beyond,
    moments_of,
    of_body,
    psi,
    rate,
    spatial,
    spatial_entries,
    to_q,
    write_kinematics,
    write_spatial,
)
from symgen.formulations.joint_terms import friction_curvatures
from symgen.formulations.loops import Entries, LoopsBuilder, StraightBuilder, entries_of
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder
from symgen.program.loops import Column

CURVATURE = "d2_drive_dqd"


def inverse_dynamics_hessian(tree: KinematicTree[S], loops: LoopsBuilder[S]) -> None:
    """Four blocks, (n, n) each."""
    with loops.straight() as x:
        places = write_kinematics(x)
        virtual = virtual_sweep(places, x.b, x.state.multipliers)
        for j, motion in virtual.items():
            write_spatial(x, j, ("V_w", "V_v"), motion.V)
            write_spatial(x, j, ("Omega_w", "Omega_v"), motion.Omega)
        loaded = write_loads(tree, places, virtual, x)
        bent = write_curvatures(tree, x)

    def answers(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[Column, S]:
        return {**virtual_responses(b, joint), **to_q(b, joint, loaded, loops.floats)}

    def blocks(b: ProgramBuilder[S], j: Entries[S], i: Entries[S]) -> Mapping[str, tuple[S, S]]:
        pair = pair_step(axis(j), motion_of(j), axis(i), responses_of(i, loaded), b)
        return {f"hessian_{block}": entries for block, entries in pair.items()}

    loops.towards_base(loops.each_joint(with_virtual_momentum))
    loops.each_joint(answers)
    loops.each_pair_both_ways(blocks)
    if bent:
        loops.on_diagonal("hessian_qd_qd", CURVATURE)


# -- straight phase ----------------------------------------------------------------------------


def write_loads(
    tree: KinematicTree[S],
    places: dict[int, Place[S]],
    virtual: Mapping[int, VirtualMotion[S]],
    x: StraightBuilder[S],
) -> bool:
    """What the loads beyond every joint do; says whether there are any."""
    sums = loads_beyond(tree, places, x)
    moments = load_moment_sweep(tree, places, sums, virtual, x.b, x.state.loads)
    for j, load in sums.items():
        x.write(j, "moved", load_effects_step(places[j], load, x.b).moved)
        x.write(j, "z", moments.get(j, zero_vector(x.b.algebra)))
    return bool(sums)


def write_curvatures(tree: KinematicTree[S], x: StraightBuilder[S]) -> bool:
    """What friction adds on the diagonal; says whether there is any."""
    found = friction_curvatures(tree, x.b, x.state)
    bent = not all(map(x.b.algebra.is_zero, found))
    for joint, curvature in zip(tree.joints, found, strict=True):
        if bent:
            x.write(joint.number, CURVATURE, curvature)
    return bent


# -- one joint ---------------------------------------------------------------------------------


def with_virtual_momentum(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[Column, S]:
    """CO-9 to CO-11 and CO-61 of the body"""
    moments = moments_of(b, joint)
    momentum = momentum_step(axis(joint), moments, spatial(joint, "w0", "u0"), b)
    given = moments, momentum, spatial(joint, "V_w", "V_v")
    found = virtual_momentum_step(axis(joint), *given, b)
    moving = {**entries_of("Kv0", found.moving.K), **entries_of("p0", found.moving.f)}
    return {**of_body(b, joint), **moving, **entries_of("b0", found.b)}


def virtual_responses(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[Column, S]:
    """CO-14, CO-62"""
    whole = composite(b, joint)
    rates = rates_step(axis(joint), psi(joint), whole, b)
    moving = Momentum(joint.matrix("Kv0"), joint.vector("p0"))
    momentum = VirtualMomentum(moving, joint.vector("b0"))
    y1, y2, y3 = virtual_responses_step(axis(joint), motion_of(joint), whole, momentum, b)
    return {
        **spatial_entries(("t1_n", "t1_f"), rates.t1),
        **spatial_entries(("t2_n", "t2_f"), rates.t2),
        **spatial_entries(("y1_n", "y1_f"), y1),
        **entries_of("y2", y2),
        **entries_of("y3", y3),
    }


# -- what columns hold of a joint --------------------------------------------------------------


def motion_of(joint: Entries[S]) -> JointMotion[S]:
    """S, Psi', Psi'', Omega"""
    axes = spatial(joint, "S_w", "S_v"), psi(joint), rate(joint)
    return JointMotion(*axes, spatial(joint, "Omega_w", "Omega_v"))


def responses_of(joint: Entries[S], loaded: bool) -> Responses[S]:
    """t_1, t_2, t_3, y_1, y_2, y_3, z"""
    return Responses(
        t1=spatial(joint, "t1_n", "t1_f"),
        t2=spatial(joint, "t2_n", "t2_f"),
        t3=spatial(joint, "t3_n", "t3_f"),
        y1=spatial(joint, "y1_n", "y1_f"),
        y2=joint.vector("y2"),
        y3=joint.vector("y3"),
        z=joint.vector("z") if loaded else None,
    )
