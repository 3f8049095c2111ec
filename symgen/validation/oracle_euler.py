"""Euler parameters for `NumericRobot`: how p = x y z w of any norm but 0 turns a link.

With Q(x, y) the symmetric bilinear form of which Q(p, p) = |p|^2 1 + 2 w K + 2 K K, K the cross
product of the vector part, and along a path p(t)

    |p|^2 A = Q(p, p),    omega~ = A' dA/dt,    alpha~ = what is skew of A' d2A/dt2

in axes of the link.  Rates of A follow from those of both sides of the first.  Complex numbers pass
through; p = 0, the attitude of a joint that is left out, is that of no rotation.
"""

from __future__ import annotations

import numpy as np

from symgen.validation.oracle_parts import Array


def attitude(p: Array) -> Array:
    """A as a pose without travel, (..., 4, 4)."""
    pose = np.zeros((*p.shape[:-1], 4, 4), dtype=p.dtype)
    pose[..., :3, :3] = _rotation(p)
    pose[..., 3, 3] = 1.0
    return pose


def spins(p: Array) -> Array:
    """[l]: the angular velocity by dp_l/dt, (..., 4, 3)."""
    rates = np.broadcast_to(np.eye(4), (*p.shape, 4))
    return _vector(_turned_back(p[..., np.newaxis, :], rates, None))


def spin_of(p: Array, rate: Array) -> Array:
    """omega, (..., 3)."""
    return _vector(_turned_back(p, rate, None))


def spin_rate_of(p: Array, rate: Array, second: Array) -> Array:
    """alpha, (..., 3)."""
    return _vector(_turned_back(p, rate, second))


def _turned_back(p: Array, rate: Array, second: Array | None) -> Array:
    """A' dA/dt, or A' d2A/dt2 where `second` derivatives of p are given."""
    A, norm = _rotation(p), _norm(p)
    by_rate = (2.0 * _form(p, rate) - 2.0 * _inner(p, rate) * A) / norm
    if second is None:
        return np.asarray(np.swapaxes(A, -1, -2) @ by_rate)
    form = 2.0 * (_form(rate, rate) + _form(p, second))
    growth = 2.0 * (_inner(rate, rate) + _inner(p, second))
    twice = (form - growth * A - 4.0 * _inner(p, rate) * by_rate) / norm
    return np.asarray(np.swapaxes(A, -1, -2) @ twice)


def _rotation(p: Array) -> Array:
    """A, (..., 3, 3)."""
    absent = _inner(p, p) == 0.0
    return np.asarray((_form(p, p) + absent * np.eye(3)) / _norm(p))


def _norm(p: Array) -> Array:
    """|p|^2, 1 where p is 0, (..., 1, 1)."""
    square = _inner(p, p)
    return np.asarray(square + (square == 0.0))


def _form(x: Array, y: Array) -> Array:
    """Q, by polarisation of what it is of one argument, (..., 3, 3)."""
    return np.asarray((_square(x + y) - _square(x - y)) / 4.0)


def _square(p: Array) -> Array:
    K = _cross(p[..., :3])
    w = p[..., 3, np.newaxis, np.newaxis]
    return np.asarray(_inner(p, p) * np.eye(3) + 2.0 * w * K + 2.0 * K @ K)


def _cross(v: Array) -> Array:
    x, y, z = np.moveaxis(v, -1, 0)
    K = np.zeros((*v.shape[:-1], 3, 3), dtype=v.dtype)
    K[..., 0, 1], K[..., 0, 2], K[..., 1, 2] = -z, y, -x
    return np.asarray(K - np.swapaxes(K, -1, -2))


def _vector(matrix: Array) -> Array:
    """The vector of what is skew of a matrix, (..., 3)."""
    pairs = ((2, 1), (0, 2), (1, 0))
    return np.stack([(matrix[..., i, k] - matrix[..., k, i]) / 2.0 for i, k in pairs], axis=-1)


def _inner(x: Array, y: Array) -> Array:
    """x . y, (..., 1, 1)."""
    return np.asarray(np.sum(x * y, axis=-1)[..., np.newaxis, np.newaxis])
