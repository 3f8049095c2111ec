"""Operation counts of programs, before and after common subexpressions are shared.

"Before" is the expanded expression tree: every output written out in full, nothing shared.
"After" is the program: every node once.  Subtractions count as additions; a change of sign is free.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from symgen.algebra.nodes import ADD, CONST, DIV, MUL, NEG, SUB, SYMBOL, Scalar, reachable
from symgen.program.rolled import (
    AddDiagonal,
    EachJoint,
    EachPair,
    Factors,
    Inverse,
    Phase,
    Product,
    RolledProgram,
    SolveColumn,
    SolveSquare,
    Straight,
    TowardsBase,
)


@dataclass(frozen=True)
class OperationCount:
    """Numbers of operations of each kind."""

    additions: int = 0
    multiplications: int = 0
    divisions: int = 0
    functions: int = 0

    @property
    def total(self) -> int:
        """Number of operations of all kinds."""
        return self.additions + self.multiplications + self.divisions + self.functions

    def __add__(self, other: OperationCount) -> OperationCount:
        counts = vars(other)
        return OperationCount(**{kind: n + counts[kind] for kind, n in vars(self).items()})

    def __mul__(self, times: int) -> OperationCount:
        return OperationCount(**{kind: n * times for kind, n in vars(self).items()})


def operations_after(outputs: Iterable[Scalar]) -> OperationCount:
    """Operations of the shared graph of `outputs`."""
    return _by_kind(Counter(node.op for node in reachable(outputs)))


def rolled_operations(looped: RolledProgram[Scalar]) -> OperationCount:
    """Operations of all phases together, for every joint and pair.

    A straight line has fewer: it skips entries of single joints that are 0.
    """
    return sum((_in_phase(phase, looped) for phase in looped.phases), OperationCount())


def _in_phase(phase: Phase[Scalar], looped: RolledProgram[Scalar]) -> OperationCount:
    n, depths = looped.n, looped.depths
    pairs = sum(depths) - n
    if isinstance(phase, Straight):
        return operations_after(phase.program.results)
    if isinstance(phase, EachJoint):
        return operations_after(phase.program.results) * n
    if isinstance(phase, EachPair):
        beyond, before = (operations_after(x.program.results) for x in (phase.beyond, phase.before))
        return beyond * (pairs + n) + before * pairs
    if isinstance(phase, TowardsBase):
        return OperationCount(additions=len(phase.columns) * sum(depth > 1 for depth in depths))
    if isinstance(phase, AddDiagonal):
        return OperationCount(additions=n)
    if isinstance(phase, Product):
        return OperationCount(additions=2 * pairs, multiplications=2 * pairs + n)
    if isinstance(phase, Factors):
        updates = sum(depth * (depth - 1) // 2 for depth in depths)
        return OperationCount(updates, updates, pairs)
    solved = {SolveColumn: 1, SolveSquare: n, Inverse: n}.get(type(phase), 0)
    return OperationCount(2 * pairs, 2 * pairs, n) * solved


def operations_before(outputs: Iterable[Scalar]) -> OperationCount:
    """Operations of the fully expanded outputs, as an exact integer."""
    wanted = list(outputs)
    nodes = reachable(wanted)
    copies = dict.fromkeys((node.index for node in nodes), 0)  # occurrences in the expansion
    for node in wanted:
        copies[node.index] += 1
    counts: Counter[str] = Counter()
    for node in reversed(nodes):
        number = copies[node.index]
        counts[node.op] += number
        for arg in node.args:
            copies[arg.index] += number
    return _by_kind(counts)


def _by_kind(counts: Mapping[str, int]) -> OperationCount:
    """`counts` are numbers of nodes by operator."""
    arithmetic = (CONST, SYMBOL, NEG, ADD, SUB, MUL, DIV)
    return OperationCount(
        additions=counts.get(ADD, 0) + counts.get(SUB, 0),
        multiplications=counts.get(MUL, 0),
        divisions=counts.get(DIV, 0),
        functions=sum(number for op, number in counts.items() if op not in arithmetic),
    )
