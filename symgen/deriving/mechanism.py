"""Metadata of mechanisms: loops, constraints and initial positions."""

from __future__ import annotations

from typing import Any

from symgen.description.expressions import evaluate
from symgen.description.model import RobotDescription
from symgen.kinematics.loops import loop_axes, row_units
from symgen.kinematics.tree import KinematicTree
from symgen.robot.configuration import Configuration


def mechanism(description: RobotDescription, tree: KinematicTree[Any]) -> dict[str, Any]:
    """Fields of the metadata; nothing for a tree without loops and relations."""
    if not tree.constraint_names:
        return {}
    values = description.parameter_values
    independent = [joint for joint in description.joints if joint.mimic is None]
    q, qd = (
        [evaluate(x, values) for x in entries]
        for entries in (description.initial_q, description.initial_qd)
    )
    space = Configuration(len(qd), tree.quaternions)
    return {
        "constraint_names": tree.constraint_names,
        "loop_axes": loop_axes(description),
        "row_units": row_units(description),
        "loop_names": tuple(loop.name for loop in tree.loops),
        "actuated": tuple(joint.actuated for joint in independent for _ in joint.coordinate_names),
        "initial_q": tuple(space.normalize(q).tolist()) if space.joints else tuple(q),
        "initial_qd": tuple(qd),
    }
