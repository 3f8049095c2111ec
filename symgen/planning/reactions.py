"""Forces in cut joints and at contact points between the instants of a plan.

At its instants a plan satisfies the equations of motion of coordinates without a drive; between
them forces that are linear in time do so only nearly.  There these reactions get the correction of
least norm (N) that satisfies the equations, so that the torques of the drives are those of the
motion.  Verification compares them with their limits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from symgen.planning.loads import loads_at
from symgen.planning.quantities import MotionSamples, Torques
from symgen.planning.task import Task
from symgen.support.arrays import Array

LEAST = 1e-9
"""Smallest singular value, relative to the largest, of the equations of reactions."""
MOST = 0.1
"""Largest correction of forces in cuts, in units of the largest at a knot: where they have no part
in an equation, they would grow without limit."""


def balance(
    task: Task, module: Any, loads: Array | None, most: float = MOST
) -> Callable[[MotionSamples], MotionSamples] | None:
    """Return the correction of reactions between instants, for the robot's motion.

    `loads` (K, n_loads, 6) are those at the knots, `most` the largest correction in their units.
    None without reactions, or where all coordinates have a drive.
    """
    lower, upper = task.limits.torque.T
    undriven, contacts = lower == upper, task.contacts
    directions = in_cuts(task, module)
    cuts = len(directions)
    if contacts is not None:
        bearing = np.zeros((3 * len(contacts.loads), module.n_loads, 6))
        for row, load in enumerate(contacts.loads.repeat(3)):
            bearing[row, load, row % 3] = 1.0
        directions = np.concatenate([directions, bearing])
    if loads is None or not undriven.any() or not len(directions):
        return None
    if most < np.inf:
        most = most * np.abs(_sizes(loads, directions)).max() if contacts is None else np.inf
    torques = Torques(module, task.parameters)

    def balanced(motion: MotionSamples) -> MotionSamples:
        assert motion.loads is not None
        missing = torques.value(motion)[:, undriven] - lower[undriven]
        slopes = module.inverse_dynamics_load_derivatives(motion.q, **torques.keywords)
        columns = np.einsum("kulc,alc->kua", slopes[:, undriven], directions)
        if contacts is not None:
            columns[..., cuts:] *= contacts.bearing(motion.shares).repeat(3, axis=1)[:, None]
        sizes = -(np.linalg.pinv(columns, rcond=LEAST) @ missing[..., None])[..., 0]
        largest = np.abs(sizes).max(axis=1, keepdims=True)
        sizes *= np.minimum(1.0, most / np.maximum(largest, np.finfo(float).tiny))
        return replace(motion, loads=motion.loads + np.einsum("ka,alc->klc", sizes, directions))

    return balanced


def forces_in_cuts(task: Task, module: Any, motion: MotionSamples) -> Array:
    """Return the forces along the axes of all cuts, (K, axes) (N)."""
    assert motion.loads is not None
    prescribed = loads_at(task.loads, module.n_loads, task.parameters)
    loads = (
        motion.loads
        if prescribed is None
        else motion.loads - prescribed(motion.shares, motion.t[-1])[0]
    )
    return _sizes(loads, in_cuts(task, module))


def ranges_in_cuts(task: Task) -> Array:
    """Return the limits of forces along the axes of all cuts, (axes, 2) (N)."""
    limits = [cut.limit for cut in task.cuts for _ in cut.labels]
    return np.outer(limits, (-1.0, 1.0))


def in_cuts(task: Task, module: Any) -> Array:
    """Return the loads by forces of 1 N in cuts, (axes, n_loads, 6)."""
    none = np.zeros((0, module.n_loads, 6))
    return np.concatenate([none, *(cut.units(module.n_loads) for cut in task.cuts)])


def _sizes(loads: Array, directions: Array) -> Array:
    """Return the multiples (K, a) of `directions` (a, n_loads, 6) that loads consist of."""
    flat = directions.reshape(len(directions), -1)
    return np.asarray(loads.reshape(len(loads), -1) @ np.linalg.pinv(flat))
