"""Mass matrix and forces by their explicit sums over all bodies (Anderson, Hsu 2002, section 3.1).

The traditional route, which the paper takes as the measure of the recursive ones: every entry of M
and K is a sum over bodies, and no sum is made of another.  A body k enters M_ri where the
joints r and i are both on the path to it; for all others its P_r^k is 0 and nothing is written.

Notation, added to that of `kinematics.py`

======================  ================  ======================================================
paper                   code              meaning
======================  ================  ======================================================
I_1^k P_i^k             IP_i_k            6x1, momentum of body k per unit of the velocity qd_i;
                                          its vectors are IP_i_k_n and IP_i_k_f
M_ri                    M_r_i             mass matrix of the bodies, for i on the path to r
K_r                     K_r               force of loads, velocities, gravity and prescribed
                                          accelerations on joint r
======================  ================  ======================================================
"""

from __future__ import annotations

from collections.abc import Collection

from symgen.algebra.interface import S
from symgen.algebra.linear import total
from symgen.algebra.spatial import Spatial
from symgen.formulations.explicit_kane.kinematics import System, momentum
from symgen.formulations.shared import FORCE, let_spatial, lettered

NOTES = {
    "EK-8": "IP_i_k = I_k P_i_k and M_ri = sum_k P_r_k . IP_i_k, k outboard of r and i "
    "-- Anderson, Hsu 2002 (18), (21), (25)",
    "EK-9": "K_r = sum_k P_r_k . F1_k, k outboard of r -- Anderson, Hsu 2002 (19), (26)",
    "d EK-8": "d IP_i_k = dI_k P_i_k + I_k dP_i_k and dM_ri = sum_k (dP_r_k . IP_i_k "
    "+ P_r_k . d IP_i_k) -- Anderson, Hsu 2002 (27), (28)",
    "d EK-9": "dK_r = sum_k (dP_r_k . F1_k + P_r_k . dF1_k) -- Anderson, Hsu 2002 (29)-(31)",
}

JointPair = tuple[int, int]
"""Two joints, the second on the path to the first."""


def mass_matrix(system: System[S], pairs: Collection[JointPair]) -> dict[JointPair, S]:
    """EK-8: the entries that are asked for."""
    b = system.b
    sums = momenta(system, {i for _, i in pairs})
    entries: dict[JointPair, S] = {}
    for r, i in pairs:
        beyond = system.tree.carried_by(r)
        terms = [system.partial[r, k].dot(sums[i, k]) for k in beyond]
        with b.step("mass matrix", system.tree.joint(r).name):
            entries[r, i] = b.let(f"M_{r}_{i}", total(terms, b.algebra), "EK-8")
    return entries


def momenta(system: System[S], columns: Collection[int]) -> dict[tuple[int, int], Spatial[S]]:
    """EK-8: the IP_i_k for the i among `columns`."""
    b = system.b
    sums: dict[tuple[int, int], Spatial[S]] = {}
    for (i, k), velocity in system.partial.items():
        if i in columns:
            with b.step("momenta", system.tree.joint(k).name):
                value = momentum(system.geometry[k], velocity)
                sums[i, k] = let_spatial(b, lettered(f"IP_{i}_{k}", FORCE), value, "EK-8")
    return sums


def forces(system: System[S]) -> dict[int, S]:
    """EK-9: K_r of the bodies."""
    entries: dict[int, S] = {}
    for joint in system.joints:
        r = joint.number
        terms = [system.partial[r, k].dot(system.forces[k]) for k in system.tree.carried_by(r)]
        with system.b.step("generalized forces", joint.name):
            entries[r] = system.b.let(f"K_{r}", total(terms, system.b.algebra), "EK-9")
    return entries
