"""What a task leaves open or allows, that its writer may not have meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from symgen.planning.task import State, Task

_OF_MODEL = (("velocity", "velocity"), ("torque", "effort"))
"""Limits of a task, and what a module calls them."""


def remarks_on(task: Task, module: Any) -> tuple[str, ...]:
    """Free coordinates at the ends, limits beyond those of the model file, drives without any."""
    return tuple([*_free(task, module), *_beyond(task, module), *_unlimited(task, module)])


def _free(task: Task, module: Any) -> Iterator[str]:
    if task.periodic or task.mirrored.coordinates:
        return
    for end, state in (("start", task.start), ("goal", task.goal)):
        names = _unnamed(state, module.coordinate_names)
        if names:
            verb = "is" if len(names) == 1 else "are"
            yield f"{end}: {', '.join(names)} {verb} not given, and free there"


def _unnamed(state: State, names: Sequence[str]) -> list[str]:
    """Coordinates that a state leaves open although it is about coordinates."""
    open_ones = np.isnan(state.q)
    if state.pose is not None or open_ones.all():
        return []
    return [name for name, is_open in zip(names, open_ones, strict=True) if is_open]


def _beyond(task: Task, module: Any) -> Iterator[str]:
    for key, theirs in _OF_MODEL:
        model = np.asarray(module.limits[theirs])
        asked = np.abs(getattr(task.limits, key)).max(axis=1)
        for k in np.flatnonzero(asked > model * (1 + 1e-12)):
            name = module.coordinate_names[k]
            yield (
                f"limits: {key} of {name} is {asked[k]:.6g} in the task, {model[k]:.6g} in the "
                "model file; that of the task holds"
            )


def _unlimited(task: Task, module: Any) -> Iterator[str]:
    """Coordinates without a limit of torque beside others that have one, such as a free body's."""
    limits = np.abs(task.limits.torque).max(axis=1)
    unlimited = [module.coordinate_names[k] for k in np.flatnonzero(np.isinf(limits))]
    if unlimited and len(unlimited) < module.n:
        yield (
            f"limits: the torque of {', '.join(unlimited)} has none, and may be as large as it "
            "likes; a joint without a drive has 'torque: {NAME: 0}', with 'method: collocation'"
        )
