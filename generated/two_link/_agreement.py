"""One subject against another: every function that both have, result by result."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from . import _limits as limits
from ._comparison import rows
from ._domain import where_defined
from ._evaluation import (
    ARGUMENTS,
    SEVERAL_RESULTS,
    Array,
    Check,
    Comparison,
    Evaluation,
    friction_by_velocity,
    friction_slope,
)
from ._forward_laws import SOLVED, response
from ._hessian_laws import HESSIAN, scale_of_hessian
from ._product_laws import (
    BASES,
    CURVED,
    scales_of_curvatures,
    scales_of_products,
)

PARTS = "torque_parts"


def agreement(s: Evaluation, reference: Evaluation, n: int, where: str = "") -> Iterator[Check]:
    """Every function that both have, result by result; `where` ends the names of the rows."""
    return rows((s, reference), partial(_common_results, where=where), n)


def _common_results(s: Evaluation, reference: Evaluation, where: str) -> Iterator[Comparison]:
    for name in ARGUMENTS:
        if s.has(name) and reference.has(name):
            results = s.results(name), reference.results(name)
            scales = scales_of(s, reference, name)
            ok = comparable(reference, name)
            differences = name in (HESSIAN, *CURVED) and reference.subject.independent
            limit = limits.difference if differences else limits.agreement
            for label, *both, scale in zip(labels_of(name), *results, scales, strict=True):
                what = f"{name}{label} = that of {reference.subject.name}{where}"
                arrays = *where_defined(reference, name, label, *both), scale
                yield what, limit, *(np.asarray(x)[ok] for x in arrays)


def comparable(lens: Evaluation, name: str) -> Array:
    """The samples at which a function has a result, (S,)."""
    if name in SOLVED:
        return np.asarray(response(lens, name).regular)
    return np.ones(len(lens.states.q), dtype=bool)


def scales_of(s: Evaluation, lens: Evaluation, name: str) -> list[Array]:
    """For every result what else its errors are relative to, (S, ...)."""
    if name in BASES:
        return scales_of_products(s, lens, name)
    if name in CURVED:
        scales = scales_of_curvatures(s, lens, name)
        if lens.subject.independent:  # by differences of gradients, whose roundings count
            sizes = map(_top, lens.results(f"{CURVED[name]}_vjp"))
            scales = [scale + size for scale, size in zip(scales, sizes, strict=True)]
        return scales
    if name in SOLVED:
        return response(lens, name).scales(lens if lens.has(name) else s, name)
    if name == HESSIAN:
        return [scale_of_hessian(s, lens if lens.has(name) else s)] * len(labels_of(name))
    if name == PARTS:
        return [_largest_part(lens if lens.has(name) else s)] * len(labels_of(name))
    slopes = {", dtau_dqd": friction_slope}
    if name == "inverse_dynamics_parameter_derivatives":
        slopes[""] = friction_by_velocity
    nothing = np.zeros(len(s.states.q))
    return [slopes[label](s) if label in slopes else nothing for label in labels_of(name)]


def _top(array: Array) -> Array:
    """Largest magnitude in each sample, (S,)."""
    return np.asarray(np.abs(array).reshape(len(array), -1).max(axis=1, initial=0.0))


def _largest_part(s: Evaluation) -> Array:
    """Of the torques, (S,): one part may cancel, whose terms are as large as those of others."""
    parts = [np.abs(part).max(axis=-1, initial=0.0) for part in s.results(PARTS)]
    return np.asarray(np.max(parts, axis=0))


def labels_of(name: str) -> list[str]:
    """What to write behind the name of a function for each of its results."""
    return [f", {label}" for label in SEVERAL_RESULTS.get(name, ())] or [""]
