"""Constants: correctly rounded, and exact at multiples of a quarter turn."""

import math

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symgen.algebra import rounding

FINITE = st.floats(-1e6, 1e6, allow_nan=False)


def shifted(k, steps):
    """The float nearest to k pi/2, moved by `steps` floats."""
    with mpmath.workprec(200):
        angle = float(k * mpmath.pi / 2)
    for _ in range(abs(steps)):
        angle = math.nextafter(angle, math.copysign(math.inf, steps))
    return angle


@pytest.mark.parametrize("k", [-7, -4, -1, 1, 2, 3, 5, 1000])
@pytest.mark.parametrize("steps", [-4, -3, -1, 0, 1, 3, 4])
def test_quarter_turns_are_exact_within_two_ulp(k, steps):
    angle = shifted(k, steps)
    if abs(steps) > 2:
        assert rounding.quarter_turns(angle) is None
        return
    assert rounding.quarter_turns(angle) == k
    assert rounding.sin(angle) == (0.0, 1.0, 0.0, -1.0)[k % 4]
    assert rounding.cos(angle) == (1.0, 0.0, -1.0, 0.0)[k % 4]


def test_zero_is_exact():
    assert rounding.quarter_turns(0.0) == 0
    assert rounding.sin(-0.0) == 0.0
    assert rounding.cos(0.0) == 1.0


@pytest.mark.parametrize("angle", [1.5708, 1.570796, 3.1416, math.pi / 2 + 1e-15, 0.1, 1e-300])
def test_other_angles_are_not(angle):
    assert rounding.quarter_turns(angle) is None
    assert rounding.cos(angle) != 0.0
    assert rounding.sin(angle) != 0.0


@given(FINITE, st.sampled_from(["sin", "cos", "atan", "exp", "tanh"]))
def test_functions_are_correctly_rounded(x, name):
    if name == "exp":
        x /= 1e4
    if name in ("sin", "cos") and rounding.quarter_turns(x) is not None:
        return
    with mpmath.workprec(400):
        exact = getattr(mpmath, name)(mpmath.mpf(x))
        error = abs(mpmath.mpf(rounding.ROUNDED[name](x)) - exact)
        assert error <= mpmath.mpf(math.ulp(float(exact))) * mpmath.mpf(0.5000001)


def test_errors():
    with pytest.raises(ZeroDivisionError):
        rounding.tan(math.pi / 2)
    with pytest.raises(ZeroDivisionError):
        rounding.power(0.0, -1.0)
    with pytest.raises(ValueError, match="real"):
        rounding.power(-1.0, 0.5)
    with pytest.raises(OverflowError):
        rounding.ROUNDED["exp"](1e4)
    with pytest.raises(ValueError, match="real"):
        rounding.ROUNDED["asin"](2.0)
