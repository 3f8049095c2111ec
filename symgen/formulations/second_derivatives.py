"""Second derivatives of the torques by any formulation: its first ones, differentiated once more.

Statement by statement, forwards, so that the cost grows with the cube of the number of joints;
`symgen.formulations.composite.hessian` has them in closed form.  Of what drives, bearings and
springs add, friction alone is not linear in the state.
"""

from __future__ import annotations

from symgen.algebra.interface import S
from symgen.algebra.linear import inner
from symgen.formulations.interface import Derivation
from symgen.formulations.joint_terms import friction_curvatures, with_diagonal, without_joint_terms
from symgen.formulations.shared import write_matrix
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder
from symgen.program.differentiation import differentiate


def by_differentiation(
    slopes: Derivation, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """``inverse_dynamics_hessian``: direct differentiation of multipliers . `slopes`, which writes
    ``inverse_dynamics_derivatives``."""
    slopes(without_joint_terms(tree), b, state)
    gradient: list[S] = []
    b.withdraw("tau")
    for by in ("q", "qd", "qdd"):
        entries = b.withdraw(f"dtau_d{by}").entries
        gradient += [inner(entries[k :: tree.n], state.multipliers) for k in range(tree.n)]
    derivatives = differentiate(b, [b.declared(name) for name in ("q", "qd", "qdd")])
    rows = [derivatives.of(entry) for entry in gradient]
    bent = friction_curvatures(tree, b, state)
    for name, row, column in (("q_q", 0, 0), ("q_qd", 0, 1), ("q_qdd", 0, 2), ("qd_qd", 1, 1)):
        places = range(column * tree.n, (column + 1) * tree.n)
        block = rows[row * tree.n : (row + 1) * tree.n]
        dense = [[entry.get(k, b.algebra.zero) for k in places] for entry in block]
        if name == "qd_qd":
            dense = with_diagonal(dense, bent)
        write_matrix(b, f"hessian_{name}", dense, tree.n)
