"""Mass matrix and forces by sums that are carried inward (Anderson, Hsu 2002, section 4.1).

The bodies outboard of joint k contribute one momentum and one force at the centre of body k,
made of those of its children: each entry of M and K then costs the same, however many bodies there
are.  M is still formed, and its equations still solved by factorisation.

Notation, added to that of `kinematics.py`

======================  ================  ======================================================
paper                   code              meaning
======================  ================  ======================================================
R_1i^k                  R1_i_k            6x1, momentum of body k per unit of the velocity qd_i;
                                          its vectors are R1_i_k_n and R1_i_k_f, like those below
R_2i^k                  R2_i_k            6x1, that of all that joint k carries, at the centre of k
F_2^k                   F2_k              6x1, force of all that joint k carries
M_ki                    M_k_i             mass matrix of the bodies, for i on the path to k
K_k                     K_k               force on joint k
======================  ================  ======================================================

In print (49) and (51) have F_1^k+1 instead of F_2^k+1, and (49) has S^n instead of S^k+1.
"""

from __future__ import annotations

from collections.abc import Collection

from symgen.algebra.interface import S
from symgen.algebra.spatial import Spatial
from symgen.formulations.explicit_kane.explicit import JointPair
from symgen.formulations.explicit_kane.kinematics import System, momentum, shifted_back
from symgen.formulations.shared import FORCE, let_spatial, lettered

NOTES = {
    "PK-1": "R1_i_k = I_k P_i_k -- Anderson, Hsu 2002 (46)",
    "PK-2": "R2_i_k = R1_i_k + sum_c S_c C_c R2_i_c -- Anderson, Hsu 2002 (42), (47)",
    "PK-3": "M_ki = P_k_k . R2_i_k -- Anderson, Hsu 2002 (39), (44), (45)",
    "PK-4": "F2_k = F1_k + sum_c S_c C_c F2_c -- Anderson, Hsu 2002 (51)",
    "PK-5": "K_k = P_k_k . F2_k -- Anderson, Hsu 2002 (49), (50)",
    "d PK-2": "d R2_i_k = dI_k P_i_k + I_k dP_i_k + sum_c (d(S_c C_c) R2_i_c + S_c C_c d R2_i_c): "
    "the three sums of the paper in one -- Anderson, Hsu 2002 (79)-(83)",
    "d PK-3": "dM_ki = dP_k_k . R2_i_k + P_k_k . d R2_i_k -- Anderson, Hsu 2002 (75), (85)",
    "d PK-4": "d F2_k = dF1_k + sum_c (d(S_c C_c) F2_c + S_c C_c d F2_c): the two sums of the "
    "paper in one -- Anderson, Hsu 2002 (90)-(92)",
    "d PK-5": "dK_k = dP_k_k . F2_k + P_k_k . d F2_k -- Anderson, Hsu 2002 (86), (89), (94), (96)",
}


def mass_matrix(system: System[S], pairs: Collection[JointPair]) -> dict[JointPair, S]:
    """PK-1, PK-2, PK-3: the entries that are asked for."""
    carried = momenta(system, {i for _, i in pairs})
    entries: dict[JointPair, S] = {}
    for k, i in pairs:
        with system.b.step("mass matrix", system.tree.joint(k).name):
            value = system.geometry[k].axis.dot(carried[i, k])
            entries[k, i] = system.b.let(f"M_{k}_{i}", value, "PK-3")
    return entries


def momenta(system: System[S], columns: Collection[int]) -> dict[tuple[int, int], Spatial[S]]:
    """PK-1, PK-2: the R2_i_k for the i among `columns`."""
    carried: dict[tuple[int, int], Spatial[S]] = {}
    for joint in reversed(system.joints):
        k = joint.number
        with system.b.step("momenta", joint.name):
            for i in (i for i in system.tree.path(k) if i in columns):
                R1 = momentum(system.geometry[k], system.partial[i, k])
                R2 = let_spatial(system.b, lettered(f"R1_{i}_{k}", FORCE), R1, "PK-1")
                for c in children(system, k):
                    R2 = R2 + shifted_back(system.geometry[c], carried[i, c])
                carried[i, k] = let_spatial(system.b, lettered(f"R2_{i}_{k}", FORCE), R2, "PK-2")
    return carried


def forces(system: System[S]) -> dict[int, S]:
    """PK-4, PK-5: K_k of the bodies."""
    efforts: dict[int, Spatial[S]] = {}
    entries: dict[int, S] = {}
    for joint in reversed(system.joints):
        k = joint.number
        with system.b.step("generalized forces", joint.name):
            F2 = system.forces[k]
            for c in children(system, k):
                F2 = F2 + shifted_back(system.geometry[c], efforts[c])
            efforts[k] = let_spatial(system.b, lettered(f"F2_{k}", FORCE), F2, "PK-4")
            value = system.geometry[k].axis.dot(efforts[k])
            entries[k] = system.b.let(f"K_{k}", value, "PK-5")
    return entries


def children(system: System[S], k: int) -> list[int]:
    """Numbers of the joints that body k carries directly."""
    return [c for c in system.tree.carried_by(k) if system.tree.joint(c).parent == k]
