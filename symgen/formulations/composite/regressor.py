"""The regressor: joint torques as a matrix times the inertial parameters of the bodies.

The force that a body's motion needs is linear in its ten parameters: a force about P for one unit
of each, ten for every body.  A joint that carries the body takes its part along S of all ten, in
whatever frame they were found; other joints take nothing of it.

Notation, added to that of `motion` (body j stands in link frame j; everything in the
basis, about P)

==================  ==================  ========================================================
paper               code                meaning
==================  ==================  ========================================================
--                  u_x_j, u_y_j, u_z_j axes of link frame j
--                  x_link_j            P -> its origin
--                  a_link_j            acceleration of the origin, minus gravity
--                  c_x_j, ...          W u: acceleration that grows along the axis u
--                  p_x_j, ...          u x c; their sum is 2 alpha
--                  N_k_j, F_k_j        moment and force per unit of parameter k: m, mx, ..., Ixx,
                                        ...; inertia takes no force
Y_ij                Y_i_j_k             torque of joint i per unit of parameter k of body j
==================  ==================  ========================================================

Sources: Atkeson, An, Hollerbach (1986) for the linear form; the force on a particle at r of the
body is a + W r, and inertia about the origin is tr(E) 1 - E of second moments E.

Columns of loops, added to those of `loops`: `alpha0`; `turn` and `lever`, see `link_of`; N_k and
F_k.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, NamedTuple

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector, zero_vector
from symgen.algebra.spatial import Spatial
from symgen.formulations.composite.motion import JointAxis, JointFrame, motion_sweep
from symgen.formulations.composite.rolled import axis, frame, write_frame
from symgen.formulations.rolled import Entries, RolledBuilder, entries_of
from symgen.formulations.shared import flat, let_spatial
from symgen.formulations.state import State
from symgen.kinematics.bodies import INERTIAL_PARAMETERS
from symgen.kinematics.joint import Joint
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder, Results
from symgen.program.rolled import Column

NOTES = {
    "CO-55": "u_x, u_y, u_z, x_link: R_j, x_j times the fixed rotation and lever to link frame j",
    "CO-56": "a_link = a + W x_link, c_k = W u_k, p_k = u_k x c_k, p_z = 2 alpha - p_x - p_y",
    "CO-57": "m: force a_link, moment x_link x a_link; mk: force c_k, moment x_link x c_k "
    "+ u_k x a_link; Ikk: moment alpha - p_k; Ikl: moment -(u_k x c_l + u_l x c_k) "
    "-- Atkeson, An, Hollerbach 1986",
    "CO-58": "Y_ij = S_i . (force per unit of each parameter of body j), i carries j or is j",
}

Unit = dict[str, Spatial[S]]
"""Map of a parameter to the force per unit of it."""


class Fields(NamedTuple, Generic[S]):
    """CO-7 of a link: its angular acceleration, and the acceleration a + W r of its particles."""

    alpha: Vector[S]
    a: Vector[S]
    W: Matrix[S]


def regressor(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> Results[S]:
    """Write the regressor, (n, 10 n): CO-58."""
    places, _, motions = motion_sweep(tree, b, state)
    rows = [[b.algebra.zero] * (10 * tree.n) for _ in places]
    for j, at in places.items():
        fields = Fields(motions[j].alpha, motions[j].a, motions[j].W)
        unit = unit_forces_step(at, *link_of(at.joint), fields, b)
        for i in tree.path(j):
            rows[i - 1][10 * (j - 1) : 10 * j] = shares_step(places[i], at, unit, b)
    return {"regressor": flat(rows)}


def link_of(joint: Joint[S]) -> tuple[Matrix[S], Vector[S]]:
    """Turn and lever from the axes after the motion to the link frame."""
    link = joint.placement.link
    return link.rotation, link.translation


# -- steps, one body each ----------------------------------------------------------------------


def unit_forces_step(
    at: JointFrame[S], turn: Matrix[S], lever: Vector[S], fields: Fields[S], b: ProgramBuilder[S]
) -> Unit[S]:
    """CO-55, CO-56, CO-57"""
    j, alpha, W = at.label, fields.alpha, fields.W
    with b.step("unit forces", at.name):
        axes = zip("xyz", (at.R @ turn).transposed.rows, strict=True)
        u = {k: b.let(f"u_{k}_{j}", Vector(*axis), "CO-55") for k, axis in axes}
        x = b.let(f"x_link_{j}", at.x + at.R.apply(lever), "CO-55")
        a = b.let(f"a_link_{j}", fields.a + W.apply(x), "CO-56")
        c = {k: b.let(f"c_{k}_{j}", W.apply(u[k]), "CO-56") for k in "xyz"}
        p = {k: b.let(f"p_{k}_{j}", u[k].cross(c[k]), "CO-56") for k in "xy"}
        p["z"] = b.let(f"p_z_{j}", alpha + alpha - p["x"] - p["y"], "CO-56")
        forces = {"m": Spatial(x.cross(a), a)}
        for k in "xyz":
            forces[f"m{k}"] = Spatial(x.cross(c[k]) + u[k].cross(a), c[k])
        nothing = zero_vector(b.algebra)
        for name in INERTIAL_PARAMETERS[4:]:
            k, i = name[1], name[2]
            moment = alpha - p[k] if k == i else -(u[k].cross(c[i]) + u[i].cross(c[k]))
            forces[name] = Spatial(moment, nothing)
        return {
            name: let_spatial(b, (f"N_{name}_{j}", f"F_{name}_{j}"), force, "CO-57")
            for name, force in forces.items()
        }


# -- steps, one pair each: joint i carries body j ----------------------------------------------


def shares_step(
    at_i: JointAxis[S], at_j: JointAxis[S], unit: Mapping[str, Spatial[S]], b: ProgramBuilder[S]
) -> list[S]:
    """CO-58, in the order of the columns."""
    pair = f"{at_i.label}_{at_j.label}"
    with b.step("regressor", at_j.name):
        return [
            b.let(f"Y_{pair}_{name}", at_i.axis.dot(unit[name]), "CO-58")
            for name in INERTIAL_PARAMETERS
        ]


def rolled_regressor(tree: KinematicTree[S], rolled: RolledBuilder[S]) -> None:
    """Write the regressor with loops, (n, 10 n)."""
    with rolled.straight() as x:
        places, _, motions = motion_sweep(tree, x.b, x.state)
        for j, at in places.items():
            turn, lever = link_of(at.joint)
            write_frame(j, at, x)
            x.write(j, "turn", turn)
            x.write(j, "lever", lever)
            x.write(j, "alpha0", motions[j].alpha)
            x.write(j, "a0", motions[j].a)
            x.write(j, "W0", motions[j].W)
    rolled.each_joint(unit_forces)
    rolled.each_pair(beyond, before, beside=True)


def unit_forces(b: ProgramBuilder[S], joint: Entries[S]) -> Mapping[Column, S]:
    """CO-55, CO-56, CO-57"""
    at, link = frame(joint), (joint.matrix("turn"), joint.vector("lever"))
    fields = Fields(joint.vector("alpha0"), joint.vector("a0"), joint.matrix("W0"))
    columns: dict[Column, S] = {}
    for name, force in unit_forces_step(at, *link, fields, b).items():
        columns |= entries_of(f"N_{name}", force.angular)
        if not name.startswith("I"):
            columns |= entries_of(f"F_{name}", force.linear)
    return columns


def beyond(b: ProgramBuilder[S], i: Entries[S], j: Entries[S]) -> Mapping[str, tuple[S, ...]]:
    """CO-58: the row's joint carries the body of the column."""
    nothing = zero_vector(b.algebra)
    unit = {
        name: Spatial(j.vector(f"N_{name}"), nothing)
        if name.startswith("I")
        else j.spatial(f"N_{name} F_{name}")
        for name in INERTIAL_PARAMETERS
    }
    return {"regressor": tuple(shares_step(axis(i), axis(j), unit, b))}


def before(b: ProgramBuilder[S], i: Entries[S], j: Entries[S]) -> Mapping[str, tuple[S, ...]]:
    """A joint takes nothing of a body that carries it."""
    return {"regressor": (b.algebra.zero,) * len(INERTIAL_PARAMETERS)}
