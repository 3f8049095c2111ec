"""What a task asks for, together: states within limits, a price of time, what a method serves."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from symgen.description.wording import shown
from symgen.planning.task import COLLOCATION, LONGEST, Task
from symgen.planning.values import Values


def check(values: Values, keys: Collection[str], module: Any, task: Task) -> None:
    """Faults of what does not go together; `keys` are those of the task."""
    if task.method == COLLOCATION:
        _check_collocated(values, keys, module, task)
    if task.time[1] == LONGEST and not task.objective.time:
        values.fault(
            ("time",) if "time" in keys else (),
            "the time is free and has no weight, so that slower is always better: give the "
            "time, its min: and max:, or a weight of time in the objective",
        )
    if np.any(task.objective.jerk[~task.chart.plain]):
        values.fault(("objective", "jerk"), "not available yet for joints with a quaternion")
    limits = task.limits
    for key, state in (("start", task.start), ("goal", task.goal)):
        for what, order in (("position", "q"), ("velocity", "qd"), ("acceleration", "qdd")):
            asked, allowed = getattr(state, order), getattr(limits, what)
            if what != "position":
                allowed = task.chart.rates(allowed)
            for k in np.flatnonzero(~np.isnan(asked)):
                lower, upper = allowed[k]
                if not lower - 1e-12 <= asked[k] <= upper + 1e-12:
                    values.fault(
                        (key, order),
                        f"{shown(module.coordinate_names[k])} is {asked[k]:.6g} there, its limits "
                        f"are {lower:.6g} and {upper:.6g}",
                    )


def _check_collocated(values: Values, keys: Collection[str], module: Any, task: Task) -> None:
    """What collocation does not serve yet is refused."""
    for key in ("via", "cuts", "periodic", "mirrored"):
        if key in keys:
            values.fault((key,), "not available yet with 'method: collocation'")
    for key, state in (("start", task.start), ("goal", task.goal)):
        if state.pose is not None or np.any(~np.isnan(state.qdd)):
            values.fault((key,), "with 'method: collocation' an end is q and qd")
    limits, objective = task.limits, task.objective
    for key, limit in (("acceleration", limits.acceleration), ("jerk", limits.jerk)):
        if np.any(np.isfinite(limit)):
            values.fault(("limits", key), "not available yet with 'method: collocation'")
    if limits.outputs:
        values.fault(("limits", "outputs"), "not available yet with 'method: collocation'")
    if objective.wrenches or objective.outputs or np.any(objective.jerk):
        values.fault(
            ("objective",),
            "with 'method: collocation' it weighs time, torque and acceleration",
        )
    if np.any(objective.acceleration[~task.chart.plain]):
        values.fault(
            ("objective", "acceleration"),
            "with 'method: collocation' not available yet for joints with a quaternion",
        )
    if task.free_loads:
        values.fault(("loads",), "unknown forces: not available yet with 'method: collocation'")
    for number, entries in task.loads.items():
        if any({"t", "s", "T"} & set(entry.names) for entry in entries):
            values.fault(
                ("loads", module.load_names[number]),
                "with 'method: collocation' loads do not depend on time",
            )
