"""Limits of comparisons grow with measured rounding errors, without masking real errors."""

from types import SimpleNamespace

import numpy as np
import pytest

from symgen.runtime import limits
from symgen.runtime.comparison import HIDDEN, rows
from symgen.runtime.disturbance import SIZE, DisturbedFunctions
from symgen.runtime.subjects import Evaluation, Subject, random_states

STATES = random_states(2, 0, 4)


def row_of(value, reference, *, compiled=False, limit=limits.agreement):
    """Compare two functions of q, the first in NumPy or compiled, and return the row."""
    hidden = SimpleNamespace(mass_matrix=lambda q: value(np.asarray(q)))
    functions = SimpleNamespace(mass_matrix=value)
    subject = Subject("s", functions, complex_step=True)
    if compiled:
        subject = Subject("s", hidden, in_numpy=functions)
    other = Subject("r", SimpleNamespace(mass_matrix=reference), complex_step=True)
    pair = [Evaluation(x, STATES) for x in (subject, other)]

    def law(s, r):
        yield "mass_matrix", limit, s["mass_matrix"], r["mass_matrix"]

    return next(rows(pair, law, 2))


def cancelling(size):
    return lambda q: (q + size) - size


@pytest.mark.parametrize("compiled", [False, True])
def test_limit_grows_with_cancellation(compiled):
    row = row_of(cancelling(1e6), lambda q: q, compiled=compiled)
    assert limits.agreement(2) < row.error < row.limit < 1e-8
    assert row.samples == 4


@pytest.mark.parametrize("compiled", [False, True])
def test_cancellation_does_not_mask_an_error(compiled):
    for wrong in (lambda q: -q, lambda q: q * (1 + 1e-8)):
        row = row_of(lambda q, wrong=wrong: wrong(cancelling(1e4)(q)), lambda q: q,
                     compiled=compiled)  # fmt: skip
        assert not row.passed


def test_ill_conditioned_matrix():
    matrix = np.array([[1.0, 1.0], [1.0, 1.0 + 1e-9]])
    right = np.linalg.inv(matrix.astype(np.longdouble).astype(float))

    def solved(q):
        full = q[..., :1, np.newaxis] * 0 + matrix  # at least one operation to disturb
        return np.linalg.solve(full, q[..., np.newaxis])[..., 0]

    assert row_of(solved, lambda q: q @ right.T).passed
    assert not row_of(lambda q: -solved(q), lambda q: q @ right.T).passed


def test_samples_hidden_by_rounding_are_not_counted():
    row = row_of(cancelling(1e14), lambda q: q)
    assert row.passed and not row.samples and HIDDEN in row.name


def test_rounding_excuses_neither_exact_limits_nor_nan():
    assert not row_of(cancelling(1e4), lambda q: q, limit=limits.exact).passed
    assert not row_of(lambda q: q * np.nan, lambda q: q).passed


def test_disturbances_are_reproducible_and_keep_arguments():
    q, before = STATES.q, STATES.q.copy()
    functions = SimpleNamespace(f=lambda x: np.sin(x) * 3.0 - x)
    first, again, second = (DisturbedFunctions(functions, functions, k).f(q) for k in (1, 1, 2))
    plain = functions.f(q)
    assert np.array_equal(first, again) and not np.array_equal(first, second)
    assert 0 < np.abs(first - plain).max() < 30 * SIZE
    assert np.array_equal(q, before) and type(first) is np.ndarray
