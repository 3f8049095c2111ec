"""Derivatives of the explicit sums of `explicit.py`, term by term as the paper prints them.

Every entry of M_{,x} is a sum over bodies again: n^2 entries of n terms for each of n coordinates,
hence the cost of order n^4.  Terms with a factor that is structurally 0 are not written: P_r^k in
the axes of body k depends on the coordinates between r and k alone.

Of every term in (27) to (31) one factor is differentiated; r in q_r and in M_ri are two numbers.
"""

from __future__ import annotations

from collections.abc import Collection

from symgen.algebra.interface import S
from symgen.algebra.linear import total
from symgen.formulations.explicit_kane.explicit import Forces, JointPair, MassMatrix
from symgen.formulations.explicit_kane.kinematic_derivatives import (
    Slopes,
    d_momentum,
    is_zero,
    let_spatial_derivative,
    sum_of,
)
from symgen.formulations.explicit_kane.kinematics import EFFORT, Spatial, System, momentum
from symgen.formulations.shared import let_derivative

NOTES = {
    "dEK-8": "d IP_i_k = dI_k P_i_k + I_k dP_i_k and dM_ri = sum_k (dP_r_k . IP_i_k "
    "+ P_r_k . d IP_i_k) -- Anderson, Hsu 2002 (27), (28)",
    "dEK-9": "dK_r = sum_k (dP_r_k . F1_k + P_r_k . dF1_k) -- Anderson, Hsu 2002 (29)-(31)",
}


def d_mass_matrix(
    system: System[S], mass: MassMatrix[S], d: Slopes[S], pairs: Collection[JointPair]
) -> dict[JointPair, S]:
    """dEK-8 with respect to one variable; entries that are structurally 0 are left out."""
    b, by = system.b, d.x.name
    momenta = d_momenta(system, mass, d)
    entries: dict[JointPair, S] = {}
    for r, i in pairs:
        terms: list[S] = []
        for k in system.tree.carried_by(r):
            if (r, k) in d.partial:
                terms.append(d.partial[r, k].dot(mass.momenta[i, k]))
            if (i, k) in momenta:
                terms.append(system.partial[r, k].dot(momenta[i, k]))
        if terms:
            with b.step("derivatives of the mass matrix", system.tree.joint(r).name):
                value = let_derivative(b, f"M_{r}_{i}", total(terms, b.algebra), by, "dEK-8")
            if not b.algebra.is_zero(value):
                entries[r, i] = value
    return entries


def d_momenta(
    system: System[S], mass: MassMatrix[S], d: Slopes[S]
) -> dict[tuple[int, int], Spatial[S]]:
    """dEK-8: the derivatives of the IP_i_k that are not 0."""
    b = system.b
    found: dict[tuple[int, int], Spatial[S]] = {}
    for i, k in mass.momenta:
        terms: list[Spatial[S]] = []
        if k in d.geometry:
            terms.append(d_momentum(d.geometry[k], system.partial[i, k]))
        if (i, k) in d.partial:
            terms.append(momentum(system.geometry[k], d.partial[i, k]))
        if terms:
            with b.step("derivatives of momenta", system.tree.joint(k).name):
                name = f"IP_{i}_{k}"
                value = let_spatial_derivative(b, name, EFFORT, sum_of(terms), d.x.name, "dEK-8")
            if not is_zero(value, b.algebra):
                found[i, k] = value
    return found


def d_forces(system: System[S], sums: Forces[S], d: Slopes[S]) -> dict[int, S]:
    """dEK-9 with respect to one variable; entries that are structurally 0 are left out."""
    b = system.b
    entries: dict[int, S] = {}
    for joint in system.joints:
        r, terms = joint.number, list[S]()
        for k in system.tree.carried_by(r):
            if (r, k) in d.partial:
                terms.append(d.partial[r, k].dot(sums.efforts[k]))
            if k in d.forces:
                terms.append(system.partial[r, k].dot(d.forces[k]))
        if terms:
            with b.step("derivatives of generalized forces", joint.name):
                value = total(terms, b.algebra)
                entries[r] = let_derivative(b, f"K_{r}", value, d.x.name, "dEK-9")
    return entries
