"""Derivatives of the carried sums of `partially_recursive.py` (Anderson, Hsu 2002, appendix A).

The paper keeps three sums apart, and so does the code; each is carried inward like the sum that it
is a part of.  Its products of shifts in (83) and (92) are carried inward as well: the last factor
of each is the only one that is differentiated.

Notation beyond that of `partially_recursive.py`

========================  ================  ====================================================
paper                     code              meaning
========================  ================  ====================================================
RI_2i^k                   by_inertia        6x1, what changes with I_1 of the bodies
RP_2i^k, RQ_2i^k          by_velocity       6x1, what changes with their P_i^k
RRP_2^k, RRQ_2^k          by_shift          6x1, what changes with the shifts between them
FP_2^k, FQ_2^k, FQ'_2^k   by_force          6x1, what changes with F_1 of the bodies
FRP_2^k, FRQ_2^k          by_shift          6x1, what changes with the shifts between them
========================  ================  ====================================================

As they are right: in print (78), (84), (86), (94) and (96) have wrong indices, and (72) to (75)
transposes in wrong places.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from symgen.algebra.interface import S
from symgen.algebra.linear import total
from symgen.formulations.explicit_kane.explicit import Forces, JointPair, MassMatrix
from symgen.formulations.explicit_kane.kinematic_derivatives import (
    Slopes,
    d_momentum,
    d_shifted_back,
    is_zero,
    sum_of,
)
from symgen.formulations.explicit_kane.kinematics import (
    EFFORT,
    Spatial,
    System,
    let_spatial,
    momentum,
    shifted_back,
)
from symgen.formulations.explicit_kane.partially_recursive import children
from symgen.formulations.shared import let_derivative

NOTES = {
    "dPK-2": "d R2_i_k in three parts, each sum_c S_c C_c (that of c) and its own: dI_k P_i_k, "
    "I_k dP_i_k, sum_c d(S_c C_c) R2_i_c -- Anderson, Hsu 2002 (80)-(83)",
    "dPK-3": "dM_ki = dP_k_k . R2_i_k + P_k_k . (the parts of d R2_i_k) "
    "-- Anderson, Hsu 2002 (75), (79), (85)",
    "dPK-4": "d F2_k in two parts, each sum_c S_c C_c (that of c) and its own: dF1_k, "
    "sum_c d(S_c C_c) F2_c -- Anderson, Hsu 2002 (90)-(92)",
    "dPK-5": "dK_k = dP_k_k . F2_k + P_k_k . (the parts of d F2_k) "
    "-- Anderson, Hsu 2002 (86), (89), (94), (96)",
}

Carried = dict[int, Spatial[S]]
"""Part of a sum by body; what is left out is structurally 0."""

Parts = tuple[Carried[S], Carried[S], Carried[S]]
"""The three parts of a column: by_inertia, by_velocity, by_shift."""


def d_mass_matrix(
    system: System[S], mass: MassMatrix[S], d: Slopes[S], pairs: Collection[JointPair]
) -> dict[JointPair, S]:
    """dPK-2, dPK-3 with respect to one variable; entries that are structurally 0 are left out."""
    parts = d_momenta(system, mass, d, {i for _, i in pairs})
    entries: dict[JointPair, S] = {}
    for k, i in pairs:
        terms = _projected(system, d, k, mass.momenta[i, k], parts[i])
        if terms:
            with system.b.step("derivatives of the mass matrix", system.tree.joint(k).name):
                value, by = total(terms, system.b.algebra), d.x.name
                value = let_derivative(system.b, f"M_{k}_{i}", value, by, "dPK-3")
            if not system.b.algebra.is_zero(value):
                entries[k, i] = value
    return entries


def d_momenta(
    system: System[S], mass: MassMatrix[S], d: Slopes[S], columns: Collection[int]
) -> dict[int, Parts[S]]:
    """dPK-2: the parts of the R2_i_k, for the i among `columns`."""
    parts: dict[int, Parts[S]] = {i: ({}, {}, {}) for i in sorted(columns)}
    for joint in reversed(system.joints):
        k = joint.number
        for i in (i for i in system.tree.path(k) if i in columns):
            inertia: list[Spatial[S]] = []
            velocity: list[Spatial[S]] = []
            if k in d.geometry:
                inertia.append(d_momentum(d.geometry[k], system.partial[i, k]))
            if (i, k) in d.partial:
                velocity.append(momentum(system.geometry[k], d.partial[i, k]))
            momenta = {c: mass.momenta[i, c] for c in children(system, k)}
            shifts = _shift_changes(system, d, momenta)
            by_inertia, by_velocity, by_shift = parts[i]
            _carry(system, d, k, f"RI_{i}", inertia, by_inertia, "dPK-2")
            _carry(system, d, k, f"RQ_{i}", velocity, by_velocity, "dPK-2")
            _carry(system, d, k, f"RRQ_{i}", shifts, by_shift, "dPK-2")
    return parts


def d_forces(system: System[S], sums: Forces[S], d: Slopes[S]) -> dict[int, S]:
    """dPK-4, dPK-5 with respect to one variable; entries that are structurally 0 are left out."""
    by_force: Carried[S] = {}
    by_shift: Carried[S] = {}
    entries: dict[int, S] = {}
    for joint in reversed(system.joints):
        k = joint.number
        own = [d.forces[k]] if k in d.forces else []
        efforts = {c: sums.efforts[c] for c in children(system, k)}
        _carry(system, d, k, "FQ", own, by_force, "dPK-4")
        _carry(system, d, k, "FRQ", _shift_changes(system, d, efforts), by_shift, "dPK-4")
        terms = _projected(system, d, k, sums.efforts[k], (by_force, by_shift))
        if terms:
            with system.b.step("derivatives of generalized forces", joint.name):
                value, by = total(terms, system.b.algebra), d.x.name
                entries[k] = let_derivative(system.b, f"K_{k}", value, by, "dPK-5")
    return entries


def _projected(
    system: System[S], d: Slopes[S], k: int, whole: Spatial[S], parts: Collection[Carried[S]]
) -> list[S]:
    """The terms of the derivative of P_k^k . whole, whose own derivative is in `parts`."""
    terms = [d.partial[k, k].dot(whole)] if (k, k) in d.partial else []
    own = system.geometry[k].own
    return terms + [own.dot(part[k]) for part in parts if k in part]


def _shift_changes(
    system: System[S], d: Slopes[S], beyond: Mapping[int, Spatial[S]]
) -> list[Spatial[S]]:
    """S^c_{,x} with its arrow times what is `beyond` the child c, for all of them."""
    return [
        d_shifted_back(system.geometry[c], d.geometry[c], whole)
        for c, whole in beyond.items()
        if c in d.geometry
    ]


def _carry(
    system: System[S],
    d: Slopes[S],
    k: int,
    name: str,
    own: list[Spatial[S]],
    known: Carried[S],
    note: str,
) -> None:
    """Add to `known` the part of body k: its `own` terms, and those of its children shifted."""
    terms = own + [
        shifted_back(system.geometry[c], known[c]) for c in children(system, k) if c in known
    ]
    if terms:
        joint = system.tree.joint(k).name
        with system.b.step("derivatives carried inward", joint), system.b.variant(f"_d{d.x.name}"):
            value = let_spatial(system.b, f"{name}_{k}", EFFORT, sum_of(terms), note)
        if not is_zero(value, system.b.algebra):
            known[k] = value
