"""Bookkeeping that formulations share: no dynamics here, only how results are laid out."""

from __future__ import annotations

from collections.abc import Sequence

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Transform, Vector
from symgen.formulations.interface import Wrench
from symgen.kinematics.tree import KinematicTree
from symgen.program.builder import ProgramBuilder

WRENCH_COMPONENTS = ("fx", "fy", "fz", "nx", "ny", "nz")


def load_entry_names(tree: KinematicTree[S]) -> list[str]:
    """Names of the entries of the argument ``loads``, row by row."""
    return [f"{load.name}_{part}" for load in tree.loads for part in WRENCH_COMPONENTS]


def wrenches(entries: Sequence[S]) -> tuple[Wrench[S], ...]:
    """The entries of ``loads`` as wrenches."""
    return tuple(
        Wrench(Vector(*entries[i : i + 3]), Vector(*entries[i + 3 : i + 6]))
        for i in range(0, len(entries), 6)
    )


def load_symbols(
    tree: KinematicTree[S], b: ProgramBuilder[S]
) -> tuple[tuple[Wrench[S], ...], tuple[S, ...]]:
    """Loads as symbols to differentiate by; they are no argument of the function."""
    symbols = tuple(b.auxiliary(name) for name in load_entry_names(tree))
    return wrenches(symbols), symbols


def sparse_rows(rows: Sequence[dict[int, S]], width: int, algebra: Algebra[S]) -> list[S]:
    """Sparse rows as the entries of a dense matrix."""
    return [row.get(k, algebra.zero) for row in rows for k in range(width)]


def write_frames(
    tree: KinematicTree[S], b: ProgramBuilder[S], poses: Sequence[Transform[S]]
) -> None:
    """The output ``forward_kinematics``."""
    entries = [entry for pose in poses for entry in pose.homogeneous(b.algebra).entries]
    b.output("forward_kinematics", (len(tree.frames), 4, 4), entries)
