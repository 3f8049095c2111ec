"""Second derivatives of weighted torques, by the chain rule of second order.

mu . tau is y . tau_e of the chain, with multipliers y = W^-1 mu, velocities e' = W^-1 w and
accelerations e'' = W^-1 (w' - N(e, w)), all of which vary with the places e.  With P = W^-1,

    P_k = -D_k,    A_kl = P_kl = D_k D_l + D_l D_k - W_kl,
    e''_kl = A_kl e'' + D_k N_l + D_l N_k - N_kl,

where N_k and N_kl are derivatives of N = sum_i W_i (P w)_i P w by e with w held.  Places are those
of the chain; along the exponential of the group, which `integrate` follows, they curve by -N / 2,
so that second derivatives by places take -1/2 sum_i (D_k + D_l of row i) of the first ones.  The
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
from symgen.formulations.shared import flat
from symgen.program.builder import Results

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


def inverse_dynamics_hessian(chain: Chain[S]) -> Results[S]:
    """Write the Hessian in the tangent space: MF-7."""
    blocks = _given(chain)
    n, mu = chain.n, chain.state.multipliers
    qdd = chain.accelerations
    slopes = _ways(chain, qdd)
    gradients = [
        [dot(mu, column, chain.zero) for column in zip(*matrix, strict=True)]
        for matrix in (blocks.by_e, blocks.by_v, blocks.by_a)
    ]
    q_q = [[_by_places(chain, blocks, slopes, k, i) for i in range(n)] for k in range(n)]
    q_qd = [list(row) for row in blocks.ev]
    q_qdd = [list(row) for row in blocks.ea]
    qd_qd = [list(row) for row in blocks.vv]
    for k, slope in slopes.items():
        for j in range(n):
            gain = _weighed(slope, blocks.by_v, j, chain.zero)
            q_qd[k][j] = (
                q_qd[k][j] + _along(slope, [row[j] for row in blocks.vv], chain.zero) + gain
            )
            q_qdd[k][j] = q_qdd[k][j] + _weighed(slope, blocks.by_a, j, chain.zero)
    for space in chain.joints:
        _moved_by_velocities(chain, space, blocks, slopes, q_qd)
        _own(space, blocks, gradients, slopes, (q_q, q_qd, q_qdd, qd_qd), qdd, mu)
        _of_spring(chain, space, q_q)
    for k, curvature in enumerate(friction_curvatures(chain.with_terms, chain.b, chain.rates)):
        qd_qd[k][k] = qd_qd[k][k] + curvature
    matrices = {"q_q": q_q, "q_qd": q_qd, "q_qdd": q_qdd, "qd_qd": qd_qd}
    results = {f"hessian_{name}": flat(matrix) for name, matrix in matrices.items()}
    return chain.finish({name: chain.named(name, x, "MF-7") for name, x in results.items()})


def _given(chain: Chain[S]) -> Given[S]:
    hessian = chain.call(chain.function, chain.accelerations)
    with chain.b.variant("_first"):
        tau, *first = chain.call(FIRST, chain.accelerations).values()
    second = [rows_of(x, chain.n) for x in hessian.values()]
    return Given(list(tau), *(rows_of(x, chain.n) for x in first), *second)


def _ways(chain: Chain[S], qdd: Sequence[S]) -> dict[int, Way[S]]:
    slopes: dict[int, Way[S]] = {}
    for space in chain.joints:
        mu = space.of(chain.state.multipliers)
        for k, place in enumerate(space.at):
            slopes[place] = Way(
                space.at,
                [-x for x in space.times(space.D[k], mu)],
                [-x for x in space.turned[k]],
                [-x for x in space.curved(k, space.of(qdd))],
            )
    return slopes


def _along(slope: Way[S], row: Sequence[S], zero: S) -> S:
    """Return a row by velocities, times how they change."""
    return dot([row[i] for i in slope.at], slope.v, zero)


def _weighed(slope: Way[S], matrix: Sequence[Sequence[S]], column: int, zero: S) -> S:
    """How the multipliers change, times a column of a derivative of the torques."""
    return dot([matrix[i][column] for i in slope.at], slope.y, zero)


def _by_places(chain: Chain[S], blocks: Given[S], slopes: dict[int, Way[S]], k: int, i: int) -> S:
    """Return the second derivative by places k and i, but for second derivatives of y, e', e''."""
    value, zero = blocks.ee[k][i], chain.zero
    for first, second in ((k, i), (i, k)):
        if second in slopes:
            slope = slopes[second]
            value = value + _along(slope, blocks.ev[first], zero)
            value = value + dot([blocks.ea[first][j] for j in slope.at], slope.a, zero)
            value = value + _weighed(slope, blocks.by_e, first, zero)
            for j, y in zip(slope.at, slope.y, strict=True) if first in slopes else ():
                gain = _along(slopes[first], blocks.by_v[j], zero)
                gain = gain + dot(
                    [blocks.by_a[j][m] for m in slopes[first].at], slopes[first].a, zero
                )
                value = value + y * gain
    if k in slopes and i in slopes:
        for j, v in zip(slopes[k].at, slopes[k].v, strict=True):
            value = value + v * _along(slopes[i], blocks.vv[j], zero)
    return value


def _moved_by_velocities(
    chain: Chain[S],
    space: Tangent[S],
    blocks: Given[S],
    slopes: dict[int, Way[S]],
    q_qd: list[Row[S]],
) -> None:
    """Return the slopes of e'' by velocities of the joint and indices of all coordinates."""
    for j, place in enumerate(space.at):
        change = [-x for x in space.N_by_velocity[j]]
        for k in range(chain.n):
            q_qd[k][place] = q_qd[k][place] + dot(space.of(blocks.ea[k]), change, chain.zero)
            if k in slopes:
                for i, y in zip(slopes[k].at, slopes[k].y, strict=True):
                    gain = dot(space.of(blocks.by_a[i]), change, chain.zero)
                    q_qd[k][place] = q_qd[k][place] + y * gain


def _own(
    space: Tangent[S],
    torques: Given[S],
    gradients: Sequence[Row[S]],
    slopes: dict[int, Way[S]],
    blocks: tuple[list[Row[S]], list[Row[S]], list[Row[S]], list[Row[S]]],
    qdd: Sequence[S],
    mu: Sequence[S],
) -> None:
    """First derivatives times the second ones of y, e' and e'', and of places along the group."""
    q_q, q_qd, q_qdd, qd_qd = blocks
    by_e, by_v, by_a = (space.of(x) for x in gradients)
    tau, e, weights, half = space.of(torques.tau), space.of(qdd), space.of(mu), space.half
    total = [
        by_e[k]
        + dot(by_v, slope.v, space.zero)
        + dot(by_a, slope.a, space.zero)
        + dot(tau, slope.y, space.zero)
        for k, slope in enumerate(slopes[place] for place in space.at)
    ]
    for k, row in enumerate(space.at):
        for i, column in enumerate(space.at):
            A = space.P_second(k, i)
            value = dot(tau, space.times(A, weights), space.zero)
            value = value + dot(by_v, space.times(A, space.w), space.zero)
            value = value + dot(by_a, _accelerations(space, k, i, e), space.zero)
            bend = [space.D[k][j][i] + space.D[i][j][k] for j in space.size]
            value = value - half * dot(total, bend, space.zero)
            q_q[row][column] = q_q[row][column] + value
            turned = [x[i] for x in space.D[k]]
            steep = minus(space.times(space.D[k], space.N_by_velocity[i]), space.N_by_both(k, i))
            value = dot(by_a, steep, space.zero) - dot(by_v, turned, space.zero)
            q_qd[row][column] = q_qd[row][column] + value
            q_qdd[row][column] = q_qdd[row][column] - dot(by_a, turned, space.zero)
            qd_qd[row][column] = qd_qd[row][column] - dot(by_a, bend, space.zero)


def _of_spring(chain: Chain[S], space: Tangent[S], q_q: list[Row[S]]) -> None:
    """MF-9: those of mu . (k x)."""
    if not is_sprung(chain.tree, space.joint):
        return
    stiffness = [chain.tree.independent[k].terms.stiffness for k in space.at]
    weights = times(stiffness, space.of(chain.state.multipliers))
    bends = bending.curvature(Stretch.of(space.joint, chain.state.q, chain.b.algebra), weights)
    for k, row in zip(space.at, bends, strict=True):
        for i, bend in zip(space.at, row, strict=True):
            q_q[k][i] = q_q[k][i] + bend


def _accelerations(space: Tangent[S], k: int, i: int, e: Sequence[S]) -> Row[S]:
    """e''_ki"""
    second = space.times(space.P_second(k, i), e)
    second = plus(second, space.times(space.D[k], space.N_by_place[i]))
    second = plus(second, space.times(space.D[i], space.N_by_place[k]))
    return minus(second, space.N_by_places(k, i))
