"""The array interface of one subject: however a function is called, it gives the same numbers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _limits as limits
from ._agreement import comparable, labels_of, scales_of
from ._domain import where_both_are_defined
from ._evaluation import (
    ARGUMENTS,
    DIRECTED,
    DIRECTIONS,
    LOADED,
    SEVERAL_RESULTS,
    TOLD,
    Array,
    Comparison,
    Evaluation,
    call,
    takes_time,
)
from ._forward_laws import SOLVED, response

ONE_LINK = {"frame_pose": "forward_kinematics", "frame_jacobian": "jacobians"}


def interface(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Single samples, broadcast batches, `out=` and default arguments give the same numbers."""
    for name in filter(s.has, ARGUMENTS):
        ok = comparable(lens, name)
        if not ok.any():
            continue
        sizes = [float(np.asarray(x)[ok].max(initial=0.0)) for x in scales_of(s, lens, name)]
        for how, values, expected in _ways_to_call(s, name, ok):
            for label, *both, size in zip(labels_of(name), values, expected, sizes, strict=True):
                arrays = where_both_are_defined(name, *both)
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
    keys += ["motion_multipliers"] if name in TOLD and arguments["motion_multipliers"].size else []
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
    """A link by its name is its entry of the stack, in a batch and alone."""
    q, given = s.states.q, {"parameters": s.states.parameters}
    if not s.states.parameters.size:
        given = {}
    for one, name in ONE_LINK.items():
        if not s.facts.link_names or not s.has(one, name):
            continue
        function, stack = getattr(s.subject.functions, one), np.asarray(s[name])
        batch = np.stack([function(link, q, **given) for link in s.facts.link_names], axis=1)
        yield f"{one} = its entry of {name}", limits.interface, batch, stack
        first = {key: x[0] for key, x in given.items()}
        single = np.stack([function(link, q[0], **first) for link in s.facts.link_names])
        yield f"{one}: single samples = batch", limits.interface, single[np.newaxis], stack[:1]


def _refusals(s: Evaluation, lens: Evaluation) -> Iterator[Comparison]:
    """Where there is no solution, one sample is an error, and a batch warns once."""
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
