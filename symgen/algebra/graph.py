"""The graph as an algebra: hash-consed nodes with substitution and derivatives.

`Nodes` makes and simplifies scalars; `evaluation` and `differentiation` walk over them; `Graph` is
what recursions get, with the same interface (`symgen.algebra.interface.Algebra`) as SymPy scalars.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from symgen.algebra import evaluation
from symgen.algebra.differentiation import ForwardDerivatives, ReverseDerivatives, shared
from symgen.algebra.nodes import Nodes, Scalar, reachable


class Graph(Nodes):
    """Nodes as an `Algebra`; with `exact`, no number in them is rounded."""

    def __init__(self, exact: bool = False) -> None:
        super().__init__()
        self.is_exact = exact

    def replaced(self, scalars: Sequence[Scalar], values: Mapping[Scalar, Scalar]) -> list[Scalar]:
        """Replace symbols: see `symgen.algebra.evaluation.replaced`."""
        return evaluation.replaced(scalars, values)

    def derivatives(
        self, inputs: Sequence[Scalar], along: Sequence[Scalar] = ()
    ) -> ForwardDerivatives:
        """Forward derivatives with respect to symbols of this graph, or along one direction."""
        return ForwardDerivatives(inputs, along)

    def adjoints(self, inputs: Sequence[Scalar]) -> ReverseDerivatives:
        """Reverse derivatives with respect to symbols of this graph."""
        return ReverseDerivatives(inputs)

    def shared(self, values: Sequence[Scalar], named: Collection[Scalar]) -> list[list[Scalar]]:
        """Return common subexpressions of `values`: see `differentiation.shared`."""
        return shared(values, named)

    def size(self, scalars: Sequence[Scalar]) -> int:
        """Number of nodes that scalars consist of."""
        return len(reachable(scalars))
