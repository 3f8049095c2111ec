"""Symmetric inertias, and how they are carried over a joint.

The paper stacks an angular 3-vector on a linear one (velocities, accelerations, partial velocities)
or a moment on a force, and works with 6x6 matrices of four 3x3 blocks.  Here a stack is a `Spatial`
and a symmetric 6x6 matrix an `Inertia` of three blocks, so that what is 0 in a block costs nothing
and what is symmetric is computed once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Vector, all_zero, skew
from symgen.algebra.spatial import Spatial
from symgen.algebra.turns import UPPER, mirrored
from symgen.formulations.shared import let_symmetric
from symgen.program.builder import ProgramBuilder


@dataclass(frozen=True)
class Inertia(Generic[S]):
    """A symmetric 6x6 matrix [[A, B], [B^T, D]]: accelerations on moment and force."""

    A: Matrix[S]
    B: Matrix[S]
    D: Matrix[S]

    def __add__(self, other: Inertia[S]) -> Inertia[S]:
        return Inertia(self.A + other.A, self.B + other.B, self.D + other.D)

    def apply(self, x: Spatial[S]) -> Spatial[S]:
        """Product with a stack."""
        return Spatial(
            self.A.apply(x.angular) + self.B.apply(x.linear),
            self.B.apply_transposed(x.angular) + self.D.apply(x.linear),
        )


# -- levers ------------------------------------------------------------------------------------


def moved(inertia: Inertia[S], r: Vector[S], algebra: Algebra[S]) -> Inertia[S]:
    """S I S^T of the shift matrix S with the lever r: referred to the point that r starts from."""
    if all_zero(r, algebra):
        return inertia
    A, B, D = inertia.A, inertia.B, inertia.D
    B_moved = B + skew(r, algebra) @ D
    rows = [Vector(*row) for row in B.rows]
    moved_rows = [Vector(*row) for row in B_moved.rows]
    before = [tuple(r.cross(row)) for row in rows]
    after = [tuple(r.cross(row)) for row in moved_rows]
    both = [tuple(r.cross(x + y)) for x, y in zip(rows, moved_rows, strict=True)]
    entries = {
        (i, k): A[i, k] + (both[i][i] if i == k else before[k][i] + after[i][k]) for i, k in UPPER
    }
    return Inertia(mirrored(entries), B_moved, D)


# -- names -------------------------------------------------------------------------------------


def let_inertia(b: ProgramBuilder[S], name: str, value: Inertia[S], note: str) -> Inertia[S]:
    """Name the three blocks: ``<name>_nn``, ``<name>_nf``, ``<name>_ff``."""
    return Inertia(
        let_symmetric(b, f"{name}_nn", value.A, note),
        b.let(f"{name}_nf", value.B, note),
        let_symmetric(b, f"{name}_ff", value.D, note),
    )
