"""Second derivatives of the numeric model: central differences of its gradients.

Complex steps cannot be nested, and gradients by q are complex steps.  Errors of differences over
eight points are the ninth derivative times h^8 / 630 and rounding errors times 1 / h; torques of
rigid bodies are polynomials of sines and cosines of q, and quadratic in qd, so that about twelve
digits are correct (`limits.difference`).  Friction and springs are differentiated separately.

On manifolds springs are stretched by rotation vectors.  The vector x of a turn obeys x' = J(x) w
with the inverse right Jacobian of SO(3) (Chirikjian 2012, section 10.8.6),

    J(x) = 1 + [x] / 2 + b(|x|) [x]^2,    b(t) = (1 - t / 2 cot(t / 2)) / t^2,

so that along the exponential its second derivative by two directions is half the sum of the slopes
of J u along J w and of J w along J u, which are complex steps; that of a travel y, which obeys
y' = v + y x w, is y' x w.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from symgen.runtime.configuration import FREE, Configuration, stretches
from symgen.runtime.joint_terms import JointTerms
from symgen.runtime.limits import STEP
from symgen.validation.oracle_model import Array

WIDTH = 0.01
WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
"""Weights of differences over 1, 2, 3, 4 steps to either side."""
LARGEST = 5
"""Largest number of coordinates, since differences are slow.  Beyond it, second derivatives are
only compared with complex steps of derived gradients (`symgen.runtime.derivative_laws`)."""

SMALL_STEP = 1e-30
NEAR = 1e-2
"""Square of the angle (rad^2) below which b is a series, whose sixth term is 1e-17 there."""
SERIES = (1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000)
"""Coefficients of b in powers of the square of the angle, from Bernoulli's numbers."""


def change_along(function: Callable[[float], tuple[Array, ...]]) -> list[Array]:
    """Return derivatives by s at 0 of the arrays that a function of s returns, of their shapes."""
    total = [0.0 * x for x in function(0.0)]
    for steps, weight in enumerate(WEIGHTS, start=1):
        pairs = zip(function(steps * WIDTH), function(-steps * WIDTH), strict=True)
        change = [(x - y) * (weight / WIDTH) for x, y in pairs]
        total = [x + y for x, y in zip(total, change, strict=True)]
    return total


def friction_curvature(terms: JointTerms, qd: Array, weights: Array, direction: Array) -> Array:
    """The Hessian of weights . losses by qd times a direction, by a complex step, (..., n)."""
    slopes = terms.loss_slopes(terms.of_joints(qd + 1j * STEP * direction))
    return np.asarray(terms.of_coordinates(terms.of_joints(weights) * slopes.imag / STEP))


def spring_curvature(
    space: Configuration, terms: JointTerms, q: Array, weights: Array, direction: Array
) -> Array:
    """Return the Hessian of weights . springs on manifolds times a direction, (..., n)."""
    curvature = np.zeros((*np.broadcast_shapes(q.shape[:-1], direction.shape[:-1]), space.n))
    if not space.joints:
        return curvature
    vectors = stretches(space, q, terms.numbers.get("rest_configuration"))
    weights = terms.of_coordinates(terms.numbers["stiffness"] * terms.of_joints(weights))
    weights, direction, vectors = np.broadcast_arrays(weights, direction, vectors)
    for kind, _, start in space.joints:
        slides = 3 * (kind == FREE)
        turn = slice(start + slides, start + slides + 3)
        x, force, w = (array[..., turn] for array in (vectors, weights, direction))
        for unit, k in zip(np.eye(3), range(turn.start, turn.stop), strict=True):
            bends = _bend(x, unit, w) + _bend(x, w, unit)
            curvature[..., k] += np.sum(force * bends / 2, axis=-1)
        if slides:
            slide = slice(start, start + 3)
            y, force, v = (array[..., slide] for array in (vectors, weights, direction))
            for unit, k in zip(np.eye(3), range(3), strict=True):
                curvature[..., start + k] += np.sum(force * np.cross(unit, w), axis=-1) / 2
                turned = np.cross(v + np.cross(y, w), unit) + np.cross(np.cross(y, unit), w)
                curvature[..., turn.start + k] += np.sum(force * turned, axis=-1) / 2
    return curvature


def _bend(x: Array, fixed: Array, moving: Array) -> Array:
    """Return the slope of J(x) `fixed` along J(x) `moving`."""
    moved = x + 1j * SMALL_STEP * _turned(x, moving)
    return np.asarray(_turned(moved, fixed).imag / SMALL_STEP)


def _turned(x: Array, w: Array) -> Array:
    """J(x) w"""
    once = np.cross(x, w)
    return np.asarray(w + once / 2 + _b(np.sum(x * x, axis=-1, keepdims=True)) * np.cross(x, once))


def _b(square: Array) -> Array:
    near = np.abs(square) < NEAR
    angle = np.sqrt(np.where(near, 1.0, square))
    far = (1.0 - angle / 2 / np.tan(angle / 2)) / angle**2
    return np.where(near, np.polynomial.polynomial.polyval(square, SERIES), far)
