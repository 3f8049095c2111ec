"""Domain of the outputs of a model, and of their derivatives.

All other functions are defined at every state, except at singular mass matrices: states at which
relations or forces of the model have no value are replaced (`states_with_values`).  An output may
leave the domain of its expression, as ``log`` of a negative coordinate does, or have a kink, as
``abs(a)`` does where the parameter a is 0; and a robot without mass has no centre of mass.  The
reference of a comparison decides:

- An output has no value where the reference is not finite.  The subject may have one there, and
  both may be right: ``sqrt(x)*sqrt(x)`` may have become x.
- It is smooth where the reference and both `neighbours`, at slightly different parameters, have
  values, derivatives of the neighbours are about equal, and derivatives here are finite.  Elsewhere
  derivatives are not compared.  A steep output differs less between closer neighbours, a kink does
  not.  Coordinates need no neighbours: random states do not hit kinks.

Outputs with values but without a finite derivative at any state fail: a wrong derivative looks like
that.  Only the independent model, which detects such outputs (the speed of a point at rest), may
except them, for all subjects.  Rows without samples list what is left out.

Outputs have different units; each is compared relative to its own size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from .calls import SEVERAL_RESULTS
from .configuration import Configuration
from .subjects import Array, Check, Evaluation, States, call, without_warnings

PARTIAL = (
    "outputs", "outputs_derivatives", "center_of_mass", "center_of_mass_jacobian",
    "centroidal_momentum", "centroidal_momentum_matrix", "centroidal_momentum_rate",
)  # fmt: skip
"""Functions that are not defined everywhere."""

STEPS = (1e-6, 1e-7)
"""Changes of the parameters of `neighbours`, relative to their magnitude; absolute at 0."""
JUMP = 1e-3
"""Largest difference of derivatives of neighbours, relative to max(1, largest of the output)."""

FEW = 3
"""Number of states with a value of every output, if `MORE` random ones have so many."""
MORE, AT_ONCE = 4096, 256
SHARES = (0.5, 0.2, 0.05, 0.01, 1e-3)
"""Fractions of the displacement from initial to random positions, tried in this order."""


def where_defined(
    lens: Evaluation, name: str, label: str, value: Array, expected: Array
) -> tuple[Array, Array]:
    """Return a result (S, ...) of the function `name` and the expected one, 0 where undefined.

    Outputs, and their derivatives, are in multiples of the largest expected magnitude of each
    output in that sample, or of 1.
    """
    if label in _SLOPES_OF_OUTPUTS:
        smooth = is_smooth(lens)
        undefined = ~smooth.reshape(*smooth.shape, *[1] * (np.ndim(value) - 2))
        return _by_size(*_blank(value, expected, undefined))
    if name not in PARTIAL:
        return value, expected
    value, expected = _blank(value, expected, ~np.isfinite(expected))
    return _by_size(value, expected) if name.startswith("outputs") else (value, expected)


def _by_size(value: Array, expected: Array) -> tuple[Array, Array]:
    """Scale both (S, n_outputs, ...) by the largest magnitude expected of each output."""
    if np.shape(value) != np.shape(expected):
        return value, expected
    entries = tuple(range(2, np.ndim(expected)))
    size = np.abs(expected).max(axis=entries, initial=1.0, keepdims=True)
    return value / size, expected / size


_SLOPES_OF_OUTPUTS = tuple(f", {label}" for label in SEVERAL_RESULTS["outputs_derivatives"][1:])


def where_both_are_defined(name: str, value: Array, expected: Array) -> tuple[Array, Array]:
    """Return two results (S, ...) that should be equal, with 0 where neither is finite."""
    if name in PARTIAL and np.shape(value) == np.shape(expected):
        return _blank(value, expected, ~np.isfinite(value) & ~np.isfinite(expected))
    return value, expected


def _blank(value: Array, expected: Array, undefined: Array) -> tuple[Array, Array]:
    if np.shape(value) != np.shape(expected):
        return value, expected
    return np.where(undefined, 0.0, value), np.where(undefined, 0.0, expected)


def has_value(s: Evaluation) -> Array:
    """Return whether every output has a value, (S, n_outputs)."""
    return np.isfinite(s["outputs" if s.has("outputs") else "outputs_derivatives"])


def is_smooth(s: Evaluation) -> Array:
    """Return whether every output has derivatives, (S, n_outputs)."""
    if s.smooth is None:
        s.smooth = _find_smooth(s)
    return s.smooth


def share_smoothness(source: Evaluation, s: Evaluation) -> None:
    """Restrict the smoothness of `s` to that of `source`."""
    if source.has_any(PARTIAL[:2]) and s.has_any(PARTIAL[:2]):
        s.smooth = is_smooth(s) & is_smooth(source)


def _find_smooth(s: Evaluation) -> Array:
    smooth = has_value(s)
    if not s.has("outputs_derivatives"):
        return smooth
    finite = np.isfinite(_slopes(s)).all(axis=-1)
    nowhere = smooth.any(axis=0) & ~(smooth & finite).any(axis=0)
    try:
        beside = [_beside(s, step) for step in STEPS if s.states.parameters.size]
    except ValueError:  # a parameter that follows from these has no value there
        return np.zeros(smooth.shape, dtype=bool)
    if beside:
        (valued, jump, have_slopes), (_, closer, _) = beside
        smooth = smooth & valued & ~((jump > JUMP) & (closer > 0.5 * jump))
        nowhere &= ~have_slopes.all(axis=0)
    blamed = np.zeros(nowhere.shape, dtype=bool) if s.subject.independent else nowhere
    return np.asarray(smooth & (finite | blamed))


def _beside(s: Evaluation, step: float) -> tuple[Array, Array, Array]:
    """Return whether both neighbours have values, difference of slopes, whether both are finite."""
    before, after = s.neighbours(step)
    slopes = _slopes(before), _slopes(after)
    size = np.maximum(1.0, np.maximum(*map(_largest, slopes)))
    have_slopes = np.asarray(np.isfinite(slopes).all(axis=(0, -1)))
    return has_value(before) & has_value(after), _largest(slopes[0] - slopes[1]) / size, have_slopes


def _slopes(s: Evaluation) -> Array:
    """Return the derivatives of every output by all arguments, (S, n_outputs, ...)."""
    arrays = [np.asarray(x) for x in s.results("outputs_derivatives")]
    flat = [x.reshape(*x.shape[:2], int(np.prod(x.shape[2:]))) for x in arrays[1:]]
    return np.concatenate(flat, axis=-1)


def _largest(array: Array) -> Array:
    return np.asarray(np.abs(array).max(axis=-1, initial=0.0))


def left_out(
    evaluations: Sequence[Evaluation], reference: Evaluation | None = None
) -> Iterator[Check]:
    """Yield rows without samples for outputs without value or derivative, with their number.

    The reference decides, or without one the first evaluation that has the function.
    """
    for name, missing in (
        ("center_of_mass", _missing_center_of_mass),
        ("outputs_derivatives", _missing_outputs),
        ("outputs", _missing_outputs),
    ):
        holder = next((s for s in evaluations if s.has(name)), None)
        if holder is None:
            continue
        for what, where in missing(reference or holder):
            if where.any():
                text = f"{what} at {int(where.sum())} of {len(where)} random states"
                yield Check(f"{text}: not compared there", "every formulation", 0.0, 0.0, 0)
        if name == "outputs_derivatives":
            return


def _missing_center_of_mass(s: Evaluation) -> Iterator[tuple[str, Array]]:
    valued = np.asarray(np.isfinite(s["center_of_mass"]).all(axis=-1))
    yield "center_of_mass has no value", ~valued


def _missing_outputs(s: Evaluation) -> Iterator[tuple[str, Array]]:
    value, smooth = has_value(s), is_smooth(s)
    for k in range(value.shape[1]):
        name = s.facts.output_names[k] if s.facts.output_names else f"number {k}"
        yield f"the output {name} has no value", ~value[:, k]
        yield f"the output {name} has no derivative", np.asarray((value & ~smooth)[:, k])


def states_in_domain(
    states: States, draw: Callable[[int], States], outputs: Callable[[States], Array]
) -> States:
    """Return the S states, and more states for outputs that have values at fewer than `FEW`.

    Args:
        states: random states.
        draw: function of a number that returns so many other random states.
        outputs: function of states that returns the values of all outputs, (S, n_outputs).
    """
    with without_warnings():
        missing = np.maximum(0, FEW - np.isfinite(outputs(states)).sum(axis=0))
        if not missing.any():
            return states
        more = draw(MORE)
        rows: list[int] = []
        for start in range(0, MORE, AT_ONCE):
            block = _rows(more, np.arange(start, start + AT_ONCE))
            for k, valued in enumerate(np.isfinite(outputs(block)).T):
                chosen = np.flatnonzero(valued)[: missing[k]]
                missing[k] -= len(chosen)
                rows.extend((start + chosen).tolist())
            if not missing.any():
                break
    return _joined(states, _rows(more, np.unique(np.array(rows, dtype=int))))


def states_with_values(
    states: States, draw: Callable[[int], States], valued: Callable[[States], Array],
    space: Configuration, initial: Array,
) -> States:  # fmt: skip
    """Replace the states at which the model itself has no value.

    ``sqrt(x)`` in a relation or force has none where x is negative.  `draw` returns so many other
    random states, `valued` returns which states have values, (S,).  Where few have, positions
    nearer and nearer to the `initial` ones are tried; where none has, states stay.
    """
    with without_warnings():
        has = np.asarray(valued(states), dtype=bool)
        if has.all():
            return states
        more = draw(MORE)
        for share in (1.0, *SHARES):
            change = share * space.difference(np.broadcast_to(initial, more.q.shape), more.q)
            near = replace(more, q=space.integrate(np.broadcast_to(initial, more.q.shape), change))
            drawn = np.flatnonzero(valued(near))[: int(np.sum(~has))]
            rows = np.flatnonzero(~has)[: len(drawn)]
            states = _replaced(states, rows, _rows(near, drawn))
            has[rows] = True
            if has.all():
                return states
        return _rows(states, np.flatnonzero(has)) if has.any() else states


def model_has_values(functions: Any, states: States) -> Array:
    """Return whether forces and relations of a model have values at states, (S,)."""
    valued = np.ones(len(states.q), dtype=bool)
    for name in ("constraints", "constraint_jacobian", "inverse_dynamics"):
        if hasattr(functions, name):
            values = np.asarray(call(functions, name, vars(states))[0])
            valued &= np.isfinite(values.reshape(len(valued), -1)).all(axis=-1)
    return valued


def _replaced(states: States, rows: Array, replacements: States) -> States:
    arrays = {f.name: np.array(getattr(states, f.name)) for f in fields(states)}
    for name, values in arrays.items():
        values[rows] = getattr(replacements, name)
    return replace(states, **arrays)


def _rows(states: States, rows: Array) -> States:
    return replace(states, **{f.name: getattr(states, f.name)[rows] for f in fields(states)})


def _joined(first: States, second: States) -> States:
    arrays = {f.name: (getattr(first, f.name), getattr(second, f.name)) for f in fields(first)}
    return replace(first, **{name: np.concatenate(pair) for name, pair in arrays.items()})
