"""Laws of second derivatives of the torques: they are those of the first ones.

The Hessian of multipliers . tau is one matrix of order 3 n, given in blocks; what errors are
relative to is its largest entry.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from . import _limits as limits
from ._evaluation import (
    SEVERAL_RESULTS,
    Array,
    Comparison,
    Evaluation,
    friction_curvature,
    times,
)

HESSIAN, SLOPES = "inverse_dynamics_hessian", "inverse_dynamics_derivatives"

STEPS = (
    ("hessian_q_q", "q", 1, False),
    ("hessian_q_qd", "qd", 1, False),
    ("hessian_q_qd", "q", 2, True),
    ("hessian_q_qdd", "qdd", 1, False),
    ("hessian_q_qdd", "q", 3, True),
    ("hessian_qd_qd", "qd", 2, False),
)
"""Blocks; each, or its transpose, takes a change of an argument to that of multipliers . (a result
of `SLOPES`)."""


def hessian(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """The blocks times a direction, against complex steps of the derivatives by `lens`."""
    if not (s.has(HESSIAN) and lens.has(SLOPES)):
        return
    blocks = dict(zip(SEVERAL_RESULTS[HESSIAN], map(np.asarray, s.results(HESSIAN)), strict=True))
    whole = scale_of_hessian(s, s)
    for block in ("hessian_q_q", "hessian_qd_qd"):
        other = np.swapaxes(blocks[block], -1, -2)
        yield f"{HESSIAN}, {block} is symmetric", limits.physics, other, blocks[block]
    slopes = {argument: lens.directional(SLOPES, argument) for argument in ("q", "qd", "qdd")}
    for block, argument, result, transposed in STEPS:
        matrix = np.swapaxes(blocks[block], -1, -2) if transposed else blocks[block]
        expected = np.einsum("si,sij->sj", s.states.multipliers, slopes[argument][result])
        if block == "hessian_q_q":
            by_q = np.asarray(lens.results(SLOPES)[1])
            gradient = np.einsum("sa,sai->si", s.states.multipliers, by_q)
            expected = expected - half_bracket(s, gradient, s.states.direction)
        what = f"{HESSIAN}, {block}{'^T' * transposed} v = complex step of {SLOPES} in {argument}"
        yield what, limits.derivative, times(matrix, s.states.direction), expected, whole


def half_bracket(s: Evaluation, gradient: Array, direction: Array) -> Array:
    """What the order of two tangent derivatives makes of the second ones, (S, n), halved.

    `gradient` is that by q, (S, n), and the `direction` (S, n) what the second one is taken along.

    On a manifold that by k, then by j, less the other way round is the derivative along the bracket
    [S_k, S_j] of the columns; a Hessian is symmetric.
    """
    if s.facts.configuration is None:
        return np.zeros(s.states.qd.shape)
    D = s.facts.configuration.turning
    bracket = np.einsum("jik->kji", D) - np.einsum("kij->kji", D)
    return np.asarray(0.5 * np.einsum("sk,kji,si->sj", direction, bracket, gradient))


def scale_of_hessian(s: Evaluation, source: Evaluation) -> Array:
    """All entries of the Hessian by `source`, and what friction loses of it, (S, ...)."""
    blocks = [np.reshape(x, (len(s.states.q), -1)) for x in source.results(HESSIAN)]
    return np.concatenate([*blocks, friction_curvature(s)], axis=1)
