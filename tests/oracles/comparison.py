"""What tests compare, and how: programs, seeded states, errors relative to the largest entry."""

import numpy as np

from symgen.deriving.derivation import derived_program
from symgen.formulations import FORMULATIONS, provided_functions
from symgen.validation.evaluated import evaluated_subjects
from symgen.validation.validate import validate

LIMIT = 1e-11
"""What two correct ways to compute the same array stay below."""

STEP = 1e-40
"""Complex step: its square vanishes beside 1."""

SINGULAR = 1e10
"""Condition of a mass matrix from which on it is no example of solving: massless ends, joints on
one axis."""


def evaluated(description, formulation, function, runtime=()):
    """Return the folded program, without names: two thirds of the work of one to emit."""
    return derived_program(description, formulation, function, runtime, built=False)


def validation_of(description, functions=None, formulations=FORMULATIONS, **options):
    """Validate the programs of formulations: of `functions`, or of all that they derive."""
    programs = {
        formulation.name: {
            function: derived_program(description, formulation, function)
            for function in provided_functions(formulation)
            if functions is None or function in functions
        }
        for formulation in formulations
    }
    return validate(description, evaluated_subjects(programs), **options)


def solving_limit(mass):
    """What two correct solutions with the mass matrix `mass` stay below."""
    return 1e-10 * max(1.0, condition(mass) / 1e4)


def condition(mass):
    """Of a mass matrix, 1 where nothing is to be solved for."""
    return np.linalg.cond(mass) if len(mass) else 1.0


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


def state_of(description, seed):
    """A state of a described robot: |q| <= pi, rates up to 2, loads and torques up to 10.

    `x`, what hybrid dynamics is given, holds accelerations of the prescribed joints and torques of
    the free ones."""
    rng = np.random.default_rng(seed)
    leaders = [joint for joint in description.joints if joint.mimic is None]
    prescribed = np.array([x for joint in leaders for x in joint.prescribed], dtype=bool)
    n = len(prescribed)
    state = {"q": _positions(rng, description)}
    state |= {name: rng.uniform(-2, 2, n) for name in ("qd", "qdd")}
    state["loads"] = rng.uniform(-10, 10, (len(description.loads), 6))
    state["tau"] = rng.uniform(-10, 10, n)
    state["multipliers"] = rng.uniform(-1, 1, n)
    state |= {name: rng.uniform(-1, 1, n) for name in ("dq", "dqd", "dqdd", "dtau")}
    state["dloads"] = rng.uniform(-1, 1, state["loads"].shape)
    return {**state, "x": np.where(prescribed, state["qdd"], state["tau"])}


def _positions(rng, description):
    """Coordinates up to pi, and unit quaternions."""
    q = rng.uniform(-np.pi, np.pi, len(description.position_names))
    place = 0
    for joint in description.joints:
        if joint.manifold is not None:
            start = place + joint.manifold.quaternion
            q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
        place += 0 if joint.mimic else len(joint.position_names)
    return q


def motion_of(description, seed):
    """What inverse dynamics takes: q, qd, qdd and loads of `state_of`."""
    state = state_of(description, seed)
    return {name: state[name] for name in ("q", "qd", "qdd", "loads")}
