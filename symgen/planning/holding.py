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

    Each has the number of the configuration that exceeds its limit most, and words.  None where
    these torques are not determined: with unknown forces that outnumber coordinates without a
    drive, and with loads that depend on time.
    """
    driven, (lower, upper) = np.array(module.actuated), task.limits.torque.T
    timed = any(depends_on_time(entries) for entries in task.loads.values())
    unknown = len(in_cuts(task, module)) > np.count_nonzero(lower == upper)
    if timed or unknown or task.free_loads or task.contacts is not None:
        return []
    rest, instants = np.zeros((len(q), module.n)), np.zeros(len(q))
    prescribed = loads_at(task.loads, module.n_loads, task.parameters)
    loads = np.zeros((len(q), module.n_loads, 6))
    if prescribed is not None:
        loads = prescribed(instants, 1.0)[0]
    motion = MotionSamples(q, rest, rest, instants, instants, loads if module.n_loads else None)
    held = balance(task, module, motion.loads, np.inf)
    tau = Torques(module, task.parameters).value(motion if held is None else held(motion))
    over = np.where(driven & (lower < upper), np.maximum(lower - tau, tau - upper), -np.inf)
    units = ["N" if k in by_unit(module, True).get("m", ()) else "N m" for k in range(module.n)]
    return [
        (
            k,
            f"{module.coordinate_names[i]} takes {tau[k, i]:.4g} {units[i]} to rest there, "
            f"its limit is {(lower if tau[k, i] < 0 else upper)[i]:.4g} {units[i]}",
        )
        for i, k in enumerate(over.argmax(axis=0))
        if over[k, i] > 0
    ]  # fmt: skip
