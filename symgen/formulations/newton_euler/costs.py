"""Rough numbers of operations of the functions that solve: they grow faster than the robot.

M, the recursion and the derivatives of torques cost so much per pair of joints of which one carries
the other (a joint counts as such a pair, too), less where axes are turned by quarter turns.  Beside
that there is the factorisation, and solving for columns: see `elimination`, of whose sums the
multiply-adds are counted here.
"""

from __future__ import annotations

from typing import Any

from symgen.algebra.interface import S
from symgen.kinematics.joint import Joint
from symgen.kinematics.tree import KinematicTree

SIMPLE = 0.35
"""What a joint costs whose frames are turned by quarter turns, against one with any turn."""

MASS_MATRIX = 170
"""Per pair of joints: M column by column, and the bias."""

SLOPES = 400
"""Per pair of joints: derivatives of the torques with respect to q, qd and qdd."""

TORQUE_SLOPE = 80
"""Per joint: derivatives of the torques with respect to one parameter."""

SOLVING = ("forward_dynamics", "hybrid_dynamics")


def estimate(tree: KinematicTree[Any], function: str) -> int:
    """Operations of a function that solves, roughly; 0 for the recursions."""
    base = next((name for name in SOLVING if function.startswith(name)), None)
    if base is None:
        return 0
    weights = [_weight(tree, joint) for joint in tree.joints]
    depths = [len(tree.path(joint.number)) for joint in tree.joints]
    pairs = sum(weight * depth for weight, depth in zip(weights, depths, strict=True))
    factorised = sum(depth * depth for depth in depths)
    parameter = TORQUE_SLOPE * sum(weights) + 4 * sum(depths)
    p = len(tree.runtime_parameters)
    costs = {
        "": MASS_MATRIX * pairs + factorised,
        "_derivatives": SLOPES * pairs + factorised + _columns(tree),
        "_parameter_derivatives": MASS_MATRIX * pairs + factorised + p * parameter,
        "_sensitivities": SLOPES * pairs + factorised + p * (parameter + 8 * sum(depths)),
    }
    return round(costs[function.removeprefix(base)])


def _columns(tree: KinematicTree[Any]) -> int:
    """Operations of solving for the columns of two matrices, and of half the inverse.

    A column is reduced over the joints related to its own and then felt by every joint, through
    the multipliers of all before it or, on a side branch, of those up to the fork.
    """
    reduced, felt = 0, 0
    for column in tree.joints:
        path = tree.path(column.number)
        for joint in tree.joints:
            other = tree.path(joint.number)
            common = sum(i == k for i, k in zip(path, other, strict=False))
            if common == min(len(path), len(other)):
                reduced += len(other) - 1
                felt += len(other) - 1
            else:
                felt += common
    return 4 * reduced + 5 * felt


def _weight(tree: KinematicTree[S], joint: Joint[S]) -> float:
    """1, or `SIMPLE` where all entries of the constant rotations are 0, 1 or -1 by structure."""
    algebra, one = tree.algebra, tree.algebra.one
    turns = (joint.placement.tree.rotation, joint.placement.link.rotation)
    simple = all(
        any(algebra.is_zero(part) for part in (entry, entry - one, entry + one))
        for turn in turns
        for entry in turn.entries
    )
    return SIMPLE if simple else 1.0
