"""Configurations with quaternions: against Pinocchio, and complex steps through `integrate`."""

import numpy as np
import pinocchio as pin
import pytest

from symgen.runtime.configuration import Configuration

SPACE = Configuration(10, [("free", 0, 0), ("ball", 8, 7)])
SCALES = (1e-12, 1e-5, 0.0999, 0.1001, 1.0, 1.5)


@pytest.fixture(scope="module")
def model():
    model, carrier = pin.Model(), 0
    for kind, name in (("FreeFlyer", "a"), ("RX", "b"), ("Spherical", "c")):
        joint = getattr(pin, f"JointModel{kind}")()
        carrier = model.addJoint(carrier, joint, pin.SE3.Identity(), name)
    return model


@pytest.mark.parametrize("scale", SCALES)
def test_integrate_and_difference_are_those_of_pinocchio(model, scale):
    rng = np.random.default_rng(3)
    q, v = SPACE.random_configuration(rng, (20,)), scale * rng.uniform(-1, 1, (20, 10))
    moved = SPACE.integrate(q, v)
    np.testing.assert_allclose(SPACE.difference(q, moved), v, rtol=0, atol=1e-14)
    for start, way, end in zip(q, v, moved, strict=True):
        np.testing.assert_allclose(end, pin.integrate(model, start, way), rtol=0, atol=1e-14)
        other = SPACE.random_configuration(rng)
        expected = pin.difference(model, start, other)
        np.testing.assert_allclose(SPACE.difference(start, other), expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(SPACE.neutral(), pin.neutral(model))


def test_complex_steps_pass_through():
    rng = np.random.default_rng(4)
    q, v = SPACE.random_configuration(rng), rng.uniform(-1, 1, 10)
    step = SPACE.integrate(q, 1e-100j * v).imag / 1e-100
    np.testing.assert_allclose(step, SPACE.rate(q, v), rtol=0, atol=1e-15)
    slope = SPACE.integrate(q, v + 1e-100j * v).imag / 1e-100
    beside = SPACE.integrate(q, (1 + 1e-6) * v) - SPACE.integrate(q, (1 - 1e-6) * v)
    np.testing.assert_allclose(slope, beside / 2e-6, rtol=0, atol=1e-9)


def test_velocities_are_transported_as_in_a_group():
    """de/dt = dv - [v, e]: two motions, one a little beside the other."""
    rng = np.random.default_rng(5)
    q, v, e = SPACE.random_configuration(rng), *rng.uniform(-1, 1, (2, 10))
    h, size = 1e-4, 1e-5
    beside = SPACE.integrate(q, size * e)
    ends = [SPACE.integrate(x, h * v) for x in (q, beside)]
    change = (SPACE.difference(*ends) / size - e) / h
    np.testing.assert_allclose(change, -SPACE.transported(v, e[:, None])[:, 0], atol=1e-3)


def test_random_configurations_keep_limits():
    lower = np.concatenate([np.full(6, -np.inf), [-0.2], np.full(3, -np.inf)])
    space = Configuration(10, SPACE.joints, lower, -lower)
    q = space.random_configuration(7, (50,))
    assert np.abs(q[:, 7]).max() <= 0.2
    assert np.ptp(q[:, 7]) > 0.1
    for at in (3, 8):
        np.testing.assert_allclose(np.linalg.norm(q[:, at : at + 4], axis=1), 1.0, atol=1e-15)
    np.testing.assert_array_equal(q, space.random_configuration(np.random.default_rng(7), 50))


def test_what_is_no_configuration():
    with pytest.raises(ValueError, match=r"q: expected shape \(\.\.\., 12\), got \(10,\)"):
        SPACE.integrate(np.zeros(10), np.zeros(10))
    with pytest.raises(ValueError, match=r"q\[3:7\] is a quaternion of norm 0"):
        SPACE.normalize(np.zeros(12))
    with pytest.raises(TypeError, match="q0: expected numbers"):
        SPACE.difference(["a"] * 12, np.zeros(12))
