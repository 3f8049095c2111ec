"""The regressor in loops: the steps of `regressor` for any body, any pair of joint and body.

Columns beyond those of `loops`: `alpha0`; `turn` and `lever`, see `regressor.link_of`; N_k and F_k,
moment and force per unit of parameter k.
"""

from __future__ import annotations

from collections.abc import Mapping

from symgen.algebra.interface import S
from symgen.algebra.linear import zero_vector
from symgen.algebra.spatial import Spatial
from symgen.formulations.composite.loops import axis, frame, spatial, write_frame
from symgen.formulations.composite.motion import motion_sweep
from symgen.formulations.composite.regressor import Fields, link_of, shares_step, unit_forces_step
from symgen.formulations.loops import Entries, LoopsBuilder, entries_of
from symgen.kinematics.bodies import INERTIAL_PARAMETERS
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder
from symgen.program.loops import Column


def regressor(tree: KinematicTree[S], loops: LoopsBuilder[S]) -> None:
    """(n, 10 n)"""
    with loops.straight() as x:
        places, _, motions = motion_sweep(tree, x.b, x.state)
        for j, at in places.items():
            turn, lever = link_of(at.joint)
            write_frame(j, at, x)
            x.write(j, "turn", turn)
            x.write(j, "lever", lever)
            x.write(j, "alpha0", motions[j].alpha)
            x.write(j, "a0", motions[j].a)
            x.write(j, "W0", motions[j].W)
    loops.each_joint(unit_forces)
    loops.each_pair(beyond, before, beside=True)


def unit_forces(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[Column, S]:
    """CO-55, CO-56, CO-57"""
    at, link = frame(joint), (joint.matrix("turn"), joint.vector("lever"))
    fields = Fields(joint.vector("alpha0"), joint.vector("a0"), joint.matrix("W0"))
    found: dict[Column, S] = {}
    for name, force in unit_forces_step(at, *link, fields, b).items():
        found |= entries_of(f"N_{name}", force.angular)
        if not name.startswith("I"):
            found |= entries_of(f"F_{name}", force.linear)
    return found


def beyond(b: ProgramBuilder[S], i: Entries[S], j: Entries[S]) -> Mapping[str, tuple[S, ...]]:
    """CO-58: the row's joint carries the body of the column."""
    nothing = zero_vector(b.algebra)
    unit = {
        name: Spatial(j.vector(f"N_{name}"), nothing)
        if name.startswith("I")
        else spatial(j, f"N_{name}", f"F_{name}")
        for name in INERTIAL_PARAMETERS
    }
    return {"regressor": tuple(shares_step(axis(i), axis(j), unit, b))}


def before(b: ProgramBuilder[S], i: Entries[S], j: Entries[S]) -> Mapping[str, tuple[S, ...]]:
    """A joint takes nothing of a body that carries it."""
    return {"regressor": (b.algebra.zero,) * len(INERTIAL_PARAMETERS)}
