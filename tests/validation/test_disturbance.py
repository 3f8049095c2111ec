"""Roundings of a comparison are measured, and faults are not excused by them."""

from types import SimpleNamespace

import numpy as np
import pytest

from symgen.runtime import limits
from symgen.runtime.comparison import HIDDEN, rows
from symgen.runtime.disturbance import SIZE, DisturbedFunctions
from symgen.runtime.evaluation import Evaluation, Subject, random_states

STATES = random_states(2, 0, 4)


def row_of(value, reference, *, compiled=False, limit=limits.agreement):
    """The row that compares two functions of q, the first of them in NumPy or compiled."""
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
def test_what_cancels_is_allowed_as_much_as_it_loses(compiled):
    row = row_of(cancelling(1e6), lambda q: q, compiled=compiled)
    assert limits.agreement(2) < row.error < row.limit < 1e-8
    assert row.samples == 4


@pytest.mark.parametrize("compiled", [False, True])
def test_a_fault_beside_what_cancels_is_not_excused(compiled):
    for wrong in (lambda q: -q, lambda q: q * (1 + 1e-8)):
        row = row_of(lambda q, wrong=wrong: wrong(cancelling(1e4)(q)), lambda q: q,
                     compiled=compiled)  # fmt: skip
        assert not row.passed


def test_a_matrix_near_a_singular_one():
    matrix = np.array([[1.0, 1.0], [1.0, 1.0 + 1e-9]])
    right = np.linalg.inv(matrix.astype(np.longdouble).astype(float))

    def solved(q):
        full = q[..., :1, np.newaxis] * 0 + matrix  # an operation, as any function has
        return np.linalg.solve(full, q[..., np.newaxis])[..., 0]

    assert row_of(solved, lambda q: q @ right.T).passed
    assert not row_of(lambda q: -solved(q), lambda q: q @ right.T).passed


def test_what_roundings_hide_is_not_counted():
    row = row_of(cancelling(1e14), lambda q: q)
    assert row.passed and not row.samples and HIDDEN in row.name


def test_constants_and_numbers_that_are_none_are_not_excused():
    assert not row_of(cancelling(1e4), lambda q: q, limit=limits.exact).passed
    assert not row_of(lambda q: q * np.nan, lambda q: q).passed


def test_disturbances_repeat_with_their_seed_and_leave_arguments_alone():
    q, before = STATES.q, STATES.q.copy()
    functions = SimpleNamespace(f=lambda x: np.sin(x) * 3.0 - x)
    first, again, second = (DisturbedFunctions(functions, functions, k).f(q) for k in (1, 1, 2))
    plain = functions.f(q)
    assert np.array_equal(first, again) and not np.array_equal(first, second)
    assert 0 < np.abs(first - plain).max() < 30 * SIZE
    assert np.array_equal(q, before) and type(first) is np.ndarray
