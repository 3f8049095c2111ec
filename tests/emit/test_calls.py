"""What the module's users rely on: shapes, broadcasting, `out=`, refusals; for every backend."""

import inspect
import itertools
import sys

import numpy as np
import pytest

from tests.emit.building import BACKENDS
from tests.emit.samples import ARM_FUNCTIONS

RNG = np.random.default_rng(11)
Q, QD, QDD = RNG.normal(size=(3, 5, 2))
LOADS = RNG.normal(size=(5, 1, 6))


@pytest.fixture(params=BACKENDS)
def arm(request, arm_module):
    return arm_module.backends[request.param].closed_form


@pytest.fixture(params=("compiled", "cython"))
def compiled_arm(request, arm_module):
    return arm_module.backends[request.param].closed_form


def close(value, expected):
    return np.allclose(value, expected, rtol=1e-13, atol=1e-13)


def test_all_leading_axes_broadcast(arm):
    shapes = {"q": (4, 1, 1), "qd": (3, 1), "qdd": (5,), "loads": (4, 1, 5), "parameters": (1, 5)}
    given = {
        name: RNG.normal(size=(*batch, *((1, 6) if name == "loads" else (2,))))
        for name, batch in shapes.items()
    }
    result = arm.inverse_dynamics(**given)
    assert result.shape == (4, 3, 5, 2) and result.dtype == np.float64
    full = {
        name: np.broadcast_to(x, (4, 3, 5, *((1, 6) if name == "loads" else (2,))))
        for name, x in given.items()
    }
    assert close(result, arm.inverse_dynamics(**full))
    for index in itertools.product(range(4), range(3), range(5)):
        one = arm.inverse_dynamics(**{name: x[index] for name, x in full.items()})
        assert close(one, result[index])


def test_large_batches_are_cut_and_complete(arm):
    q = RNG.normal(size=(3, 7000, 2))
    result = arm.mass_matrix(q[..., ::-1])
    assert close(result[:, ::1000], arm.mass_matrix(np.ascontiguousarray(q[:, ::1000, ::-1])))


@pytest.mark.parametrize("batch", [(0,), (3, 0), (0, 4), (1,), (1, 1)])
def test_small_and_empty_batches(arm, batch):
    q = np.ones((*batch, 2))
    assert arm.mass_matrix(q).shape == (*batch, 2, 2)
    assert arm.kinetic_energy(q, [1, 2]).shape == batch
    derivatives = arm.inverse_dynamics_derivatives(q, q, [0, 1])
    assert [x.shape for x in derivatives] == [(*batch, 2)] + [(*batch, 2, 2)] * 3
    out = np.full((*batch, 2), np.nan)
    assert arm.inverse_dynamics(q, q, q, out=out) is out and not np.isnan(out).any()


def test_scalar_results(arm):
    one = arm.kinetic_energy(Q[0], QD[0])
    assert isinstance(one, float) and np.shape(one) == ()
    assert close(arm.kinetic_energy(Q, QD)[0], one)
    assert isinstance(arm.kinetic_energy([0, 1], QD[0]), float)
    out = np.empty(())
    assert arm.kinetic_energy(Q[0], QD[0], out=out) is out and close(out, one)
    assert arm.kinetic_energy([0, 1], [1, 2], out=out) is out


def test_default_options(arm):
    expected = arm.inverse_dynamics(Q, QD, QDD)
    zero = arm.inverse_dynamics(Q, QD, QDD, loads=np.zeros((1, 6)), parameters=[0.5, 9.81])
    assert close(zero, expected)
    assert close(arm.inverse_dynamics(Q, QD, QDD, loads=None, parameters=None), expected)


@pytest.mark.parametrize(("arguments", "message"), [
    (dict(q=np.ones(3)), r"q: expected shape \(\.\.\., 2\), got \(3,\)"),
    (dict(q=np.ones((2, 4))), r"got \(2, 4\); samples are rows: is q.T meant"),
    (dict(q=1.0), r"q: expected shape \(\.\.\., 2\), got \(\)"),
    (dict(qd=np.ones((4, 1))), r"qd: expected shape \(\.\.\., 2\), got \(4, 1\)"),
    (dict(loads=np.ones(6)), r"loads: expected shape \(\.\.\., 1, 6\), got \(6,\)"),
    (dict(parameters=np.ones(1)), r"parameters: expected shape \(\.\.\., 2\), got \(1,\)"),
    (dict(q=[[1, 2], [3]]), "q: expected an array"),
    (dict(q=np.ones((3, 2)), qd=np.ones((4, 2))), r"do not broadcast: q \(3,\), qd \(4,\)"),
])  # fmt: skip
def test_wrong_shapes(arm, arguments, message):
    given = {"q": Q[0], "qd": QD[0], "qdd": QDD[0], **arguments}
    with pytest.raises(ValueError, match=message):
        arm.inverse_dynamics(**given)


def test_complex_numbers(compiled_arm):
    for name in ("q", "qd", "qdd", "parameters"):
        given = {"q": Q[0], "qd": QD[0], "qdd": QDD[0], name: np.array([1j, 0])}
        with pytest.raises(TypeError, match=f"{name}: expected real numbers.*NumPy backend"):
            compiled_arm.inverse_dynamics(**given)


def test_wrong_calls(arm):
    for arguments, more in (((), {}), ((Q, QD), {}), ((Q,), {"loads": LOADS})):
        with pytest.raises(TypeError):
            arm.mass_matrix(*arguments, **more)
    with pytest.raises(TypeError):
        arm.inverse_dynamics(Q, QD, QDD, LOADS)


def test_out_does_not_touch_what_lies_around(arm):
    frame = np.full((9, 6), 7.0)
    arm.inverse_dynamics(Q, QD, QDD, out=frame[2:7, 2:4])
    frame[2:7, 2:4] = 7.0
    assert (frame == 7.0).all()


def test_refused_outputs_of_one_sample(arm):
    """Those of batches are in `tests/safety/test_arguments.py`."""
    read_only = np.broadcast_to(np.zeros(2), (2,))
    repeated = np.lib.stride_tricks.as_strided(np.zeros(1), (2,), (0,))
    for out in (np.empty(3), np.empty(2, ">f8"), [0.0, 0.0], read_only, repeated, QD[0]):
        for q in (Q[0], Q[0].tolist()):
            with pytest.raises((TypeError, ValueError), match="out: "):
                arm.inverse_dynamics(q, QD[0], QDD[0], out=out)


def test_outputs_may_interleave_with_arguments_but_not_overlap(arm):
    both = np.concatenate([Q, np.zeros((5, 2))], axis=1)
    expected = arm.inverse_dynamics(Q, QD, QDD)
    assert close(arm.inverse_dynamics(both[:, :2], QD, QDD, out=both[:, 2:]), expected)
    memory = np.concatenate([np.zeros(1), Q.ravel()])
    with pytest.raises(ValueError, match="overlaps the argument q"):
        arm.inverse_dynamics(memory[1:].reshape(5, 2), QD, QDD, out=memory[:-1].reshape(5, 2))


def test_tuples_of_outputs(arm):
    expected = arm.inverse_dynamics_derivatives(Q, QD, QDD)
    given = tuple(np.empty_like(x) for x in expected)
    assert arm.inverse_dynamics_derivatives(Q, QD, QDD, out=given) is given
    some = (None, np.empty((5, 2, 2)), None, np.empty((5, 2, 4))[..., ::2])
    result = arm.inverse_dynamics_derivatives(Q, QD, QDD, out=some)
    assert result[1] is some[1] and result[3] is some[3]
    for value, filled, wanted in zip(result, given, expected, strict=True):
        assert close(value, wanted) and close(filled, wanted)


@pytest.mark.parametrize(("out", "error", "message"), [
    (np.empty((4, 2)), TypeError, "out: expected a tuple of 4 arrays or None, got ndarray"),
    ([None] * 4, TypeError, "out: expected a tuple of 4 arrays or None, got list"),
    ((None,) * 3, ValueError, "out: expected a tuple of 4 entries, got 3"),
    ((None, np.empty((2, 1)), None, None), ValueError, r"out\[1\] \(dtau_dq\): expected shape"),
    ((None, [1], None, None), TypeError, r"out\[1\] \(dtau_dq\): expected a NumPy array"),
])  # fmt: skip
def test_refused_tuples(arm, out, error, message):
    with pytest.raises(error, match=message):
        arm.inverse_dynamics_derivatives(Q[0], QD[0], QDD[0], out=out)


def test_outputs_must_not_overlap_each_other(arm):
    shared = np.empty((2, 2))
    for q in (Q[0], Q[0].tolist()):
        with pytest.raises(ValueError, match=r"out\[3\] \(dtau_dqdd\): overlaps out\[1\]"):
            arm.inverse_dynamics_derivatives(q, QD[0], QDD[0], out=(None, shared, None, shared))


def test_a_complex_out_for_complex_arguments(arm_module):
    functions = arm_module.backends["numpy"].closed_form
    out = np.empty((2, 2), complex)
    assert functions.mass_matrix(Q[0] + 0j, out=out) is out
    assert close(out, functions.mass_matrix(Q[0]))


@pytest.mark.parametrize("function", ARM_FUNCTIONS)
def test_signatures_and_docstrings(arm_module, function):
    every = [getattr(arm_module.backends[b].closed_form, function) for b in BACKENDS]
    signatures = {str(inspect.signature(f)) for f in every}
    assert len(signatures) == 1
    assert "*" in signatures.pop()
    for f in every:
        assert f.__name__ == function
        assert "(..., 2)" in f.__doc__ and "Returns:" in f.__doc__


def test_references_are_not_leaked(compiled_arm):
    out = np.empty((5, 2))
    parts = (None, np.empty((5, 2, 2)), None, None)
    before = [sys.getrefcount(x) for x in (Q, out, parts, parts[1], None)]
    for _ in range(1000):
        compiled_arm.inverse_dynamics(Q, QD, QDD, out=out)
        compiled_arm.inverse_dynamics_derivatives(Q, QD, QDD, out=parts)
        compiled_arm.mass_matrix([1.0, 2.0])
    after = [sys.getrefcount(x) for x in (Q, out, parts, parts[1], None)]
    assert all(abs(a - b) < 50 for a, b in zip(after, before, strict=True))
