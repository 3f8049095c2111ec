"""Ends of loops and points that relations mention, with rates and derivatives by joints.

Both are the paper's natural coordinates: points as in `natural.py`, and vectors e of a body, whose
tables are those of a point without its place.  What constraints make of them, Phi and its
derivatives, is in `symgen.formulations.constraints`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector, zero_vector
from symgen.formulations.constraint_slopes import Twice
from symgen.formulations.constraints import (
    RATE,
    SECOND_RATE,
    VALUE,
    Moving,
    Supplied,
    Wanted,
    supplied_by,
    with_derivatives_of,
)
from symgen.formulations.interface import Derivation
from symgen.formulations.semi_recursive import natural
from symgen.formulations.semi_recursive.kinematics import Geometry, System, system_at
from symgen.formulations.semi_recursive.natural import accelerations, axis_step, pose_of, slope_step
from symgen.formulations.semi_recursive.natural_by_parameters import (
    ByParameters,
    moved_by_parameters,
)
from symgen.formulations.semi_recursive.reference_points import ReferencePoint
from symgen.formulations.semi_recursive.spatial import Spatial
from symgen.formulations.shared import let_derivative
from symgen.formulations.state import State
from symgen.kinematics.points import BodyPoint
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "SR-39": "u_k = A_i u_k^i, a vector of body i; its rate is omega_i x u_k, the rate of that "
    "alpha_i x u_k + omega_i x omega_i x u_k -- Lopez Varela 2023, section 8",
    "SR-40": "(u_k)_z = w_j x u_k by z = q_j -- Lopez Varela 2023, table 3",
    "SR-43": "(u_k)_z dot = w_dot_j x u_k + w_j x u_dot_k: the rate of (u_k)_z, and that of it "
    "-- Lopez Varela 2023 (48)",
    "SR-44": "(r_k)_zz = (w_j)_z x (r_k - r_J) + w_j x ((r_k)_z - (r_J)_z) + (u_j)_z "
    "-- Lopez Varela 2023 (50), table 2",
    "SR-45": "(u_k)_zz = (w_j)_z x u_k + w_j x (u_k)_z -- Lopez Varela 2023 (51), table 2",
    "SR-46": "(w_j)_z = w_k x w_j by z = q_k of a joint that carries j, u_j alike, (r_J)_z as of a "
    "point; Euler parameters of one joint have A_i (wbar_l)_z in addition",
}


Axis = tuple[natural.Moving[S], natural.Moving[S], natural.Moving[S]]
"""w_j, u_j and r_J with their rates."""


@dataclass(frozen=True)
class AxisSlope(Generic[S]):
    """SR-46: derivatives of an axis by one coordinate."""

    w: Vector[S]
    u: Vector[S]
    joint: Vector[S]


def axis_slope_step(system: System[S], j: int, k: int) -> AxisSlope[S]:
    """SR-46: of the axis of joint j by the coordinate of joint k, which carries it or is j."""
    b, at, other = system.b, system.geometry[j], system.geometry[k]
    w = u = r_J = zero_vector(b.algebra)
    if k != j:
        w, u = other.w.cross(at.w), other.w.cross(at.u)
        r_J = other.w.cross(at.places.joint - other.places.joint) + other.u
    if j in system.turning and k in system.together(j):
        w = w + at.A.apply(system.turning[j].by_place(j, k))
    with b.step("derivatives of axes", at.joint.name):
        by = f"q_{k}"
        return AxisSlope(
            let_derivative(b, f"w_{j}", w, by, "SR-46"),
            let_derivative(b, f"u_{j}", u, by, "SR-46"),
            let_derivative(b, f"r_J_{j}", r_J, by, "SR-46"),
        )


def vector_slope_step(
    name: str, moving: natural.Moving[S], j: int, w: natural.Moving[S], b: ProgramBuilder[S]
) -> natural.Moving[S]:
    """SR-43 of one vector by the coordinate of joint j."""
    u, v, a = moving.x, moving.v, moving.a
    swing, by = w.v.cross(v), f"q_{j}"
    d_u, d_v = w.x.cross(u), w.v.cross(u) + w.x.cross(v)
    d_a = w.a.cross(u) + swing + swing + w.x.cross(a)
    return natural.Moving(
        let_derivative(b, f"u_{name}", d_u, by, "SR-40"),
        let_derivative(b, f"u_dot_{name}", d_v, by, "SR-43"),
        let_derivative(b, f"u_ddot_{name}", d_a, by, "SR-43"),
    )


@dataclass(frozen=True)
class _Bodies(Generic[S]):
    """A robot as far as it is wanted; `rates` are accelerations of bodies where these are."""

    system: System[S]
    wanted: Wanted
    rates: Mapping[int, Spatial[S]]
    axes: Mapping[int, Axis[S]]
    axis_slopes: Mapping[tuple[int, int], AxisSlope[S]]
    moved: ByParameters[S]

    def point(self, name: str, body: int, p: Vector[S]) -> Moving[S]:
        """SR-30, SR-31: a point of a body."""
        b = self.system.b
        rate = second = zero_vector(b.algebra)
        x = b.let(f"x_{name}", pose_of(self.system, body).apply(p), "SR-30")
        if body != BASE and self.wanted.order >= RATE:
            motion, arm = self.system.motions[body], x - self.system.geometry[body].r
            swing = motion.omega.cross(arm)
            rate = b.let(f"v_{name}", motion.V.linear + swing, "SR-30")
            if self.wanted.order >= SECOND_RATE:
                a = self.rates[body]
                bend = a.linear + a.angular.cross(arm) + motion.omega.cross(swing)
                second = b.let(f"a_{name}", bend, "SR-30")
        columns = {
            j: b.let(f"x_{name}_by_{j}", at.w.cross(x - at.places.joint) + at.u, "SR-31")
            for j, at in self.carriers_of(body)
        }
        here = natural.Moving(x, rate, second)
        slopes = {j: slope_step(name, here, j, axis, b) for j, axis in self.axes_of(body)}
        twice = self.twice(slopes, self.point_pairs(name, x, columns))
        by_parameter = self.moved.point(name, body, p, here, columns)
        return Moving(x, rate, second, columns, twice, by_parameter)

    def direction(self, name: str, body: int, e: Vector[S]) -> Moving[S]:
        """SR-39, SR-40: a vector of a body."""
        b = self.system.b
        rate = second = zero_vector(b.algebra)
        u = b.let(f"u_{name}", pose_of(self.system, body).rotation.apply(e), "SR-39")
        if body != BASE and self.wanted.order >= RATE:
            omega = self.system.motions[body].omega
            rate = b.let(f"u_dot_{name}", omega.cross(u), "SR-39")
            if self.wanted.order >= SECOND_RATE:
                bend = self.rates[body].angular.cross(u) + omega.cross(rate)
                second = b.let(f"u_ddot_{name}", bend, "SR-39")
        columns = {
            j: b.let(f"u_{name}_by_{j}", at.w.cross(u), "SR-40") for j, at in self.carriers_of(body)
        }
        here = natural.Moving(u, rate, second)
        slopes = {j: vector_slope_step(name, here, j, w, b) for j, (w, *_) in self.axes_of(body)}
        twice = self.twice(slopes, self.vector_pairs(name, u, columns))
        by_parameter = self.moved.vector(name, body, e, here, columns)
        return Moving(u, rate, second, columns, twice, by_parameter)

    def point_pairs(
        self, name: str, x: Vector[S], columns: Mapping[int, Vector[S]]
    ) -> dict[tuple[int, int], Vector[S]]:
        """SR-44: of x by joint and joint, both orders."""
        found: dict[tuple[int, int], Vector[S]] = {}
        for j, k in self.pairs_of(columns):
            at, by = self.system.geometry[j], self.axis_slopes[j, k]
            value = by.w.cross(x - at.places.joint) + at.w.cross(columns[k] - by.joint) + by.u
            line = let_derivative(self.system.b, f"x_{name}_by_{j}", value, f"q_{k}", "SR-44")
            found[j, k] = found[k, j] = line
        return found

    def vector_pairs(
        self, name: str, u: Vector[S], columns: Mapping[int, Vector[S]]
    ) -> dict[tuple[int, int], Vector[S]]:
        """SR-45: the same of a vector."""
        found: dict[tuple[int, int], Vector[S]] = {}
        for j, k in self.pairs_of(columns):
            value = self.axis_slopes[j, k].w.cross(u) + self.system.geometry[j].w.cross(columns[k])
            line = let_derivative(self.system.b, f"u_{name}_by_{j}", value, f"q_{k}", "SR-45")
            found[j, k] = found[k, j] = line
        return found

    def pairs_of(self, columns: Mapping[int, Vector[S]]) -> Iterator[tuple[int, int]]:
        """Joints of which the second carries the first or is it, where pairs are wanted."""
        for j in columns if self.wanted.pairs else ():
            yield from ((j, k) for k in columns if k <= j)

    def twice(
        self,
        slopes: Mapping[int, natural.Moving[S]],
        pairs: Mapping[tuple[int, int], Vector[S]],
    ) -> Twice[Vector[S]]:
        """Both together."""
        return Twice(
            {j: slope.v for j, slope in slopes.items()},
            {j: slope.a for j, slope in slopes.items()},
            pairs,
        )

    def axes_of(self, body: int) -> Iterator[tuple[int, Axis[S]]]:
        """SR-32 of the joints that move a body, where slopes are wanted."""
        for j in self.system.tree.path(body) if self.wanted.slopes else ():
            yield j, self.axes[j]

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
    system = system_at(tree, b, state, point, moving=wanted.order > VALUE)
    rates = accelerations(system) if wanted.order >= SECOND_RATE else {}
    axes = {j: axis_step(system, rates, at) for j, at in system.geometry.items() if wanted.slopes}
    slopes = {
        (j, k): axis_slope_step(system, j, k)
        for j in system.geometry
        if wanted.pairs
        for k in tree.path(j)
    }
    moved = moved_by_parameters(system, rates, wanted)
    bodies = _Bodies(system, wanted, rates, axes, slopes, moved)
    return supplied_by(bodies, tree, b, points)


def functions(point: ReferencePoint) -> dict[str, Derivation]:
    """The functions of constraints, about these reference points."""
    return with_derivatives_of(partial(supply, point))
