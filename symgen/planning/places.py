"""Where points of tasks are: those that are to be somewhere, those that are to stay together."""

from __future__ import annotations

from typing import Any

from symgen.planning.quantities import Gap, Positions
from symgen.planning.task import Cut, Pose, Task


def position_of(task: Task, module: Any, pose: Pose) -> Positions:
    """Where the point of a pose is."""
    return Positions(
        module, task.parameters, point=pose.point, link=pose.link, offset=pose.offset,
        rotation=pose.rotation,
    )  # fmt: skip


def gap_of(task: Task, module: Any, cut: Cut) -> Gap:
    """What is 0 where a cut is closed."""
    first, second = (position_of(task, module, pose) for pose in (cut.first, cut.second))
    return Gap(first, second, cut.axes)
