"""Operation counts: what a program costs, before and after common subexpressions are shared.

"Before" is the expanded expression tree: every output written out in full, nothing shared.
"After" is the program: every node once.  Subtractions count as additions; a change of sign is free.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from symgen.algebra.graph import ADD, CONST, DIV, MUL, NEG, SUB, SYMBOL, Scalar, reachable

Count = tuple[int, int, int, int]


@dataclass(frozen=True)
class OperationCount:
    """Numbers of operations of each kind."""

    additions: int = 0
    multiplications: int = 0
    divisions: int = 0
    functions: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.additions + self.multiplications + self.divisions + self.functions

    def __add__(self, other: OperationCount) -> OperationCount:
        return OperationCount(
            self.additions + other.additions,
            self.multiplications + other.multiplications,
            self.divisions + other.divisions,
            self.functions + other.functions,
        )


def operations_after(outputs: Iterable[Scalar]) -> OperationCount:
    """Operations of the shared graph of `outputs`."""
    counts = [_own(node) for node in reachable(outputs)]
    return OperationCount(*(sum(column) for column in zip(*counts, strict=True)) if counts else ())


def operations_before(outputs: Iterable[Scalar]) -> OperationCount:
    """Operations of the fully expanded outputs; exact, however astronomically large."""
    wanted = list(outputs)
    sizes: dict[int, Count] = {}
    for node in reachable(wanted):
        size = _own(node)
        for arg in node.args:
            size = _sum(size, sizes[arg.index])
        sizes[node.index] = size
    total: Count = (0, 0, 0, 0)
    for node in wanted:
        total = _sum(total, sizes[node.index])
    return OperationCount(*total)


def _own(node: Scalar) -> Count:
    if node.op in (CONST, SYMBOL, NEG):
        return (0, 0, 0, 0)
    if node.op in (ADD, SUB):
        return (1, 0, 0, 0)
    if node.op == MUL:
        return (0, 1, 0, 0)
    return (0, 0, 1, 0) if node.op == DIV else (0, 0, 0, 1)


def _sum(x: Count, y: Count) -> Count:
    return (x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3])
