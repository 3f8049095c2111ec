"""Second derivatives of what forces of the model add: of multipliers . Q.

Its gradient, by adjoints of the statements that Q takes, is differentiated along every coordinate.
In the tangent space the order of the two matters, but for coordinates of one joint alone: there
half the sum of both is the Hessian along the exponential, which `integrate` follows.
"""

from __future__ import annotations

from collections.abc import Sequence

from symgen.algebra.interface import S
from symgen.formulations.state import State
from symgen.kinematics.tree import KinematicTree
from symgen.program.adjoints import pull_back
from symgen.program.builder import ProgramBuilder
from symgen.program.differentiation import differentiate

Rows = list[list[S]]


def curvatures(
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
    forces: Sequence[S],
    start: int,
) -> dict[str, Rows[S]]:
    """The blocks of the Hessian that can differ from 0, (n, n) each, by the name of the result.

    `forces` are Q by coordinate, which the steps from `start` on write.
    """
    inputs, q = [b.declared("q"), b.declared("qd")], state.q
    by_entries, by_qd = pull_back(b, forces, state.multipliers, inputs, start)
    gradient = [*tree.in_tangent_space(q, by_entries), *by_qd]
    derivatives = differentiate(b, inputs, range(start, b.length))
    n, nq, zero = len(by_qd), len(q), b.algebra.zero
    slopes = [derivatives.of(entry) for entry in gradient]
    rows = [[slope.get(k, zero) for k in range(nq + n)] for slope in slopes]
    q_q = [tree.in_tangent_space(q, row[:nq]) for row in rows[:n]]
    return {
        "hessian_q_q": _averaged(tree, _symmetric(q_q), q_q),
        "hessian_q_qd": [row[nq:] for row in rows[:n]],
        "hessian_qd_qd": _symmetric([row[nq:] for row in rows[n:]]),
    }


def _symmetric(matrix: Rows[S]) -> Rows[S]:
    """The upper half, mirrored: of two entries that are equal one need not be computed."""
    places = range(len(matrix))
    return [[matrix[min(i, k)][max(i, k)] for k in places] for i in places]


def _averaged(tree: KinematicTree[S], found: Rows[S], matrix: Rows[S]) -> Rows[S]:
    """`found`, with half the sum of both orders in `matrix` where one joint has both velocities."""
    half = tree.algebra.constant(0.5)
    for manifold in tree.manifolds:
        places = tree.velocities(manifold)
        for i in places:
            for k in places:
                if i != k:
                    found[i][k] = (matrix[i][k] + matrix[k][i]) * half
    return found
