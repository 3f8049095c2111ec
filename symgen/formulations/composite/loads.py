"""Loads on the bodies beyond a joint: constant in base axes, at points that are carried along.

Notation (sums over the loads beyond joint i; F and N force and moment of one load, r its point from
P, all in the basis)

==================  ================  ==========================================================
paper               code              meaning
==================  ================  ==========================================================
--                  F0_iL, N0_iL      sum of the forces, sum of the pure moments
--                  n0_iL             moment about P, sum of N + r x F
--                  L0_i              sum of r F^T - (r . F) 1: L x is sum of (x x r) x F
--                  moved_i           moment per unit of q_i that comes of the points moving:
                                      L s - F x S_v = sum of (velocity of r) x F
--                  kept_i            moment that joint i would feel if the loads turned with the
                                      bodies, less that which it does
==================  ================  ==========================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector, all_zero, outer
from symgen.algebra.spatial import Spatial
from symgen.formulations.composite.frames import JointAxis, Place
from symgen.formulations.composite.moments import trace_less
from symgen.formulations.state import Wrench
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "CO-17": "F, N and n = N + r x F of a load about P; L = r F^T - (r . F) 1; sums over all "
    "loads beyond the joint",
    "CO-18": "moved_i = L s - F x S_v, kept_i = moved_i - N x s",
}


@dataclass(frozen=True)
class LoadSum(Generic[S]):
    """CO-17"""

    F: Vector[S]
    N: Vector[S]
    n: Vector[S]
    L: Matrix[S]

    def __add__(self, other: LoadSum[S]) -> LoadSum[S]:
        return LoadSum(self.F + other.F, self.N + other.N, self.n + other.n, self.L + other.L)

    @property
    def wrench(self) -> Spatial[S]:
        """Moment about P and force."""
        return Spatial(self.n, self.F)


@dataclass(frozen=True)
class LoadEffects(Generic[S]):
    """CO-18"""

    moved: Vector[S]
    kept: Vector[S]


def load_step(
    at: Place[S], number: int, point: Vector[S], given: Wrench[S], b: ProgramBuilder[S]
) -> LoadSum[S]:
    """CO-17 for one load."""
    j = at.joint.number
    with b.step("loads", at.joint.name):
        r = b.let(f"r0_{j}_{number}", at.point(point), "CO-17")
        F = b.let(f"F0_{j}_{number}", at.C.apply_transposed(given.force), "CO-17")
        N = b.let(f"N0_{j}_{number}", at.C.apply_transposed(given.moment), "CO-17")
        n = b.let(f"n0_{j}_{number}", N + r.cross(F), "CO-17")
        products = b.let(f"rF0_{j}_{number}", outer(r, F), "CO-17")
        zero = b.algebra.zero
        L = trace_less(products)
        return LoadSum(F, N, n, Matrix([[zero - entry for entry in row] for row in L.rows]))


def load_sum_step(at: Place[S], parts: Sequence[LoadSum[S]], b: ProgramBuilder[S]) -> LoadSum[S]:
    """CO-17: all loads beyond a joint."""
    j = at.joint.number
    with b.step("loads", at.joint.name):
        whole = parts[0]
        for part in parts[1:]:
            whole = whole + part
        F = b.let(f"F0_{j}L", whole.F, "CO-17")
        N = b.let(f"N0_{j}L", whole.N, "CO-17")
        n = b.let(f"n0_{j}L", whole.n, "CO-17")
        return LoadSum(F, N, n, b.let(f"L0_{j}", whole.L, "CO-17"))


def load_effects_step(at: JointAxis[S], loads: LoadSum[S], b: ProgramBuilder[S]) -> LoadEffects[S]:
    """CO-18"""
    j, s, S_v = at.label, at.axis.angular, at.axis.linear
    with b.step("loads", at.name):
        moved = b.let(f"moved_{j}", loads.L.apply(s) - loads.F.cross(S_v), "CO-18")
        return LoadEffects(moved, b.let(f"kept_{j}", moved - loads.N.cross(s), "CO-18"))


def load_sweep(
    tree: KinematicTree[S],
    places: dict[int, Place[S]],
    b: ProgramBuilder[S],
    given: Sequence[Wrench[S]],
) -> dict[int, LoadSum[S]]:
    """CO-17 of every joint with loads beyond it, leaves first."""
    parts: dict[int, list[LoadSum[S]]] = {}
    counts: dict[int, int] = {}
    for load, wrench in zip(tree.loads, given, strict=True):
        j = load.body
        if j != BASE and not all_zero((*wrench.force, *wrench.moment), b.algebra):
            counts[j] = counts.get(j, 0) + 1
            one = load_step(places[j], counts[j], load.point, wrench, b)
            parts.setdefault(j, []).append(one)
    sums: dict[int, LoadSum[S]] = {}
    for j in reversed(places):
        if j in parts:
            sums[j] = load_sum_step(places[j], parts[j], b)
            parts.setdefault(places[j].joint.parent, []).append(sums[j])
    return sums
