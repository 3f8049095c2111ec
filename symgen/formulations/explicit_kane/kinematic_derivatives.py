"""Derivatives of the kinematics of `kinematics.py`, function beside function.

A variable x is a coordinate, a velocity or a runtime parameter.  What joint and body k are by
themselves (`Geometry`) is differentiated by the algebra: that is local, and a few bodies at most
have any of it for one x.  Everything that travels from body to body follows by the product rule,
as in the paper; what is 0 for a pair of a body and a variable is never written.  (72) and (73) are
cited as they are right: in print the last P of both bears a transpose, and the first P of (73) is
differentiated.

Notation beyond that of `kinematics.py`

======================  ==================  ====================================================
paper                   code                meaning
======================  ==================  ====================================================
x = q_r, qdot_r, p_j    x                   a `Variable`
(.)_{,x}                d_(.)_d<x>          partial derivative of the entries in link axes
(S^k)_{,x}              d_shifted_out, ...  made of C_k and gamma_k and their derivatives
======================  ==================  ====================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Vector, all_zero, zero_vector
from symgen.formulations.explicit_kane.kinematics import (
    EFFORT,
    MOTION,
    Geometry,
    Letters,
    Motion,
    Spatial,
    System,
    let_spatial,
    momentum,
    shifted_out,
    zero_spatial,
)
from symgen.formulations.shared import let_derivative
from symgen.kinematics.joint import Joint
from symgen.kinematics.tree import BASE
from symgen.program.builder import ProgramBuilder

NOTES = {
    "dEK-2": "d P_r_k = dC_k^T [w; v + w x gamma_k] + C_k^T [0; w x d gamma_k] "
    "+ C_k^T [dw; dv + dw x gamma_k] -- Anderson, Hsu 2002 (72), (73)",
}

COORDINATE, VELOCITY, PARAMETER = "q", "qd", "parameter"

Rows = Callable[[S], Mapping[int, S]]
"""The derivatives of a scalar: position of the variable -> derivative that is not 0."""


@dataclass(frozen=True)
class Variable(Generic[S]):
    """What one differentiates by: `joint` is the number of the one that it belongs to, or 0."""

    kind: str
    name: str
    symbol: S
    joint: int = 0


@dataclass(frozen=True)
class Slopes(Generic[S]):
    """Derivatives with respect to one variable; what is left out is structurally 0."""

    x: Variable[S]
    geometry: Mapping[int, Geometry[S]]
    partial: Mapping[tuple[int, int], Spatial[S]]
    forces: Mapping[int, Spatial[S]]
    drives: Mapping[int, S]
    rotors: Mapping[int, S]


# -- the shift from body to body ---------------------------------------------------------------


def d_shifted_out(at: Geometry[S], d: Geometry[S], parent: Spatial[S]) -> Spatial[S]:
    """(S^k)^T_{,x} with its arrow, times a velocity at the centre of p."""
    moved = parent.linear + parent.angular.cross(at.gamma)
    lever = at.C.apply_transposed(parent.angular.cross(d.gamma))
    turned = d.C.apply_transposed(moved) + lever
    return Spatial(d.C.apply_transposed(parent.angular), turned)


def d_shifted_back(at: Geometry[S], d: Geometry[S], child: Spatial[S]) -> Spatial[S]:
    """S^k_{,x} with its arrow, times a moment and force at the centre of k."""
    force, d_force = at.C.apply(child.linear), d.C.apply(child.linear)
    moment = d.C.apply(child.angular) + d.gamma.cross(force) + at.gamma.cross(d_force)
    return Spatial(moment, d_force)


def d_momentum(d: Geometry[S], velocity: Spatial[S]) -> Spatial[S]:
    """I^k_{1,x} times a velocity."""
    return momentum(d, velocity)


def let_spatial_derivative(
    b: ProgramBuilder[S], name: str, letters: Letters, value: Spatial[S], by: str, note: str
) -> Spatial[S]:
    """Name the derivative of the six entries that `let_spatial` names."""
    with b.variant(f"_d{by}"):
        return let_spatial(b, f"d_{name}", letters, value, note)


def is_zero(value: Spatial[S], algebra: Algebra[S]) -> bool:
    """Whether all six entries are structurally 0."""
    return all_zero(value, algebra)


# -- steps, one joint and one variable each ----------------------------------------------------


def d_geometry_step(
    joint: Joint[S], at: Geometry[S], values: Iterable[S], by: str, b: ProgramBuilder[S]
) -> Geometry[S]:
    """The derivatives of EK-1; `values` are those of `at.scalars`, found by the algebra."""
    k, remaining = joint.number, iter(values)
    d = at.mapped(lambda _: next(remaining))
    with b.step("derivatives of geometry", joint.name):
        return replace(
            d,
            C=let_derivative(b, f"C_{k}", d.C, by, "d EK-1"),
            s=let_derivative(b, f"s_{k}", d.s, by, "d EK-1"),
            r=let_derivative(b, f"r_{k}", d.r, by, "d EK-1"),
            gamma=let_derivative(b, f"gamma_{k}", d.gamma, by, "d EK-1"),
            own=let_spatial_derivative(b, f"P_{k}_{k}", MOTION, d.own, by, "d EK-1"),
        )


def d_partial_step(
    system: System[S],
    joint: Joint[S],
    d: Geometry[S] | None,
    known: Mapping[tuple[int, int], Spatial[S]],
    x: Variable[S],
) -> dict[tuple[int, int], Spatial[S]]:
    """dEK-2 for all P_r^k of a body; `known` are the derivatives for its parent."""
    b, k, p = system.b, joint.number, joint.parent
    at = system.geometry[k]
    found: dict[tuple[int, int], Spatial[S]] = {}
    if d is not None and not is_zero(d.own, b.algebra):
        found[k, k] = d.own
    with b.step("derivatives of partial velocities", joint.name):
        for r in system.tree.path(p):
            terms: list[Spatial[S]] = []
            if d is not None:
                terms.append(d_shifted_out(at, d, system.partial[r, p]))
            if (r, p) in known:
                terms.append(shifted_out(at, known[r, p]))
            if terms:
                value = sum_of(terms)
                value = let_spatial_derivative(b, f"P_{r}_{k}", MOTION, value, x.name, "dEK-2")
                if not is_zero(value, b.algebra):
                    found[r, k] = value
    return found


def d_motion_step(
    system: System[S], joint: Joint[S], d: Geometry[S], d_p: Motion[S], x: Variable[S]
) -> Motion[S]:
    """The derivatives of EK-3, EK-4, EK-5"""
    b, k, by = system.b, joint.number, x.name
    at, p, here = system.geometry[k], system.motions[joint.parent], system.motions[k]
    qd, qdd = system.state.qd[k - 1], system.state.qdd[k - 1]
    rate = b.algebra.one if x.kind == VELOCITY and x.joint == k else b.algebra.zero
    C, dC = at.C.transposed, d.C.transposed
    omega_in, turning = C.apply(p.omega), at.turn * qd
    own = at.turn * qdd + omega_in.cross(turning)
    d_turning = d.turn * qd + at.turn * rate
    d_sliding = d.slide * qd + at.slide * rate
    carried = p.a + p.alpha.cross(at.gamma) + p.omega.cross(p.omega.cross(at.s))
    with b.step("derivatives of motion", joint.name):
        d_in = dC.apply(p.omega) + C.apply(d_p.omega)
        d_in = let_derivative(b, f"omega_in_{k}", d_in, by, "d EK-3")
        d_omega = let_derivative(b, f"omega_{k}", d_in + d_turning, by, "d EK-3")
        d_own = d.turn * qdd + d_in.cross(turning) + omega_in.cross(d_turning)
        d_own = let_derivative(b, f"alpha_own_{k}", d_own, by, "d EK-4")
        d_alpha = dC.apply(p.alpha) + C.apply(d_p.alpha) + d_own
        d_alpha = let_derivative(b, f"alpha_{k}", d_alpha, by, "d EK-4")
        d_swing = d_p.omega.cross(at.s) + p.omega.cross(d.s)
        d_carried = d_p.a + d_p.alpha.cross(at.gamma) + p.alpha.cross(d.gamma)
        d_carried = d_carried + d_p.omega.cross(p.omega.cross(at.s)) + p.omega.cross(d_swing)
        d_carried = let_derivative(b, f"a_carried_{k}", d_carried, by, "d EK-5")
        d_a = dC.apply(carried) + C.apply(d_carried) + d_own.cross(at.r) + own.cross(d.r)
        d_swing = d_omega.cross(at.r) + here.omega.cross(d.r)
        d_a = d_a + d_omega.cross(here.omega.cross(at.r)) + here.omega.cross(d_swing)
        d_a = d_a + d_in.cross(at.slide * (qd + qd)) + d.slide * qdd
        d_a = d_a + omega_in.cross(d_sliding + d_sliding)
        return Motion(d_omega, d_alpha, let_derivative(b, f"a_{k}", d_a, by, "d EK-5"))


def d_load_step(system: System[S], k: int, d: Geometry[S], dR0: Matrix[S] | None) -> Spatial[S]:
    """The derivative of EK-6: [n_e; f_e] of all loads on body k."""
    result, at, R0 = zero_spatial(system.b.algebra), system.geometry[k], system.rotations[k]
    for arm, d_arm, wrench in zip(at.arms, d.arms, system.loads[k], strict=True):
        force = R0.apply_transposed(wrench.force)
        result = result + Spatial(d_arm.cross(force), zero_vector(system.b.algebra))
        if dR0 is not None:
            d_force = dR0.apply_transposed(wrench.force)
            moment = dR0.apply_transposed(wrench.moment) + arm.cross(d_force)
            result = result + Spatial(moment, d_force)
    return result


def d_force_step(
    system: System[S],
    joint: Joint[S],
    d: Geometry[S],
    d_motion: Motion[S],
    d_load: Spatial[S],
    x: Variable[S],
) -> Spatial[S]:
    """The derivative of EK-7"""
    b, k, by = system.b, joint.number, x.name
    at, here = system.geometry[k], system.motions[k]
    with b.step("derivatives of forces", joint.name):
        n_e = let_derivative(b, f"n_e_{k}", d_load.angular, by, "d EK-6")
        f_e = let_derivative(b, f"f_e_{k}", d_load.linear, by, "d EK-6")
        H = at.inertia.apply(here.omega)
        d_H = d.inertia.apply(here.omega) + at.inertia.apply(d_motion.omega)
        d_H = let_derivative(b, f"H_{k}", d_H, by, "d EK-7")
        d_spin = d.inertia.apply(here.alpha) + at.inertia.apply(d_motion.alpha)
        d_spin = d_spin + d_motion.omega.cross(H) + here.omega.cross(d_H)
        d_push = d_motion.a * at.mass + here.a * d.mass
        value = Spatial(n_e - d_spin, f_e - d_push)
        return let_spatial_derivative(b, f"F1_{k}", EFFORT, value, by, "d EK-7")


# -- sweeps over the tree ----------------------------------------------------------------------


def d_system_at(
    system: System[S], xs: Sequence[Variable[S]], drives: Sequence[S], rotors: Sequence[S]
) -> list[Slopes[S]]:
    """The derivatives of EK-1 to EK-7, of the terms `drives` of the joints and of their `rotors`,
    with respect to every variable."""
    rows = system.b.algebra.derivatives([x.symbol for x in xs]).of
    gravity = _columns(map(rows, system.tree.gravity), len(xs))
    d_drives, d_rotors = (_columns(map(rows, terms), len(xs)) for terms in (drives, rotors))
    zero = system.b.algebra.zero
    result: list[Slopes[S]] = []
    for place, (x, geometry) in enumerate(zip(xs, d_geometry_sweep(system, xs, rows), strict=True)):
        g = Vector(*(gravity[place].get(axis, zero) for axis in (1, 2, 3)))
        rotations = d_rotation_sweep(system, geometry, x)
        partial = d_partial_sweep(system, geometry, x)
        forces = d_force_sweep(system, geometry, rotations, -g, x)
        result.append(Slopes(x, geometry, partial, forces, d_drives[place], d_rotors[place]))
    return result


def _columns(rows: Iterable[Mapping[int, S]], width: int) -> list[dict[int, S]]:
    """For each of `width` variables the derivatives that are not 0, by number of the row from 1."""
    numbered = list(enumerate(rows, start=1))
    return [{k: row[place] for k, row in numbered if place in row} for place in range(width)]


def d_geometry_sweep(
    system: System[S], xs: Sequence[Variable[S]], rows: Rows[S]
) -> list[dict[int, Geometry[S]]]:
    """The derivatives of EK-1 for all joints that depend on it, for every variable."""
    result: list[dict[int, Geometry[S]]] = [{} for _ in xs]
    for joint in system.joints:
        at = system.geometry[joint.number]
        table = [rows(scalar) for scalar in at.scalars]
        for place in sorted(set().union(*table)):
            values = [row.get(place, system.b.algebra.zero) for row in table]
            d = d_geometry_step(joint, at, values, xs[place].name, system.b)
            result[place][joint.number] = d
    return result


def d_rotation_sweep(
    system: System[S], geometry: Mapping[int, Geometry[S]], x: Variable[S]
) -> dict[int, Matrix[S]]:
    """The derivative of R0 in EK-6, where there is one."""
    b = system.b
    rotations: dict[int, Matrix[S]] = {}
    for k in system.tree.towards(system.loads):
        joint, terms = system.tree.joint(k), list[Matrix[S]]()
        if k in geometry and not all_zero(geometry[k].C.entries, b.algebra):
            terms.append(system.rotations[joint.parent] @ geometry[k].C)
        if joint.parent in rotations:
            terms.append(rotations[joint.parent] @ system.geometry[k].C)
        if terms:
            value = terms[0] if len(terms) == 1 else terms[0] + terms[1]
            with b.step("derivatives of rotations", joint.name):
                rotations[k] = let_derivative(b, f"R0_{k}", value, x.name, "d EK-6")
    return rotations


def d_partial_sweep(
    system: System[S], geometry: Mapping[int, Geometry[S]], x: Variable[S]
) -> dict[tuple[int, int], Spatial[S]]:
    """dEK-2 for all bodies."""
    partial: dict[tuple[int, int], Spatial[S]] = {}
    for joint in system.joints:
        partial.update(d_partial_step(system, joint, geometry.get(joint.number), partial, x))
    return partial


def d_force_sweep(
    system: System[S],
    geometry: Mapping[int, Geometry[S]],
    rotations: Mapping[int, Matrix[S]],
    base: Vector[S],
    x: Variable[S],
) -> dict[int, Spatial[S]]:
    """The derivatives of EK-3 to EK-7 for all bodies; `base` is that of the base's acceleration."""
    algebra = system.b.algebra
    nothing = zero_vector(algebra)
    still = Motion(nothing, nothing, nothing)
    motions: dict[int, Motion[S]] = {}
    if not all_zero(base, algebra):
        motions[BASE] = Motion(nothing, nothing, base)
    forces: dict[int, Spatial[S]] = {}
    for joint in system.joints:
        k = joint.number
        rated = x.kind == VELOCITY and x.joint == k
        if not (k in geometry or joint.parent in motions or rated):
            continue
        d = geometry.get(k) or zero_geometry(system.geometry[k], algebra)
        motions[k] = d_motion_step(system, joint, d, motions.get(joint.parent, still), x)
        d_load = zero_spatial(algebra)
        if k in system.loads:
            d_load = d_load_step(system, k, d, rotations.get(k))
        value = d_force_step(system, joint, d, motions[k], d_load, x)
        if not is_zero(value, algebra):
            forces[k] = value
    return forces


def zero_geometry(at: Geometry[S], algebra: Algebra[S]) -> Geometry[S]:
    """The derivatives of a joint and body that do not depend on the variable."""
    return at.mapped(lambda _: algebra.zero)


def sum_of(terms: Sequence[Spatial[S]]) -> Spatial[S]:
    """Sum of at least one 6-vector."""
    result = terms[0]
    for term in terms[1:]:
        result = result + term
    return result
