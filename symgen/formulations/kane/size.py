"""How large the derivatives become: a rough number of operations, from the tree.

The recursion itself grows with the robot alone.  Its derivatives with respect to coordinates have
n columns: the outward and the inward sweep of a column visit the joints on one path with its joint,
the last sweep all joints that stand on the same joint of the base.  A parameter costs one column,
of which the sweeps visit less the fewer joints it touches.
"""

from __future__ import annotations

from typing import Any

from symgen.algebra.interface import Algebra, S
from symgen.algebra.linear import Matrix
from symgen.kinematics.frames import identity_transform
from symgen.kinematics.joint import Joint
from symgen.kinematics.tree import BASE, KinematicTree

SIMPLE = 0.3
"""What a joint costs whose seat is not turned, or by quarter turns, against one with any twist."""
ON_PATH, ELSEWHERE = 700, 150
"""Operations per column and joint on one path with the column's joint, and per any other joint."""
BY_PARAMETER = {"parameter_derivatives": 250, "sensitivities": 700}
"""Operations per column and joint, by the end of the function's name."""


def estimate(tree: KinematicTree[Any], function: str) -> int:
    """Rough number of operations of a function that has several columns; 0 for the others."""
    weights = {joint.number: _weight(tree, joint) for joint in tree.joints}
    for ending, cost in BY_PARAMETER.items():
        if function.endswith(ending):
            columns = len(tree.runtime_parameters)
            return round(cost * columns * sum(weights.values()))
    if not function.endswith("derivatives"):
        return 0
    operations = 0.0
    for joint in tree.joints:
        path = tree.path(joint.number)
        pairs = sum(weights[k] + weights[joint.number] for k in path) / 2
        related = sum(weights[k] for k in tree.carried_by(path[0]))
        operations += ON_PATH * pairs + ELSEWHERE * related
    return round(operations)


def _weight(tree: KinematicTree[S], joint: Joint[S]) -> float:
    parent = identity_transform(tree.algebra)
    if joint.parent != BASE:
        parent = tree.joint(joint.parent).placement.link
    turn = parent.rotation @ joint.placement.tree.rotation
    return SIMPLE if _quarter_turns(turn, tree.algebra) else 1.0


def _quarter_turns(turn: Matrix[S], algebra: Algebra[S]) -> bool:
    """Whether all entries are 0, 1 or -1 by structure."""
    one = algebra.one
    return all(
        any(algebra.is_zero(part) for part in (entry, entry - one, entry + one))
        for entry in turn.entries
    )
