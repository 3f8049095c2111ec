"""The Coriolis matrix by composite rigid bodies (Echeandia, Wensing 2021).

It is the one of the Christoffel symbols of M.  Velocity torques are C qd and quadratic in qd, so
that it is half of their derivative by qd: what `derivatives` finds before there are accelerations.
Gravity, loads, drives, bearings and springs have no part in it.

Notation beyond that of `derivatives` (joint j stands on the path to joint i, or is i itself)

==================  ================  ==========================================================
paper               code              meaning
==================  ================  ==========================================================
F_1, F_2, F_3       t2, t1, t4        t_2, t_1 and t_4 of joint i
C_ji, C_ij          C_j_i, C_i_j      entries of the Coriolis matrix
==================  ================  ==========================================================
"""

from __future__ import annotations

from symgen.algebra.interface import S
from symgen.algebra.spatial import Spatial
from symgen.formulations.composite.derivatives import Rates, body_sweep, rates_step
from symgen.formulations.composite.frames import JointAxis
from symgen.formulations.shared import square, write_matrix
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "CO-43": "C_ji = S_j . t_2, C_ij = t_4 . s_j + t_1 . Psi'_j: half of d tau/d qd "
    "-- Echeandia, Wensing 2021",
}


def coriolis_matrix(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """(n, n), both triangles; C_ii is 0 where joint i carries no other: M_ii is a constant."""
    bodies = body_sweep(tree, b, state)
    places, velocities = bodies.places, bodies.velocities
    carriers = {joint.parent for joint in tree.joints}
    entries: dict[tuple[int, int], S] = {}
    for i in reversed(places):
        at, path = places[i], tree.path(i)
        rates = rates_step(at, velocities[i].psi, bodies.composites[i], b)
        for j in path if i in carriers else path[:-1]:
            pair = coriolis_pair_step(places[j], velocities[j].psi, at, rates, b)
            entries[j, i], entries[i, j] = pair
    write_matrix(b, "coriolis_matrix", square(tree, entries), tree.n)


def coriolis_pair_step(
    at_j: JointAxis[S], psi_j: Spatial[S], at_i: JointAxis[S], rates: Rates[S], b: ProgramBuilder[S]
) -> tuple[S, S]:
    """CO-43: C_ji and C_ij."""
    j, i = at_j.label, at_i.label
    with b.step("coriolis matrix", at_i.name):
        by_qd_i = b.let(f"C_{j}_{i}", rates.felt_by_carrier(at_j.axis), "CO-43")
        if i == j:
            return by_qd_i, by_qd_i
        felt = rates.felt_of_carrier(at_j.axis, psi_j)
        return by_qd_i, b.let(f"C_{i}_{j}", felt, "CO-43")
