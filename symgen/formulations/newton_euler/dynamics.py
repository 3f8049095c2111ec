"""Joint torques and what follows from them, by the recursion of `recursion.py`.

Mass matrix: column k is the torque of qdd = e_k alone, at qd = 0 without gravity (Walker, Orin
1982, method 1).
"""

from __future__ import annotations

from dataclasses import replace

from symgen.algebra.interface import S
from symgen.algebra.linear import zero_vector
from symgen.formulations.interface import State
from symgen.formulations.joint_terms import reflected_inertia, with_joint_terms
from symgen.formulations.newton_euler.recursion import frames_sweep, torques
from symgen.formulations.shared import symbolic_loads, wrenches
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder
from symgen.program.differentiation import differentiate, write_jacobians

NOTES = {
    "NE-20": "C_ik = 1/2 d c_i / d qd_k, for the velocity torques c are quadratic in qd",
}


def torque_function(
    result: str, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """The torques of `state`; at qdd = 0 they are the bias forces."""
    frames = frames_sweep(tree, b, state.q)
    rigid = torques(tree, frames, b, state, -tree.gravity)
    b.output(result, (tree.n,), with_joint_terms(tree, b, state, rigid))


def gravity_forces(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """The torques of gravity alone: those of the rigid bodies at rest."""
    frames = frames_sweep(tree, b, state.q)
    b.output("gravity_forces", (tree.n,), torques(tree, frames, b, state, -tree.gravity))


def mass_matrix(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """Column by column; the part above the diagonal is computed, the part below copied."""
    algebra, n = b.algebra, tree.n
    frames = frames_sweep(tree, b, state.q)
    entries = [[algebra.zero] * n for _ in range(n)]
    for k in range(n):
        unit = tuple(algebra.one if i == k else algebra.zero for i in range(n))
        column = State(state.q, (algebra.zero,) * n, unit, state.loads)
        with b.variant(f"_column_{k + 1}"):
            tau = torques(tree, frames, b, column, zero_vector(algebra))
        for i in range(k + 1):
            entries[i][k] = entries[k][i] = tau[i]
    for i, joint in enumerate(tree.joints):
        entries[i][i] = entries[i][i] + reflected_inertia(joint)
    b.output("mass_matrix", (n, n), [entry for row in entries for entry in row])


def coriolis_matrix(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """NE-20"""
    algebra, n = b.algebra, tree.n
    frames = frames_sweep(tree, b, state.q)
    tau = torques(tree, frames, b, state, zero_vector(algebra))
    derivatives = differentiate(b, [b.declared("qd")])
    rows = [derivatives.of(torque) for torque in tau]
    half = algebra.constant(0.5)
    with b.step("coriolis"):
        entries = [
            b.let(f"C_{i}_{k}", row[k - 1] * half, "NE-20") if k - 1 in row else algebra.zero
            for i, row in enumerate(rows, start=1)
            for k in range(1, n + 1)
        ]
    b.output("coriolis_matrix", (n, n), entries)


def load_derivatives(tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]) -> None:
    """tau is linear in the loads: its Jacobian with respect to them, at rest without gravity."""
    loads = symbolic_loads(tree, b)
    frames = frames_sweep(tree, b, state.q)
    loaded = replace(state, loads=wrenches(loads.symbols))
    tau = torques(tree, frames, b, loaded, zero_vector(b.algebra))
    write_jacobians(b, "tau", tau, [loads])
