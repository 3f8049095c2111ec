"""Second derivatives of the ways of springs on manifolds, by rotation vectors.

The way x of a turn obeys x' = J(x) w with the inverse right Jacobian of SO(3) (Chirikjian 2012,
section 10.8.6),

    J(x) = 1 + [x] / 2 + b(|x|) [x]^2,    b(t) = (1 - t / 2 cot(t / 2)) / t^2,

so that along the exponential its second derivative by two directions is half the sum of the slopes
of J u along J w and of J w along J u, which are complex steps; that of a travel y, which obeys
y' = v + y x w, is y' x w.
"""

from __future__ import annotations

import numpy as np

from symgen.robot.configuration import FREE, Configuration, stretches
from symgen.validation.oracle_parts import Array

STEP = 1e-30
NEAR = 1e-2
"""Square of the angle (rad^2) below which b is a series: its sixth term is 1e-17 there."""

SERIES = (1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000)
"""b by powers of the square of the angle, from Bernoulli's numbers."""


def spring_curvatures(
    space: Configuration, q: Array, rest: Array | None, weights: Array, direction: Array
) -> Array:
    """The Hessian of weights . (ways from rest) times a direction, (..., n) each."""
    ways = stretches(space, q, rest)
    weights, direction = np.broadcast_arrays(weights, direction, ways)[:2]
    found = np.zeros(ways.shape)
    for kind, _, start in space.joints:
        slides = 3 * (kind == FREE)
        turn = slice(start + slides, start + slides + 3)
        x, force, w = (array[..., turn] for array in (ways, weights, direction))
        for unit, k in zip(np.eye(3), range(turn.start, turn.stop), strict=True):
            found[..., k] += np.sum(force * (_bend(x, unit, w) + _bend(x, w, unit)) / 2, axis=-1)
        if slides:
            slide = slice(start, start + 3)
            y, force, v = (array[..., slide] for array in (ways, weights, direction))
            for unit, k in zip(np.eye(3), range(3), strict=True):
                found[..., start + k] += np.sum(force * np.cross(unit, w), axis=-1) / 2
                own = np.cross(v + np.cross(y, w), unit) + np.cross(np.cross(y, unit), w)
                found[..., turn.start + k] += np.sum(force * own, axis=-1) / 2
    return found


def _bend(x: Array, fixed: Array, moving: Array) -> Array:
    """The slope of J(x) `fixed` along J(x) `moving`."""
    return np.asarray(_turned(x + 1j * STEP * _turned(x, moving), fixed).imag / STEP)


def _turned(x: Array, w: Array) -> Array:
    """J(x) w"""
    once = np.cross(x, w)
    return np.asarray(w + once / 2 + _b(np.sum(x * x, axis=-1, keepdims=True)) * np.cross(x, once))


def _b(square: Array) -> Array:
    near = np.abs(square) < NEAR
    angle = np.sqrt(np.where(near, 1.0, square))
    far = (1.0 - angle / 2 / np.tan(angle / 2)) / angle**2
    return np.where(near, np.polynomial.polynomial.polyval(square, SERIES), far)
