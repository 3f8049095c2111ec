"""Inertia, momentum and inertial force of a body about P; those of composites are sums.

Everything is about one point and in one basis, so that the bodies outboard of a joint are added up
entry by entry, leaves first.  Instead of the inertia tensor there are second moments: with the
velocity and the acceleration of every particle, int v r^T dm and int a r^T dm are as cheap as they
are.

Notation (integrals over a body, r from P to a particle, v and a its velocity and acceleration; for
a composite the same names with ``C`` behind the number: ``h0_3C``)

==================  ===============  ===========================================================
paper               code             meaning
==================  ===============  ===========================================================
m                   m0_j             mass
m c                 h0_j             first moments int r dm
--                  E0_j             second moments int r r^T dm
I                   J0_j             inertia tensor, tr(E) 1 - E; the spatial inertia is
                                     [[J, h x], [-h x, m 1]]
--                  K0_j             int v r^T dm
--                  f0_j             momentum int v dm
B                   B0_j             tr(K) 1 - K; the Coriolis matrix of the paper is
                                     [[B, 0], [-f x, 0]]
f                   n0_in_j,         moment and force of inertia, int r x a dm and int a dm
                    f0_in_j
==================  ===============  ===========================================================

That the 36 entries of the Coriolis matrix B(I, v) = (v x* I - I v x + (I v) xbar*) / 2 are these 12
numbers shows with v = w x r + u: the blocks on the right vanish, for w x (h x) - (h x) w x is
(w x h) x and m u + w x h is the momentum f; the block at the left above is
(w x J - J w x - u x h x - h x u x - n x) / 2, and with (r x v) x = v r^T - r v^T and
dJ/dt = 2 tr(K) 1 - K - K^T that is tr(K) 1 - K.

Loads on the bodies outboard of a joint: constant in base axes, at points that are carried along.

Notation (sums over the loads outboard of joint i; F and N force and moment of one load, r its point
from P, all in the basis)

==================  ================  ==========================================================
paper               code              meaning
==================  ================  ==========================================================
--                  F0_iL, N0_iL      sum of the forces, sum of the pure moments
--                  n0_iL             moment about P, sum of N + r x F
--                  L0_i              sum of r F^T - (r . F) 1: L x is sum of (x x r) x F
--                  moved_i           moment per unit of q_i due to the motion of the points:
                                      L s - F x S_v = sum of (velocity of r) x F
--                  kept_i            moved_i - N x s, the term of CO-21 for loads that do
                                      not rotate
==================  ================  ==========================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Generic

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix, Vector, all_zero, outer
from symgen.algebra.spatial import Moments, RigidInertia, Spatial, trace_less
from symgen.algebra.turns import UPPER, mirrored, turn_of
from symgen.formulations.composite.motion import JointAxis, JointFrame, Place
from symgen.formulations.shared import let_spatial, let_symmetric
from symgen.formulations.state import Wrench
from symgen.kinematics.bodies import second_moments
from symgen.kinematics.joint import Joint
from symgen.kinematics.tree import BASE, KinematicTree
from symgen.program.builder import ProgramBuilder

NOTES = {
    "CO-9": "h_j = m_j c and E_j = c h^T + (second moments about the centre), c from P",
    "CO-10": "K_j = w x E + u h^T and f_j = m u + w x h: int v r^T dm and int v dm",
    "CO-11": "force int a dm = m a + W h and moment int r x a dm, from the skew part of "
    "W E + a h^T",
    "CO-12": "composites: sums over the bodies from j outwards -- Featherstone 2008, section 6.2; "
    "Singh, Russell, Wensing 2022 (IDSVA)",
    "CO-13": "J = tr(E) 1 - E and B = tr(K) 1 - K of the composite",
    "CO-17": "F, N and n = N + r x F of a load about P; L = r F^T - (r . F) 1; sums over all "
    "loads outboard of the joint",
    "CO-18": "moved_i = L s - F x S_v, kept_i = moved_i - N x s",
}


@dataclass(frozen=True)
class OwnBody(Generic[S]):
    """A body in axes of its joint: mass, centre of mass, second moments about it."""

    mass: S
    com: Vector[S]
    E: Matrix[S]


@dataclass(frozen=True)
class Momentum(Generic[S]):
    """int v r^T dm and int v dm."""

    K: Matrix[S]
    f: Vector[S]

    def __add__(self, other: Momentum[S]) -> Momentum[S]:
        return Momentum(self.K + other.K, self.f + other.f)


@dataclass(frozen=True)
class Coriolis(Generic[S]):
    """CO-13: the Coriolis matrix [[B, 0], [-f x, 0]] of a composite."""

    B: Matrix[S]
    f: Vector[S]

    def apply(self, angular: Vector[S]) -> Spatial[S]:
        """Times a motion, of which it takes the angular half."""
        return Spatial(self.B.apply(angular), angular.cross(self.f))

    def transposed(self, x: Spatial[S]) -> Vector[S]:
        """Its transpose times a motion: the angular half of the result, the other one is 0."""
        return self.B.apply_transposed(x.angular) + self.f.cross(x.linear)


# -- steps, one body each ----------------------------------------------------------------------


def own_body(joint: Joint[S], algebra: Algebra[S]) -> OwnBody[S]:
    """Return the body of a joint in the axes after the joint's motion."""
    body, link = joint.body, joint.placement.link
    E = turn_of(link.rotation, algebra).symmetric(second_moments(body.inertia, algebra))
    return OwnBody(body.mass, link.apply(body.com), E)


def moments_step(at: JointFrame[S], body: OwnBody[S], b: ProgramBuilder[S]) -> Moments[S]:
    """Write the moments of a body: CO-9."""
    j = at.label
    with b.step("bodies", at.name):
        c = b.let(f"c0_{j}", at.x + at.R.apply(body.com), "CO-9")
        h = b.let(f"h0_{j}", c * body.mass, "CO-9")
        central = turned(at.R, body.E, f"E0_own_{j}", b)
        lever, first = tuple(c), tuple(h)
        E = mirrored({(i, k): central[i, k] + lever[i] * first[k] for i, k in UPPER})
        return Moments(body.mass, h, let_symmetric(b, f"E0_{j}", E, "CO-9"))


def momentum_step(
    at: JointAxis[S], moments: Moments[S], v: Spatial[S], b: ProgramBuilder[S]
) -> Momentum[S]:
    """Write the momentum of a body: CO-10."""
    j, w, u = at.label, v.angular, v.linear
    with b.step("bodies", at.name):
        columns = [w.cross(Vector(*column)) for column in moments.E.transposed.rows]
        spin = Matrix([tuple(column) for column in columns]).transposed
        K = b.let(f"K0_{j}", spin + outer(u, moments.h), "CO-10")
        return Momentum(K, b.let(f"f0_{j}", u * moments.m + w.cross(moments.h), "CO-10"))


def force_step(
    at: JointAxis[S], moments: Moments[S], a: Vector[S], W: Matrix[S], b: ProgramBuilder[S]
) -> Spatial[S]:
    """Write the force of inertia of a body: CO-11."""
    j = at.label
    with b.step("bodies", at.name):
        force = moments.force(a, W)
        return let_spatial(b, (f"n0_in_{j}", f"f0_in_{j}"), force, "CO-11")


def inertia_step(at: JointAxis[S], composite: Moments[S], b: ProgramBuilder[S]) -> RigidInertia[S]:
    """Write the inertia of a composite: CO-13."""
    with b.step("composites", at.name):
        J = let_symmetric(b, f"J0_{at.label}C", trace_less(composite.E), "CO-13")
        return RigidInertia(composite.m, composite.h, J)


def coriolis_step(at: JointAxis[S], composite: Momentum[S], b: ProgramBuilder[S]) -> Coriolis[S]:
    """Write the Coriolis matrix of a composite: CO-13."""
    with b.step("composites", at.name):
        B = b.let(f"B0_{at.label}C", trace_less(composite.K), "CO-13")
        return Coriolis(B, composite.f)


# -- parts of steps ----------------------------------------------------------------------------


def turned(R: Matrix[S], E: Matrix[S], name: str, b: ProgramBuilder[S]) -> Matrix[S]:
    """R E R^T of a symmetric E and a rotation R with the columns x, y, z.

    E less its last entry times 1 is p x^T + x p^T + q y^T + y q^T turned, with p and q of as many
    terms as E has other entries; the trace stays.
    """
    algebra, two = b.algebra, b.algebra.constant(2.0)
    rows = E.rows
    last = rows[2][2]
    xx, yy = rows[0][0] - last, rows[1][1] - last
    x, y, z = (Vector(*column) for column in R.transposed.rows)
    half = algebra.constant(0.5)
    p = b.let(f"{name}_p", x * (xx * half) + y * rows[0][1] + z * rows[0][2], "CO-9")
    q = b.let(f"{name}_q", y * (yy * half) + z * rows[1][2], "CO-9")
    X, Y, P, Q = tuple(x), tuple(y), tuple(p), tuple(q)
    entries = {
        (i, k): X[i] * P[k] + X[k] * P[i] + Y[i] * Q[k] + Y[k] * Q[i] for i, k in UPPER if i != k
    }
    first, second = ((X[i] * P[i] + Y[i] * Q[i]) * two + last for i in (0, 1))
    entries[0, 0] = b.let(f"{name}_11", first, "CO-9")
    entries[1, 1] = b.let(f"{name}_22", second, "CO-9")
    entries[2, 2] = rows[0][0] + rows[1][1] + last - entries[0, 0] - entries[1, 1]
    return mirrored(entries)


@dataclass(frozen=True)
class LoadSum(Generic[S]):
    """Sums over loads: CO-17."""

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
    """Effects of loads: CO-18."""

    moved: Vector[S]
    kept: Vector[S]


def load_step(
    at: Place[S], number: int, point: Vector[S], wrench: Wrench[S], b: ProgramBuilder[S]
) -> LoadSum[S]:
    """Write CO-17 for one load."""
    j = at.joint.number
    with b.step("loads", at.joint.name):
        r = b.let(f"r0_{j}_{number}", at.point(point), "CO-17")
        F = b.let(f"F0_{j}_{number}", at.C.apply_transposed(wrench.force), "CO-17")
        N = b.let(f"N0_{j}_{number}", at.C.apply_transposed(wrench.moment), "CO-17")
        n = b.let(f"n0_{j}_{number}", N + r.cross(F), "CO-17")
        products = b.let(f"rF0_{j}_{number}", outer(r, F), "CO-17")
        zero = b.algebra.zero
        L = trace_less(products)
        return LoadSum(F, N, n, Matrix([[zero - entry for entry in row] for row in L.rows]))


def load_effects_step(at: JointAxis[S], loads: LoadSum[S], b: ProgramBuilder[S]) -> LoadEffects[S]:
    """Write the effects of loads: CO-18."""
    j, s, S_v = at.label, at.axis.angular, at.axis.linear
    with b.step("loads", at.name):
        moved = b.let(f"moved_{j}", loads.L.apply(s) - loads.F.cross(S_v), "CO-18")
        return LoadEffects(moved, b.let(f"kept_{j}", moved - loads.N.cross(s), "CO-18"))


def load_sweep(
    tree: KinematicTree[S],
    places: dict[int, Place[S]],
    b: ProgramBuilder[S],
    wrenches: Sequence[Wrench[S]],
) -> dict[int, LoadSum[S]]:
    """Write CO-17 of every joint with loads outboard of it, leaves first."""
    parts: dict[int, list[LoadSum[S]]] = {}
    counts: dict[int, int] = {}
    for load, wrench in zip(tree.loads, wrenches, strict=True):
        j = load.body
        if j != BASE and not all_zero((*wrench.force, *wrench.moment), b.algebra):
            counts[j] = counts.get(j, 0) + 1
            part = load_step(places[j], counts[j], load.point, wrench, b)
            parts.setdefault(j, []).append(part)
    sums: dict[int, LoadSum[S]] = {}
    for j in reversed(places):
        if j in parts:
            with b.step("loads", places[j].name):
                total = reduce(add, parts[j])
                F, N = b.let(f"F0_{j}L", total.F, "CO-17"), b.let(f"N0_{j}L", total.N, "CO-17")
                n, L = b.let(f"n0_{j}L", total.n, "CO-17"), b.let(f"L0_{j}", total.L, "CO-17")
            sums[j] = LoadSum(F, N, n, L)
            parts.setdefault(places[j].joint.parent, []).append(sums[j])
    return sums
