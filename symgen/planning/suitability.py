"""Which robots a motion can be planned for."""

from __future__ import annotations

from typing import Any

from symgen.description import RobotDescription
from symgen.errors import RequestError

FUNCTIONS = (
    "inverse_dynamics", "inverse_dynamics_derivatives", "forward_dynamics",
    "forward_dynamics_derivatives", "forward_kinematics",
)  # fmt: skip
"""What every plan calls."""


def check_module(module: Any) -> None:
    """`RequestError` where a plan needs what the module does not have."""
    closed = getattr(module, "n_constraints", 0)
    _check_kind(any(module.prescribed), module.n, closed, getattr(module, "timed", False))
    missing = [name for name in FUNCTIONS if name not in module.functions]
    if missing:
        raise RequestError(
            f"plan: the module lacks {', '.join(missing)}; rebuild it without --functions"
        )


def check_robot(robot: RobotDescription) -> None:
    """`RequestError` for a robot that cannot be planned for, before anything is built."""
    prescribed = any(any(joint.prescribed) for joint in robot.joints)
    _check_kind(prescribed, len(robot.coordinate_names), robot.n_constraints, robot.is_timed)


def _check_kind(prescribed: bool, n: int, constraints: int, timed: bool) -> None:
    if constraints:
        raise RequestError("plan: no models with 'loops' yet; 'cuts' of the task close loops")
    if prescribed:
        raise RequestError(
            "plan: a joint of this robot is prescribed; plans are for robots whose joints are all "
            "driven"
        )
    if timed:
        raise RequestError(
            "plan: a force of the model mentions the time, t, which is not available yet in plans; "
            "'loads' of the task may"
        )
    if not n:
        raise RequestError("plan: this robot has no coordinates")
