"""Derivatives of problems against differences."""

import numpy as np
import scipy.sparse


def agree_with_differences(program, x, seed=0, rows=slice(None), what=""):
    """Compare all first and second derivatives along a random direction, of some rows."""
    random = np.random.default_rng([seed, 1])
    direction = random.standard_normal(len(x))
    multipliers = np.zeros(program.rows)
    multipliers[rows] = random.standard_normal(len(multipliers[rows]))

    def matrix(pattern, values):
        return scipy.sparse.csc_matrix((values, (pattern.rows, pattern.columns)), pattern.shape)

    def jacobian(at):
        return matrix(program.jacobian_pattern, program.jacobian(at))

    def gradient(at):
        return 0.7 * program.gradient(at) + jacobian(at).T @ multipliers

    def near(found, function):
        h = 5e-5  # fourth order
        one, two = (
            function(x + k * h * direction) - function(x - k * h * direction) for k in (1, 2)
        )
        expected = (8 * one - two) / (12 * h)
        size = np.abs(expected).max(initial=1.0)
        assert np.abs(found - expected).max(initial=0.0) < 1e-8 * size, what

    upper = matrix(program.hessian_pattern, program.hessian(x, 0.7, multipliers))
    near((jacobian(x) @ direction)[rows], lambda at: program.constraints(at)[rows])
    near(program.gradient(x) @ direction, program.objective)
    near((upper + scipy.sparse.triu(upper, 1).T) @ direction, gradient)
