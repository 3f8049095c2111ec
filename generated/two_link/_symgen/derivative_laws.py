"""Laws of derivatives: they equal complex steps of the functions that they differentiate.

Products equal these derivatives times a vector.  Second derivatives equal complex steps of first
ones; the Hessian of multipliers . tau is one matrix of order 3 n in blocks, whose errors are
relative to its largest entry.

In every law `s` is the subject, and `lens` computes complex steps: the subject itself where it
takes complex numbers, else another subject, with which it is compared function by function anyway.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from . import limits
from .agreement import compared
from .calls import SEVERAL_RESULTS, SLOPES
from .configuration import Configuration
from .domain import where_both_are_defined
from .scales import (
    BASES,
    CURVED,
    HD,
    HESSIAN,
    ID,
    PRODUCTS,
    SOLVED,
    comparable,
    direction_of,
    has_matrices,
    matrices_of,
    scale_of_hessian,
    scales_of,
    slopes_of,
)  # fmt: skip
from .subjects import Array, Comparison, Evaluation, call, times

MATRICES = f"{ID}_derivatives"


def derivatives(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Derivatives of `SLOPES` equal complex steps, and values those of the function."""
    for name, (base, by) in SLOPES.items():
        if not s.has(name) or (SOLVED.get(name) == HD and s.facts.prescribed is None):
            continue
        value = len(SEVERAL_RESULTS.get(name, ("",))) > len(by)
        if value and base != name and s.has(base):
            ok, scale = comparable(lens, name), scales_of(s, lens, name)[0]
            label = SEVERAL_RESULTS[name][0]
            pair = where_both_are_defined(name, s[name], np.asarray(s[base]))
            arrays = (np.asarray(x)[ok] for x in (*pair, scale))
            yield f"{name}, {label} = {base}", limits.agreement, *arrays
        if lens.has(base):
            of = "the value" if base == name else base
            words = f"complex step of {of}{' in qdd' if name == 'mass_matrix' else ''}"
            expected = [*[None] * value, *(_slope(lens, base, *pair) for pair in by)]
            yield from compared(s, lens, name, [(words, limits.derivative, x) for x in expected])


def _slope(lens: Evaluation, base: str, argument: str, result: int) -> Array | None:
    """Return a derivative by complex step; None where it is empty."""
    if not vars(lens.states)[argument].size:
        return None
    slope = lens.slope(base, argument, result)
    return slope if slope.size else None


def products(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Products along a direction, and of weights with derivatives, by complex steps."""
    for name, base in BASES.items():
        if s.has(name) and lens.has(base):
            slopes, by = slopes_of(lens, base), f"complex step of {base}"
            if name.endswith("jvp"):
                terms = [times(x.matrix, direction_of(lens, x.argument)) for x in slopes]
                along = (by, limits.derivative, np.asarray(sum(terms)))
                expected = [(base, limits.agreement, np.asarray(lens[base])), along]
            else:
                weights = s.states.multipliers
                sums = [np.einsum("si,sij->sj", weights, x.matrix) for x in slopes]
                pairs = zip(sums, s.results(name), strict=True)
                expected = [(by, limits.derivative, x.reshape(np.shape(y))) for x, y in pairs]
            yield from compared(s, lens, name, expected)


def second_products(s: Evaluation, lens: Evaluation, *more: Evaluation) -> Iterator[Comparison]:
    """Hessians times a direction are changes of gradients along it, by the first that has some."""
    for name, base in CURVED.items():
        stepped = (x for x in (lens, *more) if x.subject.complex_step)
        source = next((x for x in stepped if x.has(f"{base}_vjp") or has_matrices(x, base)), None)
        if source is not None and s.has(name):
            by = "complex step of the gradient"
            expected = [(by, limits.derivative, x) for x in _changes(source, base)]
            yield from compared(s, lens, name, expected)


def _changes(lens: Evaluation, base: str) -> list[Array]:
    """Return changes of gradients along the direction of the states, symmetric by q."""
    at = lens.moved_along(PRODUCTS[base])
    if lens.has(f"{base}_vjp"):
        gradients = call(lens.subject.functions, f"{base}_vjp", at)
    else:
        matrices = matrices_of(lens, base, at)
        gradients = tuple(np.einsum("si,si...->s...", at["multipliers"], x) for x in matrices)
    by_q = half_bracket(lens.facts.configuration, gradients[0].real, lens.states.along_q)
    changes = [np.asarray(x).imag / limits.STEP for x in gradients]
    return [changes[0] - by_q, *changes[1:]]


def half_bracket(space: Configuration | None, gradient: Array, direction: Array) -> Array:
    """Return half of the difference between both orders of two tangent derivatives, (..., n).

    On a manifold the derivative by k, then by j, less that in the other order is the derivative
    along the bracket [S_k, S_j] of the columns; a Hessian is symmetric.

    Args:
        space: configuration space.
        gradient: first derivative by q, (..., n).
        direction: direction of the second derivative, (..., n).
    """
    if space is None or not space.joints:
        return np.zeros(np.shape(gradient))
    D = space.turning
    bracket = np.einsum("jik->kji", D) - np.einsum("kij->kji", D)
    return np.asarray(0.5 * np.einsum("...k,kji,...i->...j", direction, bracket, gradient))


STEPS = (
    ("hessian_q_q", "q", 1, False),
    ("hessian_q_qd", "qd", 1, False),
    ("hessian_q_qd", "q", 2, True),
    ("hessian_q_qdd", "qdd", 1, False),
    ("hessian_q_qdd", "q", 3, True),
    ("hessian_qd_qd", "qd", 2, False),
)
"""Block, argument, result of `MATRICES`, and whether the transpose of the block maps a change of
the argument to the change of multipliers . result."""


def hessian(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Blocks times a direction equal complex steps of the derivatives by `lens`."""
    if not (s.has(HESSIAN) and lens.has(MATRICES)):
        return
    blocks = dict(zip(SEVERAL_RESULTS[HESSIAN], map(np.asarray, s.results(HESSIAN)), strict=True))
    scale = scale_of_hessian(s, s)
    for block in ("hessian_q_q", "hessian_qd_qd"):
        transpose = np.swapaxes(blocks[block], -1, -2)
        yield f"{HESSIAN}, {block} is symmetric", limits.physics, transpose, blocks[block]
    slopes = {argument: lens.directional(MATRICES, argument) for argument in ("q", "qd", "qdd")}
    for block, argument, result, transposed in STEPS:
        matrix = np.swapaxes(blocks[block], -1, -2) if transposed else blocks[block]
        expected = np.einsum("si,sij->sj", s.states.multipliers, slopes[argument][result])
        if block == "hessian_q_q":
            by_q = np.asarray(lens.results(MATRICES)[1])
            gradient = np.einsum("sa,sai->si", s.states.multipliers, by_q)
            space = s.facts.configuration
            expected = expected - half_bracket(space, gradient, s.states.direction)
        what = f"{HESSIAN}, {block}{'^T' * transposed} v = complex step of {MATRICES} in {argument}"
        yield what, limits.derivative, times(matrix, s.states.direction), expected, scale
