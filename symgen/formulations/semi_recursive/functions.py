"""Inverse dynamics and what belongs to it: M qdd - Q, and its derivatives M_z qdd + K, C, M.

=================  ================  ===========================================================
paper              code              meaning
=================  ================  ===========================================================
K                  K_i_k             -(Q_i)_z by q_k
C                  C_i_k             -(Q_i)_zdot by qd_k
M_z (x) qdd        Mz_qdd_i_k        (M_z qdd) of row i and coordinate q_k
=================  ================  ===========================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import total
from symgen.formulations.joint_terms import (
    drives,
    reflected_inertia,
    with_drive_derivatives,
    with_joint_terms,
    with_rotors,
)
from symgen.formulations.semi_recursive.bodies import (
    Accumulated,
    accumulated_masses,
    loads_on,
    with_forces,
)
from symgen.formulations.semi_recursive.by_coordinates import by_coordinate, by_velocity
from symgen.formulations.semi_recursive.by_parameters import by_parameters
from symgen.formulations.semi_recursive.kinematics import System, rates_sweep, system_at
from symgen.formulations.semi_recursive.reference_points import ReferencePoint
from symgen.formulations.semi_recursive.slopes import Slopes, d_accumulated, responses_sweep
from symgen.formulations.semi_recursive.spatial import MOTION, Spatial, let_spatial, zero_spatial
from symgen.formulations.shared import square, symbolic_parameters, write_jacobian, write_matrix
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder
from symgen.program.program import DERIVATIVE

NOTES = {
    "SR-22": "tau_i = sum_j M_ij qdd_j - Q_i -- Lopez Varela 2023 (8)",
    "SR-23": "(M_z qdd)_ik = sum_j (M_ij)_z qdd_j by z = q_k -- Lopez Varela 2023 (14c)",
    "SR-24": "K_ik = -(Q_i)_z by z = q_k -- Lopez Varela 2023 (25a)",
    "SR-25": "C_ik = -(Q_i)_zdot by zdot = qd_k -- Lopez Varela 2023 (31a)",
    "SR-26": "(M_rho qdd - Q_rho)_i = sum_j (M_ij)_rho qdd_j - (Q_i)_rho, less the right side of "
    "(14a) -- Lopez Varela 2023 (14d)",
    "SR-27": "d tau_j/d f = -([I 0] b_i_j + [0 I] b_i_j x (r_l - r_i)), d tau_j/d n = -[0 I] "
    "b_i_j for a load at r_l on body i: less (r_l)_z -- Lopez Varela 2023 (26), table 3",
}

Entries = Mapping[tuple[int, int], S]
"""Entries of a matrix by pair of joints; what is left out is 0."""


@dataclass(frozen=True)
class Equations(Generic[S]):
    """M qdd = Q of the rigid bodies at a state; `mass` has both triangles."""

    system: System[S]
    known: Accumulated[S]
    mass: Entries[S]

    def times(self, entries: Entries[S], qdd: Sequence[S], i: int) -> S:
        """Row i of a symmetric matrix times qdd; `entries` are those of j before or at i."""
        terms = [
            entries[max(i, j), min(i, j)] * qdd[j - 1]
            for j in self.system.geometry
            if (max(i, j), min(i, j)) in entries
        ]
        return total(terms, self.system.b.algebra)


def torque_function(
    result: str,
    point: ReferencePoint,
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
) -> None:
    """SR-22 with joint terms, (n,); at qdd = 0 they are the bias forces."""
    tau = torques(equations_of(point, tree, b, state), state.qdd)
    b.output(result, (tree.n,), with_joint_terms(tree, b, state, tau))


def gravity_forces(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """The torques of gravity alone: those of the rigid bodies at rest."""
    tau = torques(equations_of(point, tree, b, state), state.qdd)
    b.output("gravity_forces", (tree.n,), tau)


def mass_matrix(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """SR-18 with the rotors, (n, n)."""
    known = accumulated_masses(system_at(tree, b, state, point, moving=False))
    rows = square(tree, both_triangles(known.entries))
    write_matrix(b, "mass_matrix", with_rotors(tree, rows), tree.n)


def inverse_dynamics_derivatives(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """tau (n,) and its derivatives by q, qd and qdd: M_z qdd + K, C and M, (n, n) each."""
    equations = equations_of(point, tree, b, state)
    tau = torques(equations, state.qdd)
    b.output("tau", (tree.n,), with_joint_terms(tree, b, state, tau))
    by_q, by_qd = slopes_by_state(equations).at(state.qdd)
    given = (by_q, by_qd, square(tree, equations.mass))
    matrices = with_drive_derivatives(tree, b, state, given)
    for by, matrix in zip(("q", "qd", "qdd"), matrices, strict=True):
        write_matrix(b, f"dtau_d{by}", matrix, tree.n)


def inverse_dynamics_parameter_derivatives(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """M_rho qdd - Q_rho and what joint terms add, (n, n_parameters)."""
    equations = equations_of(point, tree, b, state)
    columns = slopes_by_parameters(equations, drives(tree, b, state), state.qdd)
    write_jacobian(tree, b, "dtau_dparameters", list(columns.values()))


def load_derivatives(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """SR-27: dtau_dloads, (n, n_loads, 6)"""
    system = system_at(tree, b, state, point, moving=False)
    none = zero_spatial(b.algebra)
    columns: list[dict[int, Spatial[S]]] = [{} for _ in tree.loads]
    for at in system.geometry.values():
        for load in loads_on(system, at):
            for j, column in at.R.items():
                moved = Spatial(column.linear + column.angular.cross(load.arm), column.angular)
                with b.step("load derivatives", at.joint.name):
                    moved = let_spatial(b, f"r_{load.number}_{j}", MOTION, -moved, "SR-27")
                columns[load.number - 1][j] = moved
    rows = [[column.get(joint.number, none) for column in columns] for joint in tree.joints]
    entries = [entry for row in rows for column in row for entry in column]
    b.output("dtau_dloads", (tree.n, len(tree.loads), 6), entries)


# -- equations and their derivatives -----------------------------------------------------------


def equations_of(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> Equations[S]:
    """M and Q of the rigid bodies."""
    system = system_at(tree, b, state, point)
    known = with_forces(system, accumulated_masses(system))
    return Equations(system, known, both_triangles(known.entries))


def both_triangles(entries: Entries[S]) -> dict[tuple[int, int], S]:
    """The lower triangle and its mirror image."""
    return {**entries, **{(j, i): entry for (i, j), entry in entries.items()}}


def torques(equations: Equations[S], qdd: Sequence[S], name: str = "tau") -> list[S]:
    """SR-22, without joint terms."""
    b, known, tau = equations.system.b, equations.known, list[S]()
    for joint in equations.system.joints:
        i = joint.number
        with b.step("torque", joint.name):
            value = equations.times(known.entries, qdd, i) - known.Q[i]
            tau.append(b.let(f"{name}_{i}", value, "SR-22"))
    return tau


@dataclass(frozen=True)
class StateSlopes(Generic[S]):
    """K and C, and M_z by coordinate: nothing of these depends on qdd."""

    equations: Equations[S]
    K: Entries[S]
    C: Entries[S]
    M_z: Mapping[int, Entries[S]]

    def at(self, qdd: Sequence[S]) -> tuple[list[list[S]], list[list[S]]]:
        """M_z qdd + K and C of the rigid bodies, (n, n) each."""
        system = self.equations.system
        b, by_q = system.b, dict(self.K)
        for k, entries in self.M_z.items():
            for joint in system.joints:
                i = joint.number
                with b.step("mass matrix derivatives times qdd", joint.name):
                    value = self.equations.times(entries, qdd, i)
                    value = b.let(f"Mz_qdd_{i}_{k}", value, "SR-23")
                by_q[i, k] = by_q.get((i, k), b.algebra.zero) + value
        return square(system.tree, by_q), square(system.tree, self.C)


def slopes_by_state(equations: Equations[S]) -> StateSlopes[S]:
    """SR-24, SR-25 and M_z"""
    system, known = equations.system, equations.known
    rates, responses = rates_sweep(system), responses_sweep(system, known)
    K, C, M_z = dict[tuple[int, int], S](), dict[tuple[int, int], S](), dict[int, Entries[S]]()
    for joint in system.joints:
        k = joint.number
        by_q = d_accumulated(system, known, responses, by_coordinate(system, known, rates, k))
        by_qd = d_accumulated(system, known, responses, by_velocity(system, known, k))
        M_z[k] = by_q.entries
        K.update(_negative(system, by_q, "K", k, "SR-24"))
        C.update(_negative(system, by_qd, "C", k, "SR-25"))
    return StateSlopes(equations, K, C, M_z)


def _negative(
    system: System[S], slopes: Slopes[S], name: str, k: int, note: str
) -> dict[tuple[int, int], S]:
    """Column k of K or C."""
    entries: dict[tuple[int, int], S] = {}
    for i, value in slopes.Q.items():
        with system.b.step("stiffness and damping", system.geometry[i].joint.name):
            entries[i, k] = system.b.let(f"{name}_{i}_{k}", -value, note)
    return entries


def slopes_by_parameters(
    equations: Equations[S], drives: Sequence[S], qdd: Sequence[S], free: Sequence[int] = ()
) -> dict[str, dict[int, S]]:
    """SR-26 with joint terms: d tau/d rho by parameter and joint, at the accelerations `qdd`.

    `drives` are the joint terms, for the joints in `free` without the rotors.
    """
    system, known = equations.system, equations.known
    tree, b, responses = system.tree, system.b, responses_sweep(system, known)
    row = b.algebra.derivatives(symbolic_parameters(tree).symbols).of
    d_drives = [row(drive) for drive in drives]
    d_rotors = {i: row(reflected_inertia(tree.joint(i))) for i in free}
    columns: dict[str, dict[int, S]] = {}
    for place, x in enumerate(by_parameters(system, known)):
        slopes, column = d_accumulated(system, known, responses, x), dict[int, S]()
        for joint, d_drive, acceleration in zip(tree.joints, d_drives, qdd, strict=True):
            i, term = joint.number, d_drive.get(place, b.algebra.zero)
            if place in d_rotors.get(i, {}):
                term = term + d_rotors[i][place] * acceleration
            with b.step("derivatives of joint terms", joint.name), b.variant(f"_d{x.by}"):
                name = f"terms_{i}" if i in free else f"d_drive_{i}"  # with rotors, or as they are
                term = b.let(name, term, f"{DERIVATIVE}JT-1")
            with b.step("torque derivatives", joint.name), b.variant(f"_d{x.by}"):
                value = equations.times(slopes.entries, qdd, i) - slopes.Q[i]
                column[i] = b.let(f"rigid_{i}", value, "SR-26") + term
        columns[x.by] = column
    return columns
