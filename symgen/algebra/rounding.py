"""Correctly rounded functions, for folding of constant expressions.

`+ - * /` and `sqrt` of IEEE 754 are correctly rounded by the processor.  The other functions are
not, and differ between C libraries, so they are computed with 200 bits by mpmath and rounded
once: the same model gives the same digits on every machine.

Angles within 2 ulp of a multiple of pi/2 are exact (model-format.md, "Scalars"): their sine and
cosine are -1, 0 or 1, so that the zeros of a DH table vanish from the generated code.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import mpmath

GUARD = 2.0**-996
"""Number (7e-301, normal) that is added to a divisor whose quotient is unused where it is 0, to
avoid 0/0.  In exact algebras (SymPy, a prime field) it counts as 0."""

_PRECISION = 200
_HALF_PI = math.pi / 2
_QUARTER_SINES = (0.0, 1.0, 0.0, -1.0)


def quarter_turns(angle: float) -> int | None:
    """Number k with angle = k pi/2 within 2 ulp of `angle`, or None.

    The limit on k keeps the distance between multiples far above the tolerance.
    """
    if angle == 0.0:
        return 0
    k = round(angle / _HALF_PI)
    if k == 0 or abs(k) > 2**20:
        return None
    with mpmath.workprec(_PRECISION):
        distance = abs(mpmath.mpf(angle) - k * mpmath.pi / 2)
    return k if distance <= 2 * math.ulp(angle) else None


def sin(x: float) -> float:
    """Sine, exact at multiples of pi/2."""
    k = quarter_turns(x)
    return _rounded(mpmath.sin, x) if k is None else _QUARTER_SINES[k % 4]


def cos(x: float) -> float:
    """Cosine, exact at multiples of pi/2."""
    k = quarter_turns(x)
    return _rounded(mpmath.cos, x) if k is None else _QUARTER_SINES[(k + 1) % 4]


def tan(x: float) -> float:
    """Tangent, exact at multiples of pi; ZeroDivisionError at odd multiples of pi/2."""
    k = quarter_turns(x)
    if k is None:
        return _rounded(mpmath.tan, x)
    if k % 2:
        raise ZeroDivisionError("tan of an odd multiple of pi/2")
    return 0.0


def log(x: float) -> float:
    """Natural logarithm; ValueError for x <= 0."""
    if x <= 0.0:
        raise ValueError("the logarithm of a number that is not positive")
    return _rounded(mpmath.log, x)


def power(base: float, exponent: float) -> float:
    """`base ** exponent` for real results; ValueError where the result is not real."""
    if base == 0.0 and exponent < 0.0:
        raise ZeroDivisionError("zero to a negative power")
    if base < 0.0 and not float(exponent).is_integer():
        raise ValueError("a negative number to a fractional power is not real")
    return _rounded(mpmath.power, base, exponent)


def _rounded(function: Callable[..., Any], *arguments: float) -> float:
    with mpmath.workprec(_PRECISION):
        value = function(*map(mpmath.mpf, arguments))
        if isinstance(value, mpmath.mpc):
            raise ValueError("the result is not a real number")
        result = float(value)
    if not math.isfinite(result):
        raise OverflowError("the result is beyond float64")
    return result


ROUNDED: dict[str, Callable[..., float]] = {
    "sin": sin,
    "cos": cos,
    "tan": tan,
    "asin": partial(_rounded, mpmath.asin),
    "acos": partial(_rounded, mpmath.acos),
    "atan": partial(_rounded, mpmath.atan),
    "atan2": partial(_rounded, mpmath.atan2),
    "exp": partial(_rounded, mpmath.exp),
    "log": log,
    "tanh": partial(_rounded, mpmath.tanh),
    "sqrt": math.sqrt,
    "abs": abs,
    "sign": lambda x: float((x > 0.0) - (x < 0.0)),
    "pow": power,
}
