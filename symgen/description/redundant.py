"""Joints with Euler parameters: what says nothing beside coordinates of which one is redundant.

Their velocities are no angular velocities, so that drives, bearings, springs and limits of one of
them mean nothing.
"""

from __future__ import annotations

from symgen.description.findings import Findings
from symgen.description.joint_options import TERMS
from symgen.description.schema import JointTable, RobotTable
from symgen.joints import Redundant

_MEANINGLESS = (*TERMS, "limits", "prescribed")


def check_redundant(robot: RobotTable, findings: Findings) -> None:
    """Refuse options of such joints, and what is not available yet beside them."""
    joints = [
        (index, table)
        for index, table in enumerate(robot.joints or [])
        if table is not None and isinstance(table.kind, Redundant)
    ]
    for index, table in joints:
        for key in filter(table.gives, _MEANINGLESS):
            findings.fault(
                ("joints", index, key),
                f"{key!r} means nothing for one of four Euler parameters; remove it, or write "
                "'coordinates: quaternion'",
            )
    for key in ("springs", "forces"):
        if joints and getattr(robot, key):
            findings.fault(
                (key,),
                f"{key!r} are not available yet beside 'coordinates: euler_parameters', such as "
                f"those of {_name(joints[0][1])}; write 'coordinates: quaternion'",
            )


def _name(table: JointTable) -> str:
    return repr(table.name)
