"""Torques that hold a robot at rest, compared with the limits of its drives."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgen.page.animation import by_unit
from symgen.planning.loads import depends_on_time, loads_at
from symgen.planning.quantities import MotionSamples, Torques
from symgen.planning.reactions import balance, in_cuts
from symgen.planning.task import Task
from symgen.support.arrays import Array


def too_weak(task: Task, module: Any, q: Array) -> list[tuple[int, str]]:
    """Return drives that do not hold the robot at rest everywhere at q (K, nq).

    Each has the number of the worst configuration, and words.  None where torques are undetermined,
    by contacts, unknown loads, loads of time, more forces in loops than coordinates without drive.
    """
    (lower, upper), timed = task.limits.torque.T, any(map(depends_on_time, task.loads.values()))
    unknown = len(in_cuts(task, module)) > np.count_nonzero(lower == upper)
    if timed or unknown or task.free_loads or task.contacts is not None:
        return []
    rest, count = np.zeros((len(q), module.n)), module.n_loads
    prescribed = loads_at(task.loads, count, task.parameters)
    loads = np.zeros((len(q), count, 6))
    if prescribed is not None:
        loads = prescribed(np.zeros(len(q)), 1.0)[0]
    motion = MotionSamples.of(q, rest, loads=loads if count else None)
    balanced = balance(task, module, motion.loads, np.inf)
    tau = Torques(module, task.parameters).value(balanced(motion) if balanced else motion)
    over = np.where(lower < upper, np.maximum(lower - tau, tau - upper), -np.inf)
    limits, names = np.where(tau < 0, lower, upper), module.coordinate_names
    units = ["N" if k in by_unit(module, True).get("m", ()) else "N m" for k in range(module.n)]
    worst = [(int(k), i, units[i]) for i, k in enumerate(over.argmax(axis=0)) if over[k, i] > 0]
    words = "{} takes {:.4g} {unit} to rest there, its limit is {:.4g} {unit}"
    return [(k, words.format(names[i], tau[k, i], limits[k, i], unit=x)) for k, i, x in worst]
