"""Rows of a validation: comparisons with their errors and limits.

An error is held to the bare limit of its kind (`limits`).  Where it exceeds that, the effect of
roundings on this comparison is measured, sample by sample (`disturbance`), and `limits.ROUNDED`
times as much is allowed besides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from . import limits
from .disturbance import DRAWS, SIZE
from .subjects import Array, Check, Comparison, Evaluation, top

Law = Callable[..., Iterable[Comparison]]
"""Evaluations, the subject first -> comparisons."""
HIDDEN = f"not compared, for rounding errors may exceed {limits.VISIBLE:g} there"


def rows(compared: Sequence[Evaluation], law: Law, n: int) -> Iterator[Check]:
    """Yield a row for every comparison of at least one sample that a law makes."""
    s, roundings = compared[0], Roundings(compared, law)
    made = (
        _row(s, *comparison, n=n, roundings=roundings)
        for comparison in law(*compared)
        if len(comparison[3])
    )
    return until_a_fault(s, made)


class Roundings:
    """Effect of roundings on the comparisons of a law, measured on the first call of `of`."""

    def __init__(self, compared: Sequence[Evaluation], law: Law) -> None:
        self._compared, self._law = compared, law
        self._draws: list[dict[str, tuple[Array, Array]]] | None = None

    def of(self, name: str, value: Array, reference: Array) -> Array:
        """Return a bound of the effect of roundings on a difference, (samples,); 0 if unknown."""
        if self._draws is None:
            self._draws = [self._drawn(draw) for draw in range(DRAWS)]
        largest = np.zeros(len(reference))
        for draw in self._draws:
            pair = draw.get(name)
            if pair is None or any(np.shape(x) != np.shape(reference) for x in pair):
                continue
            with np.errstate(invalid="ignore"):
                changed = top((pair[0] - value) - (pair[1] - reference))
            largest = np.fmax(largest, np.where(np.isfinite(changed), changed, 0.0))
        return largest * (limits.ROUNDED * limits.EPS / SIZE)

    def _drawn(self, draw: int) -> dict[str, tuple[Array, Array]]:
        pairs: dict[str, tuple[Array, Array]] = {}
        disturbed = (x.disturbed(draw) for x in self._compared)
        try:
            for name, _, value, reference, *_ in self._law(*disturbed):
                pairs[name] = np.asarray(value), np.asarray(reference)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            pass  # a singular matrix: comparisons before it count
        return pairs


def _row(
    s: Evaluation, name: str, limit: Callable[[int], float], *arrays: Any, n: int,
    roundings: Roundings,
) -> Check:  # fmt: skip
    allowed, samples = limit(n) * s.facts.condition, len(s.states.q)
    error = relative_error(*arrays)
    value, reference, *terms = map(np.asarray, arrays)
    if error <= allowed or allowed == 0.0 or value.shape != reference.shape:
        return Check(name, s.subject.name, error, allowed, samples)
    errors, scale = _errors(value, reference, *terms)
    each = allowed + roundings.of(name, value, reference) / scale
    worst = int(np.argmax(errors / each))
    if errors[worst] > each[worst]:
        return Check(name, s.subject.name, float(errors[worst]), float(each[worst]), samples)
    visible = each <= limits.VISIBLE
    if not visible.any():
        return Check(f"{name}: {HIDDEN}", s.subject.name, 0.0, 0.0, 0)
    worst = int(np.argmax(np.where(visible, errors / each, -1.0)))
    seen = int(visible.sum())
    return Check(name, s.subject.name, float(errors[worst]), float(each[worst]), seen)


def until_a_fault(s: Evaluation, checks: Iterable[Check]) -> Iterator[Check]:
    """Yield the checks; a call that raises yields a failed check and ends them."""
    try:
        yield from checks
    except (ArithmeticError, LookupError, TypeError, ValueError) as fault:
        name = f"call without {type(fault).__name__} ({fault})"
        yield Check(name, s.subject.name, float("inf"), 0.0, len(s.states.q))


def relative_error(value: Any, reference: Any, *terms: Any) -> float:
    """Return the largest |value - reference| / max(1, magnitudes of reference and terms)."""
    value, reference = np.asarray(value), np.asarray(reference)
    if value.shape != reference.shape:
        return float("inf")
    return float(np.max(_errors(value, reference, *terms)[0], initial=0.0))


def _errors(value: Array, reference: Array, *terms: Any) -> tuple[Array, Array]:
    """Return relative errors, infinite for a NaN, and their scales, 2 x (samples,)."""
    scale = np.max([np.ones(len(value)), *map(top, (reference, *terms))], axis=0)
    with np.errstate(invalid="ignore"):
        ratio = top(value - reference) / scale
    return np.where(np.isnan(ratio), np.inf, ratio), scale
