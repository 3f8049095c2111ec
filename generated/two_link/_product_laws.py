"""Laws of products: they are the derivatives of what they are products of, times a vector.

Those derivatives are complex steps, by all that the function depends on.  Where terms of a product
cancel its errors are relative to the terms; where it is of accelerations, also to what the errors
of each derivative are relative to (`symgen.validation.forward_laws`).

Hessians times a direction are the changes of gradients along it; on manifolds less half of the
bracket (`symgen.validation.hessian_laws`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _limits as limits
from ._evaluation import (
    SEVERAL_RESULTS,
    Array,
    Comparison,
    Evaluation,
    call,
    friction_curvature,
    friction_slope,
    times,
)
from ._forward_laws import response
from ._hessian_laws import half_bracket

PRODUCTS: Mapping[str, tuple[str, ...]] = {
    "inverse_dynamics": ("q", "qd", "qdd", "loads", "parameters"),
    "forward_dynamics": ("q", "qd", "tau", "loads", "parameters"),
}
"""What there are products of, and by which arguments derivatives are taken."""

BASES: Mapping[str, str] = {f"{base}_{kind}": base for base in PRODUCTS for kind in ("jvp", "vjp")}
"""By the name of a product what it is one of."""

CURVED: Mapping[str, str] = {f"{base}_hvp": base for base in PRODUCTS}
"""The same of those of second derivatives."""

LOADS = "inverse_dynamics_load_derivatives"


@dataclass(frozen=True)
class Slope:
    """Derivatives of a function by one argument, (S, n, m), and the size of their errors, (S,)."""

    argument: str
    matrix: Array
    scale: Array


def products(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Along a direction, and backwards from a sum, by complex steps."""
    for name, base in BASES.items():
        if not (s.has(name) and lens.has(base)):
            continue
        ok = _regular(lens, base)
        scales = scales_of_products(s, lens, name)
        labels, results = SEVERAL_RESULTS[name], s.results(name)
        expected = _expected(lens, name)
        for label, value, wanted, scale in zip(labels, results, expected, scales, strict=True):
            by = base if label in ("tau", "qdd") else f"complex step of {base}"
            limit = limits.agreement if label in ("tau", "qdd") else limits.derivative
            yield f"{name}, {label} = {by}", limit, np.asarray(value)[ok], wanted[ok], scale[ok]


def _expected(lens: Evaluation, name: str) -> list[Array]:
    base, states = BASES[name], lens.states
    slopes = _slopes(lens, base)
    if name.endswith("jvp"):
        terms = [times(x.matrix, _direction(lens, x.argument)) for x in slopes]
        return [np.asarray(lens[base]), np.asarray(sum(terms))]
    found = [np.einsum("si,sij->sj", states.multipliers, x.matrix) for x in slopes]
    shapes = [vars(states)["qd" if x.argument == "q" else x.argument].shape for x in slopes]
    return [x.reshape(shape) for x, shape in zip(found, shapes, strict=True)]


def scales_of_products(s: Evaluation, lens: Evaluation, name: str) -> list[Array]:
    """For every result what its errors are relative to, (S,), as far as `lens` knows."""
    base, none = BASES[name], np.zeros(len(s.states.qd))
    slopes = _slopes(lens, base)
    if not slopes:
        return [none] * len(SEVERAL_RESULTS[name])
    if name.endswith("jvp"):
        total = none
        for x in slopes:
            direction = np.abs(_direction(lens, x.argument))
            total = total + _top(times(np.abs(x.matrix), direction)) + x.scale * _top(direction)
        return [_scale_of_values(lens, base), total]
    weights = np.abs(s.states.multipliers)
    sums = weights.sum(axis=-1)
    return [
        _top(np.einsum("si,sij->sj", weights, np.abs(x.matrix))) + x.scale * sums for x in slopes
    ]


def _direction(s: Evaluation, argument: str) -> Array:
    """How an argument changes, (S, m)."""
    return np.asarray(vars(s.states)[f"along_{argument}"].reshape(len(s.states.qd), -1))


def _regular(lens: Evaluation, base: str) -> Array:
    """The samples at which there is a result, (S,)."""
    if base == "forward_dynamics":
        return np.asarray(response(lens, base).regular)
    return np.ones(len(lens.states.qd), dtype=bool)


def _scale_of_values(lens: Evaluation, base: str) -> Array:
    if base == "forward_dynamics" and lens.has(base):
        return response(lens, base).scales(lens, base)[0]
    return np.zeros(len(lens.states.qd))


def _slopes(lens: Evaluation, base: str) -> list[Slope]:
    """Derivatives by every argument of `PRODUCTS`; none where `lens` does not know of any."""
    matrices = _matrices(lens, base)
    found: list[Slope] = []
    for argument, matrix in matrices.items():
        if base == "forward_dynamics":
            r = response(lens, base)
            forces = r.forces(lens.states.tau, _accelerations(lens))
            scale = r.scale_of_slopes(lens, f"dqdd_d{argument}", matrix, forces)
        else:
            scale = _top(friction_slope(lens)) if argument == "qd" else np.zeros(len(matrix))
        found.append(Slope(argument, matrix, scale))
    return found


def _accelerations(lens: Evaluation) -> Array:
    holder = "forward_dynamics" if lens.has("forward_dynamics") else "forward_dynamics_derivatives"
    return np.asarray(lens[holder])


def _matrices(lens: Evaluation, base: str) -> dict[str, Array]:
    """By argument, (S, n, m): by complex step, or from functions that are matrices."""
    S, n = lens.states.qd.shape
    arguments = PRODUCTS[base]
    if lens.subject.complex_step and not lens.subject.independent and lens.has(base):
        given = {argument: vars(lens.states)[argument].size for argument in arguments}
        none = np.zeros((S, n, 0))
        found = {x: lens.slope(base, x) if size else none for x, size in given.items()}
    elif _has_matrices(lens, base):
        found = dict(zip(arguments, _by_functions(lens, base, vars(lens.states)), strict=True))
    else:
        return {}
    return {x: np.reshape(y, (S, n, math.prod(np.shape(y)[2:]))) for x, y in found.items()}


def _by_functions(lens: Evaluation, base: str, at: dict[str, Any]) -> list[Array]:
    """The matrices, at these states, from functions that return them."""
    functions = lens.subject.functions
    _, *by_state = call(functions, f"{base}_derivatives", at)
    (by_loads,), sizes = call(functions, LOADS, at), lens.states.parameters.shape
    if base == "forward_dynamics":  # M qdd + ... = tau + loads
        by_loads = -np.einsum("sij,sjkc->sikc", by_state[2], by_loads)
    name, n = f"{base}_parameter_derivatives", by_loads.shape[1]
    by_parameters = np.zeros((sizes[0], n, sizes[1]))
    if sizes[1]:
        (by_parameters,) = call(functions, name, at)
    return [*by_state, by_loads, by_parameters]


# -------------------------------------------------------------------------------- second ones


def second_products(s: Evaluation, lens: Evaluation, *others: Evaluation) -> Iterator[Comparison]:
    """Against complex steps of gradients, by the first of `lens` and `others` that has any."""
    for name, base in CURVED.items():
        sources = (x for x in (lens, *others) if _has_gradients(x, base))
        source = next(sources, None)
        if source is None or not s.has(name):
            continue
        ok, labels = _regular(lens, base), SEVERAL_RESULTS[name]
        triples = zip(s.results(name), _changes(source, base), scales_of_curvatures(s, lens, name),
                      strict=True)  # fmt: skip
        for label, (value, wanted, scale) in zip(labels, triples, strict=True):
            what = f"{name}, {label} = complex step of the gradient"
            yield what, limits.derivative, np.asarray(value)[ok], wanted[ok], scale[ok]


def _has_gradients(lens: Evaluation, base: str) -> bool:
    return lens.subject.complex_step and (lens.has(f"{base}_vjp") or _has_matrices(lens, base))


def _has_matrices(lens: Evaluation, base: str) -> bool:
    """Whether it has all functions of `_by_functions`."""
    by_parameters = (f"{base}_parameter_derivatives",) if lens.states.parameters.size else ()
    return lens.has(f"{base}_derivatives", LOADS, *by_parameters)


def _changes(lens: Evaluation, base: str) -> list[Array]:
    """How the gradients change along the direction of the states; by q, symmetric."""
    at = lens.moved_along(PRODUCTS[base])
    if lens.has(f"{base}_vjp"):
        found = call(lens.subject.functions, f"{base}_vjp", at)
    else:
        matrices = _by_functions(lens, base, at)
        found = tuple(np.einsum("si,si...->s...", at["multipliers"], x) for x in matrices)
    by_q = half_bracket(lens, found[0].real, lens.states.along_q)
    changes = [np.asarray(x).imag / limits.STEP for x in found]
    return [changes[0] - by_q, *changes[1:]]


def scales_of_curvatures(s: Evaluation, lens: Evaluation, name: str) -> list[Array]:
    """For every result of a Hessian times a direction what its errors are relative to, (S,).

    Terms are what each entry of the direction brings; friction bends by its velocity alone.  What
    is solved for once more has the errors of the first derivatives, spread once more.
    """
    base, states = CURVED[name], vars(s.states)
    totals = [np.zeros(len(s.states.qd))] * len(SEVERAL_RESULTS[name])
    for argument in PRODUCTS[base]:
        for result, terms in enumerate(_terms(s, name, f"along_{argument}", states)):
            totals[result] = totals[result] + terms
    totals[1] = totals[1] + _top(friction_curvature(s))
    if base == "forward_dynamics":
        weights = np.abs(s.states.multipliers).sum(axis=-1) * (1.0 + response(lens, base).spread)
        slopes = _slopes(lens, base)
        solved = sum(x.scale * _top(_direction(lens, x.argument)) for x in slopes)
        totals = [total + weights * solved for total in totals]
    return totals


def _terms(s: Evaluation, name: str, key: str, states: dict[str, Array]) -> list[Array]:
    """By result, (S,): the sum of what the entries of one part of the direction bring."""
    direction = states[key].reshape(len(states[key]), -1)
    samples, size = direction.shape
    if not size:
        return []
    stacked = {x: np.repeat(array, size, axis=0) for x, array in states.items()}
    stacked |= {x: np.zeros_like(y) for x, y in stacked.items() if x.startswith("along_")}
    alone = direction[:, np.newaxis] * np.eye(size)
    stacked[key] = alone.reshape(stacked[key].shape)
    found = (np.abs(x).reshape(samples, size, -1) for x in call(s.subject.functions, name, stacked))
    return [_top(x.sum(axis=1)) for x in found]


def _top(array: Array) -> Array:
    """Largest magnitude in each sample, (S,)."""
    return np.asarray(np.abs(array).max(axis=tuple(range(1, np.ndim(array))), initial=0.0))
