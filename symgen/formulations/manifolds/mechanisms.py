"""Constraints of trees with joints on manifolds: the rows of the chain, in the tangent space.

At e = 0 the columns of the chain are those of the joint, W(0) = 1, so that J and the rates J w are
the chain's, and second rates are the chain's at e'' = w' - N.  With J instead of derivatives
by accelerations these turn as those of any scalar (MF-4).  The torques p = J^T x are given along
the joint's own columns, which turn with it: as of inverse dynamics

    dp/de_k = (that of the chain) - D_k^T p,

and so the derivative is symmetric no more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from symgen.algebra.interface import S
from symgen.formulations.manifolds.chain import Chain
from symgen.formulations.manifolds.tangent import in_tangent_space, rows_of
from symgen.formulations.manifolds.torques import of_accelerations, unchanged
from symgen.formulations.shared import flat
from symgen.program.builder import Results

UNCHANGED = (
    "constraints", "constraint_jacobian", "loop_wrenches", "constraint_rates", "constraint_torques",
)  # fmt: skip
"""The functions that are those of the chain."""

OF_ACCELERATIONS = ("constraint_bias", "constraint_accelerations")
"""Functions of the chain at its accelerations."""

JACOBIAN = "constraint_jacobian"


def rate_derivatives(chain: Chain[S]) -> Results[S]:
    """Write MF-4 of rates or second rates."""
    results = chain.call(chain.function, chain.accelerations)
    with chain.b.variant("_rows"):
        J = chain.call(JACOBIAN, chain.state.qdd)[JACOBIAN]
    value, *slopes = results
    matrices = [rows_of(x, chain.n) for x in (*map(results.__getitem__, slopes), J)]
    for row in zip(*matrices, strict=True):
        in_tangent_space(chain.joints, row, chain.accelerations, {})
    changed = [results[value], *map(flat, matrices[:-1])]
    names = zip(results, changed, strict=True)
    return chain.finish({name: chain.named(name, entries, "MF-4") for name, entries in names})


def torque_derivatives(chain: Chain[S]) -> Results[S]:
    """Write MF-4 of J^T x."""
    (value, torques), (slope, entries) = chain.call(chain.function, chain.state.qdd).items()
    by_q = rows_of(entries, chain.n)
    for space in chain.joints:
        for k, place in enumerate(space.at):
            turned = space.transposed(space.D[k], space.of(torques))
            for i, x in zip(space.at, turned, strict=True):
                by_q[i][place] = by_q[i][place] - x
    results = {value: torques, slope: flat(by_q)}
    return chain.finish({name: chain.named(name, x, "MF-4") for name, x in results.items()})


FUNCTIONS: Mapping[str, Callable[[Chain[Any]], Results[Any]]] = {
    **dict.fromkeys(UNCHANGED, unchanged),
    **dict.fromkeys(OF_ACCELERATIONS, of_accelerations),
    **dict.fromkeys(
        ("constraint_rate_derivatives", "constraint_acceleration_derivatives"), rate_derivatives
    ),
    "constraint_torque_derivatives": torque_derivatives,
}
