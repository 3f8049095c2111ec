"""Comparison of results: with those of another subject, and of one function called differently."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from . import limits
from .calls import ARGUMENTS, DIRECTED, DIRECTIONS, LOADED, OF_OUTPUTS, SEVERAL_RESULTS
from .comparison import rows
from .domain import where_both_are_defined, where_defined
from .scales import CURVED, HESSIAN, SOLVED, comparable, labels_of, response, scales_of
from .subjects import Array, Check, Comparison, Evaluation, call, takes_time

ONE_LINK = {"frame_pose": "forward_kinematics", "frame_jacobian": "jacobians"}

Expected = tuple[str, Callable[[int], float], Array | None]
"""Name of the expected value, its limit, and the array; None is not compared."""


def compared(
    s: Evaluation, lens: Evaluation, name: str, expected: Iterable[Expected]
) -> Iterator[Comparison]:
    """Compare the results of a function with expected ones at samples that are `comparable`."""
    ok, scales = comparable(lens, name), scales_of(s, lens, name)
    parts = zip(labels_of(name), s.results(name), scales, expected, strict=True)
    for label, value, scale, (words, limit, wanted) in parts:
        if wanted is not None:
            arrays = *where_defined(lens, name, label, value, wanted), scale
            yield f"{name}{label} = {words}", limit, *(np.asarray(x)[ok] for x in arrays)


def agreement(s: Evaluation, reference: Evaluation, n: int, where: str = "") -> Iterator[Check]:
    """Compare the functions that both have, result by result; `where` ends the names of rows."""
    return rows((s, reference), partial(_common_results, where=where), n)


def _common_results(s: Evaluation, reference: Evaluation, where: str) -> Iterator[Comparison]:
    words = f"that of {reference.subject.name}{where}"
    for name in ARGUMENTS:
        if s.has(name) and reference.has(name):
            differences = name in (HESSIAN, *CURVED) and reference.subject.independent
            limit = limits.difference if differences else limits.agreement
            expected = [(words, limit, np.asarray(x)) for x in reference.results(name)]
            yield from compared(s, reference, name, expected)


def interface(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Compare single samples, broadcast batches, `out=` and default arguments with a batch."""
    for name in filter(s.has, ARGUMENTS):
        ok = comparable(lens, name)
        if not ok.any():
            continue
        sizes = [float(np.asarray(x)[ok].max(initial=0.0)) for x in scales_of(s, lens, name)]
        for how, values, expected in _ways_to_call(s, name, ok):
            for label, *pair, size in zip(labels_of(name), values, expected, sizes, strict=True):
                arrays = where_both_are_defined(name, *pair)
                scale = np.full(len(arrays[1]), size)
                yield f"{name}{label}: {how}", limits.interface, *arrays, scale
    yield from _links(s)
    yield from _refusals(s, lens)


def _ways_to_call(s: Evaluation, name: str, ok: Array) -> Iterator[tuple[str, Any, Any]]:
    functions = s.subject.functions
    arguments = {key: x[ok] for key, x in vars(s.states).items()}
    batch = [np.asarray(result)[ok] for result in s.results(name)]
    few = min(2, len(arguments["q"]))
    single = [call(functions, name, {k: x[i] for k, x in arguments.items()}) for i in range(few)]
    stacked = [np.stack(results) for results in zip(*single, strict=True)]
    yield "single samples = batch", stacked, [result[:few] for result in batch]

    out = tuple(np.full((*x.shape[:-1], 2 * x.shape[-1]), np.nan)[..., ::2] for x in batch)  # gaps
    call(functions, name, arguments, out=out if name in SEVERAL_RESULTS else out[0])
    yield "out= is filled", out, batch

    some = "parameters" if arguments["parameters"].size else None
    keys = [*ARGUMENTS[name], *(["loads"] if name in LOADED else [])]
    keys += ["t", "timed"] if takes_time(name, arguments) else []
    mentioned = name in OF_OUTPUTS and arguments["motion_multipliers"].size
    keys += ["motion_multipliers"] if mentioned else []
    keys += filter(None, [some])
    keys += DIRECTIONS.values() if name in DIRECTED else ()
    if len(keys) > 1:
        crossed: dict[str, Any] = {keys[0]: arguments[keys[0]][:few, np.newaxis]}
        crossed |= {key: arguments[key][np.newaxis, :few] for key in keys[1:]}
        full = {keys[0]: np.repeat(arguments[keys[0]][:few], few, axis=0)}
        full |= {key: np.concatenate([arguments[key][:few]] * few) for key in keys[1:]}
        expected = [np.reshape(x, (few, few, *x.shape[1:])) for x in call(functions, name, full)]
        yield "broadcast = written out", call(functions, name, crossed), expected
    if name in LOADED:
        zero, absent = ({**arguments, "loads": x} for x in (0.0 * arguments["loads"], None))
        yield "no loads = zero loads", call(functions, name, absent), call(functions, name, zero)
    if some:
        default = call(functions, name, {**arguments, "parameters": None})
        yield "no parameters = default parameters", default, batch


def _links(s: Evaluation) -> Iterator[Comparison]:
    """Compare functions of one link, by its name, with its entry of the stack of all links."""
    q, parameters = s.states.q, s.states.parameters
    options = {"parameters": parameters} if parameters.size else {}
    for by_name, name in ONE_LINK.items():
        if not s.facts.link_names or not s.has(by_name, name):
            continue
        function, stack = getattr(s.subject.functions, by_name), np.asarray(s[name])
        batch = np.stack([function(link, q, **options) for link in s.facts.link_names], axis=1)
        yield f"{by_name} = its entry of {name}", limits.interface, batch, stack
        first = {key: x[0] for key, x in options.items()}
        single = np.stack([function(link, q[0], **first) for link in s.facts.link_names])
        yield f"{by_name}: single samples = batch", limits.interface, single[np.newaxis], stack[:1]


def _refusals(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Check that a singular sample is an error when called alone, and one warning in a batch."""
    for name in filter(s.has, SOLVED):
        where = np.flatnonzero(response(lens, name).unsolvable)
        if len(where):
            arguments = {key: x[where[0]] for key, x in vars(s.states).items()}
            refused = _refuses(s.subject.functions, name, arguments)
            what = f"{name}: a singular sample raises LinAlgError, and warns once in a batch"
            yield what, limits.exact, [float(x) for x in refused], [1.0, 1.0]


def _refuses(functions: Any, name: str, arguments: dict[str, Any]) -> tuple[bool, bool]:
    try:
        call(functions, name, arguments)
        raised = False
    except np.linalg.LinAlgError:
        raised = True
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(functions, name, {key: np.stack([x, x]) for key, x in arguments.items()})
    return raised, [item.category for item in caught] == [RuntimeWarning]
