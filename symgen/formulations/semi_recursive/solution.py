"""Forward and hybrid dynamics, and their derivatives: M qdd = Q is formed, factorised and solved.

Direct differentiation makes of it M qdd' + C qd' + (M_z qdd + K) q' = Q_rho - M_rho qdd + tau':
(14a) without constraints.  The same factors serve every parameter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import inner
from symgen.formulations.accelerations import (
    Solution,
    response,
    solution_of,
    write_pivots_of,
    write_responses,
    write_solution,
)
from symgen.formulations.joint_terms import drives, reflected_inertia, with_drive_derivatives
from symgen.formulations.semi_recursive.functions import (
    Equations,
    equations_of,
    slopes_by_parameters,
    slopes_by_state,
    torques,
)
from symgen.formulations.semi_recursive.reference_points import ReferencePoint
from symgen.formulations.shared import all_joints, free_joints, seed_columns, square, write_jacobian
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "SR-28": "unbalance_i = (M_rho qdd - Q_rho)_i + sum_k (M_z qdd + K)_ik q_k' + C_ik qd_k' - "
    "tau_i' -- Lopez Varela 2023 (14a)",
}


@dataclass(frozen=True)
class Solved(Generic[S]):
    """Equations of motion with their solution; `drives` are the joint terms at what is given."""

    equations: Equations[S]
    drives: Sequence[S]
    solution: Solution[S]

    def slopes(self, state: State[S]) -> tuple[list[list[S]], list[list[S]]]:
        """d tau/dq and d tau/dqd of the inverse dynamics at the solution, with joint terms."""
        system = self.equations.system
        by_q, by_qd = slopes_by_state(self.equations).at(self.solution.qdd)
        given = (by_q, by_qd, square(system.tree, {}))
        by_q, by_qd, _ = with_drive_derivatives(system.tree, system.b, state, given)
        return by_q, by_qd

    def by_parameters(self) -> dict[str, dict[int, S]]:
        """d tau/d rho of the inverse dynamics at the solution, by parameter and joint."""
        solution = self.solution
        return slopes_by_parameters(self.equations, self.drives, solution.qdd, solution.free)


def forward_dynamics(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """qdd (n,)"""
    solved = solve(point, tree, b, state, all_joints(tree))
    write_solution(tree, b, solved.solution, "qdd")


def hybrid_dynamics(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """y (n,): torques of the prescribed joints, accelerations of the free ones."""
    solved = solve(point, tree, b, state, free_joints(tree))
    write_solution(tree, b, solved.solution, "y")


def forward_dynamics_derivatives(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """qdd (n,) and its derivatives by q, qd and tau, (n, n) each."""
    solved = solve(point, tree, b, state, all_joints(tree))
    write_responses(tree, b, solved.solution, ("qdd", "tau"), solved.slopes(state))


def hybrid_dynamics_derivatives(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """y (n,) and its derivatives by q, qd and x, (n, n) each."""
    solved = solve(point, tree, b, state, free_joints(tree))
    write_responses(tree, b, solved.solution, ("y", "x"), solved.slopes(state))


def forward_dynamics_parameter_derivatives(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """dqdd_dparameters (n, n_parameters), at fixed q, qd and tau."""
    _write_by_parameters(solve(point, tree, b, state, all_joints(tree)), "qdd")


def hybrid_dynamics_parameter_derivatives(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """dy_dparameters (n, n_parameters), at fixed q, qd and x."""
    _write_by_parameters(solve(point, tree, b, state, free_joints(tree)), "y")


def forward_dynamics_sensitivities(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """qdd (n,) and dqdd (n, n_parameters), its total derivatives where q, qd and tau vary."""
    solved = solve(point, tree, b, state, all_joints(tree))
    by_q, by_qd = solved.slopes(state)
    seeds = seed_columns(b, ("dq", "dqd", "dtau"))
    columns: list[dict[int, S]] = []
    for (by, column), seed in zip(solved.by_parameters().items(), seeds, strict=True):
        dq, dqd, dtau = seed.values()
        unbalance: dict[int, S] = {}
        for joint in tree.joints:
            i = joint.number
            value = inner(by_q[i - 1], dq) + inner(by_qd[i - 1], dqd) - dtau[i - 1]
            with b.step("total derivatives", joint.name), b.variant(f"_d{by}"):
                unbalance[i] = b.let(f"unbalance_{i}", column[i] + value, "SR-28")
        columns.append(response(tree, solved.solution, b, unbalance, by))
    b.output("qdd", (tree.n,), solved.solution.qdd)
    write_jacobian(tree, b, "dqdd", columns)
    write_pivots_of(solved.solution, b)


def solve(
    point: ReferencePoint,
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
    free: Sequence[int],
) -> Solved[S]:
    """Accelerations of the joints in `free`, and torques of the others."""
    equations = equations_of(point, tree, b, state)
    given, mass = drives(tree, b, state), dict(equations.mass)
    rigid = torques(equations, state.qdd, "bias")
    bias = [torque + term for torque, term in zip(rigid, given, strict=True)]
    for joint in tree.joints:
        i = joint.number
        mass[i, i] = mass[i, i] + reflected_inertia(joint)
    return Solved(equations, given, solution_of(tree, b, state, bias, mass, free))


def _write_by_parameters(solved: Solved[S], result: str) -> None:
    system, solution = solved.equations.system, solved.solution
    columns = [
        response(system.tree, solution, system.b, column, by)
        for by, column in solved.by_parameters().items()
    ]
    write_jacobian(system.tree, system.b, f"d{result}_dparameters", columns)
    write_pivots_of(solution, system.b)
