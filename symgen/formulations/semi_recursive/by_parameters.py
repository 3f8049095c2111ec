"""How the kinematics and the bodies depend on a runtime parameter.

What a joint or a body depends on by itself (its place on the parent, its axis, mass, centre,
inertia, the points of loads, gravity) is a scalar expression of the model, which the algebra
differentiates.  From there on the derivatives travel outwards as the kinematics does.

Notation beyond that of `slopes.py`

======================  ================  ======================================================
paper                   code              meaning
======================  ================  ======================================================
sum in (57)             phi_i_dx          (A_i)_x = phi_i~ A_i: a parameter turns the axes of body i
(q)_rho                 d_o_i_dx, ..      derivatives of points, (53)
======================  ================  ======================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector, identity, skew, skew_vector, zero_vector
from symgen.formulations.semi_recursive.bodies import Accumulated
from symgen.formulations.semi_recursive.kinematics import System
from symgen.formulations.semi_recursive.reference_points import Places
from symgen.formulations.semi_recursive.slopes import BodySlope, Variable
from symgen.formulations.semi_recursive.spatial import (
    MOTION,
    Spatial,
    carried,
    carried_slope,
    let_spatial_slope,
    let_symmetric_slope,
    zero_spatial,
)
from symgen.formulations.shared import let_derivative, symbolic_parameters

NOTES = {
    "SR-21": "phi_i = phi_p + A_p (A_i^p)_rho A_i^T, as a vector -- Lopez Varela 2023 (57)",
    "dSR-1": "(w_i)_rho = phi_i~ w_i + A_i (w_i^i)_rho, u_i alike -- Lopez Varela 2023, section "
    "9.4",
    "dSR-2": "(o_i)_rho = (o_p)_rho + phi_p~ (o_i - o_p) + A_p (o_i^p)_rho, the other points alike "
    "-- Lopez Varela 2023 (53)",
}


@dataclass(frozen=True)
class Moved(Generic[S]):
    """What a parameter does to a body: phi_i, its points, and what the bodies beyond it need not
    know."""

    phi: Vector[S]
    places: Places[S]
    r: Vector[S]
    slope: BodySlope[S]


@dataclass(frozen=True)
class Own(Generic[S]):
    """Derivatives by one parameter of what the model says of a joint or a body."""

    by: str
    row: Callable[[S], dict[int, S]]
    place: int
    zero: S

    def scalar(self, x: S) -> S:
        """Of a scalar."""
        return self.row(x).get(self.place, self.zero)

    def vector(self, x: Vector[S]) -> Vector[S]:
        """Of a vector."""
        return Vector(*map(self.scalar, x))

    def matrix(self, x: Matrix[S]) -> Matrix[S]:
        """Of a matrix."""
        return Matrix([[self.scalar(entry) for entry in row] for row in x.rows])


def by_parameters(system: System[S], known: Accumulated[S]) -> list[Variable[S]]:
    """What every runtime parameter does, in their order."""
    array, algebra = symbolic_parameters(system.tree), system.b.algebra
    row = algebra.derivatives(array.symbols).of
    pairs = tuple((i, j) for i in system.geometry for j in system.tree.path(i))
    names = enumerate(array.symbol_names)
    owns = [Own(name, row, place, algebra.zero) for place, name in names]
    return [Variable(own.by, parameter_sweep(system, known, own), pairs) for own in owns]


def parameter_sweep(
    system: System[S], known: Accumulated[S], own: Own[S]
) -> dict[int, BodySlope[S]]:
    """Of all bodies, by one parameter."""
    moved: dict[int, Moved[S]] = {}
    for i, at in system.geometry.items():
        moved[i] = parameter_step(system, known, own, i, moved.get(at.joint.parent))
    return {i: found.slope for i, found in moved.items()}


def parameter_step(
    system: System[S], known: Accumulated[S], own: Own[S], i: int, parent: Moved[S] | None
) -> Moved[S]:
    """SR-21, and dSR-1 to dSR-6, dSR-11 and what belongs to the body of dSR-12 and dSR-15."""
    b, algebra, by = system.b, system.b.algebra, own.by
    at, body = system.geometry[i], known.bodies[i]
    p, joint, A, w = at.joint.parent, at.joint, at.A, at.w
    nothing = zero_vector(algebra)
    phi_p, d_p, before, A_p, o_p = (
        nothing,
        nothing,
        zero_spatial(algebra),
        identity(algebra),
        nothing,
    )
    if parent is not None:
        phi_p, d_p = parent.phi, parent.places.origin
        before = Spatial(parent.slope.v, parent.slope.omega)
        A_p, o_p = system.geometry[p].A, system.geometry[p].places.origin
    pose, seat, places = (
        joint.transform(system.state.q[i - 1], algebra),
        joint.placement.tree,
        at.places,
    )

    def displaced(point: Vector[S], local: Vector[S]) -> Vector[S]:
        return d_p + phi_p.cross(point - o_p) + A_p.apply(own.vector(local))

    with b.step("derivatives of geometry", joint.name):
        turned = skew_vector(own.matrix(pose.rotation) @ pose.rotation.transposed)
        with b.variant(f"_d{by}"):
            phi = b.let(f"phi_{i}", phi_p + A_p.apply(turned), "SR-21")
        d_w = phi.cross(w) + A.apply(own.vector(joint.angular_axis(algebra)))
        d_w = let_derivative(b, f"w_{i}", d_w, by, "dSR-1")
        d_u = phi.cross(at.u) + A.apply(own.vector(joint.linear_axis(algebra)))
        d_u = let_derivative(b, f"u_{i}", d_u, by, "dSR-1")
        d_o = displaced(places.origin, pose.translation)
        d_o = let_derivative(b, f"o_{i}", d_o, by, "dSR-2")
        d_J = let_derivative(b, f"r_J_{i}", displaced(places.joint, seat.translation), by, "dSR-2")
        d_G = d_o + phi.cross(places.centre - places.origin) + A.apply(own.vector(joint.body.com))
        d_G = let_derivative(b, f"r_G_{i}", d_G, by, "dSR-2")
        d_places = Places(d_J, d_o, d_G)
        d_r = system.point.of(d_places, algebra)
        d_arm = nothing if parent is None else parent.r - d_r
        d_arm = let_derivative(b, f"arm_{i}", d_arm, by, "dSR-3")
        lever = d_w.cross(at.r - places.joint) + w.cross(d_r - d_J) + d_u
        d_b = let_spatial_slope(b, f"b_{i}", MOTION, Spatial(lever, d_w), by, "dSR-4")
    with b.step("derivatives of motion", joint.name):
        V_p, qd = system.motions[p].V, system.state.qd[i - 1]
        d_V = carried_slope(d_arm, V_p, algebra) + carried(at.arm, before) + d_b * qd
        d_v = let_derivative(b, f"v_{i}", d_V.linear, by, "dSR-6")
        d_omega = let_derivative(b, f"omega_{i}", d_V.angular, by, "dSR-6")
    with b.step("derivatives of bodies", joint.name):
        d_c = let_derivative(b, f"c_{i}", d_G - d_r, by, "dSR-11")
        turning = skew(phi, algebra)
        d_J_G = turning @ body.J_G - body.J_G @ turning
        d_J_G = d_J_G + A @ own.matrix(joint.body.inertia) @ A.transposed
        d_J_G = let_symmetric_slope(b, f"J_G_{i}", d_J_G, by, "dSR-11")
        d_arms: list[Vector[S]] = []
        for load in body.loads:
            d_point = d_o + phi.cross(A.apply(load.point)) + A.apply(own.vector(load.point))
            d_point = let_derivative(b, f"arm_{i}_{load.number}", d_point - d_r, by, "dSR-15")
            d_arms.append(d_point)
        d_m, gravity = own.scalar(joint.body.mass), system.tree.gravity
        d_weight = gravity * d_m + own.vector(gravity) * body.m
        d_weight = let_derivative(b, f"weight_{i}", d_weight, by, "dSR-15")
    slope = BodySlope(d_b, d_arm, d_omega, d_v, d_c, d_J_G, d_arms, d_m, d_weight)
    return Moved(phi, d_places, d_r, slope)
