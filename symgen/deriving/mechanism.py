"""What a module says of a mechanism beside its tree: what closes its loops, where it begins."""

from __future__ import annotations

from typing import Any

from symgen.description.expressions import ZERO, evaluate
from symgen.description.model import RobotDescription
from symgen.kinematics.tree import KinematicTree


def mechanism(description: RobotDescription, tree: KinematicTree[Any]) -> dict[str, Any]:
    """Fields of the metadata; nothing for a tree without loops and relations."""
    if not tree.constraint_names:
        return {}
    values = description.parameter_values
    own = [joint for joint in description.joints if joint.mimic is None]
    still = (ZERO,) * len(tree.independent)
    begins = {
        f"initial_{key}": tuple(evaluate(x, values) for x in description.initial.get(key, still))
        for key in ("q", "qd")
    }
    return {
        "constraint_names": tree.constraint_names,
        "loop_names": tuple(loop.name for loop in tree.loops),
        "actuated": tuple(joint.actuated for joint in own for _ in joint.coordinate_names),
        **begins,
    }
