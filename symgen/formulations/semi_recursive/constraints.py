"""Ends of loops and points that relations mention, with rates and derivatives by joints.

Both are the paper's natural coordinates: points as in `natural.py`, and vectors e of a body, whose
tables are those of a point without its place.  What constraints make of them, Phi and its
derivatives, is in `symgen.formulations.constraints`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector, zero_vector
from symgen.formulations.constraints import (
    RATE,
    SECOND_RATE,
    Moving,
    Supplied,
    Wanted,
    functions_of,
    supplied_by,
)
from symgen.formulations.interface import Derivation
from symgen.formulations.semi_recursive.kinematics import Geometry, System, system_at
from symgen.formulations.semi_recursive.natural import pose_of
from symgen.formulations.semi_recursive.reference_points import ReferencePoint
from symgen.formulations.state import State
from symgen.kinematics.points import BodyPoint
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "SR-39": "u_k = A_i u_k^i, a vector of body i; its rate is omega_i x u_k, the rate of that "
    "alpha_i x u_k + omega_i x omega_i x u_k -- Lopez Varela 2023, section 8",
    "SR-40": "(u_k)_z = w_j x u_k by z = q_j -- Lopez Varela 2023, table 3",
    "d SR-39": "(u_k)_x and its rates -- Lopez Varela 2023 (47), (48), (57)",
    "d SR-40": "(u_k)_zz, (u_k)_z rho -- Lopez Varela 2023 (49), (51), section 8.4, table 2",
}


@dataclass(frozen=True)
class _Bodies(Generic[S]):
    """A robot as far as it is wanted."""

    system: System[S]
    wanted: Wanted

    def point(self, name: str, body: int, p: Vector[S]) -> Moving[Vector[S]]:
        """SR-30, SR-31: a point of a body."""
        b = self.system.b
        rate = second = zero_vector(b.algebra)
        x = b.let(f"x_{name}", pose_of(self.system, body).apply(p), "SR-30")
        if body != BASE and self.wanted.order >= RATE:
            motion, arm = self.system.motions[body], x - self.system.geometry[body].r
            swing = motion.omega.cross(arm)
            rate = b.let(f"v_{name}", motion.V.linear + swing, "SR-30")
            if self.wanted.order >= SECOND_RATE:
                a = motion.V_dot
                bend = a.linear + a.angular.cross(arm) + motion.omega.cross(swing)
                second = b.let(f"a_{name}", bend, "SR-30")
        columns = {
            j: b.let(f"x_{name}_by_{j}", at.w.cross(x - at.places.joint) + at.u, "SR-31")
            for j, at in self.carriers_of(body)
        }
        return Moving(x, rate, second, columns)

    def direction(self, name: str, body: int, e: Vector[S]) -> Moving[Vector[S]]:
        """SR-39, SR-40: a vector of a body."""
        b = self.system.b
        rate = second = zero_vector(b.algebra)
        u = b.let(f"u_{name}", pose_of(self.system, body).rotation.apply(e), "SR-39")
        if body != BASE and self.wanted.order >= RATE:
            motion = self.system.motions[body]
            rate = b.let(f"u_dot_{name}", motion.omega.cross(u), "SR-39")
            if self.wanted.order >= SECOND_RATE:
                bend = motion.V_dot.angular.cross(u) + motion.omega.cross(rate)
                second = b.let(f"u_ddot_{name}", bend, "SR-39")
        columns = {
            j: b.let(f"u_{name}_by_{j}", at.w.cross(u), "SR-40") for j, at in self.carriers_of(body)
        }
        return Moving(u, rate, second, columns)

    def carriers_of(self, body: int) -> Iterator[tuple[int, Geometry[S]]]:
        """The joints that move a body, where derivatives by them are wanted."""
        for j in self.system.tree.path(body) if self.wanted.by_joint else ():
            yield j, self.system.geometry[j]


def supply(
    point: ReferencePoint,
    tree: KinematicTree[S],
    b: ProgramBuilder[S],
    state: State[S],
    points: Sequence[BodyPoint[S]],
    wanted: Wanted,
) -> Supplied[S]:
    """What constraints are made of: see `symgen.formulations.constraints`."""
    system = system_at(tree, b, state, point, wanted.order)
    return supplied_by(_Bodies(system, wanted), tree, b, points)


def functions(point: ReferencePoint) -> dict[str, Derivation]:
    """The functions of constraints, about these reference points."""
    return functions_of(partial(supply, point))
