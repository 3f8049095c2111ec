"""Points and vectors of bodies by parameters: q_rho with its rates, and q_z rho.

A parameter turns the axes of body i by phi_i and moves its origin, both as if it were a coordinate
of every joint on the way: what a joint adds, t_i and s_i, turns with the parent and varies with the
joint's own coordinate.  With A_p (.) of what the model says of joint i, as `by_parameters.py`,

    t_i = phi_i - phi_p,    t_i' = omega_p x t_i + m_i qd_i,    m_i = A_i (w_i^i)_rho,
    s_i = A_p (o_i^p)_rho,  s_i' = omega_p x s_i + g_i qd_i,    g_i = A_p (o_i^p)_rho q,
                            g_i' = omega_p x g_i + h_i qd_i,    h_i = A_p (o_i^p)_rho qq.

Nothing here is referred to the reference points, and what moves bodies without turning them costs
nothing behind the joint where it does so.

Notation beyond that of `natural.py` and `by_parameters.py`

======================  ===================  ===================================================
paper                   code                 meaning
======================  ===================  ===================================================
rates of (57)           phi_dot_i_dx, ..     and phi_ddot_i_dx, of phi_i_dx
rates of (53)           o_rho_dot_i_dx, ..   and o_rho_ddot_i_dx, of d_o_i_dx
--                      o_dot_i, o_ddot_i    velocity and acceleration of o_i
(q)_rho                 d_x_<name>_dx, ..    of a point; its rates are those of v_<name>, a_<name>
(q)_z rho               d_x_<name>_by_j_dx   of (r_k)_z
======================  ===================  ===================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.algebra.linear import Vector, zero_vector
from symgen.formulations.constraint_parts import RATE, SECOND_RATE, Wanted
from symgen.formulations.constraint_slopes import Slope
from symgen.formulations.semi_recursive.by_parameters import (
    Own,
    Turned,
    own_derivatives,
    turned_step,
)
from symgen.formulations.semi_recursive.kinematics import System, system_at
from symgen.formulations.semi_recursive.natural import (
    Moving,
    accelerations,
    moving_points,
)
from symgen.formulations.semi_recursive.reference_points import ReferencePoint
from symgen.formulations.semi_recursive.spatial import Spatial
from symgen.formulations.shared import let_derivative
from symgen.formulations.state import State
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "SR-47": "phi_dot_i = phi_dot_p + t_i', phi_ddot_i = phi_ddot_p + t_i'': the rates of SR-21 "
    "-- Lopez Varela 2023 (57)",
    "SR-48": "rates of (o_i)_rho = (o_p)_rho + phi_p x (o_i - o_p) + s_i -- Lopez Varela 2023 (53)",
    "SR-49": "(r_k)_rho = (o_i)_rho + phi_i x (r_k - o_i) + A_i (r_k^i)_rho, and its rates "
    "-- Lopez Varela 2023 (53)",
    "SR-50": "(u_k)_rho = phi_i x u_k + A_i (u_k^i)_rho, and its rates -- Lopez Varela 2023 (57)",
    "SR-51": "(r_k)_z rho = (w_j)_rho x (r_k - r_J) + w_j x ((r_k)_rho - (r_J)_rho) + (u_j)_rho "
    "-- Lopez Varela 2023 (54)",
    "SR-52": "(u_k)_z rho = (w_j)_rho x u_k + w_j x (u_k)_rho -- Lopez Varela 2023, section 8.4",
}


@dataclass(frozen=True)
class Frames(Generic[S]):
    """Bodies as far as derivatives of this order take them; `rates` are their accelerations."""

    system: System[S]
    rates: Mapping[int, Spatial[S]]
    order: int
    origins: dict[int, Moving[S]]

    @property
    def nothing(self) -> Vector[S]:
        """(0, 0, 0)"""
        return zero_vector(self.system.b.algebra)

    def omega(self, i: int) -> Vector[S]:
        """Angular velocity of a body."""
        return self.system.motions[i].omega if self.order >= RATE else self.nothing

    def alpha(self, i: int) -> Vector[S]:
        """Angular acceleration of a body."""
        return self.rates[i].angular if self.order >= SECOND_RATE else self.nothing

    def turning(self, i: int, x: Vector[S]) -> Moving[S]:
        """What is fixed in a body."""
        v = self.omega(i).cross(x)
        return Moving(x, v, self.alpha(i).cross(x) + self.omega(i).cross(v))


@dataclass(frozen=True)
class Swing(Generic[S]):
    """phi_i and (o_i)_rho with their rates."""

    phi: Moving[S]
    origin: Moving[S]


@dataclass(frozen=True)
class Moved(Generic[S]):
    """What one parameter does to all bodies."""

    own: Own[S]
    turned: Mapping[int, Turned[S]]
    swings: Mapping[int, Swing[S]]


@dataclass(frozen=True)
class ByParameters(Generic[S]):
    """What all runtime parameters do, in their order; nothing where it is not wanted."""

    frames: Frames[S]
    movers: Sequence[Moved[S]] = ()

    def point(
        self, name: str, i: int, p: Vector[S], here: Moving[S], columns: Mapping[int, Vector[S]]
    ) -> dict[int, Slope[Vector[S]]]:
        """SR-49, SR-51 of a point of body i by place of the parameter; `columns` are (r_k)_z."""
        return {
            place: point_slope_step(self.frames, moved, name, i, moved.own.vector(p), here, columns)
            for place, moved in enumerate(self.movers)
        }

    def vector(
        self, name: str, i: int, e: Vector[S], here: Moving[S], columns: Mapping[int, Vector[S]]
    ) -> dict[int, Slope[Vector[S]]]:
        """SR-50, SR-52 of a vector of body i."""
        return {
            place: vector_slope_step(
                self.frames, moved, name, i, moved.own.vector(e), here, columns
            )
            for place, moved in enumerate(self.movers)
        }


def moved_by_parameters(
    system: System[S], rates: Mapping[int, Spatial[S]], wanted: Wanted
) -> ByParameters[S]:
    """All of it, as far as it is wanted."""
    nothing = zero_vector(system.b.algebra)
    frames = Frames(system, rates, wanted.order, {BASE: Moving(nothing, nothing, nothing)})
    if not wanted.parameters:
        return ByParameters(frames)
    for i in system.geometry:
        frames.origins[i] = origin_step(frames, i)
    return ByParameters(frames, [_sweep(frames, own) for own in own_derivatives(system)])


def _sweep(frames: Frames[S], own: Own[S]) -> Moved[S]:
    still = Moving(frames.nothing, frames.nothing, frames.nothing)
    turned: dict[int, Turned[S]] = {}
    swings: dict[int, Swing[S]] = {BASE: Swing(still, still)}
    for i, at in frames.system.geometry.items():
        p = at.joint.parent
        turned[i] = turned_step(frames.system, own, i, turned.get(p))
        swings[i] = swing_step(frames, own, i, turned[i], swings[p])
    return Moved(own, turned, swings)


def point_motion_parameter_derivatives(
    point: ReferencePoint, tree: KinematicTree[S], b: ProgramBuilder[S], state: State[S]
) -> None:
    """SR-49 of the model's points: dx, dv and da by parameters, (n_points, 3, n_parameters) each"""
    system = system_at(tree, b, state, point)
    rates, names = accelerations(system), tree.runtime_parameters
    here = moving_points(system, rates)
    moved = moved_by_parameters(system, rates, Wanted(SECOND_RATE, False, parameters=names))
    slopes: list[Mapping[int, Slope[Vector[S]]]] = []
    for place, moving in zip(tree.points, here, strict=True):
        with b.step("derivatives of points", place.name):
            slopes.append(moved.point(place.name, place.body, place.point, moving, {}))
    for what, part in (("x", "at"), ("v", "rate"), ("a", "second_rate")):
        blocks = [[tuple(getattr(by[k], part)) for k in range(len(names))] for by in slopes]
        entries = [column[row] for block in blocks for row in range(3) for column in block]
        b.output(f"d{what}_dparameters", (len(slopes), 3, len(names)), entries)


# -- steps, one body each ----------------------------------------------------------------------


def origin_step(frames: Frames[S], i: int) -> Moving[S]:
    """SR-30 of o_i"""
    system, at = frames.system, frames.system.geometry[i]
    rate = second_rate = frames.nothing
    b, arm = system.b, frames.turning(i, at.places.origin - at.r)
    with b.step("motion", at.joint.name):
        if frames.order >= RATE:
            rate = b.let(f"o_dot_{i}", system.motions[i].V.linear + arm.v, "SR-30")
        if frames.order >= SECOND_RATE:
            second_rate = b.let(f"o_ddot_{i}", frames.rates[i].linear + arm.a, "SR-30")
    return Moving(at.places.origin, rate, second_rate)


def swing_step(
    frames: Frames[S], own: Own[S], i: int, here: Turned[S], before: Swing[S]
) -> Swing[S]:
    """SR-47, SR-48, as far as they are wanted; `before` is that of the parent."""
    system, b, at = frames.system, frames.system.b, frames.system.geometry[i]
    p, nothing = at.joint.parent, frames.nothing
    qd, qdd = system.state.qd[i - 1], system.state.qdd[i - 1]
    if frames.order < RATE:
        return Swing(Moving(here.phi, nothing, nothing), Moving(here.origin, nothing, nothing))
    g, h = (_on_parent(frames, own, i, order) for order in (1, 2))
    m = frames.turning(i, here.own_axis)
    t, s = frames.turning(p, here.turn), frames.turning(p, here.shift)
    t_dot, s_dot = t.v + m.x * qd, s.v + g * qd
    arm = _less(frames.origins[i], frames.origins[p])
    swung = turned_by(before.phi, arm)
    with b.step("rates of derivatives", at.joint.name), b.variant(f"_d{own.by}"):
        phi_dot = b.let(f"phi_dot_{i}", before.phi.v + t_dot, "SR-47")
        o_dot = b.let(f"o_rho_dot_{i}", before.origin.v + swung.v + s_dot, "SR-48")
        phi_ddot = o_ddot = nothing
        if frames.order == SECOND_RATE:
            alpha, omega = frames.alpha(p), frames.omega(p)
            bend = alpha.cross(here.turn) + omega.cross(t_dot) + m.v * qd + m.x * qdd
            phi_ddot = b.let(f"phi_ddot_{i}", before.phi.a + bend, "SR-47")
            bend = alpha.cross(here.shift) + omega.cross(s_dot)
            bend = bend + (omega.cross(g) + h * qd) * qd + g * qdd
            o_ddot = b.let(f"o_rho_ddot_{i}", before.origin.a + swung.a + bend, "SR-48")
    return Swing(Moving(here.phi, phi_dot, phi_ddot), Moving(here.origin, o_dot, o_ddot))


def point_slope_step(
    frames: Frames[S],
    moved: Moved[S],
    name: str,
    i: int,
    d_p: Vector[S],
    here: Moving[S],
    columns: Mapping[int, Vector[S]],
) -> Slope[Vector[S]]:
    """SR-49, SR-51; `d_p` is (r_k^i)_rho"""
    b, by, swing = frames.system.b, moved.own.by, moved.swings[i]
    swung = turned_by(swing.phi, _less(here, frames.origins[i]))
    slope = _sum(_sum(swing.origin, swung), _fixed(frames, i, d_p))
    d_x, d_v, d_a = _named(frames, ("x", "v", "a"), name, slope, by, "SR-49")
    by_joint: dict[int, Vector[S]] = {}
    for j in columns:
        at, turned = frames.system.geometry[j], moved.turned[j]
        value = turned.w.cross(here.x - at.places.joint) + turned.u
        value = value + at.w.cross(d_x - turned.joint)
        by_joint[j] = let_derivative(b, f"x_{name}_by_{j}", value, by, "SR-51")
    return Slope(d_x, d_v, d_a, by_joint)


def vector_slope_step(
    frames: Frames[S],
    moved: Moved[S],
    name: str,
    i: int,
    d_e: Vector[S],
    here: Moving[S],
    columns: Mapping[int, Vector[S]],
) -> Slope[Vector[S]]:
    """SR-50, SR-52; `d_e` is (u_k^i)_rho"""
    b, by = frames.system.b, moved.own.by
    slope = _sum(turned_by(moved.swings[i].phi, here), _fixed(frames, i, d_e))
    d_x, d_v, d_a = _named(frames, ("u", "u_dot", "u_ddot"), name, slope, by, "SR-50")
    by_joint: dict[int, Vector[S]] = {}
    for j in columns:
        w, d_w = frames.system.geometry[j].w, moved.turned[j].w
        value = d_w.cross(here.x) + w.cross(d_x)
        by_joint[j] = let_derivative(b, f"u_{name}_by_{j}", value, by, "SR-52")
    return Slope(d_x, d_v, d_a, by_joint)


# -- vectors with their rates ------------------------------------------------------------------


def turned_by(phi: Moving[S], x: Moving[S]) -> Moving[S]:
    """phi x x and its rates."""
    swing = phi.v.cross(x.v)
    a = phi.a.cross(x.x) + swing + swing + phi.x.cross(x.a)
    return Moving(phi.x.cross(x.x), phi.v.cross(x.x) + phi.x.cross(x.v), a)


def _sum(x: Moving[S], y: Moving[S]) -> Moving[S]:
    return Moving(x.x + y.x, x.v + y.v, x.a + y.a)


def _less(x: Moving[S], y: Moving[S]) -> Moving[S]:
    return Moving(x.x - y.x, x.v - y.v, x.a - y.a)


def _fixed(frames: Frames[S], body: int, local: Vector[S]) -> Moving[S]:
    """A vector of a body, or of the base."""
    if body == BASE:
        return Moving(local, frames.nothing, frames.nothing)
    return frames.turning(body, frames.system.geometry[body].A.apply(local))


def _on_parent(frames: Frames[S], own: Own[S], i: int, order: int) -> Vector[S]:
    """A_p times the derivative of o_i^p by the parameter and, `order` times, by q_i."""
    system, joint = frames.system, frames.system.geometry[i].joint
    slope = joint.transform_derivative(system.state.q[i - 1], order, system.b.algebra)
    local = own.vector(Vector(*(row[3] for row in slope.rows[:3])))
    return local if joint.parent == BASE else system.geometry[joint.parent].A.apply(local)


def _named(
    frames: Frames[S],
    labels: tuple[str, str, str],
    name: str,
    slope: Moving[S],
    by: str,
    note: str,
) -> tuple[Vector[S], Vector[S] | None, Vector[S] | None]:
    """The derivative and its rates as statements, as far as they are wanted."""
    first, *rates = labels
    d_x = let_derivative(frames.system.b, f"{first}_{name}", slope.x, by, note)
    d_v, d_a = (
        let_derivative(frames.system.b, f"{label}_{name}", part, by, note)
        if k <= frames.order
        else None
        for k, (label, part) in enumerate(zip(rates, (slope.v, slope.a), strict=True), RATE)
    )
    return d_x, d_v, d_a
