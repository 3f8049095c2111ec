"""How tests compare: errors relative to the largest entry, seeded states, complex steps."""

import numpy as np

from symgen.program.evaluation import call

LIMIT = 1e-11
"""What two correct ways to compute the same array stay below."""

STEP = 1e-40
"""Complex step: its square vanishes beside 1."""


def error(value, expected):
    """Largest difference over max(1, largest magnitude expected); infinite for a wrong shape."""
    value, expected = np.asarray(value), np.asarray(expected)
    if value.shape != expected.shape:
        return np.inf
    scale = max(1.0, np.abs(expected).max(initial=0.0))
    return np.abs(value - expected).max(initial=0.0) / scale


def agrees(value, expected, limit=LIMIT):
    """Whether the error is within the limit; a NaN never is."""
    return error(value, expected) <= limit


def random_state(n, seed):
    """|q| <= pi, velocities and accelerations up to 2, (n,) each; the same for one seed."""
    rng = np.random.default_rng(seed)
    return {"q": rng.uniform(-np.pi, np.pi, n), **_rates(rng, n)}


def state_of(description, seed):
    """The same for a described robot, with loads up to 10."""
    rng = np.random.default_rng(seed)
    n = sum(len(joint.coordinate_names) for joint in description.joints)
    state = {"q": rng.uniform(-np.pi, np.pi, n), **_rates(rng, n)}
    return {**state, "loads": rng.uniform(-10, 10, (len(description.loads), 6))}


def _rates(rng, n):
    return {"qd": rng.uniform(-2, 2, n), "qdd": rng.uniform(-2, 2, n)}


def complex_steps(program, state, by):
    """Derivatives of all results of a program by ``q``, ``qd`` or ``qdd``, their axis last."""
    moved = {**state, by: state[by] + 1j * STEP * np.eye(len(state[by]))}
    return [np.moveaxis(result.imag / STEP, 0, -1) for result in call(program, moved)]
