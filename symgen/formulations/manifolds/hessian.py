"""Second derivatives of weighted torques, by the chain rule of second order.

mu . tau is y . tau_e of the chain, with multipliers y = W^-1 mu, velocities e' = W^-1 w and
accelerations e'' = W^-1 (w' - N(e, w)), all of which vary with the places e.  With P = W^-1,

    P_k = -D_k,    A_kl = P_kl = D_k D_l + D_l D_k - W_kl,
    e''_kl = A_kl e'' + D_k N_l + D_l N_k - N_kl,

where N_k and N_kl are derivatives of N = sum_i W_i (P w)_i P w by e with w held.  Places are those
of the chain; along the exponential of the group, which `integrate` follows, they bend by -N / 2, so
that second derivatives by places take -1/2 sum_i (D_k + D_l of row i) of the first ones.  The
result is symmetric: half the sum of the derivatives of the tangent derivatives, both ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from symgen.algebra.interface import S
from symgen.formulations.joint_terms import friction_curvatures
from symgen.formulations.manifolds import bending
from symgen.formulations.manifolds.chain import Chain
from symgen.formulations.manifolds.tangent import (
    Row,
    Stretch,
    Tangent,
    dot,
    is_sprung,
    minus,
    plus,
    rows_of,
    times,
)

FIRST = "inverse_dynamics_derivatives"


@dataclass(frozen=True)
class Way(Generic[S]):
    """Slopes of y, e' and e'' by a place, for the coordinates of its own joint alone."""

    at: tuple[int, ...]
    y: Row[S]
    v: Row[S]
    a: Row[S]


@dataclass(frozen=True)
class Given(Generic[S]):
    """The chain's torques, first and second derivatives: rows by coordinate.

    `ee`, `ev`, `ea`, `vv` are blocks of its Hessian, by places e, velocities v, accelerations a.
    """

    tau: Row[S]
    by_e: list[Row[S]]
    by_v: list[Row[S]]
    by_a: list[Row[S]]
    ee: list[Row[S]]
    ev: list[Row[S]]
    ea: list[Row[S]]
    vv: list[Row[S]]


def inverse_dynamics_hessian(chain: Chain[S]) -> None:
    """Write the Hessian in the tangent space: MF-7."""
    given = _given(chain)
    n, mu = chain.n, chain.state.multipliers
    qdd = chain.accelerations
    ways = _ways(chain, qdd)
    gradients = [
        [dot(mu, column, chain.zero) for column in zip(*matrix, strict=True)]
        for matrix in (given.by_e, given.by_v, given.by_a)
    ]
    q_q = [[_by_places(chain, given, ways, k, i) for i in range(n)] for k in range(n)]
    q_qd = [list(row) for row in given.ev]
    q_qdd = [list(row) for row in given.ea]
    qd_qd = [list(row) for row in given.vv]
    for k, way in ways.items():
        for j in range(n):
            felt = _weighed(way, given.by_v, j, chain.zero)
            q_qd[k][j] = q_qd[k][j] + _along(way, [row[j] for row in given.vv], chain.zero) + felt
            q_qdd[k][j] = q_qdd[k][j] + _weighed(way, given.by_a, j, chain.zero)
    for one in chain.joints:
        _moved_by_velocities(chain, one, given, ways, q_qd)
        _own(one, given, gradients, ways, (q_q, q_qd, q_qdd, qd_qd), qdd, mu)
        _of_spring(chain, one, q_q)
    for k, curvature in enumerate(friction_curvatures(chain.with_terms, chain.b, chain.rates)):
        qd_qd[k][k] = qd_qd[k][k] + curvature
    for name, matrix in zip(
        ("q_q", "q_qd", "q_qdd", "qd_qd"), (q_q, q_qd, q_qdd, qd_qd), strict=True
    ):
        chain.output(f"hessian_{name}", (n, n), [x for row in matrix for x in row], "MF-7")
    chain.finish()


def _given(chain: Chain[S]) -> Given[S]:
    chain.call(chain.function, chain.accelerations)
    second = [rows_of(x, chain.n) for x in chain.results(chain.function).values()]
    with chain.b.variant("_first"):
        chain.call(FIRST, chain.accelerations)
    tau, *first = chain.results(FIRST).values()
    return Given(tau, *(rows_of(x, chain.n) for x in first), *second)


def _ways(chain: Chain[S], qdd: Sequence[S]) -> dict[int, Way[S]]:
    found: dict[int, Way[S]] = {}
    for one in chain.joints:
        mu = one.of(chain.state.multipliers)
        for k, place in enumerate(one.at):
            found[place] = Way(
                one.at,
                [-x for x in one.times(one.D[k], mu)],
                [-x for x in one.turned[k]],
                [-x for x in one.bent(k, one.of(qdd))],
            )
    return found


def _along(way: Way[S], row: Sequence[S], zero: S) -> S:
    """A row by velocities, times how they change."""
    return dot([row[i] for i in way.at], way.v, zero)


def _weighed(way: Way[S], matrix: Sequence[Sequence[S]], column: int, zero: S) -> S:
    """How the multipliers change, times a column of a derivative of the torques."""
    return dot([matrix[i][column] for i in way.at], way.y, zero)


def _by_places(chain: Chain[S], given: Given[S], ways: dict[int, Way[S]], k: int, i: int) -> S:
    """The second derivative by places k and i, but for second derivatives of y, e', e''."""
    value, zero = given.ee[k][i], chain.zero
    for one, other in ((k, i), (i, k)):
        if other in ways:
            way = ways[other]
            value = value + _along(way, given.ev[one], zero)
            value = value + dot([given.ea[one][j] for j in way.at], way.a, zero)
            value = value + _weighed(way, given.by_e, one, zero)
            for j, y in zip(way.at, way.y, strict=True) if one in ways else ():
                felt = _along(ways[one], given.by_v[j], zero)
                felt = felt + dot([given.by_a[j][m] for m in ways[one].at], ways[one].a, zero)
                value = value + y * felt
    if k in ways and i in ways:
        for j, v in zip(ways[k].at, ways[k].v, strict=True):
            value = value + v * _along(ways[i], given.vv[j], zero)
    return value


def _moved_by_velocities(
    chain: Chain[S],
    one: Tangent[S],
    given: Given[S],
    ways: dict[int, Way[S]],
    q_qd: list[Row[S]],
) -> None:
    """Return the slopes of e'' by velocities of the joint and places of all coordinates."""
    for j, place in enumerate(one.at):
        change = [-x for x in one.N_by_velocity[j]]
        for k in range(chain.n):
            q_qd[k][place] = q_qd[k][place] + dot(one.of(given.ea[k]), change, chain.zero)
            if k in ways:
                for i, y in zip(ways[k].at, ways[k].y, strict=True):
                    felt = dot(one.of(given.by_a[i]), change, chain.zero)
                    q_qd[k][place] = q_qd[k][place] + y * felt


def _own(
    one: Tangent[S],
    given: Given[S],
    gradients: Sequence[Row[S]],
    ways: dict[int, Way[S]],
    blocks: tuple[list[Row[S]], list[Row[S]], list[Row[S]], list[Row[S]]],
    qdd: Sequence[S],
    mu: Sequence[S],
) -> None:
    """First derivatives times the second ones of y, e' and e'', and of places along the group."""
    q_q, q_qd, q_qdd, qd_qd = blocks
    by_e, by_v, by_a = (one.of(x) for x in gradients)
    tau, e, weights, half = one.of(given.tau), one.of(qdd), one.of(mu), one.half
    total = [
        by_e[k]
        + dot(by_v, way.v, one.zero)
        + dot(by_a, way.a, one.zero)
        + dot(tau, way.y, one.zero)
        for k, way in enumerate(ways[place] for place in one.at)
    ]
    for k, row in enumerate(one.at):
        for i, column in enumerate(one.at):
            A = one.P_second(k, i)
            value = dot(tau, one.times(A, weights), one.zero)
            value = value + dot(by_v, one.times(A, one.w), one.zero)
            value = value + dot(by_a, _accelerations(one, k, i, e), one.zero)
            bend = [one.D[k][j][i] + one.D[i][j][k] for j in one.size]
            value = value - half * dot(total, bend, one.zero)
            q_q[row][column] = q_q[row][column] + value
            turned = [x[i] for x in one.D[k]]
            steep = minus(one.times(one.D[k], one.N_by_velocity[i]), one.N_by_both(k, i))
            value = dot(by_a, steep, one.zero) - dot(by_v, turned, one.zero)
            q_qd[row][column] = q_qd[row][column] + value
            q_qdd[row][column] = q_qdd[row][column] - dot(by_a, turned, one.zero)
            qd_qd[row][column] = qd_qd[row][column] - dot(by_a, bend, one.zero)


def _of_spring(chain: Chain[S], one: Tangent[S], q_q: list[Row[S]]) -> None:
    """MF-9: those of mu . (k x)."""
    if not is_sprung(chain.tree, one.joint):
        return
    stiffness = [chain.tree.independent[k].terms.stiffness for k in one.at]
    weights = times(stiffness, one.of(chain.state.multipliers))
    bends = bending.curvature(Stretch.of(one.joint, chain.state.q, chain.b.algebra), weights)
    for k, row in zip(one.at, bends, strict=True):
        for i, bend in zip(one.at, row, strict=True):
            q_q[k][i] = q_q[k][i] + bend


def _accelerations(one: Tangent[S], k: int, i: int, e: Sequence[S]) -> Row[S]:
    """e''_ki"""
    found = one.times(one.P_second(k, i), e)
    found = plus(found, one.times(one.D[k], one.N_by_place[i]))
    found = plus(found, one.times(one.D[i], one.N_by_place[k]))
    return minus(found, one.N_by_places(k, i))
