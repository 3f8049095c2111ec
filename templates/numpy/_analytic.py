"""Functions continued analytically from the real axis, so that complex step differentiates them."""

import numpy as np


def absolute(x):
    """|x|"""
    return np.where(np.real(x) < 0, -x, x) if np.iscomplexobj(x) else np.absolute(x)


def sign(x):
    """-1, 0 or 1"""
    return np.sign(np.real(x))


def arctan2(y, x):
    """Angle of the point (x, y): exact on the real axis, first order in imaginary parts."""
    if not (np.iscomplexobj(y) or np.iscomplexobj(x)):
        return np.arctan2(y, x)
    a, b = np.real(y), np.real(x)
    return np.arctan2(a, b) + 1j * (b * np.imag(y) - a * np.imag(x)) / (a * a + b * b)
