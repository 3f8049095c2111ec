"""Where points of tasks are: those that are to be somewhere, those that are to stay together."""

from __future__ import annotations

from typing import Any

from symgen.planning.quantities import Gap, Positions, Quantity
from symgen.planning.task import Cut, Pose, Task


def position_of(task: Task, module: Any, pose: Pose) -> Quantity:
    """Where the point of a pose is."""
    return task.chart.along(_position(task, module, pose))


def gap_of(task: Task, module: Any, cut: Cut) -> Quantity:
    """What is 0 where a cut is closed."""
    first, second = (_position(task, module, pose) for pose in (cut.first, cut.second))
    return task.chart.along(Gap(first, second, cut.axes))


def _position(task: Task, module: Any, pose: Pose) -> Positions:
    return Positions(
        module, task.parameters, point=pose.point, link=pose.link, offset=pose.offset,
        rotation=pose.rotation,
    )  # fmt: skip
