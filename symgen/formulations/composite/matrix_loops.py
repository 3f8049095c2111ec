"""The mass matrix and the Coriolis matrix in loops: the steps for any joint, any pair.

Composites are put together in the basis of the tree, for the mass matrix too: there a pair of
joints is one scalar product, whatever joints there are between.  Columns are those of `loops`.
"""

from __future__ import annotations

from collections.abc import Mapping

from symgen.algebra.interface import S
from symgen.formulations.composite.coriolis import coriolis_pair_step
from symgen.formulations.composite.derivatives import unit_force_step
from symgen.formulations.composite.frames import place_sweep
from symgen.formulations.composite.loops import (
    DRIVES,
    answers_of,
    axis,
    inertia,
    moments_entries,
    moments_of,
    psi,
    rates,
    rates_entries,
    spatial,
    spatial_entries,
    weight,
    write_drives,
    write_places,
    write_velocities,
)
from symgen.formulations.composite.mass_matrix import pair_step
from symgen.formulations.composite.motion import velocity_sweep
from symgen.formulations.joint_terms import reflected_inertia
from symgen.formulations.loops import Entries, LoopsBuilder
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder
from symgen.program.loops import Column


def mass_matrix(tree: KinematicTree[S], loops: LoopsBuilder[S]) -> None:
    """(n, n), both triangles."""
    with loops.straight() as x:
        write_places(place_sweep(x.tree, x.b, x.state.q), x)
        rotors = {"qdd": [reflected_inertia(joint) for joint in x.tree.joints]}
        drives = write_drives(x.tree, rotors, x)
    loops.towards_base(loops.each_joint(moments))
    loops.each_joint(unit_force)
    loops.each_pair_both_ways(mass_of_pair)
    for by in drives:
        loops.on_diagonal("mass_matrix", DRIVES[by])


def coriolis_matrix(tree: KinematicTree[S], loops: LoopsBuilder[S]) -> None:
    """(n, n), both triangles."""
    with loops.straight() as x:
        places = place_sweep(tree, x.b, x.state.q)
        write_places(places, x)
        write_velocities(places, velocity_sweep(places, x.b, x.state.qd), x)
    loops.towards_base(loops.each_joint(weight))
    loops.each_joint(answers)
    loops.each_pair_both_ways(coriolis_of_pair)


# -- one joint ---------------------------------------------------------------------------------


def moments(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[Column, S]:
    """CO-9 of the body"""
    return moments_entries(moments_of(b, joint))


def unit_force(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[Column, S]:
    """CO-14: t_1"""
    t1 = unit_force_step(axis(joint), inertia(b, joint), b)
    return spatial_entries(("t1_n", "t1_f"), t1)


def answers(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[Column, S]:
    """CO-14"""
    return rates_entries(rates(b, joint))


# -- two joints: j carries i, or is i ----------------------------------------------------------


def mass_of_pair(b: ProgramBuilder[S], j: Entries[S], i: Entries[S]) -> Mapping[str, tuple[S, S]]:
    """CO-27"""
    entry = pair_step(axis(j), i.label, spatial(i, "t1_n", "t1_f"), b)
    return {"mass_matrix": (entry, entry)}


def coriolis_of_pair(
    b: ProgramBuilder[S], j: Entries[S], i: Entries[S]
) -> Mapping[str, tuple[S, S]]:
    """CO-43"""
    return {"coriolis_matrix": coriolis_pair_step(axis(j), psi(j), axis(i), answers_of(i), b)}
