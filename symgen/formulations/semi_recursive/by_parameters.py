"""How the kinematics and the bodies depend on a runtime parameter.

What a joint or a body depends on by itself (its place on the parent, its axis, mass, centre,
inertia, the points of loads, gravity) is a scalar expression of the model, which the algebra
differentiates.  From there on the derivatives travel outwards as the kinematics does: (36) is that
of SR-6.

Notation beyond that of `slopes.py`

======================  ================  ======================================================
paper                   code              meaning
======================  ================  ======================================================
sum in (57)             phi_i_dx          (A_i)_x = phi_i~ A_i: a parameter turns the axes of body i
(q)_rho                 d_o_i_dx, ..      derivatives of points, (53)
======================  ================  ======================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Matrix, Vector, identity, skew, skew_vector, zero_vector
from symgen.formulations.semi_recursive.bodies import Accumulated, Body
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
from symgen.kinematics.tree import BASE

NOTES = {
    "SR-21": "phi_i = phi_p + A_p (A_i^p)_rho A_i^T, as a vector -- Lopez Varela 2023 (57)",
    "dSR-1": "(w_i)_rho = phi_i x w_i + A_i (w_i^i)_rho, u_i alike -- Lopez Varela 2023, "
    "section 9.4",
    "dSR-2": "(o_i)_rho = (o_p)_rho + phi_p x (o_i - o_p) + A_p (o_i^p)_rho, the other points "
    "alike -- Lopez Varela 2023 (53)",
}


@dataclass(frozen=True)
class Turned(Generic[S]):
    """What a parameter does to the axes of a body and to its joint: phi_i, derivatives of w_i, u_i,
    o_i and r_J.

    `turn` is A_p (A_i^p)_rho A_i^T as a vector, `shift` A_p (o_i^p)_rho, `own_axis`
    A_i (w_i^i)_rho: what the body has by itself.
    """

    phi: Vector[S]
    w: Vector[S]
    u: Vector[S]
    origin: Vector[S]
    joint: Vector[S]
    turn: Vector[S]
    shift: Vector[S]
    own_axis: Vector[S]


@dataclass(frozen=True)
class Displaced(Generic[S]):
    """What a parameter does to the geometry of a body: to its axes and points, to r_i, arm_i and
    b_i."""

    turned: Turned[S]
    places: Places[S]
    r: Vector[S]
    arm: Vector[S]
    b: Spatial[S]


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
    pairs = tuple((i, j) for i in system.geometry for j in system.tree.path(i))
    owns = own_derivatives(system)
    return [Variable(own.by, parameter_sweep(system, known, own), pairs) for own in owns]


def own_derivatives(system: System[S]) -> list[Own[S]]:
    """By every runtime parameter, in their order."""
    array, algebra = symbolic_parameters(system.tree), system.b.algebra
    row = algebra.derivatives(array.symbols).of
    names = enumerate(array.symbol_names)
    return [Own(name, row, place, algebra.zero) for place, name in names]


def parameter_sweep(
    system: System[S], known: Accumulated[S], own: Own[S]
) -> dict[int, BodySlope[S]]:
    """Of all bodies, by one parameter."""
    displaced: dict[int, Displaced[S]] = {}
    velocities = {BASE: zero_spatial(system.b.algebra)}
    slopes: dict[int, BodySlope[S]] = {}
    for i, at in system.geometry.items():
        if not system.columns(i):
            continue
        for j in system.columns(i):
            parent = displaced.get(system.geometry[j].joint.parent)
            displaced[j] = displacement_step(system, own, j, parent)
        V = velocity_step(system, own, i, displaced, velocities[at.joint.parent])
        for j in system.columns(i):
            velocities[j] = V
            slopes[j] = body_slope_step(system, known.bodies[j], own, j, displaced[j], V)
    return slopes


# -- steps, one body and one parameter each ----------------------------------------------------


def turned_step(system: System[S], own: Own[S], i: int, parent: Turned[S] | None) -> Turned[S]:
    """SR-21, dSR-1, dSR-2"""
    b, algebra, by, at = system.b, system.b.algebra, own.by, system.geometry[i]
    joint, places, nothing = at.joint, at.places, zero_vector(algebra)
    A_p, o_p, phi_p, d_p = identity(algebra), nothing, nothing, nothing
    if parent is not None:
        A_p, o_p = system.geometry[joint.parent].A, system.geometry[joint.parent].places.origin
        phi_p, d_p = parent.phi, parent.origin
    pose, seat = joint.transform(system.state.q[i - 1], algebra), joint.placement.tree
    angular, linear = joint.angular_axis(algebra), joint.linear_axis(algebra)  # 0 if it turns
    turn = A_p.apply(_turn(system, own, i))
    shift = A_p.apply(own.vector(pose.translation))
    own_axis = at.A.apply(own.vector(angular))
    with b.step("derivatives of geometry", joint.name):
        with b.variant(f"_d{by}"):
            phi = b.let(f"phi_{i}", phi_p + turn, "SR-21")
        d_w = let_derivative(b, f"w_{i}", phi.cross(at.w) + own_axis, by, "dSR-1")
        d_u = phi.cross(at.u) + at.A.apply(own.vector(linear))
        d_u = let_derivative(b, f"u_{i}", d_u, by, "dSR-1")
        d_o = d_p + phi_p.cross(places.origin - o_p) + shift
        d_o = let_derivative(b, f"o_{i}", d_o, by, "dSR-2")
        d_J = d_p + phi_p.cross(places.joint - o_p) + A_p.apply(own.vector(seat.translation))
        d_J = let_derivative(b, f"r_J_{i}", d_J, by, "dSR-2")
    return Turned(phi, d_w, d_u, d_o, d_J, turn, shift, own_axis)


def _turn(system: System[S], own: Own[S], i: int) -> Vector[S]:
    """(A_i^p)_rho A_p^i as a vector, axes of the parent: what each of the turns in a row adds."""
    joint, algebra = system.geometry[i].joint, system.b.algebra
    seat, motion, link = joint.turns(system.state.q[i - 1], algebra)
    if i in system.turning:  # their attitude is a part of the seat of the first
        seat = system.turning[i].seat(i, algebra)
    behind = motion.apply(_turned(own, link))
    return _turned(own, seat) + seat.apply(_turned(own, motion) + behind)


def _turned(own: Own[S], rotation: Matrix[S]) -> Vector[S]:
    """(A)_rho A^T as a vector"""
    return skew_vector(own.matrix(rotation) @ rotation.transposed)


def displacement_step(
    system: System[S], own: Own[S], i: int, parent: Displaced[S] | None
) -> Displaced[S]:
    """SR-21, dSR-1 to dSR-3, and the derivative of SR-4"""
    b, algebra, by, at = system.b, system.b.algebra, own.by, system.geometry[i]
    joint, places = at.joint, at.places
    turned = turned_step(system, own, i, None if parent is None else parent.turned)
    with b.step("derivatives of geometry", joint.name):
        d_G = turned.origin + turned.phi.cross(places.centre - places.origin)
        d_G = d_G + at.A.apply(own.vector(joint.body.com))
        d_G = let_derivative(b, f"r_G_{i}", d_G, by, "dSR-2")
        d_places = Places(turned.joint, turned.origin, d_G)
        d_r = system.point.of(d_places, algebra)
        d_arm = zero_vector(algebra) if parent is None else parent.r - d_r
        d_arm = let_derivative(b, f"arm_{i}", d_arm, by, "dSR-3")
        lever = turned.w.cross(at.r - places.joint) + at.w.cross(d_r - turned.joint) + turned.u
        d_b = Spatial(lever, turned.w)
        d_b = let_spatial_slope(b, f"b_{i}", MOTION, d_b, by, "d SR-4")
    return Displaced(turned, d_places, d_r, d_arm, d_b)


def velocity_step(
    system: System[S],
    own: Own[S],
    i: int,
    displaced: Mapping[int, Displaced[S]],
    parent: Spatial[S],
) -> Spatial[S]:
    """The derivative of SR-6, from that of the parent."""
    b, at, qd = system.b, system.geometry[i], system.state.qd
    before = system.motions[at.joint.parent].V
    value = carried_slope(displaced[i].arm, before, b.algebra) + carried(at.arm, parent)
    for j in system.columns(i):
        value = value + displaced[j].b * qd[j - 1]
    with b.step("derivatives of motion", at.joint.name):
        d_v = let_derivative(b, f"v_{i}", value.linear, own.by, "d SR-6")
        return Spatial(d_v, let_derivative(b, f"omega_{i}", value.angular, own.by, "d SR-6"))


def body_slope_step(
    system: System[S],
    body: Body[S],
    own: Own[S],
    i: int,
    here: Displaced[S],
    V: Spatial[S],
) -> BodySlope[S]:
    """The derivative of SR-11, and what the body itself brings into dSR-12 and dSR-15."""
    b, by, at, gravity = system.b, own.by, system.geometry[i], system.tree.gravity
    A, turning, inertia = at.A, skew(here.turned.phi, system.b.algebra), at.joint.body.inertia
    with b.step("derivatives of bodies", at.joint.name):
        d_c = let_derivative(b, f"c_{i}", here.places.centre - here.r, by, "d SR-11")
        d_J = turning @ body.J_G - body.J_G @ turning + A @ own.matrix(inertia) @ A.transposed
        d_J = let_symmetric_slope(b, f"J_G_{i}", d_J, by, "d SR-11")
        d_arms: list[Vector[S]] = []
        for load in body.loads:
            d_point = here.turned.phi.cross(A.apply(load.point)) + A.apply(own.vector(load.point))
            d_point = here.places.origin + d_point - here.r
            d_arms.append(let_derivative(b, f"arm_{i}_{load.number}", d_point, by, "dSR-15"))
        d_m = own.scalar(at.joint.body.mass)
        d_weight = gravity * d_m + own.vector(gravity) * body.m
        d_weight = let_derivative(b, f"weight_{i}", d_weight, by, "dSR-15")
        spin = _spin_slope(system, i, here) if i in system.turning else None
    return BodySlope(here.b, here.arm, V.angular, V.linear, d_c, d_J, d_arms, d_m, d_weight, spin)


def _spin_slope(system: System[S], i: int, here: Displaced[S]) -> Spatial[S]:
    """Of what the rate of an Euler parameter's b_i has beside omega_i~ b_i: it turns with i."""
    at, s = system.geometry[i], system.motions[i].spin.angular
    d_s = here.turned.phi.cross(s)
    lever = d_s.cross(at.r - at.places.joint) + s.cross(here.r - here.places.joint)
    return Spatial(lever, d_s)
