"""Columns, pairs of joints and sparse factors, for functions that are computed in loops.

A column holds one scalar of every joint.  All columns of a call stand in one array: column, joint,
then the batch axes.  Square arrays have row, column, then the batch axes.  Joints count from 0.
"""

import numpy as np


class Tree:
    """Which joint carries which: `carriers` has -1 for the base.

    `beyond` are rows and columns of all pairs in which the joint of the row carries that of the
    column, or is it; `before` of those in which it is carried by it.
    """

    def __init__(self, carriers):
        self.carriers = carriers
        self.paths = []
        for joint, carrier in enumerate(carriers):
            self.paths.append([*(self.paths[carrier] if carrier >= 0 else []), joint])
        pairs = [(carrier, joint) for joint, path in enumerate(self.paths) for carrier in path]
        self.beyond = _indices(pairs)
        self.before = _indices([(joint, carrier) for carrier, joint in pairs if carrier != joint])

    @property
    def n(self):
        """Number of joints."""
        return len(self.carriers)

    def columns(self, number, batch, dtype):
        """So many columns of zeros."""
        return np.zeros((number, self.n, *batch), dtype)

    def square(self, batch, dtype):
        """A square array of zeros."""
        return np.zeros((self.n, self.n, *batch), dtype)

    def towards_base(self, columns):
        """Add what every joint has to what the joint that carries it has, leaves first."""
        for joint in reversed(range(self.n)):
            if self.carriers[joint] >= 0:
                columns[:, self.carriers[joint]] += columns[:, joint]

    def add_diagonal(self, square, column):
        """square[i, i] += column[i]"""
        joints = np.arange(self.n)
        square[joints, joints] += column

    def factorise(self, M, pivots, diagonal):
        """M = L^T D L instead of M: multipliers beside the diagonal, pivots on it."""
        joints = np.arange(self.n)
        diagonal[...] = M[joints, joints]
        for k in reversed(joints):
            before = np.array(self.paths[k][:-1], dtype=int)
            held = M[k, before]
            multipliers = held / M[k, k]
            M[before[:, np.newaxis], before] -= multipliers[:, np.newaxis] * held
            M[k, before] = multipliers
        pivots[...] = M[joints, joints]

    def solve(self, factors, X):
        """X with M X = (what X was), in its place; X may have columns behind its axis of joints."""
        columns = (np.newaxis,) * (X.ndim + 1 - factors.ndim)
        for k in reversed(range(self.n)):
            before = self.paths[k][:-1]
            X[before] -= factors[(k, before, *columns)] * X[k]
        for k in range(self.n):
            X[k] /= factors[(k, k, *columns)]
        for k in range(self.n):
            before = self.paths[k][:-1]
            X[k] -= np.sum(factors[(k, before, *columns)] * X[before], axis=0)

    def solve_square(self, factors, square, result):
        """`result` X with M X = -square, which is lost."""
        np.negative(square, out=square)
        self.solve(factors, square)
        result[...] = square

    def invert(self, factors, result):
        """`result` is M^-1."""
        inverse = np.zeros_like(factors)
        joints = np.arange(self.n)
        inverse[joints, joints] = 1.0
        self.solve(factors, inverse)
        result[...] = inverse


def product(square, column):
    """square times column, a column"""
    return np.einsum("ik...,k...->i...", square, column)


def joints_first(array, axes):
    """A view of a result: its own axes, so many, in front of the batch axes."""
    return np.moveaxis(array, range(-axes, 0), range(axes))


def _indices(pairs):
    return tuple(np.array(list(pairs), dtype=int).reshape(-1, 2).T)
