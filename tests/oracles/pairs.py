"""Matrices as pairs with their derivatives, which have the variables in front."""

from functools import reduce

import numpy as np


def times(*factors):
    """A product and its derivative, of matrices with their derivatives."""
    kinds = [[f[j == i] for j, f in enumerate(factors)] for i in range(len(factors))]
    return reduce(np.matmul, [f[0] for f in factors]), sum(reduce(np.matmul, x) for x in kinds)


def plus(*terms):
    """A sum of matrices with their derivatives."""
    return tuple(map(sum, zip(*terms, strict=True)))


def transposed(x):
    """The transpose, and that of the derivatives."""
    return tuple(np.swapaxes(part, -1, -2) for part in x)


def block(rows):
    """A matrix of blocks; None is 0."""
    zero = next(x for row in rows for x in row if x is not None)
    zero = tuple(np.zeros_like(part) for part in zero)
    filled = [[zero if x is None else x for x in row] for row in rows]
    return tuple(np.block([[x[i] for x in row] for row in filled]) for i in (0, 1))


def cross(x):
    """The matrix of v x, of a column v."""
    x = tuple(part[..., 0] for part in x)
    return tuple(np.swapaxes(np.cross(part[..., None, :], np.eye(3)), -1, -2) for part in x)
